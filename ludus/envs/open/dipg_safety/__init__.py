"""DIPG Safety: questions to answer from a context alone, by quotes; conflicts, gaps and lookalikes among them."""

from ludus.envs.open.dipg_safety.cases import SafetyCase
from ludus.envs.open.dipg_safety.dipg_safety import DIPGAction, DIPGObservation, DIPGSafety, DIPGState
from ludus.envs.open.dipg_safety.rewards import DIPGRewards

__all__ = ["SafetyCase", "DIPGAction", "DIPGObservation", "DIPGRewards", "DIPGSafety", "DIPGState"]
