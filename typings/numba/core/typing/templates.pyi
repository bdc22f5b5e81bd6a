from typing import Any

from numba.core.types import Type

class Signature:
    @property
    def args(self) -> tuple[Type, ...]: ...
    @property
    def return_type(self) -> Type: ...

class FunctionTemplate:
    key: Any
    """What it is the template of: a function, a name, or a tuple of a type and a name."""
