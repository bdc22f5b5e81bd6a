"""The contract, published: suites that hold environments, spaces and wrappers to it, for anyone to run.

Not here: the library's own tests, which use these suites first. Nothing here needs pytest.
"""

from ludus.testing.env_contract import ENV_RULES, EnvContract, check_env
from ludus.testing.equality import data_equal
from ludus.testing.report import Finding, Report
from ludus.testing.rule import Rule
from ludus.testing.space_contract import SPACE_RULES, SpaceContract, check_space
from ludus.testing.wrapper_contract import WRAPPER_RULES, WrapperContract, check_wrapper

__all__ = [
    "ENV_RULES",
    "SPACE_RULES",
    "WRAPPER_RULES",
    "EnvContract",
    "Finding",
    "Report",
    "Rule",
    "SpaceContract",
    "WrapperContract",
    "check_env",
    "check_space",
    "check_wrapper",
    "data_equal",
]
