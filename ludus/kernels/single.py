"""One environment that runs compiled, as a batch does: for rules that have other bits interpreted, or are slow so."""

from collections.abc import Callable, Iterable, Mapping
from functools import cache, partial
from inspect import get_annotations
from typing import Any

import numpy as np

from ludus.errors import KernelError, LudusError
from ludus.kernels.compiler import compile_single
from ludus.kernels.displays import tuple_code
from ludus.kernels.exact.explanation import explain
from ludus.kernels.exact.fault import FAULTS, fault_of
from ludus.kernels.exact.place import place_of
from ludus.kernels.exact.reach import reached
from ludus.kernels.rules import Rules
from ludus.kernels.state_arrays import read_only
from ludus.kernels.stream import WORDS, Stream, generator_of, write_stream

__all__ = ["compiled_single"]

PLAIN: dict[str, Callable[..., object]] = {"float": float, "int": int, "bool": bool}


@cache
def compiled_single(rules: Rules) -> Rules:
    """The same rules, to be called with a NumPy generator and Python's values, run by compiled code.

    >>> import math
    >>> from typing import NamedTuple
    >>> class State(NamedTuple):
    ...     x: float
    >>> class Params(NamedTuple):
    ...     speed: float = 1.5
    >>> def reset(rng, params):
    ...     return State(rng.random())
    >>> def step(state, action, rng, params):
    ...     return State(math.hypot(state.x, params.speed)), 0.0, False
    >>> rules = Rules(State, Params, reset, step, lambda state, params: (state.x,), compiled=True)
    >>> fast, rng = compiled_single(rules), np.random.default_rng(3)
    >>> fast.reset(rng, Params()).x == np.random.default_rng(3).random()
    True
    """
    runner = _Runner(rules)
    return rules._replace(**{name: partial(runner.run, name) for name in rules.functions})


class _Runner:
    def __init__(self, rules: Rules) -> None:
        self.rules = rules
        for one in reached([*rules.functions.values()]):
            if tuple_code(one.__code__) is not one.__code__:
                where = place_of(one.__code__.co_filename, one.__code__.co_firstlineno)
                raise KernelError(
                    f"{where}: expected a NamedTuple where one environment runs compiled, got a dictionary; "
                    "define `class Seen(NamedTuple)` and return Seen(…)"
                )
        self.functions, self.arguments = compile_single(rules), rules.arguments
        kinds = get_annotations(rules.state)
        names = [getattr(kinds.get(one), "__name__", kinds.get(one)) for one in rules.state._fields]
        self.converters = [PLAIN.get(str(name)) for name in names]

    def run(self, name: str, *args: Any) -> object:
        """Call a rule; the generator it draws from goes on where it stopped."""
        taken = dict(zip(self.arguments[name], args, strict=True))
        taken["params"] = type(taken["params"])(*map(read_only, taken["params"]))
        if "state" in taken:
            taken["state"] = self._state(taken["state"])
        found = self._drawing(name, taken) if "rng" in taken else self._call(name, taken)
        if name == "step":
            return (self._state(found[0]), *found[1:])
        return self._state(found) if name in ("reset", "renew") else found

    def _drawing(self, name: str, taken: dict[str, Any]) -> Any:
        generator: np.random.BitGenerator = taken["rng"].bit_generator
        words = np.zeros((1, WORDS), np.uint64)
        write_stream(words, 0, generator)
        before = words.copy()
        found = self._call(name, taken | {"rng": Stream(words, 0)})
        if not np.array_equal(words, before):
            generator.state = generator_of(words, 0).bit_generator.state
        return found

    def _call(self, name: str, taken: Mapping[str, object]) -> Any:
        """A compiled function, whose errors are the interpreter's, with the line."""
        try:
            return self.functions[name](*taken.values())
        except FAULTS as error:
            raise fault_of(error) from error
        except LudusError:
            raise
        except Exception as error:  # Numba's own: this is where it compiles
            raise explain(self.rules, error) from error

    def _state(self, state: Iterable[object]) -> object:
        """A state whose numbers are of their field's type, as in the columns of a batch."""
        pairs = zip(self.converters, state, strict=True)
        return self.rules.state(*(value if convert is None else convert(value) for convert, value in pairs))
