"""Libraries of compiled functions, of which one alone becomes machine code: all others are only ever linked into it.

Numba optimises each function that it compiles, makes machine code of it, and makes it one that Python and C can call.
Of what is written into a loop over lanes none of that is used: it took a third of the time.
"""

from collections.abc import Callable, Generator
from contextlib import contextmanager
from functools import partial

from numba import _dynfunc
from numba.core.codegen import Codegen, CodeLibrary, JITCodeLibrary
from numba.core.compiler_lock import global_compiler_lock
from numba.core.funcdesc import FunctionDescriptor
from numba.core.registry import cpu_target
from numba.core.runtime.nrt import rtsys

__all__ = ["only_emitted"]


class LinkedLibrary(JITCodeLibrary):
    """A function that other libraries link, as it was written; they optimise it along with their own."""

    def _optimize_final_module(self) -> None:
        """Its user does."""

    def _finalize_final_module(self) -> None:
        """Ready to be linked; there is no machine code to look for."""
        self._finalize_dynamic_globals()
        self._verify_declare_only_symbols()
        self._finalized = True

    def get_pointer_to_function(self, name: str) -> int:
        """None: nobody calls it by its address."""
        del name
        return 0


@contextmanager
def only_emitted(name: str) -> Generator[None]:
    """Make machine code of the function of that name alone, whatever is compiled with it."""
    context = cpu_target.target_context
    with global_compiler_lock:  # nobody else compiles meanwhile
        rtsys.initialize(context)  # has a library of its own, which is called
        codegen = context.codegen()
        codegen._library_class = partial(_library, name)
        context.get_executable = partial(_executable, context.get_executable)
        context.create_cpython_wrapper = context.create_cfunc_wrapper = _no_wrapper
        try:
            yield
        finally:
            del context.get_executable, context.create_cpython_wrapper, context.create_cfunc_wrapper
            del codegen._library_class


def _library(emitted: str, codegen: Codegen, name: str) -> JITCodeLibrary:
    return (JITCodeLibrary if name == emitted else LinkedLibrary)(codegen, name)


def _no_wrapper(*args: object, **options: object) -> None:
    """Instead of what would let Python or C call a function."""


def _executable(
    make: Callable[..., object], library: CodeLibrary, function: FunctionDescriptor, environment: object
) -> object:
    """What Numba keeps of a compiled function for Python to call: nothing is there, and nobody may."""
    if not isinstance(library, LinkedLibrary):
        return make(library, function, environment)
    name = function.qualname.split(".")[-1]
    return _dynfunc.make_function(function.lookup_module(), name, "linked only", 0, environment, (library,))
