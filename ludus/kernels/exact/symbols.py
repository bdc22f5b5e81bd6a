"""Symbols: what compiled rules call, under names of our own, and where this process has it.

Machine code on disk names what it calls. NumPy's loops and libm's functions are found anew in every process: NumPy
picks its loops when it is loaded, by what the processor can do.
"""

import ctypes
from functools import cache

import llvmlite.binding as llvm
import numpy as np

__all__ = ["CHARS", "libm_symbol", "loop_symbol", "provide"]

CHARS = ("d", "f")
LOOP, LIBM, DATA = "ludus_numpy_", "ludus_", "_data"


class _Ufunc(ctypes.Structure):
    """The beginning of `PyUFuncObject`, whose layout is public, in `numpy/ufuncobject.h`."""

    _fields_ = (
        ("count", ctypes.c_ssize_t),
        ("kind", ctypes.c_void_p),
        ("inputs", ctypes.c_int),
        ("outputs", ctypes.c_int),
        ("operands", ctypes.c_int),
        ("identity", ctypes.c_int),
        ("functions", ctypes.POINTER(ctypes.c_void_p)),
        ("data", ctypes.POINTER(ctypes.c_void_p)),
    )


@cache
def loop_symbol(ufunc: np.ufunc, char: str) -> tuple[str, bool]:
    """The symbol of a ufunc's loop, and whether it takes data, which then lies at the same name with `_data`.

    >>> loop_symbol(np.tanh, "d")[0]
    'ludus_numpy_tanh_d'
    """
    signatures: list[str] = list(ufunc.types)
    place = signatures.index(f"{char * ufunc.nin}->{char}")
    held = _Ufunc.from_address(id(ufunc))
    name = f"{LOOP}{ufunc.__name__}_{char}"
    llvm.add_symbol(name, held.functions[place])
    data = held.data[place] if held.data else None
    if data:
        llvm.add_symbol(f"{name}{DATA}", data)
    return name, bool(data)


@cache
def libm_symbol(name: str) -> str:
    """The symbol of a function of libm.

    Under a name of its own: of a function called `pow` the compiler knows better, and makes a product of x**2.
    """
    llvm.add_symbol(f"{LIBM}{name}", _address(name))
    return f"{LIBM}{name}"


def _address(name: str) -> int | None:
    return ctypes.cast(getattr(_libm(), name), ctypes.c_void_p).value


@cache
def _libm() -> ctypes.CDLL:
    """The one that the interpreter computes with; looking for a library by its name starts a program."""
    own = ctypes.CDLL(None)
    if hasattr(own, "pow"):
        return own
    from ctypes.util import find_library  # an interpreter whose modules alone have it

    return ctypes.CDLL(find_library("m") or None)


def provide(name: str) -> bool:
    """Make a symbol known to what is linked from now on; whether this process has it.

    >>> provide("ludus_numpy_tanh_d"), provide("ludus_pow"), provide("ludus_nothing"), provide("sin")
    (True, True, False, True)
    """
    if _is_known(name):
        return True
    if name.startswith(LOOP):
        function, _, char = name.removeprefix(LOOP).removesuffix(DATA).rpartition("_")
        ufunc: object = getattr(np, function, None)
        if isinstance(ufunc, np.ufunc) and char in CHARS:
            loop_symbol(ufunc, char)
    elif hasattr(_libm(), name.removeprefix(LIBM)):  # by our name for it, or by its own, which LLVM may know it by
        llvm.add_symbol(name, _address(name.removeprefix(LIBM)))
    return _is_known(name)


def _is_known(name: str) -> bool:
    return llvm.address_of_symbol(name) is not None
