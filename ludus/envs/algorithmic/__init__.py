"""Algorithmic: copy, reverse and add on tapes that grow longer as they are mastered."""

from ludus.envs.algorithmic.algorithmic_env import AlgorithmicEnv
from ludus.envs.algorithmic.copy import Copy
from ludus.envs.algorithmic.duplicated_input import DuplicatedInput
from ludus.envs.algorithmic.repeat_copy import RepeatCopy
from ludus.envs.algorithmic.reverse import Reverse
from ludus.envs.algorithmic.reversed_addition import ReversedAddition

__all__ = ["AlgorithmicEnv", "Copy", "DuplicatedInput", "RepeatCopy", "Reverse", "ReversedAddition"]
