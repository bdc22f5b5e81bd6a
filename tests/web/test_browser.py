"""The pages in a real browser."""

import json
import re

import pytest

from tests.patience import until
from tests.web.watched import Held

pytestmark = [pytest.mark.no_cover, pytest.mark.xdist_group("browser")]

FOCUS = "document.activeElement"


def text(page, selector):
    return page.locator(selector).inner_text()


def wait_for_steps(page, count):
    page.wait_for_function("n => Number(document.getElementById('score-step')?.textContent) === n", arg=count)


def play(opened, name, **options):
    page = opened(**options).visit(f"#/play/{name}")
    wait_for_steps(page, 0)
    return page


# --- catalogue and environment ---


def test_the_catalogue_shows_pictures_and_finds_by_words(page):
    shown = page.visit()
    shown.wait_for_selector(".card img")
    assert shown.locator(".card").count() == 9
    shown.keyboard.press("/")
    shown.keyboard.type("pole cart")
    assert shown.locator(".card h2").all_inner_texts() == ["CartPole-v1"]
    shown.fill("#search", "no such thing")
    assert shown.locator(".card").count() == 0
    shown.fill("#search", "")
    shown.get_by_role("button", name="toy text").click()
    assert shown.locator(".card h2").all_inner_texts() == ["Taxi-v4"]


def test_an_environment_tells_what_it_is_and_its_program_can_be_copied(opened, running):
    page = opened(permissions=["clipboard-read", "clipboard-write"]).visit("#/env/CartPole-v1")
    page.wait_for_selector(".hero img")
    shown = text(page, "main")
    for part in ("Discrete(2)", "push left", "500 steps", "Isolation", "Box("):
        assert part in shown
    page.click("#copy")
    page.get_by_role("status").get_by_text("Copied").wait_for()
    program = page.evaluate("navigator.clipboard.readText()")
    assert f"url = '{running.url}'" in program
    compile(program, "program", "exec")


def test_a_name_with_a_slash_leads_to_its_page_and_from_there_to_play(page):
    shown = page.visit("#/env/open/Echo-v0")
    shown.get_by_role("link", name="Play", exact=True).click()
    shown.wait_for_selector("#step")
    assert shown.title() == "Play open/Echo-v0 · Ludus"


def test_an_unknown_environment_is_a_clear_word_and_a_way_back(opened):
    page = opened()
    shown = page.visit("#/env/Nowhere-v0")
    shown.get_by_text("expected one of").wait_for()
    assert len(page.heard("404")) == 1  # a browser tells of every refusal in its console
    shown.get_by_role("link", name="All environments").click()
    shown.wait_for_selector(".card")


def test_an_answer_that_comes_late_does_not_replace_the_page_that_was_asked_for_since(page):
    shown = page.visit("", ".card")
    held = Held(shown, "v1/envs/Taxi-v4")
    shown.get_by_role("link", name="Taxi-v4", exact=True).click()
    held.wait()
    shown.get_by_role("link", name="Environments").first.click()
    shown.wait_for_selector(".card")
    held.let_go()
    assert shown.locator("h1").inner_text() == "Environments"


# --- play ---


def test_cartpole_is_played_by_keyboard_to_its_end(opened):
    page = play(opened, "CartPole-v1")
    steps = 0
    while not page.locator(".over").is_visible():
        page.keyboard.press("ArrowRight")
        steps += 1
        wait_for_steps(page, steps)
    assert 7 < steps < 13
    assert "The episode is over" in text(page, ".over")
    assert text(page, "#score-return") == str(steps)
    assert page.locator("#live").inner_text().startswith("The episode is over after")
    page.keyboard.press("r")
    wait_for_steps(page, 0)
    assert page.locator(".over").is_hidden()
    assert page.locator(".stage img").get_attribute("src").startswith("data:image/svg+xml")


def test_a_seed_makes_the_same_episode_again(opened):
    page = play(opened, "CartPole-v1")
    page.fill("#seed", "7")
    seen = []
    for _ in range(2):
        page.click("#reset")
        page.wait_for_function("() => document.getElementById('score-seed').textContent === '7'")
        wait_for_steps(page, 0)
        page.click("#random")
        wait_for_steps(page, 1)
        page.get_by_role("tab", name="Steps").click()
        page.wait_for_selector(".log code")
        seen.append(text(page, ".log tbody"))
    assert seen[0] == seen[1]


