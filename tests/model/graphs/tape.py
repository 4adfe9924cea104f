"""What a CUDA graph does, on a CPU: it records operations and their addresses, and repeats them without any Python."""

from typing import Any

from torch import Tensor
from torch.utils._python_dispatch import TorchDispatchMode
from torch.utils._pytree import tree_leaves

from model.graphs.buffers import Buffers
from model.graphs.capture import Capture, Run

# What would have to wait for the GPU, and so would end a capture with an error.
WAITING = {"_local_scalar_dense", "equal", "is_nonzero", "nonzero", "masked_select", "index", "unique"}


class Tape(TorchDispatchMode):
    """Records what is computed while it is on. A replay computes it anew, every result to where it was."""

    def __init__(self) -> None:
        super().__init__()
        self.calls: list[tuple[Any, Any, Any, Any]] = []

    def __torch_dispatch__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        name = func.overloadpacket.__name__
        assert name not in WAITING, f"{name} cannot be captured: it may wait for numbers"
        result = func(*args, **(kwargs or {}))
        self.calls.append((func, args, kwargs or {}, result))
        return result

    def replay(self) -> None:
        for func, args, kwargs, result in self.calls:
            for new, old in zip(tree_leaves(func(*args, **kwargs)), tree_leaves(result), strict=True):
                if isinstance(old, Tensor) and not _is_same_memory(
                    new, old
                ):  # else a view, or written in place
                    old.copy_(new)


def on_tape(run: Run) -> Run:
    """A capture as CUDA's is."""
    with Tape() as tape:
        run()
    return tape.replay


class Counted:
    """A capture, and how often it was asked, and what it gave was run."""

    def __init__(self, capture: Capture = on_tape) -> None:
        self.captures = self.replays = 0
        self._capture = capture

    def __call__(self, run: Run) -> Run:
        self.captures += 1
        replay = self._capture(run)

        def counted() -> None:
            self.replays += 1
            replay()

        return counted


def tensors_of(buffers: Buffers) -> list[Tensor]:
    """All that a step reads and writes."""
    others = [buffers.tokens_N, buffers.position_1, buffers.log_probs_NV, buffers.memory_mask_BS]
    pasts = [tensor for cache in buffers.caches for tensor in (cache.keys, cache.values)]
    return [*others, *pasts, *(tensor for memory in buffers.memories for tensor in memory)]


def _is_same_memory(one: Tensor, other: Tensor) -> bool:
    return one.untyped_storage().data_ptr() == other.untyped_storage().data_ptr()
