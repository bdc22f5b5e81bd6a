"""What else can name a stranger's code: variables, entry points, agents' files, a server. None of it runs here."""

import json
import os
import pickle
import re
import signal
import subprocess
import sys
from pathlib import Path

import pytest

import ludus
from ludus.tasks.new import new_task
from tests.registry.test_trust_commands import AGENT, DRIVER, TRUST
from tests.registry.test_trust_everywhere import MARKED, Marked

SOURCES = Path(ludus.__file__).parent
VARIABLE = re.compile(r"""["']((?:LUDUS|MLGYM|OPENENV)_[A-Z_]+)["']""")
OURS = {"LUDUS_TRUST"}
"""What the one who distrusts says himself."""


def variables() -> list[str]:
    """Every variable that a source of Ludus names, so that a new one is tried as well."""
    texts = (path.read_text(encoding="utf8") for path in SOURCES.rglob("*.py"))
    return sorted({name for text in texts for name in VARIABLE.findall(text)} - OURS)


@pytest.fixture(scope="module")
def stranger(tmp_path_factory):
    """A package that offers environments and tasks, files of agents, and a folder of tasks; all leave marks."""
    root = tmp_path_factory.mktemp("stranger")
    marked = Marked(root)
    code = marked.folder / "marked_mazes.py"
    mark = code.read_text().partition("class Maze")[0].replace("import ludus\nfrom ludus.spaces import Discrete\n", "")
    code.write_text(code.read_text() + AGENT)
    offered = marked.folder / "marked_mazes-1.0.dist-info" / "entry_points.txt"
    groups = ("ludus.tasks", "ludus.agents", "ludus.wrappers", "ludus.sandbox", "ludus.cli")
    offered.write_text(offered.read_text() + "".join(f"[{one}]\nmarked = marked_tasks:tasks\n" for one in groups))
    tasks = marked.folder / "marked_tasks" / "tasks"
    tasks.mkdir(parents=True)
    new_task(tasks / "guess")
    for path in (tasks.parent / "__init__.py", tasks / "__init__.py"):
        path.write_text(mark)
    for path in tasks.rglob("*.py"):
        path.write_text(f"{mark}\n{path.read_text()}")
    (root / "agent.yaml").write_text("agent: marked_mazes:Left\n")
    (root / "agent.py").write_text(mark)
    (root / "weights.safetensors").write_bytes(b"\x02\0\0\0\0\0\0\0{}")
    for name in ("policy.zip", "policy.pt"):
        (root / name).write_bytes(pickle.dumps(Opened(str(marked.marker))))
    return marked


class Opened:
    """What writes the mark when it is unpickled."""

    def __init__(self, marker: str) -> None:
        self.marker = marker

    def __reduce__(self):
        return Path.write_text, (Path(self.marker), "unpickled")


def said(stranger, commands, **given):
    """What each command printed; none may have left a mark, or been a failure of its own."""
    path = os.pathsep.join([str(stranger.folder), *filter(None, [os.environ.get("PYTHONPATH")])])
    done = subprocess.run(
        [sys.executable, "-c", DRIVER, str(stranger.marker), json.dumps(commands)],
        env=os.environ | {"PYTHONPATH": path, "LUDUS_TRUST": TRUST, "COLUMNS": "200"} | given,
        cwd=stranger.folder.parent, capture_output=True, text=True, check=False, timeout=600,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    told = json.loads(done.stdout.splitlines()[-1])
    for words, ran, error, output in told:
        assert not ran, (words, output)
        assert error in ("None", "SystemExit(0)", "SystemExit(1)", "SystemExit(2)"), (words, error, output)
    return [output for *_, output in told]


def test_the_variables_are_found():
    assert {"LUDUS_TASK_CONFIG_DIR", "MLGYM_CONFIG_ROOT", "OPENENV_MODE", "LUDUS_FOLDER"} <= set(variables())


@pytest.mark.parametrize("value", ["marked_mazes:Maze", "{folder}/marked_tasks/tasks"])
def test_no_variable_runs_it_here(stranger, value):
    given = dict.fromkeys(variables(), value.format(folder=stranger.folder))
    commands = [["list"], ["info", "CartPole-v1"], ["run", "CartPole-v1", "--episodes", "1"], ["config"],
                ["task", "list"]]  # fmt: skip
    told = said(stranger, commands, **given)
    assert "ludus list --family" in told[0]
    assert "(LUDUS_TASK_CONFIG_DIR)" in told[3]  # they are read


def test_no_entry_point_of_any_group_runs_it_here(stranger):
    listed, told, found = said(stranger, [["task", "list"], ["list"], ["list", "marked"]])
    assert "guess" in listed.lower() or "MyTask" in listed, listed  # its task is found, and nothing was imported for it
    assert "ludus list --family" in told
    assert "marked/Maze-v0" in found


def test_no_file_of_an_agent_runs_it_here(stranger):
    agents = ("policy.zip", "policy.pt", "weights.safetensors:marked_mazes:Left", "agent.py", "agent.py:Left")
    commands = [["eval", "CartPole-v1", "--agent", one, "--episodes", "2"] for one in agents]
    task = str(stranger.folder / "marked_tasks" / "tasks" / "guess")
    commands += [["task", "run", task, "--agent", one] for one in ("agent.yaml", "agent.py", "marked_mazes:Left")]
    for words, output in zip(commands, said(stranger, commands), strict=True):
        assert "expected" in output, (words, output)


CLIENT = """
import sys
import ludus
from ludus.errors import LudusError
with ludus.connect(sys.argv[1], timeout=60) as env:
    env.reset(seed=0)
    env.step(1)
    spec = env.spec
    assert "marked_mazes" in spec.entry_point or spec.id == "marked_mazes:Maze", spec
for make in (spec.make, lambda: ludus.make(spec), lambda: ludus.make_vec(spec, 2, executor="serial")):
    try:
        with make() as again:
            again.reset(seed=0)
    except LudusError:
        pass  # it is refused, or it is isolated
assert "marked_mazes" not in sys.modules
"""


def test_what_a_server_names_is_not_imported_here(stranger, tmp_path):
    """The server has code of the same name, without the mark; nobody here said a word about trust."""
    theirs = tmp_path / "theirs"
    theirs.mkdir()
    (theirs / "marked_mazes.py").write_text(MARKED.format(marker=str(tmp_path / "elsewhere")))
    command = [sys.executable, "-m", "ludus", "serve", "marked_mazes:Maze", "--port", "0"]
    server = subprocess.Popen(command, cwd=theirs, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    with server:
        try:
            url = server.stdout.readline().partition(" ")[0].strip()
            done = stranger.run("-c", CLIENT, url, trust="")
        finally:
            server.send_signal(signal.SIGINT)
            server.communicate(timeout=100)
    assert not stranger.ran(), done.stderr
    assert done.returncode == 0, done.stderr
