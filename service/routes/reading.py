"""What explains the glass box: docs/how-it-works.md as a page, and the code that computes what is shown, as it runs."""

from __future__ import annotations

import re
from functools import cache
from pathlib import Path

from fastapi import APIRouter
from markdown_it import MarkdownIt
from starlette.exceptions import HTTPException
from starlette.responses import FileResponse, HTMLResponse, Response

ROOT = Path(__file__).parents[2]
DOCUMENTS = {"en": "how-it-works.md", "zh": "how-it-works.zh.md"}
SHOWN = ("tokenizer", "model")  # the rooms whose code may be read through the service

router = APIRouter(include_in_schema=False)


@router.api_route("/how-it-works/{language}", methods=["GET", "HEAD"])
async def how_it_works(language: str) -> HTMLResponse:
    """The document in English (en) or Chinese (zh)."""
    return HTMLResponse(_rendered(language), headers={"Cache-Control": "no-cache"})


@router.get("/how-it-works/images/{name}")
async def image(name: str) -> FileResponse:
    """The pictures of the document."""
    file = ROOT / "docs" / "images" / name
    if file.name != name or not file.is_file():
        raise HTTPException(404, "There is no such picture.")
    return FileResponse(file)


@router.get("/source/{path:path}")
async def source(path: str) -> Response:
    """A module of the model or the tokenizer as plain text."""
    if path not in _modules():
        raise HTTPException(404, f"Only the modules of {' and '.join(SHOWN)} can be read here.")
    return Response((ROOT / path).read_bytes(), media_type="text/plain; charset=utf-8")


@cache
def _modules() -> frozenset[str]:
    return frozenset(
        path.relative_to(ROOT).as_posix() for room in SHOWN for path in (ROOT / room).rglob("*.py")
    )


@cache
def _rendered(language: str) -> str:
    file = ROOT / "docs" / DOCUMENTS.get(language, "")
    if not file.is_file():
        raise HTTPException(404, f"The document is there in {', '.join(DOCUMENTS)}.")
    markdown = MarkdownIt("commonmark", {"html": True}).enable(
        "table"
    )  # our own document: its anchors are HTML
    frame = (ROOT / "service" / "page" / "reading.html").read_text(encoding="utf-8")
    body = markdown.render(file.read_text(encoding="utf-8"))
    body = re.sub(r'href="\.\./(\w+/[\w/]+\.py)"', r'href="../static/source.html#\1"', body)
    return frame.replace('lang="en"', f'lang="{language}"', 1).replace("<!-- document -->", body)
