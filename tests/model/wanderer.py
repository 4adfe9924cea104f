"""A search that goes anywhere, against reading everything at once."""

import random
from typing import Any

import torch
from torch import Tensor

from model.transformer import Transformer
from tests.model.variants import padded


class Wanderer:
    """Decodes at random with a cache, while it remembers in lists what every row has read."""

    def __init__(self, model: Transformer, sources: list[Tensor], seed: int = 0) -> None:
        self.model, self.sources, self.random = model, sources, random.Random(seed)
        self.state: Any = self.start(padded(sources))
        self.beam = 1
        self.prefixes: list[list[int]] = [[] for _ in sources]

    def start(self, source_BS: Tensor) -> Any:
        """The state before the first position."""
        return self.model.start(source_BS)

    def ask(self, tokens_N: Tensor) -> Tensor:
        """What follows the tokens, by a step."""
        logits_NV, self.state = self.model.step(tokens_N, self.state)
        return logits_NV

    def wanted(self, logits_NV: Tensor) -> Tensor:
        """What a step has to say where these are the logits without a cache."""
        return logits_NV

    def step(self) -> None:
        """One id more in each row; what follows must be what follows after reading everything at once."""
        for prefix in self.prefixes:
            prefix.append(self.random.randrange(2, 24))
        found_NV = self.ask(torch.tensor([prefix[-1] for prefix in self.prefixes]))
        rows = [source for source in self.sources for _ in range(self.beam)]
        uncached_NTV = self.model(padded(rows), torch.tensor(self.prefixes))
        torch.testing.assert_close(found_NV, self.wanted(uncached_NTV[:, -1]), atol=1e-5, rtol=1e-5)
        assert self.state.length == len(self.prefixes[0])

    def select(self, kept: list[int], beam: int) -> None:
        """A new beam for the kept sentences, each row continuing any old row of its sentence."""
        rows = [[place * self.beam + self.random.randrange(self.beam) for _ in range(beam)] for place in kept]
        self.state = self.state.select(torch.tensor(rows))
        self.prefixes = [list(self.prefixes[row]) for of_sentence in rows for row in of_sentence]
        self.sources, self.beam = [self.sources[place] for place in kept], beam

    @torch.inference_mode()
    def make_every_move(self) -> None:
        """Of three sentences: the beam expands, is reordered, narrows and widens; sentences leave."""
        self.step()
        self.select(kept=[0, 1, 2], beam=3)
        self.step()
        self.select(kept=[0, 1, 2], beam=3)
        self.step()
        self.select(kept=[0, 2], beam=2)
        self.step()
        self.select(kept=[1], beam=4)
        self.step()

    @torch.inference_mode()
    def wander(self, steps: int) -> None:
        """Beams of any width; now and then a sentence leaves."""
        for _ in range(steps):
            self.step()
            count = len(self.sources)
            kept = [place for place in range(count) if count == 1 or self.random.random() > 0.03] or [0]
            self.select(kept, beam=self.random.randint(1, 5))
