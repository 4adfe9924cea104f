"""What every dialect does with the texts of a request, once it knows what its client wants."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from starlette.requests import Request

from model.search.options import DecodingOptions
from service.callers import charging
from service.disconnect import while_connected
from service.keys import Account
from service.limits import check_texts
from service.patience import with_patience
from service.sources import Source
from service.state import ServiceState
from service.text.reading import PLAIN, Reading
from service.text.results import ServedText


class Wanted(NamedTuple):
    """Texts, and where they are to go. `source` may be auto; `field` is what the dialect calls the texts."""

    texts: Sequence[str]
    source: str
    target: str
    field: str
    reading: Reading = PLAIN


class Translated(NamedTuple):
    """What became of one text, and the language that it was in."""

    text: ServedText
    source: Source


async def translate(
    request: Request, state: ServiceState, account: Account, wanted: Wanted, options: DecodingOptions
) -> list[Translated]:
    """One for each text. Work that nobody waits for any more is dropped, and only work that is done is charged.

    Raises OverTextLimit, UnsupportedLanguage, UnavailablePair, QuotaExceeded and what Batcher.translate raises.
    """
    check_texts(wanted.texts, state.settings, field=wanted.field)
    directions = state.models.directions
    sources = await state.sources.of(wanted.texts, wanted.source, wanted.target, directions)
    with charging(state, account, wanted.texts):
        work = with_patience(
            lambda: state.text_translator.translate_each(
                wanted.texts, [source.direction for source in sources], options, wanted.reading
            ),
            seconds=state.settings.queue_seconds,
        )
        texts = await while_connected(request, work)
    return [Translated(text, source) for text, source in zip(texts, sources, strict=True)]
