"""docs/WHAT_USERS_ASK.md: 25 rows, each with tests, and the tests are there."""

from __future__ import annotations

import ast
import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
DOCUMENT = (ROOT / "docs" / "WHAT_USERS_ASK.md").read_text(encoding="utf-8")
ROWS = re.findall(r"^\| (\d+) \| (.+) \| (.+) \| (.+) \|$", DOCUMENT, flags=re.MULTILINE)


def test_there_are_25_rows() -> None:
    assert [int(number) for number, *_ in ROWS] == list(range(1, 26))


@pytest.mark.parametrize(("number", "named"), [(row[0], row[-1]) for row in ROWS])
def test_every_row_names_tests_that_exist(number: str, named: str) -> None:
    tests = re.findall(r"`([\w/]+\.py)::(\w+)`", named)
    assert tests
    assert ", ".join(f"`{path}::{name}`" for path, name in tests) == named, "and nothing else"
    for path, name in tests:
        functions = ast.walk(ast.parse((ROOT / path).read_text(encoding="utf-8")))
        assert name in {one.name for one in functions if isinstance(one, ast.FunctionDef)}, f"{path}::{name}"


def test_the_documents_it_links_to_are_there() -> None:
    assert [
        name for name in re.findall(r"\]\(([\w.]+)\)", DOCUMENT) if not (ROOT / "docs" / name).is_file()
    ] == []
