"""A small model, and what CTranslate2 makes of it."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.browser.small_model import make_small_model


@pytest.fixture(scope="session")
def small_model(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The directory of a model that knows a few sentences by heart."""
    directory = tmp_path_factory.mktemp("models") / "small"
    make_small_model(directory)
    return directory


@pytest.fixture(scope="session")
def exported(small_model: Path) -> Path:
    """The same for CTranslate2, in float32."""
    pytest.importorskip("ctranslate2", reason="needs what `make install-exchange` installs")
    from model.export import export

    folder = small_model.parent / "exported"
    export(small_model, folder, to="ctranslate2")
    return folder
