"""BLAS, which rules never call: Numba asks for it when it is loaded, by importing SciPy's, a seventh of compiling."""

import sys
from importlib.util import find_spec

from numba.np import linalg

__all__ = ["load_without_blas"]

ASKS = "numba.np.arraymath"
"""The module of Numba's that asks."""


def load_without_blas() -> None:
    """Load Numba's functions of arrays; SciPy is imported when somebody's code multiplies matrices, as it would be."""
    if ASKS in sys.modules or find_spec("scipy") is None:
        return
    asked = linalg.ensure_blas
    linalg.ensure_blas = lambda: None  # it is installed: that is all that is asked here
    try:
        from numba.np import arraymath  # Numba loads it with the first function it compiles

        arraymath.ensure_blas = asked  # pyright: ignore[reportPrivateImportUsage]
    finally:
        linalg.ensure_blas = asked
