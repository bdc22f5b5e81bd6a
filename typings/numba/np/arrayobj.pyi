from collections.abc import Sequence
from typing import Protocol

from llvmlite import ir
from numba.core.base import BaseContext
from numba.core.types import ArrayCompatible

class _ArrayStruct(Protocol):
    """The parts of an array: of a class of its own for each type of arrays."""

    data: ir.Value
    itemsize: ir.Value
    meminfo: ir.Value
    nitems: ir.Value
    shape: ir.Value
    strides: ir.Value
    def _getvalue(self) -> ir.Value: ...

class _MakeArrayStruct(Protocol):
    def __call__(self, context: BaseContext, builder: ir.IRBuilder, value: ir.Value | None = None) -> _ArrayStruct: ...

def make_array(array_type: ArrayCompatible) -> _MakeArrayStruct: ...
def populate_array(
    array: _ArrayStruct,
    data: ir.Value,
    shape: Sequence[ir.Value],
    strides: Sequence[ir.Value],
    itemsize: ir.Value,
    meminfo: ir.Value | None,
) -> _ArrayStruct: ...
