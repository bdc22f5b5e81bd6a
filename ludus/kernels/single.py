"""One environment that runs compiled, as a batch does: for rules that have other bits interpreted, or are slow so."""

from collections.abc import Callable
from functools import cache
from inspect import get_annotations
from typing import Any

import numpy as np

from ludus.errors import LudusError
from ludus.kernels.compiler import compile_single
from ludus.kernels.exact.explanation import explain
from ludus.kernels.exact.fault import FAULTS, fault_of
from ludus.kernels.random import WORDS, Stream, generator_of, write_stream
from ludus.kernels.rules import Rules
from ludus.kernels.values import read_only

__all__ = ["compiled_single"]

PLAIN: dict[str, Callable[[Any], Any]] = {"float": float, "int": int, "bool": bool}


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
    return rules._replace(
        reset=runner.reset,
        step=runner.step,
        observe=runner.observe,
        inform=None if rules.inform is None else runner.inform,
        renew=None if rules.renew is None else runner.renew,
    )


class _Runner:
    def __init__(self, rules: Rules) -> None:
        self.rules = rules
        self.functions = compile_single(rules)
        kinds = get_annotations(rules.state)
        names = [getattr(kinds.get(one), "__name__", kinds.get(one)) for one in rules.state._fields]
        self.converters = [PLAIN.get(str(name)) for name in names]

    def reset(self, rng: Any, params: Any) -> Any:
        """Draw a first state."""
        return self._state(self._drawing("reset", rng, params))

    def renew(self, state: Any, rng: Any, params: Any) -> Any:
        """The first state of the next episode."""
        return self._state(self._drawing("renew", rng, self._state(state), params))

    def step(self, state: Any, action: Any, rng: Any, params: Any) -> Any:
        """Apply the rules once."""
        after, *rest = self._drawing("step", rng, self._state(state), action, params)
        return (self._state(after), *rest)

    def observe(self, state: Any, params: Any) -> Any:
        """What an agent sees."""
        return self.call("observe", self._state(state), params)

    def inform(self, state: Any, params: Any) -> Any:
        """What goes into `info`."""
        return self.call("inform", self._state(state), params)

    def call(self, name: str, *args: Any) -> Any:
        """A compiled function, whose errors are the interpreter's, with the line."""
        *before, params = args
        try:
            return self.functions[name](*before, type(params)(*map(read_only, params)))
        except FAULTS as error:
            raise fault_of(error) from error
        except LudusError:
            raise
        except Exception as error:  # Numba's own: this is where it compiles
            raise explain(self.rules, error) from error

    def _drawing(self, name: str, rng: Any, *args: Any) -> Any:
        """Call a function that draws; the generator goes on where the function stopped."""
        words = np.zeros((1, WORDS), np.uint64)
        write_stream(words, 0, rng.bit_generator)
        before = words.copy()
        *rest, params = args
        found = self.call(name, *rest, Stream(words, 0), params)
        if not np.array_equal(words, before):
            rng.bit_generator.state = generator_of(words, 0).bit_generator.state
        return found

    def _state(self, state: Any) -> Any:
        """A state whose numbers are of their field's type, as in the columns of a batch."""
        pairs = zip(self.converters, state, strict=True)
        return self.rules.state(*(value if convert is None else convert(value) for convert, value in pairs))
