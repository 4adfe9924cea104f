"""The page at /, the glass box at /inspect, and their files, as they lie in service/page; there is no build step."""

from __future__ import annotations

from pathlib import Path

from fastapi import APIRouter
from starlette.exceptions import HTTPException
from starlette.responses import FileResponse
from starlette.routing import Mount
from starlette.staticfiles import StaticFiles

PAGE = Path(__file__).parent.parent / "page"

router = APIRouter(include_in_schema=False)
static = Mount("/static", StaticFiles(directory=PAGE, check_dir=False), name="static")


@router.api_route("/", methods=["GET", "HEAD"])
async def translator() -> FileResponse:
    return _page("index.html")


@router.api_route("/inspect", methods=["GET", "HEAD"])
async def glass_box() -> FileResponse:
    return _page("inspect.html")


def _page(name: str) -> FileResponse:
    """Checked by the browser each time (ETag), so that a new version is seen at once."""
    file = PAGE / name
    if not file.is_file():
        raise HTTPException(404, "This copy of the service has no page.")
    return FileResponse(file, headers={"Cache-Control": "no-cache"})
