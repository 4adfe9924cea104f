"""A hundred sentences, and a real model that learns them by heart in a few seconds, both ways."""

from __future__ import annotations

from functools import cache
from itertools import product
from random import Random

import torch
from torch import Tensor
from torch.nn.functional import cross_entropy
from torch.nn.utils.rnn import pad_sequence

from model.config import ModelConfig
from model.transformer import Transformer
from model.translator import Translator
from tokenizer import Tokenizer
from tokenizer.train import train_tokenizer

SUBJECTS = {
    "The baker": "Der Bäcker",
    "My aunt": "Meine Tante",
    "Our guest": "Unser Gast",
    "A child": "Ein Kind",
}
VERBS = {"sees": "sieht", "wants": "will", "paints": "malt", "buys": "kauft", "finds": "findet"}
OBJECTS = {
    "a lamp": "eine Lampe",
    "the boat": "das Boot",
    "three apples": "drei Äpfel",
    "no bread": "kein Brot",
    "the key": "den Schlüssel",
}
ENGLISH = [f"{' '.join(words)}." for words in product(SUBJECTS, VERBS, OBJECTS)]
GERMAN = [f"{' '.join(words)}." for words in product(SUBJECTS.values(), VERBS.values(), OBJECTS.values())]
LONGEST = 29  # pieces of a source: any one of them fits, two longer ones do not
UPDATES = 170


@cache
def phrasebook() -> Translator:
    """A translator between English and German that knows these sentences and nothing else."""
    with torch.random.fork_rng():
        torch.manual_seed(1)
        tokenizer = Tokenizer(train_tokenizer([*ENGLISH, *GERMAN], size=420, languages=["de", "en"]))
        model = Transformer(
            ModelConfig(
                vocabulary_size=tokenizer.size,
                width=64,
                heads=4,
                key_value_heads=4,
                feed_forward_width=128,
                encoder_layers=1,
                decoder_layers=1,
                dropout=0.0,
                max_positions=64,
            )
        )
        _learn(model, _rows(tokenizer, ENGLISH, GERMAN, "de") + _rows(tokenizer, GERMAN, ENGLISH, "en"))
    directions = (("en", "de"), ("de", "en"))
    model = model.eval().requires_grad_(False)
    return Translator(model, tokenizer, name="phrasebook", directions=directions, longest=LONGEST)


def _rows(
    tokenizer: Tokenizer, sources: list[str], targets: list[str], language: str
) -> list[tuple[Tensor, Tensor]]:
    tag, start, end = tokenizer.target_tag(language), tokenizer.bos_id, tokenizer.eos_id
    return [
        (
            torch.tensor([tag, *tokenizer.encode(source), end]),
            torch.tensor([start, *tokenizer.encode(target), end]),
        )
        for source, target in zip(sources, targets, strict=True)
    ]


def _learn(model: Transformer, rows: list[tuple[Tensor, Tensor]]) -> None:
    random = Random(1)
    optimiser = torch.optim.Adam(model.parameters(), lr=4e-3)
    schedule = torch.optim.lr_scheduler.LinearLR(optimiser, 1.0, 0.05, total_iters=UPDATES)
    for _ in range(UPDATES):
        batch = random.sample(rows, 32)
        source = pad_sequence([source for source, _ in batch], batch_first=True)
        target = pad_sequence([target for _, target in batch], batch_first=True)
        logits = model(source, target[:, :-1])
        loss = cross_entropy(logits.flatten(0, 1), target[:, 1:].flatten(), ignore_index=0)
        optimiser.zero_grad()
        loss.backward()
        optimiser.step()
        schedule.step()
