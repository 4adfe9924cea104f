"""Cleaning keeps pairs together and accounts for each."""

from itertools import count

import pytest
from hypothesis import given
from hypothesis import strategies as st
from rich.console import Console

from training.corpora.cleaning import REASONS, CleaningReport, CleaningRules, clean
from training.corpora.hashes import HashSet
from training.corpora.pairs import CorpusError, Pair

RULES = CleaningRules(source_language="en", target_language="de")
GOOD = Pair("The cat sleeps.", "Die Katze schläft.")


def run(*pairs: Pair, rules: CleaningRules = RULES) -> tuple[list[Pair], CleaningReport]:
    report = CleaningReport()
    return list(clean(pairs, rules, report)), report


@pytest.mark.parametrize(
    ("reason", "pair"),
    [
        ("empty side", Pair("", "Nichts.")),
        ("empty side", Pair("Nothing.", " \u00a0\u200b")),
        ("empty side", Pair("...", "—")),
        ("too long", Pair("word " * 300, "Wort " * 300)),
        ("length ratio", Pair("Yes.", "Ja, das ist selbstverständlich vollkommen richtig.")),
        ("repeated words", Pair("no no no no no no", "nein")),
        ("copied source", Pair("This line was never translated.", "This line was never translated.")),
        ("wrong script", Pair("The cat sleeps.", "Кошка спит.")),
        ("control characters", Pair("The cat\x07 sleeps.", "Die Katze schläft.")),
        ("control characters", Pair("The caf\ufffd is open.", "Das Café ist offen.")),
        ("copied source", Pair("This Line Was Never Translated.", "This line was never translated.")),
        ("wrong language", Pair("Der Hund schläft heute im Garten.", "Der Hund schlief gestern im Garten.")),
        (
            "wrong language",
            Pair("The dog sleeps in the garden every day.", "The dog is sleeping in the garden today."),
        ),
        (
            "wrong language",
            Pair("Der Hund schläft heute im Garten.", "The dog sleeps in the garden again today."),
        ),
        ("duplicate", GOOD),
        ("duplicate", Pair("THE CAT SLEEPS.", "die katze\u00a0schläft.")),
    ],
)
def test_each_fault_drops_the_pair_for_its_reason(reason, pair):
    kept, report = run(GOOD, pair)
    assert kept == [GOOD]
    assert report.dropped_for == {reason: 1}


@pytest.mark.parametrize(
    "pair",
    [
        Pair("Tom", "Tom"),
        Pair("10:30", "10:30"),
        Pair("Anna Maria Schmidt", "Anna Maria Schmidt"),
        Pair("No, no, no!", "Nein, nein, nein!"),
        Pair('He said "Привет" to her.', "Er sagte „Привет“ zu ihr."),
        Pair("Hotel Restaurant Taxi", "Hotel Restaurant Taxi"),
        Pair("Windows Server Update", "Windows Server Update"),
        Pair("The dog sleeps?", "Schläft der Hund?"),
        Pair("He wrote “Sein und Zeit”.", "Er schrieb „Sein und Zeit“."),
        Pair("10½ m² – x² 😀👩\u200d👧", "10½ m² – x² 😀👩\u200d👧"),
    ],
)
def test_what_only_looks_odd_is_kept(pair):
    assert run(pair)[0] == [pair]


def test_chinese_is_measured_by_what_it_says_not_by_its_length():
    rules = CleaningRules(source_language="en", target_language="zh")
    pair = Pair("I would like to have a cup of tea before we leave the house.", "出门之前我想喝杯茶。")
    assert run(pair, rules=rules)[0] == [pair]


def test_an_empty_line_on_one_side_does_not_shift_the_pairs_after_it():
    pairs = [Pair(f"Line {number}.", f"Zeile {number}.") for number in range(100)]
    pairs[50] = Pair("", "Zeile 50.")
    kept, _ = run(*pairs)
    assert kept == pairs[:50] + pairs[51:]


