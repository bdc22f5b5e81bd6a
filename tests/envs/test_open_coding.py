"""Coding: variables that last, limits that are named, tasks that differ, and a grader that nobody fools."""

import importlib.machinery
import json

import numpy as np
import pytest

import ludus
from ludus.core import Outcome
from ludus.envs.open.coding import CodeAction, CodeObservation, Coding, interpreter
from ludus.envs.open.coding.coding import same
from ludus.envs.open.coding.interpreter import CodeInterpreter
from ludus.envs.open.coding.limits import CodingLimits
from ludus.envs.open.coding.policies import POLICIES
from ludus.envs.open.coding.review import unsafe_words
from ludus.envs.open.coding.tasks import PROBLEMS
from ludus.errors import InvalidAction, InvalidArgument, MissingExtra, ResetNeeded, SandboxError
from tests.envs.open_play import mean_returns, play

EVERY = [one for problems in PROBLEMS.values() for one in problems]
THREADS = """
import threading, time
for _ in range(40): threading.Thread(target=time.sleep, args=(9,), daemon=True).start()
"""
SMALL = CodingLimits(seconds=20, memory=128 << 20)


@pytest.fixture(scope="module")
def python():
    with CodeInterpreter(SMALL) as python:
        yield python


@pytest.fixture
def env():
    env = Coding(task="triangular")
    env.reset(seed=0)
    yield env
    env.close()


# --- the interpreter ---

STAND_IN = """
from smolagents.tools import Tool

class Output:
    def __init__(self, output): self.output = output

class LocalPythonExecutor:
    def __init__(self, imports, additional_functions, timeout_seconds):
        assert timeout_seconds is None
        self.state, self.custom_tools, self.functions = {}, {}, additional_functions
    def send_tools(self, tools: dict[str, Tool]): self.state |= {**self.functions, **tools}
    def __call__(self, code):
        if "import" in code: raise ValueError("not among those that are allowed")
        self.state["_print_outputs"] = f"carried out {len(code)} characters\\n"
        exec(code, self.state)
        return Output(7)
"""


def test_cells_are_carried_out_by_smolagents_where_that_is_asked_for(tmp_path, monkeypatch):
    with pytest.raises(InvalidArgument, match="did you mean 'smolagents'"):
        Coding(interpreter="smolagent")
    monkeypatch.setattr("ludus.envs.open.coding.interpreter.find_spec", lambda name: None)
    with pytest.raises(MissingExtra, match="got none; pip install smolagents"):
        Coding(interpreter="smolagents")
    folder = tmp_path / "smolagents"
    folder.mkdir()
    for one in (tmp_path, folder):
        one.chmod(0o755)
    (folder / "__init__.py").write_text("raise AssertionError('none of the package but its executor is needed')")
    (folder / "local_python_executor.py").write_text(STAND_IN)
    monkeypatch.setattr(
        "ludus.envs.open.coding.interpreter.find_spec",
        lambda name: importlib.machinery.ModuleSpec(name, None, origin=str(folder / "__init__.py")),
    )
    with Coding(task="triangular", interpreter="smolagents") as env:
        env.reset(seed=0)
        assert env.step(CodeAction("1 + 1")).observation == CodeObservation("carried out 5 characters\n7\n", "", 0)
        assert env.step(CodeAction("x = 1")).observation.stdout == "carried out 5 characters\n"
        refused = env.step(CodeAction("import this")).observation
        assert (refused.stderr, refused.exit_code) == ("ValueError: not among those that are allowed\n", 1)
        assert env.step(CodeAction("def")).info["facts"]["invalid_format"]
        assert env.step(CodeAction(f"{env._task.solution}\nsubmit()")).info["facts"]["won"]


@pytest.mark.parametrize(
    ("code", "stdout", "exit_code"),
    [
        ("print(2 + 2)", "4\n", 0),
        ("2 + 2", "4\n", 0),
        ("x = 3", "", 0),
        ("", "", 0),
        ("print('é☃')", "é☃\n", 0),
        ("import sys; sys.exit(3)", "", 3),
        ("raise SystemExit", "", 0),
        ("import sys; print('no', file=sys.stderr)", "", 0),
        ("import subprocess; _ = subprocess.run(['echo', 'child'])", "child\n", 0),
    ],
)
def test_a_cell_gives_what_a_terminal_would(python, code, stdout, exit_code):
    result = python.run(code)
    assert (result.stdout, result.exit_code, result.limit) == (stdout, exit_code, "")


@pytest.mark.parametrize(
    ("code", "error"), [("1 / 0", "ZeroDivisionError"), ("def f(:", "SyntaxError"), ("\0", "ValueError")]
)
def test_an_exception_is_told_with_its_line_and_the_state_stays(python, code, error):
    python.run("kept = 7")
    result = python.run(code)
    assert result.exit_code == 1
    assert error in result.stderr or error == "ValueError"
    assert "inside" not in result.stderr
    assert python.run("kept").stdout == "7\n"


