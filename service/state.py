"""What lives as long as the application."""

from __future__ import annotations

from dataclasses import dataclass

from starlette.requests import Request

from service.files import Files
from service.glossaries import Glossaries
from service.inspections import Inspections
from service.keys import Accounts
from service.models import Models
from service.rates import Rates
from service.settings import Settings
from service.sources import Sources
from service.suggestions import Suggestions
from service.text_translator import TextTranslator
from service.usage import Usage


@dataclass(frozen=True)
class ServiceState:
    """Made when the application starts, handed to every request."""

    settings: Settings
    models: Models
    text_translator: TextTranslator
    sources: Sources
    accounts: Accounts
    usage: Usage
    rates: Rates
    glossaries: Glossaries
    files: Files
    suggestions: Suggestions
    inspections: Inspections


async def state_of(request: Request) -> ServiceState:
    """The state, as a dependency of routes; async, since FastAPI would run it in a thread otherwise."""
    state: ServiceState = request.state.service
    return state
