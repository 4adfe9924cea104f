"""Capture and replay by CUDA itself. What these rest on is tested without a GPU, in the files beside this one."""

import copy
from typing import Any

import pytest
import torch

from model.acceleration import TOLERANCES, accelerate
from model.decoding import PlainDecoder
from model.graphs.capture import CudaCapture, capture_for
from model.graphs.decoder import GraphDecoder
from model.search import DecodingOptions, Found
from model.translator import Translator
from tests.model.graphs.decoders import BEAM, END, GREEDY, OPTIONS, assert_same, batch, plain_decoder
from tests.model.graphs.tape import Counted
from tests.model.interpreter import english
from tests.model.variants import ALL_VARIANTS, POSITIONS, named

needs_cuda = pytest.mark.skipif(
    not torch.cuda.is_available(), reason="needs a CUDA device: nothing else captures a CUDA graph"
)
CUDA = torch.device("cuda")


def on_gpu(plain: PlainDecoder) -> PlainDecoder:
    plain.model.to(CUDA)
    return plain


def test_without_a_cuda_device_a_step_is_run_as_it_is() -> None:
    def run() -> None: ...

    assert capture_for(torch.device("cpu"))(run) is run


@needs_cuda
def test_a_captured_function_is_replayed_on_the_same_addresses() -> None:
    total, added = torch.zeros(3, device=CUDA), torch.ones(3, device=CUDA)

    def run() -> None:
        total.add_(added * 2)

    replay = CudaCapture(CUDA)(run)
    total.zero_()
    added.fill_(5)
    replay()
    replay()
    assert total.tolist() == [20.0] * 3


@needs_cuda
@pytest.mark.parametrize("options", [GREEDY, BEAM], ids=["greedy", "beam"])
@pytest.mark.parametrize("variant", ALL_VARIANTS, ids=named)
def test_graphs_in_float32_find_what_pytorch_finds(variant: dict[str, Any], options: DecodingOptions) -> None:
    plain = on_gpu(plain_decoder(**variant))
    assert_same(GraphDecoder(plain).search(batch(), options), plain.search(batch(), options))


@needs_cuda
@pytest.mark.parametrize("options", OPTIONS, ids=range(len(OPTIONS)))
def test_graphs_are_replayed_batch_after_batch(options: DecodingOptions) -> None:
    plain, capture = on_gpu(plain_decoder()), Counted(CudaCapture(CUDA))
    decoder = GraphDecoder(plain, capture=capture)
    replays = 0
    for seed in (0, 1, 0):
        assert_same(decoder.search(batch(seed), options), plain.search(batch(seed), options))
        assert capture.replays > replays
        replays = capture.replays
    captures = capture.captures
    decoder.search(batch(0), options)
    assert capture.captures == captures


@needs_cuda
def test_graphs_that_are_dropped_and_captured_again_change_no_result() -> None:
    plain = on_gpu(plain_decoder())
    decoder = GraphDecoder(plain, most=2)
    for width in (1, 2, 3, 5, 9, 5, 1):
        options = DecodingOptions(beam_size=width)
        assert_same(decoder.search(batch(), options), plain.search(batch(), options))
        assert len(decoder.graphs) <= 2


@pytest.mark.parametrize("device", ["cpu", pytest.param("cuda", marks=needs_cuda)])
@pytest.mark.parametrize("positions", POSITIONS)
@pytest.mark.parametrize("options", [GREEDY, BEAM], ids=["greedy", "beam"])
def test_what_is_found_in_bfloat16_is_scored_as_float32_does(
    device: str, positions: str, options: DecodingOptions
) -> None:
    exact, narrow = plain_decoder(positions=positions), plain_decoder(positions=positions)
    narrow.model.to(device, torch.bfloat16)
    differences = [
        abs(one - other)
        for sentence, [best, *_] in zip(batch(), GraphDecoder(narrow).search(batch(), options), strict=True)
        for one, other in zip(best.id_scores, forced(exact, sentence.ids, best), strict=True)
    ]
    assert 0 < sum(differences) / len(differences) < TOLERANCES["bfloat16"]


@torch.inference_mode()
def forced(plain: PlainDecoder, source: tuple[int, ...], found: Found) -> list[float]:
    """The log-probability of each id, and of the end unless it was cut."""
    target = [plain.model.config.start_id, *found.ids, END]
    log_probs_TV = plain.model(torch.tensor([source]), torch.tensor([target[:-1]]))[0].log_softmax(dim=-1)
    scores = log_probs_TV.gather(1, torch.tensor(target[1:])[:, None])[:, 0].tolist()
    return scores[: len(found.id_scores)]


@needs_cuda
def test_a_translator_on_a_gpu_decodes_by_graphs(translator: Translator) -> None:
    texts = english(40, seed=2)
    wanted = translator.translate([translator.prepare(text, "en", "de") for text in texts], BEAM)
    fast = on_gpu_twin(translator)
    accelerate(fast)
    assert isinstance(fast.decoder, GraphDecoder)
    found = fast.translate([fast.prepare(text, "en", "de") for text in texts], BEAM)
    assert [one[0].text for one in found] == [one[0].text for one in wanted]


def on_gpu_twin(translator: Translator) -> Translator:
    """The same model in float32, on the GPU; the other one stays where it is."""
    return Translator(
        copy.deepcopy(translator.model).to(CUDA),
        translator.tokenizer,
        name="twin",
        directions=translator.directions,
        longest=translator.longest,
    )
