"""Which engine a translator gets on which device, and what is said where it cannot be had."""

from collections.abc import Callable, Sequence
from pathlib import Path

import pytest
import torch
from torch import Tensor

from model.acceleration import accelerate, accelerate_soon
from model.decoding import NoEngine
from model.directory import save_translator
from model.graphs.capture import Run
from model.graphs.decoder import GraphDecoder
from model.graphs.state import FixedState
from model.search import DecodingOptions
from model.sentence import Sentence
from model.translate import main
from model.translator import Translator
from tests.model.interpreter import english
from tests.model.phrasebook import phrasebook

BEAM = DecodingOptions(beam_size=4, n_best=2)


class OnGpu(Translator):
    """Says that it is on a GPU. Its weights are not, so its steps run as they are."""

    def __init__(self, other: Translator) -> None:
        super().__init__(
            other.model, other.tokenizer, name="twin", directions=other.directions, longest=other.longest
        )
        self._other = other

    @property
    def device(self) -> torch.device:
        return torch.device("cuda:0")

    def force(self, sentence: Sentence, target_ids: Sequence[int]) -> tuple[float, ...]:
        return self._other.force(sentence, target_ids)


@pytest.fixture
def on_gpu(translator: Translator) -> Translator:
    """The same model, for another decoder."""
    return OnGpu(translator)


@pytest.fixture
def on_cpu(translator: Translator) -> Translator:
    """The same, that says where it is."""
    return Translator(
        translator.model,
        translator.tokenizer,
        name="twin",
        directions=translator.directions,
        longest=translator.longest,
    )


def capture_by(monkeypatch: pytest.MonkeyPatch, capture: Callable[[Run], Run]) -> None:
    monkeypatch.setattr("model.graphs.decoder.capture_for", lambda device: capture)


@pytest.mark.parametrize("engine", ["auto", "graphs"])
def test_on_a_gpu_graphs_decode_and_find_what_pytorch_finds(
    on_gpu: Translator, translator: Translator, engine: str
) -> None:
    accelerate(on_gpu, engine=engine)
    assert isinstance(on_gpu.decoder, GraphDecoder)
    assert "CUDA graphs, float32" in repr(on_gpu)
    sentences = [translator.prepare(text, "en", "de") for text in english(20, seed=6)]
    wanted = [[one.text for one in found] for found in translator.translate(sentences, BEAM)]
    assert [[one.text for one in found] for found in on_gpu.translate(sentences, BEAM)] == wanted


def test_on_a_gpu_nothing_is_compiled_first(on_gpu: Translator, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("model.acceleration.is_compiled", lambda: False)
    accelerate_soon(on_gpu)
    assert isinstance(on_gpu.decoder, GraphDecoder)


@pytest.mark.parametrize("engine", ["auto", "graphs"])
@pytest.mark.parametrize("length", [1, 4])
def test_graphs_that_score_otherwise_are_not_taken(
    on_gpu: Translator,
    engine: str,
    length: int,
    monkeypatch: pytest.MonkeyPatch,
    caplog: pytest.LogCaptureFixture,
) -> None:
    """As by a beam whose rows are not moved, which greedy search would not notice."""
    step = FixedState.step

    def wrong(self: FixedState, tokens_N: Tensor) -> Tensor:
        log_probs_NV = step(self, tokens_N)
        return log_probs_NV.roll(1, 0) if self.length > length and self.shape.beam > 1 else log_probs_NV

    monkeypatch.setattr(FixedState, "step", wrong)
    if engine == "graphs":
        with pytest.raises(NoEngine, match=r"scores of CUDA graphs, float32 on cpu are off by"):
            accelerate(on_gpu, engine=engine)
    else:
        accelerate(on_gpu, engine=engine)
        assert "PyTorch does the decoding, for CUDA graphs cannot be used: scores" in caplog.text
    assert on_gpu.decoder is on_gpu.plain


def test_a_capture_that_fails_leaves_pytorch_and_the_log_says_why(
    on_gpu: Translator, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    def capture(run: Run) -> Run:
        raise RuntimeError("CUDA driver version is insufficient")

    capture_by(monkeypatch, capture)
    accelerate(on_gpu)
    assert on_gpu.decoder is on_gpu.plain
    assert "a step cannot be captured: CUDA driver version is insufficient" in caplog.text
    with pytest.raises(NoEngine, match="driver version is insufficient"):
        accelerate(on_gpu, engine="graphs")


def test_graphs_compute_in_the_models_own_type(on_gpu: Translator, caplog: pytest.LogCaptureFixture) -> None:
    accelerate(on_gpu, dtype="int8")
    assert on_gpu.decoder is on_gpu.plain
    assert "which is float32, not in int8" in caplog.text
    with pytest.raises(NoEngine, match="which is float32, not in bfloat16"):
        accelerate(on_gpu, engine="graphs", dtype="bfloat16")
    accelerate(on_gpu, engine="graphs", dtype="float32")
    assert isinstance(on_gpu.decoder, GraphDecoder)


def test_graphs_asked_for_on_a_cpu_are_an_error(on_cpu: Translator) -> None:
    with pytest.raises(NoEngine, match="CUDA graphs need a CUDA device, this model is on cpu"):
        accelerate(on_cpu, engine="graphs")
    assert on_cpu.decoder is on_cpu.plain


def test_a_command_says_so_in_a_line(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    directory = tmp_path / "model"
    save_translator(phrasebook(), directory, card="# A phrasebook\n", dtype=torch.float32)
    languages = ("--source-language", "en", "--target-language", "de")
    assert main([str(directory), *languages, "--device", "cpu", "--engine", "graphs"]) == 1
    assert capsys.readouterr().err == "error: CUDA graphs need a CUDA device, this model is on cpu\n"


def test_automatic_on_a_cpu_never_takes_graphs(on_cpu: Translator) -> None:
    accelerate(on_cpu)
    assert not isinstance(on_cpu.decoder, GraphDecoder)
