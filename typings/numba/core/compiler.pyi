from typing import Any, NamedTuple

from numba.core.bytecode import FunctionIdentity
from numba.core.codegen import JITCodeLibrary
from numba.core.compiler_machinery import PassManager
from numba.core.funcdesc import PythonFunctionDescriptor
from numba.core.ir import Expr, FunctionIR
from numba.core.types import Type
from numba.core.typing import Signature

class CompileResult(NamedTuple):
    signature: Signature
    fndesc: PythonFunctionDescriptor
    library: JITCodeLibrary

class StateDict(dict[str, Any]):
    """What passes of the compiler leave for those after them: as attributes, which may be others too."""

    args: tuple[Type, ...]
    calltypes: dict[Expr, Signature]
    func_id: FunctionIdentity
    func_ir: FunctionIR
    metadata: dict[str, object]
    return_type: Type
    typemap: dict[str, Type]
    def __getattr__(self, attr: str) -> Any: ...
    def __setattr__(self, attr: str, value: object) -> None: ...

class CompilerBase:
    state: StateDict
    def define_pipelines(self) -> list[PassManager]: ...

class DefaultPassBuilder:
    @staticmethod
    def define_nopython_pipeline(state: StateDict, name: str = "nopython") -> PassManager: ...
