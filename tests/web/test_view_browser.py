"""Recorded runs in a real browser: the table, an episode, talk, side by side; from a server and from a file."""

import re

import pytest

import ludus
from ludus.trajectory import Recorder
from ludus.web.view import Viewer, opened_run, show_runs, write_document
from tests.browsers import new_page, settle
from tests.patience import PATIENCE_S
from tests.web.recordings import BAIT, agent, batch, cart, hostile, pendulum
from tests.web.watched import Held, Watched

pytestmark = [pytest.mark.no_cover, pytest.mark.xdist_group("browser")]

PHONE = {"width": 360, "height": 740}
BAD = "img[src=x], main script, [onerror], [onload], [onclick], svg script, foreignObject"
LONG = 100_000
MAX_NODES = 3_000


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    return tmp_path_factory.mktemp("runs")


@pytest.fixture(scope="module")
def shown(folder):
    """A server with runs of every kind: 0 and 1 alike up to a step, 2 seeds of a batch, 3 an agent's, 4 hostile."""
    files = [cart(folder), cart(folder, "other.ludus", turn=6), batch(folder, "seeds"), agent(folder), hostile(folder)]
    with show_runs(files, block=False) as running:
        yield running


@pytest.fixture
def patient(monkeypatch):
    """A file counts as being recorded for as long as a slow browser may take to look at it."""
    monkeypatch.setattr(opened_run, "FRESH_SECONDS", 10 * PATIENCE_S)


@pytest.fixture
def visit(browser, shown):
    """Opens pages: `visit(where, url=…, **options of the context)`; what they said is nothing, at the end."""
    pages = []

    def visit(where="", url=None, wait="main h1", **options):
        watched = Watched(new_page(browser, **{"viewport": {"width": 1280, "height": 900}, **options}))
        pages.append(watched)
        watched.visit(f"{url or shown.url}{where}", wait)
        watched.page.wait_for_selector(wait)
        watched.page.asked = watched.asked
        return watched.page

    yield visit
    for page in pages:
        page.page.context.close()
    assert [said for page in pages for said in page.said] == []


def numbers(page):
    return page.locator(".episodes tbody th").all_inner_texts()


def at_step(page, step):
    page.wait_for_function("n => document.querySelector('.at strong')?.textContent === n", arg=f"{step:,}")


def frame(page, step):
    page.wait_for_selector(f"img[alt='Frame after {step} steps']")


def wait_for_count(page, selector, count):
    page.wait_for_function("([s, n]) => document.querySelectorAll(s).length === n", arg=[selector, count])


# --- the table ---


def test_the_table_sorts_filters_and_leads_to_an_episode(visit):
    page = visit("#/run/0")
    wait_for_count(page, ".episodes a", 6)
    assert numbers(page) == [f"#{number}" for number in range(6)]
    page.get_by_role("button", name="Return").click()
    page.wait_for_selector("th[aria-sort=descending]")
    returns = [int(text) for text in page.locator(".episodes tbody td:nth-child(4)").all_inner_texts()]
    assert returns == sorted(returns, reverse=True)
    page.get_by_role("button", name="Return").click()
    page.wait_for_selector("th[aria-sort=ascending]")
    page.fill("#search", "#4")
    page.get_by_text("1 of 6 episodes").wait_for()
    page.get_by_role("link", name="#4").click()
    page.get_by_role("heading", name="CartPole-v1 #4").wait_for()


def test_a_long_table_has_pages_and_masked_episodes_are_marked(visit, folder):
    path = folder / "many.ludus"
    with Recorder(ludus.make("CartPole-v1"), path) as env:
        for seed in range(230):
            env.reset(seed=seed)
            env.step(0)
    with show_runs([path], block=False) as running:
        page = visit(url=running.url, wait=".pager")
        assert page.locator(".episodes tbody tr.masked").count() == 100
        page.get_by_label("Last page").click()
        page.get_by_role("link", name="#229").wait_for()
        assert len(numbers(page)) == 30
        page.fill("[aria-label=Page]", "2")
        page.keyboard.press("Enter")
        page.get_by_role("link", name="#150").wait_for()
        page.close()


def test_an_evaluation_says_whose_it_is_and_whether_its_seeds_were_picked(visit, folder):
    for seeds in ("derived", "chosen"):
        path = folder / f"{seeds}.ludus"
        about = {"evaluation": {"agent": "mine:policy", "seeds": seeds}}
        with Recorder(ludus.make("CartPole-v1"), path, metadata=about) as env:
            env.reset(seed=4835280015208940699)
            env.step(0)
    with show_runs([folder / "derived.ludus", folder / "chosen.ludus"], block=False) as running:
        page = visit("#/run/0", url=running.url, wait=".episodes a")
        assert "agent mine:policy" in page.locator(".tags").inner_text()
        page.get_by_role("link", name="chosen.ludus").click()
        page.get_by_text("seeds chosen by hand").wait_for()
        page.fill("#search", "4835280015208940699")
        page.get_by_role("link", name="#0").wait_for()
        page.close()


