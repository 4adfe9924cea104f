"""The learning rate of each update: warm-up, inverse square root, and an optional fall to zero at the end."""

from __future__ import annotations

import math

from training.recipes import Recipe


def learning_rate(update: int, recipe: Recipe) -> float:
    """Of update number `update`, the first being 1 (arXiv 1706.03762, section 5.3, scaled to a given peak)."""
    rate = recipe.learning_rate * min(update / recipe.warmup, math.sqrt(recipe.warmup / update))
    left = recipe.updates - update + 1
    return rate * min(1.0, left / (recipe.cooldown + 1))
