"""The document as a page, in both languages."""

import pytest


@pytest.mark.parametrize("language", ["en", "zh"])
def test_the_document_is_read_with_its_pictures(page, address, violations, watch, language) -> None:
    page.goto(f"{address}/how-it-works/{language}")
    page.locator("#interface option").first.wait_for(state="attached")
    pictures = page.locator("main img").evaluate_all(
        "(all) => all.map((one) => one.complete && one.naturalWidth > 0)"
    )
    assert pictures and all(pictures)
    assert page.locator("main").get_attribute("lang") == language
    assert violations(page) == []
    for width in (320, 1200):
        page.set_viewport_size({"width": width, "height": 740})
        assert page.evaluate("document.documentElement.scrollWidth") <= width
    assert watch.console_errors == []