def test_the_random_agent_plays_to_the_end_and_begins_anew_when_told(opened):
    page = play(opened, "CartPole-v1")
    page.select_option("#speed", "0")
    page.click("#run")
    page.wait_for_selector(".over:not([hidden])")
    page.wait_for_function("() => document.getElementById('run').textContent === 'Random agent'")
    page.select_option("#speed", "60")
    page.check("#again")
    page.click("#run")
    wait_for_steps(page, 0)
    page.wait_for_selector(".over:not([hidden])")
    page.wait_for_selector(".over[hidden]", state="attached")
    page.click("#run")
    page.wait_for_function("() => document.getElementById('run').textContent === 'Random agent'")


def test_a_reset_or_an_action_in_the_middle_of_a_run_is_not_lost(opened):
    page = play(opened, "maze")  # however late a click is, the run is under way
    page.select_option("#speed", "60")
    for _ in range(3):
        page.click("#run")
        page.wait_for_function("() => Number(document.getElementById('score-step').textContent) >= 3")
        page.get_by_role("button", name="south").click()
        page.wait_for_function("() => document.getElementById('run').textContent === 'Random agent'")
        page.get_by_role("tab", name="Steps").click()
        page.wait_for_function("() => document.querySelector('.log tbody td:nth-child(2)')?.textContent === 'south'")
        page.click("#run")
        page.keyboard.press("r")
        wait_for_steps(page, 0)


def test_real_time_goes_on_by_itself_after_the_first_key(opened):
    page = play(opened, "MountainCarContinuous-v0")
    assert page.is_checked("#clock")
    page.keyboard.press("ArrowRight")
    page.wait_for_function("() => Number(document.getElementById('score-step').textContent) >= 5")
    page.uncheck("#clock")
    assert page.locator("input[type=range]").count() == 1


def test_buttons_act_and_the_log_chart_and_messages_tell_of_it(opened):
    page = play(opened, "Taxi-v4")
    page.get_by_role("button", name="south").click()
    wait_for_steps(page, 1)
    page.get_by_role("tab", name="Steps").click()
    page.wait_for_selector(".log tbody tr")
    assert "south" in text(page, ".log tbody")
    page.get_by_role("tab", name="State").click()
    page.get_by_text("step_count").wait_for()
    page.get_by_role("tab", name="Messages").click()
    page.wait_for_selector(".messages li")
    assert '{"type":"step","action":0,"frame":true,"choices":true}' in text(page, ".messages")
    page.locator(".chart[aria-label^='Rewards of 1 steps']").wait_for()
    assert page.locator(".chart rect").count() == 1
    assert "Rewards of 1 steps, return -1" in page.locator(".chart").get_attribute("aria-label")


def test_echo_is_played_by_its_form(opened):
    page = play(opened, "open/Echo-v0")
    page.get_by_label("message", exact=True).fill("hello")
    page.keyboard.press("Enter")
    wait_for_steps(page, 1)
    assert text(page, "#score-reward") == "0.5"
    assert "hello" in text(page, ".talk")
    page.get_by_label("message", exact=True).fill("again")
    page.click("#step")
    wait_for_steps(page, 2)
    assert text(page, "#score-return") == "1"


def test_tools_are_called_by_their_forms_to_the_end(opened):
    page = play(opened, "shop")
    page.get_by_label("item").fill("tea")
    page.get_by_label("set count").check()
    page.get_by_label("count", exact=True).fill("3")
    page.click("#step")
    wait_for_steps(page, 1)
    assert "3 x tea" in text(page, ".talk")
    page.get_by_label("tool").select_option(label="leave")
    page.click("#step")
    page.wait_for_selector(".over:not([hidden])")
    assert text(page, "#score-return") == "6"


