"""What the page's files must not hold; needs no browser."""

import re
from pathlib import Path

import pytest

PAGE = Path(__file__).parents[2] / "service" / "page"
FILES = sorted(path.relative_to(PAGE) for path in PAGE.rglob("*") if path.is_file())
PAGES = [path for path in FILES if path.suffix == ".html"]
MODULES = [path for path in FILES if path.suffix == ".js"]


def text_of(name: Path) -> str:
    return (PAGE / name).read_text(encoding="utf-8")


@pytest.mark.parametrize("name", PAGES, ids=str)
def test_a_page_holds_no_inline_script_or_style(name: Path) -> None:
    html = text_of(name)
    assert re.findall(r"<script(?![^>]*\ssrc=)", html) == []
    assert re.findall(r"<style|\sstyle=", html) == []
    assert re.findall(r"\son\w+=", html) == []


@pytest.mark.parametrize("name", FILES, ids=str)
def test_no_file_names_another_host(name: Path) -> None:
    hosts = set(re.findall(r"(?:https?:)?//([\w.-]+\.\w+)", text_of(name)))
    assert hosts <= {"www.w3.org"}, "only the name of the SVG namespace is an address"


@pytest.mark.parametrize("name", PAGES, ids=str)
def test_links_are_relative_so_that_a_page_works_under_a_prefix(name: Path) -> None:
    links = re.findall(r'\s(?:src|href|action)="([^"]*)"', text_of(name))
    assert links
    assert [link for link in links if link.startswith("/")] == []


@pytest.mark.parametrize("name", MODULES, ids=str)
def test_every_imported_module_exists(name: Path) -> None:
    imported = re.findall(r'(?:from|import) "(\.{1,2}/[^"]+)"', text_of(name))
    assert [path for path in imported if not (PAGE / name.parent / path).is_file()] == []


@pytest.mark.parametrize("name", MODULES, ids=str)
def test_text_never_enters_the_page_as_markup(name: Path) -> None:
    markup = re.findall(
        r"innerHTML|outerHTML|insertAdjacentHTML|document\.write|setHTML|\beval\(", text_of(name)
    )
    assert markup == []


WORDS = sorted(path for path in FILES if path.parent.name == "words")
KEY = re.compile(r'^  (?:"([\w.]+)"|(\w+)):', flags=re.MULTILINE)


def keys_of(name: Path) -> list[str]:
    return [quoted or bare for quoted, bare in KEY.findall(text_of(name))]


@pytest.mark.parametrize("name", WORDS, ids=str)
def test_every_language_has_the_same_sentences_once(name: Path) -> None:
    assert len(WORDS) == 4
    assert keys_of(name) == keys_of(WORDS[0]), "in the same order, so that they can be compared"
    assert len(set(keys_of(name))) == len(keys_of(name))


def test_every_sentence_that_is_asked_for_exists_and_none_is_idle() -> None:
    asked = set()
    for name in [*PAGES, *(module for module in MODULES if module.parent.name != "words")]:
        text = text_of(name)
        asked |= set(re.findall(r'data-say(?:-\w+)?="([^"]+)"', text))
        asked |= set(re.findall(r'\bsay\("([^"]+)"', text))
        asked |= set(re.findall(r'say\((?:[^()]*\? )"([^"]+)"', text)) | set(
            re.findall(r': "([a-z]+\.[a-z]+)"', text)
        )
    known = set(keys_of(WORDS[0]))
    assert sorted({key for key in asked if "." in key} - known) == []
    composed = re.compile(r"(encoder|decoder|cross|feed|head|tree|compare)\.")  # say(`${part}.title`)
    assert sorted(key for key in known - asked if not composed.match(key)) == []
