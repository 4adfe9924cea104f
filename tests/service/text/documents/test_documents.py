"""Files of every kind: what is text changes, everything else stays, and what cannot be read is refused."""

from __future__ import annotations

import io
import zipfile

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from lxml import etree

from service.errors import InvalidValue
from service.text.documents import SUFFIXES, open_document
from service.text.reading import PLAIN
from tests.service.text.echo import Echo, Say, translated_parts

WORD = "http://schemas.openxmlformats.org/wordprocessingml/2006/main"


def louder(text: str) -> str:
    """In capitals, but for what stands in for something else, which has only capitals already."""
    return text.upper()


def through(name: str, content: bytes, say: Say = louder) -> bytes:
    document = open_document(name, content)
    translations = [translated_parts(parts, PLAIN, Echo(say)) for parts in document.units]
    return document.write(translations, "de")


def zipped(files: dict[str, str]) -> bytes:
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w") as packed:
        for name, text in files.items():
            packed.writestr(name, text, zipfile.ZIP_STORED if name == "mimetype" else zipfile.ZIP_DEFLATED)
    return out.getvalue()


def unzipped(content: bytes) -> dict[str, bytes]:
    with zipfile.ZipFile(io.BytesIO(content)) as packed:
        return {name: packed.read(name) for name in packed.namelist()}


def docx(body: str) -> bytes:
    return zipped(
        {
            "[Content_Types].xml": "<Types xmlns='http://schemas.openxmlformats.org/package/2006/content-types'/>",
            "word/document.xml": f"<w:document xmlns:w='{WORD}'><w:body>{body}</w:body></w:document>",
            "word/footer1.xml": f"<w:ftr xmlns:w='{WORD}'><w:p><w:r><w:t>page</w:t></w:r></w:p></w:ftr>",
        }
    )


def odt(body: str) -> bytes:
    names = {
        prefix: f"urn:oasis:names:tc:opendocument:xmlns:{prefix}:1.0" for prefix in ("office", "text", "draw")
    }
    declared = " ".join(f"xmlns:{prefix}='{name}'" for prefix, name in names.items())
    content = f"<office:document-content {declared}>{body}</office:document-content>"
    return zipped({"mimetype": "application/vnd.oasis.opendocument.text", "content.xml": content})


def test_text_keeps_its_lines_and_their_ends() -> None:
    assert through("a.txt", b"One two.\r\n\r\n\tThree four.\r\n") == b"ONE TWO.\r\n\r\n\tTHREE FOUR.\r\n"


@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "utf-16"])
def test_text_comes_back_in_its_encoding(encoding: str) -> None:
    assert through("a.txt", "grüße aus köln".encode(encoding)) == "GRÜSSE AUS KÖLN".encode(encoding)


def test_html_keeps_its_tags() -> None:
    assert through("a.HTML", b"<p class=x>one <b>two</b></p>") == b"<p class=x>ONE <b>TWO</b></p>"


def test_cells_of_a_table_keep_delimiter_quotes_and_numbers() -> None:
    assert through("a.csv", b'name;price\n"a; b";3,5\n') == b'NAME;PRICE\n"A; B";3,5\n'


def test_subtitles_keep_times_tags_and_the_number_of_lines() -> None:
    source = (
        "7\n00:00:01,500 --> 00:00:03,000\nHello my <i>dear\nold</i> friend\n\n"
        "8\n00:00:04,000 --> 00:00:05,000\n- Who?\n- Me.\n\n"
    )
    expected = source.replace("Hello my", "HELLO MY").replace("dear", "DEAR").replace("old", "OLD")
    expected = expected.replace("friend", "FRIEND").replace("Who", "WHO").replace("Me", "ME")
    assert through("a.srt", source.encode()).decode() == expected


def test_messages_without_a_translation_get_one_and_others_keep_theirs() -> None:
    source = """#
msgid ""
msgstr ""
"Content-Type: text/plain; charset=UTF-8\\n"

#: main.c:1
#, c-format
msgid "open %s"
msgstr ""

msgid "close"
msgstr "schließen"

#, fuzzy
msgid "quit"
msgstr "alt"

msgid "one file"
msgid_plural "%d files"
msgstr[0] ""
msgstr[1] ""
"""
    written = through("a.po", source.encode()).decode()
    for line in (
        'msgstr "OPEN %s"',
        'msgstr "schließen"',
        'msgstr "QUIT"',
        'msgstr[0] "ONE FILE"',
        'msgstr[1] "%d FILES"',
        "#, c-format",
        '"Language: de\\n"',
    ):
        assert line in written
    assert "fuzzy" not in written


