"""A function that works in place on fixed buffers, as one that repeats it: by a CUDA graph, or by calling it again."""

from __future__ import annotations

from collections.abc import Callable

import torch

Run = Callable[[], None]
Capture = Callable[[Run], Run]
WARM_UPS = 3  # before a capture: libraries allocate and choose kernels at first


def capture_for(device: torch.device) -> Capture:
    """CUDA graphs on a CUDA device. Elsewhere the function itself: slower than a state that grows, but the same."""
    return CudaCapture(device) if device.type == "cuda" else lambda run: run


class CudaCapture:
    """Records the kernels of a function once; a replay launches all of them in one call, without Python.

    Recorded graphs share the memory of what lives within a step: they must not run at the same time, and one of
    them must be alive whenever another is recorded.
    """

    def __init__(self, device: torch.device) -> None:
        self._device = device
        self._pool = torch.cuda.graph_pool_handle()

    def __call__(self, run: Run) -> Run:
        with torch.cuda.device(self._device):
            stream = torch.cuda.Stream()  # type: ignore[no-untyped-call]
            stream.wait_stream(torch.cuda.current_stream())
            with torch.cuda.stream(stream):
                for _ in range(WARM_UPS):
                    run()
            torch.cuda.current_stream().wait_stream(stream)
            graph = torch.cuda.CUDAGraph()
            # thread_local: another thread, say one that aligns, may allocate meanwhile.
            with torch.cuda.graph(graph, self._pool, stream, capture_error_mode="thread_local"):
                run()
        return graph.replay
