import math
import random
import re
import string
import time
from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from sentencepiece import SentencePieceProcessor

from tokenizer import Tokenizer, normalise
from tokenizer.capitals import is_in_capitals
from tokenizer.sampling import LIKELIEST

CONTROL_TEXTS = [
    "<upper>",
    "<pad>",
    "<unk>",
    "<s>",
    "</s>",
    "<2de>",
    "<2en>",
    "<0x41>",
    "▁",
    "⁇",
    "▅",
    "\ufffd",
]
ANY_TEXT = st.text() | st.lists(
    st.text(max_size=5) | st.sampled_from([*CONTROL_TEXTS, " ", "the ", "🚀"])
).map("".join)


def controls(tokenizer: Tokenizer) -> set[int]:
    assert tokenizer.upper_id is not None
    named = {tokenizer.pad_id, tokenizer.unk_id, tokenizer.bos_id, tokenizer.eos_id, tokenizer.upper_id}
    return named | {tokenizer.target_tag(language) for language in tokenizer.languages}


# --- round trip


@given(text=ANY_TEXT)
@example(text="▁ ▁▁a▁b ")
@example(text="  name:\tAnna\n\n    indented line  \nlast")
@example(text="\u0301 begins with a mark")
def test_decoding_gives_back_the_normalised_text(tokenizer: Tokenizer, text: str) -> None:
    assert tokenizer.decode(tokenizer.encode(text)) == normalise(text)


@pytest.mark.parametrize(
    "text",
    [
        "می\u200cخواهم",
        "ශ්\u200dරී",
        "👩\u200d👩\u200d👧",
        "10½ cups, x² + y², ﬁn",
        "你好，世界？（测试）",
        "Set {name} to ${value} in [brackets] ~ ^ \\ | ` 𝄞 ꙮ",
        "🚀 ꙮ 𐍈",
        " two  blanks, a tab\tand a new\n\nline ",
    ],
)
def test_what_users_write_comes_back_unchanged(tokenizer: Tokenizer, text: str) -> None:
    assert tokenizer.decode(tokenizer.encode(text)) == text


def test_a_zero_width_space_never_becomes_a_space(tokenizer: Tokenizer) -> None:
    assert tokenizer.decode(tokenizer.encode("zero\u200bwidth")) == "zerowidth"


def test_a_byte_order_mark_changes_no_piece(tokenizer: Tokenizer) -> None:
    assert tokenizer.encode("\ufeffThe teacher") == tokenizer.encode("The teacher")
    assert not any("\ufeff" in piece for piece in tokenizer.pieces(range(tokenizer.size)))


def test_a_carriage_return_is_the_same_as_a_line_feed(tokenizer: Tokenizer) -> None:
    assert tokenizer.encode("One.\r\nTwo.\r") == tokenizer.encode("One.\nTwo.\n")
    assert not any("\r" in piece for piece in tokenizer.pieces(range(tokenizer.size)))


def test_a_word_has_the_same_pieces_wherever_it_stands(tokenizer: Tokenizer) -> None:
    assert tokenizer.encode("bridge bridge") == 2 * tokenizer.encode("bridge")


def test_text_that_is_empty_after_normalising_has_no_pieces(tokenizer: Tokenizer) -> None:
    assert tokenizer.encode("") == tokenizer.encode("\ufeff\u200b\x00") == []
    assert tokenizer.decode([]) == ""


# --- control ids


@given(text=ANY_TEXT)
def test_no_text_but_capitals_encodes_to_a_control_piece_or_to_unknown(
    tokenizer: Tokenizer, text: str
) -> None:
    upper = {tokenizer.upper_id} if is_in_capitals(normalise(text)) else set()
    assert controls(tokenizer) & set(tokenizer.encode(text)) == upper


@pytest.mark.parametrize("text", CONTROL_TEXTS)
def test_symbols_that_a_user_types_are_plain_text(tokenizer: Tokenizer, text: str) -> None:
    sentence = f"{text} Close {text} here and{text}there."
    ids = tokenizer.encode(sentence)
    assert not controls(tokenizer) & set(ids)
    assert tokenizer.decode(ids) == sentence


def test_a_typed_space_mark_is_no_space(tokenizer: Tokenizer) -> None:
    assert tokenizer.encode("a▁b") != tokenizer.encode("a b")
    assert tokenizer.encode("▁") != tokenizer.encode(" ") != []


def test_printable_ascii_is_never_unknown(tokenizer: Tokenizer) -> None:
    assert tokenizer.unk_id not in tokenizer.encode(string.printable)


