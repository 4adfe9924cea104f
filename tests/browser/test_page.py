"""What a person does with the page, in a real browser, against the real service."""

import json
import re
import urllib.request
from typing import Any

import pytest

TWO_PARAGRAPHS = "The harbour is quiet today.\n\nWe are waiting for the last ship."
MARKUP = "<img src=x onerror=alert(1)><script>alert(2)</script> & <b>bold</b>"
SECONDS_TO_ANSWER = 30_000  # in milliseconds, as Playwright wants it


def answer_of_service(address: str, body: dict[str, Any]) -> dict[str, Any]:
    """The oracle: what the API says to the same request for one text without a page between."""
    request = urllib.request.Request(
        f"{address}/v1/translate", json.dumps(body).encode(), {"Content-Type": "application/json"}
    )
    with urllib.request.urlopen(request, timeout=30) as response:
        translation: dict[str, Any] = json.load(response)["translation"]
    return translation


def wait_for_answer(page: Any) -> str:
    """The shown translation, once there is one that is not being replaced."""
    page.locator("#translation:not([aria-busy]):not(:empty)").wait_for(timeout=SECONDS_TO_ANSWER)
    text: str = page.locator("#translation").text_content()
    return text


def translate(page: Any, text: str) -> str:
    page.get_by_label("Text to translate").fill(text)
    page.get_by_role("button", name="Translate").click()
    return wait_for_answer(page)


def wait_for_error(page: Any) -> str:
    alert = page.get_by_role("alert")
    alert.wait_for(timeout=SECONDS_TO_ANSWER)
    text: str = alert.inner_text()
    return text


def chosen_languages(page: Any) -> tuple[str, str]:
    return page.get_by_label("From", exact=True).input_value(), page.get_by_label(
        "To", exact=True
    ).input_value()


def sent_bodies(page: Any) -> list[dict[str, Any]]:
    """Bodies of the translation requests from now on; the list grows as they are sent."""
    bodies: list[dict[str, Any]] = []
    page.on(
        "request", lambda request: bodies.append(request.post_data_json) if request.method == "POST" else None
    )
    return bodies


def test_the_button_shows_what_the_service_answers(page, address, watch) -> None:
    shown = translate(page, TWO_PARAGRAPHS)
    body = {"text": TWO_PARAGRAPHS, "source": "auto", "target": "de"}
    decoding = {"strategy": "beam", "beam_size": 5, "n_best": 1}
    assert shown == answer_of_service(address, body | {"decoding": decoding})["text"]
    assert page.locator("#translation").get_attribute("lang") == "de"
    assert watch.console_errors == []


def test_a_text_is_translated_as_it_is_typed_and_few_requests_are_sent(page) -> None:
    bodies = sent_bodies(page)
    page.get_by_label("Text to translate").press_sequentially("Where is the next train station?", delay=20)
    wait_for_answer(page)
    assert bodies[-1]["text"] == "Where is the next train station?"
    assert len(bodies) <= 3


def test_a_long_text_is_read_while_it_is_still_being_translated(page) -> None:
    page.evaluate(
        """() => new MutationObserver(() => (window.seen ??= []).push(translation.textContent))
             .observe(translation, { childList: true })"""
    )
    shown = translate(page, " ".join(f"This is sentence number {number}." for number in range(1, 9)))
    grown = [text for text in page.evaluate("window.seen") if text]
    assert len(set(grown)) >= 3 and grown[-1] == shown
    assert all(shown.startswith(text) for text in grown)


def test_the_language_is_detected_and_shown(page) -> None:
    translate(page, "The weather is nice today and we are going to the harbour.")
    assert re.fullmatch(r"English, \d+% sure", page.locator("#detected").inner_text())
    assert chosen_languages(page) == ("auto", "de")


def test_who_writes_in_the_language_that_was_wanted_gets_the_other_one(page) -> None:
    bodies = sent_bodies(page)
    page.get_by_label("Text to translate").fill("Das Wetter ist heute schön, und wir gehen zum Hafen.")
    page.locator("#target:has(option[value=en]:checked)").wait_for(timeout=SECONDS_TO_ANSWER)
    wait_for_answer(page)
    assert [body["target"] for body in bodies] == ["de", "en"]


