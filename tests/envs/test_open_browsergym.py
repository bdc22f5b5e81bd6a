"""BrowserGym: a language of actions, tasks that a seed decides, pages that see no network, and nothing left behind."""

import os
import signal
import socket
import subprocess
import sys
import threading
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, contextmanager
from importlib.machinery import ModuleSpec
from importlib.util import find_spec
from itertools import product
from pathlib import Path

import numpy as np
import pytest

import ludus
from ludus.core import Outcome
from ludus.envs.open.browsergym import BrowserAction, BrowserGym, BrowserGymAction, miniwob, tab
from ludus.envs.open.browsergym.actions import parse
from ludus.envs.open.browsergym.benchmark import MiniwobEpisode
from ludus.envs.open.browsergym.chromium import DEBIAN, acquire, program, release, shut_down
from ludus.envs.open.browsergym.commands import Commands
from ludus.envs.open.browsergym.context import Context, Spares, Start
from ludus.envs.open.browsergym.devtools import DevTools, ProtocolError
from ludus.envs.open.browsergym.miniwob import miniwob_tasks
from ludus.envs.open.browsergym.patience import LOOKS, MAX_TIMES, Patience
from ludus.envs.open.browsergym.policies import POLICIES
from ludus.envs.open.browsergym.remote import remote_tree
from ludus.envs.open.browsergym.sites import site_tasks
from ludus.envs.open.browsergym.solutions import SOLUTIONS
from ludus.envs.open.browsergym.tab import PageError, PageRequest, PageResponse, TabSettings
from ludus.errors import ChannelError, EnvError, InvalidAction, InvalidArgument, MissingExtra, ResetNeeded
from ludus.sandbox import Limits, Sandbox
from ludus.sandbox.deadlines import Deadlines
from ludus.server.protocols.memory import LocalServer
from ludus.spaces.shown import shown
from ludus.testing import data_equal
from tests.envs.open_play import play
from tests.patience import until
from tests.sampling import FULL

pytestmark = pytest.mark.xdist_group("browsergym")
SETTINGS = TabSettings(500, 320, True, 10.0)


@pytest.fixture(scope="module", autouse=True)
def browser():
    yield acquire()
    release()
    shut_down()


@pytest.fixture
def running():
    """The browser of this process, begun again where a test has ended it."""
    yield acquire()
    release()


@pytest.fixture(scope="module")
def env():
    with BrowserGym() as env:
        yield env


@pytest.fixture(scope="module")
def sites():
    with BrowserGym(benchmark="sites") as env:
        yield env


@pytest.fixture
def page():
    """A page of the test's own, with the commands that act in it."""
    opened = []

    def open_page(html, settings=SETTINGS, path="/"):
        pages = {"/": html} if isinstance(html, str) else html

        def serve(request):
            if not request.url.startswith("http://page.test/"):
                return None
            found = pages.get("/" + request.url.removeprefix("http://page.test/").partition("?")[0])
            return found and PageResponse(200, (("Content-Type", "text/html"),), found.encode())

        context = Context(acquire(), Start(settings, f"http://page.test{path}", serve))
        opened.append(context)
        return Commands(context)

    yield open_page
    for context in opened:
        context.close()
        release()


def do(commands, text):
    for call in parse(text):
        commands.run(call)


# --- the action language ---


@pytest.mark.parametrize(
    ("text", "name", "arguments"),
    [
        ("click('12')", "click", {"bid": "12", "button": "left", "modifiers": ()}),
        ("click(12)", "click", {"bid": "12", "button": "left", "modifiers": ()}),
        ("```python\nclick('a', button='right', modifiers=['Shift'])\n```", "click", None),
        ("fill('1', 'two words')", "fill", {"bid": "1", "value": "two words", "enable_autocomplete_menu": False}),
        ("scroll(0, -200.5)", "scroll", {"delta_x": 0, "delta_y": -200.5}),
        ("click [id=123]", "click", {"bid": "123", "button": "left", "modifiers": ()}),
        ("fill [name=search] Hello World", "fill", None),
        ("scroll down", "scroll", {"delta_x": 0, "delta_y": 300}),
        ("navigate https://example.com", "goto", {"url": "https://example.com"}),
        ("noop()", "noop", {"wait_ms": 1000}),
    ],
)
def test_calls_and_plain_forms_are_understood(text, name, arguments):
    [call] = parse(text)
    assert call.name == name
    assert arguments is None or call.arguments == arguments


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("", "the action is empty"),
        ("clik('1')", "did you mean 'click'"),
        ("click()", "expected an argument 'bid'"),
        ("click('1', colour='red')", "got 'colour'"),
        ("click(__import__('os').system('true'))", "expected plain values"),
        ("import os", "expected calls as click"),
        ("x = 1", "expected calls as click"),
        ("scroll('a', 1)", "expected delta_x as int or float"),
        ("fill [colour=red] x", "expected an element by one of"),
        ("(((", "expected calls as click"),
        ("\n".join(["noop()"] * 21), "at most 20 calls"),
    ],
)
def test_what_is_no_action_is_told_and_never_executed(text, said):
    with pytest.raises(PageError, match=said.replace("(", r"\(")):
        parse(text)