def test_each_language_has_a_tag_of_its_own(tokenizer: Tokenizer) -> None:
    tags = [tokenizer.target_tag(language) for language in tokenizer.languages]
    assert tokenizer.languages == ("de", "en", "zh")
    assert tokenizer.pieces(tags) == ["<2de>", "<2en>", "<2zh>"]
    assert (
        len(
            {
                *tags,
                tokenizer.upper_id,
                tokenizer.pad_id,
                tokenizer.unk_id,
                tokenizer.bos_id,
                tokenizer.eos_id,
            }
        )
        == 8
    )


def test_a_language_without_a_tag_is_named_beside_those_that_have_one(tokenizer: Tokenizer) -> None:
    with pytest.raises(KeyError, match=r"'fr'.*de, en, zh"):
        tokenizer.target_tag("fr")


def test_control_ids_leave_no_trace_in_the_text(tokenizer: Tokenizer) -> None:
    ids = tokenizer.encode("The old captain forgot.")
    surrounded = [tokenizer.target_tag("de"), tokenizer.bos_id, *ids, tokenizer.eos_id, tokenizer.pad_id]
    assert tokenizer.decode(surrounded) == "The old captain forgot."
    assert tokenizer.decode([tokenizer.unk_id]) == ""


# --- capitals


@given(text=ANY_TEXT)
@example(text="DER GÄRTNER ÖFFNET DAS FENSTER.")
@example(text="ΟΔΥΣΣΕΥΣ")
@example(text="ISTANBUL İZMİR")
@example(text="STRAẞE ZUM SEE")
@example(text="ŉ ǰ ᾳ ﬁ DŽ")
def test_text_in_capitals_comes_back_in_capitals(tokenizer: Tokenizer, text: str) -> None:
    shouted = normalise(text.upper())
    assert tokenizer.decode(tokenizer.encode(shouted)) == shouted


def test_capitals_are_spelled_with_the_pieces_of_small_letters(tokenizer: Tokenizer) -> None:
    assert tokenizer.encode("THE OLD CAPTAIN!") == [tokenizer.upper_id, *tokenizer.encode("the old captain!")]


@pytest.mark.parametrize("text", ["OK", "TV 3", "NATO-Staaten", "你好，世界", "1234 + 5", "ẞ IN STRAẞE"])
def test_a_few_capitals_are_spelled_as_they_are(tokenizer: Tokenizer, text: str) -> None:
    assert tokenizer.upper_id not in tokenizer.encode(text)


def test_a_target_in_capitals_is_spelled_as_it_is_written(tokenizer: Tokenizer) -> None:
    ids = tokenizer.encode_in_capitals("Die Lehrerin öffnet heute das Heft.")
    assert ids == [tokenizer.upper_id, *tokenizer.encode("Die Lehrerin öffnet heute das Heft.")]
    assert tokenizer.decode(ids) == "DIE LEHRERIN ÖFFNET HEUTE DAS HEFT."
    assert tokenizer.encode_in_capitals("DAS HEFT") == tokenizer.encode("DAS HEFT")


def test_only_what_follows_the_mark_is_in_capitals(tokenizer: Tokenizer) -> None:
    ids = [*tokenizer.encode("das Heft"), *tokenizer.encode_in_capitals("das Heft")]
    assert tokenizer.decode(ids) == "das Heft DAS HEFT"


# --- bytes


def test_full_width_punctuation_is_in_the_vocabulary(tokenizer: Tokenizer) -> None:
    assert {"，", "？", "。"} <= set(tokenizer.pieces(range(tokenizer.size)))


def test_a_character_outside_the_vocabulary_is_spelled_with_the_bytes_of_its_utf_8(
    tokenizer: Tokenizer,
) -> None:
    *space, f0, x9f, x9a, x80 = tokenizer.pieces(tokenizer.encode("🚀"))
    assert [f0, x9f, x9a, x80] == ["<0xF0>", "<0x9F>", "<0x9A>", "<0x80>"]
    assert space == ["▁"]


@pytest.mark.parametrize("kept", [1, 2, 3])
@pytest.mark.parametrize("after", ["", " and on", "漢", "€"])
def test_a_character_that_lacks_bytes_is_dropped(tokenizer: Tokenizer, kept: int, after: str) -> None:
    cut = tokenizer.encode("Go 🚀")[: kept - 4]
    assert tokenizer.decode(cut) == "Go "
    assert tokenizer.decode([*cut, *tokenizer.encode(f"x{after}")]) == f"Go  x{after}"


