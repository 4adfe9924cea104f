from typing import cast

import pytest
from hypothesis import given
from hypothesis import strategies as st

from model.search import DecodingOptions
from model.sentence import Sentence
from model.texts import TranslatedText, translate_corpus_lines, translate_texts
from model.translator import Hypothesis, Translator, UnsupportedDirection
from tests.model.phrasebook import ENGLISH, GERMAN, phrasebook
from tokenizer.segments import LANGUAGES_WITHOUT_BLANKS

GREEDY = DecodingOptions(strategy="greedy")
BEAM = DecodingOptions(beam_size=4)
LONG = [number for number, line in enumerate(ENGLISH) if "three apples" in line or "the key" in line]


class Echo:
    """Answers each sentence with itself, and with itself in capitals as the second best."""

    def fits(self, text: str) -> bool:
        return len(text) <= 12

    def prepare(self, text: str, source_language: str, target_language: str) -> Sentence:
        assert self.fits(text)
        assert text == text.strip()
        return Sentence(text, target_language, ())

    def translate(self, sentences: list[Sentence], options: DecodingOptions) -> list[list[Hypothesis]]:
        return [
            [
                Hypothesis(text, score, ("a", "b"), (score, score), text.endswith("…"))
                for score, text in ((-1.0, sentence.text), (-2.0, sentence.text.upper()))
            ]
            for sentence in sentences
        ]


ECHO = cast(Translator, Echo())


class Untidy(Echo):
    """Answers with line ends and tabs in it."""

    def translate(self, sentences: list[Sentence], options: DecodingOptions) -> list[list[Hypothesis]]:
        return [[Hypothesis(" one\ntwo\u2028three\tfour\r\n", 0.0, (), (), False)] for _ in sentences]


def texts(lines: list[TranslatedText]) -> list[str]:
    return [line.text for line in lines]


@pytest.mark.parametrize("options", [GREEDY, BEAM], ids=["greedy", "beam"])
def test_a_sentence_a_line_comes_back_translated_whichever_way_lines_are_seen(options):
    translator = phrasebook()
    as_text = translate_texts(translator, ENGLISH, "en", "de", options)
    assert as_text == translate_corpus_lines(translator, ENGLISH, "en", "de", options)
    assert sum(map(str.__eq__, texts(as_text), GERMAN)) >= 0.95 * len(GERMAN)
    assert {line.sentences for line in as_text} == {1}


def test_eight_sentences_in_a_line_are_eight_in_its_translation():
    translator = phrasebook()
    chosen = ENGLISH[::13]
    assert len(chosen) == 8
    (paragraph,) = translate_texts(translator, [" ".join(chosen)], "en", "de", GREEDY)
    assert paragraph.sentences == 8
    assert paragraph.text == " ".join(texts(translate_texts(translator, chosen, "en", "de", GREEDY)))


def test_two_spellings_of_line_ends_give_the_same_translation():
    translator = phrasebook()
    plain, windows = translate_texts(
        translator, ["My aunt sees a lamp.", "My aunt sees a lamp.\r"], "en", "de", GREEDY
    )
    assert windows.text == f"{plain.text}\r"


def test_a_corpus_line_of_two_sentences_is_one_sentence_while_it_fits():
    both = "A child sees a lamp. No."
    assert phrasebook().fits(both)
    (line,) = translate_corpus_lines(phrasebook(), [both], "en", "de", GREEDY)
    assert line.sentences == 1
    (line,) = translate_texts(phrasebook(), [both], "en", "de", GREEDY)
    assert line.sentences == 2


def test_a_corpus_line_that_is_too_long_is_split_and_nothing_of_it_is_lost():
    translator = phrasebook()
    chosen = [ENGLISH[number] for number in LONG[:5]]
    assert not translator.fits(" ".join(chosen))
    (line,) = translate_corpus_lines(translator, [" ".join(chosen)], "en", "de", GREEDY)
    assert line.sentences == 5
    assert line.text == " ".join(texts(translate_corpus_lines(translator, chosen, "en", "de", GREEDY)))
    assert not line.truncated


def test_a_single_word_longer_than_the_model_takes_is_translated_in_parts():
    (line,) = translate_texts(phrasebook(), ["lampboatkey" * 30], "en", "de", GREEDY)
    assert line.sentences > 1


@pytest.mark.parametrize("line", ["", " ", "\t \u00a0", "…", "10:30", "?!  3", "😀"])
def test_a_line_without_letters_stays_as_it_is(line):
    (found,) = translate_texts(phrasebook(), [line], "en", "de", BEAM)
    assert found == TranslatedText(((line, 0.0),), sentences=0, pieces=0, truncated=False)  # type: ignore[arg-type]


def test_white_space_around_sentences_stays():
    translator = phrasebook()
    one, other = texts(translate_texts(translator, ENGLISH[:2], "en", "de", GREEDY))
    (line,) = translate_texts(translator, [f"  {ENGLISH[0]}   {ENGLISH[1]}\u00a0"], "en", "de", GREEDY)
    assert line.text == f"  {one}   {other}\u00a0"


@given(
    st.text(
        st.characters(exclude_categories=["Cs"], exclude_characters="\t\n\r\v\f\x1c\x1d\x1e\x85\u2028\u2029")
    )
)
def test_a_line_is_cut_and_put_back_without_a_change_of_its_own(line):
    (as_text,) = translate_texts(ECHO, [line], "en", "de", GREEDY)
    assert as_text.text == line
    (as_sentence,) = translate_corpus_lines(ECHO, [line], "en", "de", GREEDY)
    assert as_sentence.text == line


def test_a_translation_brings_no_line_end_and_no_tab_into_its_line():
    (line,) = translate_texts(cast(Translator, Untidy()), [" A lamp."], "en", "de", GREEDY)
    assert line.text == " one two three four"


@pytest.mark.parametrize(
    ("source", "target", "expected"), [("zh", "en", "猫来了。 狗走了。"), ("zh", "ja", "猫来了。狗走了。")]
)
def test_sentences_that_stand_without_blanks_get_them_in_a_language_that_has_them(source, target, expected):
    assert source in LANGUAGES_WITHOUT_BLANKS
    (line,) = translate_texts(ECHO, ["猫来了。狗走了。"], source, target, GREEDY)
    assert line.text == expected


def test_the_candidates_of_a_line_join_those_of_its_sentences_best_first():
    (line,) = translate_texts(
        ECHO, ["A lamp. 3. A boat."], "en", "de", DecodingOptions(beam_size=3, n_best=3)
    )
    assert line.candidates == (("A lamp. 3. A boat.", -2.0), ("A LAMP. 3. A BOAT.", -4.0))
    assert line.pieces == 4


def test_a_line_is_truncated_when_any_of_its_sentences_is():
    lines = translate_texts(ECHO, ["A lamp. A boat…", "A lamp."], "en", "de", GREEDY)
    assert [line.truncated for line in lines] == [True, False]
    cut = DecodingOptions(strategy="greedy", max_length=3)
    (line,) = translate_texts(phrasebook(), [f"{ENGLISH[0]} {ENGLISH[1]}"], "en", "de", cut)
    assert line.truncated


def test_no_lines_are_no_translations_and_an_unknown_direction_is_an_error():
    assert translate_texts(phrasebook(), [], "en", "de", GREEDY) == []
    with pytest.raises(UnsupportedDirection, match="en→fr"):
        translate_texts(phrasebook(), ENGLISH[:1], "en", "fr", GREEDY)
