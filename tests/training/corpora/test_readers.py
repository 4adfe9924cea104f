"""Lines and rows: what ends a line, what is refused, and that no fault shifts a pair."""

import gzip
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from training.corpora.archives import Stream, streams_in
from training.corpora.pairs import CorpusError, Pair
from training.corpora.readers import ReadingReport, count_lines, read_aligned, read_lines, read_tsv

BREAKS_THAT_END_NO_LINE = ["\u2028", "\u2029", "\x85", "\x0b", "\x0c", "\x1c", "\x1d", "\x1e", "\r"]


def write(path: Path, content: bytes) -> Stream:
    path.write_bytes(content)
    (stream,) = streams_in(path)
    return stream


def numbered(count: int, word: str) -> list[str]:
    return [f"{word} {number}" for number in range(1, count + 1)]


def aligned(tmp_path: Path, source: bytes, target: bytes, **options) -> list[Pair]:
    return list(read_aligned(write(tmp_path / "a.en", source), write(tmp_path / "a.de", target), **options))


@pytest.mark.parametrize(
    "character", BREAKS_THAT_END_NO_LINE, ids=lambda character: f"U+{ord(character):04X}"
)
def test_only_a_line_feed_ends_a_line(tmp_path, character):
    target = numbered(100, "Zeile")
    target[49] = f"vor{character}nach"
    pairs = aligned(
        tmp_path,
        *("".join(f"{line}\n" for line in side).encode() for side in (numbered(100, "line"), target)),
    )
    assert len(pairs) == 100
    assert pairs[99] == Pair("line 100", "Zeile 100")
    assert pairs[49].target == ("vor nach" if character == "\r" else target[49])


def test_a_file_reads_the_same_with_windows_line_ends_and_lone_returns_are_counted(tmp_path):
    source = numbered(500, "line")
    source[7] = "in the\rmiddle"
    report = ReadingReport()
    pairs = aligned(
        tmp_path,
        "".join(f"{line}\r\n" for line in source).encode(),
        "".join(f"{line}\n" for line in numbered(500, "Zeile")).encode(),
        report=report,
    )
    assert len(pairs) == 500
    assert pairs[7] == Pair("in the middle", "Zeile 8")
    assert not any("\r" in text for pair in pairs for text in pair)
    assert report == ReadingReport(pairs=500, lone_carriage_returns=1)


def test_a_file_with_carriage_returns_for_line_ends_is_refused(tmp_path):
    with pytest.raises(CorpusError, match=r"old\.txt: 3 lines end with CR alone"):
        count_lines(write(tmp_path / "old.txt", b"one\rtwo\rthree\r"))


@pytest.mark.parametrize("encoding", ["utf-8-sig", "utf-16"])
def test_a_byte_order_mark_is_no_part_of_the_first_word(tmp_path, encoding):
    content = "Grüße.\nEnde\n".encode(encoding)
    assert list(read_lines(write(tmp_path / "a.txt", content))) == ["Grüße.", "Ende"]


def test_utf_16_is_read_in_both_byte_orders_and_a_cut_file_is_named(tmp_path):
    for encoding, mark in (("utf-16-le", b"\xff\xfe"), ("utf-16-be", b"\xfe\xff")):
        # U+0A0D holds the bytes of both line ends.
        content = mark + "a\u0a0db\r\nc".encode(encoding)
        assert list(read_lines(write(tmp_path / "a.txt", content))) == ["a\u0a0db", "c"]
        with pytest.raises(CorpusError, match=r"a\.txt: starts as UTF-16"):
            list(read_lines(write(tmp_path / "a.txt", content[:-1])))


def test_utf_32_is_refused_by_name(tmp_path):
    with pytest.raises(CorpusError, match="UTF-32"):
        list(read_lines(write(tmp_path / "a.txt", "text\n".encode("utf-32"))))


def test_unequal_files_are_refused_before_the_first_pair_and_both_counts_are_named(tmp_path):
    source = write(tmp_path / "src.txt", b"x\n" * 1000)
    # The bad byte on line 1 shows that the counts are compared before anything is decoded.
    target = write(tmp_path / "tgt.txt", b"\xe9\n" * 999)
    with pytest.raises(CorpusError, match=r"src\.txt has 1,000 lines.*tgt\.txt has 999") as error:
        next(read_aligned(source, target))
    assert "UTF-8" not in str(error.value)


def test_a_last_line_without_an_end_is_a_line_and_an_end_makes_no_further_one(tmp_path):
    assert count_lines(write(tmp_path / "a", b"one\ntwo")) == 2
    assert count_lines(write(tmp_path / "a", b"one\ntwo\n")) == 2
    assert count_lines(write(tmp_path / "a", b"one\ntwo\n\n")) == 3


