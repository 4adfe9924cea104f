"""No text of a held-out set is trained on."""

import random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from training.corpora.pairs import CorpusError, Pair
from training.corpora.split import LARGEST_HELD_OUT, TEST, PairHashes, assign, count_overlap, split, text_key


def corpus(size: int, seed: int = 0) -> list[Pair]:
    """Pairs that share texts as those of Tatoeba do: several translations of one text, in both directions."""
    draw = random.Random(seed)
    return [Pair(f"text {draw.randrange(size)}", f"Satz {draw.randrange(size)}.") for _ in range(size // 2)]


def components(pairs: list[Pair]) -> list[set[int]]:
    """The slow and obvious way: merge groups of pairs until none share a text."""
    groups: list[tuple[set[int], set[str]]] = []
    for index, pair in enumerate(pairs):
        members, texts = {index}, {text_key(text) for text in pair}
        apart = []
        for other_members, other_texts in groups:
            if other_texts & texts:
                members, texts = members | other_members, texts | other_texts
            else:
                apart.append((other_members, other_texts))
        groups = [*apart, (members, texts)]
    return [members for members, _ in groups]


@given(
    st.lists(
        st.tuples(st.sampled_from("abcdefghijkl"), st.sampled_from("ABCmnopqrstuvw")), min_size=3, max_size=40
    ),
    st.integers(0, 3),
)
def test_components_are_those_of_the_obvious_algorithm_and_none_meets_two_sets(rows, seed):
    pairs = [Pair(*row) for row in rows]
    groups = components(pairs)
    small = [group for group in groups if len(group) <= LARGEST_HELD_OUT]
    if len(small) < 3 or len(groups) < 3:
        return
    result = assign(PairHashes(pairs), validation=1, test=1, seed=seed)
    assert result.components == len(groups)
    assert result.largest_component == max(map(len, groups))
    assert result.overlap == 0
    for group in groups:
        sets = {int(result.sets[index]) for index in group} - {3}
        assert len(sets) == 1


def test_the_sets_have_the_wanted_size_and_share_no_text():
    pairs = corpus(4000)
    result = split(pairs, validation=100, test=150, seed=1)
    assert (len(result.validation), len(result.test), result.overlap) == (100, 150, 0)
    assert count_overlap(result.test, result.train) == 0
    assert count_overlap(result.validation, result.train + result.test) == 0
    assert len(result.train) + 250 + result.set_aside == len(pairs)


def test_a_random_split_of_the_same_corpus_would_leak():
    """The corpus of these tests can show a leak, and the count of overlaps sees it."""
    pairs = corpus(4000)
    assert count_overlap(pairs[:150], pairs[150:]) > 20


@pytest.mark.parametrize("part", ["validation", "test"])
def test_a_held_out_set_asks_no_source_twice_and_no_target_twice(part):
    held_out = getattr(split(corpus(4000), validation=200, test=200, seed=3), part)
    for side in zip(*held_out, strict=True):
        assert len(set(map(text_key, side))) == len(side)


def test_the_same_seed_gives_the_same_split_and_another_seed_another():
    pairs = corpus(4000)
    first = split(pairs, validation=100, test=100, seed=5)
    assert first == split(pairs, validation=100, test=100, seed=5)
    assert set(first.test) != set(split(pairs, validation=100, test=100, seed=6).test)


def test_the_order_of_the_corpus_does_not_matter():
    pairs = corpus(4000)
    shuffled = random.Random(9).sample(pairs, len(pairs))
    one, two = (split(order, validation=100, test=100, seed=5) for order in (pairs, shuffled))
    assert set(one.test) == set(two.test)
    assert set(one.validation) == set(two.validation)


def test_a_corpus_that_grows_by_a_tenth_keeps_most_of_its_held_out_pairs():
    old = [Pair(f"text {number}", f"Satz {number}") for number in range(5000)]
    new = old + [Pair(f"new {number}", f"neu {number}") for number in range(500)]
    one, two = (split(pairs, validation=200, test=200, seed=2) for pairs in (old, new))
    assert len(set(one.test) & set(two.test)) > 160
    assert len(set(one.validation) & set(two.validation)) > 140


def test_texts_that_differ_in_case_spaces_or_final_punctuation_are_one():
    keys = {
        text_key(text)
        for text in ("Der Bär  schläft.", "DER BÄR SCHLÄFT!!", "der ba\u0308r schläft …", "Der Bär schläft")
    }
    assert len(keys) == 1
    assert text_key("Straße.") == text_key("STRASSE")
    assert text_key("C++") != text_key("C")
    assert text_key("?!") != text_key("...")


def test_a_huge_component_stays_in_training():
    hub = [Pair("Go!", f"Geh {number}!") for number in range(LARGEST_HELD_OUT + 1)]
    others = [Pair(f"text {number}", f"Satz {number}") for number in range(10)]
    result = split(hub + others, validation=3, test=6, seed=0)
    assert set(hub) <= set(result.train)


def test_asking_for_too_much_names_what_there_is():
    pairs = [Pair("one", "eins"), Pair("two", "zwei"), Pair("two", "die zwei")]
    with pytest.raises(CorpusError, match=r"cannot hold out 1 \+ 1 pairs: the 3 pairs form only 2 groups"):
        split(pairs, validation=1, test=1, seed=0)
    with pytest.raises(CorpusError, match="the 0 pairs form only 0 groups"):
        split([], validation=1, test=1, seed=0)


def test_nothing_is_held_out_when_nothing_is_asked_for():
    pairs = corpus(100)
    assert split(pairs, validation=0, test=0, seed=0).train == pairs


@pytest.mark.slow
def test_the_split_of_tatoeba_shares_no_text(corpora):
    from training.corpora.cleaning import CleaningReport, CleaningRules, clean
    from training.corpora.corpus import open_files

    read = open_files([corpora / "tatoeba" / "deu-eng.zip"], "en", "de").read()
    rules = CleaningRules(source_language="en", target_language="de")
    result = assign(PairHashes(clean(read, rules, CleaningReport())), validation=1000, test=1000, seed=1)
    assert result.overlap == 0
    assert (result.sets == TEST).sum() == 1000
