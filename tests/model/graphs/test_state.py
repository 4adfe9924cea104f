"""Fixed buffers: steps repeated in place equal reading the whole target, whatever the search does to them."""

from typing import Any

import pytest
import torch
from torch import Tensor

from model.graphs.kept import Graphs
from model.graphs.shape import Shape
from model.graphs.state import FixedState
from model.transformer import Transformer
from tests.model.graphs.tape import on_tape, tensors_of
from tests.model.variants import ALL_VARIANTS, POSITIONS, ids, named, padded, small_model
from tests.model.wanderer import Wanderer


class FixedWanderer(Wanderer):
    """The same on fixed buffers, each step replayed from a tape."""

    def __init__(self, model: Transformer, sources: list[Tensor], seed: int = 0, most: int = 64) -> None:
        self.graphs = Graphs(model, on_tape, most=most, most_bytes=1 << 30)
        super().__init__(model, sources, seed)

    @torch.inference_mode()
    def start(self, source_BS: Tensor) -> FixedState:
        return FixedState(self.graphs, self.model.start(source_BS))

    def ask(self, tokens_N: Tensor) -> Tensor:
        return self.state.step(tokens_N)

    def wanted(self, logits_NV: Tensor) -> Tensor:
        return logits_NV.log_softmax(dim=-1)


@pytest.mark.parametrize("variant", ALL_VARIANTS, ids=named)
def test_replayed_steps_equal_teacher_forcing_through_every_move_of_a_search(variant: dict[str, Any]) -> None:
    FixedWanderer(small_model(**variant), [ids(5), ids(2), ids(7)]).make_every_move()


@pytest.mark.parametrize("positions", POSITIONS)
@pytest.mark.parametrize("seed", range(3))
def test_long_searches_move_from_buffers_to_buffers_and_lose_nothing(positions: str, seed: int) -> None:
    model = small_model(seed, positions=positions, max_positions=64)
    lengths = torch.randint(1, 30, (6,), generator=torch.Generator().manual_seed(seed))
    search = FixedWanderer(model, [ids(int(length)) for length in lengths], seed)
    search.wander(40)
    assert search.state.shape.target == 64
    assert len(search.graphs) > 5


def test_a_search_goes_on_when_the_buffers_that_it_is_in_are_no_longer_kept() -> None:
    search = FixedWanderer(small_model(max_positions=64), [ids(5), ids(2), ids(7)], most=1)
    search.wander(40)
    assert len(search.graphs) == 1


@torch.inference_mode()
def test_the_last_position_of_the_model_is_used_and_none_beyond() -> None:
    search = FixedWanderer(small_model(max_positions=40), [ids(5), ids(40)])
    for _ in range(40):
        search.step()
    with pytest.raises(ValueError, match="41 positions asked for, this model has 40"):
        search.ask(torch.tensor([5, 5]))


@torch.inference_mode()
def test_nothing_is_allocated_anew_while_a_search_stays_in_its_buffers() -> None:
    search = FixedWanderer(small_model(), [ids(5), ids(2), ids(7)])
    search.step()
    search.select(kept=[0, 1, 2], beam=4)
    buffers = search.state._graph.buffers
    addresses = [tensor.data_ptr() for tensor in tensors_of(buffers)]
    for _ in range(12):
        search.step()
        search.select(kept=[0, 1, 2], beam=4)
    assert search.state._graph.buffers is buffers
    assert [tensor.data_ptr() for tensor in tensors_of(buffers)] == addresses
    assert search.ask(torch.tensor([5] * 12)).data_ptr() == buffers.log_probs_NV.data_ptr()


@torch.inference_mode()
def test_sentences_that_leave_are_idle_until_half_of_the_places_are() -> None:
    search = FixedWanderer(small_model(), [ids(5) for _ in range(8)])
    places = []
    for left in (8, 7, 6, 5, 4, 3, 2, 1):
        search.step()
        search.select(kept=list(range(len(search.sources)))[-left:], beam=2)
        places.append(search.state.shape.sentences)
    search.step()
    assert places == [8, 8, 8, 8, 4, 4, 2, 1]


@torch.inference_mode()
def test_buffers_grow_with_what_is_decoded_and_with_the_beam() -> None:
    search = FixedWanderer(small_model(), [ids(20)])
    assert search.state.shape == Shape(sentences=1, beam=1, source=32, target=16)
    search.step()
    search.select(kept=[0], beam=5)
    assert search.state.shape == Shape(sentences=1, beam=6, source=32, target=16)
    for _ in range(16):
        search.step()
    assert search.state.shape == Shape(sentences=1, beam=6, source=32, target=32)


@torch.inference_mode()
def test_a_row_that_continues_itself_is_not_copied(monkeypatch: pytest.MonkeyPatch) -> None:
    search = FixedWanderer(small_model(), [ids(5), ids(4)])
    search.step()
    search.select(kept=[0, 1], beam=2)
    search.step()
    moved: list[list[int]] = []
    take_rows = type(search.state._graph.buffers).take_rows

    def watched(self: Any, other: Any, origins_N: Tensor, rows_N: Tensor, length: int) -> None:
        moved.append(rows_N.tolist())
        take_rows(self, other, origins_N, rows_N, length)

    monkeypatch.setattr("model.graphs.buffers.Buffers.take_rows", watched)
    search.state.select(torch.tensor([[0, 1], [2, 3]]))
    assert moved == []
    search.state.select(torch.tensor([[1, 1], [2, 3]]))
    assert moved == [[0]]
    search.state.select(torch.tensor([[3, 2]]).sub(2))
    assert moved[1:] == [[0, 1]]


@torch.inference_mode()
@pytest.mark.parametrize("positions", POSITIONS)
def test_what_buffers_held_before_does_not_show(positions: str) -> None:
    """Not even what is no number: it would pass through every mask."""
    model, sources = small_model(positions=positions), [ids(5), ids(2), ids(7)]
    search = FixedWanderer(model, sources)
    for _ in range(3):
        search.step()
    for tensor in tensors_of(search.state._graph.buffers):
        if tensor.is_floating_point():
            tensor.fill_(torch.nan)
    kept = search.graphs.of(search.state.shape)
    search.state, search.prefixes = search.start(padded(sources)), [[] for _ in sources]
    assert search.state._graph is kept
    search.step()
    search.select(kept=[0, 1, 2], beam=3)
    search.step()
