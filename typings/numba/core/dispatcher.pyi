"""Functions that are compiled for the types of their arguments."""

from collections.abc import Callable, Iterable, Mapping
from types import FunctionType
from typing import Any, Generic

from numba.core.caching import FunctionCache
from numba.core.compiler import CompileResult
from numba.core.types import Type
from typing_extensions import ParamSpec, TypeVar

_P = ParamSpec("_P", default=...)
_R = TypeVar("_R", default=Any, covariant=True)

class Dispatcher(Generic[_P, _R]):
    _cache: FunctionCache
    overloads: dict[tuple[Type, ...], CompileResult]
    py_func: FunctionType
    # A method; an attribute here, since an object may get a function of its own instead.
    get_call_template: Callable[[Iterable[Type], Mapping[str, Type]], tuple[object, ...]]
    def __call__(self, *args: _P.args, **kwargs: _P.kwargs) -> _R: ...
    def compile(self, sig: tuple[Type, ...]) -> object: ...
