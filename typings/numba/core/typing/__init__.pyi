from numba.core.typing.context import BaseContext as BaseContext
from numba.core.typing.templates import Signature as Signature
