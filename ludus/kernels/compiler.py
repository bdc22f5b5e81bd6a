"""The compiler: rules and a loop over lanes become machine code."""

from __future__ import annotations

import sys
from collections.abc import Callable, Generator, Mapping
from contextlib import contextmanager
from functools import cache, partial
from importlib.util import find_spec
from pathlib import Path
from types import FunctionType, ModuleType
from typing import Any

import numba
import numpy as np
from numba.core import errors
from numba.core.caching import FunctionCache
from numba.core.compiler import CompileResult
from numba.core.dispatcher import Dispatcher
from numba.core.registry import cpu_target
from numba.core.runtime.nrt import rtsys
from numba.np import linalg

from ludus.errors import KernelError, LudusError
from ludus.kernels.disk_cache import MachineCode, source_path
from ludus.kernels.exact.explanation import explain
from ludus.kernels.exact.pipeline import LOOP as LOOP_NAME
from ludus.kernels.exact.pipeline import program_of
from ludus.kernels.exact.place import place_of
from ludus.kernels.exact.reach import makes_arrays
from ludus.kernels.exact.record import check_record
from ludus.kernels.library import only_emitted
from ludus.kernels.numba_types import CompilerOptions, LoweringContext, Signature
from ludus.kernels.random import Stream
from ludus.kernels.rules import Rule, Rules
from ludus.kernels.source import RulesLayout
from ludus.kernels.store import LOOP_NAMES, Unfitting
from ludus.kernels.views import VIEW_NAMES

__all__ = ["compile_loop", "compile_single", "load_runtime"]

# No fast-math and no contraction: a batch has to give the bits that the interpreted rules give.
OPTIONS: CompilerOptions = {"nogil": True, "error_model": "numpy", "forceinline": False}
BARE: CompilerOptions = {"no_cpython_wrapper": True, "no_cfunc_wrapper": True}
"""For what is not called from Python: what would make that possible takes long to compile."""
LOOP = (numba.int64, numba.int64, numba.types.CPointer(numba.int64))
"""What a loop takes: the first lane, the one after the last, and a block of words."""
UNCOUNTED = "NRT required but not enabled"
"""What Numba says where code makes something on the heap, and was not expected to."""
ASKS_FOR_BLAS = "numba.np.arraymath"


def compile_loop(rules: Rules, layout: RulesLayout, text: str, *, checks: bool) -> MachineCode:
    """The machine code of a loop; raises KernelError, with the rule's line, where rules cannot be compiled."""
    arrays = any(column.shape for column in layout.columns if column.name.startswith("s_"))
    try:
        try:
            return _compiled_loop(rules, layout, text, checks=checks, arrays=arrays)
        except Exception as error:
            if arrays or UNCOUNTED not in str(error):
                raise
        # An exception that tells numbers keeps them in memory that Numba counts: rare, so not asked before.
        return _compiled_loop(rules, layout, text, checks=checks, arrays=True)
    except Unfitting as error:
        code = _giving(rules, str(error)).__code__
        raise KernelError(f"{place_of(code.co_filename, code.co_firstlineno)}: {error}") from error
    except LudusError:
        raise
    except Exception as error:  # Numba's own, and whatever it stumbles over
        raise explain(rules, error) from error


def _giving(rules: Rules, message: str) -> FunctionType:
    """The rule that gives what does not fit, by how the message begins."""
    by_name = {"observation": "observe", "action_mask": "legal"}
    name = next((by_name[one] for one in by_name if message.startswith(one)), "step")
    return rules.functions.get(name, rules.step)


def _compiled_loop(rules: Rules, layout: RulesLayout, text: str, *, checks: bool, arrays: bool) -> MachineCode:
    _load_without_blas()
    records = {name: kind for kind, name in layout.records.items()}
    for kind in (rules.params, *records.values()):
        check_record(kind)
    loop = _scope(rules, text, records, checks=checks, arrays=arrays, path=None)[LOOP_NAME]
    with only_emitted(LOOP_NAME), _without_colours():
        loop.compile(LOOP)
    made = loop.overloads[LOOP]
    entry = made.fndesc.llvm_func_name
    made.library.get_pointer_to_function(entry)  # only what was linked has its object file
    return MachineCode(entry, made.library._get_compiled_object())


