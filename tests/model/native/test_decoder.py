"""A translator with the native engine finds what it finds with PyTorch, in threads, phrases and samples included."""

import pytest
import torch

from model.acceleration import TOLERANCES, accelerate, check
from model.decoding import NoEngine
from model.native.decoder import NativeDecoder
from model.native.library import NoNativeEngine
from model.search import DecodingOptions
from model.translator import Hypothesis, Translator
from tests.model.interpreter import english
from tests.model.native.models import native, transformer

OPTIONS = [
    DecodingOptions(strategy="greedy"),
    DecodingOptions(beam_size=4, n_best=3),
    DecodingOptions(beam_size=2, length_penalty=0.0, max_length=3),
    DecodingOptions(strategy="sample", n_best=2, seed=5),
]


def twin(translator: Translator) -> Translator:
    """The same model, for another decoder."""
    return Translator(
        translator.model,
        translator.tokenizer,
        name="twin",
        directions=translator.directions,
        longest=translator.longest,
    )


def shown(results: list[list[Hypothesis]]) -> list[list[tuple[str, bool]]]:
    return [[(one.text, one.truncated) for one in hypotheses] for hypotheses in results]


@pytest.mark.parametrize("options", OPTIONS, ids=lambda options: options.strategy)
@pytest.mark.parametrize("threads", [1, 3])
def test_native_float32_finds_what_pytorch_finds(
    translator: Translator, options: DecodingOptions, threads: int
) -> None:
    fast = twin(translator)
    accelerate(fast, engine="native", dtype="float32", threads=threads)
    assert isinstance(fast.decoder, NativeDecoder)
    texts = [*english(40, seed=2), "", "?", "Ä"]
    sentences = [translator.prepare(text, "en", "de") for text in texts]
    sentences.append(translator.prepare("the old sun", "en", "de", phrases=["Mond"]))
    wanted, got = translator.translate(sentences, options), fast.translate(sentences, options)
    assert shown(got) == shown(wanted)
    for ours, theirs in zip(got, wanted, strict=True):
        for one, other in zip(ours, theirs, strict=True):
            assert one.score == pytest.approx(other.score, abs=1e-4)
            assert one.piece_scores == pytest.approx(other.piece_scores, abs=1e-4)


def test_int8_finds_nearly_all_of_it(translator: Translator) -> None:
    fast = twin(translator)
    try:
        accelerate(fast, engine="native", dtype="int8")
    except NoNativeEngine as error:
        pytest.skip(str(error))
    sentences = [translator.prepare(text, "en", "de") for text in english(100, seed=3)]
    options = DecodingOptions(strategy="greedy")
    wanted, got = shown(translator.translate(sentences, options)), shown(fast.translate(sentences, options))
    # A model of 64 features has less to spare than those that are served: there it is 98 of 100.
    assert sum(a == b for a, b in zip(wanted, got, strict=True)) >= 80


def test_a_decoder_of_other_weights_is_refused(translator: Translator) -> None:
    fast, other = twin(translator), twin(translator)
    accelerate(fast, engine="native", dtype="float32")
    assert isinstance(fast.decoder, NativeDecoder)
    other.model = transformer(vocabulary_size=translator.tokenizer.size)
    with pytest.raises(NoEngine, match=r"scores of native float32 in \d+ threads? are off by"):
        check(other, fast.decoder, TOLERANCES["float32"])


def test_pytorch_stays_where_the_engine_cannot_be_had_and_the_log_says_why(
    translator: Translator, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    def refuse() -> None:
        raise NoNativeEngine("there is no compiler today")

    monkeypatch.setattr("model.native.engine.load_library", refuse)
    slow = twin(translator)
    accelerate(slow)
    assert slow.decoder is slow.plain
    assert "no compiler today" in caplog.text
    with pytest.raises(NoNativeEngine, match="no compiler today"):
        accelerate(slow, engine="native")


def test_engines_and_types_are_named_when_unknown(translator: Translator) -> None:
    with pytest.raises(ValueError, match=r"'warp'.*auto, native, graphs, pytorch"):
        accelerate(twin(translator), engine="warp")
    with pytest.raises(NoNativeEngine, match="bfloat16"):
        accelerate(twin(translator), engine="native", dtype="bfloat16")


def test_weights_are_packed_apart_from_the_models(translator: Translator) -> None:
    model = transformer()
    engine, source = native(model), torch.tensor([[5, 6, 3]])
    before = engine.step(torch.tensor([2]), engine.start(source))[0]
    with torch.no_grad():
        model.encoder[0].feed_forward.up.weight.zero_()  # type: ignore[union-attr, operator]
    assert torch.equal(engine.step(torch.tensor([2]), engine.start(source))[0], before)
