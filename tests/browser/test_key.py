"""A service that wants a key, and the page of a person who has one."""

import json
import urllib.request
from collections.abc import Iterator
from typing import Any

import pytest

from service.keys import hash_of, make_key

KEY = make_key()
SECONDS = 30_000  # in milliseconds, as Playwright wants it


@pytest.fixture(scope="module")
def address(serving) -> Iterator[str]:
    """In place of the service for everybody: `page` opens this one, for a person who never gave a key."""
    with serving("--api-keys", f"reader={hash_of(KEY)}") as address:
        yield address


@pytest.fixture(autouse=True)
def no_address_holds_the_key(watch) -> Iterator[None]:
    yield
    assert [url for url in watch.requests if KEY in url] == []


def give(page, key: str) -> None:
    page.get_by_label("API key").fill(key)
    page.get_by_role("button", name="Use this key").click()


def wait_for_translation(page) -> None:
    page.locator("#translation:not([aria-busy]):not(:empty)").wait_for(timeout=SECONDS)


def posts(page) -> list[Any]:
    sent: list[Any] = []
    page.on("request", lambda request: sent.append(request) if request.method == "POST" else None)
    return sent


def test_the_service_says_that_it_wants_a_key(address) -> None:
    with urllib.request.urlopen(f"{address}/v1/models", timeout=20) as response:
        assert json.load(response)["key_required"] is True


def test_without_a_key_nothing_is_sent_and_the_field_gets_the_focus(page) -> None:
    sent = posts(page)
    assert page.get_by_label("API key").is_visible()
    page.get_by_label("Text to translate").fill("Good morning!")
    page.wait_for_timeout(1000)
    assert page.evaluate("document.activeElement.id") == "text", "typing is not interrupted"
    page.get_by_role("button", name="Translate").click()
    assert page.evaluate("document.activeElement.id") == "key"
    assert sent == []


def test_a_key_opens_the_page_and_is_kept_in_the_browser_alone(page, watch) -> None:
    sent = posts(page)
    page.get_by_label("Text to translate").fill("Good morning!")
    page.get_by_label("API key").fill(KEY)
    page.keyboard.press("Enter")
    wait_for_translation(page)
    assert {request.headers["authorization"] for request in sent} == {f"Bearer {KEY}"}
    assert all(KEY not in (request.post_data or "") for request in sent)
    assert not page.locator("#access").is_visible()
    assert page.evaluate("JSON.parse(localStorage.getItem('dragoman.key'))") == KEY
    assert page.context.cookies() == []
    page.reload()
    wait_for_translation(page)
    assert not page.locator("#access").is_visible()
    assert watch.console_errors == []


def test_a_wrong_key_is_said_beside_the_field_and_the_right_one_helps(page) -> None:
    page.get_by_label("Text to translate").fill("Good morning!")
    for wrong in ("wrong", "ключ"):
        give(page, wrong)
        refusal = page.get_by_role("alert").filter(has_text="This key is not known here.")
        refusal.wait_for(timeout=SECONDS)
        assert page.get_by_label("API key").get_attribute("aria-invalid") == "true"
        assert page.get_by_label("API key").get_attribute("aria-errormessage") == "refused"
    give(page, KEY)
    wait_for_translation(page)
    assert not page.locator("#refused").is_visible()


def test_a_key_that_is_taken_away_is_asked_for_anew(page) -> None:
    give(page, KEY)
    page.route("**/v1/translate", refuse)
    page.get_by_label("Text to translate").fill("Good morning!")
    page.get_by_role("alert").filter(has_text="not known here").wait_for(timeout=SECONDS)
    assert page.locator("#translation").inner_text() == ""


def refuse(route) -> None:
    error = {"error": {"code": "wrong_key", "message": "This API key is not known."}}
    route.fulfill(status=403, json=error)


def test_a_key_can_be_changed_and_forgotten_by_keyboard(page) -> None:
    give(page, KEY)
    button = page.locator("#change-key")
    button.focus()
    page.keyboard.press("Enter")
    assert page.evaluate("document.activeElement.id") == "key"
    assert page.get_by_label("API key").input_value() == "", "it is never shown again"
    page.keyboard.press("Tab")
    page.keyboard.press("Tab")
    assert page.evaluate("document.activeElement.id") == "forget-key"
    page.keyboard.press("Enter")
    assert page.evaluate("localStorage.getItem('dragoman.key')") == '""'
    assert page.locator("#access").is_visible()


def test_files_and_glossaries_go_with_the_key(page) -> None:
    give(page, KEY)
    page.get_by_label("From", exact=True).select_option("English")
    page.locator("#files summary").click()
    file = {"name": "letter.txt", "mimeType": "text/plain", "buffer": b"Good morning!\n"}
    page.locator("#file").set_input_files(file)
    page.get_by_role("link", name="Save the translation").wait_for(timeout=SECONDS)
    page.locator("#glossary summary").click()
    page.get_by_label("Term", exact=True).fill("harbour")
    page.get_by_label("Its translation").fill("Seehafen")
    page.keyboard.press("Enter")
    page.get_by_label("Text to translate").fill("The harbour is quiet today.")
    wait_for_translation(page)
    assert "Seehafen" in page.locator("#translation").inner_text()


def test_a_file_without_a_key_is_not_sent(page) -> None:
    sent = posts(page)
    page.locator("#files summary").click()
    file = {"name": "letter.txt", "mimeType": "text/plain", "buffer": b"Good morning!\n"}
    page.locator("#file").set_input_files(file)
    assert page.evaluate("document.activeElement.id") == "key"
    assert sent == []


def test_the_glass_box_wants_the_same_key_and_shares_it(page, address) -> None:
    page.goto(f"{address}/inspect")
    give(page, KEY)
    page.locator("body[data-ready]").wait_for(timeout=SECONDS)
    page.locator("#map .cross .dot").nth(0).click()
    page.locator(".head-numbers table").wait_for(timeout=SECONDS)
    page.reload()
    page.locator("body[data-ready]").wait_for(timeout=SECONDS)
    assert not page.locator("#access").is_visible()


def test_examples_for_programs_have_a_place_for_the_key_and_never_the_key(page) -> None:
    give(page, KEY)
    page.locator("#programs summary").click()
    for name in page.locator("#kind option").all_inner_texts():
        page.locator("#kind").select_option(name)
        code = page.locator("#snippet").inner_text()
        assert "YOUR_KEY" in code and KEY not in code


@pytest.mark.parametrize(
    ("code", "label"), [("de", "API-Schlüssel"), ("fr", "Clé d’API"), ("zh", "API 密钥")]
)
def test_the_field_speaks_the_language_of_the_page(page, code, label) -> None:
    page.locator("#interface").select_option(code)
    page.get_by_label(label).locator("visible=true").first.wait_for()
    assert page.locator("#key-hint").inner_text()


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_axe_and_the_contrast_check_find_nothing(page, violations, too_faint, scheme) -> None:
    page.emulate_media(color_scheme=scheme, reduced_motion="reduce")
    page.get_by_label("Text to translate").fill("Good morning!")
    give(page, "wrong")
    page.locator("#refused").wait_for(timeout=SECONDS)
    assert violations(page) == []
    assert page.evaluate(too_faint) == []
    page.set_viewport_size({"width": 320, "height": 740})
    assert page.evaluate("document.documentElement.scrollWidth") <= 320
