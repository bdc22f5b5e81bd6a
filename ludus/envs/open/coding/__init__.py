"""Coding: a sandboxed interpreter that keeps its variables, 105 programming tasks, and a grader out of their reach."""

from ludus.envs.open.coding.coding import CodeAction, CodeObservation, CodeState, Coding
from ludus.envs.open.coding.limits import CodingLimits

__all__ = ["CodeAction", "CodeObservation", "CodeState", "Coding", "CodingLimits"]
