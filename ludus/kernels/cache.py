"""Machine code from disk, without what only a compiler needs: a third of the time that a cached batch takes to be made.

Numba gets ready to compile before it looks whether there is anything to compile: it loads the typing of all of NumPy's
functions, of dictionaries, of foreign libraries. Code that is loaded needs none of it, and what is compiled after all
gets it then.
"""

from typing import Any

from numba.core.caching import FunctionCache
from numba.core.runtime.nrt import rtsys

__all__ = ["RuleCache"]


class RuleCache(FunctionCache):
    """The files of one function; `arrays` says that it makes arrays, whose memory Numba counts."""

    def __init__(self, function: Any, *, arrays: bool) -> None:
        super().__init__(function)
        self._arrays = arrays

    def load_overload(self, sig: Any, target_context: Any) -> Any:
        """What was compiled for these types, or None."""
        if self._arrays:
            rtsys.initialize(target_context)
        with self._guard_against_spurious_io_errors():
            return self._load_overload(sig, target_context)
