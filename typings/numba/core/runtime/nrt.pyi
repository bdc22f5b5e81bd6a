from typing import Protocol

from numba.core.base import BaseContext

class _Runtime(Protocol):
    def initialize(self, ctx: BaseContext) -> None: ...

rtsys: _Runtime