def test_a_wrong_action_is_told_and_the_episode_goes_on(env):
    env.reset(seed=0, options={"task_name": "click-test"})
    for text, said in (
        ("click('999')", "no element with bid '999'"),
        ("nonsense", "expected calls"),
        ("upload_file('1', 'x')", "cannot be uploaded"),
        ("goto('javascript:alert(1)')", "begins with http"),
        ("go_back()", "no page to go back to"),
    ):
        step = env.step(BrowserGymAction(text))
        assert step.observation.last_action_error
        assert said in step.observation.error
        assert not step.done
    assert step.info["facts"] | {"won": False, "action_error": True} == step.info["facts"]
    assert env.step(BrowserAction(action="click('4')")).info["facts"]["won"]
    with pytest.raises(ResetNeeded):
        env.step(BrowserGymAction("noop()"))
    env.reset(seed=0)
    with pytest.raises(InvalidAction):
        env.step(BrowserGymAction(3))


FORM = """<title>Form</title><input id=a name=first><textarea id=t></textarea><input type=checkbox id=c>
<select id=s multiple><option>one<option>two</select><button id=b onclick="said.textContent+=' clicked'"
 ondblclick="said.textContent+=' twice'" oncontextmenu="said.textContent+=' menu';return false">B</button>
<div id=h onmouseover="said.textContent+=' over'">hover</div><p id=said></p><input disabled id=d><input readonly id=r>
<div style="height:2000px"></div><a id=far href="#far">far</a>"""


def test_every_kind_of_call_does_what_a_hand_would(page):
    commands = page(FORM)
    do(commands, "fill('a', 'text')\npress('a', 'End')\nkeyboard_type('Ab 1')")
    do(commands, "press('a', 'Control+a')\nkeyboard_press('Control+c')\nfocus('t')\nkeyboard_press('Control+v')")
    do(commands, "select_option('s', ['one', 'two'])\ncheck('c')\ncheck('c')")
    do(commands, "click('b', button='right')\ndblclick('b')\nhover('h')\nclick('far')")
    value = commands.tab.evaluate("[a.value, t.value, c.checked, [...s.selectedOptions].map(o=>o.value), scrollY>500]")
    assert value == ["textAb 1", "textAb 1", True, ["one", "two"], True]
    assert commands.tab.evaluate("said.textContent") == " menu clicked clicked twice over"
    do(commands, "clear('a')\nuncheck('c')\nscroll(0, -5000)\nfocus('a')\nsend_keys('xyz')\nsend_keys('Backspace')")
    do(
        commands,
        "keyboard_down('Shift')\nkeyboard_press('ArrowLeft')\nkeyboard_up('Shift')\nkeyboard_insert_text('é☃')",
    )
    assert commands.tab.evaluate("[a.value, c.checked, scrollY]") == ["xé☃", False, 0]
    for text, said in (
        ("fill('d', 'x')", "disabled"),
        ("fill('r', 'x')", "read-only"),
        ("fill('b', 'x')", "no text field"),
        ("select_option('s', 'three')", "has no option"),
        ("press('a', 'Control+Nokey')", "there is no key"),
        ("click('a', button='fourth')", "expected a button of"),
        ("tab_focus(3)", "there is no tab 3"),
    ):
        with pytest.raises(PageError, match=said):
            do(commands, text)


def test_mouse_calls_draw_and_drag(page):
    commands = page(
        "<style>*{margin:0}</style><div id=b style='width:50px;height:50px;background:red;position:absolute'></div>"
        "<script>let on=false;b.onmousedown=()=>on=true;onmouseup=()=>on=false;"
        "onmousemove=e=>{if(on){b.style.left=e.clientX-25+'px';b.style.top=e.clientY-25+'px'}}</script>"
    )
    do(commands, "mouse_drag_and_drop(25, 25, 125, 85)")
    assert commands.tab.evaluate("[b.style.left, b.style.top]") == ["100px", "60px"]
    do(commands, "mouse_move(125, 85)\nmouse_down(125, 85)\nmouse_up(225, 85)\nmouse_click(5, 5)\nmouse_dblclick(5, 5)")
    assert commands.tab.evaluate("b.style.left") == "200px"


def test_pages_tabs_and_history(page):
    commands = page({"/": "<a href=/two id=l>two</a><a href=/two id=n target=_blank>new</a>", "/two": "<h1>Two</h1>"})
    context = commands.context
    do(commands, "click('l')")
    assert commands.tab.evaluate("document.body.textContent") == "Two"
    do(commands, "go_back()")
    assert commands.tab.evaluate("location.pathname") == "/"
    do(commands, "go_forward()\ngo_back()\nclick('n')")
    assert (len(context.tabs), context.active, commands.tab.evaluate("location.pathname")) == (2, 1, "/two")
    do(commands, "tab_focus(0)\nnew_tab()\ngoto('http://page.test/two')")
    assert (len(context.tabs), context.active) == (3, 2)
    do(commands, "tab_close()\ntab_close()\ntab_close()")
    assert len(context.tabs) == 1
    do(commands, "goto('http://elsewhere.test/')")
    assert "not part of the environment" in commands.tab.evaluate("document.body.textContent")
    assert context.refused == ["http://elsewhere.test/"]


@pytest.mark.parametrize(("accept", "answers"), [(True, [True, "dear"]), (False, [False, None])])
def test_dialogs_are_answered_and_told(page, accept, answers):
    html = "<button id=b onclick='alert(1);window.r=[confirm(2),prompt(3,\"dear\")]'>b</button>"
    commands = page(html, SETTINGS._replace(accept_dialogs=accept))
    do(commands, "click('b')")
    assert [one["type"] for one in commands.context.dialogs] == ["alert", "confirm", "prompt"]
    assert commands.tab.evaluate("window.r") == answers


