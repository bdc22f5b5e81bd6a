"""What a task file gives an agent, seen from inside: network, packages, threads, variables; and how runs are shown."""

import io
import json
import threading
from http.server import BaseHTTPRequestHandler, HTTPServer

import pytest
from rich.console import Console

from ludus.cli.task_runs import _Board
from ludus.errors import InvalidArgument
from ludus.tasks import TaskEnv, find_task
from ludus.tasks.agents.batch import PlannedRun, RunProgress
from ludus.tasks.agents.result import RunResult
from tests.tasks.conftest import TASK, shell, write_folder

LOOK = """
import importlib.util, json, os, urllib.request
def reached(url):
    try:
        return urllib.request.urlopen(url, timeout=20).read().decode()
    except OSError as error:
        return type(error).__name__
print(json.dumps({
    "named": reached("http://127.0.0.2:%d/"),
    "other": reached("http://127.0.0.2:%d/"),
    "packages": [one for one in ("msgspec", "zstandard") if importlib.util.find_spec(one)],
    "threads": os.environ["OMP_NUM_THREADS"],
    "word": os.environ.get("WORD"),
}))
"""


class Answers(BaseHTTPRequestHandler):
    def do_GET(self):
        self.send_response(200)
        self.end_headers()
        self.wfile.write(b"hello")

    def log_message(self, format, *args):
        """Nothing is printed."""


@pytest.fixture
def servers():
    """The ports of two servers of this machine, at an address that programs ask a proxy for."""
    found = [HTTPServer(("127.0.0.2", 0), Answers) for _ in range(2)]
    threads = [threading.Thread(target=one.serve_forever, kwargs={"poll_interval": 0.02}) for one in found]
    for one in threads:
        one.start()
    yield [one.server_port for one in found]
    for one in found:
        one.shutdown()
        one.server_close()
    for one in threads:
        one.join()


def seen(folder, servers):
    with TaskEnv(folder) as env:
        env.reset(seed=1)
        command = f"cat > look.py <<'END'{LOOK % tuple(servers)}END\npython look.py"
        return json.loads(shell(env, command).observation.result)


def test_an_agent_reaches_nobody_and_has_no_packages_where_its_task_gives_none(parity, servers):
    found = seen(parity, servers)
    assert (found["named"], found["other"], found["packages"]) == ("URLError", "URLError", [])
    assert (found["threads"], found["word"]) == ("2", None)


def test_an_agent_has_the_hosts_packages_threads_and_variables_that_its_task_names(tmp_path, servers):
    more = f'network: ["127.0.0.2:{servers[0]}"]\nenvironment: {{WORD: given}}\nrequirements: [msgspec]\n'
    text = TASK.replace("requirements: []\n", more).replace("resources: {", "resources: {cpu: 3, ")
    found = seen(write_folder(tmp_path / "open", task__yaml=text), servers)
    assert (found["named"], found["packages"], found["threads"], found["word"]) == ("hello", ["msgspec"], "3", "given")
    assert found["other"] == "HTTPError", "a host that the task does not name is refused"


def test_a_package_that_is_not_installed_is_told_when_the_task_begins(tmp_path):
    folder = write_folder(tmp_path / "t", task__yaml=TASK.replace("requirements: []", "requirements: [no-such-thing]"))
    words = "requirements: expected distributions that are installed here, got 'no-such-thing'; pip install it"
    with TaskEnv(folder) as env, pytest.raises(InvalidArgument, match=words):
        env.reset(seed=1)


def test_runs_under_way_are_shown_with_their_steps_and_those_that_ended_are_counted(parity, tmp_path):
    jobs = [PlannedRun(find_task(parity), "nop", seed, tmp_path) for seed in range(3)]
    board, told = _Board(3), Console(width=80, file=io.StringIO())
    board.take(RunProgress(jobs[0], "step", 4, 0.25))
    board.take(RunProgress(jobs[1], "started"))
    ended = RunResult(task="task/Parity-v0", agent="nop", seed=2, outcome="infrastructure_failed")
    board.take(RunProgress(jobs[2], "ended", 1, 0.0, ended))
    told.print(board.table())
    text = told.file.getvalue()
    assert "1 of 3 runs, 1 failed" in text
    assert [line.split() for line in text.splitlines() if "Parity" in line] == [
        ["task/Parity-v0", "nop", "0", "4", "+0.250"],
        ["task/Parity-v0", "nop", "1", "0", "+0.000"],
    ]
