import gzip
import hashlib
import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
import torch

from model.directory import save_translator
from model.search import DecodingOptions
from model.texts import translate_corpus_lines
from tests.model.phrasebook import ENGLISH, GERMAN, phrasebook
from training.evaluate import main
from training.scoring.metrics import score
from training.scoring.moses import tokenized_lowercase

ALWAYS = {"bleu", "chrf", "signature", "sentences", "length_ratio", "empty", "copies", "truncated", "seconds"}
EN_DE = ("--source-language", "en", "--target-language", "de")
GREEDY = DecodingOptions(strategy="greedy")


@pytest.fixture(scope="module")
def directory(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("models") / "phrasebook"
    save_translator(phrasebook(), path, card="# A phrasebook\n", dtype=torch.float32)
    return path


@pytest.fixture
def write(tmp_path):
    def write(name: str, lines: list[str]) -> str:
        path = tmp_path / name
        path.write_bytes("".join(f"{line}\n" for line in lines).encode())
        return str(path)

    return write


@pytest.fixture
def run(capfd):
    """Runs the command; (exit status, stdout, stderr)."""

    def run(*arguments: str) -> tuple[int, str, str]:
        status = main([*EN_DE, "--dtype", "float32", *arguments])
        out, err = capfd.readouterr()
        return status, out, err

    return run


def report_of(out: str) -> dict[str, Any]:
    return dict(json.loads(out.rstrip("\n").rsplit("\n", 1)[-1]))


def test_the_score_is_that_of_what_the_translator_answers(run, write, directory, tmp_path):
    source, reference = write("a.en", ENGLISH), write("a.de", GERMAN)
    output = tmp_path / "out.de"
    status, out, err = run(
        str(directory),
        "--source",
        source,
        "--reference",
        reference,
        "--greedy",
        "--output",
        str(output),
        "--json",
    )
    assert (status, err) == (0, "")
    assert out.count("\n") == 1
    report = report_of(out)
    assert report.keys() > ALWAYS
    texts = [line.text for line in translate_corpus_lines(phrasebook(), ENGLISH, "en", "de", GREEDY)]
    assert output.read_bytes().decode().split("\n")[:-1] == texts
    scores = score(texts, GERMAN, "de")
    assert report["bleu"] == scores.bleu > 90
    assert (report["chrf"], report["signature"]) == (scores.chrf, scores.signature)
    assert report["sentences"] == len(ENGLISH)
    assert report["exact_match"] == scores.exact / len(ENGLISH)
    assert report["reference_sha256"] == hashlib.sha256(Path(reference).read_bytes()).hexdigest()
    assert report["decoding"] == {"strategy": "greedy", "max_length": None}
    assert report["model"] == "phrasebook"
    assert (report["empty"], report["copies"], report["truncated"], report["split"]) == (0, 0, 0, 0)
    pieces = sum(len(phrasebook().tokenizer.encode(text)) for text in texts)
    assert report["target_pieces"] == pieces
    assert report["target_pieces_per_second"] == pytest.approx(pieces / report["seconds"])


def test_people_get_a_table_and_samples_and_programs_the_last_line(run, write, directory):
    source, reference = write("a.en", ENGLISH[:6]), write("a.de", GERMAN[:6])
    status, out, _ = run(str(directory), "--source", source, "--reference", reference, "--beam", "2")
    assert status == 0
    report = report_of(out)
    assert report["decoding"] == {
        "strategy": "beam",
        "beam_size": 2,
        "length_penalty": 1.0,
        "max_length": None,
    }
    table = out.removesuffix("\n").rsplit("\n", 1)[0]
    assert report["signature"] in table
    assert report["chrf_signature"] in table
    assert f"reference  {GERMAN[0]}" in table
    assert f"source     {ENGLISH[5]}" in table


def test_a_sentence_too_long_for_the_model_is_split_counted_and_not_cut(run, write, directory, tmp_path):
    long = [number for number, line in enumerate(ENGLISH) if "three apples" in line][:5]
    joined = [" ".join(lines[number] for number in long) for lines in (ENGLISH, GERMAN)]
    source, reference = (write(name, [joined[side], "10:30"]) for side, name in enumerate(("a.en", "a.de")))
    output = tmp_path / "out.de"
    _, out, _ = run(
        str(directory),
        "--source",
        source,
        "--reference",
        reference,
        "--greedy",
        "--output",
        str(output),
        "--json",
    )
    report = report_of(out)
    assert (report["split"], report["truncated"], report["sentences"]) == (1, 0, 2)
    assert output.read_text().count(".") == 5
    assert report["bleu"] > 60


def test_lines_that_a_limit_cut_are_counted(run, write, directory):
    source, reference = write("a.en", [*ENGLISH[:3], "10:30"]), write("a.de", [*GERMAN[:3], "10:30"])
    _, out, _ = run(
        str(directory),
        "--source",
        source,
        "--reference",
        reference,
        "--greedy",
        "--max-length",
        "3",
        "--json",
    )
    assert report_of(out)["truncated"] == 3


@pytest.fixture
def hundred(write) -> dict[str, str]:
    return {"source": write("a.en", ENGLISH), "reference": write("a.de", GERMAN)}


def given(hundred: dict[str, str], hypothesis: str) -> list[str]:
    return ["--source", hundred["source"], "--reference", hundred["reference"], "--hypothesis", hypothesis]


def test_a_given_output_is_scored_without_a_model(run, write, hundred):
    hypotheses = [*GERMAN[:50], *ENGLISH[50:]]
    status, out, _ = run(*given(hundred, write("out.de", hypotheses)), "--json")
    report = report_of(out)
    assert status == 0
    assert report.keys() > ALWAYS
    assert report["bleu"] == score(hypotheses, GERMAN, "de").bleu
    assert (report["copies"], report["exact_match"]) == (50, 0.5)
    assert report["truncated"] is report["seconds"] is report["model"] is None
    status, out, _ = run(*given(hundred, write("out.de", hypotheses)))
    assert status == 0
    assert report_of(out) == report


def test_empty_hypotheses_are_counted_and_an_empty_output_scores_zero(run, write, hundred):
    hypotheses = ["", "  ", *GERMAN[2:]]
    report = report_of(run(*given(hundred, write("out.de", hypotheses)), "--json")[1])
    assert report["empty"] == 2
    assert 0 < report["bleu"] < 100
    status, out, _ = run(*given(hundred, write("out.de", [""] * 100)))
    report = report_of(out)
    assert status == 0
    assert (report["bleu"], report["chrf"], report["length_ratio"], report["empty"]) == (0.0, 0.0, 0.0, 100)


def test_unequal_counts_give_an_error_and_no_score(run, write, hundred, directory):
    status, out, err = run(*given(hundred, write("out.de", GERMAN[:60])))
    assert (status, out) == (1, "")
    assert "out.de has 60" in err
    assert "a.de has 100" in err
    status, out, err = run(
        str(directory), "--source", write("b.en", ENGLISH[:60]), "--reference", hundred["reference"]
    )
    assert (status, out) == (1, "")
    assert "b.en has 60" in err


def test_an_empty_reference_gives_an_error_with_its_line_and_no_score(run, write, directory, tmp_path):
    source, reference = write("a.en", ENGLISH), write("a.de", [*GERMAN[:7], "", *GERMAN[8:]])
    output = tmp_path / "out.de"
    status, out, err = run(
        str(directory), "--source", source, "--reference", reference, "--output", str(output)
    )
    assert (status, out) == (1, "")
    assert "a.de, line 8: the reference is empty" in err
    assert not output.exists()


def test_gzipped_files_give_the_same_report(run, write, hundred, tmp_path):
    packed = {name: f"{path}.gz" for name, path in hundred.items()}
    for name, path in hundred.items():
        Path(packed[name]).write_bytes(gzip.compress(Path(path).read_bytes()))
    hypothesis = write("out.de", GERMAN)
    plain, zipped = (report_of(run(*given(files, hypothesis), "--json")[1]) for files in (hundred, packed))
    assert {**zipped, "source": plain["source"], "reference": plain["reference"]} == plain


def test_a_report_is_compared_with_one_of_the_same_measurement(run, write, hundred, tmp_path):
    earlier = tmp_path / "earlier.json"
    earlier.write_text(run(*given(hundred, write("out.de", [*GERMAN[:90], *ENGLISH[90:]])))[1])
    status, out, _ = run(*given(hundred, write("out2.de", GERMAN)), "--compare", str(earlier))
    report = report_of(out)
    assert status == 0
    assert report["compared"]["bleu"] == report["bleu"] - report_of(earlier.read_text())["bleu"] > 0
    assert f"BLEU {report['compared']['bleu']:+.2f}" in out


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--lowercase"], "metric.case: mixed there, lower here"),
        (["--ngram-order", "2"], "metric.ngram_order: 4 there, 2 here"),
        (["--reference", "other.de"], "reference_sha256"),
    ],
)
def test_a_report_of_another_measurement_is_refused_before_anything_is_translated(
    run, write, hundred, directory, tmp_path, arguments, message
):
    earlier, output = tmp_path / "earlier.json", tmp_path / "never.de"
    earlier.write_text(run(*given(hundred, write("out.de", GERMAN)), "--json")[1])
    write("other.de", GERMAN[::-1])
    arguments = [str(tmp_path / one) if one == "other.de" else one for one in arguments]
    status, out, err = run(
        str(directory),
        "--source",
        hundred["source"],
        "--reference",
        hundred["reference"],
        "--compare",
        str(earlier),
        "--output",
        str(output),
        *arguments,
    )
    assert (status, out) == (1, "")
    assert message in err
    assert not output.exists()