def test_a_catalogue_that_is_the_name_of_a_file_does_not_open_it(tmp_path) -> None:
    secret = tmp_path / "msgid"
    secret.write_text('msgid "secret"\nmsgstr ""\n')
    with pytest.raises(InvalidValue):
        open_document("a.po", str(secret).encode())


@pytest.mark.parametrize(
    ("version", "unit", "language"),
    [
        (
            "1.2",
            "<file original='x'><body><trans-unit id='1'>{}</trans-unit></body></file>",
            "target-language",
        ),
        ("2.0", "<file id='f'><unit id='1'><segment>{}</segment></unit></file>", "trgLang"),
    ],
)
def test_segments_of_xliff_get_targets_with_the_codes_of_their_sources(
    version: str, unit: str, language: str
) -> None:
    namespace = f"urn:oasis:names:tc:xliff:document:{version}"
    code = "g" if version == "1.2" else "pc"
    content = f"<source>open <{code} id='1'>the big</{code}> <ph id='2'/> door &amp; go</source>"
    source = f"<xliff version='{version}' xmlns='{namespace}'>{unit.format(content)}</xliff>"
    written = through("a.xlf", source.encode()).decode()
    assert f'OPEN <{code} id="1">THE BIG</{code}> <ph id="2"/> DOOR &amp; GO</target>' in written
    assert f'open <{code} id="1">the big</{code}> <ph id="2"/> door &amp; go</source>' in written
    assert f'{language}="de"' in written


def test_segments_that_are_translated_or_must_not_be_stay_as_they_are() -> None:
    source = (
        "<xliff version='1.2' xmlns='urn:oasis:names:tc:xliff:document:1.2'><file original='x'><body>"
        "<trans-unit id='1'><source>done</source><target>fertig</target></trans-unit>"
        "<trans-unit id='2' translate='no'><source>code</source></trans-unit>"
        "</body></file></xliff>"
    )
    written = through("a.xliff", source.encode()).decode()
    assert "<target>fertig</target>" in written
    assert written.count("<target") == 1


def test_runs_of_word_keep_their_formatting() -> None:
    body = (
        "<w:p><w:pPr><w:jc w:val='center'/></w:pPr><w:r><w:t xml:space='preserve'>my </w:t></w:r>"
        "<w:r><w:rPr><w:b/></w:rPr><w:t>big</w:t></w:r><w:r><w:t xml:space='preserve'> house</w:t></w:r>"
        "<w:r><w:footnoteReference w:id='1'/></w:r></w:p>"
    )
    root = etree.fromstring(unzipped(through("a.docx", docx(body)))["word/document.xml"])
    runs = [
        ("".join(run.itertext()), run.find(f".//{{{WORD}}}b") is not None)
        for run in root.iter(f"{{{WORD}}}r")
    ]
    assert runs == [("MY ", False), ("BIG", True), (" HOUSE", False), ("", False)]
    assert root.find(f".//{{{WORD}}}jc") is not None
    assert root.find(f".//{{{WORD}}}footnoteReference") is not None


def test_links_tables_tabs_and_footers_of_word_are_translated_in_their_places() -> None:
    body = (
        "<w:tbl><w:tr><w:tc><w:p><w:r><w:t>cell one</w:t></w:r></w:p></w:tc></w:tr></w:tbl>"
        "<w:p><w:hyperlink w:anchor='x'><w:r><w:t>a link</w:t></w:r></w:hyperlink>"
        "<w:r><w:tab/><w:t>after tab</w:t></w:r></w:p>"
    )
    files = unzipped(through("a.docx", docx(body)))
    root = etree.fromstring(files["word/document.xml"])
    assert ["".join(p.itertext()) for p in root.iter(f"{{{WORD}}}p")] == ["CELL ONE", "A LINKAFTER TAB"]
    link = root.find(f".//{{{WORD}}}hyperlink")
    assert link is not None
    assert "".join(link.itertext()) == "A LINK"
    assert link.get(f"{{{WORD}}}anchor") == "x"
    assert root.find(f".//{{{WORD}}}tab") is not None
    assert b"PAGE" in files["word/footer1.xml"]


def test_spans_notes_and_breaks_of_opendocument_stay() -> None:
    body = (
        "<text:h>top line</text:h><text:p text:style-name='P1'>my <text:span text:style-name='T1'>big</text:span> house"
        "<text:note><text:note-body><text:p>a note</text:p></text:note-body></text:note>"
        "<text:line-break/>next line</text:p>"
    )
    content = through("a.odt", odt(body))
    files = unzipped(content)
    text = files["content.xml"].decode()
    for part in (
        "<text:h>TOP LINE</text:h>",
        '<text:p text:style-name="P1">MY <text:span text:style-name="T1">BIG</text:span> HOUSE',
        "<text:p>A NOTE</text:p>",
        "<text:line-break/>NEXT LINE",
    ):
        assert part in text
    with zipfile.ZipFile(io.BytesIO(content)) as packed:
        first = packed.infolist()[0]
    assert (first.filename, first.compress_type) == ("mimetype", zipfile.ZIP_STORED)


