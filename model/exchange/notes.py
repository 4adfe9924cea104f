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


ONNX = """
import json
import os
from pathlib import Path

import numpy as np

os.environ["ORT_DISABLE_TELEMETRY"] = "1"  # before the import of onnxruntime, or it reports to its maker
import onnxruntime
from tokenizer import open_tokenizer

facts = json.loads(Path("decoding.json").read_text())
tokenizer = open_tokenizer({name: Path(name).read_bytes() for name in facts["tokenizer"]})
encoder, decoder = (
    onnxruntime.InferenceSession(name, providers=["CPUExecutionProvider"]) for name in ("encoder.onnx", "decoder.onnx")
)


def results(session, inputs):
    names = [output.name for output in session.get_outputs()]
    return dict(zip(names, session.run(names, inputs), strict=True))


def translate(text: str, target: str) -> str:
    source = [
        *facts["source_starts_with"][target]["ids"],
        *tokenizer.encode(text),
        *facts["end"]["ids"],
    ]
    memory = results(encoder, {"source": np.array([source])})
    nothing = {  # the keys and values of no position yet
        value.name: np.zeros((1, value.shape[1], 0, value.shape[3]), np.float32)
        for value in decoder.get_inputs()
        if value.name.startswith("past_")
    }
    ids, past = facts["start"]["ids"], nothing
    while len(ids) <= min(2 * len(source) + 10, facts["longest_target"]):
        found = results(decoder, {"tokens": np.array(ids[-1:]), **memory, **past})
        logits = found.pop("logits")[0]
        logits[facts["never_in_a_target"]["ids"]] = -np.inf
        ids = [*ids, int(logits.argmax())]
        if ids[-1:] == facts["end"]["ids"]:
            break
        past = {f"past_{name}": value for name, value in found.items()}
    return tokenizer.decode(ids)


print(translate(input(), facts["directions"][0][1]))
"""
