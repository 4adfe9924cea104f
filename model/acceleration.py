"""A translator given the fastest decoder that this machine has, once that is known to find what PyTorch would."""

from __future__ import annotations

import logging
import threading
from collections import deque

from model.decoding import Work, run
from model.native.decoder import NativeDecoder
from model.native.library import NoNativeEngine, is_compiled
from model.search import DecodingOptions
from model.translator import Translator

logger = logging.getLogger(__name__)

ENGINES = ("auto", "native", "pytorch")
# How far a score may be from PyTorch's, in nats a piece: that of rounded sums, and that of rounded weights and inputs.
TOLERANCES = {"float32": 1e-3, "int8": 0.1}
_TRIALS = ("Hello.", "Yes", "2 + 2 = 4", "We wait here until the rain stops.", "Tom 123 @ home, isn't he?")


def accelerate(
    translator: Translator, *, engine: str = "auto", dtype: str = "auto", threads: int | None = None
) -> None:
    """Let the translator decode with the native engine, in `threads` threads (all cores, if None).

    `dtype`: float32, int8, or auto, which is int8 where the processor multiplies it. Engine auto keeps PyTorch where
    the native engine cannot be used, and says why in the log; native raises NoNativeEngine then.
    """
    if engine not in ENGINES:
        raise ValueError(f"engine is {engine!r}, must be one of {', '.join(ENGINES)}")
    if engine == "pytorch":
        return
    try:
        if translator.device.type != "cpu" or dtype not in ("auto", *TOLERANCES):
            raise NoNativeEngine(f"it does not run in {dtype} on {translator.device}")
        decoder = _decoder(translator, dtype, threads)
        check(translator, decoder)
    except NoNativeEngine as error:
        if engine == "native":
            raise
        logger.warning("PyTorch does the decoding, for the native engine cannot: %s", error)
        return
    translator.decoder = decoder
    logger.info("decoding: %r", decoder)


def accelerate_soon(translator: Translator, *, engine: str = "auto", dtype: str = "auto") -> None:
    """`accelerate` at once where the engine is compiled already; else in the background, while PyTorch decodes."""
    if engine != "auto" or is_compiled():
        accelerate(translator, engine=engine, dtype=dtype)
        return
    work = threading.Thread(
        target=accelerate, args=(translator,), kwargs={"dtype": dtype}, name="accelerate", daemon=True
    )
    work.start()


def check(translator: Translator, decoder: NativeDecoder) -> None:
    """NoNativeEngine where it scores what it finds unlike PyTorch does."""
    options = DecodingOptions(strategy="greedy", max_length=12)
    sentences = [
        translator.prepare(text, *direction)
        for text in _TRIALS
        for direction in translator.directions
        if translator.fits(text)
    ]
    waiting = deque(Work(name, sentence, options) for name, sentence in enumerate(sentences))
    for name, (found, *_) in run(decoder.session(), waiting):
        wanted = translator.force(sentences[name], found.ids)[: len(found.id_scores)]
        differences = [abs(a - b) for a, b in zip(wanted, found.id_scores, strict=True)]
        mean = sum(differences) / max(1, len(differences))
        if not mean <= TOLERANCES[decoder.native.precision]:
            raise NoNativeEngine(f"its scores in {decoder.native.precision} are off by {mean:.3g} a piece")


def _decoder(translator: Translator, dtype: str, threads: int | None) -> NativeDecoder:
    def build(precision: str) -> NativeDecoder:
        return NativeDecoder(
            translator.plain,
            precision,
            eos_id=translator.tokenizer.eos_id,
            banned_ids=translator.banned_ids,
            threads=threads,
        )

    if dtype != "auto":
        return build(dtype)
    try:
        return build("int8")
    except NoNativeEngine:
        return build("float32")
