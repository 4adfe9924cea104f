"""Translated files as answers."""

from __future__ import annotations

from urllib.parse import quote

from starlette.responses import Response

from service.files import File


def attachment(file: File) -> Response:
    """To be saved, never to be shown: an HTML file of a stranger must not run on our own origin."""
    return Response(
        file.content,
        media_type=file.media_type,
        headers={
            "Content-Disposition": f"attachment; filename*=UTF-8''{quote(file.name)}",
            "Cache-Control": "no-store",
        },
    )
