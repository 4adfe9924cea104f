import io
import re
import subprocess
import sys
from pathlib import Path

import pytest
import torch

from model.directory import save_translator
from model.search import DecodingOptions
from model.texts import translate_texts
from model.translate import main, translate_stream
from tests.model.phrasebook import ENGLISH, GERMAN, phrasebook

GREEDY = DecodingOptions(strategy="greedy")
EN_DE = ("--source-language", "en", "--target-language", "de")
EXACT = ("--dtype", "float32")  # what `phrasebook()` computes in, whatever is faster here


@pytest.fixture(scope="module")
def directory(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("models") / "phrasebook"
    save_translator(phrasebook(), path, card="# A phrasebook\n", dtype=torch.float32)
    return path


@pytest.fixture
def run(directory, monkeypatch, capfdbinary):
    """Runs the command on some bytes; (exit status, bytes on stdout, text on stderr)."""

    def run(*arguments: str, given: bytes = b"") -> tuple[int, bytes, str]:
        monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(given)))
        direction = () if "--source-language" in arguments else EN_DE
        status = main([str(directory), *EXACT, *direction, *arguments])
        out, err = capfdbinary.readouterr()
        return status, out, err.decode()

    return run


def best(lines: list[str], options: DecodingOptions = GREEDY) -> list[str]:
    return [line.text for line in translate_texts(phrasebook(), lines, "en", "de", options)]


def lines_of(out: bytes) -> list[str]:
    assert out.endswith(b"\n")
    return out.decode().split("\n")[:-1]


def test_each_line_comes_out_as_the_translator_has_it(run):
    given = "".join(f"{line}\n" for line in ENGLISH[:20]).encode()
    status, out, err = run("--beam", "3", given=given)
    assert (status, err) == (0, "")
    assert lines_of(out) == best(ENGLISH[:20], DecodingOptions(beam_size=3))


def test_a_line_ends_at_lf_alone_and_as_many_come_out_as_went_in(run):
    lines = [
        "A child sees a lamp.",
        "",
        " \t",
        "My aunt\u2028buys the boat.",
        "A\x85child",
        "10:30",
        "a\rb\x0cc\r",
        "x",
    ]
    status, out, _ = run("--greedy", given="\n".join(lines).encode())  # no LF at the end of the last
    assert status == 0
    found = lines_of(out)
    assert len(found) == len(lines)
    assert [found[place] for place in (1, 2, 5)] == ["", " \t", "10:30"]
    assert found[6].endswith("\r")
    assert "\u2028" in found[3]


def test_no_input_gives_no_output(run):
    assert run("--greedy") == (0, b"", "")


def test_the_size_of_blocks_does_not_change_a_translation():
    raw = [f"{line}\n".encode() for line in ENGLISH[:9]]
    whole, blocks, single = (
        [
            line
            for block in translate_stream(phrasebook(), raw, "en", "de", GREEDY, block_lines=size)
            for line in block
        ]
        for size in (100, 4, 1)
    )
    assert [line.text for line in whole] == best(ENGLISH[:9])
    assert [line.text for line in blocks] == [line.text for line in single] == [line.text for line in whole]


def test_a_block_is_translated_before_more_is_read():
    read = []

    def lines():
        for number in range(10):
            read.append(number)
            yield b"A child sees a lamp.\n"

    blocks = translate_stream(phrasebook(), lines(), "en", "de", GREEDY, block_lines=3)
    assert len(next(blocks)) == 3
    assert read == [0, 1, 2]


def test_a_line_that_is_no_utf8_is_named_and_those_before_it_are_translated(run):
    status, out, err = run("--greedy", given=b"A child sees a lamp.\nMy aunt.\ncaf\xe9\nA child.\n")
    assert status == 1
    assert "line 3 of the input: byte 0xE9 at its position 4" in err
    assert lines_of(out) == best(["A child sees a lamp.", "My aunt."])


def test_a_byte_order_mark_is_no_part_of_the_first_line(run):
    _, marked, _ = run("--greedy", given=b"\xef\xbb\xbfA child sees a lamp.\n")
    _, plain, _ = run("--greedy", given=b"A child sees a lamp.\n")
    assert marked == plain


