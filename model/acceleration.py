"""A translator given the fastest decoder that this machine has, once that is known to find what PyTorch would."""

from __future__ import annotations

import logging
import threading
from collections import deque
from collections.abc import Sequence

from model.decoding import Decoder, NoEngine, Work, run
from model.graphs.decoder import GraphDecoder
from model.native.decoder import NativeDecoder
from model.native.library import NoNativeEngine, is_compiled
from model.search import DecodingOptions
from model.translator import Translator

logger = logging.getLogger(__name__)

ENGINES = ("auto", "native", "graphs", "pytorch")
# How far a score may be from PyTorch's, in nats a piece: that of rounded sums, and that of rounded weights and inputs.
TOLERANCES = {"float32": 1e-3, "bfloat16": 0.1, "int8": 0.1}
_TRIALS = ("Hello.", "Yes", "2 + 2 = 4", "We wait here until the rain stops.", "Tom 123 @ home, isn't he?")
_GREEDY = DecodingOptions(strategy="greedy", max_length=12)
_BEAM = DecodingOptions(beam_size=4, max_length=12)


def accelerate(
    translator: Translator, *, engine: str = "auto", dtype: str = "auto", threads: int | None = None
) -> None:
    """Let the translator decode with the engine for its device: native on a CPU, CUDA graphs on a GPU.

    The native one works in `threads` threads (all cores, if None), in `dtype`: float32, int8, or auto, which is int8
    where the processor multiplies it. Graphs have the translator's own weights. Engine auto keeps PyTorch where the
    other cannot be used, and says why in the log; one that is asked for by its name raises NoEngine then.
    """
    if engine not in ENGINES:
        raise ValueError(f"engine is {engine!r}, must be one of {', '.join(ENGINES)}")
    if engine == "pytorch":
        return
    is_for_cuda = engine == "graphs" or (engine == "auto" and translator.device.type == "cuda")
    try:
        decoder = graphs(translator, dtype) if is_for_cuda else native(translator, dtype, threads)
    except NoEngine as error:
        if engine != "auto":
            raise
        name = "CUDA graphs" if is_for_cuda else "the native engine"
        logger.warning("PyTorch does the decoding, for %s cannot be used: %s", name, error)
        return
    translator.decoder = decoder
    logger.info("decoding: %r", decoder)


def accelerate_soon(translator: Translator, *, engine: str = "auto", dtype: str = "auto") -> None:
    """`accelerate` at once if nothing has to be compiled; else in the background, while PyTorch decodes."""
    if engine != "auto" or translator.device.type == "cuda" or is_compiled():
        accelerate(translator, engine=engine, dtype=dtype)
        return
    work = threading.Thread(
        target=accelerate, args=(translator,), kwargs={"dtype": dtype}, name="accelerate", daemon=True
    )
    work.start()


def native(translator: Translator, dtype: str, threads: int | None) -> NativeDecoder:
    """The native engine, checked. Raises NoEngine."""
    if translator.device.type != "cpu" or dtype not in ("auto", "float32", "int8"):
        raise NoNativeEngine(f"it does not run in {dtype} on {translator.device}")
    decoder = _native(translator, dtype, threads)
    check(translator, decoder, TOLERANCES[decoder.native.precision])
    return decoder


def graphs(translator: Translator, dtype: str) -> GraphDecoder:
    """CUDA graphs, checked by greedy search and by beam, which moves what it remembers. Raises NoEngine."""
    own = str(translator.dtype).removeprefix("torch.")
    if translator.device.type != "cuda":
        raise NoEngine(f"CUDA graphs need a CUDA device, this model is on {translator.device}")
    if dtype not in ("auto", own):
        raise NoEngine(f"CUDA graphs compute in the model's own type, which is {own}, not in {dtype}")
    decoder = GraphDecoder(translator.plain)
    try:
        check(translator, decoder, TOLERANCES[own], (_GREEDY, _BEAM))
    except RuntimeError as error:  # as CUDA and its libraries fail
        raise NoEngine(f"a step cannot be captured: {error}") from error
    return decoder


def check(
    translator: Translator,
    decoder: Decoder,
    tolerance: float,
    searches: Sequence[DecodingOptions] = (_GREEDY,),
) -> None:
    """NoEngine where it scores what it finds unlike PyTorch does, by more than `tolerance` nats a piece."""
    sentences = [
        translator.prepare(text, *direction)
        for text in _TRIALS
        for direction in translator.directions
        if translator.fits(text)
    ]
    for options in searches:
        waiting = deque(Work(name, sentence, options) for name, sentence in enumerate(sentences))
        for name, (found, *_) in run(decoder.session(), waiting):
            wanted = translator.force(sentences[name], found.ids)[: len(found.id_scores)]
            differences = [abs(a - b) for a, b in zip(wanted, found.id_scores, strict=True)]
            mean = sum(differences) / max(1, len(differences))
            if not mean <= tolerance:
                raise NoEngine(f"scores of {decoder!r} are off by {mean:.3g} a piece")


def _native(translator: Translator, dtype: str, threads: int | None) -> NativeDecoder:
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