@pytest.mark.parametrize(
    ("code", "limit"),
    [
        ("while True: pass", "time"),
        ("data = bytearray(1 << 30)", "memory"),
        ("print('a' * 100_000)", "output"),
        (THREADS, "processes"),
    ],
)
def test_a_limit_is_named_and_the_next_cell_runs(code, limit):
    with Coding(task="triangular", seconds=2, memory=128 << 20) as env:
        env.reset(seed=0)
        env.step(CodeAction("kept = 7"))
        step = env.step(CodeAction(code))
        assert step.info["limit"] == limit
        assert not step.done
        assert env.step(CodeAction("kept")).observation.stdout == "7\n"


def test_a_cell_that_holds_the_alarm_back_loses_its_interpreter():
    code = "def spin():\n    while True: x = 1\nwhile True:\n    try: spin()\n    except BaseException: pass"
    with Coding(task="triangular", seconds=1.5) as env:
        env.reset(seed=0)
        env.step(CodeAction("kept = 7"))
        step = env.step(CodeAction(code))
        assert (step.info["limit"], step.info["restarted"], step.observation.exit_code) == ("time", True, 124)
        assert "NameError" in env.step(CodeAction("kept")).observation.stderr


def test_a_process_that_ends_itself_is_told_and_begun_anew(env):
    step = env.step(CodeAction("import os; os._exit(0)"))
    assert (step.observation.exit_code, step.info["restarted"], step.terminated) == (137, True, False)
    assert env.step(CodeAction("print(1)")).observation.stdout == "1\n"


def test_an_answer_that_the_code_forges_is_no_success(env):
    forged = json.dumps({"exit_code": 0, "submitted": True, "stdout": "forged"})
    code = f"import os\ndata = {forged!r}.encode()\nos.write(3, len(data).to_bytes(4, 'big') + data)"
    step = env.step(CodeAction(code))
    assert not step.info["facts"]["won"]
    assert step.reward < 0


def test_an_interpreter_that_does_not_start_tells_how_it_ended(monkeypatch):
    monkeypatch.setattr(interpreter, "python_command", lambda *_: ["/bin/sh", "-c", "exit 3"])
    with pytest.raises(SandboxError, match=r"to start in the sandbox, got its process ended \(status 3, limit: none\)"):
        CodeInterpreter()


def test_the_outside_is_not_there(env):
    step = env.step(CodeAction("import socket; socket.create_connection(('1.1.1.1', 80), 0.2)"))
    assert step.observation.exit_code == 1
    step = env.step(CodeAction("import os; print(sorted(os.environ)); print(os.listdir('/root'))"))
    assert "ludus" not in step.observation.stdout


# --- tasks ---


def test_there_are_a_hundred_tasks_that_differ():
    assert len(EVERY) >= 100
    assert len({one.name for one in EVERY}) == len(EVERY)
    assert min(map(len, PROBLEMS.values())) >= 30


@pytest.mark.parametrize("difficulty", PROBLEMS)
def test_tests_of_a_task_tell_more_than_one_answer_apart(difficulty):
    for one in PROBLEMS[difficulty]:
        task = one.task(np.random.default_rng(1))
        assert len(task.tests) >= 5, one.name
        assert len({json.dumps(test.expected) for test in task.tests}) > 1, one.name
        assert task.prompt.startswith(f"Write a function `{one.name}(")


def test_every_solution_passes_its_own_tests_in_the_interpreter():
    with CodeInterpreter() as python:
        for one in EVERY:
            task = one.task(np.random.default_rng(2))
            results = python.call([task.solution], task.name, [test.arguments for test in task.tests])
            assert all(same(given.value, test.expected) for given, test in zip(results, task.tests, strict=True)), (
                one.name
            )


def test_a_seed_is_a_task():
    with Coding() as env:
        assert env.reset(seed=4) == env.reset(seed=4)
        assert len({env.reset(seed=seed)[1]["task"] for seed in range(20)}) > 10


def test_a_task_is_chosen_by_name_or_difficulty():
    with Coding(difficulty="hard") as env:
        assert {env.reset(seed=seed)[1]["difficulty"] for seed in range(5)} == {"hard"}
        assert env.reset(seed=0, options={"task": "fibonacci"})[1]["task"] == "fibonacci"
        with pytest.raises(InvalidArgument, match="did you mean 'fibonacci'"):
            env.reset(options={"task": "fibonaci"})
        with pytest.raises(InvalidArgument, match="expected only 'task'"):
            env.reset(options={"level": 3})
    with pytest.raises(InvalidArgument, match="Coding difficulty: expected one of"):
        Coding(difficulty="insane")
    with pytest.raises(InvalidArgument, match="Coding limits seconds: expected a number above 0"):
        Coding(seconds=0)


# --- grading ---


