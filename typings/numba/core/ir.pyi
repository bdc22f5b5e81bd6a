"""A function as statements over variables, before its types are known and after."""

from collections.abc import Callable, Iterator, Sequence
from types import CodeType
from typing import TypeAlias

from numba.core.bytecode import FunctionIdentity
from typing_extensions import TypeVar

_Kind = TypeVar("_Kind", bound=Stmt)

class Loc:
    filename: str
    line: int

class Scope: ...

class AbstractRHS:
    """What may stand at the right of an assignment."""

    # Each kind has one; of an object that is none of them nothing is known.
    loc: Loc

class Inst(AbstractRHS):
    def list_vars(self) -> list[Var]: ...

class Stmt(Inst): ...
class Terminator(Stmt): ...

class Var(AbstractRHS):
    name: str
    scope: Scope
    def __init__(self, scope: Scope | None, name: str, loc: Loc) -> None: ...
    @property
    def unversioned_name(self) -> str: ...

class Arg(AbstractRHS):
    index: int
    name: str

class Const(AbstractRHS):
    value: object
    def __init__(self, value: object, loc: Loc, use_literal_type: bool = True) -> None: ...

class Global(AbstractRHS):
    name: str
    value: object
    def __init__(self, name: str, value: object, loc: Loc) -> None: ...

class FreeVar(AbstractRHS):
    index: int
    name: str
    value: object

class UndefinedType: ...

class Expr(Inst):
    """An operation, `op`; which of the other attributes it has depends on that."""

    op: str
    args: Sequence[Var]
    attr: str
    code: CodeType
    defaults: Var | tuple[object, ...] | None
    fn: Callable[..., object]
    func: Var
    immutable_fn: Callable[..., object]
    incoming_values: list[Var | UndefinedType]
    index: object  # a variable; of `static_getitem` what is written out
    index_var: Var | None
    items: Sequence[Var]
    kws: Sequence[tuple[str, Var]]
    lhs: Var
    rhs: Var
    value: Var
    vararg: Var | None
    @classmethod
    def call(
        cls, func: Var, args: Sequence[Var], kws: Sequence[tuple[str, Var]], loc: Loc, vararg: Var | None = None
    ) -> Expr: ...

class Assign(Stmt):
    target: Var
    value: AbstractRHS
    def __init__(self, value: AbstractRHS, target: Var, loc: Loc) -> None: ...

class SetItem(Stmt):
    target: Var
    index: Var
    value: Var

class StaticSetItem(Stmt):
    target: Var
    index: object
    index_var: Var
    value: Var

class Del(Stmt): ...
class Print(Stmt): ...

class DynamicRaise(Terminator):
    exc_args: tuple[object, ...]
    exc_class: type[Exception] | None

class Return(Terminator):
    value: Var

class Branch(Terminator): ...

class Block:
    body: list[Stmt]
    loc: Loc
    scope: Scope
    def find_exprs(self, op: str | None = None) -> Iterator[Expr]: ...
    def find_insts(self, cls: type[_Kind]) -> Iterator[_Kind]: ...

class FunctionIR:
    _definitions: _Definitions
    arg_names: tuple[str, ...]
    blocks: dict[int, Block]
    func_id: FunctionIdentity
    loc: Loc
    def copy(self) -> FunctionIR: ...

_Definitions: TypeAlias = dict[str, list[AbstractRHS]]
