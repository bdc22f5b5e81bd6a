"""LLVM, as Numba has it: no dependency of our own, and never another version than the one that compiles."""

from typing import TYPE_CHECKING

from numba.core import cgutils, codegen

if TYPE_CHECKING:
    from llvmlite import binding, ir
else:
    ir, binding = vars(cgutils)["ir"], vars(codegen)["ll"]

__all__ = ["binding", "ir"]