# --- time ---


def test_the_clock_of_a_page_is_ours_and_costs_no_waiting(page):
    commands = page("<p id=p></p><script>setTimeout(()=>p.textContent='done '+performance.now(),30000)</script>")
    do(commands, "noop(29000)")
    assert commands.tab.evaluate("p.textContent") == ""
    do(commands, "noop(1500)")
    assert commands.tab.evaluate("p.textContent") == "done 30000"


def test_a_page_that_never_answers_is_given_up(page):
    commands = page("<button id=b onclick='while(1);'>b</button>", SETTINGS._replace(seconds=0.5))
    with pytest.raises(ProtocolError, match="no answer within"):
        do(commands, "click('b')")


HOGS = """import os, sys
for _ in range(5):
    os.fork() or os.execv("/bin/sh", ["sh", "-c", "while :; do :; done"])
print("there", flush=True)
sys.stdin.read()
"""


@contextmanager
def process(program):
    """A program of Python on one core, whatever it starts with it."""
    pinned = f"import os; os.sched_setaffinity(0, list(os.sched_getaffinity(0))[:1])\n{program}"
    pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "start_new_session": True}
    with subprocess.Popen([sys.executable, "-c", pinned], **pipes) as started:
        try:
            assert started.stdout.readline() == b"there\n"
            yield started
        finally:
            os.killpg(started.pid, signal.SIGKILL)


def waits(pid, seconds):
    """How often whoever waits for something of that process that never comes is told to wait on, and what for."""
    asked = []
    never = threading.Event()
    assert not Patience(pid).wait(lambda most: asked.append(most) or never.wait(most), seconds)
    return len(asked)


def test_time_in_line_for_a_core_is_no_fault_of_a_page():
    """With a hundred sessions on two cores a page was given up after ten seconds by the clock, and had not run."""
    with process(HOGS) as starved:
        assert waits(starved.pid, 0.2) == 1 + LOOKS * (MAX_TIMES - 1)  # to the end, which there is
        late = iter((False, False, False, True))
        assert Patience(starved.pid).wait(lambda most: threading.Event().wait(most) or next(late), 0.2)
    with process("print('there', flush=True); input()") as idle:
        assert waits(idle.pid, 0.2) == 2  # a look after the time, and no more


def test_a_browser_that_dies_ends_the_episode_as_nobodys_fault():
    env = BrowserGym(task_name="click-test")
    env.reset(seed=0)
    env._context.browser.process.kill()
    step = env.step(BrowserGymAction("noop()"))
    assert step.truncated
    assert Outcome.told(step.info["outcome"]) is Outcome.ENVIRONMENT_FAILED
    assert env.reset(seed=0)[0].goal == "Click the button."
    env.close()


def test_a_reset_after_a_browser_died_begins_in_another_one_and_a_page_that_never_answers_is_told(monkeypatch):
    env = BrowserGym(task_name="click-test")
    env.reset(seed=0)
    dead = env._context.browser
    noticed = iter([True])  # not yet when it is first asked
    monkeypatch.setattr(type(dead), "lives", property(lambda one: next(noticed, one.tools.lost is None)))
    dead.tools.close()
    assert env.reset(seed=0)[0].goal == "Click the button."
    assert env._context.browser is not dead
    monkeypatch.setattr(env, "_observed", lambda *_: (_ for _ in ()).throw(ProtocolError("Page.x: no answer")))
    with pytest.raises(ChannelError, match=r"reset: expected a page that answers, got: Page\.x: no answer"):
        env.reset(seed=0)
    env.close()


def test_a_picture_of_a_page_that_crashed_says_so():
    with BrowserGym(task_name="click-test", render_mode="rgb_array") as env:
        env.reset(seed=0)
        env._context.tab.post("Page.crash")
        until(lambda: env._context.tab.gone, "the page is alive still")
        with pytest.raises(ChannelError, match=r"render: expected a page that answers, got: .* it crashed"):
            env.render()
        env.reset(seed=0)
        assert env.render().any()


def test_a_browser_that_no_longer_listens_is_known_to_be_gone_at_once():
    ours, theirs = socket.socketpair()
    theirs.shutdown(socket.SHUT_RD)  # nobody hears us, and whoever reads waits still
    tools = DevTools(ours, Patience(os.getpid()))
    with pytest.raises(ChannelError, match="expected one that listens"):
        tools.call("Browser.getVersion")
    assert tools.lost == "Broken pipe"
    tools.close()
    theirs.close()


# --- what pages may reach, and what they leave ---

ATTEMPTS = """<link rel=dns-prefetch href=//outside.test><link rel=preconnect href=http://127.0.0.1:PORT>
<img src=http://127.0.0.1:PORT/img><script>
window.tried=[];const t=(n,f)=>{try{f()}catch(e){tried.push(n)}};
for(const h of ["127.0.0.1:PORT","localhost:PORT","outside.test"]){
 fetch("http://"+h+"/fetch",{mode:"no-cors"}).then(()=>tried.push("REACHED"),()=>tried.push("refused"));
 t("ws",()=>{const w=new WebSocket("ws://"+h+"/ws");w.onopen=()=>tried.push("REACHED")});
 t("beacon",()=>navigator.sendBeacon("http://"+h+"/beacon","x"));
 t("events",()=>{new EventSource("http://"+h+"/events")});
}
t("rtc",()=>{const p=new RTCPeerConnection({iceServers:[{urls:"stun:127.0.0.1:PORT"}]});
 p.createDataChannel("x");p.createOffer().then(o=>p.setLocalDescription(o));
 p.onicecandidate=e=>{if(e.candidate&&e.candidate.type==="srflx")tried.push("REACHED")}});
</script>"""