def test_a_link_holds_the_text_and_no_request_does(page, address, watch) -> None:
    translate(page, TWO_PARAGRAPHS)
    page.get_by_role("button", name="Copy link").click()
    page.get_by_text("Link copied.").wait_for()
    link = page.url
    assert "#" in link and "harbour" in link
    page.goto("about:blank")
    page.goto(link)
    assert wait_for_answer(page)
    assert page.get_by_label("Text to translate").input_value() == TWO_PARAGRAPHS
    assert [url for url in watch.requests if "harbour" in url.partition("#")[0]] == []


def test_a_history_is_kept_in_the_browser_until_it_is_forgotten(page) -> None:
    shown = translate(page, "Good morning!")
    page.locator("#history summary").click()
    entry = page.locator("#past button")
    entry.wait_for(timeout=SECONDS_TO_ANSWER)
    assert entry.locator("span").all_inner_texts() == ["Good morning!", shown]
    page.get_by_label("Text to translate").fill("")
    entry.click()
    assert page.get_by_label("Text to translate").input_value() == "Good morning!"
    page.get_by_role("button", name="Forget all").click()
    assert page.locator("#past button").count() == 0
    assert page.evaluate("localStorage.getItem('dragoman.history')") == "[]"


def test_terms_of_the_glossary_are_sent_and_obeyed(page) -> None:
    page.get_by_label("From", exact=True).select_option("English")
    page.locator("#glossary summary").click()
    page.get_by_label("Term", exact=True).fill("harbour")
    page.get_by_label("Its translation").fill("Seehafen")
    page.keyboard.press("Enter")
    bodies = sent_bodies(page)
    assert "Seehafen" in translate(page, "The harbour is quiet today.")
    assert bodies[-1]["terms"] == {"harbour": "Seehafen"}
    page.reload()
    page.locator("#translate:enabled").wait_for()
    page.get_by_label("From", exact=True).select_option("English")
    page.locator("#glossary summary").click()
    page.get_by_role("button", name="Remove harbour").click()
    assert page.locator("#terms li").count() == 0


def test_a_file_is_translated_and_fetched(page, tmp_path) -> None:
    page.get_by_label("From", exact=True).select_option("English")
    page.locator("#files summary").click()
    file = {"name": "letter.txt", "mimeType": "text/plain", "buffer": b"Good morning!\n\nGood night!\n"}
    page.locator("#file").set_input_files(file)
    link = page.get_by_role("link", name="Save the translation")
    link.wait_for(timeout=SECONDS_TO_ANSWER)
    with page.expect_download() as download:
        link.click()
    assert download.value.suggested_filename == "letter.txt"
    first, blank, second, end = download.value.path().read_text(encoding="utf-8").split("\n")
    assert first and second and blank == end == ""


def test_a_file_that_cannot_be_read_is_refused_with_the_reason(page) -> None:
    page.locator("#files summary").click()
    file = {"name": "photo.jpg", "mimeType": "image/jpeg", "buffer": b"\xff\xd8\xff"}
    page.locator("#file").set_input_files(file)
    alert = page.locator("#uploads [role=alert]")
    alert.wait_for(timeout=SECONDS_TO_ANSWER)
    assert alert.inner_text().startswith("photo.jpg: ")


@pytest.mark.parametrize("kind", range(6))
def test_each_example_for_programs_is_the_request_of_the_page(page, address, kind) -> None:
    page.get_by_label("Text to translate").fill("It's late.")
    page.locator("#programs summary").click()
    name = page.locator("#kind option").nth(kind).inner_text()
    page.locator("#kind").select_option(name)
    code = page.locator("#snippet").inner_text()
    assert address in code
    if name.startswith("Python"):
        compile(code, name, "exec")
    else:
        assert code.count("'") % 2 == 0, "the quote in the text does not end the shell's"


@pytest.mark.parametrize(("code", "name"), [("de", "Übersetzen"), ("fr", "Traduire"), ("zh", "翻译")])
def test_the_page_speaks_other_languages(page, code, name) -> None:
    page.get_by_label("Text to translate").fill("Good morning!")
    page.locator("#interface").select_option(code)
    button = page.get_by_role("button", name=name, exact=True)
    button.wait_for()
    assert page.evaluate("document.documentElement.lang") == code
    wait_for_answer(page)
    assert page.locator("#text").input_value() == "Good morning!"


