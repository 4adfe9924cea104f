"""The glass box: one sentence with all that the model does to it, as numbers to draw."""

from __future__ import annotations

from typing import Annotated, Any

from fastapi import APIRouter, Body, Depends
from starlette.requests import Request
from starlette.responses import Response

from service.body import StrictJSONRoute
from service.callers import admit, bearer, charging
from service.disconnect import while_connected
from service.errors import UnavailablePair
from service.languages import Direction
from service.limits import check_texts
from service.routes import examples
from service.schemas.inspect import InspectHeadRequest, InspectRequest
from service.state import ServiceState, state_of

router = APIRouter(
    prefix="/v1/inspect", tags=["glass box"], route_class=StrictJSONRoute, responses=examples.ERRORS
)

State = Annotated[ServiceState, Depends(state_of)]
InspectBody = Annotated[InspectRequest, Body(openapi_examples=examples.INSPECTIONS)]
HeadBody = Annotated[InspectHeadRequest, Body(openapi_examples=examples.HEADS)]


@router.post("", summary="One sentence, laid open", response_class=Response, responses=examples.INSPECTED)
async def inspect(request: Request, body: InspectBody, state: State) -> Response:
    """Pieces, attention of every layer and head, what might have come next, the beam search as a tree.

    Weights are `[head][asking position][asked position]`, each row a sum of 1. Position t of the target side has read
    `target.pieces[0 … t]` and says `choices[t]`.
    """
    account = admit(request, state, bearer(request))
    direction = await _direction(body, state)
    with charging(state, account, [body.text]):
        work = state.inspections.everything(body.text, direction, _changes(body))
        return Response(await while_connected(request, work), media_type="application/json")


@router.post(
    "/head", summary="The numbers of one head", response_class=Response, responses=examples.INSPECTED_HEAD
)
async def inspect_head(request: Request, body: HeadBody, state: State) -> Response:
    """Queries, keys, values, scores before the softmax (null: may not be looked at), weights, and what was found."""
    account = admit(request, state, bearer(request))
    direction = await _direction(body, state)
    with charging(state, account, [body.text]):
        work = state.inspections.head(body.text, direction, _changes(body), body.head.named())
        return Response(await while_connected(request, work), media_type="application/json")


async def _direction(body: InspectRequest, state: ServiceState) -> Direction:
    check_texts([body.text], state.settings, field="text")
    directions = state.models.direct_directions
    [source] = await state.sources.of([body.text], body.source, body.target, directions)
    if source.direction not in directions:
        pairs = ", ".join(f"{origin}→{target}" for origin, target in directions)
        origin, target = source.direction
        raise UnavailablePair(f"{origin}→{target} has nothing to show; available: {pairs}.", field="target")
    return source.direction


def _changes(body: InspectRequest) -> dict[str, Any]:
    """As `model.what_if.WhatIf` has them; `prefix` may still be text."""
    return {
        "beam_size": body.beam_size,
        "length_penalty": body.length_penalty,
        "margin": body.margin,
        "temperature": body.temperature,
        "prefix": body.prefix,
        "silent_heads": frozenset(head.named() for head in body.silent_heads),
        "follows_greedy": body.follow == "greedy",
        "alternatives": body.alternatives,
    }
