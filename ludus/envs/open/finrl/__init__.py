"""FinRL: trading on the user's prices or on synthetic markets, typed in OpenEnv's words, and as compiled rules."""

from ludus.envs.open.finrl.finrl import FinRL, FinRLAction, FinRLObservation, FinRLState
from ludus.envs.open.finrl.market import FinRLMarket

__all__ = ["FinRL", "FinRLAction", "FinRLMarket", "FinRLObservation", "FinRLState"]
