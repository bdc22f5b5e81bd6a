from types import ModuleType

from numba.core.ir import Expr
from numba.core.types import Type
from numba.core.typing import Signature

class FunctionDescriptor:
    argtypes: tuple[Type, ...]
    calltypes: dict[Expr, Signature]
    qualname: str
    restype: Type
    typemap: dict[str, Type]
    @property
    def llvm_func_name(self) -> str: ...
    def lookup_module(self) -> ModuleType: ...

class PythonFunctionDescriptor(FunctionDescriptor): ...