@pytest.mark.parametrize("keys", ["Control+Enter", "Meta+Enter"])
def test_the_keyboard_translates_as_the_button_does(page, keys) -> None:
    by_button = translate(page, TWO_PARAGRAPHS)
    page.reload()
    page.locator("#translate:enabled").wait_for()
    page.get_by_label("Text to translate").fill(TWO_PARAGRAPHS)
    page.keyboard.press(keys)
    assert wait_for_answer(page) == by_button
    assert page.get_by_label("Text to translate").input_value() == TWO_PARAGRAPHS, "no line was broken"


def test_the_blank_line_between_paragraphs_is_kept(page) -> None:
    shown = translate(page, TWO_PARAGRAPHS)
    first, blank, second = shown.split("\n")
    assert first and second and blank == ""
    assert page.locator("#translation").evaluate("(box) => getComputedStyle(box).whiteSpace") == "pre-wrap"


def test_the_time_and_the_score_are_shown(page) -> None:
    translate(page, TWO_PARAGRAPHS)
    assert re.fullmatch(r"\d+\.\d+ s · score −?\d+\.\d\d", page.locator("#facts").inner_text())


def test_characters_are_counted_as_people_count_them(page) -> None:
    text = page.get_by_label("Text to translate")
    text.fill("Grüß Gott 😀")
    assert page.locator("#count").inner_text() == "11 characters"
    text.fill("a")
    assert page.locator("#count").inner_text() == "1 character"


def test_swapping_exchanges_languages_and_texts_and_swapping_again_restores_them(page) -> None:
    shown = translate(page, TWO_PARAGRAPHS)
    page.get_by_role("button", name="Swap languages").click()
    assert chosen_languages(page) == ("de", "en")
    assert page.get_by_label("Text to translate").input_value() == shown
    assert page.locator("#translation").text_content() == TWO_PARAGRAPHS
    assert page.locator("#translation").get_attribute("lang") == "en"
    page.get_by_role("button", name="Swap languages").click()
    assert chosen_languages(page) == ("en", "de"), "the language that was detected has its name now"
    assert page.get_by_label("Text to translate").input_value() == TWO_PARAGRAPHS
    assert page.locator("#translation").text_content() == shown


def test_swapping_before_translating_keeps_what_was_typed(page) -> None:
    page.get_by_label("From", exact=True).select_option("English")
    page.get_by_label("Text to translate").fill("Guten Morgen!")
    bodies = sent_bodies(page)
    page.get_by_role("button", name="Swap languages").click()
    assert page.get_by_label("Text to translate").input_value() == "Guten Morgen!"
    wait_for_answer(page)
    assert (bodies[0]["source"], bodies[0]["target"]) == ("de", "en")


def test_both_directions_of_the_model_are_offered_by_name(page) -> None:
    names = page.get_by_label("From", exact=True).locator("option").all_inner_texts()
    assert names[0] == "Detect language" and sorted(names[1:]) == ["English", "German"]
    assert sorted(page.get_by_label("To", exact=True).locator("option").all_inner_texts()) == [
        "English",
        "German",
    ]
    page.get_by_label("From", exact=True).select_option("German")
    assert page.get_by_label("To", exact=True).locator("option").all_inner_texts() == ["English"]


def test_the_chosen_search_is_sent(page) -> None:
    bodies = sent_bodies(page)
    translate(page, "Good morning!")
    page.get_by_label("Beam size").fill("3")
    translate(page, "Good evening!")
    page.get_by_label("Greedy", exact=True).check()
    translate(page, "Good night!")
    assert [body["decoding"] for body in bodies] == [
        {"strategy": "beam", "beam_size": 5, "n_best": 1},
        {"strategy": "beam", "beam_size": 3, "n_best": 1},
        {"strategy": "greedy"},
    ]
    assert page.get_by_label("Beam size").is_disabled()


def test_alternatives_are_listed_with_their_scores(page, address) -> None:
    page.get_by_label("Translations to show").fill("3")
    translate(page, "The last ship is late.")
    decoding = {"strategy": "beam", "beam_size": 5, "n_best": 3}
    body = {"text": "The last ship is late.", "source": "en", "target": "de", "decoding": decoding}
    expected = answer_of_service(address, body)["alternatives"]
    assert 1 <= len(expected) <= 2, "two were asked for; equal ones are told once"
    items = page.locator("#alternatives li")
    assert items.locator("span:first-child").all_text_contents() == [other["text"] for other in expected]
    shown_scores = items.locator("span:last-child").all_inner_texts()
    assert shown_scores == [f"score {other['score']:.2f}".replace("-", "−") for other in expected]