def test_n_best_and_scores_are_columns_of_the_one_line(run):
    status, out, _ = run("--beam", "4", "--n-best", "3", "--scores", given=b"A child sees a lamp.\n\n")
    assert status == 0
    row, blank = lines_of(out)
    assert blank == "0.0000\t"
    columns = row.split("\t")
    scores, texts = [float(score) for score in columns[0::2]], columns[1::2]
    assert 2 <= len(texts) <= 3
    assert len(set(texts)) == len(texts)
    assert scores == sorted(scores, reverse=True)
    assert texts[0] == best(["A child sees a lamp."], DecodingOptions(beam_size=4))[0]
    _, out, _ = run("--beam", "4", "--n-best", "3", given=b"A child sees a lamp.\n")
    assert lines_of(out) == ["\t".join(texts)]


def test_a_translation_that_a_limit_cut_is_told_by_its_line(run):
    long = " ".join(ENGLISH[:8])
    status, out, err = run(
        "--greedy", "--max-length", "5", "--batch-lines", "1", given=f"10:30\n{long}\n".encode()
    )
    assert status == 0
    assert "line 2" in err
    assert "line 1" not in err
    status, out, err = run("--greedy", given=f"{long}\n".encode())
    assert err == ""
    assert lines_of(out) == [" ".join(best(ENGLISH[:8]))]


@pytest.mark.parametrize(
    ("source", "target", "lines", "words"),
    [("en", "de", ENGLISH, GERMAN), ("de", "en", GERMAN, ENGLISH)],
    ids=["en-de", "de-en"],
)
def test_output_is_in_the_target_language_and_holds_no_control_symbol(run, source, target, lines, words):
    mixed = [*lines, *(f"{one} {other}" for one, other in zip(lines[:20], lines[20:], strict=False))]
    given = "".join(f"{line}\n" for line in mixed).encode()
    _, out, _ = run("--greedy", "--source-language", source, "--target-language", target, given=given)
    found = lines_of(out)
    assert len(found) == len(mixed)
    assert not [line for line in found if re.search(r"</?s>|<pad>|<unk>|<2..>|>>..<<", line)]
    known = set(" ".join(words).split())
    assert sum(set(line.split()) <= known for line in found) >= 0.95 * len(found)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("--source-language", "en", "--target-language", "fr"), "en→fr is not served by phrasebook"),
        (("--beam", "65"), "beam_size is 65, allowed: 1 … 64"),
        (("--beam", "2", "--n-best", "3"), "n_best is 3, allowed: 1 … 2"),
        (("--batch-lines", "0"), "--batch-lines is 0"),
        (("--threads", "0"), "--threads is 0"),
        (("--dtype", "float8"), "float8"),
    ],
)
def test_a_bad_argument_is_named_and_nothing_is_translated(run, arguments, message):
    status, out, err = run(*arguments, given=b"A child.\n")
    assert (status, out) == (1, b"")
    assert message in err


def test_beam_and_greedy_exclude_each_other(run):
    with pytest.raises(SystemExit):
        run("--beam", "3", "--greedy")


def test_a_missing_model_is_named(tmp_path, capsys):
    assert main([str(tmp_path / "nowhere"), *EN_DE]) == 1
    assert "nowhere: no such directory" in capsys.readouterr().err


def test_a_reader_that_goes_away_ends_the_command_quietly(directory):
    command = [
        sys.executable,
        "-m",
        "model.translate",
        str(directory),
        *EN_DE,
        "--greedy",
        "--batch-lines",
        "1",
    ]
    with subprocess.Popen(
        command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE
    ) as process:
        assert process.stdin and process.stdout and process.stderr
        process.stdin.write(b"A child sees a lamp.\n")
        process.stdin.flush()
        assert process.stdout.readline().decode() == f"{best(['A child sees a lamp.'])[0]}\n"  # at once
        process.stdout.close()
        process.stdin.write(b"A child sees a lamp.\n" * 20)
        process.stdin.close()
        assert process.stderr.read() == b""
    assert process.returncode == 141
