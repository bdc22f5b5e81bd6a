from numba.core.compiler_machinery import FunctionPass, LoweringPass
from numba.core.lowering import Lower

class NopythonTypeInference(FunctionPass): ...

class BaseNativeLowering(LoweringPass):
    @property
    def lowering_class(self) -> type[Lower]: ...

class NativeLowering(BaseNativeLowering): ...
