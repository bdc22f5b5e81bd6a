"""Every command of the command line, whatever it is given: none of a stranger's code runs outside of its isolation.

The commands are those that the program itself lists: a new one without a case here fails.
"""

import json
import os
import pty
import select
import signal
import subprocess
import sys
import urllib.error
import urllib.request
from contextlib import closing, suppress

import pytest
from typer.main import get_command

from ludus.cli.main import app
from ludus.packaging.scaffold import scaffold
from ludus.tasks.agents.result import RunResult, write_result
from ludus.tasks.new import new_task
from tests.cli.run_folders import write_run
from tests.registry.test_trust_everywhere import FILES, Marked
from tests.registry.test_trust_folders import shadow
from tests.tasks.test_conversion import harbor

TRUST = "third-party=sandbox,first-party=sandbox"
TARGETS = ("marked/Maze-v0", "marked_mazes:Maze", "marked_mazes:marked/Own-v0", "{folder}")
SHORT = ("--sizes", "1", "--executors", "serial", "--alone", "--seconds", "0.01", "--rounds", "1", "--no-memory")
CASES = {
    "list": [()],
    "info": [("{target}", "--load")],
    "run": [("{target}", "--episodes", "1")],
    "eval": [("{target}", "--agent", "random", "--episodes", "2"), ("CartPole-v1", "--agent", "marked_mazes:Left")],
    "verify": [("{result}",), ("{result}", "--env", "{target}"), ("{result}", "--agent", "marked_mazes:Left")],
    "leaderboard": [("{results}",)],
    "replay": [("{run}",), ("{run}", "--isolation", "sandbox")],
    "view": [("{run}", "--html", "{new}.html"), ("{run}", "--html", "{new}.html", "--isolation", "sandbox")],
    "check": [("{target}", "--steps", "5")],
    "build": [("{folder}", "--print")],
    "push": [("{folder}", "--repo-id", "somebody/something")],
    "audit": [("marked-mazes",)],
    "bench": [("{target}", *SHORT)],
    "task list": [()],
    "task show": [("{task}",)],
    "task run": [
        ("{task}", "--agent", "baseline", "--folder", "{new}"),
        ("{task}", "--agent", "nop", "--folder", "{begun}", "--resume"),
    ],
    "task compare": [("{begun}",), ("{begun}", "--html", "{new}.html")],
    "task fork": [("{begun}", "1", "{new}-fork")],
    "task audit": [("{task}",)],
    "task grade": [("{task}", "{task}/baseline")],
    "task replay": [("{task}", "{new}")],
    "task import": [("{harbor}", "{new}-imported")],
}
"""What each is given; all of it names a stranger's code."""
STARTED = ("play", "serve", "mcp", "ui")
"""Those that go on until they are ended: tests of their own."""
TAKES_NO_CODE = {
    "demo": (),
    "sessions": ("url", "token", "kill", "as_json"),
    "new": ("name", "folder", "tools", "array"),
    "init": ("name", "folder", "tools", "array"),
    "task new": ("folder",),
    "config": ("as_json",),
    "version": (),
}
"""With their parameters: a new one has to be thought of."""
LONG = ("check", "task audit", "task run", "task grade", "task replay", "audit")
"""Forty rules, each isolated; a batch of cheats: for `make test-full`."""
DRIVER = """
import json, os, pathlib, sys
from typer.testing import CliRunner
from ludus.cli import app
marker, told = pathlib.Path(sys.argv[1]), []
for words in json.loads(sys.argv[2]):
    done = CliRunner().invoke(app, words, input="n\\n")
    told.append([words, marker.exists(), repr(done.exception), done.output[-3000:]])
    marker.unlink(missing_ok=True)
print("\\n" + json.dumps(told))
"""
RECORDED = f"""{FILES}
from ludus.evaluate import evaluate
evaluate("marked_mazes:Maze", "marked_mazes:Left", episodes=2, out=sys.argv[2])
"""
AGENT = """

import ludus.evaluate


class Left(ludus.evaluate.Agent):
    def act(self, observation, info, lane):
        return 0
"""


def leaves(command, name=""):
    """Every command with its parameters, as the program lists them."""
    if not hasattr(command, "list_commands"):
        yield name, tuple(one.name for one in command.params)
        return
    for one in command.list_commands(None):
        yield from leaves(command.get_command(None, one), f"{name} {one}".strip())


def test_every_command_has_a_case_or_takes_no_code():
    there = dict(leaves(get_command(app)))
    assert len(there) > 30
    assert set(there) == {*CASES, *STARTED, *TAKES_NO_CODE}
    assert {name: there[name] for name in TAKES_NO_CODE} == TAKES_NO_CODE


@pytest.fixture(scope="module")
def place(tmp_path_factory):
    """A package, a folder, a run, a result, a task and a run of it: each leaves a mark where it runs unconfined."""
    root = tmp_path_factory.mktemp("stranger")
    marked = Marked(root)
    code = marked.folder / "marked_mazes.py"
    mark = code.read_text().partition("class Maze")[0]
    mark = "\n".join(line for line in mark.splitlines() if "ludus" not in line.partition("(")[0])  # tasks have none
    code.write_text(code.read_text() + AGENT)
    scaffold("corridor", root, "array")
    new_task(root / "task")
    harbor(root / "harbor")
    for one in (root / "corridor", root / "task", root / "harbor"):
        for path in one.rglob("*.py"):
            path.write_text(future_first(path.read_text(), mark))
    shadow(root / "corridor", mark)
    begun = write_run(root / "begun", root / "task", json__py=mark)
    shadow(begun, mark)
    told = RunResult(task="marked_mazes:Maze", agent="marked_mazes:Left", seed=0, outcome="marked_mazes:Maze")
    write_result(told, begun)
    (root / "results").mkdir()
    done = marked.run("-c", RECORDED, *map(str, (root / "run.ludus", root / "results" / "one.ludus")), trust="")
    assert done.returncode == 0, done.stdout + done.stderr
    assert marked.ran()
    return marked


