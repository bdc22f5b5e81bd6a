"""How functions get a meaning in compiled code."""

from collections.abc import Callable, Mapping
from typing import Any, Concatenate, TypeAlias
from typing import overload as _one_of

from llvmlite import ir
from numba.core.base import BaseContext as _TargetContext
from numba.core.types import Type
from numba.core.typing import BaseContext, Signature
from typing_extensions import ParamSpec, TypeVar

_P = ParamSpec("_P")
_F = TypeVar("_F", bound=Callable[..., object])
_Choose = TypeVar("_Choose", bound=Callable[..., Callable[..., object] | None])
_Write: TypeAlias = Callable[[_TargetContext, ir.IRBuilder, Signature, tuple[ir.Value, ...]], ir.Value]
_Typed: TypeAlias = Callable[Concatenate[BaseContext, ...], tuple[Signature, _Write] | None]

class _Intrinsic:
    __name__: str
    def __call__(self, *args: Any) -> Any: ...  # in compiled code; what it gives, its signature says

@_one_of
def intrinsic(func: _Typed, /) -> _Intrinsic: ...
@_one_of
def intrinsic(*, prefer_literal: bool = False) -> Callable[[_Typed], _Intrinsic]: ...
def overload(
    func: Callable[..., object], jit_options: Mapping[str, bool] = ..., strict: bool = True
) -> Callable[[_Choose], _Choose]: ...
def overload_method(
    typ: type[Type], attr: str, *, jit_options: Mapping[str, bool] = ..., strict: bool = True
) -> Callable[[_Choose], _Choose]: ...
@_one_of
def register_jitable(fn: _F, /) -> _F: ...
@_one_of
def register_jitable(*, forceinline: bool = ...) -> Callable[[_F], _F]: ...
def type_callable(
    func: Callable[..., object],
) -> Callable[[Callable[[BaseContext], Callable[..., Type | None]]], object]: ...
def lower_builtin(func: Callable[..., object], *argtys: Type | type[Type]) -> Callable[[_F], _F]: ...
