"""Translated files are kept for a while, in bounded number and size, and then forgotten."""

import asyncio

import pytest

from service.errors import NotFound, QueueFull
from service.files import Files
from service.keys import Account

ACCOUNT = Account("a", 0, 0)


class Clock:
    now = 0.0

    def __call__(self) -> float:
        return self.now


def test_a_result_is_there_for_its_time_after_it_is_done_and_then_gone():
    clock = Clock()
    files = Files(seconds=60, clock=clock)
    gate = asyncio.Event()

    async def work() -> bytes:
        await gate.wait()
        return b"done"

    async def story() -> None:
        file = files.start(ACCOUNT, "a.txt", "text/plain", characters=1, size=1, work=work)
        await asyncio.sleep(0)
        clock.now = 1000  # however long it takes
        assert files.get(file.id, file.key).content == b""
        gate.set()
        while not file.content:
            await asyncio.sleep(0)
        clock.now = 1059
        assert files.get(file.id, file.key).content == b"done"
        clock.now = 1060
        with pytest.raises(NotFound):
            files.get(file.id, file.key)
        assert len(files) == 0

    asyncio.run(story())


def test_number_and_size_are_bounded(monkeypatch):
    monkeypatch.setattr("service.files.MAX_FILES", 3)
    monkeypatch.setattr("service.files.MAX_BYTES", 100)
    clock = Clock()
    files = Files(seconds=60, clock=clock)
    files.keep(ACCOUNT, "a", "text/plain", b"x" * 90)
    with pytest.raises(QueueFull):
        files.keep(ACCOUNT, "b", "text/plain", b"x" * 11)
    for _ in range(2):
        files.keep(ACCOUNT, "c", "text/plain", b"")
    with pytest.raises(QueueFull):
        files.keep(ACCOUNT, "d", "text/plain", b"")
    clock.now = 60
    files.keep(ACCOUNT, "b", "text/plain", b"x" * 100)


def test_what_was_fetched_makes_room_and_what_was_not_is_kept(monkeypatch):
    monkeypatch.setattr("service.files.MAX_FILES", 3)
    monkeypatch.setattr("service.files.MAX_BYTES", 100)
    files = Files(seconds=60)
    first, second, third = [files.keep(ACCOUNT, name, "text/plain", b"x" * 30) for name in "abc"]
    files.fetch(second.id)
    assert files.fetch(second.id).content == second.content, "again, while there is room"
    files.fetch(third.id)
    large = files.keep(ACCOUNT, "d", "text/plain", b"x" * 40)
    assert [files.get(file.id, None) for file in (first, third, large)] == [first, third, large]
    with pytest.raises(NotFound):
        files.get(second.id, None)
    files.keep(ACCOUNT, "e", "text/plain", b"x" * 30)
    with pytest.raises(NotFound):
        files.get(third.id, None)
    with pytest.raises(QueueFull):
        files.keep(ACCOUNT, "f", "text/plain", b"")


def test_closing_gives_up_what_is_in_work():
    async def story() -> None:
        files = Files(seconds=60)
        files.start(ACCOUNT, "a", "text/plain", characters=1, size=1, work=lambda: asyncio.sleep(3600, b""))
        await asyncio.sleep(0)
        await asyncio.wait_for(files.close(), 5)

    asyncio.run(story())


def test_ids_and_keys_are_not_alike():
    files = Files(seconds=60)
    made = [files.keep(ACCOUNT, "a", "text/plain", b"") for _ in range(100)]
    assert len({file.id for file in made} | {file.key for file in made}) == 200
    assert all(len(file.id) == 32 and len(file.key) == 64 for file in made)