def test_a_run_that_is_being_recorded_grows_in_the_page(visit, folder, patient):
    with Recorder(ludus.make("CartPole-v1"), folder / "live.ludus", "steps") as env:
        env.reset(seed=0)
        env.step(1)
        env.flush()
        with show_runs([folder / "live.ludus"], block=False) as running:
            page = visit(url=running.url, wait=".episodes a")
            page.locator("#live-chip").get_by_text("being recorded").wait_for()
            env.reset(seed=1)
            env.step(1)
            env.flush()
            page.get_by_role("link", name="#1", exact=True).wait_for()
            page.close()


def test_an_episode_under_way_is_followed_to_its_newest_step_and_its_end(visit, folder, patient):
    with Recorder(ludus.make("CartPole-v1"), folder / "growing.ludus", "steps") as env:
        env.reset(seed=0)
        env.step(1)
        env.flush()
        with show_runs([folder / "growing.ludus#0"], block=False) as running:
            page = visit(url=running.url, wait="#scrub")
            page.get_by_text("under way").wait_for()
            for length in (2, 3):
                env.step(1)
                env.flush()
                page.locator(f"#scrub[max='{length}']").wait_for()
                assert page.locator("#scrub").input_value() == str(length)
            page.keyboard.press("Home")
            while not env.step(1).terminated:
                pass
            env.flush()
            page.get_by_text("terminated").wait_for()
            assert page.locator("#scrub").input_value() == "0"
            page.close()


def test_a_key_while_the_page_is_made_anew_is_not_lost(visit, folder):
    with Recorder(ludus.make("CartPole-v1"), folder / "renewed.ludus", "steps") as env:
        env.reset(seed=0)
        env.step(1)
        env.flush()
        with show_runs([folder / "renewed.ludus#0"], block=False) as running:
            page = visit(url=running.url, wait="#scrub[max='1']")
            held = Held(page, "ask/episode?run=0&n=0")
            env.step(1)
            env.flush()
            held.wait()
            page.keyboard.press("Home")
            held.let_go()
            page.locator("#scrub[max='2']").wait_for()
            assert page.locator("#scrub").input_value() == "0"
            page.close()


# --- an episode ---


def test_an_answer_that_comes_late_does_not_replace_the_page_that_was_asked_for_since(visit):
    page = visit("#/run/0", wait=".episodes a")
    held = Held(page, "ask/episode?run=0&n=3")
    page.get_by_role("link", name="#3").click()
    held.wait()
    page.get_by_role("link", name="#2").click()
    page.get_by_role("heading", name="CartPole-v1 #2").wait_for()
    held.let_go()
    assert page.locator("h1").inner_text() == "CartPole-v1 #2"


def test_an_episode_is_gone_through_by_keys_scrubber_and_play(visit):
    page = visit("#/run/0/3")
    frame(page, 0)
    page.keyboard.press("ArrowRight")
    page.keyboard.press("ArrowRight")
    frame(page, 2)
    page.locator(".step-panel").get_by_text("push").wait_for()  # steps are asked for beside frames
    assert page.locator(".step-panel").inner_text().count("push") == 1
    page.keyboard.press("End")
    last = int(page.locator("#scrub").get_attribute("max"))
    frame(page, last)
    page.keyboard.press("Home")
    frame(page, 0)
    page.select_option("#pace", "16")
    page.evaluate("document.activeElement.blur()")
    page.keyboard.press("Space")
    at_step(page, last)
    page.get_by_label("Play", exact=True).wait_for()
    page.locator(".curves figure").nth(2).wait_for()
    assert page.locator(".curves figure").all_inner_texts()[2].startswith("value")
    wait_for_count(page, ".gauges li", 4)


def test_a_row_or_a_point_of_a_curve_leads_to_its_step(visit):
    page = visit("#/run/0/3")
    page.wait_for_selector(".curve", state="attached")
    page.get_by_role("tab", name="Steps").click()
    page.locator("[data-row='5']").click()
    at_step(page, 5)
    page.wait_for_selector("[data-row='5'][aria-current=step]")
    page.get_by_role("tab", name="Step", exact=True).click()
    page.evaluate("document.activeElement.blur()")
    page.keyboard.press("End")
    page.get_by_role("tab", name="Steps").click()
    page.wait_for_selector("tr[aria-current=step]")  # the row of a step that was reached while it was hidden
    settle(page)
    box = page.locator(".curves svg").first.bounding_box()
    page.mouse.click(box["x"] + 1, box["y"] + 10)
    at_step(page, 0)