def test_markdown_keeps_its_marks_code_and_tables() -> None:
    source = """---
title: kept
---

# head *one*

a line with `code` and **bold**
words, a [link](http://host.example/a) here.

> a quote
> goes on

1. item one
   - inner

| a b | c |
| --- | :-: |
| d | `e` f |

```sh
keep me
```

hard break\\
next line
"""
    expected = """---
title: kept
---

# HEAD *ONE*

A LINE WITH `code` AND **BOLD** WORDS, A [LINK](http://host.example/a) HERE.

> A QUOTE GOES ON

1. ITEM ONE
   - INNER

| A B | C |
| --- | :-: |
| D | `e` F |

```sh
keep me
```

HARD BREAK\\
NEXT LINE
"""
    assert through("a.md", source.encode()).decode() == expected


def test_a_star_that_is_no_mark_stays_a_star() -> None:
    assert through("a.md", b"two * three is *six\n") == b"TWO * THREE IS *SIX\n"


@settings(max_examples=60)
@given(text=st.text(alphabet="ab *_`[]()|#>-\n1.<&;~\\", max_size=60))
def test_whatever_markdown_it_is_written_again(text: str) -> None:
    document = open_document("a.md", text.encode())
    written = document.write(
        [translated_parts(parts, PLAIN, Echo()) for parts in document.units], "de"
    ).decode()
    # Line ends inside a paragraph are blanks, so blanks are left out of the comparison.
    assert "".join(written.split()).replace(">", "") == "".join(text.split()).replace(">", "")


@pytest.mark.parametrize("name", ["a.pdf", "a.doc", "a", "a.", ".txt.exe", "../../etc/passwd"])
def test_a_kind_that_is_not_known_is_refused_with_those_that_are(name: str) -> None:
    with pytest.raises(InvalidValue, match=r"format is not supported; known are \.txt"):
        open_document(name, b"text")


@pytest.mark.parametrize(
    ("name", "content"),
    [
        ("a.txt", b"\xff\xfa secret"),
        ("a.txt", b"secret\0"),
        ("a.srt", b"secret"),
        ("a.po", b"secret"),
        ("a.po", b'msgid "secret\nmsgstr'),
        ("a.xlf", b"<secret/>"),
        ("a.xlf", b"<xliff"),
        ("a.docx", b"secret"),
        ("a.docx", zipped({"secret": "x"})),
        ("a.odt", b"PK\x03\x04secret"),
        ("a.odt", zipped({"content.xml": "<secret"})),
        ("a.csv", b'"secret'),
    ],
)
def test_what_cannot_be_read_is_refused_and_none_of_it_is_quoted(name: str, content: bytes) -> None:
    with pytest.raises(InvalidValue) as caught:
        open_document(name, content)
    assert caught.value.field == "file"
    assert name.rpartition(".")[2] in caught.value.message.lower().replace("text", "txt").replace(
        "xliff", "xlf"
    )


def test_xml_with_entities_of_its_own_is_refused() -> None:
    bomb = b"""<!DOCTYPE xliff [<!ENTITY a "aaaaaaaaaa"><!ENTITY f SYSTEM "file:///etc/hostname">]>
    <xliff version='1.2'><file><trans-unit><source>x &a; &f;</source></trans-unit></file></xliff>"""
    with pytest.raises(InvalidValue, match="entities of its own"):
        open_document("a.xlf", bomb)


def test_a_zip_that_is_too_large_unpacked_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("service.text.documents.archive.MAX_BYTES", 100)
    with pytest.raises(InvalidValue, match="holds more than"):
        open_document("a.docx", docx("<w:p><w:r><w:t>" + "a" * 200 + "</w:t></w:r></w:p>"))


@pytest.mark.parametrize("suffix", SUFFIXES)
@given(content=st.binary(max_size=200))
@settings(max_examples=20)
def test_any_bytes_are_read_or_refused(suffix: str, content: bytes) -> None:
    try:
        document = open_document(f"a{suffix}", content)
    except InvalidValue:
        return
    assert isinstance(document.text, str)


def test_the_text_of_a_document_is_what_is_translated() -> None:
    document = open_document("a.csv", b"one,2\nthree,4\n")
    assert document.text == "one\nthree"
    assert document.media_type == "text/csv"
