"""Boards that one clicks: regions of a picture are actions."""

import pytest

from ludus.serve.run import serve

pytestmark = [pytest.mark.no_cover, pytest.mark.xdist_group("browser")]


@pytest.fixture(scope="module")
def boards():
    with serve("open/Connect4-v0", port=0, block=False) as running:
        yield running


def test_a_click_on_a_board_is_a_move(opened, boards):
    page = opened(url=boards.url).visit("#/play/open/Connect4-v0")
    page.wait_for_selector(".stage img")
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