def test_a_new_request_ends_the_one_before_it(page) -> None:
    held: list[Any] = []
    ended: list[str] = []
    page.on("requestfailed", lambda request: ended.append(request.post_data_json["text"]))
    page.route("**/v1/translate", lambda route: route.continue_() if held else held.append(route))
    page.get_by_label("Text to translate").fill("The first text.")
    with page.expect_request("**/v1/translate"):
        page.keyboard.press("Control+Enter")
    page.locator("#translation[aria-busy]").wait_for(state="attached")
    shown = translate(page, "The second text.")
    page.unroute_all()
    # Where the machine is slow, the page may begin by itself while the test still presses the keys.
    assert ended[0] == "The first text."
    assert set(ended[1:]) <= {"The second text."}
    assert shown == translate(page, "The second text.")


def test_copying_puts_the_translation_on_the_clipboard(page, address) -> None:
    page.context.grant_permissions(["clipboard-read", "clipboard-write"], origin=address)
    assert page.get_by_role("button", name="Copy", exact=True).is_disabled()
    shown = translate(page, TWO_PARAGRAPHS)
    page.get_by_role("button", name="Copy", exact=True).click()
    page.get_by_text("Copied", exact=True).wait_for()
    assert page.evaluate("navigator.clipboard.readText()") == shown


def test_copying_works_where_the_page_has_no_clipboard_object(page) -> None:
    """As over plain http from another machine."""
    page.add_init_script("Object.defineProperty(Navigator.prototype, 'clipboard', { value: undefined })")
    page.reload()
    page.locator("#translate:enabled").wait_for()
    page.evaluate("addEventListener('copy', () => { window.copied = String(getSelection()); })")
    shown = translate(page, TWO_PARAGRAPHS)
    page.get_by_role("button", name="Copy", exact=True).click()
    page.get_by_text("Copied", exact=True).wait_for()
    assert page.evaluate("window.copied") == shown


def test_markup_that_a_user_types_is_shown_literally(page, watch) -> None:
    page.get_by_label("From", exact=True).select_option("English")
    translate(page, MARKUP)
    page.get_by_role("button", name="Swap languages").click()  # brings what was typed into the answer's box
    assert page.locator("#translation").text_content() == MARKUP
    assert page.locator("#translation > *").count() == 0
    assert watch.console_errors == []


def test_markup_in_an_answer_is_shown_literally(page) -> None:
    """A model may say anything: the answer, its alternatives and an error's message are hostile here."""
    other = {"text": MARKUP, "score": -1.0, "truncated": False}
    page.route(
        "**/v1/translate",
        lambda route: route.fulfill(json={"translation": other | {"alternatives": [other]}}),
    )
    assert translate(page, "anything") == MARKUP
    assert page.locator("#alternatives li span:first-child").text_content() == MARKUP
    page.unroute_all()
    error = {"error": {"code": MARKUP, "message": MARKUP, "field": MARKUP}}
    page.route("**/v1/translate", lambda route: route.fulfill(status=400, json=error))
    page.get_by_role("button", name="Translate").click()
    assert wait_for_error(page).count("onerror=alert(1)") == 2
    assert page.locator("main img, main b, main script").count() == 0


def test_markup_in_names_of_files_languages_and_models_is_shown_literally(page) -> None:
    page.locator("#files summary").click()
    file = {"name": "<img src=x onerror=alert(3)>.jpg", "mimeType": "image/jpeg", "buffer": b"\xff\xd8"}
    page.locator("#file").set_input_files(file)
    refused = page.locator("#uploads [role=alert]")
    refused.wait_for(timeout=SECONDS_TO_ANSWER)
    assert "<img" in refused.inner_text() and refused.locator("*").count() == 0
    name = '"><svg onload=alert(4)>'
    directions = [{"source": name, "target": "de"}, {"source": "de", "target": name}]
    model = {"name": name, "directions": directions, "languages": ["de", name]}
    limits = {"max_text_characters": 100}
    answer = {"models": [model], "limits": limits, "key_required": False}
    page.route("**/v1/models", lambda route: route.fulfill(json=answer))
    page.reload()
    page.locator("#translate:enabled").wait_for()
    assert name in page.locator("#model").inner_text()
    assert name in page.locator("#source option").all_inner_texts()
    assert page.locator("svg[onload], img[onerror]").count() == 0


