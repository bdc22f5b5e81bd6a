"""A server that wants a token: the pages ask for it, keep it in their tab, and say who one is."""

import pytest

from ludus.server import Access, serve
from tests.web.watched import Held

pytestmark = [pytest.mark.no_cover, pytest.mark.xdist_group("browser")]

RUN, READ = "the-token-of-orchestrators", "the-token-of-observers"


@pytest.fixture(scope="module")
def closed():
    access = Access({RUN: "orchestrator", READ: "observer"})
    with serve("CartPole-v1", port=0, block=False, access=access) as running:
        yield running.url


def refusals(page, times):
    return len(page.heard("401", times))


def test_the_token_is_asked_for_until_it_is_right_and_then_one_plays(opened, closed):
    page = opened(url=closed)
    shown = page.visit("#/play/CartPole-v1")
    shown.get_by_label("Token", exact=True).fill("not-the-token-at-all")
    shown.keyboard.press("Enter")
    shown.get_by_text("does not know the token").wait_for()
    shown.get_by_label("Token", exact=True).fill(RUN)
    shown.keyboard.press("Enter")
    shown.wait_for_selector(".stage img")
    shown.keyboard.press("ArrowLeft")
    shown.wait_for_function("() => document.getElementById('score-step').textContent === '1'")
    assert shown.locator("#role").inner_text() == "orchestrator"
    assert shown.evaluate("[sessionStorage.length, localStorage.length]") == [1, 0]
    shown.reload()
    shown.wait_for_selector(".stage img")
    assert shown.locator("dialog").count() == 0
    shown.get_by_role("button", name="Forget token").click()
    shown.get_by_label("Token", exact=True).wait_for()
    assert refusals(page, 3) == 3


def test_a_refusal_that_comes_late_does_not_take_the_token_that_was_given_since(opened, closed):
    page = opened(url=closed)
    held = Held(page.page, "v1/envs")
    page.visit("")
    held.wait()
    shown = page.visit("#/env/CartPole-v1")
    shown.get_by_label("Token", exact=True).fill(RUN)
    shown.keyboard.press("Enter")
    shown.wait_for_selector(".hero")
    held.let_go()
    assert shown.locator("dialog").count() == 0
    assert refusals(page, 2) == 2


def test_an_observer_sees_and_is_told_that_it_may_not_play(opened, closed):
    page = opened(url=closed)
    shown = page.visit()
    shown.get_by_label("Token", exact=True).fill(READ)
    shown.keyboard.press("Enter")
    shown.wait_for_selector(".card img")
    assert shown.get_by_role("link", name="Sessions").count() == 0
    shown.get_by_role("link", name="Play CartPole-v1").click()
    shown.get_by_text("expected a role with the right to run").first.wait_for()
    assert refusals(page, 1) == 1
