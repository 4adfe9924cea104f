"""Names of devices and types."""

import pytest
import torch

from model.device import choose_device, choose_dtype

CPU = torch.device("cpu")


@pytest.mark.parametrize("name", ["tpu", "", "cuda:77", "meta", "cpu cuda", "hpu", "xla"])
def test_a_device_that_cannot_be_used_is_named_with_the_allowed_ones(name: str) -> None:
    with pytest.raises(ValueError, match="allowed: auto, cpu, cuda") as error:
        choose_device(name)
    assert repr(name) in str(error.value)


def test_automatic_is_the_gpu_if_there_is_one() -> None:
    assert choose_device("auto").type == ("cuda" if torch.cuda.is_available() else "cpu")
    assert choose_device("cpu") == CPU


@pytest.mark.parametrize("name", ["float16", "int4", "", "torch.float32", "bf16"])
def test_an_unknown_type_is_named_with_the_allowed_ones(name: str) -> None:
    with pytest.raises(ValueError, match="allowed: auto, float32, bfloat16, int8") as error:
        choose_dtype(name, CPU)
    assert repr(name) in str(error.value)


def test_types_are_found_by_name() -> None:
    assert choose_dtype("float32", CPU) == torch.float32
    assert choose_dtype("bfloat16", CPU) == torch.bfloat16
    assert choose_dtype("auto", CPU) in (torch.float32, torch.bfloat16)


@pytest.mark.parametrize(("wide", "narrow", "chosen"), [(2.0, 1.0, "bfloat16"), (1.2, 1.0, "float32")])
def test_a_narrower_type_is_chosen_only_where_it_is_clearly_faster(
    wide: float, narrow: float, chosen: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    seconds = {torch.float32: wide, torch.bfloat16: narrow}
    monkeypatch.setattr("model.device._seconds", lambda dtype, *_: seconds[dtype])
    assert choose_dtype("auto", CPU) == getattr(torch, chosen)
