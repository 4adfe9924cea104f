"""The decoder's cache: decoding step by step equals reading the whole target, whatever the search does to it."""

from typing import Any

import pytest
import torch

from model.state import DecoderState
from tests.model.variants import ALL_VARIANTS, POSITIONS, ids, named, padded, small_model
from tests.model.wanderer import Wanderer


@pytest.mark.parametrize("variant", ALL_VARIANTS, ids=named)
def test_decoding_step_by_step_equals_teacher_forcing_through_every_move_of_a_search(
    variant: dict[str, Any],
) -> None:
    """Padded sources; the beam expands, is reordered, narrows and widens; sentences leave."""
    model = small_model(**variant)
    Wanderer(model, sources=[ids(5), ids(2), ids(7)]).make_every_move()


@pytest.mark.parametrize("positions", POSITIONS)
@pytest.mark.parametrize("seed", range(3))
def test_long_searches_stay_within_a_hundred_thousandth(positions: str, seed: int) -> None:
    model = small_model(seed, positions=positions, max_positions=64)
    lengths = torch.randint(1, 30, (6,), generator=torch.Generator().manual_seed(seed))
    Wanderer(model, [ids(int(length)) for length in lengths], seed).wander(40)


@pytest.mark.parametrize("positions", POSITIONS)
def test_a_target_may_be_read_in_pieces_of_any_length(positions: str) -> None:
    model = small_model(positions=positions)
    source, target = padded([ids(5), ids(3)]), ids(2, 12)
    whole = model.hidden(source, target)
    for cuts in ([1, 11], [4, 4, 4], [5, 1, 1, 5], [12]):
        state, parts = model.start(source), []
        for part in target.split(cuts, dim=1):
            hidden, state = model.decode(part, state)
            parts.append(hidden)
        torch.testing.assert_close(torch.cat(parts, dim=1), whole, atol=1e-5, rtol=1e-5)


def caches(state: DecoderState) -> int:
    return sum(cache.keys.numel() + cache.values.numel() for cache in state.caches)


@pytest.mark.parametrize("G", [1, 2, 4])
def test_the_cache_shrinks_with_the_number_of_key_value_heads(G: int) -> None:
    model = small_model(key_value_heads=G)
    _, state = model.decode(ids(3, 7), model.start(ids(3, 5)))
    assert caches(state) == 2 * 2 * 3 * G * 7 * 4  # keys and values, layers, rows, heads, positions, width
    assert all(memory.keys.shape == memory.values.shape == (3, G, 5, 4) for memory in state.memories)


def test_the_memory_is_kept_once_a_sentence_however_wide_the_beam() -> None:
    model = small_model()
    _, state = model.step(torch.tensor([2, 2]), model.start(ids(2, 5)))
    wide = state.select(torch.tensor([[0] * 8, [1] * 8]))
    assert len(wide.caches[0].keys) == 16
    assert all(new.keys is old.keys for new, old in zip(wide.memories, state.memories, strict=True))


def test_a_step_leaves_the_state_it_was_given_as_it_was() -> None:
    """Two searches may go on from one state: nothing is written in place, nothing is kept in the model."""
    model = small_model()
    _, state = model.step(torch.tensor([2, 2]), model.start(ids(2, 5)))
    tokens = torch.tensor([7, 8])
    first, _ = model.step(tokens, state)
    model.step(torch.tensor([9, 9]), state)
    model.step(torch.tensor([5]), model.start(ids(1, 3)))
    again, _ = model.step(tokens, state)
    assert torch.equal(first, again)
    assert state.length == 1
