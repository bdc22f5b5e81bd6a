"""Whatever names an environment runs none of its code outside the isolation that trust asks for."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

import ludus
from ludus.core import EnvSpec, WrapperSpec
from ludus.errors import InvalidArgument
from ludus.registry.provenance import authors, is_built_in
from ludus.registry.resolution import foreign_spec
from tests.sampling import covering

MARKED = '''
import os
import pathlib

import ludus
from ludus.spaces import Discrete

# Only who runs outside of the sandbox can write here.
try:
    pathlib.Path({marker!r}).open("a").write(f"pid {{os.getpid()}}\\n")
except OSError:
    pass


class Maze(ludus.Env):
    """Three fields in a row."""

    metadata = {{"render_modes": ["ansi"]}}

    def __init__(self, render_mode=None):
        self.observation_space, self.action_space = Discrete(3), Discrete(2)
        self.render_mode = render_mode

    def reset(self, *, seed=None, options=None):
        super().reset(seed=seed)
        self.at = 0
        return self.at, {{}}

    def step(self, action):
        self.at += 1
        return ludus.Step(self.at, 1.0, self.at == 2, False, {{}})

    def render(self):
        return "." * self.at + "x"


ludus.register("marked/Own-v0", Maze)
'''


class Marked:
    """An installed package that leaves a mark wherever it runs unconfined."""

    def __init__(self, folder: Path) -> None:
        self.folder, self.marker = folder / "site", folder / "marker"
        info = self.folder / "marked_mazes-1.0.dist-info"
        info.mkdir(parents=True)
        (info / "METADATA").write_text("Metadata-Version: 2.1\nName: marked-mazes\nVersion: 1.0\n")
        (info / "entry_points.txt").write_text("[ludus.envs]\nmarked/Maze-v0 = marked_mazes:Maze\n")
        (info / "RECORD").write_text("marked_mazes.py,,\n")
        (self.folder / "marked_mazes.py").write_text(MARKED.format(marker=str(self.marker)))

    def ran(self) -> bool:
        found = self.marker.exists()
        self.marker.unlink(missing_ok=True)
        return found

    def run(self, *command: str, trust: str = "third-party=sandbox") -> subprocess.CompletedProcess[str]:
        path = os.pathsep.join([str(self.folder), *filter(None, [os.environ.get("PYTHONPATH")])])
        environment = os.environ | {"PYTHONPATH": path, "LUDUS_TRUST": trust, "COLUMNS": "200"}
        return subprocess.run(
            [sys.executable, *command],
            env=environment, cwd=self.folder.parent, capture_output=True, text=True, check=False, timeout=120,
        )  # fmt: skip


@pytest.fixture(scope="module")
def marked(tmp_path_factory):
    return Marked(tmp_path_factory.mktemp("marked"))


def test_the_mark_is_left_by_whoever_trusts_it(marked):
    assert (
        marked.run("-m", "ludus", "run", "marked/Maze-v0", "--episodes", "1", trust="third-party=none").returncode == 0
    )
    assert marked.ran()


@covering(
    "command, target",
    [
        ("info", "{}"),
        ("run", "{}", "--episodes", "1"),
        ("eval", "{}", "--agent", "random", "--episodes", "2"),
        ("check", "{}", "--steps", "5"),
        (
            "bench",
            "{}",
            "--sizes",
            "1",
            "--executors",
            "serial",
            "--alone",
            "--seconds",
            "0.01",
            "--rounds",
            "1",
            "--no-memory",
        ),
    ],
    ["marked/Maze-v0", "marked_mazes:Maze", "marked_mazes:marked/Own-v0"],
    strength=1,
    marks=lambda command, target: [pytest.mark.full] if command[0] == "check" else [],  # forty rules, each isolated
    ids=lambda value: value if isinstance(value, str) else value[0],
)
def test_no_command_runs_it_here(marked, command, target):
    done = marked.run("-m", "ludus", *(part.format(target) for part in command))
    assert not marked.ran(), done.stderr
    assert done.returncode == 0, done.stdout + done.stderr


PROGRAM = """
import ludus, sys
target = sys.argv[1]
ludus.trust("third-party", "sandbox")
ludus.spec(target), ludus.registry.registry.spec(target)
with ludus.make(target) as env, ludus.make_vec(target, 2, executor="serial") as envs:
    env.reset(seed=0), envs.reset(seed=0)
    found = env.spec.to_json()
with ludus.make(ludus.EnvSpec.from_json(found)) as again:
    again.reset(seed=0)
with ludus.spec(target).make() as again:
    again.reset(seed=0)
from ludus.testing.subject import Subject
subject = Subject(target)
assert subject.takes_render_mode and not subject.is_class and len(subject.history) > 1
subject.tidy()
from ludus.evaluate import evaluate
assert len(evaluate(target, "random", episodes=2).episodes) == 2
assert "marked_mazes" not in sys.modules
"""


@pytest.mark.parametrize("target", ["marked/Maze-v0", "marked_mazes:Maze"])
def test_no_function_runs_it_here(marked, target):
    done = marked.run("-c", PROGRAM, target, trust="")
    assert not marked.ran(), done.stderr
    assert done.returncode == 0, done.stderr


# --- what specs name ---


def test_a_spec_of_somebody_else_asks_for_a_sandbox_and_opens_nothing():
    wrong = EnvSpec("A-v0", "mine:A", security=ludus.core.Security(files=("write:/",), network=("*",)))
    found = foreign_spec(wrong)
    assert (found.security.isolation, found.security.files, found.security.network) == ("sandbox", (), ())
    assert foreign_spec(ludus.spec("CartPole-v1")).security.isolation == "none"


@pytest.mark.parametrize(
    "kwargs", [{"f": "json:loads"}, {"f": ["x", {"y": ("json:loads",)}]}, {"f": '{"entry_point": "json:loads"}'}]
)
def test_what_a_wrappers_arguments_name_counts_however_deep(kwargs):
    wrapped = ludus.spec("CartPole-v1").replace(
        additional_wrappers=(WrapperSpec("W", "ludus.wrappers:TransformReward", kwargs),)
    )
    assert "third-party" in {one.level for one in authors(wrapped)}
    assert not is_built_in(wrapped)


def test_an_array_library_is_named_out_of_a_list(site):
    site.write("thirdq.py", "raise SystemExit('imported')")
    wrapper = WrapperSpec("A", "ludus.wrappers:ArrayConversion", {"env_xp": "thirdq", "target_xp": "numpy"})
    with pytest.raises(InvalidArgument, match=r"expected one of .*numpy.* got 'thirdq'"):
        ludus.spec("CartPole-v1").replace(additional_wrappers=(wrapper,)).make()
