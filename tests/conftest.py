"""What all tests share: one thread, repeatable Hypothesis, and the corpora a caller may name."""

import os
from pathlib import Path

# Before anything imports torch: on tensors as small as a test's, threads only wait for each other.
os.environ.setdefault("OMP_NUM_THREADS", "1")
# The native engine, compiled once for the clone.
os.environ.setdefault("DRAGOMAN_CACHE", str(Path(__file__).parents[1] / ".cache" / "native"))
# What only tests compare with (`make test-exchange`) reports to nobody and asks nobody.
os.environ |= {"ORT_DISABLE_TELEMETRY": "1", "HF_HUB_DISABLE_TELEMETRY": "1", "HF_HUB_OFFLINE": "1"}

import pytest
from hypothesis import settings

# A deadline measures the machine, not the code. In CI every run draws the same examples, so that a change
# is judged by what it changes.
settings.register_profile("dragoman", deadline=None)
settings.register_profile("ci", deadline=None, derandomize=True, print_blob=True)
settings.load_profile("ci" if os.environ.get("CI") else "dragoman")


@pytest.fixture(scope="session")
def corpora() -> Path:
    """The folder of public corpora, which are no part of this repository: CORPORA names it."""
    named = os.environ.get("CORPORA")
    if not named:
        pytest.skip("needs a folder of public corpora: set CORPORA to one")
    folder = Path(named)
    if not folder.is_dir():
        pytest.fail(f"CORPORA names {named!r}, which is not a folder")
    return folder