def test_a_run_of_seeds_alone_is_computed_to_the_last_number(visit):
    page = visit("#/run/2/9@3")
    frame(page, 3)
    page.wait_for_selector(".gauges li")
    page.wait_for_selector(".curve", state="attached")
    page.wait_for_function("() => document.querySelectorAll('.step-panel dd')[2]?.textContent === '3'")


# --- talk ---


def test_an_agents_run_is_read_filtered_and_searched(visit):
    page = visit("#/run/3/0", wait=".event")
    wait_for_count(page, ".event", 22)
    text = page.locator(".talk-list").inner_text()
    for part in (
        "You repair programs.",
        "→ bash",
        "cat main.py",
        "← failed",
        "Limit of tokens reached",
        "TimeoutError",
    ):
        assert part in text
    assert page.locator(".diff .added").first.inner_text().strip() == "+    return a + b"
    assert "$0.75" in page.locator(".score.cards").inner_text()
    page.get_by_role("button", name="Tool calls").click()
    page.get_by_text("3 of 22 events").wait_for()
    wait_for_count(page, ".event", 3)
    page.get_by_role("button", name="Tool calls").click()
    page.get_by_label("Find in events").fill("thought 2")
    page.get_by_text("1 of 22 events").wait_for()
    page.get_by_role("button", name="step 3").click()
    at_step(page, 3)
    page.get_by_label("Find in events").fill("")
    wait_for_count(page, ".event", 22)
    page.evaluate("document.querySelector('.talk-list').scrollTop = 0")
    page.evaluate("document.activeElement.blur()")
    page.keyboard.press("ArrowLeft")
    page.wait_for_function("() => document.querySelector('.talk-list').scrollTop > 300")
    page.wait_for_selector(".event.current")


# --- side by side ---


def test_episodes_side_by_side_jump_to_their_first_difference(visit):
    page = visit("#/run/0", wait=".episodes a")
    page.get_by_label("Compare episode 0").check()
    page.get_by_role("link", name="other.ludus").click()
    page.locator("h1[data-run='1']").wait_for()
    page.get_by_label("Compare episode 0").check()
    page.get_by_role("link", name="Side by side").click()
    page.get_by_text("They first differ at step").wait_for()
    page.get_by_role("button", name="First difference").click()
    step = int(page.locator(".notice").inner_text().split("step ")[1].split(":")[0])
    at_step(page, step)
    page.wait_for_function("n => document.querySelectorAll(`img[alt='Frame after ${n} steps']`).length === 2", arg=step)
    page.wait_for_selector("tr.differs[aria-current]")
    page.get_by_label("Align equal actions").check()
    page.get_by_role("slider", name="Line").wait_for()
    wait_for_count(page, ".column", 2)


def test_side_by_side_a_step_that_comes_late_does_not_replace_a_later_one(visit):
    page = visit("#/compare/0.0,1.0", wait=".column img")
    held = Held(page, "ask/find?run=0&n=0&step=1")
    page.keyboard.press("ArrowRight")
    held.wait()
    page.keyboard.press("ArrowRight")
    page.locator(".column .where").first.get_by_text("Step 2:").wait_for()
    held.let_go()
    assert page.locator(".column .where").first.inner_text().startswith("Step 2:")


# --- one file ---


def test_a_document_shows_everything_from_disk_and_asks_for_nothing(visit, folder):
    files = [f"{folder}/cart.ludus#2", f"{folder}/other.ludus#2", f"{folder}/agent.ludus#0"]
    write_document(Viewer(files), folder / "all.html")
    page = visit(url=f"file://{folder}/all.html")
    page.get_by_text("3 episodes side by side").wait_for()
    page.wait_for_selector(".column img")
    page.get_by_role("link", name="other.ludus", exact=True).click()
    page.get_by_role("link", name="#2", exact=True).click()
    page.wait_for_selector(".curve", state="attached")
    page.keyboard.press("ArrowRight")
    frame(page, 1)
    page.get_by_role("link", name="agent.ludus").first.click()
    page.get_by_role("link", name="#0").click()
    page.get_by_label("Find in events").fill("thought 2")
    page.get_by_text("1 of 22 events").wait_for()
    asked = [url for url in page.asked if not url.startswith(("blob:", "data:"))]
    assert asked == [f"file://{folder}/all.html"]


