"""Rules as newcomers write them that cannot be compiled exactly, each with what its error has to say."""

import math
import random
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.random import default_rng

from ludus.core import Outcome
from ludus.kernels import RuleEnv, Rules
from ludus.spaces import Box, Discrete

SEEN: list[int] = []
COUNT = 0


class State(NamedTuple):
    x: float
    n: int


class Params(NamedTuple):
    goal: int = 3
    table: Any = np.arange(4.0)


def reset(rng: Any, params: Params) -> State:
    return State(0.5, 1)


def observe(state: Any, params: Params) -> tuple[float]:
    return (state[0],)


def made_of(step: Any, reset: Any = reset, observe: Any = observe, state: Any = State, **more: Any) -> type[RuleEnv]:
    """An environment class with this step."""

    class Made(RuleEnv):
        observation_space = Box(-np.inf, np.inf, (1,), np.float64)
        action_space = Discrete(2)
        rules = Rules(state, Params, reset, step, observe, **more)

    return Made


STEPS: dict[str, tuple[Any, str]] = {}


def refused(text: str) -> Any:
    """Keeps a step, and what its error says."""

    def keep(step: Any) -> Any:
        STEPS[step.__name__] = step, text
        return step

    return keep


@refused("got str; leave it out: rules have no text")
def fstring(state, action, rng, params):
    return state, float(len(f"{state.n}")), False


@refused("got an import inside a rule; import it at the top of the module")
def importing(state, action, rng, params):
    import math as inner

    return state, inner.sin(state.x), False


@refused("got numpy.linalg; write the sum of squares, or a loop")
def norm(state, action, rng, params):
    return state, np.linalg.norm(np.array([state.x, 1.0])), False


@refused("got @; write a loop that adds the products")
def product(state, action, rng, params):
    row = np.array([state.x, 1.0])
    return state, row @ row, False


def factorial(n):
    return 1 if n <= 1 else n * factorial(n - 1)


@refused("got factorial, which calls itself; write a loop")
def recursion(state, action, rng, params):
    return state, float(factorial(state.n)), False


@refused("got numpy.random; write a draw from `rng`")
def global_numpy(state, action, rng, params):
    return state, np.random.rand(), False


@refused("got random; write a draw from `rng`")
def global_python(state, action, rng, params):
    return state, random.random(), False


@refused("got numpy.random.default_rng; write a draw from `rng`")
def own_generator(state, action, rng, params):
    return state, default_rng(0).random(), False


@refused("got the list SEEN of the module, which may change; write a tuple, or an array")
def outside_list(state, action, rng, params):
    return state, float(len(SEEN)), False


@refused("got a global that is set; keep it in the State")
def outside_number(state, action, rng, params):
    global COUNT
    COUNT += 1
    return state, 0.0, False


@refused("got a write into an array that was given; copy it first")
def params_written(state, action, rng, params):
    params.table[0] += 1.0
    return state, params.table[0], False


@refused("or its number in a constant of the module: WON = Outcome.SUCCESS.code")
def outcome_inside(state, action, rng, params):
    return state, 0.0, True, False, {"outcome": Outcome.SUCCESS.code}


@refused("got math.hypot, whose bits differ in compiled code; write math.sqrt(x * x + y * y)")
def hypot(state, action, rng, params):
    return state, math.hypot(state.x, 1.0), False


@refused("got math.gamma, whose bits differ in compiled code; write a table of its values, or Rules(…, compiled=True)")
def gamma(state, action, rng, params):
    return state, math.gamma(state.x + 1.0), False


@refused("got a dict; write a NamedTuple, or an array")
def dictionary(state, action, rng, params):
    return state, {0: 2.0}[0], False


@refused("got try; write an `if` that asks beforehand")
def trying(state, action, rng, params):
    try:
        gain = 1.0 / state.x
    except ZeroDivisionError:
        gain = 0.0
    return state, gain, False


@refused("got a generator expression; write a loop")
def generator(state, action, rng, params):
    return state, 0.0, any(one > 2 for one in range(3))


@refused("got _replace, which has no compiled form; build the State anew")
def replacing(state, action, rng, params):
    return state._replace(x=1.0), 0.0, False


@refused("got returns of different types; return the same types in every branch")
def cut_in_a_branch(state, action, rng, params):
    if action == 1:
        return State(state.x, state.n / 2), 0.0, False
    return State(state.x, state.n), 0.0, False


def half_at_times(action):
    if action == 0:
        return 1
    return 0.5


@refused("State.n: expected int64, got float64 from the rules; annotate it as float, or round it: int(x)")
def cut_unseen(state, action, rng, params):
    return (state.x, half_at_times(action)), 0.0, False


@refused("got n, an integer in one branch and a float in another; write float(…) in both")
def two_types(state, action, rng, params):
    n = state.n
    if action == 1:
        n = state.x
    return State(float(n), 1), 0.0, False


