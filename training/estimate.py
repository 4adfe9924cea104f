"""How long a training will take, measured before it begins."""

from __future__ import annotations

import time

import torch

from model.device import choose_dtype
from training.batches import Batches
from training.preparation import RunData
from training.recipes import Recipe
from training.trainer import Trainer, UpdateReport

MOST_UPDATES = 12  # the first of which is not counted: it reads the data and wakes the threads
MOST_SECONDS = 20.0


def seconds_to_train(recipe: Recipe, data: RunData, *, device: torch.device) -> float:
    """Of all updates in one process, from a few of them with weights that are thrown away."""
    trainer = Trainer(
        recipe, Batches(data, recipe), device=device, precision=choose_dtype(recipe.precision, device)
    )
    wanted = min(MOST_UPDATES, max(2, recipe.updates // 20))
    reports: list[UpdateReport] = []
    deadline = time.monotonic() + MOST_SECONDS

    def after_update(report: UpdateReport) -> bool:
        reports.append(report)
        return len(reports) < wanted and time.monotonic() < deadline

    trainer.run(after_update)
    counted = reports[1:] or reports
    return recipe.updates * sum(report.seconds for report in counted) / len(counted)


def in_words(seconds: float) -> str:
    """`40 seconds`, `25 minutes`, `3.5 hours`, `2.1 days`."""
    if seconds < 1.5:
        return "1 second"
    for unit, size in (("seconds", 1), ("minutes", 60)):
        if seconds < 100 * size:
            return f"{round(seconds / size)} {unit}"
    if seconds < 48 * 3600:
        return f"{seconds / 3600:.1f} hours"
    return f"{seconds / 86400:.1f} days"
