"""Numba, which compiles functions of Python: as much of it as Ludus uses, and as Ludus uses it."""

from collections.abc import Callable
from typing import overload

from numba.core import types as types
from numba.core.compiler import CompilerBase
from numba.core.dispatcher import Dispatcher
from numba.core.types import int64 as int64
from typing_extensions import ParamSpec, TypeVar

_P = ParamSpec("_P")
_R = TypeVar("_R")

@overload
def njit(func: Callable[_P, _R], /) -> Dispatcher[_P, _R]: ...
@overload
def njit(
    *,
    cache: bool = ...,
    error_model: str = ...,
    forceinline: bool = ...,
    no_cfunc_wrapper: bool = ...,
    no_cpython_wrapper: bool = ...,
    nogil: bool = ...,
    pipeline_class: type[CompilerBase] = ...,
    _nrt: bool = ...,
) -> Callable[[Callable[_P, _R]], Dispatcher[_P, _R]]: ...
