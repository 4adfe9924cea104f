"""What needs the optional libraries of the extra "exchange" is skipped where they are not."""

from importlib.util import find_spec

import pytest


def needs(name: str) -> pytest.MarkDecorator:
    """Skips unless the library is there."""
    return pytest.mark.skipif(find_spec(name) is None, reason=f"needs {name}: make install-exchange")