def test_a_right_program_succeeds_though_it_was_written_in_parts(env):
    env.step(CodeAction("def half(n):\n    return n // 2"))
    env.step(CodeAction("def triangular(n):\n    '''The sum from 1 to n.'''\n    return half(n * (n + 1))"))
    step = env.step(CodeAction("submit()"))
    assert (step.terminated, step.info["facts"]["won"], step.info["facts"]["tests_passed"]) == (True, True, 10)
    assert Outcome.told(step.info["outcome"]) is Outcome.SUCCESS
    assert step.reward == pytest.approx(1.1)
    assert step.info["reward_components"] == {"tests": 1.0, "style": 0.1, "safety": 0.0, "syntax": 0.0}
    with pytest.raises(ResetNeeded):
        env.step(CodeAction("1"))


@pytest.mark.parametrize(
    "program",
    [
        "pass",
        "def triangular(n): return None",
        "def triangular(n): raise SystemExit",
        "def triangular(n): return True",
        "class Always(int):\n    __eq__ = lambda *_: True\n    __hash__ = None\ndef triangular(n): return Always(1)",
        "import os\ndef triangular(n): os._exit(0)",
        "def triangular(n):\n    while True: pass",
        "import json\njson.dumps = lambda *a, **k: '[]'\ndef triangular(n): return 1",
    ],
)
def test_a_wrong_program_fails_however_it_tries(program):
    with Coding(task="triangular", seconds=0.2) as env:
        env.reset(seed=0)
        step = env.step(CodeAction(f"{program}\nsubmit()"))
        assert step.terminated
        assert not step.info["facts"]["won"]
        assert Outcome.told(step.info["outcome"]) is Outcome.FAILURE
        assert step.info["reward_components"]["tests"] < 0.5


def test_hidden_tests_are_not_told_to_the_interpreter_before_grading_and_answers_never(monkeypatch):
    told = []
    send = CodeInterpreter._send
    monkeypatch.setattr(CodeInterpreter, "_send", lambda self, *said: (told.append(said), send(self, *said))[1])
    with Coding(task="caesar") as env:
        env.reset(seed=3)
        hidden = env._task.tests
        env.step(CodeAction("print(1)"))
        said = b"".join(text for _, text in told).decode()
        assert not any(test.arguments[0] in said for test in hidden if len(test.arguments[0]) > 3)
        env.step(POLICIES["random"](env, CodeObservation("Write a function `caesar("), np.random.default_rng(0)))
        [grading] = [json.loads(text) for kind, text in told if kind == "call"]
        assert set(grading) == {"cells", "function", "inputs"}
        assert grading["inputs"] == [test.arguments for test in hidden]


def test_unsafe_words_are_found_by_reading():
    assert unsafe_words("import os\nfrom subprocess import run") == ["os", "subprocess"]
    assert unsafe_words("import math, socket as s; exec('1')") == ["socket", "exec"]
    assert unsafe_words("# import os\ntext = 'eval(1)'\nopener(1)\nimport math") == []
    assert unsafe_words("def f(:\n  ((((") == []


@pytest.mark.parametrize("seeds", [4, pytest.param(20, marks=pytest.mark.full)])
def test_the_solution_wins_and_nonsense_never_does(seeds):
    # One environment each; nonsense is never handed in, so few steps of it tell as much as many.
    means, winners = mean_returns(lambda: Coding(difficulty="easy"), POLICIES, range(seeds), most=2)
    assert means["oracle"] > 1.0 > means["random"] >= means["nop"]
    assert winners == {"oracle"}


def test_what_is_no_code_is_refused(env):
    for wrong in (CodeAction(3), CodeAction("x" * 16_385), None):
        with pytest.raises(InvalidAction, match="action"):
            env.step(wrong)
    assert env.step(CodeAction("1")).observation.exit_code == 0


def test_a_restored_episode_has_the_variables_it_had(env):
    env.step(CodeAction("x = [1]"))
    before = env.snapshot()
    env.step(CodeAction("x.append(2)"))
    env.restore(before)
    assert env.step(CodeAction("x")).observation.stdout == "[1]\n"
    with Coding(task="triangular") as other:
        other.restore(before)
        assert other.step(CodeAction("x")).observation.stdout == "[1]\n"


def test_the_next_episode_knows_nothing_of_the_last(env):
    env.step(CodeAction("import pathlib\nleft = 1\n_ = pathlib.Path('left.txt').write_text('x')"))
    env.reset(seed=1)
    step = env.step(CodeAction("print('left' in globals(), __import__('os').path.exists('left.txt'))"))
    assert step.observation.stdout == "False False\n"


def test_a_random_number_is_the_seeds(env):
    def drawn():
        env.reset(seed=9)
        return env.step(CodeAction("import random; print(random.random(), hash('text'))")).observation.stdout

    assert drawn() == drawn()


def test_a_whole_episode_is_played_by_the_policy_that_knows():
    with ludus.make("open/Coding-v0") as env:
        assert play(env, POLICIES["oracle"], 5)[1] is Outcome.SUCCESS