def future_first(text, mark):
    """Code with a mark before its first statement, but for its docstring's and `__future__`'s sake after those."""
    return f"{text}\n{mark}" if "__future__" in text else f"{mark}\n{text}"


def words_of(place, name, given, target):
    root = place.folder.parent
    names = {
        "folder": root / "corridor", "run": root / "run.ludus", "results": root / "results", "task": root / "task",
        "result": root / "results" / "one.ludus", "harbor": root / "harbor", "new": root / "new",
        "begun": root / "begun",
    }  # fmt: skip
    names["target"] = target.format(**names)
    return [*name.split(), *(one.format(**names) for one in given)]


def refused_or_done(place, cases):
    done = place.run("-c", DRIVER, str(place.marker), json.dumps(cases), trust=TRUST)
    assert done.returncode == 0, done.stderr
    for words, ran, error, output in json.loads(done.stdout.splitlines()[-1]):
        assert not ran, (words, output)
        assert "Usage: ludus" not in output, (words, output)  # it never came to the code
        assert error in ("None", "SystemExit(0)", "SystemExit(1)", "SystemExit(2)"), (words, error, output)


@pytest.mark.parametrize(
    "target", [TARGETS[0], *(pytest.param(one, marks=pytest.mark.full) for one in TARGETS[1:])]
)  # fmt: skip
def test_no_command_runs_it_here(place, target):
    short = [name for name in CASES if name not in LONG]
    refused_or_done(place, [words_of(place, name, given, target) for name in short for given in CASES[name]])


@pytest.mark.full
def test_the_same_commands_run_it_where_it_is_trusted(place):
    """So that it is known that they come to the code at all."""
    named = [(name, given) for name in CASES if name not in LONG for given in CASES[name] if "{target}" in given]
    cases = [words_of(place, name, given, TARGETS[1]) for name, given in named]
    for words in cases:  # each in a process of its own: an import leaves its mark once
        done = place.run("-c", DRIVER, str(place.marker), json.dumps([words]), trust="third-party=none")
        [[_, ran, _, output]] = json.loads(done.stdout.splitlines()[-1])
        assert ran, (words, output)


@pytest.mark.full
@pytest.mark.parametrize("name", LONG)
def test_no_command_that_takes_long_runs_it_here(place, name):
    targets = TARGETS if any("{target}" in given for given in CASES[name]) else TARGETS[:1]
    refused_or_done(place, [words_of(place, name, given, one) for given in CASES[name] for one in targets])


def started(place, *words):
    path = os.pathsep.join([str(place.folder), *filter(None, [os.environ.get("PYTHONPATH")])])
    environment = {**os.environ, "PYTHONPATH": path, "LUDUS_TRUST": TRUST}
    return subprocess.Popen(
        [sys.executable, "-m", "ludus", *words], env=environment, cwd=place.folder.parent,
        stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
    )  # fmt: skip


@pytest.mark.parametrize(
    ("name", "target"),
    [("serve", TARGETS[1]), *(pytest.param(name, one, marks=pytest.mark.full) for name in ("serve", "ui")
                              for one in TARGETS if (name, one) != ("serve", TARGETS[1]))],
)  # fmt: skip
def test_no_server_runs_it_here(place, name, target):
    target = target.format(folder=place.folder.parent / "corridor")
    with started(place, name, target, "--port", "0") as process:
        try:
            url = process.stdout.readline().partition(" ")[0].strip()
            if url:  # else it was refused, which is right as well
                asked = urllib.request.Request(f"{url}/reset", b"{}", {"Content-Type": "application/json"})
                with suppress(urllib.error.HTTPError), closing(urllib.request.urlopen(asked, timeout=100)) as answer:
                    answer.read()
        finally:
            process.send_signal(signal.SIGINT)
            _, errors = process.communicate(timeout=100)
    assert not place.ran(), errors
    assert "Traceback" not in errors
    assert url.startswith("http"), errors


@pytest.mark.full
@pytest.mark.parametrize("target", TARGETS)
def test_mcp_runs_it_not_here(place, target):
    asked = [{"id": 1, "method": "initialize", "params": {}}, {"id": 2, "method": "tools/list"}]
    with started(place, "mcp", target.format(folder=place.folder.parent / "corridor")) as process:
        said, errors = process.communicate("".join(json.dumps({"jsonrpc": "2.0", **one}) + "\n" for one in asked))
    assert not place.ran(), errors
    assert "Traceback" not in errors
    assert said or errors


@pytest.mark.full
@pytest.mark.parametrize("target", TARGETS)
def test_play_runs_it_not_here(place, target):
    """In a terminal, at whose other end somebody quits as soon as that is heard."""
    ours, theirs = pty.openpty()
    words = ["-m", "ludus", "play", target.format(folder=place.folder.parent / "corridor")]
    path = os.pathsep.join([str(place.folder), *filter(None, [os.environ.get("PYTHONPATH")])])
    environment = {**os.environ, "PYTHONPATH": path, "LUDUS_TRUST": TRUST, "TERM": "xterm"}
    process = subprocess.Popen(
        [sys.executable, *words], env=environment, cwd=place.folder.parent, stdin=theirs, stdout=theirs, stderr=theirs
    )
    os.close(theirs)
    with suppress(OSError):  # the terminal is gone when the program is
        while True:
            if not select.select([ours], [], [], 0.2)[0]:
                os.write(ours, b"q")
            elif not os.read(ours, 65536):
                break
    os.close(ours)
    process.wait(timeout=100)
    assert not place.ran()
