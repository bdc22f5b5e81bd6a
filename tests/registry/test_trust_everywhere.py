"""Whatever names an environment runs none of its code outside the isolation that trust asks for."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

import ludus
from ludus.core import EnvSpec, WrapperSpec
from ludus.errors import EntryPointError, InvalidArgument, IsolationNeeded, LudusError
from ludus.interop.as_gymnasium.registration import make_vec as gym_make_vec
from ludus.registry.foreign_code import file_spec, unknown_code
from ludus.registry.provenance import authors, is_built_in
from ludus.registry.resolution import foreign_spec

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
            env=environment, cwd=self.folder.parent, capture_output=True, text=True, check=False, timeout=600,
        )  # fmt: skip


@pytest.fixture(scope="module")
def marked(tmp_path_factory):
    return Marked(tmp_path_factory.mktemp("marked"))


def test_the_mark_is_left_by_whoever_trusts_it(marked):
    assert (
        marked.run("-m", "ludus", "run", "marked/Maze-v0", "--episodes", "1", trust="third-party=none").returncode == 0
    )
    assert marked.ran()


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


# --- what files name ---

FILES = """
import sys, json
import ludus
from ludus.trajectory import Recorder, Run, episode_frames, recompute, replay
from ludus.registry.foreign_code import unknown_code
path = sys.argv[1]
import marked_mazes
with Recorder(ludus.make(marked_mazes.Maze, render_mode="ansi"), path) as env:
    env.reset(seed=0), env.step(1), env.step(1)
"""
OPENED = """
import sys
import ludus
from ludus.errors import LudusError
from ludus.trajectory import Run, episode_frames, recompute, replay
path = sys.argv[1]
assert replay(path)
assert recompute(path, path + ".again")
try:
    list(episode_frames(Run.open(path), 0))
except LudusError:
    pass  # it draws no pixels
assert "marked_mazes" not in sys.modules
"""


@pytest.fixture(scope="module")
def recorded(marked, tmp_path_factory):
    """A run that names the package's class, which nobody registered under its id."""
    path = tmp_path_factory.mktemp("runs") / "run.ludus"
    done = marked.run("-c", FILES, str(path), trust="third-party=none")
    assert done.returncode == 0, done.stderr
    assert marked.ran()
    return path


def test_no_function_that_opens_a_file_runs_what_it_names(marked, recorded):
    """Nobody said a word about trust: the file is a stranger's all the same."""
    done = marked.run("-c", OPENED, str(recorded), trust="")
    assert not marked.ran(), done.stderr
    assert done.returncode == 0, done.stderr


@pytest.mark.parametrize("command", [("replay",), ("replay", "--isolation", "sandbox"), ("view", "--html", "v.html")])
def test_no_command_that_opens_a_file_runs_what_it_names(marked, recorded, command):
    name, *options = command
    done = marked.run("-m", "ludus", name, str(recorded), *options, trust="")
    assert not marked.ran(), done.stderr
    assert "Traceback" not in done.stderr
    assert (done.returncode == 0) == (command != ("replay",)), done.stderr  # which asks for a word


def test_arguments_of_an_environment_that_is_known_may_name_no_other_code():
    """`os:system` as the class of a Gymnasium environment, in a spec that names our own adapter, ran a command."""
    known = ludus.spec("gymnasium/CartPole-v1")
    wrong = '{"id": "X-v0", "entry_point": "os:system", "kwargs": {"command": "id"}}'
    assert unknown_code(known) == ""
    assert "os" in unknown_code(known.replace(kwargs={"gymnasium_spec": wrong}))
    assert file_spec(known.replace(kwargs={"gymnasium_spec": wrong})).security.isolation == "sandbox"


ESCAPED = """{"id": "X-v0", "entry_point": "os\\u003asystem", "kwargs": {"command": "id"}}"""


