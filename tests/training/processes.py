"""Real processes joined by gloo, as torchrun would start them; the imports are done once and inherited."""

import multiprocessing
import os
import socket
import traceback
from collections.abc import Callable
from multiprocessing.connection import Connection
from typing import Any

import torch

from training.world import join_world, leave_world

SECONDS = 120.0


def together(function: Callable[..., None], *arguments: Any, size: int = 2, device: str = "cpu") -> None:
    """function(world, *arguments) in `size` processes; what one of them raises fails the test."""
    context = multiprocessing.get_context("forkserver")
    context.set_forkserver_preload(["training.run"])
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    processes, ends = [], []
    for rank in range(size):
        ours, theirs = context.Pipe(duplex=False)
        place = {"RANK": str(rank), "LOCAL_RANK": str(rank), "WORLD_SIZE": str(size)}
        environment = place | {"MASTER_ADDR": "127.0.0.1", "MASTER_PORT": str(port)}
        process = context.Process(
            target=_member, args=(environment, torch.device(device), theirs, function, arguments), daemon=True
        )
        process.start()
        theirs.close()  # so that its end is seen here when the process dies without a word
        processes.append(process)
        ends.append(ours)
    try:
        for rank, end in enumerate(ends):
            assert end.poll(SECONDS), f"process {rank} did nothing for {SECONDS:.0f} s"
            message = end.recv()
            assert message == "done", f"process {rank}:\n{message}"
    finally:
        for process in processes:
            process.kill()
            process.join()


def _member(
    environment: dict[str, str],
    device: torch.device,
    end: Connection,
    function: Callable[..., None],
    arguments: tuple[Any, ...],
) -> None:
    os.environ.update(environment)
    torch.set_num_threads(1)
    try:
        world = join_world(device)
        function(world, *arguments)
        leave_world(world)
    except BaseException:
        end.send(traceback.format_exc())
        raise
    end.send("done")
