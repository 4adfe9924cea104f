"""The tokens of any source, joined, are the source."""

from __future__ import annotations

from random import Random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from service.errors import InvalidValue
from service.text.markup.tokens import Kind, read_html, read_xml
from tests.service.text.markup.pages import page, soup


def kinds(tokens) -> list[tuple[str, str]]:
    return [(token.kind.value, token.source) for token in tokens]


@given(source=st.text(alphabet="<>/!-?&;=\"' abpx\n[]CDAT", max_size=40) | st.text(max_size=40))
def test_tokens_of_html_joined_are_the_source(source: str) -> None:
    assert "".join(token.source for token in read_html(source)) == source


@given(source=st.text(alphabet="<>/!-?&;=\"' abpx\n[]CDAT", max_size=40) | st.text(max_size=40))
def test_tokens_of_xml_joined_are_the_source_or_it_is_refused(source: str) -> None:
    try:
        tokens = read_xml(source)
    except InvalidValue:
        return
    assert "".join(token.source for token in tokens) == source


def test_tokens_of_500_soups_joined_are_the_soup() -> None:
    random = Random(1)
    for _ in range(500):
        source = soup(random)
        assert "".join(token.source for token in read_html(source)) == source


def test_both_readers_see_the_same_in_what_is_both() -> None:
    random = Random(2)
    for _ in range(100):
        source = "<p>first</p>" + page(random).replace("<br>", "<br/>").replace('.png">', '.png"/>')
        as_html = [token for token in read_html(source) if token.kind is not Kind.VERBATIM]
        as_xml = [token for token in read_xml(source) if token.kind is not Kind.VERBATIM]
        assert kinds(as_html) == kinds(as_xml)


@pytest.mark.parametrize("read", [read_html, read_xml])
def test_text_is_what_it_says_and_source_is_how_it_is_written(read) -> None:
    [token] = read("a &lt;b&gt; &amp; &nbsp;&#233; é")
    assert token.kind is Kind.TEXT
    assert token.text == "a <b> & \xa0é é"
    assert token.source == "a &lt;b&gt; &amp; &nbsp;&#233; é"


def test_scripts_styles_comments_and_declarations_are_verbatim() -> None:
    source = "<!DOCTYPE html><script>if (a < b) '<p>'</script><style>p > b {}</style><!-- <b> --><?php x ?>"
    assert {token.kind for token in read_html(source) if token.kind not in (Kind.OPEN, Kind.CLOSE)} == {
        Kind.VERBATIM
    }


@pytest.mark.parametrize(
    ("source", "comment"),
    [
        ("a<!-->b", "<!-->"),
        ("a<!--->b", "<!--->"),
        ("a<!-- <b> --!>b", "<!-- <b> --!>"),
        ("a<!-- <b> - ->b", "<!-- <b> - ->b"),
        ("a<!b>b", "<!b>"),
        ("a<![CDATA[x]]>b", "<![CDATA[x]]>"),
        ("a<?b c>b", "<?b c>"),
        ("a<!doctype", "<!doctype"),
    ],
)
def test_comments_end_where_browsers_end_them(source: str, comment: str) -> None:
    """HTML Standard, 13.2.5: an empty comment may be cut short, and one that never ends has the rest."""
    assert kinds(read_html(source))[:2] == [("text", "a"), ("verbatim", comment)]


def test_a_tag_without_content_is_empty_in_either_language() -> None:
    assert kinds(read_html("<br><img src='>'><x/>")) == [
        ("empty", "<br>"),
        ("empty", "<img src='>'>"),
        ("empty", "<x/>"),
    ]
    assert kinds(read_xml("<br/><x id='/>'/>")) == [("empty", "<br/>"), ("empty", "<x id='/>'/>")]


@pytest.mark.parametrize(
    ("source", "where"),
    [
        ("<a", "line 1, column 2"),
        ("one\n<a></b>", "line 2"),
        ("&unknown;", "line 1, column 0"),
        ("a\0", "line 1"),
        ("</root><root>", "line 1"),
        ('<!DOCTYPE x [<!ENTITY a "b">]><x>&a;</x>', "line 1"),
    ],
)
def test_xml_with_a_fault_is_refused_with_its_place(source: str, where: str) -> None:
    with pytest.raises(InvalidValue, match=f"not well-formed XML.*{where}"):
        read_xml(source)


def test_a_declaration_and_a_doctype_stand_before_everything() -> None:
    source = "<?xml version='1.0'?>\n<!DOCTYPE html>\n<p>é😀</p>\n"
    assert kinds(read_xml(source)) == [
        ("verbatim", "<?xml version='1.0'?>\n<!DOCTYPE html>\n"),
        ("open", "<p>"),
        ("text", "é😀"),
        ("close", "</p>"),
        ("text", "\n"),
    ]