@refused("got rng.gamma; draw by random, uniform, integers")
def other_draw(state, action, rng, params):
    return state, rng.gamma(2.0), False


@refused("got round with digits; write round(x * 100) / 100")
def digits(state, action, rng, params):
    return state, round(state.x, 2), False


@refused("got + of two bools, which Python counts and NumPy does not; write int(x)")
def bools(state, action, rng, params):
    return state, float((state.x > 0.0) + (state.n > 0)), False


@refused("which Python's numbers and NumPy's promote differently; write float(x) around the float32")
def single_precision(state, action, rng, params):
    return state, float(np.float32(state.x) * 2.5), False


@refused("write int(x) around the int8")
def short_integers(state, action, rng, params):
    board = np.zeros(3, np.int8)
    return state, float(board[0] + 100 + state.n), False


@refused("got an array as an index; write a loop, or np.where")
def fancy(state, action, rng, params):
    row = np.zeros(4)
    return state, np.sum(row[np.array([0, 2])]), False


@refused("got numpy.empty; write np.zeros")
def uninitialised(state, action, rng, params):
    return state, np.empty(3)[0], False


@refused("got y, which has no value here on some path; write a value for it before")
def unbound(state, action, rng, params):
    if action == 0:
        y = state.x
    return state, y, False


@refused("got k, which has no value here on some path")
def after_a_loop(state, action, rng, params):
    for k in range(state.n):  # noqa: B007
        pass
    return state, float(k), False


@refused("got range of float64; write range(int(x))")
def steps_of_a_float(state, action, rng, params):
    total = 0
    if action == 1:
        for _ in range(state.x):
            total += 1
    return state, float(total), False


@refused("got a call of inner, defined inside a rule, with other than all arguments in order; write its 3 arguments")
def inner_with_defaults(state, action, rng, params):
    def inner(a, b=1.0, c=2.0):
        return a + 10.0 * b + 100.0 * c

    return state, inner(state.x, 5.0), False


@refused("got a call of inner, defined inside a rule, with other than all arguments in order")
def inner_by_name(state, action, rng, params):
    def inner(a, k=1):
        return a + k

    return state, inner(state.x, k=3), False


@refused("got a name that is given inside an expression (:=); give it on a line before")
def walrus(state, action, rng, params):
    gain = 0.0
    if (y := state.x * 2.0) > 1.0:
        gain = y
    return state, gain, False


@refused("got a value that may be None; use a number and a flag")
def none_or_number(state, action, rng, params):
    best = None
    for k in range(3):
        if best is None or k * state.x > best:
            best = k * state.x
    return state, best, False


@refused("got an index that is text; use a NamedTuple: it.a")
def indexed_by_text(state, action, rng, params):
    d = {"a": state.x, "b": 2.0}
    return state, d["a"], False


@refused("got del; leave it out")
def deleted(state, action, rng, params):
    y = state.x
    del y
    return state, 0.0, False


@refused("got float of text; write the number: math.inf for float('inf')")
def float_of_text(state, action, rng, params):
    return state, min(state.x, float("inf")), False


@refused("got a starred name in an assignment; take the parts by their places")
def starred(state, action, rng, params):
    a, *rest = (state.x, 1.0, 2.0)
    return state, a + rest[0], False


CELLS = np.array([2, 1, -1], np.int8)
FORCES = np.array([0.1, 0.7], np.float32)
FLAGS = np.array([True, True, False])


@refused("got a value, float32 in one case and a float in another; write float(…) in both")
def single_or_double(state, action, rng, params):
    force = FORCES[action] if state.n > 0 else 0.0
    return state, force * 0.1, False


@refused("(best = CELLS[k]): expected what rules may use, got best, int8 in one case and an integer in another")
def small_or_wide(state, action, rng, params):
    best = 0
    for k in range(3):
        if CELLS[k] > best:
            best = CELLS[k]
    return state, float(best * 50), False


def cell_or_zero(k):
    if k > 0:
        return CELLS[k]
    return 0


@refused("got a value, int8 in one case and an integer in another; write int(…) in both")
def small_or_wide_returned(state, action, rng, params):
    return state, float(cell_or_zero(action) * 50), False


@refused("got a value, int8 in one case and an integer in another; write int(…) in both")
def small_or_wide_in_a_list(state, action, rng, params):
    row = [CELLS[action], 5]
    return state, float(row[0] * 50), False


@refused("got right, a bool in one case and an integer in another; write int(…) in both")
def flag_or_number(state, action, rng, params):
    left, right = 0, 0
    if action == 0:
        left = CELLS[0] > 0
        right = CELLS[1] > 0
    return state, float(left + right), False


@refused("got a value, int8 in one case and an integer in another; write np.int8(…) for the other")
def small_where(state, action, rng, params):
    return state, float(np.where(CELLS > 0, CELLS, 0)[action] * 50), False


