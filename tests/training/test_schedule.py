from dataclasses import replace

import pytest

from training.recipes import Recipe
from training.schedule import learning_rate


def test_the_rate_rises_in_a_line_to_its_peak_at_the_end_of_the_warm_up(recipe: Recipe) -> None:
    recipe = replace(recipe, warmup=100, updates=1000, learning_rate=0.5)
    assert learning_rate(50, recipe) == pytest.approx(0.25)
    assert learning_rate(100, recipe) == pytest.approx(0.5)
    assert max(learning_rate(update, recipe) for update in range(1, 1001)) == pytest.approx(0.5)


def test_the_rate_then_falls_with_the_inverse_square_root(recipe: Recipe) -> None:
    recipe = replace(recipe, warmup=100, updates=1000, learning_rate=0.5)
    assert learning_rate(400, recipe) == pytest.approx(0.25)
    assert learning_rate(900, recipe) == pytest.approx(0.5 / 3)


def test_a_cooldown_ends_the_rate_just_above_zero(recipe: Recipe) -> None:
    plain = replace(recipe, warmup=10, updates=1000)
    cooled = replace(plain, cooldown=100)
    assert learning_rate(900, cooled) == pytest.approx(learning_rate(900, plain))
    assert learning_rate(950, cooled) == pytest.approx(learning_rate(950, plain) * 51 / 101)
    assert 0 < learning_rate(1000, cooled) < learning_rate(1000, plain) / 100
