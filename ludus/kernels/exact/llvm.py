"""LLVM, as Numba has it: no dependency of our own, and never another version than the one that compiles."""

from typing import Any

from numba.core import cgutils, codegen

__all__ = ["binding", "ir"]

ir: Any = vars(cgutils)["ir"]
binding: Any = vars(codegen)["ll"]
