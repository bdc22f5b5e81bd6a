"""A program: a set of rules under way to machine code, with every function that they reach."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from types import FunctionType
from typing import Unpack

import numba
from numba.core.compiler import CompilerBase, StateDict
from numba.core.dispatcher import Dispatcher
from numba.core.types import BaseAnonymousTuple, unliteral

from ludus.kernels.displays import tuple_code
from ludus.kernels.exact.flow import Typed
from ludus.kernels.numba_types import CompilerOptions, NumbaType

__all__ = ["RuleProgram"]


class RuleProgram:
    """What the passes of the compiler have to know: functions met so far, and what they may do."""

    def __init__(
        self, options: CompilerOptions, compiler: type[CompilerBase], *, checks: bool = False, inexact: bool = False
    ) -> None:
        self._compiler = compiler
        self.options, self.checks, self.inexact = options, checks, inexact
        self._compiled: dict[FunctionType, Dispatcher] = {}
        self._calls: dict[object, set[object]] = {}
        self._originals: dict[object, FunctionType] = {}
        self.typed: dict[object, Typed] = {}
        """Every function whose types are known, by its Python function and the types of its arguments."""

    def compiled(self, function: FunctionType, **options: Unpack[CompilerOptions]) -> Dispatcher:
        """A rule, or a plain function that one calls, for use in compiled code."""
        if function not in self._compiled:
            copy = FunctionType(
                tuple_code(function.__code__),
                function.__globals__,
                function.__name__,
                function.__defaults__,
                function.__closure__,
            )
            copy.__module__, copy.__qualname__ = function.__module__, function.__qualname__
            copy.__kwdefaults__ = function.__kwdefaults__
            self._originals[copy] = function
            # Rules are called by compiled code alone: what would let Python call them takes long to compile.
            apart: CompilerOptions = {"no_cpython_wrapper": True, "no_cfunc_wrapper": True}
            choices = self.options | options | apart | {"pipeline_class": self.pipeline(rule=True)}
            self._compiled[function] = _once(numba.njit(**choices)(copy))
        return self._compiled[function]

    def adapter(self, function: FunctionType) -> Dispatcher:
        """A function of the kernel's own text that calls rules."""
        choices = self.options | {"pipeline_class": self.pipeline(rule=False)}
        self._compiled[function] = numba.njit(**choices)(function)
        return self._compiled[function]

    def note(self, state: StateDict, *, rule: bool) -> None:
        """Keep what the compiler knows of a function, for what is judged of all of them together."""
        copy = state.func_ir.copy()  # later passes write into theirs
        copy._definitions = {name: list(found) for name, found in copy._definitions.items()}
        typed = Typed(copy, dict(state.typemap), dict(state.calltypes), rule)
        self.typed[state.func_id.func, tuple(state.args)] = typed

    def owns(self, dispatcher: object) -> bool:
        """Whether a compiled function is one of this program's."""
        return any(dispatcher is one for one in self._compiled.values())

    def calls(self, caller: object, called: object) -> bool:
        """Note that one function calls another; False where that makes a circle."""
        caller = self._originals.get(caller, caller)
        self._calls.setdefault(caller, set()).add(called)
        waiting, met = [called], set[object]()
        while waiting:
            one = waiting.pop()
            if one is caller:
                return False
            if one not in met:
                met.add(one)
                waiting += self._calls.get(one, ())
        return True

    def pipeline(self, *, rule: bool) -> type[CompilerBase]:
        """The compiler of this program's rules, or of the loop around them."""
        return type("CompilerOfProgram", (self._compiler,), {"program": self, "rule": rule})


def _once(dispatcher: Dispatcher) -> Dispatcher:
    """Have a function compiled once for tuples of the same types: numbers that are written out make no other type."""
    by_types = dispatcher.get_call_template

    def by_plain_types(args: Iterable[NumbaType], kws: Mapping[str, NumbaType]) -> tuple[object, ...]:
        return by_types(tuple(map(_plain, args)), {name: _plain(one) for name, one in kws.items()})

    dispatcher.get_call_template = by_plain_types
    return dispatcher


def _plain(kind: NumbaType) -> NumbaType:
    return unliteral(kind) if isinstance(kind, BaseAnonymousTuple) else kind
