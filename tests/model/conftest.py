"""What the model's tests share: every test starts from the same random numbers."""

import pytest
import torch

from model.translator import Translator
from tests.model.interpreter import learnt


@pytest.fixture(autouse=True)
def repeatable() -> None:
    torch.manual_seed(0)


@pytest.fixture(scope="session")
def translator() -> Translator:
    """Learnt in this session; see tests/model/interpreter.py. Tests must leave it as it is."""
    return learnt()