def test_nothing_that_a_page_tries_arrives_anywhere(page):
    with socket.create_server(("127.0.0.1", 0)) as listening, socket.socket(type=socket.SOCK_DGRAM) as datagrams:
        port = listening.getsockname()[1]
        datagrams.bind(("127.0.0.1", port))
        commands = page(ATTEMPTS.replace("PORT", str(port)))
        do(commands, "noop(5000)")
        until(lambda: commands.tab.evaluate("tried").count("refused") >= 3, "refusals of all three")
        tried = commands.tab.evaluate("tried")
        assert "REACHED" not in tried
        assert tried.count("refused") == 3
        for one in (listening, datagrams):
            one.settimeout(0.3)
            with pytest.raises(TimeoutError):
                one.recvfrom(1) if one is datagrams else one.accept()


LEAVE = (
    "localStorage.x=1;sessionStorage.x=1;document.cookie='x=1;max-age=9999';indexedDB.open('left');name='left';"
    "window.open('/');1"
)
LEFT = """Promise.resolve(indexedDB.databases()).then(d=>[localStorage.length,sessionStorage.length,document.cookie,
d.length,window.name,'serviceWorker' in navigator,history.length])"""


def test_the_next_episode_finds_nothing_of_the_last(env):
    env.reset(seed=1, options={"task_name": "click-button"})
    first = env._context
    assert first.tab.evaluate(LEFT)[:5] == [0, 0, "", 0, ""]
    first.tab.evaluate(LEAVE)
    env.step(BrowserGymAction("noop()"))
    env.reset(seed=1, options={"task_name": "click-button"})
    assert env._context is not first
    assert env._context.tab.evaluate(LEFT) == [0, 0, "", 0, "", False, 1]
    assert len(env._context.tabs) == 1
    cookies = env._context.tools.call("Storage.getCookies", {"browserContextId": env._context.id})
    assert cookies == {"cookies": []}


KILLED = """
import os, sys
from ludus.envs.open.browsergym import BrowserGym
env = BrowserGym(task_name="click-test")
env.reset(seed=0)
print(env._context.browser.process.pid, flush=True)
sys.stdin.read()
"""


def test_no_browser_outlives_its_process():
    with subprocess.Popen([sys.executable, "-c", KILLED], stdin=-1, stdout=-1, text=True) as process:
        browser = int(process.stdout.readline())
        process.send_signal(signal.SIGKILL)
    until(lambda: not os.path.exists(f"/proc/{browser}"), "the browser outlives its process")


def test_the_browser_is_behind_a_boundary_without_network(env):
    env.reset(seed=0)
    guarantees = env._context.browser.process.guarantees
    assert guarantees.boundary
    assert guarantees.network
    assert guarantees.memory


# --- tasks ---


def test_there_are_more_than_a_hundred_tasks_and_forty_of_our_own():
    assert len(miniwob_tasks()) >= 125
    assert len(site_tasks()) >= 40
    assert len(SOLUTIONS) >= 20


def history(env, task, seed):
    observation, info = env.reset(seed=seed, options={"task_name": task})
    told = [observation, info]
    rng = np.random.default_rng(seed)
    for _ in range(2):
        step = env.step(POLICIES["random"](env, observation, rng))
        observation = step.observation
        told.append(step)
        if step.done:
            break
    return told


@pytest.mark.parametrize("task", ["choose-date", "social-media", "chase-circle", "click-pie"])
def test_a_seed_is_a_task_to_the_last_character(env, task):
    assert history(env, task, 5) == history(env, task, 5)


@pytest.mark.full
@pytest.mark.parametrize("task", [*miniwob_tasks()])
def test_every_task_begins_and_takes_a_step_alike_twice(env, task):
    assert history(env, task, 11) == history(env, task, 11)


EACH_TIME = ("click-dialog-2", "click-checkboxes", "choose-list", "enter-date", "copy-paste", "button-delay")


def test_pages_of_some_tasks_are_remembered_and_not_of_all():
    for task in miniwob_tasks()[: 2 * miniwob.MAX_PAGES]:
        miniwob.miniwob_page(miniwob.task_url(task), False)
    assert miniwob.miniwob_page.cache_info().currsize == miniwob.MAX_PAGES


def test_pages_are_found_where_the_package_is_reached_by_a_link(tmp_path, monkeypatch):
    """As in a virtual environment behind one: a page without its libraries has nothing that begins its task."""
    spec = find_spec("miniwob")
    (tmp_path / "linked").symlink_to(Path(spec.origin).parent)
    linked = ModuleSpec("miniwob", None, origin=str(tmp_path / "linked" / "__init__.py"))
    monkeypatch.setattr(miniwob, "find_spec", {"miniwob": linked}.get)
    for cached in (miniwob._folder, miniwob._served, miniwob.miniwob_page):
        cached.cache_clear()
    try:
        page = miniwob.serve_miniwob(PageRequest("GET", f"http://{miniwob.HOST}/core/core.js", {}, b""))
        assert page.status == 200
        assert b"seedrandom" in page.body
    finally:
        for cached in (miniwob._folder, miniwob._served, miniwob.miniwob_page):
            cached.cache_clear()


