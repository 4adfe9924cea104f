"""The README.md of an exported folder: what it is, what was checked, and a program that runs it."""

from __future__ import annotations

from model.exchange.parity import Parity
from model.translator import Translator


def note(translator: Translator, program: str, *, engine: str, kind: str, parity: Parity) -> str:
    """`engine` and `kind` are names for people; `program` is Python that runs in the folder."""
    pairs = ", ".join(f"{source} → {target}" for source, target in translator.directions)
    return f"""# {translator.name} for {engine}

{pairs}; {translator.parameters:,} parameters, {kind}. What it learnt from and how good it is: MODEL_CARD.md.

Checked against the model that it was made of: {parity}.

`decoding.json` has the ids and pieces to decode with: what a source starts with to ask for a target language, the
start and the end of a target, what must never be in one, and the greatest lengths, which no engine checks by itself.

To run it, with the folder `tokenizer` of Dragoman on Python's path (it needs sentencepiece and sentencex):

```python
{program.strip()}
```
"""


CTRANSLATE2 = """
import json
from pathlib import Path

import ctranslate2
from tokenizer import open_tokenizer

facts = json.loads(Path("decoding.json").read_text())
tokenizer = open_tokenizer({name: Path(name).read_bytes() for name in facts["tokenizer"]})
engine = ctranslate2.Translator(".", device="cpu")


def translate(text: str, target: str) -> str:
    source = [
        *facts["source_starts_with"][target]["pieces"],
        *tokenizer.pieces(tokenizer.encode(text)),
        *facts["end"]["pieces"],
    ]
    [result] = engine.translate_batch(
        [source],
        beam_size=5,
        max_input_length=0,
        max_decoding_length=min(2 * len(source) + 10, facts["longest_target"]),
        min_decoding_length=0,
        suppress_sequences=[[piece] for piece in facts["never_in_a_target"]["pieces"]],
    )
    ids = {piece: i for i, piece in enumerate(tokenizer.pieces(range(tokenizer.size)))}
    return tokenizer.decode(ids[piece] for piece in result.hypotheses[0])


print(translate(input(), facts["directions"][0][1]))
"""
