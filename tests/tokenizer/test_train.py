import re
from collections.abc import Iterator

import pytest

from tokenizer import Tokenizer
from tokenizer.train import LONGEST_LINE, train_tokenizer


def vocabulary(model: bytes) -> set[str]:
    tokenizer = Tokenizer(model)
    return set(tokenizer.pieces(range(tokenizer.size)))


def test_control_pieces_come_first_and_then_all_the_bytes(tokenizer: Tokenizer) -> None:
    assert (tokenizer.pad_id, tokenizer.unk_id, tokenizer.bos_id, tokenizer.eos_id) == (0, 1, 2, 3)
    assert [tokenizer.target_tag(language) for language in ("de", "en", "zh")] == [4, 5, 6]
    assert tokenizer.upper_id == 7
    assert tokenizer.pieces(range(8, 264)) == [f"<0x{byte:02X}>" for byte in range(256)]


def test_the_same_text_gives_the_same_tokenizer(tokenizer: Tokenizer, corpus: list[str]) -> None:
    assert train_tokenizer(iter(corpus), size=700, languages=["de", "en", "zh"]) == tokenizer.model


def test_sentences_like_those_it_learnt_need_few_pieces(tokenizer: Tokenizer, unseen: list[str]) -> None:
    learnt = sum(len(tokenizer.encode(line)) for line in unseen)
    unlike = sum(len(tokenizer.encode(line[::-1])) for line in unseen)
    assert 1.5 * learnt < min(unlike, sum(map(len, unseen)))


def test_size_is_an_upper_bound(corpus: list[str]) -> None:
    assert Tokenizer(train_tokenizer(corpus, size=400, languages=["en"])).size == 400
    assert 400 < Tokenizer(train_tokenizer(corpus, size=50_000, languages=["en"])).size < 50_000


def test_digits_are_pieces_of_their_own() -> None:
    lines = [f"{number}{mark}" for number in range(100, 200) for mark in ".,;!?"]
    tokenizer = Tokenizer(train_tokenizer(lines, size=700, languages=["en"]))
    assert tokenizer.pieces(tokenizer.encode("123.")) == ["▁", "1", "2", "3", "."]


def test_rare_characters_are_left_to_the_bytes_when_coverage_is_lower(corpus: list[str]) -> None:
    lines = [*corpus, "ꙮ"]
    assert "ꙮ" in vocabulary(train_tokenizer(lines, size=700, languages=["en"]))
    assert "ꙮ" not in vocabulary(train_tokenizer(lines, size=700, languages=["en"], coverage=0.9999))


def test_the_text_is_normalised_before_it_is_learnt() -> None:
    pieces = vocabulary(train_tokenizer(["\ufeffu\u0308ber\u200bmut\r"] * 9, size=400, languages=["en"]))
    assert "ü" in "".join(pieces)
    assert not set("\ufeff\u200b\u0308\r") & set("".join(pieces))


def test_full_width_punctuation_of_chinese_lines_is_learnt() -> None:
    lines = [f"今天下雨{mark}" for mark in "，。？！；："] * 5
    assert set("，。？！；：") <= vocabulary(train_tokenizer(lines, size=400, languages=["zh"]))


def test_lines_of_any_length_are_learnt_to_their_end() -> None:
    """SentencePiece alone skips lines over 4,192 bytes without an error; one long line would leave none."""
    line = "กขค " * LONGEST_LINE + "ญ"
    assert len(line.encode()) > 9 * 4192
    assert {"ก", "ญ"} <= vocabulary(train_tokenizer([line], size=400, languages=["th"]))


@pytest.mark.parametrize("reserved", ["▁", "▅"])
def test_a_reserved_character_does_not_take_its_line_with_it(reserved: str) -> None:
    model = train_tokenizer([f"abc {reserved} xyz"], size=400, languages=["en"])
    assert set("abcxyz") <= vocabulary(model)
    assert Tokenizer(model).decode(Tokenizer(model).encode(f"a{reserved}z")) == f"a{reserved}z"


@pytest.mark.parametrize("lines", [[], [""], ["\ufeff", "\x00"]])
def test_an_empty_corpus_is_refused(lines: list[str]) -> None:
    with pytest.raises(ValueError, match="the text is empty"):
        train_tokenizer(lines, size=400, languages=["en"])


def test_a_size_without_room_for_the_bytes_is_refused(corpus: list[str]) -> None:
    with pytest.raises(ValueError, match="263 is too small: 263"):
        train_tokenizer(corpus, size=263, languages=["de", "en"])


def test_a_size_without_room_for_the_letters_is_refused(corpus: list[str]) -> None:
    with pytest.raises(ValueError, match=r"no tokenizer could be learnt.*265"):
        train_tokenizer(corpus, size=265, languages=["de", "en"])


@pytest.mark.parametrize("language", ["zh-Hans", "EN", "", "d", "english", "2>"])
def test_a_language_that_no_tag_can_hold_is_refused(corpus: list[str], language: str) -> None:
    with pytest.raises(ValueError, match=re.escape(repr(language))):
        train_tokenizer(corpus, size=700, languages=["en", language])


def test_an_error_in_the_lines_is_not_taken_for_their_end() -> None:
    def torn() -> Iterator[str]:
        yield "a first line"
        raise OSError("the disk is gone")

    with pytest.raises(ValueError, match="the disk is gone"):
        train_tokenizer(torn(), size=400, languages=["en"])