@pytest.mark.parametrize(
    "task", [*EACH_TIME, *(pytest.param(one, marks=pytest.mark.full) for one in SOLUTIONS if one not in EACH_TIME)]
)
def test_solutions_of_miniwob_win(env, task):
    for seed in range(2 if FULL else 1):
        env.reset(seed=seed)
        observation, _ = env.reset(seed=seed, options={"task_name": task})
        for _ in range(4):
            step = env.step(POLICIES["oracle"](env, observation, None))
            observation = step.observation
            if step.done:
                break
        assert step.info["facts"]["won"], (task, seed, step)


OWN_EACH_TIME = ("shop.order-with-code", "forum.edit-own-post", "tracker.close-all-wontfix", "shop.tell-price")


REST = [one for one in site_tasks() if one not in OWN_EACH_TIME]


@pytest.mark.parametrize("task", [*OWN_EACH_TIME, *(pytest.param(one, marks=pytest.mark.full) for one in REST)])
def test_every_task_of_our_sites_can_be_done_and_is_not_done_by_itself(sites, task):
    for seed in range(2 if FULL else 1):
        sites.reset(seed=seed, options={"task_name": task})
        step = sites.step(BrowserGymAction("noop()"))
        assert not step.done
        sites.reset(seed=seed, options={"task_name": task})
        for text in sites._episode.task.actions:
            step = sites.step(BrowserGymAction(text))
            assert not step.observation.error, (task, text, step.observation.error)
        assert step.info["facts"]["won"], (task, seed)
        assert (step.reward, step.terminated) == (1.0, True)


def test_what_an_agent_says_it_did_is_no_success(sites):
    for task in ("shop.add-to-cart", "forum.pin-thread", "tracker.close-issue", "shop.order-what-is-not-sold"):
        sites.reset(seed=1, options={"task_name": task})
        step = sites.step(BrowserGymAction("send_msg_to_user('Done!')"))
        assert step.terminated
        assert Outcome.told(step.info["outcome"]) is Outcome.FAILURE
        sites.reset(seed=1, options={"task_name": task})
        step = sites.step(BrowserGymAction("report_infeasible('no')"))
        assert step.info["facts"]["won"] is (task == "shop.order-what-is-not-sold")


def test_a_guest_changes_nothing(sites):
    sites.reset(seed=1, options={"task_name": "shop.add-to-cart"})
    site = sites._episode.site
    sites.step(BrowserGymAction('click [css=header form[action="/logout"] button]'))
    number = next(iter(site.products))
    sites.step(BrowserGymAction(f"goto('/product/{number}')"))
    step = sites.step(BrowserGymAction(f"click [css=form[action='/cart/{number}'] button]"))
    assert step.observation.url.endswith("/login")
    assert not site.changes
    sign_in = f"fill('username', 'robin')\nfill('password', '{site.password}')\npress('password', 'Enter')"
    step = sites.step(BrowserGymAction(sign_in))
    assert "robin" in step.observation.axtree_txt
    assert step.observation.url == "http://shop.test/"


@pytest.mark.parametrize("seeds", [1, pytest.param(20, marks=pytest.mark.full)])
def test_who_knows_wins_and_nonsense_never_does(env, sites, seeds):
    tasks = [(env, "click-checkboxes"), (env, "enter-text"), (sites, "forum.subscribe-to-board")]
    means, winners = {}, set()
    for name, policy in POLICIES.items():
        returns = []
        for one, task in tasks:
            for seed in range(seeds):
                observation, info = one.reset(seed=seed, options={"task_name": task})
                rng, total = np.random.default_rng(seed), 0.0
                for _ in range(5):
                    step = one.step(policy(one, observation, rng))
                    observation, total, info = step.observation, total + step.reward, step.info
                    if step.done:
                        break
                returns.append(total)
                if Outcome.told(info.get("outcome")) is Outcome.SUCCESS:
                    winners.add(name)
        means[name] = float(np.mean(returns))
    assert means["oracle"] == 1.0 > means["random"] >= means["nop"] == 0.0
    assert means["garbage"] == 0.0
    assert "oracle" in winners
    assert winners.isdisjoint({"nop", "garbage"})


# --- the rest ---


def test_a_restored_episode_is_where_it_was(env):
    env.reset(seed=3, options={"task_name": "enter-text"})
    field = "fill [css=#tt] {}"
    env.step(BrowserGymAction(field.format("one")))
    before = env.snapshot()
    env.step(BrowserGymAction(field.format("two")))
    env.restore(before)
    assert "value='one'" in env.step(BrowserGymAction("noop()")).observation.axtree_txt
    with BrowserGym() as other:
        other.restore(before)
        assert "value='one'" in other.step(BrowserGymAction("noop()")).observation.axtree_txt


def test_sessions_at_once_have_their_own_pages(browser):
    def one(number):
        with BrowserGym(task_name="enter-text") as env:
            first, _ = env.reset(seed=7)
            step = env.step(BrowserGymAction(f"fill [css=#tt] number {number}"))
            return first.axtree_txt, f"value='number {number}'" in step.observation.axtree_txt

    with ThreadPoolExecutor(4) as threads:
        results = list(threads.map(one, range(4)))
    assert len({tree for tree, _ in results}) == 1
    assert all(own for _, own in results)
    assert threading.active_count() < 50