def test_a_bad_byte_is_named_by_file_line_and_offset(tmp_path):
    lines = [b"line\n"] * 1000
    lines[499] = b"caf\xe9\n"
    with pytest.raises(CorpusError, match=rf"a\.en, line 500: byte 0xE9 at offset {499 * 5 + 3} ") as error:
        aligned(tmp_path, b"".join(lines), b"Zeile\n" * 1000)
    assert b"".join(lines)[int(str(error.value).split("offset ")[1].split()[0])] == 0xE9


def test_the_offset_of_a_bad_byte_counts_the_byte_order_mark(tmp_path):
    content = b"\xef\xbb\xbfab\xff\n"
    with pytest.raises(CorpusError, match=rf"line 1: byte 0xFF at offset {content.index(0xFF)} "):
        list(read_lines(write(tmp_path / "a.txt", content)))


@pytest.mark.parametrize("bad_side", [0, 1], ids=["source", "target"])
def test_dropping_bad_lines_drops_both_sides_and_counts_them(tmp_path, bad_side):
    sides = [[f"{word} {number}\n".encode() for number in range(1000)] for word in ("line", "Zeile")]
    sides[bad_side][499] = b"caf\xe9\n"
    report = ReadingReport()
    pairs = aligned(tmp_path, *map(b"".join, sides), faulty="drop", report=report)
    assert len(pairs) == 999
    assert all(pair.source.split()[1] == pair.target.split()[1] for pair in pairs)
    assert (report.pairs, report.dropped) == (999, 1)


def test_further_columns_of_a_row_are_ignored(tmp_path):
    stream = write(tmp_path / "a.tsv", b"Hello.\tHallo.\tby somebody\nYes.\tJa.\tby another\n")
    assert list(read_tsv(stream)) == [Pair("Hello.", "Hallo."), Pair("Yes.", "Ja.")]


@pytest.mark.parametrize(
    ("broken", "line"),
    [(b"a\ttab inside\tein Tab\n", 2), (b"a line\nbreak inside\tein Umbruch\n", 2)],
    ids=["tab", "line feed"],
)
def test_a_row_whose_field_holds_a_tab_or_a_line_feed_is_refused_with_its_number(tmp_path, broken, line):
    stream = write(tmp_path / "a.tsv", b"one\teins\n" + broken + b"two\tzwei\n")
    with pytest.raises(CorpusError, match=rf"a\.tsv, line {line}: [13] columns"):
        list(read_tsv(stream))
    report = ReadingReport()
    kept = list(read_tsv(stream, faulty="drop", report=report))
    assert Pair("one", "eins") in kept
    assert Pair("two", "zwei") in kept
    assert report.dropped >= 1


def test_a_text_without_tabs_is_no_table(tmp_path):
    with pytest.raises(CorpusError, match=r"a\.txt, line 1: no tab"):
        list(read_tsv(write(tmp_path / "a.txt", b"only one side\n")))


def test_quotes_are_plain_characters(tmp_path):
    stream = write(tmp_path / "a.tsv", b'"Hi," she said.\t"Hallo", sagte sie.\n')
    assert list(read_tsv(stream)) == [Pair('"Hi," she said.', '"Hallo", sagte sie.')]


@given(
    st.lists(
        st.tuples(
            *[st.text(st.characters(exclude_characters="\n\r\t\ufeff", exclude_categories=["Cs"]))] * 2
        ),
        min_size=1,
    ),
    st.sampled_from(["\n", "\r\n"]),
)
def test_every_text_without_line_ends_comes_back_as_it_was(tmp_path_factory, rows, end):
    folder = tmp_path_factory.mktemp("rows")
    content = "".join(f"{source}\t{target}{end}" for source, target in rows).encode()
    (folder / "a.gz").write_bytes(gzip.compress(content))
    for stream in (write(folder / "a.tsv", content), Stream(folder / "a.gz")):
        assert list(read_tsv(stream)) == [Pair(*row) for row in rows]


def test_reading_holds_one_pair_at_a_time(tmp_path):
    """The second pair is not read when the first is taken: a bad byte further on has not been met yet."""
    pairs = read_aligned(write(tmp_path / "a.en", b"one\n\xff\n"), write(tmp_path / "a.de", b"eins\nzwei\n"))
    assert next(pairs) == Pair("one", "eins")
    with pytest.raises(CorpusError, match="line 2"):
        next(pairs)
