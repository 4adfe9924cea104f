"""Buffers are kept by shape, those used last, within bounds."""

import pytest
import torch

from model.graphs.buffers import Buffers
from model.graphs.kept import Graphs
from model.graphs.shape import Shape
from tests.model.graphs.tape import Counted, tensors_of
from tests.model.variants import small_model

SHAPES = [Shape(sentences, 1, 16, 16) for sentences in (1, 2, 4, 8)]


@pytest.fixture
def capture() -> Counted:
    return Counted(lambda run: run)


def test_a_shape_that_is_kept_is_not_captured_again(capture: Counted) -> None:
    graphs = Graphs(small_model(), capture, most=4, most_bytes=1 << 30)
    first = [graphs.of(shape) for shape in SHAPES]
    assert [graphs.of(shape) for shape in SHAPES] == first
    assert capture.captures == 4


def test_the_shape_used_longest_ago_goes_first(capture: Counted) -> None:
    graphs = Graphs(small_model(), capture, most=2, most_bytes=1 << 30)
    one, two, four, _ = SHAPES
    for shape in (one, two, one, four):  # two goes
        graphs.of(shape)
        assert len(graphs) <= 2
    graphs.of(one)
    assert capture.captures == 3
    graphs.of(two)
    assert capture.captures == 4


def test_buffers_keep_within_the_bytes_that_they_may_have(capture: Counted) -> None:
    model = small_model()
    size = Buffers(model, SHAPES[1]).nbytes
    graphs = Graphs(model, capture, most=64, most_bytes=2 * size)
    for shape in SHAPES[:3] * 2:
        graphs.of(shape)
        assert graphs.nbytes <= 2 * size or len(graphs) == 1
    largest = graphs.of(SHAPES[3])
    assert len(graphs) == 1
    assert graphs.of(SHAPES[3]) is largest
    assert graphs.nbytes == largest.buffers.nbytes > 2 * size


def test_the_bytes_are_those_of_all_tensors() -> None:
    buffers = Buffers(small_model(key_value_heads=1), Shape(2, 3, 16, 32))
    tensors = tensors_of(buffers)
    assert len(tensors) == 4 + 2 * 4
    counted = buffers.nbytes - buffers.positions_T.nbytes + buffers.position_1.nbytes
    assert counted == sum(tensor.nbytes for tensor in tensors)
    assert buffers.caches[0].keys.shape == (6, 1, 32, 4)
    assert buffers.memories[0].keys.shape == (2, 1, 16, 4)


def test_buffers_have_the_models_type_and_scores_are_float32() -> None:
    buffers = Buffers(small_model().bfloat16(), SHAPES[0])
    assert {tensor.dtype for cache in buffers.caches for tensor in (cache.keys, cache.values)} == {
        torch.bfloat16
    }
    assert buffers.log_probs_NV.dtype == torch.float32
