"""Type variables of spaces, with defaults: `Box` alone is one of any arrays, `Box(0, 1)` one of arrays of float32.

Each is what the values are, so that `isinstance(space, Box)` of a `Space[T]` is known to be a `Box[T]`.

Such defaults come with Python 3.13. Type checkers know them before, from typing_extensions, which is never loaded.
"""

from typing import TYPE_CHECKING, Any

import numpy.typing as npt

if TYPE_CHECKING:
    from typing_extensions import TypeVar

    ArrayT_co = TypeVar("ArrayT_co", default=npt.NDArray[Any], covariant=True)
    ModelT_co = TypeVar("ModelT_co", default=Any, covariant=True)
    DictT_co = TypeVar("DictT_co", default=dict[str, Any], covariant=True)
    TupleT_co = TypeVar("TupleT_co", default=tuple[Any, ...], covariant=True)
else:
    from typing import TypeVar

    ArrayT_co = TypeVar("ArrayT_co", covariant=True)
    ModelT_co = TypeVar("ModelT_co", covariant=True)
    DictT_co = TypeVar("DictT_co", covariant=True)
    TupleT_co = TypeVar("TupleT_co", covariant=True)

__all__ = ["ArrayT_co", "DictT_co", "ModelT_co", "TupleT_co"]