def test_every_shape_of_field_reaches_the_environment(opened):
    page = play(opened, "forms")
    page.get_by_label("kind").select_option("coffee")
    page.get_by_label("count").fill("7")
    page.get_by_label("x", exact=True).fill("0.5")
    page.get_by_label("set level").check()
    page.get_by_label("level", exact=True).fill("-3")
    page.get_by_label("hot").check()
    page.get_by_role("button", name="Add one").click()
    page.get_by_label("notes[0]").fill("sweet")
    page.get_by_role("button", name="Add an entry").click()
    page.get_by_label("key").fill("a")
    page.get_by_label("value").fill("2")
    controls = [page.get_by_label(one) for one in ("iced", "sugar", "milk")]
    assert [one.count() for one in controls] == [1, 1, 1]  # a boolean is one control
    assert controls[2].locator("option:checked").inner_text() == "true"  # its default, and nothing can be chosen, too
    controls[0].select_option(label="false")
    controls[1].uncheck()
    controls[2].select_option(label="not set")
    page.click("#step")
    page.wait_for_selector(".over:not([hidden])")
    expected = (
        "Order(kind='coffee', count=7, place=Place(x=0.5, level=-3), hot=True, notes=['sweet'], prices={'a': 2}, "
    )
    assert f"{expected}message='please', iced=False, sugar=False, milk=None)" in text(page, ".talk")
    assert "iced: false\nsugar: false\nmilk: null" in page.locator(".mine").inner_text()  # what was chosen is told
    stage, over = (page.locator(one).bounding_box() for one in (".stage", ".over"))
    assert over["y"] >= stage["y"] + stage["height"]  # the end of the episode covers nothing of what was seen last


def test_a_wrong_action_is_told_and_play_goes_on(opened):
    page = play(opened, "forms")
    page.get_by_label("x", exact=True).fill("5")
    page.click("#step")
    page.get_by_text("expected").wait_for()
    assert "place" in text(page, "#trouble")
    page.get_by_label("x", exact=True).fill("")
    page.click("#step")
    page.get_by_text("a number is missing").wait_for()
    page.get_by_label("x", exact=True).fill("1")
    page.click("#step")
    wait_for_steps(page, 1)
    assert text(page, "#trouble") == ""


def test_pictures_of_text_keep_their_colours_and_nothing_else(opened):
    page = play(opened, "maze")
    page.wait_for_selector(".stage .ansi")
    spans = page.evaluate("[...document.querySelectorAll('.ansi span')].map(e => [e.className, e.textContent])")
    assert spans[:2] == [["sgr-41", "S"], ["sgr-1 sgr-32", "G"]]
    assert text(page, ".ansi").startswith("SFG! <img")


def test_a_key_held_on_another_page_does_nothing(opened):
    page = play(opened, "CartPole-v1")
    page.get_by_role("link", name="Environments").first.click()
    page.wait_for_selector(".card")
    page.keyboard.press("r")
    page.keyboard.press("ArrowLeft")
    assert page.evaluate("document.activeElement.id") == "main"


def test_reset_options_reach_the_environment(opened):
    page = play(opened, "forms")
    page.get_by_text("Reset options").first.click()
    page.fill("#options", '{"level": 3}')
    page.click("#reset")
    page.get_by_text("{'level': 3}").first.wait_for()
    page.fill("#options", "{")
    page.click("#reset")
    page.get_by_text("expected JSON").wait_for()


def test_an_episode_is_downloaded_whole(opened):
    page = play(opened, "CartPole-v1")
    for count in (1, 2):
        page.keyboard.press("ArrowLeft")
        wait_for_steps(page, count)
    with page.expect_download() as coming:
        page.click("#download")
    assert coming.value.suggested_filename == "CartPole-v1-episode.json"
    with open(coming.value.path(), encoding="utf8") as file:
        episode = json.load(file)
    assert (episode["env"], episode["return"], [one["action"] for one in episode["steps"]]) == (
        "CartPole-v1",
        2,
        [0, 0],
    )
    assert len(episode["reset"]["observation"]) == 4


def test_sessions_are_listed_and_ended(opened, running):
    page = play(opened, "CartPole-v1")
    page.keyboard.press("ArrowLeft")
    wait_for_steps(page, 1)
    other = opened().visit("#/sessions")
    row = other.locator("tbody tr").filter(has_text="CartPole-v1").last
    row.wait_for()
    until(lambda: len(running.server.sessions.infos()) == 1, "sessions of pages that were closed stay open")
    before = len(running.server.sessions.infos())
    row.get_by_role("button").click()
    other.get_by_text(re.compile(rf"^{before - 1} open$|^No session is open")).wait_for()


# --- for everybody ---

PHONE = {"width": 360, "height": 740}


