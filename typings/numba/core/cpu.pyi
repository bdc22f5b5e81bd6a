from collections.abc import Callable

from numba.core.base import BaseContext
from numba.core.codegen import CodeLibrary, JITCPUCodegen
from numba.core.funcdesc import FunctionDescriptor

class CPUContext(BaseContext):
    # Methods; attributes here, since an object may get functions of its own instead.
    create_cfunc_wrapper: Callable[..., None]
    create_cpython_wrapper: Callable[..., None]
    get_executable: Callable[[CodeLibrary, FunctionDescriptor, object], object]
    def codegen(self) -> JITCPUCodegen: ...