@refused("got & of int8 and int64, which Python's numbers and NumPy's promote differently; write int(x)")
def small_bits(state, action, rng, params):
    return state, float((CELLS[action] & 3) * 50), False


@refused("got & of int64 and uint64")
def beyond_a_word(state, action, rng, params):
    return state, float((state.n - 5) & 0xFFFFFFFFFFFFFFFF), False


@refused("got abs of a bool, which Python counts and NumPy does not; write int(x)")
def size_of_a_flag(state, action, rng, params):
    return state, float(abs(FLAGS[0]) + abs(FLAGS[1])), False


@refused("got `is`, which asks for one object, and numbers are none; write ==")
def identical(state, action, rng, params):
    return state, 1.0 if FLAGS[action] is True else 0.0, False


@refused("got an operation in place with what may be another part of the same array; write b.copy() for the right side")
def overlapping(state, action, rng, params):
    row = np.array([state.x, 1.0, 2.0])
    row[1:] += row[:-1]
    return state, row[2], False


@refused("got int64 for an array of int8, which would be cut; write np.int8(x)")
def laid_out_small(state, action, rng, params):
    return state, float(np.array([state.n * 30, 1], np.int8)[0]), False


@refused("got int64 for an array of int8, which would be cut; write np.int8(x)")
def filled_small(state, action, rng, params):
    return state, float(np.full(3, state.n * 30, np.int8)[0]), False


@refused("got maximum of such values")
def two_ranks(state, action, rng, params):
    return state, np.sum(np.maximum(np.zeros((2, 3)), np.ones(3))), False


@refused("got reshape of an array that does not lie in memory row by row; write x.copy().reshape(…)")
def reshaped(state, action, rng, params):
    return state, np.zeros((2, 3)).T.reshape(6)[action], False


@refused("got the sum of such an array; take it of a copy")
def summed_across(state, action, rng, params):
    return state, np.sum(np.zeros((2, 3)).T), False


@refused("got a draw of many numbers, or an integer below a float; draw them one by one, and below int(x)")
def drawn_of_a_row(state, action, rng, params):
    return state, rng.uniform(params.table, 9.0)[0], False


@refused("got a draw of many numbers, or an integer below a float; draw them one by one, and below int(x)")
def drawn_below_a_float(state, action, rng, params):
    return state, float(rng.integers(state.x + 2.0)), False


class Ordered(NamedTuple):
    x: float

    def __lt__(self, other):
        return self.x > other.x


@refused("expected a NamedTuple without operators of its own, got Ordered.__lt__, which compiled rules do not call")
def own_order(state, action, rng, params):
    return state, 1.0 if Ordered(state.x) < Ordered(1.0) else 0.0, False


def scaled(x, *, by=2.0):
    return x * by


@refused("got scaled, which takes arguments by name only; write it without the `*`")
def by_name_only(state, action, rng, params):
    return state, scaled(state.x, by=3.0), False


@refused("State.n: expected int64, got int8 from the rules; write int(x)")
def small_in_the_state(state, action, rng, params):
    return State(state.x, CELLS[action]), float(state.n * 100), False


@refused("State.x: expected float64, got float32 from the rules; write float(x)")
def single_in_the_state(state, action, rng, params):
    return State(FORCES[action], state.n), state.x * 0.1, False


@refused("State.n: expected int64, got bool from the rules; write int(x)")
def flag_in_the_state(state, action, rng, params):
    return State(state.x, FLAGS[action]), float(state.n + state.n), False


def still(state, action, rng, params):
    return state, 0.0, False


class Named(NamedTuple):
    x: float
    name: Any


@dataclass
class Data:
    x: float


CONTRACTS: dict[str, tuple[Callable[[], type[RuleEnv]], str]] = {
    "a str in the state": (
        lambda: made_of(still, reset=lambda rng, params: Named(0.0, "a"), state=Named),
        "expected a number, a bool or an array of them for name, got 'a' (str)",
    ),
    "a dataclass as the state": (
        lambda: made_of(still, reset=lambda rng, params: Data(0.0), state=Data),
        "Made state: expected a NamedTuple class, got a dataclass; write `class Data(NamedTuple):`",
    ),
    "a list from inform": (
        lambda: made_of(still, inform=lambda state, params: [state.x]),
        "expected a NamedTuple or a dictionary from inform, got [0.5]; define `class Info(NamedTuple)`",
    ),
    "a state of too few fields": (
        lambda: made_of(still, reset=lambda rng, params: (0.5,)),
        "expected State(x, n), got (0.5,); return all of its fields",
    ),
    "two values from step": (
        lambda: made_of(lambda state, action, rng, params: (state, 0.0)),
        "if there are any, got (State(x=0.5, n=1), 0.0); return those",
    ),
}