@pytest.mark.parametrize(
    "where",
    ["", "#/env/Taxi-v4", "#/play/Taxi-v4", "#/play/forms", "#/env/open/EchoTools-v0", "#/sessions"],
)
def test_a_phone_never_scrolls_sideways(opened, where):
    page = opened(viewport=PHONE, has_touch=True, is_mobile=True).visit(where)
    page.wait_for_selector("main h1")
    page.wait_for_function("() => !document.querySelector('.waiting')")
    assert page.evaluate("document.documentElement.scrollWidth") <= PHONE["width"]
    small = page.evaluate(
        "[...document.querySelectorAll('main button, main select, .bar button')].filter(e => e.checkVisibility() "
        "&& (e.getBoundingClientRect().height < 31)).map(e => e.textContent)"
    )
    assert small == []


def test_dark_and_light_follow_the_system_and_the_switch(opened):
    grounds = {}
    for scheme in ("dark", "light"):
        page = opened(color_scheme=scheme).visit()
        page.wait_for_selector(".card")
        grounds[scheme] = page.evaluate("getComputedStyle(document.documentElement).backgroundColor")
    assert grounds == {"dark": "rgb(18, 16, 24)", "light": "rgb(246, 245, 250)"}
    page.get_by_role("button", name="Switch to dark").click()
    page.reload()
    page.wait_for_selector(".card")
    assert page.evaluate("getComputedStyle(document.documentElement).backgroundColor") == grounds["dark"]


def test_text_has_enough_contrast_in_both_themes(opened):
    for scheme in ("dark", "light"):
        page = opened(color_scheme=scheme).visit()
        page.wait_for_selector(".card")
        colours = page.evaluate(
            "['.card p', '.count', '.card .button', '.bar nav a', '.tag'].map(s => {"
            " const e = document.querySelector(s); let b = e;"
            " while (getComputedStyle(b).backgroundColor === 'rgba(0, 0, 0, 0)') b = b.parentElement;"
            " return [s, getComputedStyle(e).color, getComputedStyle(b).backgroundColor]; })"
        )
        for selector, ink, ground in colours:
            assert contrast(ink, ground) >= 4.5, (scheme, selector, ink, ground)


def contrast(one, other):
    def light(colour):
        parts = [int(part) / 255 for part in re.findall(r"\d+", colour)[:3]]
        red, green, blue = (part / 12.92 if part <= 0.03928 else ((part + 0.055) / 1.055) ** 2.4 for part in parts)
        return 0.2126 * red + 0.7152 * green + 0.0722 * blue

    high, low = sorted((light(one), light(other)), reverse=True)
    return (high + 0.05) / (low + 0.05)


def test_everything_is_reached_by_keyboard_and_the_focus_is_seen(page):
    shown = page.visit()
    shown.wait_for_selector(".card")
    shown.keyboard.press("Tab")
    assert shown.evaluate(f"{FOCUS}.className") == "skip"
    shown.keyboard.press("Enter")
    assert shown.evaluate(f"{FOCUS}.id") == "main"
    for _ in range(40):
        shown.keyboard.press("Tab")
        assert shown.evaluate(f"getComputedStyle({FOCUS}).outlineStyle") == "solid"
        if shown.evaluate(f"{FOCUS}.getAttribute('aria-label')") == "Play CartPole-v1":
            break
    shown.keyboard.press("Enter")
    wait_for_steps(shown, 0)
    shown.keyboard.press("ArrowLeft")
    wait_for_steps(shown, 1)
    seen = set()
    for _ in range(40):
        shown.keyboard.press("Tab")
        seen.add(shown.evaluate(f"{FOCUS}.id || {FOCUS}.textContent.trim()"))
    assert {"reset", "random", "run", "seed", "speed", "again", "frames", "download"} <= seen


def test_the_tabs_move_by_arrows_without_playing(opened):
    page = play(opened, "CartPole-v1")
    page.get_by_role("tab", name="Observation").focus()
    page.keyboard.press("ArrowRight")
    page.wait_for_selector("[role=tab][aria-selected=true]:has-text('Steps')")
    page.fill("#seed", "1")
    page.press("#seed", "ArrowLeft")
    assert text(page, "#score-step") == "0"


def test_every_field_has_a_name(opened):
    page = play(opened, "forms")
    nameless = page.evaluate(
        "[...document.querySelectorAll('input, select, textarea')]"
        ".filter(e => !e.labels.length && !e.getAttribute('aria-label')).map(e => e.id)"
    )
    assert nameless == []


def test_less_motion_means_no_transitions_and_a_slow_start(opened):
    page = play(opened, "CartPole-v1", reduced_motion="reduce")
    assert page.input_value("#speed") == "5"
    assert page.evaluate("getComputedStyle(document.getElementById('run')).transitionDuration") == "0s"
