"""The sentences that one thread translates together."""

from __future__ import annotations

import itertools
from collections.abc import Callable

from model.decoding import Decoder, Work
from model.translator import Hypothesis, Translator
from service.fair_queue import Item


class InWork:
    """A session of the translator, and whose sentences are in it."""

    def __init__(self, translator: Translator) -> None:
        self.translator = translator
        self._session = translator.session()
        self._items: dict[int, Item] = {}
        self._names = itertools.count()

    def __len__(self) -> int:
        return len(self._items)

    def takes(self, item: Item) -> bool:
        if not self and self._session.decoder is not self.translator.decoder:
            self._session = self.translator.session()  # a faster one has come
        return self._session.takes(self._work(item))

    def add(self, item: Item) -> None:
        work = self._work(item)
        self._items[work.name] = item
        self._session.add(work)

    def advance(self) -> list[tuple[Item, list[Hypothesis]]]:
        done = self._session.advance() if self._items else []
        if any(not hypotheses for _, hypotheses in done):
            raise RuntimeError("a sentence without any answer")
        return [(self._items.pop(name), hypotheses) for name, hypotheses in done]

    @property
    def decoder(self) -> Decoder:
        """What decodes them."""
        return self._session.decoder

    def drop_forsaken(self, is_wanted: Callable[[Item], bool]) -> None:
        """Nobody waits for the sentences of a request that is over, unless somebody else asked for the same."""
        over = [(name, item) for name, item in self._items.items() if item.job.is_over]
        for name in [name for name, item in over if not is_wanted(item)]:
            del self._items[name]
            self._session.drop(name)

    def start_afresh(self) -> list[Item]:
        """What was in work, which is given up."""
        items = list(self._items.values())
        self._items.clear()
        self._session = self.translator.session()
        return items

    def _work(self, item: Item) -> Work:
        return Work(next(self._names), item.sentence, item.job.options)