@pytest.mark.parametrize(
    "wrong",
    [ESCAPED, f" {ESCAPED}", json.dumps(ESCAPED), [ESCAPED], ESCAPED[:-1], "os: system", "os:1-v0", "ōs:x",
     "3d:Maze-v0", "2048:Maze-v0", "maze-:Maze-v0", "maze :Maze-v0", "maze':Maze-v0", '{"entry_point": "3d:Maze"}',
     {"additional_wrappers": [{"entry_point": "maze+:Maze"}]}],
)  # fmt: skip
def test_code_that_is_written_so_that_only_its_reader_knows_it_is_seen(wrong):
    """A colon as `\\u003a` in the JSON of Gymnasium's spec, named by a run, ran a command of whoever wrote it."""
    known = ludus.spec("gymnasium/CartPole-v1")
    spec = known.replace(kwargs={"gymnasium_spec": wrong})
    assert unknown_code(spec)
    assert file_spec(spec).security.isolation == "sandbox"
    assert len(authors(spec)) == 2  # to trust Gymnasium is not to trust what its arguments name


@pytest.mark.parametrize("named", ["ludus.envs.open.sumo.inside:os.system", "ludus.envs.classic.cartpole:CartPole"])
def test_a_batch_of_its_own_that_a_file_names_is_a_strangers(named):
    spec = ludus.spec("CartPole-v1").replace(vector_entry_point=named)
    assert unknown_code(spec) == named
    assert foreign_spec(spec).security.isolation == "sandbox"


def test_wrappers_of_a_file_only_transform():
    spec = ludus.spec("CartPole-v1")
    writes = WrapperSpec("V", "ludus.wrappers:RecordVideo", {"video_folder": "/tmp/x"})
    inner = WrapperSpec("S", "ludus.sandbox.spawn:spawn", {})
    for one in (writes, inner, WrapperSpec("W", "thirdq:W", {})):
        assert unknown_code(spec, (one,))
        assert file_spec(spec.replace(additional_wrappers=(one,))).security.isolation == "sandbox"
        with pytest.raises(IsolationNeeded, match="expected wrappers of a batch that only transform, got a file that"):
            file_spec(spec, (one,), "sandbox")
    assert file_spec(spec, (writes,), "none") == spec


# --- what specs name ---


def test_a_spec_of_somebody_else_asks_for_a_sandbox_and_opens_nothing():
    wrong = EnvSpec("A-v0", "mine:A", security=ludus.core.Security(files=("write:/",), network=("*",)))
    found = foreign_spec(wrong)
    assert (found.security.isolation, found.security.files, found.security.network) == ("sandbox", (), ())
    assert foreign_spec(ludus.spec("CartPole-v1")).security.isolation == "none"


@pytest.mark.parametrize("named", ["os.system", "import_module", "Env", "spec_from_file_location"])
def test_one_of_ours_is_a_class_and_never_what_its_module_imports(tmp_path, named):
    """`ludus.envs.…:os.system` ran a command of whoever wrote the spec."""
    marker = tmp_path / "marker"
    for module in ("ludus.envs.open.sumo.inside", "ludus.envs.open.textarena.guard", "ludus.envs.open.git.git"):
        spec = EnvSpec("A-v0", f"{module}:{named}", kwargs={"command": f"touch {marker}"})
        for make in (foreign_spec(spec).make, file_spec(spec).make, spec.make):
            with pytest.raises(EntryPointError, match=r"expected one of Ludus's environments|got no such name"):
                make()
    assert not marker.exists()


WRITE = WrapperSpec("TimeLimit", "ludus.wrappers:RecordVideo", {"video_folder": "videos"})
HIDDEN = WrapperSpec("TimeLimit", "ludus.wrappers:record_video.RecordVideo", {"video_folder": "videos"})


