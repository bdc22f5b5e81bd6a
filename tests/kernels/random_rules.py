"""A writer of random small rules, out of the operations that rules may use."""

import importlib.util
import random
import sys
from typing import Any

ONE = (
    *("math.sin({})", "math.cos({})", "math.tanh({})", "math.atan({})", "math.exp(min({}, 4.0))", "-({})", "abs({})"),
    *("math.sqrt(abs({}))", "math.log(abs({}) + 0.25)", "np.tanh({})", "np.sin({})", "np.exp(min({}, 3.0))"),
    *("np.arctan({})", "np.sqrt(abs({}))", "np.log1p(abs({}))", "np.square({})", "({}) ** 2", "({}) ** 3"),
    *("abs({}) ** 0.5", "float(round({}))", "float(int({}))", "float(math.floor({}))", "np.floor({})", "np.cbrt({})"),
    *("math.erf({})", "squash({})", "helpers.halved({})", "np.sign({})", "float(np.float32({}))"),
)
TWO = (
    *("({}) + ({})", "({}) - ({})", "({}) * ({})", "({}) / (abs({}) + 0.5)", "({}) % (abs({}) + 0.25)"),
    *("({}) // (abs({}) + 0.5)", "min({}, {})", "max({}, {})", "math.atan2({}, {})", "np.arctan2({}, {})"),
    *("np.hypot({}, {})", "np.maximum({}, {})", "(abs({}) + 0.1) ** min({}, 2.0)", "math.copysign({}, {})"),
    *("({}) if ({}) < 0.5 else 0.125", "np.power(abs({}) + 0.1, min({}, 2.0))", "mixed({}, {})"),
)
WHOLE_TWO = ("({} + {})", "({} - {})", "({} * {})", "({} // (abs({}) + 1))", "({} % (abs({}) + 1))", "({} ^ {})")
ROWS = (
    "np.sum(row)",
    "np.mean(row)",
    "np.max(row)",
    "row[i % 5]",
    "row[-1]",
    "np.sum(row * x)",
    "np.sum(np.tanh(row))",
)
HEAD = """
import math
from typing import NamedTuple
import numpy as np
from ludus.kernels import RuleEnv, Rules
from ludus.spaces import Box, Discrete
from tests.kernels import random_helpers as helpers


class State(NamedTuple):
    x: float
    y: float
    i: int
    j: int
    row: np.ndarray


class Params(NamedTuple):
    kind: int = 0


def squash(x):
    return x / (1.0 + abs(x))


def mixed(x, y):
    total = 0.0
    for k in range(3):
        total += x * (k + 1) - y / (k + 2)
    return total


def reset(rng, params):
    row = np.zeros(5)
    for k in range(5):
        row[k] = rng.normal()
    return State(rng.uniform(-2.0, 2.0), rng.normal(), int(rng.integers(-9, 9)), int(rng.integers(50)), row)


def observe(state, params):
    return state.x, state.y, float(state.i), float(state.j), state.row[0], np.sum(state.row)
"""
TAIL = """

def step(state, action, rng, params):
    x, y, i, j, row = state.x, state.y, state.i, state.j, state.row.copy()
    kind = params.kind
{choices}
    row[j % 5] = x
    return State(x, y, i, j, row), x - y, rng.random() < 0.02


class Random(RuleEnv):
    observation_space, action_space = Box(-np.inf, np.inf, (6,), np.float64), Discrete(3)
    rules = Rules(State, Params, reset, step, observe)
"""


class Writer:
    """Writes rules, the same for a seed."""

    def __init__(self, seed: int) -> None:
        self.random = random.Random(seed)

    def real(self, depth: int) -> str:
        """An expression that is a float."""
        pick = self.random.random()
        if depth == 0 or pick < 0.1:
            names = ("x", "y", "x", "y", "0.75", "-1.5", "float(i)", "float(j)", "float(action)", "rng.random()")
            return self.random.choice([*names, self.random.choice(ROWS)])
        if pick < 0.5:
            return self.random.choice(ONE).format(self.real(depth - 1))
        return self.random.choice(TWO).format(self.real(depth - 1), self.real(depth - 1))

    def whole(self, depth: int) -> str:
        """An expression that is an integer."""
        if depth == 0:
            return self.random.choice(("i", "j", "action", "3", "7", "int(x)", "int(rng.integers(5))"))
        return self.random.choice(WHOLE_TWO).format(self.whole(depth - 1), self.whole(depth - 1))

    def rule(self, number: int) -> str:
        """One function of a few lines, which keeps its numbers small."""
        lines = [f"\n\ndef rule_{number}(x, y, i, j, row, action, rng):"]
        for _ in range(self.random.randint(1, 3)):
            name = self.random.choice("xy")
            lines.append(f"    {name} = math.fmod({self.real(2)}, 5.0)")
        lines += [f"    i = {self.whole(2)} % 1000", f"    j = abs({self.whole(1)}) % 100"]
        if self.random.random() < 0.5:
            lines += [f"    if {self.real(1)} > {self.real(1)}:", f"        y = math.sin({self.real(2)})"]
        return "\n".join([*lines, "    return x, y, i, j"])

    def module(self, count: int) -> str:
        """The text of a module with that many rules and an environment that picks one of them."""
        call = "x, y, i, j = rule_{0}(x, y, i, j, row, action, rng)"
        lines = [f"    {'if' if k == 0 else 'elif'} kind == {k}:\n        {call.format(k)}" for k in range(count)]
        rules = "".join(self.rule(number) for number in range(count))
        return HEAD + rules + TAIL.replace("{choices}", "\n".join(lines))


def load(folder: Any, seed: int, count: int) -> Any:
    """The environment class of a new module of random rules."""
    name = f"random_rules_{seed}"
    path = folder / f"{name}.py"
    path.write_text(Writer(seed).module(count))
    spec: Any = importlib.util.spec_from_file_location(name, path)
    module: Any = importlib.util.module_from_spec(spec)
    sys.modules[name] = module
    spec.loader.exec_module(module)
    return module.Random
