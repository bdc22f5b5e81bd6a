from numba.core.cpu import CPUContext

class CPUTarget:
    @property
    def target_context(self) -> CPUContext: ...

cpu_target: CPUTarget
