"""`ludus check`, as users start it."""

import pytest

MAZE = '''
import numpy as np

import ludus
from ludus.spaces import Box, Discrete


class Maze(ludus.Env):
    """Broken in five ways, and talkative."""

    def __init__(self):
        self.observation_space = Box(0, 1, (2,), np.float32)
        self.action_space = Discrete(2)
        self.rng = np.random.default_rng()
        self.lines = (line for line in "ab")

    def reset(self, *, seed=None, options=None):
        super().reset(seed=seed)
        print("a new maze [bold]")
        self.state = np.zeros(2)
        return self.state.copy(), {}

    def step(self, action):
        self.state = self.rng.random(2)
        return self.state.copy(), np.array([1.0]), False, False, {}


class Good(Maze):
    def __init__(self):
        super().__init__()
        self.observation_space = Box(0, 1, (2,), np.float64)
        del self.lines, self.rng

    def step(self, action):
        _ = self.state
        self.state = self.np_random.random(2)
        return self.state.copy(), 1.0, False, False, {}


class Unmade(Maze):
    def __init__(self, size):
        super().__init__()


ludus.register("tests/GoodMaze-v0", Good, max_episode_steps=10)
'''


@pytest.fixture
def check(program, folder):
    """Run `ludus check` in a folder with `maze.py`."""
    (folder / "maze.py").write_text(MAZE, encoding="utf8")
    return lambda *arguments, **environment: program("check", *arguments, **environment)


def words(text: str) -> str:
    """What a table says, without its frame and line breaks."""
    return " ".join(text.replace("│", " ").split())


def test_a_broken_environment_is_a_table_of_findings_and_exit_code_1(check):
    done = check("maze:Maze")
    assert done.returncode == 1, done.stderr
    shown = words(done.stdout)
    assert "error step-before-reset-fails step before reset: expected an exception, got (array([" in shown
    assert (
        "error observations-in-space reset(seed=0) observation: expected dtype float32 or one that casts to it safely, "
        "got dtype float64" in shown
    )
    assert "fix: cast it: `observation.astype(np.float32)`, or give the space the dtype float64" in shown
    assert "error rewards-are-numbers step 1 reward: expected an int or float, got array([1.]) (ndarray)" in shown
    assert "fix: return `float(reward)`" in shown
    assert "error same-seed-same-history reset(seed=0) twice, same actions: expected the same history, got " in shown
    assert "fix: `self.rng` is a generator that reset(seed=…) does not seed: use self.np_random in its place" in shown
    assert "warning snapshot-can-be-taken snapshot: expected attributes that can be copied, got Maze.lines" in shown
    assert "not checked: same-seed-same-history has to hold first" in shown
    assert done.stdout.splitlines()[-1].endswith("rules, 4 errors, 1 warning")
    assert done.stdout.splitlines()[-1].startswith("maze:Maze: ")


@pytest.mark.parametrize("columns", [60, 80, 120])
def test_nothing_is_cut_off_on_a_terminal_of_any_width(check, columns):
    done = check("maze:Maze", COLUMNS=str(columns))
    assert max(len(line) for line in done.stdout.splitlines()) <= columns
    # Each fix to its end: only what the messages themselves shorten has an ellipsis.
    for fix in (
        "give the space the dtype float64",
        "use self.np_random in its place",
        "override `_capture` and `_reinstate`",
    ):
        assert fix in words(done.stdout)


@pytest.mark.parametrize("target", ["maze:Good", "maze:tests/GoodMaze-v0", "GridWorld-v0"])
def test_a_good_environment_is_one_line_and_exit_code_0(check, target):
    done = check(target)
    assert done.returncode == 0, done.stdout
    assert done.stdout.strip().startswith(f"{target}: ")
    assert done.stdout.strip().endswith(" rules, 0 errors, 0 warnings")
    assert len(done.stdout.splitlines()) == 1


@pytest.mark.parametrize(
    ("target", "message"),
    [
        ("maze:Mace", "did you mean 'Maze'?"),
        ("maize:Maze", "no module named 'maize'"),
        ("GridWrld-v0", "did you mean 'GridWorld-v0'?"),
        ("maze:np.pi", "expected an environment, its class, a function that makes one, a spec or an id"),
    ],
)
def test_a_target_that_cannot_be_loaded_is_one_line_and_exit_code_2(check, target, message):
    done = check(target)
    assert done.returncode == 2
    assert done.stdout == ""
    assert message in done.stderr
    assert "Traceback" not in done.stderr


def test_an_environment_that_cannot_be_made_is_a_finding(check):
    done = check("maze:Unmade")
    assert done.returncode == 1
    assert "expected an environment made without arguments, got TypeError" in words(done.stdout)
    assert "give every argument a default" in words(done.stdout)
    assert "1 rule, 1 error, 0 warnings" in done.stdout


def test_json_is_the_whole_report_whatever_the_environment_prints(check, read):
    done = check("maze:Maze", "--json", "--steps", 20, "--seed", 5)
    assert done.returncode == 1
    report = read(done.stdout)
    assert (report["name"], report["ok"], report["errors"], report["warnings"]) == ("maze:Maze", False, 4, 1)
    assert {one["rule"] for one in report["findings"]} == {
        "step-before-reset-fails",
        "observations-in-space",
        "rewards-are-numbers",
        "same-seed-same-history",
        "snapshot-can-be-taken",
    }
    assert "reset(seed=5) twice" in next(one["message"] for one in report["findings"] if one["rule"].startswith("same"))
    assert "a new maze [bold]" in done.stderr


def test_a_seed_or_a_number_of_steps_that_makes_no_sense_is_refused(check):
    assert check("maze:Good", "--seed", -1).returncode == 2
    assert check("maze:Good", "--steps", 0).returncode == 2
