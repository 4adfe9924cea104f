"""What the model's tests share: every test starts from the same random numbers."""

import pytest
import torch


@pytest.fixture(autouse=True)
def repeatable() -> None:
    torch.manual_seed(0)
