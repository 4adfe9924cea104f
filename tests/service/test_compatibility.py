"""docs/COMPATIBILITY.md names every path, every field and every error that the service has, and no other path."""

import re
from collections.abc import Iterator
from pathlib import Path

import pytest
from pydantic import BaseModel

from service.app import create_app
from service.dialects.deepl import documents, requests
from service.dialects.libretranslate import requests as libretranslate
from service.errors import INTERNAL_ERROR, STATUS_AND_CODE
from service.schemas import inspect
from service.schemas import v1 as schema
from service.settings import Settings
from service.text.documents.kinds import SUFFIXES

DOCUMENT = (Path(__file__).parents[2] / "docs" / "COMPATIBILITY.md").read_text(encoding="utf-8")
SECTIONS = {text.partition("\n")[0]: text for text in re.split(r"^## ", DOCUMENT, flags=re.MULTILINE)[1:]}


def served() -> Iterator[str]:
    """Every `METHOD /path` of the application, parameters as stars."""
    for route in create_app(Settings()).routes:
        for one in [route] if hasattr(route, "path") else route.effective_route_contexts():  # type: ignore[attr-defined]
            methods = getattr(one, "methods", None) or {"GET"}  # a mount of files has none
            path = one.path + ("/*" if not getattr(one, "methods", None) else "")
            for method in methods - {"HEAD"}:
                yield f"{method} {anonymous(path)}"


def anonymous(path: str) -> str:
    return re.sub(r"\{[^}]+\}|…", "*", path)


def named() -> set[str]:
    """Every `METHOD /path` of the document, but for the rows whose state is no."""
    rows = [line for line in DOCUMENT.splitlines() if "| no |" not in line]
    calls = re.findall(r"`((?:GET|POST|PUT|PATCH|DELETE) /[^`?]*)", "\n".join(rows))
    return {anonymous(call) for call in calls}


def fields_of(model: type[BaseModel]) -> set[str]:
    return set(model.model_fields)


def test_every_path_of_the_service_is_named_and_no_other() -> None:
    assert set(served()) == named()


@pytest.mark.parametrize(
    "model",
    [
        *(schema.TranslateRequest, schema.Decoding, schema.TranslationAnswer, schema.TranslationsAnswer),
        *(schema.Translation, schema.Alternative, schema.Detected, schema.Error, schema.ModelsAnswer),
        *(schema.ModelDescription, schema.ModelDirection, schema.Detour, schema.Limits),
        *(inspect.InspectHeadRequest, inspect.AttentionHead),
    ],
    ids=lambda model: model.__name__,
)
def test_every_field_of_our_own_dialect_is_named(model: type[BaseModel]) -> None:
    names = set(re.findall(r"[`\"](\w+)[`\"]", SECTIONS["Our own, `/v1`"]))
    assert sorted(fields_of(model) - names) == []


@pytest.mark.parametrize(
    ("title", "models"),
    [
        ("LibreTranslate's", (libretranslate.TranslateRequest, libretranslate.SuggestRequest)),
        ("DeepL's", (requests.TranslateRequest, documents.DocumentRequest)),
    ],
)
def test_every_field_that_another_dialect_reads_is_named(title, models) -> None:
    names = set(re.findall(r"`(\w+)`", SECTIONS[title]))
    assert sorted({name for model in models for name in fields_of(model)} - names) == []


def test_every_error_of_our_own_dialect_is_named_with_its_status() -> None:
    rows = re.findall(r"^\| ([\d, ]+) \| (.*) \|$", SECTIONS["Our own, `/v1`"], flags=re.MULTILINE)
    told = {
        (int(status), code)
        for numbers, codes in rows
        for status in numbers.split(", ")
        for code in re.findall(r"`(\w+)`", codes)
    }
    assert sorted({*STATUS_AND_CODE.values(), INTERNAL_ERROR} - told) == []


def test_every_kind_of_file_is_named() -> None:
    [row] = [line for line in DOCUMENT.splitlines() if line.startswith("| `file` |")]
    assert tuple(re.findall(r"`(\.\w+)`", row)) == SUFFIXES
