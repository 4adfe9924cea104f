"""Shapes hold what they are asked for, and are few."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from model.graphs.shape import half_step, power_of_two, shape_for

counts = st.integers(1, 10_000)


@given(count=counts)
def test_a_side_is_as_large_as_it_must_be_and_less_than_twice_that(count: int) -> None:
    assert count <= half_step(count) <= power_of_two(count) < 2 * count
    assert 3 * count > 2 * half_step(count) or count < 3


@given(count=counts)
def test_a_side_of_a_shape_stays_as_it_is(count: int) -> None:
    for side in (half_step, power_of_two):
        assert side(side(count)) == side(count)


def test_sides_are_few() -> None:
    assert sorted({half_step(width) for width in range(1, 65)}) == [1, 2, 3, 4, 6, 8, 12, 16, 24, 32, 48, 64]
    assert len({power_of_two(count) for count in range(1, 513)}) == 10


@given(sentences=counts, beam=st.integers(1, 64), source=st.integers(1, 100), target=st.integers(1, 100))
def test_a_shape_holds_all_and_no_more_positions_than_the_model_has(
    sentences: int, beam: int, source: int, target: int
) -> None:
    shape = shape_for(sentences=sentences, beam=beam, source=source, target=target, max_positions=100)
    assert all(room >= asked for room, asked in zip(shape, (sentences, beam, source, target), strict=True))
    assert max(shape.source, shape.target) <= 100
    assert shape.rows == shape.sentences * shape.beam
    again = dict(zip(("sentences", "beam", "source", "target"), shape, strict=True))
    assert shape_for(**again, max_positions=100) == shape


@pytest.mark.parametrize(("source", "target"), [(41, 1), (1, 41)])
def test_positions_that_the_model_lacks_are_an_error_that_says_how_many_it_has(
    source: int, target: int
) -> None:
    with pytest.raises(ValueError, match="41 positions asked for, this model has 40"):
        shape_for(sentences=1, beam=1, source=source, target=target, max_positions=40)