def test_entities_are_undone_and_counted_and_words_with_ampersands_are_not_touched():
    kept, report = run(
        Pair("It&apos;s &quot;R&amp;D&quot;.", "Das ist &quot;R&amp;D&quot;."),
        Pair("Don&#39;t ask AT&T.", "Frag nicht AT&T."),
        Pair("He said &amp;quot;no&amp;quot;.", "Er sagte „nein“."),
        GOOD,
    )
    assert kept[0] == Pair('It\'s "R&D".', 'Das ist "R&D".')
    assert kept[1] == Pair("Don't ask AT&T.", "Frag nicht AT&T.")
    assert kept[2].source == 'He said "no".'
    assert report.unescaped == 3


def test_text_is_normalised_to_one_line():
    kept, _ = run(Pair("  The\tcat\u2028 sleeps. ", "Die Katze schla\u0308ft.\ufeff"))
    assert kept == [GOOD]


def test_a_no_break_space_is_spelling_and_stays():
    pair = Pair("Really?", "Vraiment\u202f?")
    assert run(pair, rules=CleaningRules(source_language="en", target_language="fr"))[0] == [pair]


def test_a_pair_of_5000_words_is_dropped_and_the_rest_goes_on():
    pairs = [Pair(f"Line {number}.", f"Zeile {number}.") for number in range(1000)]
    pairs[500] = Pair("word " * 5000, "Wort " * 5000)
    kept, report = run(*pairs)
    assert len(kept) == 999
    assert report.dropped_for == {"too long": 1}


def test_a_corpus_of_which_nothing_is_left_stops_and_says_the_counts():
    pairs = [Pair("word " * 500 + str(number), "Wort " * 500) for number in range(7)]
    with pytest.raises(CorpusError, match=r"7 read, 0 kept, 7 dropped \(too long: 7\)"):
        run(*pairs)


@given(st.lists(st.tuples(st.text(max_size=20), st.text(max_size=20))))
def test_every_pair_is_kept_or_counted_and_cleaning_again_changes_nothing(rows):
    kept, report = run(GOOD, *(Pair(*row) for row in rows))
    assert report.read == len(rows) + 1 == report.kept + report.dropped
    assert report.kept == len(kept)
    assert set(report.dropped_for) <= set(REASONS)
    escaped_once_more = any("&" in text for row in rows for text in row)
    if not escaped_once_more:
        assert run(*kept)[0] == kept


def test_the_counts_are_plain_values_with_a_row_for_every_reason():
    _, report = run(GOOD, GOOD, Pair("", ""))
    counts = report.to_json()
    assert list(counts["dropped"]) == list(REASONS)
    assert counts["read"] == 3 == counts["kept"] + sum(counts["dropped"].values())


def test_what_one_corpus_holds_is_a_duplicate_in_the_next_where_they_share_what_was_seen():
    seen, report = HashSet(), CleaningReport()
    assert list(clean([GOOD], RULES, CleaningReport(), seen)) == [GOOD]
    assert list(clean([Pair("The dog sleeps.", "Der Hund schläft."), GOOD], RULES, report, seen)) != [GOOD]
    assert report.dropped_for == {"duplicate": 1}


def test_the_table_shows_a_row_for_every_reason(capsys):
    _, report = run(GOOD, GOOD, Pair("", ""))
    console = Console(width=100)
    with console.capture() as capture:
        console.print(report.table())
    shown = capture.get()
    assert all(reason in shown for reason in REASONS)
    assert "33.33%" in shown


def test_pairs_are_taken_one_at_a_time():
    report = CleaningReport()
    endless = (Pair(f"Line {number}.", f"Zeile {number}.") for number in count())
    kept = clean(endless, RULES, report)
    assert [next(kept).source for _ in range(3)] == ["Line 0.", "Line 1.", "Line 2."]
    assert report.read == 3
