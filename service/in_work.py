"""The sentences that one thread translates together."""

from __future__ import annotations

import itertools
from collections.abc import Callable

from model.decoding import Decoder, Work
from model.translator import Hypothesis, Translator
from service.fair_queue import Item

MANY = 8  # sentences: a request of more is long, and begins no more in a turn
LONGEST_REST = 4  # turns of short requests, in which the long ones do nothing


class InWork:
    """The sentences of short requests, and those of long ones: two lanes, of which one moves on at a time.

    Beside all that a long request has in work, a sentence would take as long as all of them, so the long ones rest
    meanwhile, but for a turn now and then; and none of their turns is long.
    """

    def __init__(self, translator: Translator) -> None:
        self.translator = translator
        self._short, self._long = Lane(translator), Lane(translator)
        self._turn = self._short  # whose it is
        self._rested = 0  # turns
        self._begun = 0  # sentences of long requests, since their last turn

    def __len__(self) -> int:
        return len(self._short) + len(self._long)

    def takes(self, item: Item) -> bool:
        """Whether there is room for it now."""
        if _is_long(item):
            return self._begun < MANY and self._long.takes(item)
        return self._short.takes(item)

    def add(self, item: Item) -> None:
        if _is_long(item):
            self._begun += 1
            self._long.add(item)
        else:
            self._short.add(item)

    @property
    def decoder(self) -> Decoder:
        """What has decoded the sentences that `advance` gave."""
        return self._turn.decoder

    def advance(self) -> list[tuple[Item, list[Hypothesis]]]:
        """Go on with one of the lanes: sentences that are done by then, and their hypotheses."""
        is_short = bool(self._short) and (not self._long or self._rested < LONGEST_REST)
        self._turn = self._short if is_short else self._long
        self._rested = self._rested + 1 if is_short and self._long else 0
        self._begun = self._begun if is_short else 0
        return self._turn.advance()

    def drop_forsaken(self, is_wanted: Callable[[Item], bool]) -> None:
        """Nobody waits for the sentences of a request that is over, unless somebody else asked for the same."""
        self._short.drop_forsaken(is_wanted)
        self._long.drop_forsaken(is_wanted)

    def start_afresh(self) -> list[Item]:
        """The sentences of the lane that could not go on, which are given up."""
        return self._turn.start_afresh()


class Lane:
    """A session of the translator, and whose sentences are in it."""

    def __init__(self, translator: Translator) -> None:
        self._translator = translator
        self._session = translator.session()
        self._items: dict[int, Item] = {}
        self._names = itertools.count()

    def __len__(self) -> int:
        return len(self._items)

    @property
    def decoder(self) -> Decoder:
        return self._session.decoder

    def takes(self, item: Item) -> bool:
        if not self and self._session.decoder is not self._translator.decoder:
            self._session = self._translator.session()  # a faster one has come
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

    def drop_forsaken(self, is_wanted: Callable[[Item], bool]) -> None:
        over = [(name, item) for name, item in self._items.items() if item.job.is_over]
        for name in [name for name, item in over if not is_wanted(item)]:
            del self._items[name]
            self._session.drop(name)

    def start_afresh(self) -> list[Item]:
        items = list(self._items.values())
        self._items.clear()
        self._session = self._translator.session()
        return items

    def _work(self, item: Item) -> Work:
        return Work(next(self._names), item.sentence, item.job.options)


def _is_long(item: Item) -> bool:
    return len(item.job.sentences) > MANY
