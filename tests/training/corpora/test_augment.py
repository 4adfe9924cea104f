"""Changed examples stay true: what changes on one side changes on the other, or only the source does."""

import re
from collections import Counter
from dataclasses import fields
from random import Random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tokenizer.normalise import normalise
from training.corpora.augment import (
    AugmentShares,
    augment,
    join,
    title_case,
    with_copies,
    with_typing_errors,
    without_stop,
)
from training.corpora.copies import copy_string
from training.corpora.pairs import Pair

PAIR = Pair("The straight street is long.", "Die gerade Straße ist lang.")
NONE = dict.fromkeys((share.name for share in fields(AugmentShares)), 0.0)


def only(share: str) -> AugmentShares:
    return AugmentShares(**(NONE | {share: 1.0}))


def change(share: str, pair: Pair = PAIR, seed: int = 0) -> Pair:
    return augment(pair, Random(seed), only(share), lambda: Pair("Yes.", "Ja."))


def test_a_source_in_capitals_keeps_the_spelling_of_its_target():
    assert change("capitals") == Pair("THE STRAIGHT STREET IS LONG.", PAIR.target)


@pytest.mark.parametrize("share", ["lower_case", "title_case", "typing_errors"])
def test_a_badly_written_source_keeps_its_well_written_target(share):
    changed = change(share)
    assert changed.target == PAIR.target
    assert changed.source != PAIR.source


def test_title_case_starts_every_word_and_no_part_of_one():
    assert title_case("don't say über-all “quoted” mcDonald") == "Don't Say Über-all “quoted” McDonald"


def test_the_stop_goes_from_both_sides_or_from_neither():
    assert change("no_stop") == Pair("The straight street is long", "Die gerade Straße ist lang")
    assert without_stop(Pair("你好。", "Hello.")) == Pair("你好", "Hello")
    assert without_stop(Pair("Vraiment\u202f?", "Really?")) == Pair("Vraiment", "Really")
    for kept in (Pair("Stop!", "Halt."), Pair("Wait...", "Warte..."), Pair("No", "Nein."), Pair("", "")):
        assert without_stop(kept) == kept


def test_a_joined_pair_is_two_whole_pairs_in_one_order():
    assert change("joined") == Pair(f"{PAIR.source} Yes.", f"{PAIR.target} Ja.")
    assert join(Pair("Hi.", "你好。"), Pair("Yes.", "是。")) == Pair("Hi. Yes.", "你好。是。")


@given(st.integers())
def test_a_slip_changes_one_or_two_words_and_no_first_letter(seed):
    text = "We wondered about the beautiful weather in November."
    before, after = text.split(), with_typing_errors(text, Random(seed)).split()
    assert len(before) == len(after)
    assert sum(one != two for one, two in zip(before, after, strict=True)) <= 2
    assert [word[0] for word in before] == [word[0] for word in after]


def test_slips_are_swaps_drops_doublings_and_neighbours():
    slips = {with_typing_errors("word", Random(seed)) for seed in range(300)}
    assert {"wrod", "wrd", "woord", "wird"} <= slips
    assert with_typing_errors("a to 1234", Random(0)) == "a to 1234"


@given(st.integers())
def test_a_string_to_copy_stands_on_both_sides_alike(seed):
    pair = Pair("Yesterday, Robert bought 12 apples.", "Gestern, ach, kaufte Robert 12 Äpfel.")
    changed = with_copies(pair, Random(seed))
    words = [
        Counter(re.findall(r"\S+", side)) - Counter(re.findall(r"\S+", old))
        for side, old in zip(changed, pair, strict=True)
    ]
    inserted = set(words[0]) & set(words[1])
    own = {"yesterday", "bought", "apples", "gestern", "ach", "kaufte", "äpfel"}
    # What is new on one side and not on the other is only a word of the sentence with a new mark at its edge.
    for word in (set(words[0]) | set(words[1])) - inserted:
        assert any(known in word.lower() for known in own), (changed, word)


def test_a_shared_name_or_number_gives_way_to_the_same_string_on_both_sides():
    pair = Pair("Robert has 12 apples.", "Robert hat 12 Äpfel.")
    replaced = 0
    for seed in range(200):
        source, target = with_copies(pair, Random(seed))
        assert ("Robert" in source) == ("Robert" in target)
        assert bool(re.search(r"\b12\b", source)) == bool(re.search(r"\b12\b", target))
        replaced += "Robert" not in source
    assert replaced > 30


def test_a_word_with_another_meaning_in_the_other_language_is_no_name():
    pair = Pair("Was he here?", "Was hat er hier gemacht?")
    assert all("Was" in side for seed in range(100) for side in with_copies(pair, Random(seed)))


def test_strings_to_copy_are_fresh_and_of_all_kinds():
    random = Random(0)
    strings = [copy_string(random) for _ in range(5000)]
    assert len(set(strings)) > 3500
    for kind in (
        r"\{\w+\}", r"\{\d\}", r"\{\{.+\}\}", r"\$\{.+\}", r"%\d\$s", r"%\(.+\)s", r"\[([A-Z])\d+\1\]",
        r'<x id="\d+"></x>', r"https://\S+", r"[\w.]+@[\w.]+", r"@\w+", r"#\w+", r"`.+`", r"\d+", r"&\w+;",
        r"[\U0001F300-\U0001FAFF]+",
    ):  # fmt: skip
        assert sum(bool(re.fullmatch(kind, string)) for string in strings) > 3, kind


@given(st.integers())
def test_a_string_to_copy_survives_normalisation_and_holds_no_line_end(seed):
    string = copy_string(Random(seed))
    assert normalise(string) == string
    assert len(string.splitlines()) == 1


def test_addresses_are_under_names_that_nobody_owns():
    random = Random(1)
    for string in (copy_string(random) for _ in range(5000)):
        for host in re.findall(r"(?:://|@)([\w.]+\.[a-z]+)", string):
            assert host.endswith((".example", ".example.com", ".example.org", ".test")), string


def test_about_a_quarter_of_the_pairs_is_changed_by_default():
    random, shares = Random(0), AugmentShares()
    changed = sum(augment(PAIR, random, shares, lambda: PAIR) != PAIR for _ in range(20_000))
    assert shares.total == pytest.approx(0.26)
    assert changed / 20_000 == pytest.approx(0.26, abs=0.01)


def test_the_same_seed_makes_the_same_changes():
    def run(seed: int) -> list[Pair]:
        random = Random(seed)
        return [augment(PAIR, random, AugmentShares(), lambda: PAIR) for _ in range(500)]

    assert run(3) == run(3) != run(4)


def test_no_share_leaves_every_pair_as_it_is():
    assert all(
        augment(PAIR, Random(seed), AugmentShares(**NONE), lambda: PAIR) is PAIR for seed in range(100)
    )


@given(st.text(max_size=30), st.text(max_size=30), st.integers())
def test_any_pair_can_be_changed(source, target, seed):
    for share in NONE:
        change(share, Pair(source, target), seed)


def test_impossible_shares_are_refused_by_name():
    with pytest.raises(ValueError, match=r"share capitals is -0\.1; allowed: 0 … 1"):
        AugmentShares(capitals=-0.1)
    with pytest.raises(ValueError, match="add up to 1"):
        AugmentShares(copies=0.9, joined=0.9)