@contextmanager
def _without_colours() -> Generator[None]:
    """Looking for what fits, Numba makes hundreds of errors that nobody reads, and colours each by way of colorama."""
    scheme = errors.termcolor()
    scheme._markup = _uncoloured
    try:
        yield
    finally:
        vars(scheme).pop("_markup", None)  # another thread's compilation may have ended before


def _uncoloured(text: str, *_: object) -> str:
    return text


def load_runtime() -> None:
    """Make known to LLVM what Numba's code may call: its count of references, and what it has in C."""
    rtsys.initialize(cpu_target.target_context)


@cache
def compile_single(rules: Rules) -> dict[str, Rule]:
    """Each rule by itself, for one environment; Numba compiles them when they are first called."""
    text = "".join(
        f"\n@kept\ndef run_{name}({', '.join(taken)}):\n    return rule_{name}({', '.join(taken)})\n"
        for name, taken in rules.arguments.items()
    )
    path = source_path(text, rules, checks=False)
    scope = _scope(rules, text, {"State": rules.state}, checks=False, arrays=True, path=path)
    return {name: scope[f"run_{name}"] for name in rules.functions}


def _scope(
    rules: Rules, text: str, records: Mapping[str, object], *, checks: bool, arrays: bool, path: Path | None
) -> dict[str, Any]:
    """What a module of this text holds, in which the rules are `rule_…`; `bare` and `kept` make machine code."""
    functions = list(rules.functions.values())
    # Arrays made on the way need counting of references, which costs every lane two or three nanoseconds.
    options = OPTIONS | {"_nrt": arrays or makes_arrays(functions)}
    program = program_of(options, checks=checks, inexact=rules.compiled)
    # Numba looks the module of a kept function up by name when it loads it.
    module = ModuleType(f"ludus_kernel_{path.stem if path else id(rules)}")
    if path is not None:
        sys.modules[module.__name__] = module
    scope = vars(module)
    outer = options | {"pipeline_class": program.pipeline(rule=False)}
    scope |= (
        LOOP_NAMES
        | VIEW_NAMES
        | {
            "np": np,
            **records,
            "Params": rules.params,
            "Stream": Stream,
            "unsigned": np.uint64,  # an index that may be negative costs a test at every access
            "bare": numba.njit(**(outer | BARE)),
            "kept": partial(_kept, outer, path is not None),
            "inner": program.adapter,
        }
    )
    for name, rule in rules.functions.items():
        # A step that is called instead of written into the loop costs half as much again.
        scope[f"rule_{name}"] = program.compiled(rule, forceinline=name in ("step", "observe"))
    exec(compile(text, str(path) if path else "<kernel>", "exec"), scope)  # noqa: S102  (text of our own making)
    return scope


def _kept(options: CompilerOptions, on_disk: bool, function: Callable[..., object]) -> Dispatcher:
    """A function for Python to call, kept on disk where that is possible."""
    made = numba.njit(**options)(function)
    if on_disk:
        made._cache = _RuleCache(function, arrays=options.get("_nrt", True))
    return made


def _load_without_blas() -> None:
    """Load Numba's functions of arrays without BLAS, which rules never call.

    Numba asks for it when it is loaded, by importing SciPy's, a seventh of compiling. SciPy is imported when somebody's
    code multiplies matrices, as it would be.
    """
    if ASKS_FOR_BLAS in sys.modules or find_spec("scipy") is None:
        return
    original = linalg.ensure_blas
    linalg.ensure_blas = lambda: None  # it is installed: that is all that is asked here
    try:
        from numba.np import arraymath  # Numba loads it with the first function it compiles

        arraymath.ensure_blas = original  # pyright: ignore[reportPrivateImportUsage]
    finally:
        linalg.ensure_blas = original


class _RuleCache(FunctionCache):
    """Machine code from disk, without what only a compiler needs: a third of the time a cached batch takes to be made.

    Numba gets ready to compile before it looks whether there is anything to compile: it loads the typing of all of
    NumPy's functions, of dictionaries, of foreign libraries. Code that is loaded needs none of it, and what is compiled
    after all gets it then. `arrays` says that the function makes arrays, whose memory Numba counts.
    """

    def __init__(self, function: Callable[..., object], *, arrays: bool) -> None:
        super().__init__(function)
        self._arrays = arrays

    def load_overload(self, sig: Signature, target_context: LoweringContext) -> CompileResult | None:
        """What was compiled for these types, or None."""
        if self._arrays:
            rtsys.initialize(target_context)
        with self._guard_against_spurious_io_errors():
            return self._load_overload(sig, target_context)