def test_a_time_limit_is_of_the_pages_clock_and_lowers_the_reward():
    with BrowserGym(task_name="click-test", time_limit=10) as env:
        env.reset(seed=0)
        env.step(BrowserGymAction("noop(4500)"))
        step = env.step(BrowserGymAction("click('4')"))
        assert step.reward == pytest.approx(0.55)
        assert step.info["facts"]["raw_reward"] == 1.0
        env.reset(seed=0)
        step = env.step(BrowserGymAction("noop(10000)"))
        assert step.terminated
        assert step.info["facts"]["reason"] == "timed out"


def test_screenshots_are_png_with_marks_where_asked_for():
    sizes = []
    for kind in ("plain", "marks"):
        with BrowserGym(task_name="click-test", screenshot=kind, render_mode="rgb_array") as env:
            observation, _ = env.reset(seed=0)
            assert observation.screenshot.startswith(b"\x89PNG")
            assert env.render().shape == (320 + 58, 500, 3)
            sizes.append(observation.screenshot)
    assert sizes[0] != sizes[1]


def test_openenvs_variables_and_names_are_read(monkeypatch):
    monkeypatch.setenv("BROWSERGYM_BENCHMARK", "miniwob")
    monkeypatch.setenv("BROWSERGYM_TASK_NAME", "click-test-2")
    monkeypatch.setenv("BROWSERGYM_VIEWPORT_WIDTH", "640")
    monkeypatch.setenv("BROWSERGYM_VIEWPORT_HEIGHT", "480")
    monkeypatch.setenv("BROWSERGYM_TIMEOUT", "5000")
    with BrowserGym() as env:
        env.reset(seed=0)
        assert env._context.tab.evaluate("[innerWidth, innerHeight]") == [640, 480]
        shown = env.state_data()
    assert shown["task_id"] == "miniwob.click-test-2"
    assert {"benchmark", "task_name", "goal", "current_url", "max_steps", "cum_reward"} <= set(shown)


def test_wrong_arguments_say_what_was_expected(monkeypatch):
    for kwargs, said in (
        ({"task_name": "click-tst"}, "did you mean 'click-test'"),
        ({"benchmark": "miniwobb"}, "did you mean 'miniwob'"),
        ({"viewport": (1, 2)}, "viewport: expected"),
        ({"timeout": 1}, "timeout: expected"),
        ({"screenshot": "yes"}, "screenshot: expected"),
        ({"time_limit": -1}, "time_limit: expected"),
        ({"benchmark": "webarena"}, "WA_SHOPPING"),
        ({"benchmark": "workarena"}, "SNOW_INSTANCE_URL"),
    ):
        with pytest.raises(InvalidArgument, match=said):
            BrowserGym(**kwargs)
    for name in ("SHOPPING", "SHOPPING_ADMIN", "REDDIT", "GITLAB", "MAP", "WIKIPEDIA", "HOMEPAGE"):
        monkeypatch.setenv(f"WA_{name}", "http://localhost:9")
    with pytest.raises(MissingExtra, match="pip install browsergym-webarena"):
        BrowserGym(benchmark="webarena", task_name="3")
    monkeypatch.setenv("LUDUS_CHROMIUM", "/nowhere")
    with pytest.raises(MissingExtra, match="LUDUS_CHROMIUM"):
        program()


def test_a_context_that_is_being_made_is_waited_for_and_handed_out_once(running):
    served = lambda request: PageResponse(200, (("Content-Type", "text/html"),), b"<p>made ahead")  # noqa: E731
    spares, start = Spares(), Start(SETTINGS, "http://page.test/ahead", served)
    spares.prepare(running, start)
    before = set(running.openers)
    with ThreadPoolExecutor(2) as threads:
        first, second = threads.map(lambda _: spares.take(running, start), range(2))
    assert first.id != second.id
    assert len(set(running.openers) - before) <= 2  # the one that was under way, and one more for the other
    assert first.tab.evaluate("document.body.innerText") == second.tab.evaluate("document.body.innerText")
    for one in (first, second):
        one.close()


def test_a_page_that_loads_slowly_is_waited_for_before_an_episode_begins(running, monkeypatch):
    """On a busy machine pages took longer than an agent's step may, and tasks began in half of a page."""
    monkeypatch.setattr(tab, "QUIET_SECONDS", 0.05)

    def served(request):
        if request.url.endswith("/slow.js"):
            threading.Event().wait(0.4)
            return PageResponse(200, (("Content-Type", "text/javascript"),), b"window.there = 1")
        return PageResponse(200, (("Content-Type", "text/html"),), b"<script src=/slow.js></script><p id=end>")

    context = Context(running, Start(SETTINGS, "http://page.test/", served))
    assert context.tab.evaluate("[window.there, Boolean(document.getElementById('end'))]") == [1, True]
    context.close()


def test_what_puts_a_task_up_is_not_held_to_the_time_of_an_agents_step(running):
    def served(request):
        threading.Event().wait(0.4 if request.url.endswith("/slow") else 0)
        return PageResponse(200, (("Content-Type", "text/html"),), b"<p>there")

    context = Context(running, Start(SETTINGS._replace(seconds=0.01), "http://page.test/", served))
    with context.setting_up():
        assert context.tab.evaluate("fetch('/slow').then((one) => one.status)") == 200
    with pytest.raises(ProtocolError, match=r"no answer within 0\.01 s"):
        context.tab.evaluate("new Promise(() => 0)")
    context.close()


WIDE = b"<svg xmlns='http://www.w3.org/2000/svg' width='60' height='20'></svg>"
STYLED = "<style>@media all{.mark{content:url('/wide.svg');height:20px}}</style>"


