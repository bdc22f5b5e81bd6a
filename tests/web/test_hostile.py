"""Strings of a stranger stay text, and pictures of a stranger run nothing."""

from urllib.parse import quote

import pytest

from tests.browsers import settle
from tests.patience import until
from tests.web.worlds import BAIT, HOSTILE

pytestmark = [pytest.mark.no_cover, pytest.mark.xdist_group("browser")]

NAME = "/".join(quote(part, safe="") for part in HOSTILE.split("/"))
BAD = "img[src=x], script:not([src]), [onerror], [onload], [onclick], svg script, foreignObject"
ELEMENTS = f"document.querySelectorAll('{BAD}').length"


def check_clean(page):
    assert page.evaluate(ELEMENTS) == 0
    assert "pwned" not in page.title().replace(HOSTILE, "")


def check_pictures(page, selector):
    """A `blob:` would be of our origin: opened by its address, the script of an SVG ran as one of our pages."""
    addresses = page.locator(selector).evaluate_all("all => all.map((one) => one.src)")
    assert addresses
    assert [one for one in addresses if not one.startswith("data:image/svg+xml")] == []


def test_in_the_catalogue(page):
    shown = page.visit()
    shown.wait_for_selector(".card img")
    assert HOSTILE in shown.locator(".card h2").all_inner_texts()
    check_clean(shown)


def test_on_its_page(page):
    shown = page.visit(f"#/env/{NAME}")
    shown.wait_for_selector(".hero img")
    check_pictures(shown, ".hero img")
    shown.get_by_text("Metadata").click()
    settle(shown)
    assert BAIT in shown.locator("h1").inner_text()
    assert shown.locator("main").inner_text().count("<script>") >= 5
    check_clean(shown)


def test_in_play(page):
    shown = page.visit(f"#/play/{NAME}")
    shown.wait_for_selector(".stage img")
    shown.wait_for_selector(".said")
    check_pictures(shown, ".stage img")
    assert shown.locator(".said").inner_text() == BAIT
    for count, tab in enumerate(("Steps", "State", "Messages", "Observation"), 1):
        shown.get_by_role("button", name="stay").click()
        shown.wait_for_function("n => Number(document.getElementById('score-step').textContent) === n", arg=count)
        shown.get_by_role("tab", name=tab).click()
        settle(shown)
        check_clean(shown)
    assert BAIT in shown.locator(".tabpanel:not([hidden])").inner_text()
    shown.get_by_role("button", name="go").click()
    shown.locator("#trouble .notice").wait_for()
    assert BAIT in shown.locator("#trouble").inner_text()
    check_clean(shown)


def test_its_picture_opened_alone_runs_nothing(opened):
    page = opened()
    shown = page.visit(f"v1/picture?env={quote(HOSTILE, safe='')}")
    assert shown.evaluate("document.documentElement.tagName") == "svg"
    until(lambda: page.said or settle(shown), "a console that tells of what was not run")
    assert all("Content Security Policy" in said or "sandboxed" in said for said in page.said)
    assert page.said
    page.said.clear()
