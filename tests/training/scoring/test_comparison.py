import json

import pytest

from training.scoring.comparison import NotComparable, compare, read_report, refuse_unlike
from training.scoring.metrics import Metric

REPORT = {
    "bleu": 31.0,
    "chrf": 55.5,
    "metric": Metric().to_json(),
    "source_language": "en",
    "target_language": "de",
    "source_sha256": "aa",
    "reference_sha256": "bb",
    "model": "one",
    "decoding": {"strategy": "beam", "beam_size": 5},
    "dtype": "float32",
}


@pytest.fixture
def path(tmp_path):
    return tmp_path / "report.json"


def test_a_report_is_the_last_line_of_what_was_printed(path):
    path.write_text(f"a table\n  BLEU 31\n{json.dumps(REPORT)}\n\n")
    assert read_report(path) == REPORT


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "no JSON object"),
        ("BLEU = 31.0", "no JSON object"),
        ("[1]", "lacks bleu, chrf"),
        ('{"bleu": 31.0, "chrf": 5.0}', "lacks metric, reference_sha256"),
    ],
)
def test_what_is_no_report_is_refused(path, text, message):
    path.write_text(text)
    with pytest.raises(ValueError, match=message):
        read_report(path)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"metric": Metric(case="lower").to_json()}, "metric.case: mixed there, lower here"),
        ({"metric": Metric(ngram_order=2).to_json()}, "metric.ngram_order: 4 there, 2 here"),
        (
            {"metric": Metric(level="mean of sentences").to_json()},
            "metric.level: corpus there, mean of sentences",
        ),
        ({"metric": Metric(smoothing="floor").to_json()}, "metric.smoothing"),
        ({"metric": Metric(tokenize="none", preparation="tokens").to_json()}, "metric.preparation"),
        ({"metric": Metric(sacrebleu="1.0").to_json()}, "metric.sacrebleu"),
        ({"reference_sha256": "cc"}, "reference_sha256: bb there, cc here"),
        ({"target_language": "fr"}, "target_language: de there, fr here"),
    ],
)
def test_runs_that_measured_something_else_are_refused_with_what_differs(path, change, message):
    with pytest.raises(NotComparable, match=message) as raised:
        refuse_unlike(path, REPORT, REPORT | change)
    assert str(path) in str(raised.value)
    with pytest.raises(NotComparable):
        refuse_unlike(path, REPORT | change, REPORT)


def test_every_difference_is_named(path):
    now = REPORT | {"metric": Metric(case="lower", ngram_order=2).to_json(), "reference_sha256": "cc"}
    with pytest.raises(NotComparable, match=r"reference_sha256.*metric\.case.*metric\.ngram_order"):
        refuse_unlike(path, REPORT, now)


def test_another_model_or_decoding_may_be_compared_and_is_marked(path):
    now = REPORT | {
        "model": "two",
        "decoding": {"strategy": "greedy"},
        "source_sha256": "zz",
        "bleu": 29.5,
        "chrf": 56.0,
    }
    refuse_unlike(path, REPORT, now)
    assert compare(path, REPORT, now) == {
        "report": str(path),
        "bleu": -1.5,
        "chrf": 0.5,
        "differences": [
            "model: one there, two here",
            "decoding.beam_size: 5 there, None here",
            "decoding.strategy: beam there, greedy here",
            "source_sha256: aa there, zz here",
        ],
    }
