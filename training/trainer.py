"""The training loop: batches in, better weights out, and nothing lost when it is killed."""

from __future__ import annotations

import hashlib
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from itertools import islice
from typing import Any

import torch
from torch import Tensor, nn

from model.transformer import Transformer
from training.batches import Batch, Batches
from training.checkpoint import CheckpointError, CheckpointFolder
from training.engines import build_engine
from training.loss import output_loss
from training.optimiser import Optimiser
from training.progress import Progress
from training.recipes import Recipe
from training.schedule import learning_rate
from training.sharding import fill, whole
from training.world import World

ALONE = World()
MOST_SKIPPED = 10  # updates in a row whose gradient is not finite; then the run stops


class TrainingDiverged(RuntimeError):
    """Gradients stay not finite; the checkpoints hold the weights from before."""


@dataclass(frozen=True)
class UpdateReport:
    """One update as the log shows it."""

    loss: float  # nats per target piece, smoothed labels
    gradient_norm: float
    learning_rate: float
    target_pieces: int
    seconds: float


class Trainer:
    """Owns the weights, their running average, the optimiser's moments and the progress.

    `precision` is the type of the matrix products: torch.float32, or torch.bfloat16 with fp32 weights.
    """

    def __init__(
        self,
        recipe: Recipe,
        batches: Batches,
        *,
        device: torch.device,
        precision: torch.dtype,
        world: World = ALONE,
    ) -> None:
        torch.manual_seed(recipe.seed)
        self.recipe, self.batches, self.world = recipe, batches, world
        self.device, self.precision = device, precision
        self.model = Transformer(recipe.model).to(device).train()
        self.averaged = Transformer(recipe.model).to(device).eval().requires_grad_(False)
        self.averaged.load_state_dict(self.model.state_dict())
        self.engine = build_engine(
            recipe.sharding,
            self.model,
            self.averaged,
            lambda batch, model: self.loss(batch, model),
            world=world,
            device=device,
        )
        self.optimiser = Optimiser(self.model, recipe, world)
        self.progress = Progress()
        torch.manual_seed(recipe.seed + world.rank)  # from here on, the processes drop out each its own

    def run(self, after_update: Callable[[UpdateReport], bool]) -> None:
        """Updates until the recipe's number is reached or `after_update` says to stop (False), in all processes."""
        stream = self.batches.after(self.progress.place)
        while self.progress.update < self.recipe.updates:
            started = time.perf_counter()
            batches, places = zip(*islice(stream, self.recipe.accumulate), strict=True)
            loss, norm = self._update(batches)
            seconds = time.perf_counter() - started
            pieces = sum(batch.target_pieces for batch in batches)
            self.progress.update += 1
            self.progress.place = places[-1]
            self.progress.target_pieces += pieces
            self.progress.seconds += seconds
            rate = learning_rate(self.progress.update, self.recipe)
            if not after_update(UpdateReport(loss, norm, rate, pieces, seconds)):
                break

    def loss(self, batch: Batch, model: Transformer) -> Tensor:
        """Sum over the batch's real target pieces, in nats."""
        source_BS, target_BT = batch.source_BS.to(self.device), batch.target_BT.to(self.device)
        given_BT, wanted_BT = target_BT[:, :-1], target_BT[:, 1:]
        is_real_BT = wanted_BT != self.recipe.model.pad_id
        # For R-Drop the same rows go through twice, with dropout of their own.
        passes = 2 if self.recipe.consistency and model.training else 1
        with torch.autocast(self.device.type, self.precision, enabled=self.precision != torch.float32):
            hidden = model.hidden(source_BS.repeat(passes, 1), given_BT.repeat(passes, 1))
            hidden_PND = hidden.view(passes, *given_BT.shape, -1)[:, is_real_BT]
        return output_loss(
            hidden_PND.to(self.precision),
            model.output_VD.to(self.precision),
            wanted_BT[is_real_BT],
            smoothing=self.recipe.smoothing,
            consistency=self.recipe.consistency,
        )

    def save(self, folder: CheckpointFolder) -> None:
        """Everything that decides how the run goes on. Not-finite weights are refused. All processes must call it."""
        tensors = {}
        for name, value in self.state():
            complete = whole(value.detach())
            if not complete.isfinite().all():
                raise CheckpointError(f"{name} at update {self.progress.update} is not finite: not saved")
            if self.world.is_first:
                tensors[name] = complete.cpu().contiguous()
        for name, state in self._random_states().items():
            for rank, of_rank in enumerate(self.world.gather(state)):
                tensors[f"{name}/{rank}"] = of_rank
        if self.world.is_first:
            facts = {"tokenizer": self._tokenizer_checksum(), "progress": self.progress.to_json()}
            folder.save(self.progress.update, tensors, facts)
            folder.prune(update for _, update in self.progress.best)

    def resume(self, folder: CheckpointFolder) -> bool:
        """Go on where the newest checkpoint stopped, bit for bit on CPU; False where there is none."""
        found = folder.load_newest()
        if found is None:
            return False
        self._restore(*found)
        return True

    def models_at(self, folder: CheckpointFolder, update: int) -> tuple[Transformer, Transformer]:
        """The averaged and the last weights of a checkpoint, whole however they were trained, ready to translate."""
        tensors, _ = folder.load(update)
        averaged, last = Transformer(self.recipe.model), Transformer(self.recipe.model)
        for model, part in ((averaged, "average"), (last, "model")):
            _load_parameters(model, tensors, part)
            model.to(self.device).eval().requires_grad_(False)
        return averaged, last

    def state(self) -> Iterator[tuple[str, Tensor]]:
        """The weights, their average and the optimiser's moments, as `part/parameter`."""
        for part, model in self._models().items():
            for name, value in model.named_parameters():
                yield f"{part}/{name}", value
        yield from self.optimiser.state().items()

    def _models(self) -> dict[str, Transformer]:
        return {"model": self.model, "average": self.averaged}

    def _random_states(self) -> dict[str, Tensor]:
        """What this process draws its dropout from."""
        states = {"random": torch.get_rng_state()}
        if self.device.type == "cuda":
            states["random-cuda"] = torch.cuda.get_rng_state()
        return states

    def _tokenizer_checksum(self) -> str:
        return hashlib.sha256(self.batches.data.tokenizer.model).hexdigest()

    def _restore(self, tensors: dict[str, Tensor], facts: dict[str, Any]) -> None:
        if facts["tokenizer"] != self._tokenizer_checksum():
            raise CheckpointError(
                f"the checkpoint learnt with a tokenizer of SHA-256 {facts['tokenizer']}, this run's is "
                f"{self._tokenizer_checksum()}: its pieces would mean something else"
            )
        for part, model in self._models().items():
            _load_parameters(model, tensors, part)
        self.progress = Progress.from_json(facts["progress"])
        self.optimiser.restore(tensors)
        rank = self.world.rank  # without a state of its own where a run goes on with more processes
        if f"random/{rank}" in tensors:
            torch.set_rng_state(tensors[f"random/{rank}"])
        if f"random-cuda/{rank}" in tensors and self.device.type == "cuda":
            torch.cuda.set_rng_state(tensors[f"random-cuda/{rank}"])

    def _update(self, batches: tuple[Batch, ...]) -> tuple[float, float]:
        """One step of the optimiser over the batches; their loss per target piece and the gradient's norm."""
        # Divided by the pieces of the WHOLE update: four batches weigh what one four times as long would.
        pieces = sum(batch.target_pieces for batch in batches)
        passes = [(_on(self.device, batch), weight / pieces) for batch, weight in self.world.share(batches)]
        total = self.engine.backward(passes)
        self.world.sum_(total)
        norm = whole(nn.utils.clip_grad_norm_(self.model.parameters(), self.recipe.clip)).item()
        if norm < float("inf"):  # false for NaN too
            self.progress.skipped_in_a_row = 0
            self._step()
        else:
            self.progress.skipped += 1
            self.progress.skipped_in_a_row += 1
            if self.progress.skipped_in_a_row >= MOST_SKIPPED:
                raise TrainingDiverged(
                    f"{MOST_SKIPPED} updates in a row had a gradient that is not finite, the last one number "
                    f"{self.progress.update + 1}; lower the learning rate ({self.recipe.learning_rate})"
                )
        self.model.zero_grad(set_to_none=True)
        return total.item(), norm

    def _step(self) -> None:
        number = self.progress.update + 1
        self.optimiser.step(learning_rate(number, self.recipe))
        # A young average forgets fast, or the first random weights would stay in it for long.
        decay = min(self.recipe.average_decay, (1 + number) / (10 + number))
        with torch.no_grad():
            torch._foreach_lerp_(list(self.averaged.parameters()), list(self.model.parameters()), 1 - decay)


def _load_parameters(model: Transformer, tensors: dict[str, Tensor], part: str) -> None:
    parameters = dict(model.named_parameters())
    saved = {name.removeprefix(f"{part}/") for name in tensors if name.startswith(f"{part}/")}
    if saved != set(parameters):
        raise CheckpointError(f"checkpoint and recipe differ in {sorted(saved ^ set(parameters))[:3]} …")
    for name, parameter in parameters.items():
        value = tensors[f"{part}/{name}"]
        if value.shape != parameter.shape:
            raise CheckpointError(
                f"{name} is {tuple(value.shape)} in the checkpoint, {tuple(parameter.shape)} in the recipe"
            )
        fill(parameter, value)


def _on(device: torch.device, batch: Batch) -> Batch:
    """The batch on the device. From pinned memory the copy runs beside what the device still computes."""
    if device.type == "cpu":
        return batch
    source_BS, target_BT = (
        ids.pin_memory().to(device, non_blocking=True) for ids in (batch.source_BS, batch.target_BT)
    )
    return batch._replace(source_BS=source_BS, target_BT=target_BT)
