"""What a person does with the glass box, in a real browser, against the real model."""

import json
import re
import urllib.request
from typing import Any

import pytest

SENTENCE = "I would like a cup of coffee, please."
PATIENCE = 30_000  # milliseconds


@pytest.fixture
def box(page, address, watch):
    """The open glass box, without motion: everything is decoded and shown."""
    page.emulate_media(reduced_motion="reduce")
    page.goto(f"{address}/inspect#from=en&to=de&text={SENTENCE.replace(' ', '+')}")
    page.locator("body[data-ready]").wait_for(timeout=PATIENCE)
    yield page
    assert watch.console_errors == []


def inspected(address: str, **changes: Any) -> dict[str, Any]:
    """The oracle: what the API says without a page between."""
    body = {"text": SENTENCE, "source": "en", "target": "de"} | changes
    request = urllib.request.Request(
        f"{address}/v1/inspect", json.dumps(body).encode(), {"Content-Type": "application/json"}
    )
    with urllib.request.urlopen(request, timeout=30) as response:
        answer: dict[str, Any] = json.load(response)
    return answer


def said(page) -> list[str]:
    texts: list[str] = page.locator(".said text:not(.id)").all_text_contents()
    return texts


def wait_until_asked(page, act) -> None:
    with page.expect_response("**/v1/inspect"):
        act()
    page.locator("#stage:not([aria-busy])").wait_for()


def test_it_shows_what_the_service_says(box, address) -> None:
    answer = inspected(address)
    pieces = [choice["chosen"]["piece"].replace("▁", "") for choice in answer["choices"]]
    assert [text.lstrip("·") for text in said(box)] == pieces
    assert box.locator(".chip.source").count() == len(answer["source"]["pieces"])
    assert box.locator(".tree .mark").count() == len(answer["tree"]["nodes"])
    assert box.locator(".tree .mark.best").count() == len(answer["tree"]["best"])
    layers = len(answer["encoder"]["layers"]) + 2 * len(answer["decoder"]["layers"])
    assert box.locator("#heads .multiple").count() == layers * answer["shape"]["heads"]


def test_pointing_at_a_word_shows_where_it_comes_from(box, address) -> None:
    chip = box.locator(".said").nth(4)
    chip.hover()
    told = box.locator("#flow-summary").inner_text()
    assert re.fullmatch(r"“.+” takes from: .+ \d+%.*", told)
    lit = box.locator(".source .lit").evaluate_all(
        "(all) => all.map((one) => Number(one.getAttribute('opacity')))"
    )
    assert max(lit) > 0.2 and min(lit) == 0
    box.locator(".said").nth(1).focus()
    assert box.locator("#flow-summary").inner_text() != told, "the keyboard does the same"


def test_decoding_is_shown_step_by_step(box) -> None:
    whole = said(box)
    box.get_by_role("button", name="One step back").click()
    assert said(box) == whole[:-1]
    box.get_by_label("Position of the translation").focus()
    box.keyboard.press("Home")
    assert said(box) == whole[:1]
    box.get_by_role("button", name="One step on").click()
    assert said(box) == whole[:2]
    box.get_by_role("button", name="Play").click()
    box.get_by_role("button", name="Pause").wait_for()
    box.locator(".said").nth(len(whole) - 1).wait_for(timeout=PATIENCE)
    box.get_by_role("button", name="Play").wait_for()


def test_the_way_leads_from_the_sentence_to_a_block_to_a_head_and_back(box) -> None:
    box.get_by_role("button", name="Open Decoder 2").focus()
    box.keyboard.press("Enter")
    assert box.locator("#block h3").all_inner_texts()[:3] == [
        "Target about itself",
        "Target about source",
        "Feed-forward",
    ]
    box.get_by_role("button", name="Open Target about source 2, Head 1", exact=True).first.click()
    box.locator(".head-numbers table").wait_for(timeout=PATIENCE)
    assert box.locator("#crumbs li").all_inner_texts() == [
        "The whole sentence",
        "Decoder 2",
        "Target about source, Head 1",
    ]
    box.locator("#crumbs button").first.click()
    assert box.locator("#flow").is_visible() and not box.locator("#head").is_visible()


def test_the_numbers_of_a_head_are_those_of_the_service_and_follow_the_row(box, address) -> None:
    box.locator("#map .cross .dot").first.click()
    rows = box.locator(".head-numbers tbody tr")
    rows.first.wait_for(timeout=PATIENCE)
    weights = inspected(address)["decoder"]["layers"][0]["cross"][0]
    assert rows.count() == len(weights[0])
    box.locator(".large-map").focus()
    box.keyboard.press("ArrowUp")
    shown = box.locator(".head-numbers tbody td:nth-child(4)").all_inner_texts()
    assert [float(number) for number in shown] == pytest.approx(weights[-2], abs=0.0006)
    assert box.locator(".large-map").evaluate("(map) => map === document.activeElement")


def test_a_piece_that_is_clicked_is_forced_and_the_rest_decoded_anew(box, address) -> None:
    box.get_by_label("Position of the translation").focus()
    box.keyboard.press("Home")
    other = inspected(address)["choices"][0]["alternatives"][1]
    wait_until_asked(box, lambda: box.locator("#next button").nth(1).click())
    assert said(box)[0] == other["piece"].replace("▁", "")
    box.keyboard.press("End")
    expected = inspected(address, prefix=[other["id"]])["shown"]["text"]
    assert box.locator("#compare .text").first.inner_text() == expected
    wait_until_asked(box, lambda: box.get_by_role("button", name="As it is served").click())
    assert box.locator("#compare .text").first.inner_text() == inspected(address)["shown"]["text"]