@given(data=st.data())
def test_any_ids_at_all_decode_to_valid_text_without_byte_pieces(
    tokenizer: Tokenizer, data: st.DataObject
) -> None:
    byte_ids = [i for i, piece in enumerate(tokenizer.pieces(range(tokenizer.size))) if piece[:3] == "<0x"]
    byte_ids.remove(tokenizer.encode("\ufffd")[-1])  # so that U+FFFD is not spelled on purpose
    ids = data.draw(st.lists(st.sampled_from(byte_ids) | st.integers(0, tokenizer.size - 1), max_size=30))
    text = tokenizer.decode(ids)
    assert not re.search("<0x[0-9A-F]{2}>", text)
    assert "\ufffd" not in text
    text.encode()


# --- ids


@dataclass(eq=False)
class Integer:
    value: int

    def __index__(self) -> int:
        return self.value


def test_any_kind_of_integer_is_an_id(tokenizer: Tokenizer) -> None:
    ids = tokenizer.encode("Go 🚀")
    assert tokenizer.decode(np.array(ids)) == "Go 🚀"
    assert tokenizer.pieces(np.array(ids, np.int32)) == tokenizer.pieces(ids)
    # Like an element of a tensor: an integer, but equal to itself only.
    assert tokenizer.decode(map(Integer, ids)) == "Go 🚀"


@pytest.mark.parametrize("wrong", [-1, 10**6])
def test_an_id_that_no_piece_has_is_refused_by_name(tokenizer: Tokenizer, wrong: int) -> None:
    for use in (tokenizer.decode, tokenizer.pieces):
        with pytest.raises(ValueError, match=rf"{wrong}; ids are 0 to {tokenizer.size - 1}"):
            use([5, wrong])


@pytest.mark.parametrize("size", [None, 1, 1000])
def test_what_is_no_model_is_refused(tokenizer: Tokenizer, size: int | None) -> None:
    model = b"no model" if size is None else tokenizer.model[:-size]
    with pytest.raises(ValueError, match="not a SentencePiece model"):
        Tokenizer(model)


# --- sampling, threads, time


@given(text=ANY_TEXT, seed=st.integers())
def test_a_sampled_segmentation_is_the_same_text(tokenizer: Tokenizer, text: str, seed: int) -> None:
    ids = tokenizer.sample(text, random.Random(seed))
    assert tokenizer.decode(ids) == normalise(text)
    assert controls(tokenizer) & set(ids) == controls(tokenizer) & set(tokenizer.encode(text))


def test_the_same_state_of_the_generator_draws_the_same_segmentations(tokenizer: Tokenizer) -> None:
    text = "The old captain will remember the narrow bridge."
    first, second = random.Random(4), random.Random(4)
    drawn = [tokenizer.sample(text, first) for _ in range(20)]
    assert drawn == [tokenizer.sample(text, second) for _ in range(20)]
    assert len(set(map(tuple, drawn))) > 10


def test_segmentations_are_drawn_as_often_as_the_model_holds_them_likely(tokenizer: Tokenizer) -> None:
    pieces = SentencePieceProcessor(model_proto=tokenizer.model)
    word, alpha, draws = " captain", 0.5, 4000
    kinds = pieces.nbest_encode(word, nbest_size=LIKELIEST)
    weights = [math.exp(alpha * sum(map(pieces.get_score, ids))) for ids in kinds]
    generator = random.Random(1)
    counts = Counter(tuple(tokenizer.sample("captain", generator, alpha=alpha)) for _ in range(draws))
    for ids, weight in zip(kinds, weights, strict=True):
        share = weight / sum(weights)
        assert abs(counts[tuple(ids)] - draws * share) < 5 * math.sqrt(draws * share) + 1


def test_eight_threads_get_what_one_gets(tokenizer: Tokenizer, corpus: list[str]) -> None:
    texts = [*corpus[:200], *CONTROL_TEXTS, "🚀 ꙮ 𐍈"]
    ids = [tokenizer.encode(text) for text in texts]

    def work(_: int) -> tuple[list[list[int]], list[str]]:
        return [tokenizer.encode(text) for text in texts], [tokenizer.decode(line) for line in ids]

    with ThreadPoolExecutor(8) as pool:
        assert all(result == (ids, texts) for result in pool.map(work, range(32)))


@pytest.mark.parametrize(
    "text", ["a", "_", "漢", "▁", "🚀", "\u0301", "The old captain forgot. ", "https://h.example/"]
)
def test_a_hundred_thousand_characters_take_less_than_two_seconds(tokenizer: Tokenizer, text: str) -> None:
    text *= 100_000 // len(text)
    start = time.perf_counter()
    assert tokenizer.decode(tokenizer.encode(text)) == normalise(text)
    assert time.perf_counter() - start < 2