@pytest.mark.parametrize(
    "shown",
    ["<span class=mark onclick=0></span>", "<button><img src=/wide.svg></button>", "<a href=/ class=mark></a>"],
    ids=["a picture of the style", "a picture", "a link"],
)
@pytest.mark.parametrize("when", ["", "setTimeout(() => { %s }, 10)"], ids=["at once", "later"])
def test_a_picture_that_a_script_shows_has_come_before_the_page_is_looked_at(running, shown, when):
    """On a busy machine pictures came after the look, and elements of their size were there without any."""

    def served(request):
        if request.url.endswith("/wide.svg"):
            threading.Event().wait(0.2)
            return PageResponse(200, (("Content-Type", "image/svg+xml"),), WIDE)
        return PageResponse(200, (("Content-Type", "text/html"),), f"{STYLED}<div id=here>".encode())

    context = Context(running, Start(SETTINGS._replace(seconds=60.0), "http://page.test/", served))
    script = f"document.getElementById('here').innerHTML = {shown!r}"
    context.tab.evaluate(when % script if when else script)
    context.settle(20)
    (*_, width, height) = context.tab.ask("observe", 1000)["boxes"][-1]
    context.close()
    assert width >= 60
    assert height >= 20


def test_an_empty_context_made_ahead_has_no_history_before_the_task(running):
    served = lambda request: PageResponse(200, (("Content-Type", "text/html"),), b"<p>the task")  # noqa: E731
    spares, start = Spares(), Start(SETTINGS, "http://page.test/task", served)
    spares.prepare(running, start.empty)
    spares.wait()
    before = set(running.openers)
    context = spares.take(running, start)
    assert set(running.openers) == before  # none was made now
    assert context.tab.evaluate("document.body.innerText") == "the task"
    with pytest.raises(PageError, match="no page to go back to"):
        context.tab.history(-1)
    context.close()


WRITTEN = ("click-collapsible-2", "drag-circle", "email-inbox", "click-pie")
"""With jQuery UI, with D3, with jQuery and pictures, and with libraries of its own."""
UNWRITTEN = [task for task in miniwob_tasks() if task not in WRITTEN]


@pytest.mark.parametrize(
    ("task", "shared"),
    [
        *((task, bool(number % 2)) for number, task in enumerate(WRITTEN)),
        *(pytest.param(task, not number % 2, marks=pytest.mark.full) for number, task in enumerate(WRITTEN)),
        *(pytest.param(*one, marks=pytest.mark.full) for one in product(UNWRITTEN, (True, False))),
    ],
)
def test_a_page_written_in_the_place_of_an_empty_one_is_the_page_itself(running, task, shared):
    """Whether the libraries that it shares with others have been loaded there, or not."""

    def shown(context):
        seen = episode.begin(context, "__ludus.observe(100000)")
        left = "Object.keys(window).filter((one) => !['__ludus'].includes(one)).sort()"
        kept = f"[document.compatMode,document.readyState,history.length,__ludus.clock.ids,{left}]"
        found = episode.goal, seen, context.tab.evaluate(kept), list(context.refused)
        context.close()
        return found

    episode = MiniwobEpisode(task, 5, None)
    start = episode.start(SETTINGS._replace(seconds=60.0))
    written = Context(running, start.empty)
    if shared:
        written.load_libraries()
        until(lambda: written.libraries_loaded, "the libraries to be there")
    assert written.tab.evaluate("location.pathname") == "/.blank"
    written.load(start.url)
    assert shown(written) == shown(Context(running, start))


def test_libraries_that_come_while_a_page_is_written_change_nothing_and_leave_nothing(running):
    episode = MiniwobEpisode("click-collapsible-2", 5, None)
    start = episode.start(SETTINGS._replace(seconds=60.0))
    written, plain = Context(running, start.empty), Context(running, start)
    before = len(running.tools.unanswered)
    written.load_libraries()
    written.load(start.url)
    assert not written.libraries_loaded
    look = "[__ludus.observe(100000),frames.length]"
    assert episode.begin(written, look) == episode.begin(plain, look)
    written.close()
    plain.close()
    running.tools.call("Browser.getVersion")
    until(lambda: len(running.tools.unanswered) <= before, "every call to have an answer")


def test_a_page_that_is_closed_keeps_nobody_waiting(running):
    context = Context(running, Start(SETTINGS, "http://page.test/.blank"))
    asked = context.tab.post("Runtime.evaluate", {"expression": "new Promise(() => 0)", "awaitPromise": True})
    context.tab.evaluate("1")
    context.close()
    with pytest.raises(ProtocolError, match="the page was closed"):
        asked.result(30.0)


def test_one_context_is_made_ahead_and_another_for_each_who_waits_for_it(running):
    served = lambda request: PageResponse(200, (("Content-Type", "text/html"),), b"<p>made ahead")  # noqa: E731
    spares, start = Spares(), Start(SETTINGS, "http://page.test/hurry", served)
    before = set(running.openers)
    first = spares.prepare(running, start)
    assert first is not None
    assert spares.prepare(running, start) is None  # one is under way
    first.join()
    assert len(set(running.openers) - before) == 1
    assert spares.seconds > 0.0
    assert spares.prepare(running, start) is None  # one is there
    taken = [spares.take(running, start)]
    second = spares.prepare(running, start, bare=True)
    assert second is not None
    second.join()
    taken.append(spares.take(running, start))
    assert len(set(running.openers) - before) == 2
    for one in taken:
        one.close()


