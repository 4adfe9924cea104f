"""A model for clones that have no bundled one: it has learnt a few sentences by heart, in seconds."""

from pathlib import Path

import torch
from torch import Tensor
from torch.nn.functional import cross_entropy
from torch.nn.utils.rnn import pad_sequence

from model.config import preset
from model.directory import save_translator
from model.transformer import Transformer
from model.translator import Translator
from tokenizer import Tokenizer
from tokenizer.train import train_tokenizer

PAIRS = [
    ("The harbour is quiet today.", "Der Hafen ist heute ruhig."),
    ("We are waiting for the last ship.", "Wir warten auf das letzte Schiff."),
    ("The last ship is late.", "Das letzte Schiff hat Verspätung."),
    ("I would like a cup of coffee, please.", "Ich hätte gern eine Tasse Kaffee, bitte."),
    ("Where is the next train station?", "Wo ist der nächste Bahnhof?"),
    ("Our interpreter reads old letters.", "Unsere Dolmetscherin liest alte Briefe."),
    ("Good morning!", "Guten Morgen!"),
    ("Good night!", "Gute Nacht!"),
]
UPDATES = 100


def make_small_model(directory: Path) -> None:
    """Write a model directory that translates PAIRS both ways, and anything else into something like them."""
    torch.manual_seed(0)
    tokenizer = Tokenizer(
        train_tokenizer((line for pair in PAIRS for line in pair), size=400, languages=["de", "en"])
    )
    model = Transformer(preset("tiny", vocabulary_size=tokenizer.size, dropout=0.0))
    directions = [("en", "de"), ("de", "en")]
    translator = Translator(model, tokenizer, name=directory.name, directions=directions, longest=100)
    examples = [(english, german, "en", "de") for english, german in PAIRS]
    examples += [(german, english, "de", "en") for english, german in PAIRS]
    sources = [translator.prepare(text, source, target).ids for text, _, source, target in examples]
    targets = [
        (model.config.start_id, *tokenizer.encode(text), tokenizer.eos_id) for _, text, _, _ in examples
    ]
    learn_by_heart(model, padded(sources, tokenizer.pad_id), padded(targets, tokenizer.pad_id))
    card = "A few sentences, learnt by heart for the tests of the page.\n"
    save_translator(translator, directory, card=card, dtype=torch.float32)


def learn_by_heart(model: Transformer, source_BS: Tensor, target_BT: Tensor) -> None:
    optimiser = torch.optim.AdamW(model.parameters(), lr=2e-3)
    for _ in range(UPDATES):
        logits = model(source_BS, target_BT[:, :-1])
        loss = cross_entropy(
            logits.flatten(0, 1), target_BT[:, 1:].flatten(), ignore_index=model.config.pad_id
        )
        optimiser.zero_grad()
        loss.backward()
        optimiser.step()


def padded(rows: list[tuple[int, ...]], pad_id: int) -> Tensor:
    return pad_sequence([torch.tensor(row) for row in rows], batch_first=True, padding_value=pad_id)
