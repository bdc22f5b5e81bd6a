"""One transform, any environment: what stands between an agent and an environment without being either.

Not here: executors, which run many environments, and the `Wrapper` contract itself, which is in `ludus.core`.
"""

from ludus.wrappers.order_enforcing import OrderEnforcing
from ludus.wrappers.passive_env_checker import ContractWarning, PassiveEnvChecker
from ludus.wrappers.time_limit import TimeLimit

__all__ = ["ContractWarning", "OrderEnforcing", "PassiveEnvChecker", "TimeLimit"]
