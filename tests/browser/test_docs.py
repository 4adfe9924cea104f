"""The API as a page to read, without the internet."""

import pytest


@pytest.fixture
def docs(page):
    page.get_by_role("link", name="API", exact=True).click()
    page.locator(".operation").first.wait_for()
    return page


def test_every_operation_of_the_description_is_shown(docs, address, watch) -> None:
    paths = docs.request.get(f"{address}/openapi.json").json()["paths"]
    expected = [f"{method.upper()} {path}" for path, methods in paths.items() for method in methods]
    assert docs.locator(".operation h2").all_inner_texts() == expected
    assert docs.locator("#contents code").all_inner_texts() == expected
    assert watch.console_errors == []


def test_fields_within_an_object_are_named_in_full(docs) -> None:
    names = docs.locator("#post-v1-translate dt").all_inner_texts()
    assert {"text", "source", "target", "decoding.strategy", "decoding.beam_size"} <= set(names)


def test_the_contents_lead_to_each_operation(docs) -> None:
    for link in docs.locator("#contents a").all():
        assert docs.locator(link.get_attribute("href")).count() == 1


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_contrast_is_aa(docs, too_faint, scheme) -> None:
    docs.emulate_media(color_scheme=scheme)
    docs.locator("summary").first.click()
    assert docs.evaluate(too_faint) == []


def test_nothing_is_wider_than_a_phone(docs) -> None:
    docs.set_viewport_size({"width": 320, "height": 740})
    for summary in docs.locator("summary").all():
        summary.click()
    assert docs.evaluate("document.documentElement.scrollWidth") <= 320


def test_the_way_back_leads_to_the_translator(docs, address) -> None:
    docs.get_by_role("link", name="Translate", exact=True).click()
    docs.get_by_label("Text to translate").wait_for()
    assert docs.url == f"{address}/"
