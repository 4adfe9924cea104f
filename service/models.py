"""All models that are served, each with a worker of its own: found, loaded, listed, and exchanged while they serve."""

from __future__ import annotations

import asyncio
import hashlib
import logging
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from model.directory import CHECKSUMS
from model.translator import Translator
from service.batcher import Batcher, WorkerState
from service.errors import NotReady
from service.languages import Direction
from service.ways import Detour, DirectWay

logger = logging.getLogger(__name__)

BRIDGE = "en"  # the language that a detour goes through
_PAUSE_SECONDS = 0.05


@dataclass(frozen=True)
class Found:
    """A model that can be loaded. Another version under the same name is another model."""

    name: str
    version: str
    load: Callable[[], Translator]


@dataclass
class Served:
    """A model that serves, and how many requests are on their way through it."""

    found: Found
    batcher: Batcher
    users: int = 0


class Models:
    """`find` lists the models there are, `make` gives one a batcher and says whom to call if it cannot be loaded."""

    def __init__(
        self,
        find: Callable[[], Sequence[Found]],
        make: Callable[[Found, Callable[[], None] | None], Batcher],
    ) -> None:
        self._find = find
        self._make = make
        self._served: dict[str, Served] = {}
        self._reloading = asyncio.Lock()
        self._retiring: set[asyncio.Task[None]] = set()

    def __repr__(self) -> str:
        return f"<Models {', '.join(map(repr, (one.batcher for one in self._served.values())))}>"

    def start(self, on_load_failure: Callable[[], None] | None = None) -> None:
        """Begin to load all that is found; `on_load_failure` is called, in a worker thread, where one cannot be."""
        for one in self._find():
            self._served[one.name] = Served(one, self._make(one, on_load_failure))
            self._served[one.name].batcher.start()

    async def stop(self) -> None:
        """Fail what waits and end all workers."""
        for task in self._retiring:
            task.cancel()
        await asyncio.gather(*self._retiring, return_exceptions=True)
        batchers = [one.batcher for one in self._served.values()]
        await asyncio.gather(*(asyncio.to_thread(batcher.stop) for batcher in batchers))

    @property
    def batchers(self) -> list[Batcher]:
        return [one.batcher for one in self._served.values()]

    @property
    def names(self) -> tuple[str, ...]:
        """What the models are called, once they are ready; raises as `translators` does."""
        return tuple(translator.name for translator in self.translators)

    @property
    def translators(self) -> list[Translator]:
        """All models; raises NotReady while one of those found at the start is being loaded, and why one died."""
        if not self._served:
            raise NotReady("The models are still being looked for.")
        return [batcher.translator for batcher in self.batchers]

    def check_ready(self) -> None:
        """Raises as `translators` does."""
        _ = self.translators

    @property
    def direct_directions(self) -> tuple[Direction, ...]:
        """What a model translates by itself; raises as `translators` does."""
        every = (direction for translator in self.translators for direction in translator.directions)
        return tuple(dict.fromkeys(every))

    @property
    def directions(self) -> tuple[Direction, ...]:
        """What can be translated: by a model directly, then with a detour. Raises as `translators` does."""
        direct = self.direct_directions
        detours = [
            (source, target)
            for source, bridge in direct
            for other, target in direct
            if bridge == other == BRIDGE and source != target and (source, target) not in direct
        ]
        return (*direct, *dict.fromkeys(detours))

    @contextmanager
    def way(self, direction: Direction) -> Iterator[DirectWay | Detour]:
        """One of `directions`, kept in service until the caller is done. Raises as `translators` does."""
        legs = self._legs(direction)
        for served, _ in legs:
            served.users += 1
        try:
            first, *rest = [DirectWay(served.batcher, leg) for served, leg in legs]
            yield Detour(first, rest[0]) if rest else first
        finally:
            for served, _ in legs:
                served.users -= 1

    @contextmanager
    def batcher(self, direction: Direction) -> Iterator[Batcher]:
        """The worker of a direct direction, kept in service until the caller is done."""
        ((served, _),) = self._legs(direction)
        served.users += 1
        try:
            yield served.batcher
        finally:
            served.users -= 1

    async def reload(self) -> None:
        """Look for models again: take in new ones and new versions, let go what is no longer there.

        A model serves until its successor has translated something, and until the last request on its way through
        it is answered. One that cannot be loaded leaves the old one in its place.
        """
        async with self._reloading:
            found = {one.name: one for one in await asyncio.to_thread(self._find)}
            for name, one in found.items():
                if name in self._served and self._served[name].found.version == one.version:
                    continue
                batcher = await self._loaded(one)
                if batcher is not None:
                    self._retire(self._served.pop(name, None))
                    self._served[name] = Served(one, batcher)
            if found:
                for name in set(self._served) - set(found):
                    self._retire(self._served.pop(name))
        logger.info("serving %s", ", ".join(self._served))

    def _legs(self, direction: Direction) -> list[tuple[Served, Direction]]:
        direct = {
            known: served
            for served in reversed(self._served.values())  # of two models for one direction the first counts
            for known in served.batcher.translator.directions
        }
        if direction in direct:
            return [(direct[direction], direction)]
        legs = ((direction[0], BRIDGE), (BRIDGE, direction[1]))
        return [(direct[leg], leg) for leg in legs]

    async def _loaded(self, found: Found) -> Batcher | None:
        batcher = self._make(found, None)
        batcher.start()
        while batcher.state is WorkerState.LOADING:
            await asyncio.sleep(_PAUSE_SECONDS)
        if batcher.state is WorkerState.READY:
            return batcher
        logger.error("%s could not be loaded; what was served is served on", found.name)
        await asyncio.to_thread(batcher.stop)
        return None

    def _retire(self, served: Served | None) -> None:
        if served is not None:
            task = asyncio.create_task(_let_go(served))
            self._retiring.add(task)
            task.add_done_callback(self._retiring.discard)


async def _let_go(served: Served) -> None:
    try:
        while served.users:
            await asyncio.sleep(_PAUSE_SECONDS)
    finally:
        await asyncio.to_thread(served.batcher.stop)


def model_folders(folder: Path) -> list[Path]:
    """The folder itself where it is a model or a run, or else the models and runs in it, by name."""
    if _checksums(folder) is not None:
        return [folder]
    if not folder.is_dir():
        return []
    return [
        inner for inner in sorted(folder.iterdir()) if inner.name[0] != "." and _checksums(inner) is not None
    ]


def version_of(folder: Path) -> str:
    """Changes with any part of the model."""
    checksums = _checksums(folder)
    return hashlib.sha256(checksums.read_bytes()).hexdigest() if checksums else ""


def _checksums(folder: Path) -> Path | None:
    candidates = (folder / CHECKSUMS, folder / "model" / CHECKSUMS)
    return next((path for path in candidates if path.is_file()), None)
