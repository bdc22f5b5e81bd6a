"""`Problem` and `CodingTask`: a function to write, and inputs that are drawn for it."""

import ast
import inspect
import textwrap
from collections.abc import Callable
from copy import deepcopy
from dataclasses import dataclass
from functools import cache
from threading import Lock
from typing import Literal, TypeVar

import numpy as np

from ludus.envs.open.coding.inside import plain

__all__ = ["Difficulty", "Inputs", "Problem", "CodingTask", "Test", "problem"]

Difficulty = Literal["easy", "medium", "hard"]
Inputs = Callable[[np.random.Generator], tuple[object, ...]]
Solution = TypeVar("Solution", bound=Callable[..., object])
EXAMPLES, HIDDEN = 2, 10
_parsing = Lock()
"""Python 3.11 raises SystemError where two threads make syntax trees at once."""
MAX_ALIKE = 6
"""Tests with one answer: a function that gives it always passes hardly half of them."""
DRAWS = 150


@dataclass(frozen=True)
class Test:
    """Arguments, and what they give, both as JSON has them."""

    arguments: list[object]
    expected: object


@dataclass(frozen=True)
class CodingTask:
    """What is asked, and how an answer is graded."""

    name: str
    difficulty: Difficulty
    prompt: str
    solution: str
    tests: tuple[Test, ...]


@dataclass(frozen=True)
class Problem:
    """A function that solves it, whose docstring says what is asked, and how its inputs are drawn.

    >>> def double(number: int) -> int:
    ...     '''Return twice the number.'''
    ...     return 2 * number
    >>> task = Problem("easy", lambda rng: (int(rng.integers(99)),), double).task(np.random.default_rng(0))
    >>> task.prompt.splitlines()[0], len(task.tests)
    ('Write a function `double(number: int) -> int`.', 10)
    """

    difficulty: Difficulty
    inputs: Inputs
    function: Callable[..., object]

    @property
    def name(self) -> str:
        """The name of the function."""
        return self.function.__name__

    def task(self, rng: np.random.Generator) -> CodingTask:
        """The task with examples and hidden tests: no arguments twice, and no answer right for most of them."""
        tests: list[Test] = []
        for _ in range(DRAWS):
            if len(tests) == EXAMPLES + HIDDEN:
                break
            arguments = list(self.inputs(rng))
            if any(arguments == one.arguments for one in tests):
                continue
            expected = plain(self.function(*deepcopy(arguments)))
            if sum(expected == one.expected for one in tests) < MAX_ALIKE:
                tests.append(Test(arguments, expected))
        tests.sort(key=lambda one: -len(repr(one.arguments)))  # long arguments make the better examples
        prompt = self._prompt(tests[:EXAMPLES])
        return CodingTask(self.name, self.difficulty, prompt, self.source, tuple(tests[EXAMPLES:]))

    def _prompt(self, examples: list[Test]) -> str:
        statement = " ".join((self.function.__doc__ or "").split())
        calls = (f"{self.name}({', '.join(map(repr, one.arguments))})" for one in examples)
        shown = [
            f"    {call}  # {self.function(*deepcopy(one.arguments))!r}"
            for call, one in zip(calls, examples, strict=True)
        ]
        return "\n".join([f"Write a function `{self.signature}`.", statement, "Examples:", *shown])

    @property
    def signature(self) -> str:
        """Its first line, without `def`."""
        return f"{self.name}{inspect.signature(self.function)}"

    @property
    def source(self) -> str:
        """A solution: the text of the function."""
        with _parsing:
            return _source(self.function)


@cache
def _source(function: Callable[..., object]) -> str:
    tree = ast.parse(textwrap.dedent(inspect.getsource(function)))
    [found] = [node for node in tree.body if isinstance(node, ast.FunctionDef)]
    found.decorator_list = []
    return f"{ast.unparse(found)}\n"


def problem(table: list[Problem], difficulty: Difficulty, inputs: Inputs) -> Callable[[Solution], Solution]:
    """Write a function into a table of problems."""

    def enter(function: Solution) -> Solution:
        table.append(Problem(difficulty, inputs, function))
        return function

    return enter