@pytest.mark.parametrize("task", ["click-test", None], ids=["one task", "any task"])
def test_who_resets_soon_has_the_next_context_made_by_then_and_the_same_history(task, monkeypatch):
    """So that the few steps of a short episode have the browser for themselves."""
    spares = Spares()
    monkeypatch.setattr(sys.modules[BrowserGym.__module__], "_spares", spares)

    def history(seconds):
        told, done = [], []
        with BrowserGym(task_name=task) as env:
            for seed in range(3):
                spares.wait()
                spares.seconds = seconds
                told.append(shown(env.reset(seed=seed)))
                done.append(spares.wait(0.0))
                told.append(shown(list(env.step(BrowserGymAction("noop()")))))
        spares.wait()
        return told, done

    slowly, _ = history(0.0)
    soon, done = history(3600.0)  # no episode is as long as that
    assert done[1:] == [True, True]  # of the first nobody knows
    assert soon == slowly


def test_a_frame_that_goes_elsewhere_is_waited_for(page):
    commands = page({"/": "<iframe src=/a></iframe>", "/a": "<a href=/b id=go>go</a>", "/b": "<p>elsewhere"})
    do(commands, "click('go')")
    assert "elsewhere" in commands.tab.ask("observe", 1000)["tree"]


@pytest.mark.parametrize(
    "tasks",
    [
        ["click-checkboxes"],
        pytest.param(["enter-date", "book-flight", "click-pie", "drag-box"], marks=pytest.mark.full),
    ],
    ids=["one task", "others"],
)
def test_the_headless_shell_and_the_whole_browser_give_one_history(tasks):
    """In processes of their own, since a process has one browser.

    The whole one does not wait for us with what a page asks for first, and showed an error page in its place.
    """
    if not all(path.exists() for path in DEBIAN):
        pytest.skip("one of the two is not installed: all other tests are of the one that is")
    said = {}
    for path in DEBIAN:
        ran = subprocess.run(
            [sys.executable, "-c", HISTORY, *tasks],
            env={**os.environ, "LUDUS_CHROMIUM": str(path)},
            stdout=subprocess.PIPE,
            check=True,
        )
        said[path.name] = ran.stdout
    assert len(said) == 2
    assert len(set(said.values())) == 1


HISTORY = """
import sys
from ludus.envs.open.browsergym import BrowserGym, BrowserGymAction
for task in sys.argv[1:]:
    with BrowserGym(task_name=task) as env:
        print(env.reset(seed=3))
        for text in ("click('6')", "fill('5', '03/04/2017')", "noop()", "scroll(0, 50)", "click('8')"):
            if not env.unwrapped._over:
                print(env.step(BrowserGymAction(text)))
"""


def test_a_whole_episode_is_played_by_the_policy_that_knows():
    with ludus.make("open/BrowserGym-v0", benchmark="tracker") as env:
        assert play(env, POLICIES["oracle"], 5)[1] is Outcome.SUCCESS


def wire_history(env):
    observation, info = env.reset(seed=4)
    told = [shown(observation), shown(info)]
    for text in ("noop()", "click('999')", "click('3')"):
        step = env.step(BrowserGymAction(text))
        told.append(shown(list(step)))
        if step.done:
            break
    return told


@pytest.mark.parametrize("sessions", [3, pytest.param(64, marks=pytest.mark.full)])
def test_sessions_of_a_server_with_one_seed_have_the_history_of_this_process(sessions):
    with ludus.make("open/BrowserGym-v0") as env:
        here = wire_history(env)
    with LocalServer("open/BrowserGym-v0") as server, ExitStack() as stack:
        envs = [stack.enter_context(ludus.connect(server, env="open/BrowserGym-v0")) for _ in range(sessions)]
        with ThreadPoolExecutor(sessions) as threads:  # all of them at once
            for there in threads.map(wire_history, envs):
                assert data_equal(there, here)


def test_in_a_sandbox_that_is_too_small_it_says_which_it_needs():
    with pytest.raises(EnvError, match=r"room for 200 threads of a browser in the sandbox around it, got \d+; make it"):
        ludus.make("open/BrowserGym-v0", isolation="sandbox").reset(seed=0)


def test_in_a_sandbox_with_room_for_a_browser_an_episode_is_what_it_is_outside():
    wide = Sandbox("bubblewrap", limits=Limits(wall=None, memory=4 << 30, processes=1024), deadlines=Deadlines(step=60))
    with (
        BrowserGym(task_name="click-checkboxes") as here,
        ludus.make("open/BrowserGym-v0", isolation=wide, task_name="click-checkboxes") as inside,
    ):
        assert shown(inside.reset(seed=3)[0]) == shown(here.reset(seed=3)[0])
        action = BrowserGymAction("click('6')")
        assert shown(inside.step(action).observation) == shown(here.step(action).observation)


def test_a_tree_of_a_remote_benchmark_is_lines_by_depth():
    nodes = [
        {"nodeId": "1", "role": {"value": "RootWebArea"}, "name": {"value": "Shop"}, "childIds": ["2", "9"]},
        {"nodeId": "2", "role": {"value": "generic"}, "name": {"value": ""}, "childIds": ["3"]},
        {"nodeId": "3", "role": {"value": "button"}, "name": {"value": "OK"}, "browsergym_id": "a7"},
    ]
    assert remote_tree({"nodes": nodes}) == "RootWebArea 'Shop'\n\t[a7] button 'OK'"
    assert remote_tree(None) == remote_tree({}) == ""
