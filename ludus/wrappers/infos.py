"""Infos of a batch, lane by lane."""

from typing import Any

import numpy as np

from ludus.core import Env, Info, Step
from ludus.core.env import ActT, ObsT
from ludus.core.outcome import OUTCOME, read_outcome
from ludus.errors import InvalidType
from ludus.spaces.kinds import is_dict
from ludus.wrappers.transform import Mask, Transform

__all__ = ["DictInfoToList"]


class DictInfoToList(Transform[ObsT, ActT, ObsT, ActT]):
    """Gives the infos of a batch as a list of one dictionary for each lane.

    >>> from ludus.envs.teaching.grid_world import GridWorld
    >>> from ludus.vector import SerialVectorEnv
    >>> [sorted(info) for info in DictInfoToList(SerialVectorEnv([GridWorld] * 2)).reset(seed=0)[1]]
    [['goal'], ['goal']]
    """

    lane_fields = ()

    def __init__(self, env: Env[ObsT, ActT]) -> None:
        super().__init__(env)
        if not self._lead:
            raise InvalidType("DictInfoToList: expected a batch, got one environment")

    def on_reset(self, observation: object, info: Info, begun: Mask | None) -> tuple[Any, Any]:
        """Split the infos."""
        return observation, self._split(info, whole=True)

    def after_step(self, step: Step[ObsT], begun: Mask | None) -> Step[ObsT]:
        """Split the infos."""
        return step._replace(info=self._split(step.info, whole=True))  # type: ignore[arg-type]

    def _split(self, info: Info, *, whole: bool) -> list[Info]:
        lanes: list[Info] = [{} for _ in range(self._lead[0])]
        for key, column in info.items():
            if key.startswith("_") and key[1:] in info:
                continue
            inner = whole and key == "final_info"
            values = self._split(column, whole=inner) if is_dict(column) else column
            has = info.get(f"_{key}", np.ones(self._lead, dtype=np.bool_))
            for lane in np.flatnonzero(has):
                value = values[lane]
                lanes[lane][key] = read_outcome(value, f"lane {lane} outcome") if key == OUTCOME and whole else value
        return lanes