def test_markup_in_the_address_is_text_like_any_other(page, address) -> None:
    markup = "%3Cscript%3Ealert(5)%3C/script%3E"
    page.goto(
        f"{address}/?q={markup}&source=%22%3E%3Csvg%20onload=alert(6)%3E#text={markup}&from=en&to=%3Cb%3E"
    )
    page.locator("#translate:enabled").wait_for()
    wait_for_answer(page)
    assert page.get_by_label("Text to translate").input_value() == "<script>alert(5)</script>"
    assert page.locator("body script, svg[onload]").count() == 0


def test_an_error_of_the_service_is_shown_and_marks_the_field(page) -> None:
    page.get_by_label("Text to translate").fill("Good morning!")
    page.get_by_label("Beam size").fill("65")
    page.keyboard.press("Control+Enter")
    message = wait_for_error(page)
    assert "beam_size" in message and "64" in message
    assert page.get_by_label("Beam size").get_attribute("aria-invalid") == "true"
    page.get_by_label("Beam size").fill("2")
    page.keyboard.press("Control+Enter")
    wait_for_answer(page)
    assert page.get_by_role("alert").count() == 0
    assert page.get_by_label("Beam size").get_attribute("aria-invalid") is None


def test_an_old_answer_does_not_stand_beside_an_error(page) -> None:
    translate(page, "Good morning!")
    page.get_by_label("Text to translate").fill("a" * 20_001)
    assert page.locator("#count").inner_text() == "20,001 characters, 20,000 are allowed"
    page.get_by_role("button", name="Translate").click()
    assert "20" in wait_for_error(page)
    assert page.locator("#translation").text_content() == ""
    assert page.get_by_role("button", name="Copy", exact=True).is_disabled()


def test_a_lost_network_is_said_and_the_text_is_kept(page) -> None:
    page.get_by_label("Text to translate").fill("Good morning!")
    page.context.set_offline(True)
    page.get_by_role("button", name="Translate").click()
    assert "cannot be reached" in wait_for_error(page)
    page.context.set_offline(False)
    assert page.get_by_label("Text to translate").input_value() == "Good morning!"
    page.get_by_role("button", name="Translate").click()
    wait_for_answer(page)


@pytest.mark.parametrize("status", [200, 502])
def test_an_answer_that_is_not_json_is_an_error(page, status) -> None:
    page.route("**/v1/translate", lambda route: route.fulfill(status=status, body="<html>gateway</html>"))
    page.get_by_label("Text to translate").fill("Good morning!")
    page.get_by_role("button", name="Translate").click()
    assert str(status) in wait_for_error(page)


def test_a_busy_service_says_when_to_come_back(page) -> None:
    error = {"error": {"code": "queue_full", "message": "Too much is waiting."}}
    page.route(
        "**/v1/translate", lambda route: route.fulfill(status=503, json=error, headers={"Retry-After": "7"})
    )
    page.get_by_label("Text to translate").fill("Good morning!")
    page.get_by_role("button", name="Translate").click()
    assert wait_for_error(page).startswith("Too much is waiting. Try again in 7 s.")


def test_a_page_opened_while_the_model_loads_becomes_usable_by_itself(page) -> None:
    refused: list[Any] = []
    error = {"error": {"code": "not_ready", "message": "The model is being loaded."}}

    def refuse_once(route: Any) -> None:
        if refused:
            route.continue_()
        else:
            refused.append(route)
            route.fulfill(status=503, json=error, headers={"Retry-After": "1"})

    page.route("**/v1/models", refuse_once)
    page.reload()
    page.get_by_text("The model is loading…").wait_for()
    assert page.get_by_role("button", name="Translate").is_disabled()
    page.locator("#translate:enabled").wait_for(timeout=10_000)
    translate(page, "Good morning!")


def test_where_no_key_is_needed_nobody_is_asked_for_one(page) -> None:
    assert not page.locator("#access").is_visible()
    assert not page.locator("#change-key").is_visible()


def test_an_empty_box_is_not_sent(page) -> None:
    bodies = sent_bodies(page)
    page.get_by_role("button", name="Translate").click()
    assert page.evaluate("document.activeElement.id") == "text"
    assert bodies == []
