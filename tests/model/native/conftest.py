"""Without a compiler for the native engine its tests are skipped."""

from pathlib import Path

import pytest

from model.native.library import NoNativeEngine, cache_folder, load_library


@pytest.fixture(scope="session", autouse=True)
def cache() -> Path:
    try:
        load_library()
    except NoNativeEngine as error:
        pytest.skip(str(error))
    return cache_folder()
