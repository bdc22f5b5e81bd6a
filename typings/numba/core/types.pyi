"""The types that Numba gives to values; of one class where they are of one kind."""

import collections.abc as _abc
from typing import NamedTuple as _Record
from typing import overload

from numba.core.dispatcher import Dispatcher as _Compiled
from numba.core.typing.templates import FunctionTemplate, Signature

class Type:
    name: str
    @overload
    def __call__(self, *args: Type) -> Signature: ...
    @overload
    def __call__(self, value: int | float | bool, /) -> object: ...

class Dummy(Type): ...
class Hashable(Type): ...
class Number(Hashable): ...
class Callable(Type): ...

class DTypeSpec(Type):
    @property
    def dtype(self) -> Type: ...

class IterableType(Type): ...
class ConstSized(Type): ...

class ArrayCompatible(Type):
    ndim: int
    layout: str
    dtype: Type

class Literal(Type):
    @property
    def literal_value(self) -> object: ...

class Opaque(Dummy): ...
class Phantom(Dummy): ...

Any: Phantom

# --- numbers ---

class Boolean(Hashable): ...

class Integer(Number):
    bitwidth: int
    signed: bool
    @property
    def maxval(self) -> int: ...
    @property
    def minval(self) -> int: ...

class Float(Number):
    bitwidth: int

class IntegerLiteral(Literal, Integer):
    @property
    def literal_value(self) -> int: ...

class BooleanLiteral(Literal, Boolean):
    @property
    def literal_value(self) -> bool: ...

class StringLiteral(Literal, Dummy):
    @property
    def literal_value(self) -> str: ...

class EnumMember(Type): ...
class IntEnumMember(EnumMember): ...

# --- rows ---

class Buffer(IterableType, ArrayCompatible):
    def __init__(
        self, dtype: Type, ndim: int, layout: str, readonly: bool = False, name: str | None = None
    ) -> None: ...

class Array(Buffer): ...
class Bytes(Buffer): ...

class CPointer(Type):
    dtype: Type
    def __init__(self, dtype: Type) -> None: ...

class List(IterableType):
    dtype: Type

class BaseTuple(ConstSized, Hashable):
    count: int
    @property
    def types(self) -> _abc.Sequence[Type]: ...
    def __len__(self) -> int: ...

class BaseAnonymousTuple(BaseTuple): ...

class UniTuple(BaseAnonymousTuple):
    def __init__(self, dtype: Type, count: int) -> None: ...

class BaseNamedTuple(BaseTuple):
    fields: tuple[str, ...]
    instance_class: type[_Record]

class NamedTuple(BaseNamedTuple): ...
class NamedUniTuple(BaseNamedTuple): ...

# --- what is called ---

class BaseFunction(Callable):
    typing_key: object

class Function(BaseFunction, Opaque): ...

class BoundFunction(Callable, Opaque):
    template: type[FunctionTemplate]
    this: Type

class Dispatcher(Callable, Dummy):
    @property
    def dispatcher(self) -> _Compiled: ...

class NamedTupleClass(Callable, Opaque):
    instance_class: type[_Record]

class NumberClass(Callable, DTypeSpec, Opaque):
    instance_type: Type

class RecursiveCall(Opaque): ...

# --- others ---

class NoneType(Opaque): ...
class EllipsisType(Opaque): ...

class Omitted(Opaque):
    @property
    def value(self) -> object: ...

class VarArg(Type):
    def __init__(self, dtype: Type | type[Type]) -> None: ...

boolean: Boolean
float32: Float
float64: Float
int8: Integer
int64: Integer
intp: Integer
none: NoneType
uint8: Integer
uint64: Integer
void: NoneType

def unliteral(lit_type: Type) -> Type: ...
