"""Coding: a Python interpreter in a sandbox, and programming tasks with hidden tests."""

from dataclasses import dataclass
from math import isclose
from typing import Annotated, ClassVar, Literal, get_args

import numpy as np

from ludus.core import Env, Info, Outcome, Step
from ludus.core.options import Options
from ludus.core.snapshot import Memo
from ludus.envs.open.coding.interpreter import CellResult, CodeInterpreter, InterpreterKind, smolagents_folder
from ludus.envs.open.coding.limits import CodingLimits
from ludus.envs.open.coding.picture import coding_picture
from ludus.envs.open.coding.review import style_score, unsafe_words
from ludus.envs.open.coding.tasks import PROBLEMS, CodingTask, Problem
from ludus.errors import InvalidAction, InvalidArgument, ResetNeeded, did_you_mean, shorten
from ludus.rendering import Canvas, Choice, Drawn, choice
from ludus.seeding import Seed
from ludus.spaces import Record, Text
from ludus.spaces.kinds import is_dict, is_list

__all__ = ["CodeAction", "CodeObservation", "CodeState", "Coding"]

Difficulty = Literal["any", "easy", "medium", "hard"]
LONGEST_CODE = 16_384
UNSAFE, SYNTAX, STYLE = -1.0, -0.2, 0.1
HOW = (
    "Run code as you like; call submit() when your function is ready: hidden tests then grade it, and the episode ends."
)

Output = Annotated[str, Text(1 << 20, min_length=0, charset=None)]


@dataclass
class CodeAction:
    """A cell: Python to run where the cells before left off."""

    __tool__: ClassVar[str] = "run_python"

    code: Annotated[str, Text(LONGEST_CODE, min_length=0, charset=None)]


@dataclass
class CodeObservation:
    """What the cell printed, and how it ended; after a reset, what is asked."""

    stdout: Output = ""
    stderr: Output = ""
    exit_code: int = 0


@dataclass
class CodeState:
    """What is shown of the episode."""

    last_exit_code: int = 0
    task: str = ""
    difficulty: str = ""


