import importlib.util
import json
import subprocess
import sys

import pytest

from training.scoring.metrics import Metric, Scores, count_copies, metric_for, score

REFERENCES = [
    "Der Müller mahlt das Korn, wie jeden Herbst.",
    "„Wer hat“, fragte sie, „den Schlüssel?“",
    "Am 3. Mai kostete das Brot 2,50 Euro.",
    "Nichts\u2028als Nebel.",
    "Es schneite bis zum Abend.",
]
HYPOTHESES = [
    "Der Müller mahlt das Korn wie in jedem Herbst.",
    "„Wer hat den Schlüssel?“, fragte sie.",
    "Am 3. Mai kostete das Brot 2,50 Euro.",
    "Nichts als\x85Nebel.",
    "",
]


def command(folder, hypotheses: list[str], references: list[str], *arguments: str) -> list[dict]:
    """What the sacrebleu command says of two files."""
    for name, lines in (("hypotheses", hypotheses), ("references", references)):
        text = "".join(f"{line}\n" for line in lines)
        (folder / name).write_text(text, encoding="utf-8", newline="\n")
    run = [sys.executable, "-m", "sacrebleu", "references", "-i", "hypotheses", "-w", "10", *arguments]
    found = subprocess.run(
        [*run, "-m", "bleu", "chrf"], cwd=folder, check=True, capture_output=True, text=True
    )
    return list(json.loads(found.stdout))


def assert_equal(scores: Scores, said: list[dict]) -> None:
    bleu, chrf = said
    assert scores.bleu == pytest.approx(bleu["score"], abs=1e-9)
    assert scores.chrf == pytest.approx(chrf["score"], abs=1e-9)
    assert (scores.signature, scores.chrf_signature) == (bleu["signature"], chrf["signature"])
    assert f"ratio = {scores.length_ratio:.3f} " in bleu["verbose_score"]


def test_scores_and_signatures_are_those_of_the_sacrebleu_command(tmp_path):
    scores = score(HYPOTHESES, REFERENCES, "de")
    assert 0 < scores.bleu < 100
    assert_equal(scores, command(tmp_path, HYPOTHESES, REFERENCES))


def test_without_case_scores_are_those_of_the_command_too(tmp_path):
    shouted = [line.upper() for line in HYPOTHESES]
    scores = score(shouted, REFERENCES, "de", metric=Metric(case="lower"))
    assert "case:lc" in scores.signature
    assert scores.bleu > score(shouted, REFERENCES, "de").bleu
    assert_equal(scores, command(tmp_path, shouted, REFERENCES, "-lc", "--chrf-lowercase"))


def test_one_perfect_line_of_three_is_far_from_a_perfect_score():
    scores = score([REFERENCES[0], "Etwas ganz anderes.", "Und noch eins."], REFERENCES[:3], "de")
    assert scores.sentences == 3
    assert scores.exact == 1
    assert scores.bleu < 60


@pytest.mark.parametrize(
    ("hypotheses", "references"),
    [
        (HYPOTHESES, [REFERENCES]),
        (HYPOTHESES, [[line] for line in REFERENCES]),
        (HYPOTHESES, "".join(REFERENCES)),
        ("".join(HYPOTHESES), REFERENCES),
        ([HYPOTHESES], [REFERENCES]),
        (iter(HYPOTHESES), REFERENCES),
        (HYPOTHESES, dict.fromkeys(REFERENCES)),
        ([*HYPOTHESES[:4], None], REFERENCES),
        ([*HYPOTHESES[:4], b"bytes"], REFERENCES),
    ],
    ids=[
        "list-of-lists",
        "list-of-ones",
        "text",
        "text-hypotheses",
        "both",
        "iterator",
        "mapping",
        "none",
        "bytes",
    ],
)
def test_another_shape_raises_and_is_never_cut_to_fit(hypotheses, references):
    with pytest.raises(TypeError, match="must be"):
        score(hypotheses, references, "de")


def test_unequal_numbers_raise_with_both():
    with pytest.raises(ValueError, match=r"2,134 hypotheses, but 3,004 references"):
        score(["a"] * 2134, ["a"] * 3004, "de")


def test_nothing_to_score_raises():
    with pytest.raises(ValueError, match="no sentences"):
        score([], [], "de")


@pytest.mark.parametrize("blank", ["", " \t", "\u3000"])
def test_an_empty_reference_raises_with_its_number(blank):
    with pytest.raises(ValueError, match="reference 4 is empty"):
        score(["a"] * 5, ["a", "b", "c", blank, "e"], "de")


def test_empty_hypotheses_are_counted_and_match_nothing():
    hypotheses = [*REFERENCES[:2], "", " ", "\u3000"]
    scores = score(hypotheses, REFERENCES, "de")
    assert scores.empty == 3
    assert scores.exact == 2
    assert scores.bleu < score([*REFERENCES[:2], *("Nichts als das.",) * 3], REFERENCES, "de").bleu


def test_output_without_any_text_scores_zero():
    scores = score(["", " ", ""], REFERENCES[:3], "de")
    assert (scores.bleu, scores.chrf, scores.length_ratio, scores.empty) == (0.0, 0.0, 0.0, 3)


def test_a_perfect_output_scores_a_hundred():
    scores = score(REFERENCES, REFERENCES, "de")
    assert scores.bleu == pytest.approx(100)
    assert scores.chrf == pytest.approx(100)
    assert scores.length_ratio == 1.0
    assert scores.exact == len(REFERENCES)


def test_white_space_around_a_sentence_changes_nothing():
    padded = [f" {line} \r" for line in HYPOTHESES]
    assert score(padded, REFERENCES, "de") == score(HYPOTHESES, REFERENCES, "de")


def test_every_setting_that_changes_the_score_is_kept_beside_it():
    usual, other = (score(HYPOTHESES, REFERENCES, "de", metric=Metric(ngram_order=order)) for order in (4, 2))
    assert usual.bleu != other.bleu
    assert usual.signature == other.signature  # which is why it is not enough
    assert usual.metric != other.metric
    assert {"ngram_order", "smoothing", "case", "level", "sacrebleu"} <= usual.metric.to_json().keys()
    assert usual.metric == metric_for("de")
    assert "case:mixed" in usual.signature


def test_chinese_is_scored_over_its_characters(tmp_path):
    hypotheses, references = ["我昨天看见了三只猫。", "雨停了。"], ["昨天我看见三只猫。", "雨已经停了。"]
    scores = score(hypotheses, references, "zh")
    assert_equal(scores, command(tmp_path, hypotheses, references, "-tok", "zh"))
    assert scores.note == ""


def test_japanese_without_mecab_says_that_its_score_is_another():
    scores = score(["雨が降っています。"], ["雨が降った。"], "ja")
    if importlib.util.find_spec("MeCab") and importlib.util.find_spec("ipadic"):
        assert "tok:ja-mecab" in scores.signature
        assert scores.note == ""
    else:
        assert "tok:char" in scores.signature
        assert "not to be set beside scores with tok:ja-mecab" in scores.note


@pytest.mark.parametrize("setting", [{"case": "UPPER"}, {"ngram_order": 0}, {"ngram_order": 10}])
def test_a_setting_out_of_range_is_named(setting):
    (name,) = setting
    with pytest.raises(ValueError, match=f"{name} is .*allowed"):
        Metric(**setting)


def test_copies_are_counted_but_for_lines_without_letters():
    sources = ["A lamp.", "10:30", "Anna", "…", "A boat."]
    assert count_copies(sources, [" A lamp.", "10:30", "Anna", "…", "Ein Boot."]) == 2
