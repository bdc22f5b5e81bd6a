from collections.abc import Callable

ensure_blas: Callable[[], None]