class Coding(Drawn, Env[CodeObservation, CodeAction]):
    r"""Write a function that passes hidden tests; `submit()` in a cell hands it in.

    Cells run in an interpreter that is sandboxed, and keeps its variables through the episode. The program is graded in
    another one, on inputs that the first never saw; what they should give stays in this process.

    >>> env = Coding(task="triangular")
    >>> observation, info = env.reset(seed=0)
    >>> observation.stdout.splitlines()[0]
    'Write a function `triangular(n: int) -> int`.'
    >>> env.step(CodeAction("print(2 + 2)")).observation
    CodeObservation(stdout='4\n', stderr='', exit_code=0)
    >>> step = env.step(CodeAction("def triangular(n):\n    return n * (n + 1) // 2\nsubmit()"))
    >>> step.info["facts"]["tests_passed"], step.terminated, step.info["facts"]["won"]
    (10, True, True)
    >>> env.close()
    """

    metadata = Drawn.metadata | {"render_fps": 2}
    snapshot_shared: ClassVar[tuple[str, ...]] = ("_interpreter", "_problems", "_window")

    def __init__(
        self,
        difficulty: Difficulty = "any",
        task: str | None = None,
        seconds: float = 5.0,
        memory: int = 256 << 20,
        processes: int = 16,
        output: int = 64 << 10,
        render_mode: str | None = None,
        *,
        interpreter: InterpreterKind = "python",
    ) -> None:
        if interpreter not in get_args(InterpreterKind):
            raise InvalidArgument(
                f"Coding interpreter: expected one of {list(get_args(InterpreterKind))}, got {shorten(interpreter)}"
                f"{did_you_mean(interpreter, get_args(InterpreterKind))}"
            )
        if interpreter == "smolagents":
            smolagents_folder()  # where it is missing, that is an error at once
        self.interpreter: InterpreterKind = interpreter
        if difficulty not in get_args(Difficulty):
            raise InvalidArgument(
                f"Coding difficulty: expected one of {list(get_args(Difficulty))}, got {shorten(difficulty)}"
            )
        self.limits = CodingLimits(seconds=seconds, memory=memory, processes=processes, output=output)
        self._problems = _chosen(difficulty, task)
        self.action_space, self.observation_space = Record(CodeAction), Record(CodeObservation)
        self.render_mode = render_mode
        self.state: CodeState | None = None
        self._interpreter: CodeInterpreter | None = None
        self._stale = False
        self._task: CodingTask | None = None
        self._seed = 0
        self._cells: list[str] = []
        self._shown: list[tuple[str, CodeObservation]] = []
        self._over = False

    def reset(self, *, seed: Seed | None = None, options: Options | None = None) -> tuple[CodeObservation, Info]:
        """Draw a task, and begin a new interpreter; the option `task` names one."""
        problems = self._problems if not options else _named(options)
        super().reset(seed=seed)
        rng = self.np_random
        task = problems[int(rng.integers(len(problems)))].task(np.random.default_rng(rng.integers(1 << 62)))
        self._seed = int(rng.integers(1 << 31))
        self._task, self._cells, self._over = task, [], False
        self.state = CodeState(task=task.name, difficulty=task.difficulty)
        self._drop()
        observation = CodeObservation(stdout=f"{task.prompt}\n{HOW}\n")
        self._shown = [("", observation)]
        return observation, {"task": task.name, "difficulty": task.difficulty, "prompt": task.prompt}

    def step(self, action: CodeAction) -> Step[CodeObservation]:
        """Run a cell; where it called `submit()`, grade the program."""
        if self.state is None or self._task is None or self._over:
            got = "an episode that has ended" if self._over else "no episode under way"
            raise ResetNeeded(f"step: expected reset() first, got {got}")
        self.action_space.check(action, "action", InvalidAction)
        code = action.code
        result = self._ready().run(code)
        self._remember(code, result)
        observation = CodeObservation(result.stdout, result.stderr, result.exit_code)
        self.state.last_exit_code = result.exit_code
        self._shown = [*self._shown[-12:], (code, observation)]
        components = {
            "tests": 0.0,
            "style": 0.0,
            "safety": UNSAFE if unsafe_words(code) else 0.0,
            "syntax": SYNTAX if result.error in ("SyntaxError", "IndentationError", "TabError") else 0.0,
        }
        facts: dict[str, object] = {"won": False, "invalid_format": components["syntax"] < 0}
        info: Info = {"reward_components": components, "facts": facts}
        if result.limit:
            info["limit"] = result.limit
        if result.lost:
            info["restarted"] = True
        if result.submitted and not result.lost:
            self._grade(self._task, info)
        return Step(observation, sum(components.values()), self._over, False, info)

    def close(self) -> None:
        """End the interpreter."""
        self._drop()
        super().close()

    def get_choices(self) -> list[Choice]:
        """A cell to write, and the end."""
        if self._over:
            return []
        return [
            choice("Run", {"code": "{text}"}, ask="A cell of Python", lines=8),
            choice("Submit", {"code": "submit()"}),
        ]

    def draw(self) -> Canvas:
        """The last cells, and what they printed."""
        return coding_picture([(code, one.stdout, one.stderr) for code, one in self._shown])

    # --- the interpreter ---

    def _ready(self) -> CodeInterpreter:
        """The interpreter of the episode; a new one after a restore runs the cells again."""
        if self._stale:
            self._drop()
        if self._interpreter is None:
            self._interpreter = CodeInterpreter(self.limits, self._seed, kind=self.interpreter)
            for code in self._cells:
                self._interpreter.run(code)
        return self._interpreter

    def _remember(self, code: str, result: CellResult) -> None:
        """What the program is made of: a cell that ran out of time is none of it, and what was lost is gone."""
        if result.lost:
            self._drop()
            self._cells = []
        elif result.limit != "time":
            self._cells = [*self._cells, code]

    def _drop(self) -> None:
        self._stale = False
        if self._interpreter is not None:
            self._interpreter.close()
            self._interpreter = None

    def _reinstate(self, state: dict[str, object], memo: Memo) -> None:
        super()._reinstate(state, memo)
        self._stale = True

    # --- grading ---

    def _grade(self, task: CodingTask, info: Info) -> None:
        """Run the program in an interpreter of its own, and compare what it gives; expected values stay here."""
        self._over = True
        inputs = [one.arguments for one in task.tests]
        with CodeInterpreter(self.limits, self._seed, kind=self.interpreter) as grader:
            results = grader.call(self._cells, task.name, inputs)
        passed = sum(
            not given.error and same(given.value, test.expected)
            for given, test in zip(results, task.tests, strict=True)
        )
        won = passed == len(task.tests)
        info["reward_components"]["tests"] = passed / len(task.tests)
        info["reward_components"]["style"] = STYLE * style_score("\n".join(self._cells)) if won else 0.0
        info["facts"] |= {"tests_passed": passed, "tests_total": len(task.tests), "won": won}
        info["outcome"] = Outcome.SUCCESS if won else Outcome.FAILURE


def same(given: object, expected: object) -> bool:
    """Whether two plain results are equal: floats nearly, and no bool is a number."""
    if is_list(given) and is_list(expected):
        pairs = zip(given, expected, strict=False)
        return len(given) == len(expected) and all(same(one, other) for one, other in pairs)
    if is_dict(given) and is_dict(expected):
        return given.keys() == expected.keys() and all(same(given[key], expected[key]) for key in given)
    if isinstance(given, bool) or isinstance(expected, bool):
        return given is expected
    if isinstance(given, float) and isinstance(expected, int | float):
        return isclose(given, expected, rel_tol=1e-9, abs_tol=1e-9)
    return type(given) is type(expected) and given == expected


def _chosen(difficulty: str, task: str | None) -> list[Problem]:
    every = [one for problems in PROBLEMS.values() for one in problems]
    if task is None:
        return every if difficulty == "any" else PROBLEMS[difficulty]
    found = [one for one in every if one.name == task]
    if not found:
        meant = did_you_mean(task, [one.name for one in every])
        raise InvalidArgument(
            f"Coding task: expected the name of one of {len(every)} tasks, got {shorten(task)}{meant}"
        )
    return found


def _named(options: Options) -> list[Problem]:
    if set(options) - {"task"}:
        raise InvalidArgument(f"options: expected only 'task', got {shorten(options)}")
    return _chosen("any", options["task"])
