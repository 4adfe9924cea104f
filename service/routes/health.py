"""For those who watch: is the process alive, and does it translate?"""

from __future__ import annotations

from typing import Annotated

from fastapi import APIRouter, Depends
from pydantic import BaseModel

from service.routes import examples
from service.state import ServiceState, state_of

router = APIRouter(tags=["health"])


class Live(BaseModel):
    status: str = "ok"


class Ready(BaseModel):
    status: str = "ready"
    model: str


@router.get("/health", summary="As /health/live")
@router.get("/health/live", summary="Whether the process answers")
async def live() -> Live:
    """Constant: it never waits for the model."""
    return Live()


@router.get("/health/ready", summary="Whether the model translates", responses={503: examples.ERRORS[503]})
async def ready(state: Annotated[ServiceState, Depends(state_of)]) -> Ready:
    """503 with Retry-After until the model has translated something, and again if its thread has died."""
    return Ready(model=", ".join(state.models.names))