def test_published_multi30k_scores_are_those_of_prepared_output(run, write):
    german = ["Ein Mann, der „Halt!“ ruft.", "Zwei Hunde spielen im Schnee."]
    reference = write("a.lc.norm.tok.de", tokenized_lowercase(german, "de"))
    source = write("a.en", ["A man who shouts ‘Stop!’.", "Two dogs play in the snow."])
    arguments = ["--source", source, "--reference", reference, "--hypothesis", write("out.de", german)]
    report = report_of(run(*arguments, "--tokenized-lowercase", "--json")[1])
    assert report["bleu"] == pytest.approx(100)
    assert report["exact_match"] == 1.0
    assert "tok:none" in report["signature"]
    assert "sacremoses" in report["metric"]["preparation"]
    assert report_of(run(*arguments, "--json")[1])["bleu"] < 80


def test_a_cased_reference_is_refused_for_published_multi30k_scores(run, write, hundred):
    status, out, err = run(*given(hundred, write("out.de", GERMAN)), "--tokenized-lowercase")
    assert (status, out) == (1, "")
    assert "a.de, line 1: has capitals" in err


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("--beam", "0"), "beam_size is 0, allowed: 1 … 64"),
        (("--ngram-order", "0"), "ngram_order is 0"),
        (("--target-language", "fr"), "en→fr is not served by phrasebook"),
        (("--source", "nowhere.en"), "nowhere.en: no such file"),
    ],
)
def test_a_bad_argument_is_named_and_no_score_is_printed(run, hundred, directory, arguments, message):
    files = ["--source", hundred["source"], "--reference", hundred["reference"]]
    status, out, err = run(str(directory), *files, *arguments)
    assert (status, out) == (1, "")
    assert message in err


def test_without_a_model_or_an_output_there_is_nothing_to_score(run, hundred, capfd):
    with pytest.raises(SystemExit):
        run("--source", hundred["source"], "--reference", hundred["reference"])
    assert "MODEL_DIR is missing" in capfd.readouterr().err


def test_the_command_runs_as_a_module(write, directory):
    source, reference = write("a.en", ENGLISH[:3]), write("a.de", GERMAN[:3])
    command = [sys.executable, "-m", "training.evaluate", str(directory), *EN_DE, "--greedy", "--json"]
    found = subprocess.run(
        [*command, "--source", source, "--reference", reference, "--threads", "1"],
        check=True,
        capture_output=True,
        text=True,
    )
    assert json.loads(found.stdout)["sentences"] == 3
    assert found.stderr == ""
