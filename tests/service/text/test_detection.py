"""Only served languages, of a script that fits, with a confidence that can be believed."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from service.text.detection import Detector
from service.text.scripts import scripts_of, shares


@pytest.fixture(scope="module")
def detector() -> Detector:
    return Detector(["en", "de", "fr", "zh"])


@pytest.mark.parametrize(
    ("text", "language"),
    [
        ("Where did you put the keys?", "en"),
        ("Wohin hast du die Schlüssel gelegt?", "de"),
        ("Où as-tu mis les clés ?", "fr"),
        ("你把钥匙放在哪里了？", "zh"),
        ("THE SHOP IS CLOSED ON SUNDAYS", "en"),
        ("Thanks", "en"),
        ("Bonjour", "fr"),
        ("Einstellungen", "de"),
        ("谢谢", "zh"),
        ("hello handsome", "en"),
    ],
)
def test_a_text_is_told_by_its_words(detector: Detector, text: str, language: str) -> None:
    assert detector.detect(text)[0].language == language


@pytest.mark.parametrize("text", ["", "   ", "12345", "😀", "...", "\n", "3.14 + 2"])
def test_a_text_without_a_letter_is_in_no_language(detector: Detector, text: str) -> None:
    assert detector.detect(text) == []


@pytest.mark.parametrize("text", ["Привет, как дела?", "こんにちは", "안녕하세요", "γειά σου", "مرحبا"])
def test_a_script_that_no_served_language_uses_is_no_served_language(detector: Detector, text: str) -> None:
    assert detector.detect(text) == []


@given(text=st.text(max_size=60))
def test_the_script_of_a_detected_language_stands_in_the_text(text: str) -> None:
    detector = Detector(["en", "de", "fr", "zh"])
    share_of = shares(text)
    for language, confidence in detector.detect(text):
        assert scripts_of(language) & set(share_of)
        assert language in detector.languages
        assert 0.0 <= confidence <= 1.0


@given(text=st.text(max_size=60))
def test_confidences_fall_and_are_together_at_most_one(text: str) -> None:
    confidences = [confidence for _, confidence in Detector(["en", "de", "fr"]).detect(text)]
    assert confidences == sorted(confidences, reverse=True)
    assert sum(confidences) <= 1.0 + 1e-6


def test_words_in_another_script_do_not_decide(detector: Detector) -> None:
    assert detector.detect("Auf dem Schild steht 你好, und das heißt Guten Tag.")[0].language == "de"
    assert detector.detect("我昨天在 Berlin 买了一本关于 Goethe 的书，非常有意思。")[0].language == "zh"


def test_a_language_that_is_not_served_is_never_named_and_seldom_mistaken_with_confidence(
    detector: Detector,
) -> None:
    for text in (
        "La chiave non è corretta, riprova più tardi.",
        "Waar is het station, alstublieft?",
        "Jag heter Karin och bor i en liten by vid havet.",
    ):
        assert detector.detect(text)[0].confidence < 0.5


def test_a_sentence_is_surer_than_a_word(detector: Detector) -> None:
    assert detector.detect("Die Katze schläft auf dem Sofa.")[0].confidence > 0.9
    assert detector.detect("ok")[0].confidence < 0.6


def test_only_served_languages_are_ranked() -> None:
    assert {language for language, _ in Detector(["de", "fr"]).detect("This is plain English.")} == {
        "de",
        "fr",
    }


def test_kana_make_a_text_japanese_where_japanese_is_served() -> None:
    assert Detector(["en", "ja", "zh"]).detect("これは本です")[0].language == "ja"
    assert Detector(["en", "ja", "zh"]).detect("这是一本书")[0].language == "zh"


def test_a_long_text_is_judged_by_its_beginning(detector: Detector) -> None:
    assert detector.detect("这是一本书。" * 5_000)[0].language == "zh"


def test_a_served_language_that_the_library_does_not_know_is_never_detected() -> None:
    assert Detector(["xx"]).detect("This is plain English.") == []
