"""Rules written once: plain functions over NamedTuples, run interpreted by one environment and compiled by a batch.

Not here: the rules themselves, which are with their environments in `ludus.envs`, or in your own module.
"""

from ludus.kernels.rule_env import RuleEnv
from ludus.kernels.rules import Rules

__all__ = ["RuleEnv", "Rules"]
