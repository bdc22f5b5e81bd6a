"""The loop of a set of rules, ready to be called: from disk where it was compiled before, else compiled now."""

import ctypes
import os
import pickle
import sys
from functools import cache
from pathlib import Path

from ludus.kernels.call import KernelCall
from ludus.kernels.disk_cache import MachineCode, by_one_process, code_path, read_code, source_path, write_code
from ludus.kernels.exact.fault import located, numbered
from ludus.kernels.exact.reach import constants_of, reached
from ludus.kernels.exact.symbols import provide
from ludus.kernels.machine import Machine, undefined_symbols
from ludus.kernels.rules import Rules
from ludus.kernels.source import RulesLayout, kernel_source

__all__ = ["CompiledLoop", "loop_of"]


class _Raised(ctypes.Structure):
    """What Numba's code leaves of an exception: a pickle, which lies among the constants of that code.

    Where arguments are known only when it is raised, their numbers lie elsewhere; Numba's own function that makes
    objects of them needs what this process has no more.
    """

    _fields_ = (
        ("data", ctypes.c_void_p),
        ("size", ctypes.c_int32),
        ("numbers", ctypes.c_void_p),
        ("boxed", ctypes.c_void_p),
        ("count", ctypes.c_int32),
    )


class CompiledLoop:
    """Machine code that steps lanes."""

    def __init__(self, code: MachineCode, *, compiled: bool) -> None:
        self._machine = Machine.of_object(code.data)
        self._address = self._machine.address(code.entry)
        self.compiled = compiled
        """Whether this process has compiled it."""

    def call(self, lanes: int, words: list[int]) -> KernelCall:
        """A call of the loop over that many lanes; of the words, none may be an address of what is gone by then."""
        return KernelCall(self._address, lanes, words)

    @staticmethod
    def error_of(call: KernelCall) -> Exception:
        """What the rules raised in a call, with the line."""
        raised = _Raised.from_address(call.error)
        kind, arguments, place = pickle.loads(ctypes.string_at(raised.data, raised.size))  # noqa: S301  (of our own code)
        if raised.count:
            arguments = numbered(arguments, ctypes.string_at(raised.numbers, 8 * raised.count))
        return located(kind(*(arguments or ())), place)


def loop_of(rules: Rules, layout: RulesLayout, checks: bool = False) -> CompiledLoop:
    """The loop for a set of rules, with their constants as they are now; raises KernelError where that fails."""
    constants = "".join(map(constants_of, reached(list(rules.functions.values()))))
    return _loop_of(rules, layout, checks, constants)


@cache
def _loop_of(rules: Rules, layout: RulesLayout, checks: bool, constants: str) -> CompiledLoop:
    del constants  # another set of them is another loop
    text = kernel_source(layout)
    path = source_path(text, rules, checks=checks)
    found = None if path is None else _kept(path)
    if found is not None:
        return CompiledLoop(found, compiled=False)
    if path is None:
        return CompiledLoop(_compiled(rules, layout, text, checks, path), compiled=True)
    with by_one_process(path):
        found = _kept(path)
        if found is not None:
            return CompiledLoop(found, compiled=False)
        code = _compiled(rules, layout, text, checks, path)
        write_code(code_path(path), code)
    return CompiledLoop(code, compiled=True)


def _kept(path: Path) -> MachineCode | None:
    """The code of a text that is kept, if this process has all that it calls."""
    code = read_code(code_path(path))
    if code is None:
        return None
    names = undefined_symbols(code.data)
    if names is not None and all(map(provide, names)):
        return code
    from ludus.kernels.compiler import load_runtime  # Numba: what only it has

    load_runtime()
    return code if names is None or all(map(provide, names)) else None


def _compiled(rules: Rules, layout: RulesLayout, text: str, checks: bool, path: Path | None) -> MachineCode:
    from ludus.kernels.compiler import compile_loop  # Numba, which takes half a second to load

    if not os.environ.get("LUDUS_QUIET"):  # one line, where seconds are about to pass
        kept = f"kept in {path.parent}" if path else "not kept: rules of a module that can be imported are"
        sys.stderr.write(f"ludus: compiling the rules of {rules.step.__module__} ({kept})\n")
    return compile_loop(rules, layout, text, checks=checks)
