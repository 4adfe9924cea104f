"""Who can use the page: by keyboard, by ear, with weak eyes, on a phone, behind a strict policy."""

import pytest

TAB_ORDER = [
    *[".", ".", "inspect", "how-it-works/en", "static/docs.html", "interface"],
    *["source", "swap", "target", "text", "translate", "look", "link", "copy"],
    *["strategy", "beam-size", "n-best", "files", "glossary", "history", "programs", "openapi.json"],
]
CLOSED = ["default-src", "base-uri", "form-action", "frame-ancestors"]
OWN_ONLY = ["script-src", "style-src", "connect-src"]
FOCUSED = """() => {
  const active = document.activeElement;
  const ring = active.type === "radio" ? active.nextElementSibling : active;
  const style = getComputedStyle(ring);
  return {
    name: active.id || active.name || active.getAttribute("href") || active.parentElement.id,
    ring: style.outlineStyle !== "none" && parseFloat(style.outlineWidth) >= 2,
  };
}"""


def show_translation(page) -> None:
    page.get_by_label("Text to translate").fill("The harbour is quiet today.\n\nWe wait for the last ship.")
    page.get_by_label("Translations to show").fill("3")
    page.keyboard.press("Control+Enter")
    page.locator("#translation:not([aria-busy]):not(:empty)").wait_for(timeout=30_000)


def show_error(page) -> None:
    page.get_by_label("Text to translate").fill("The harbour is quiet today.")
    page.get_by_label("Beam size").fill("65")
    page.keyboard.press("Control+Enter")
    page.get_by_role("alert").wait_for(timeout=30_000)


def leave_empty(page) -> None:
    """The page as it is opened."""


STATES = [leave_empty, show_translation, show_error]


def test_every_control_is_reached_by_tab_in_reading_order_and_shows_its_focus(page) -> None:
    page.keyboard.press("Tab")
    assert page.evaluate(FOCUSED)["name"] == TAB_ORDER[0], "nothing comes before it"
    show_translation(page)  # now there is something to copy
    page.locator(".brand").focus()
    for expected in TAB_ORDER[1:]:
        page.keyboard.press("Tab")
        assert page.evaluate(FOCUSED) == {"name": expected, "ring": True}


def test_every_control_has_a_name(page) -> None:
    unnamed = page.evaluate(
        """() => [...document.querySelectorAll("button, input, select, textarea, a")]
             .filter((it) => !(it.labels?.length || it.ariaLabel || it.textContent.trim()))
             .map((control) => control.outerHTML)"""
    )
    assert unnamed == []
    for label in ["From", "To", "Text to translate", "Beam", "Greedy", "Beam size", "Translations to show"]:
        assert page.get_by_label(label, exact=True).count() == 1
    for region in ["Source text", "Translation"]:
        assert page.get_by_role("region", name=region, exact=True).count() == 1


def test_the_strategy_is_changed_by_arrow_keys(page) -> None:
    page.get_by_label("Beam", exact=True).focus()
    page.keyboard.press("ArrowRight")
    assert page.get_by_label("Greedy", exact=True).is_checked()


def test_the_translation_is_announced_politely_and_an_error_at_once(page) -> None:
    assert page.locator("#translation").get_attribute("aria-live") == "polite"
    show_error(page)
    assert page.get_by_role("alert").is_visible()


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("reach_state", STATES, ids=lambda state: state.__name__)
def test_contrast_is_aa(page, too_faint, scheme, reach_state) -> None:
    page.emulate_media(color_scheme=scheme, reduced_motion="reduce")
    reach_state(page)
    page.mouse.move(0, 0)
    assert page.evaluate(too_faint) == []


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_axe_finds_nothing(page, violations, scheme) -> None:
    page.emulate_media(color_scheme=scheme, reduced_motion="reduce")
    show_translation(page)
    for name in ("files", "glossary", "history", "programs"):
        page.locator(f"#{name} summary").click()
        assert violations(page) == []


def test_the_contrast_check_finds_faint_text(page, too_faint) -> None:
    page.evaluate("document.getElementById('count').style.color = 'rgb(200, 200, 200)'")
    assert any("count" in finding for finding in page.evaluate(too_faint))


def test_dark_and_light_differ(page) -> None:
    grounds = []
    for scheme in ("light", "dark"):
        page.emulate_media(color_scheme=scheme)
        grounds.append(page.evaluate("getComputedStyle(document.body).backgroundColor"))
    assert grounds[0] != grounds[1]


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("width", [320, 360, 768, 1200])
def test_nothing_is_wider_than_the_screen(page, width, scheme) -> None:
    page.set_viewport_size({"width": width, "height": 740})
    page.emulate_media(color_scheme=scheme)
    show_translation(page)
    page.get_by_label("Text to translate").fill("Donaudampfschifffahrtsgesellschaft" * 20)
    page.evaluate("document.getElementById('translation').textContent = 'x'.repeat(900)")
    assert page.evaluate("document.documentElement.scrollWidth") <= width


def test_controls_are_large_enough_for_a_finger(page) -> None:
    """WCAG 2.2, success criterion 2.5.8: 24 CSS pixels each way."""
    page.set_viewport_size({"width": 360, "height": 740})
    for control in page.locator("button:visible, select, input[type=number], .segments label, summary").all():
        box = control.bounding_box()
        assert box["width"] >= 24 and box["height"] >= 24, control.evaluate("(element) => element.outerHTML")


def test_the_policy_is_strict_and_holds(page, address, watch) -> None:
    header = page.request.get(address).headers["content-security-policy"]
    policy = dict(directive.strip().split(" ", maxsplit=1) for directive in header.split(";"))
    assert {name: policy[name] for name in CLOSED} == dict.fromkeys(CLOSED, "'none'")
    assert {name: policy[name] for name in OWN_ONLY} == dict.fromkeys(OWN_ONLY, "'self'")
    assert policy["img-src"] in ("'self'", "'self' data:")
    page.evaluate(
        """() => {
             const script = document.createElement("script");
             script.textContent = "window.ran = true";
             document.body.append(script);
           }"""
    )
    assert page.evaluate("window.ran") is None
    assert len(watch.policy_violations) == 1
    watch.policy_violations.clear()
