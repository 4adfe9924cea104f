"""The native engine, compiled once for the test session; without a compiler its tests are skipped."""

from pathlib import Path

import pytest

from model.native.library import CACHE_VARIABLE, NoNativeEngine, load_library


@pytest.fixture(scope="session")
def cache(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("cache")
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv(CACHE_VARIABLE, str(folder))
        try:
            load_library()
        except NoNativeEngine as error:
            pytest.skip(str(error))
    return folder


@pytest.fixture(autouse=True)
def _use_cache(cache: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(CACHE_VARIABLE, str(cache))
