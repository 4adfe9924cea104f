"""LibreTranslate's way with files: translated while the client waits, then fetched from an address."""

from __future__ import annotations

from typing import Annotated

from fastapi import APIRouter, Depends
from starlette.requests import Request
from starlette.responses import Response

from service import uploads
from service.callers import admit
from service.dialects.downloads import attachment
from service.dialects.libretranslate import answers, requests
from service.dialects.libretranslate.routes import ERRORS, TAG
from service.disconnect import while_connected
from service.files import File
from service.state import ServiceState, state_of

router = APIRouter(tags=[TAG], responses=ERRORS)
State = Annotated[ServiceState, Depends(state_of)]


@router.post(
    "/translate_file",
    summary="Translate a file",
    openapi_extra={
        "requestBody": {
            "content": {"multipart/form-data": {"schema": requests.file_schema()}},
            "required": True,
        }
    },
)
async def translate_file(request: Request, state: State) -> answers.FileAnswer:
    """Where to fetch the result; it is there for a while, see `--file-minutes`."""
    wanted, upload = await requests.read_file(request)
    account = admit(request, state, wanted.api_key)
    opened = await uploads.open_upload(state, upload.name, upload.content, wanted.source, wanted.target)
    content = await while_connected(request, uploads.translate(state, account, opened))
    file = state.files.keep(account, opened.name, opened.document.media_type, content)
    return answers.FileAnswer(translatedFileUrl=str(request.url_for("download_file", name=_name(file))))


@router.get("/download_file/{name}", summary="Fetch a translated file", response_class=Response)
async def download_file(name: str, state: State) -> Response:
    """The name is a secret of its own: whoever has it may fetch the file, so that a link is enough."""
    identity = name.partition(".")[0].upper()
    return attachment(state.files.fetch(identity))


def _name(file: File) -> str:
    return f"{file.id.lower()}.{file.name.rpartition('.')[2]}"
