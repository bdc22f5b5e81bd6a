"""Boards that one clicks: places of a picture are actions, one after another or alone."""

import re

import pytest

from ludus.server.run import serve
from tests.browsers import settle

pytestmark = [pytest.mark.no_cover, pytest.mark.xdist_group("browser")]


@pytest.fixture(scope="module")
def boards():
    names = ("Connect4-v0", "OpenSpiel-chess-v0", "Connect4Board-v0", "DIPGSafety-v0", "Atari-v0")
    with serve(*(f"open/{one}" for one in names), port=0, block=False) as running:
        yield running


def visit(opened, boards, name):
    page = opened(url=boards.url).visit(f"#/play/{name}")
    page.wait_for_selector(".stage img")
    return page


def click(page, x, y):
    """Click a point of the picture, in fractions of its sides."""
    settle(page)
    box = page.locator(".marks").bounding_box()
    page.mouse.click(box["x"] + box["width"] * x, box["y"] + box["height"] * y)


def wait_for_step(page, count):
    page.wait_for_function(f"() => document.getElementById('score-step').textContent === '{count}'")


def test_a_click_on_a_board_is_a_move(opened, boards):
    page = opened(url=boards.url).visit("#/play/open/Connect4-v0")
    page.wait_for_selector(".stage img")
    settle(page)
    box = page.locator(".stage img").bounding_box()
    page.mouse.click(box["x"] + box["width"] / 2, box["y"] + box["height"] / 2)
    page.wait_for_function("() => document.getElementById('score-step').textContent === '1'")
    page.keyboard.press("1")
    page.wait_for_function("() => document.getElementById('score-step').textContent === '2'")
    page.get_by_role("tab", name="Steps").click()
    page.wait_for_selector(".log code")
    told = page.locator(".log tbody").inner_text().replace(" ", "")
    assert '{"column":3}' in told
    assert '{"column":0}' in told


def test_regions_of_the_metadata_are_clicked_too(opened, boards):
    page = visit(opened, boards, "open/Connect4Board-v0")
    click(page, 0.5, 0.5)
    wait_for_step(page, 1)
    page.get_by_role("button", name="column 4").wait_for()
    assert page.get_by_role("button", name="column 4").count() == 1


def test_a_piece_is_clicked_and_then_where_it_goes(opened, boards):
    page = visit(opened, boards, "open/OpenSpiel-chess-v0")
    page.get_by_text("Click a piece, then where it goes.").wait_for()
    square = 1 / 8
    click(page, 3.5 * square, 4.5 * square)  # nothing is there: nothing happens
    assert page.locator(".marks .from, .marks .next").count() == 0
    click(page, 3.5 * square, 6.5 * square)
    assert page.locator(".marks .from").count() == 1
    assert page.locator(".marks .next").count() == 2
    click(page, 4.5 * square, 6.5 * square)  # another piece
    assert page.locator(".marks .from").count() == 1
    click(page, 4.5 * square, 4.5 * square)
    wait_for_step(page, 1)
    assert page.locator(".marks .from").count() == 0
    page.get_by_text(re.compile("All [0-9]+ as buttons")).click()
    page.locator(".moves .action").first.click()
    wait_for_step(page, 2)


def test_what_is_asked_for_is_written_and_sent(opened, boards):
    page = visit(opened, boards, "open/DIPGSafety-v0")
    page.locator(".choices > .actions .action").first.click()
    page.locator(".asked input").fill("13 percent")
    page.keyboard.press("Enter")
    wait_for_step(page, 1)
    assert "The episode is over" in page.locator(".over").inner_text()
    assert page.locator(".choices .action:visible").count() == 0


def test_a_console_has_a_button_for_each_of_its_own_with_the_key(opened, boards):
    page = visit(opened, boards, "open/Atari-v0")
    page.get_by_role("button", name="right fire").click()
    wait_for_step(page, 1)
    page.keyboard.down("ArrowLeft")
    page.wait_for_function("() => Number(document.getElementById('score-step').textContent) > 3")
    page.keyboard.up("ArrowLeft")


@pytest.fixture(scope="module")
def shells():
    with serve(*(f"open/{one}" for one in PLAYED), port=0, block=False) as running:
        yield running


def asked(text):
    """Write what is asked for, and send it."""

    def act(page):
        page.locator(".ask input:visible, .ask textarea:visible").first.fill(text)
        page.locator(".ask button[type=submit]").first.click()

    return act


def pressed(name):
    return lambda page: page.locator(".choices > .actions .action", has_text=name).first.click()


def clicked(x, y):
    return lambda page: click(page, x, y)


PLAYED = {
    "BrowserGym-v0": asked("goto('http://miniwob.test/miniwob/click-test.html')"),
    "FinRL-v0": clicked(0.93, 0.04),  # the next day
    "OpenSpiel-v0": clicked(0.3, 0.95),  # beside the paddle of Catch
    "Coding-v0": asked("print(6 * 7)"),
    "Chat-v0": asked("How can I help you?"),
    "Git-v0": pressed("list files"),
    "TextArena-v0": asked("crane"),
    "ReasoningGym-v0": asked("42"),
    "SumoRL-v0": pressed("phase"),
}
"""How a person acts: by a text, a button, or a place of the picture that is one."""
OFTEN = ("Chat-v0", "Coding-v0", "Git-v0")


@pytest.mark.parametrize("name", [pytest.param(one, marks=[] if one in OFTEN else pytest.mark.full) for one in PLAYED])
def test_a_person_acts_in_the_page_and_sees_what_came_of_it(opened, shells, name):
    page = visit(opened, shells, f"open/{name}")
    settle(page)
    before = page.locator(".stage img").get_attribute("src")
    PLAYED[name](page)
    wait_for_step(page, 1)
    page.wait_for_function("(src) => document.querySelector('.stage img').getAttribute('src') !== src", arg=before)