def test_a_document_sorts_and_filters_as_the_server_does(visit, folder, shown):
    write_document(Viewer([f"{folder}/cart.ludus"]), folder / "one.html")
    seen = []
    for url in (f"file://{folder}/one.html", shown.url):
        page = visit("#/run/0", url=url, wait=".episodes tbody th")
        found = []
        for column in ("Return", "Return", "Seed", "Outcome", "Ended by", "Length"):
            before = page.locator("thead").inner_text()
            page.get_by_role("button", name=column).click()
            page.wait_for_function("t => document.querySelector('thead').innerText !== t", arg=before)
            settle(page)
            found.append(numbers(page))
        page.fill("#search", "3")
        page.get_by_text("1 of 6 episodes").wait_for()
        seen.append([*found, numbers(page)])
    assert seen[0] == seen[1]


# --- strangers ---


def test_whatever_a_file_says_stays_text(visit, folder):
    write_document(Viewer([f"{folder}/hostile.ludus"]), folder / "hostile.html")
    for url in (None, f"file://{folder}/hostile.html"):
        run = 4 if url is None else 0
        page = visit(f"#/run/{run}", url=url, wait=".episodes a")
        page.get_by_text("About this run").click()
        page.wait_for_selector("details.about[open] dl")
        assert "</script><script>" in page.locator(".about").inner_text()
        page.locator(".episodes a").first.click()
        page.wait_for_selector(".event")
        page.keyboard.press("ArrowRight")
        page.get_by_text("Frames need trust").wait_for()
        for tab in ("Steps", "Step"):
            page.get_by_role("tab", name=tab, exact=True).click()
        page.get_by_label("Find in events").fill(BAIT[:12])
        page.get_by_text(re.compile(r"^\d+ of \d+ events$")).wait_for()  # all of them were there before
        page.wait_for_function("bait => document.querySelector('.talk-list')?.innerText.includes(bait)", arg=BAIT)
        said = page.locator(".talk-list").inner_text()
        assert "\\u202eevil" in said  # turned around by nothing
        assert not re.search("[\u202a-\u202e\u2066-\u2069]", page.content())
        assert page.evaluate(f"document.querySelectorAll('{BAD}').length") == 0
        assert "pwned" not in page.title()


# --- for everybody ---


@pytest.mark.parametrize("where", ["#/run/2", "#/run/0/2", "#/run/3/0", "#/compare/0.0,1.0", "#/run/4/0"])
@pytest.mark.parametrize("scheme", ["dark", "light"])
def test_a_phone_never_scrolls_sideways_and_the_theme_is_the_systems(visit, where, scheme):
    page = visit(where, viewport=PHONE, has_touch=True, is_mobile=True, color_scheme=scheme)
    page.wait_for_function("() => !document.querySelector('.waiting')")
    assert page.evaluate("document.documentElement.scrollWidth") <= PHONE["width"]
    ground = page.evaluate("getComputedStyle(document.documentElement).backgroundColor")
    assert ground == {"dark": "rgb(18, 16, 24)", "light": "rgb(246, 245, 250)"}[scheme]
    nameless = page.evaluate(
        "[...document.querySelectorAll('input, select, button')].filter(e => !e.labels?.length && "
        "!e.getAttribute('aria-label') && !e.textContent.trim()).map(e => e.outerHTML)"
    )
    assert nameless == []


def test_a_hundred_thousand_steps_are_few_nodes(visit, folder):
    with show_runs([pendulum(folder / "long.ludus", LONG)], block=False) as running:
        page = visit("#/run/0/0", url=running.url)
        frame(page, 0)
        page.wait_for_selector(".curve", state="attached")
        page.get_by_role("tab", name="Steps").click()
        page.wait_for_selector("[data-row='3']")
        page.evaluate("document.querySelector('.scroller:has(.long)').scrollTop = 5e5")
        page.wait_for_selector("[data-row='16670']")
        page.evaluate("document.querySelector('.scroller:has(.long)').scrollTop = 1e9")
        page.wait_for_selector(f"[data-row='{LONG}']")
        assert page.evaluate("document.querySelectorAll('*').length") < MAX_NODES
        page.locator("[data-row='99990']").click()
        at_step(page, LONG - 10)
        page.close()  # before the server that it asks


def test_another_page_of_this_machine_reaches_nothing(visit, shown, browser):
    context = browser.new_context()
    root = shown.url.rsplit("/", 2)[0]
    for where in ("/", "/ask/runs", "/view.js", "/wrong/ask/runs"):
        assert context.request.get(f"{root}{where}").status == 404
    assert context.request.get(f"{shown.url}ask/runs", headers={"host": "evil.example"}).status == 421
    assert context.request.get(f"{shown.url}ask/runs", headers={"origin": "http://evil.example"}).status == 403
    answer = context.request.get(f"{shown.url}ask/runs")
    assert answer.ok
    assert "script-src 'self'" in answer.headers["content-security-policy"]
    context.close()