@pytest.mark.parametrize(
    "wrong",
    [
        {"kwargs": {"tokenizer": "/home/me/tokenizer.json"}},
        {"kwargs": {"rewards": {"a": ["../b"]}}},
        {"kwargs": {"forge_url": "http://somebody.example"}},
        {"additional_wrappers": (WRITE,)},
        {"additional_wrappers": (HIDDEN,)},
        {"additional_wrappers": (WrapperSpec("R", "ludus.rubrics:RubricReward", {"rubric": "a"}),)},
    ],
)
def test_who_writes_a_spec_down_names_no_file_no_address_and_no_wrapper_that_writes(wrong):
    spec = ludus.spec("open/Chat-v0").replace(**wrong)
    assert foreign_spec(spec).security.isolation == "sandbox"
    assert unknown_code(spec)
    assert file_spec(spec).security.isolation == "sandbox"


def test_tasks_that_are_shipped_are_built_in_and_those_of_a_folder_are_not():
    """A task isolates whatever it brings: put into another sandbox, as trust once asked for, it did not start."""
    shipped = ludus.spec("task/SatHeuristic-v0")
    assert {one.level for one in authors(shipped)} == {"built-in"}
    for kwargs in ({"task": "/home/me/task"}, {**shipped.kwargs, "backend": "process"}):
        other = shipped.replace(kwargs=kwargs)
        assert {one.level for one in authors(other)} == {"third-party"}
        assert foreign_spec(other).security.isolation == "sandbox"


def test_plain_arguments_of_a_built_in_are_no_strangers():
    for name, kwargs in (("GridWorld-v0", {"size": 7}), ("FrozenLake-v1", {"desc": ["SF", "FG"]}),
                       ("open/Chat-v0", {"system_prompt": "Answer yes and/or no."})):  # fmt: skip
        spec = ludus.spec(name).replace(kwargs=kwargs)
        assert (unknown_code(spec), foreign_spec(spec).security.isolation) == ("", "none")


@pytest.mark.parametrize(
    "kwargs", [{"f": "json:loads"}, {"f": ["x", {"y": ("json:loads",)}]}, {"f": '{"entry_point": "json:loads"}'}]
)
def test_what_a_wrappers_arguments_name_counts_however_deep(kwargs):
    wrapped = ludus.spec("CartPole-v1").replace(
        additional_wrappers=(WrapperSpec("W", "ludus.wrappers:TransformReward", kwargs),)
    )
    assert "third-party" in {one.level for one in authors(wrapped)}
    assert not is_built_in(wrapped)


ADAPTED = EnvSpec("Adapted-v0", "ludus.interop.openenv.source:create")


@pytest.mark.parametrize(
    "make",
    [
        lambda: ludus.make(ADAPTED, source="thirdq:Env"),
        lambda: ludus.make_vec(ADAPTED, 2, executor="serial", source="thirdq:Env"),
        lambda: ludus.make_vec(ADAPTED, 2, executor="serial", each={"source": ["thirdq:Env"] * 2}),
        lambda: gym_make_vec(ADAPTED.replace(kwargs={"source": "thirdq:Env"}), 2),
    ],
    ids=["make", "make_vec", "each", "make_vec of Gymnasium's"],
)
def test_what_arguments_of_a_call_name_counts_as_what_the_spec_names(site, tmp_path, make):
    """A word for one package was void where its name came with the call, and not with the spec."""
    marker = tmp_path / "marker"
    site.write("thirdq.py", f"try:\n    open({str(marker)!r}, 'w').close()\nexcept OSError:\n    pass\n")
    ludus.trust("thirdq", "sandbox")
    try:
        with pytest.raises(LudusError, match="thirdq"):
            make()
    finally:
        ludus.trust("thirdq", None)
    assert not marker.exists()


def test_an_array_library_is_named_out_of_a_list(site):
    site.write("thirdq.py", "raise SystemExit('imported')")
    wrapper = WrapperSpec("A", "ludus.wrappers:ArrayConversion", {"env_xp": "thirdq", "target_xp": "numpy"})
    with pytest.raises(InvalidArgument, match=r"expected one of .*numpy.* got 'thirdq'"):
        ludus.spec("CartPole-v1").replace(additional_wrappers=(wrapper,)).make()