def test_a_branch_of_the_tree_can_be_forced(box) -> None:
    branch = box.locator(".tree .mark.kept:not(.best)").nth(2)
    branch.hover()
    text, _, numbers = box.locator("#tree-told").inner_text().partition(" — ")
    assert re.search(r"% likely here, sum −\d+\.\d\d, score −\d+\.\d\d; goes on", numbers)
    wait_until_asked(box, lambda: branch.click())
    assert box.locator("#compare .text").first.inner_text().startswith(text)


def test_sliders_and_switches_change_what_is_asked(box) -> None:
    with box.expect_request("**/v1/inspect") as first:
        box.get_by_label("Temperature").focus()
        box.keyboard.press("ArrowRight")
    assert first.value.post_data_json["temperature"] == pytest.approx(1.05)
    box.locator("#stage:not([aria-busy])").wait_for()
    with box.expect_request("**/v1/inspect") as second:
        box.locator("#heads [role=switch]").first.click()
    assert second.value.post_data_json["silent_heads"] == [{"part": "encoder", "layer": 0, "head": 0}]
    box.locator("#stage:not([aria-busy])").wait_for()
    assert box.locator("#heads [role=switch]").first.get_attribute("aria-checked") == "false"
    wait_until_asked(box, lambda: box.locator("#silent button").click())
    assert box.locator("#heads [role=switch][aria-checked=false]").count() == 0


def test_a_patient_search_has_a_bushier_tree(box) -> None:
    few = box.locator(".tree .mark.kept").count()
    with box.expect_request("**/v1/inspect") as asked:
        box.get_by_label("Margin").focus()
        box.keyboard.press("End")
    assert asked.value.post_data_json["margin"] == 20
    box.locator("#stage:not([aria-busy])").wait_for()
    assert box.locator(".tree .mark.kept").count() > few


def test_greedy_can_be_looked_at_instead_of_beam(box, address) -> None:
    wait_until_asked(box, lambda: box.get_by_label("Greedy").check())
    greedy = inspected(address, follow="greedy")["shown"]["pieces"]
    assert [text.lstrip("·") for text in said(box)][: len(greedy)] == [
        piece.replace("▁", "") for piece in greedy
    ]


def test_an_error_is_said(box, watch) -> None:
    box.get_by_label("Sentence to look at").fill("coffee " * 80)
    box.keyboard.press("Enter")
    alert = box.get_by_role("alert")
    box.locator("#notice:not(:empty)").wait_for(timeout=PATIENCE)
    assert "64" in alert.inner_text() or "120" in alert.inner_text()
    assert ["413" in error for error in watch.console_errors] == [True], "the browser's own note"
    watch.console_errors.clear()


def test_views_link_to_the_code_that_runs(box) -> None:
    box.locator("a.code", has_text="model/search/beam.py").click()
    box.locator("li.meant").first.wait_for()
    assert "def beam_search" in box.locator("li.meant").first.inner_text()
    assert box.locator("h1").inner_text() == "model/search/beam.py"


LEVELS = {
    "sentence": lambda page: None,
    "block": lambda page: page.locator("#map .block-name").last.click(),
    "head": lambda page: page.locator("#map .cross .dot").last.click(),
}


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("level", LEVELS)
def test_nothing_is_too_faint_and_axe_finds_nothing(box, violations, too_faint, scheme, level) -> None:
    box.emulate_media(color_scheme=scheme, reduced_motion="reduce")
    LEVELS[level](box)
    if level == "head":
        box.locator(".head-numbers table").wait_for(timeout=PATIENCE)
    box.mouse.move(0, 0)
    box.evaluate("scrollTo(0, 0)")  # or the bar that stays in sight lies over a control
    assert box.evaluate(too_faint) == []
    assert violations(box) == []


@pytest.mark.parametrize("width", [320, 390, 768])
def test_nothing_is_wider_than_the_screen(box, width) -> None:
    box.set_viewport_size({"width": width, "height": 740})
    for open_level in LEVELS.values():
        open_level(box)
        assert box.evaluate("document.documentElement.scrollWidth") <= width


def test_every_control_can_be_reached_by_tab(box) -> None:
    wanted = box.evaluate(
        """() => [...document.querySelectorAll("button, input, select, textarea, a, summary, [role=button]")]
             .filter((it) => it.checkVisibility() && !it.disabled && it.tabIndex >= 0).length"""
    )
    reached = set()
    for _ in range(wanted + 40):
        box.keyboard.press("Tab")
        active = box.evaluate(
            """() => { const it = document.activeElement; it.dataset.reached ??= String(Math.random());
                       return it === document.body ? null : it.dataset.reached; }"""
        )
        if active:
            reached.add(active)
    unreached = box.evaluate(
        """() => [...document.querySelectorAll(
                 "button, input:not([type=radio]), select, textarea, a, summary, [role=button]")]
             .filter((it) => it.checkVisibility() && !it.disabled && it.dataset.reached === undefined)
             .map((it) => it.outerHTML.slice(0, 100))"""
    )
    assert unreached == []


@pytest.mark.parametrize(
    ("code", "title"), [("de", "Der Glaskasten"), ("fr", "La boîte de verre"), ("zh", "玻璃盒")]
)
def test_it_speaks_other_languages(box, code, title) -> None:
    box.locator("#interface").select_option(code)
    box.locator("h1", has_text=title).wait_for()
    box.locator("body[data-ready]").wait_for(timeout=PATIENCE)
