"""Atari: the games of the Arcade Learning Environment, typed or as arrays; the engine is an extra."""

from ludus.envs.open.atari.arrays import AtariArrays
from ludus.envs.open.atari.atari import Atari, AtariAction, AtariObservation, AtariState

__all__ = ["Atari", "AtariAction", "AtariArrays", "AtariObservation", "AtariState"]
