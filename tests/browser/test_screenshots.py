"""The pictures of docs/images, taken of the real page: SCREENSHOTS=docs/images make test-browser."""

import os
from pathlib import Path

import pytest

TEXT = "Can you help me?\n\nI would like a cup of coffee, please."
LARGEST_FILE = 450_000  # in bytes; the repository carries these pictures


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


def show_a_word(page) -> None:
    page.locator(".said").nth(4).focus()
    page.evaluate("scrollTo(0, 0)")


def show_a_block(page) -> None:
    page.locator("#map .block-name").nth(5).click()
    page.locator(".cockpit").evaluate("(bar) => scrollTo(0, bar.offsetTop)")


def show_a_head(page) -> None:
    page.locator("#map .cross .dot").nth(9).click()
    page.locator(".head-numbers table").wait_for(timeout=30_000)
    page.locator(".cockpit").evaluate("(bar) => scrollTo(0, bar.offsetTop)")


def show_the_beam(page) -> None:
    page.locator("#tree-title").evaluate("(title) => scrollTo(0, title.getBoundingClientRect().top - 90)")


@pytest.mark.parametrize(
    ("name", "scheme", "size", "look"),
    [
        ("glass-box-light", "light", (1280, 1180), show_a_word),
        ("glass-box-block", "light", (1280, 1060), show_a_block),
        ("glass-box-dark", "dark", (1280, 760), show_a_head),
        ("glass-box-beam", "light", (1280, 700), show_the_beam),
        ("glass-box-phone", "dark", (390, 844), show_a_word),
    ],
)
def test_the_glass_box_has_its_picture_taken(page, address, tmp_path, name, scheme, size, look) -> None:
    folder = Path(os.environ.get("SCREENSHOTS") or tmp_path)
    page.set_viewport_size({"width": size[0], "height": size[1]})
    page.emulate_media(color_scheme=scheme, reduced_motion="reduce")
    page.goto(f"{address}/inspect")
    page.locator("body[data-ready]").wait_for(timeout=30_000)
    look(page)
    picture = page.screenshot(path=folder / f"{name}.png")
    assert 0 < len(picture) < LARGEST_FILE
