"""The pictures of docs/images, taken of the real page: SCREENSHOTS=docs/images make test-browser."""

import os
from pathlib import Path

import pytest

TEXT = "Can you help me?\n\nI would like a cup of coffee, please."
LARGEST_FILE = 200_000  # in bytes; the repository carries these pictures


@pytest.mark.parametrize(
    ("name", "scheme", "width"),
    [("page-light", "light", 1200), ("page-dark", "dark", 1200), ("page-phone", "light", 360)],
)
def test_the_page_has_its_picture_taken(page, tmp_path, name, scheme, width) -> None:
    folder = Path(os.environ.get("SCREENSHOTS") or tmp_path)
    page.set_viewport_size({"width": width, "height": 760})
    page.emulate_media(color_scheme=scheme, reduced_motion="reduce")
    page.get_by_label("Text to translate").fill(TEXT)
    page.get_by_label("Translations to show").fill("3")
    page.get_by_role("button", name="Translate").click()
    page.locator("#translation:not([aria-busy]):not(:empty)").wait_for(timeout=30_000)
    page.mouse.move(0, 0)
    page.evaluate("document.activeElement.blur()")
    picture = page.screenshot(path=folder / f"{name}.png", full_page=True)
    assert 0 < len(picture) < LARGEST_FILE
