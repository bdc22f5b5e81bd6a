"""What an environment is: `Env`, `VectorEnv`, `Wrapper`, the `Step` they give and the `EnvSpec` they come from.

Not here: concrete wrappers, executors and environments.
"""

from ludus.core.autoreset import AutoresetMode
from ludus.core.env import Env
from ludus.core.episode import Episode, EpisodePlan
from ludus.core.hooks import ActionWrapper, Hooked, ObservationWrapper, RewardWrapper
from ludus.core.id import EnvId
from ludus.core.legacy import LegacyEnv, from_done_step, from_legacy, to_done_step, to_legacy
from ludus.core.outcome import Outcome
from ludus.core.snapshot import Snapshot
from ludus.core.spec import EnvSpec, IsolationRecord, Security, WrapperSpec
from ludus.core.state import Private
from ludus.core.step import Info, Step
from ludus.core.vector_env import VectorEnv
from ludus.core.wrapper import Wrapper

__all__ = [
    "ActionWrapper",
    "AutoresetMode",
    "Env",
    "EnvId",
    "EnvSpec",
    "Episode",
    "EpisodePlan",
    "Hooked",
    "Info",
    "LegacyEnv",
    "ObservationWrapper",
    "Outcome",
    "Private",
    "RewardWrapper",
    "Security",
    "Snapshot",
    "Step",
    "VectorEnv",
    "IsolationRecord",
    "Wrapper",
    "WrapperSpec",
    "from_done_step",
    "from_legacy",
    "to_done_step",
    "to_legacy",
]
