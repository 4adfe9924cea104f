"""A real model that learns in seconds to translate between two made-up languages, word by word."""

from __future__ import annotations

from collections.abc import Sequence
from random import Random

import torch
from torch.nn.functional import cross_entropy

from model.config import ModelConfig
from model.search import DecodingOptions
from model.transformer import Transformer
from model.translator import Hypothesis, Translator
from tests.model.variants import padded
from tokenizer import Tokenizer
from tokenizer.train import train_tokenizer

WORDS = {
    "sun": "Sonne",
    "moon": "Mond",
    "river": "Fluss",
    "stone": "Stein",
    "garden": "Garten",
    "winter": "Winter",
    "letter": "Brief",
    "green": "grün",
    "quiet": "still",
    "open": "offen",
    "seven": "sieben",
    "bread": "Brot",
    "window": "Fenster",
    "under": "unter",
    "after": "nach",
    "very": "sehr",
}
LONGEST = 84  # pieces of a source, the tag and the end counted
UPDATES = 300


def sentence(random: Random, words: int) -> tuple[str, str]:
    """The same random words in both languages."""
    english, stop = random.choices(list(WORDS), k=words), random.choice(".!?")
    return " ".join(english) + stop, " ".join(WORDS[word] for word in english) + stop


def learnt() -> Translator:
    """A translator of both directions; its weights are the same in every run on the same machine."""
    with torch.random.fork_rng():
        torch.manual_seed(1)
        random = Random(1)
        lines = [line for _ in range(1500) for line in sentence(random, random.randint(1, 8))]
        tokenizer = Tokenizer(train_tokenizer(lines, size=340, languages=["de", "en"]))
        model = Transformer(
            ModelConfig(
                vocabulary_size=tokenizer.size,
                width=64,
                heads=4,
                key_value_heads=2,
                feed_forward_width=128,
                encoder_layers=1,
                decoder_layers=2,
                dropout=0.0,
                max_positions=200,
            )
        )
        _learn(model, tokenizer, random)
    model.eval().requires_grad_(False)
    directions = (("en", "de"), ("de", "en"))
    return Translator(model, tokenizer, name="interpreter", directions=directions, longest=LONGEST)


def english(count: int, seed: int, longest: int = 12) -> list[str]:
    """Random sentences of up to `longest` words."""
    random = Random(seed)
    return [sentence(random, random.randint(1, longest))[0] for _ in range(count)]


def translated(
    translator: Translator, texts: Sequence[str], options: DecodingOptions
) -> list[list[Hypothesis]]:
    """English to German."""
    return translator.translate([translator.prepare(text, "en", "de") for text in texts], options)


def _learn(model: Transformer, tokenizer: Tokenizer, random: Random) -> None:
    optimiser = torch.optim.Adam(model.parameters(), lr=5e-3)
    schedule = torch.optim.lr_scheduler.OneCycleLR(optimiser, 5e-3, total_steps=UPDATES)
    for _ in range(UPDATES):
        sources, targets = [], []
        words = random.choice([2, 4, 8, 16, 30])
        for _ in range(320 // words // 4 + 2):
            english, german = sentence(random, random.randint(1, words))
            for source, target, language in ((english, german, "de"), (german, english, "en")):
                tag, end = tokenizer.target_tag(language), tokenizer.eos_id
                sources.append(torch.tensor([tag, *tokenizer.encode(source), end]))
                targets.append(torch.tensor([tokenizer.bos_id, *tokenizer.encode(target), end]))
        target_BT = padded(targets)
        logits = model(padded(sources), target_BT[:, :-1])
        loss = cross_entropy(logits.flatten(0, 1), target_BT[:, 1:].flatten(), ignore_index=0)
        optimiser.zero_grad()
        loss.backward()
        optimiser.step()
        schedule.step()
