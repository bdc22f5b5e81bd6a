"""`RubricReward`: any environment, or a batch of them, with the reward that a rubric gives."""

from collections.abc import Mapping
from copy import deepcopy
from typing import Any

import numpy as np
import numpy.typing as npt

from ludus.core import Env, Info, Step
from ludus.core.env import ActT, ObsT
from ludus.core.info import joined, lane_info
from ludus.errors import InvalidArgument, InvalidType, shorten
from ludus.rubrics.rubric import REWARD_COMPONENTS, Graded, Rubric, RubricLike, Transition, rubric_of
from ludus.spaces import Tuple
from ludus.spaces.kinds import is_list
from ludus.wrappers.lanes import lane_of
from ludus.wrappers.transform import SAME_STEP, Mask, Transform

__all__ = ["RubricReward"]

OWN = "environment"
"""The component that is the environment's own reward."""


class RubricReward(Transform[ObsT, ActT, ObsT, ActT]):
    """Gives the reward of a rubric. Each lane of a batch has a copy of it, since episodes are its own.

    `info["reward_components"]` has what the reward is the sum of, `info["rubric"]` the score of every part that was
    asked, by its path. `own_weight` keeps so much of the environment's reward, as the component `environment`.

    >>> import ludus
    >>> env = RubricReward(ludus.make("GridWorld-v0"), lambda terminated: 1.0 if terminated else -0.01)
    >>> _ = env.reset(seed=0)
    >>> step = env.step(0)
    >>> step.reward, step.info["reward_components"]
    (-0.01, {'function': -0.01})
    """

    lane_fields = ("_rubrics",)

    def __init__(self, env: Env[ObsT, ActT], rubric: RubricLike, *, own_weight: float = 0.0) -> None:
        super().__init__(env)
        if isinstance(own_weight, bool) or not np.isfinite(own_weight):
            raise InvalidArgument(f"RubricReward own_weight: expected a finite number, got {shorten(own_weight)}")
        self.rubric, self.own_weight = rubric_of(rubric), own_weight
        self._rubrics: npt.NDArray[np.object_] | None = None
        if self._lead:
            self._rubrics = np.empty(self._lead, dtype=object)
            for lane in range(self._lead[0]):
                self._rubrics[lane] = _copy(self.rubric)
        self._action: object = None

    def on_reset(self, observation: ObsT, info: Info, begun: Mask | None) -> tuple[ObsT, Info]:
        """Begin the episodes of these lanes."""
        self._begin(begun)
        return observation, info

    def _begin(self, begun: Mask | None) -> None:
        if self._rubrics is None:
            self.rubric.reset()
            return
        for lane in range(self._lead[0]) if begun is None else np.flatnonzero(begun):
            self._rubrics[lane].reset()

    def before_step(self, action: ActT) -> ActT:
        """Remember it."""
        self._action = action
        return action

    def after_step(self, step: Step[ObsT], begun: Mask | None) -> Step[ObsT]:
        """Give the rubric's reward."""
        if self._rubrics is not None:
            return self._lanes(step, begun, self._rubrics)
        graded = self._graded(self.rubric, Transition.of(self._action, step))
        return step._replace(reward=graded.reward, info={**step.info, **graded.info})

    def _graded(self, rubric: Rubric, transition: Transition) -> Graded:
        graded = rubric.grade(transition)
        if not self.own_weight:
            return graded
        own = self.own_weight * float(transition.reward)
        return graded._replace(reward=graded.reward + own, components={OWN: own, **graded.components})

    def _lanes(self, step: Step[ObsT], begun: Mask | None, rubrics: npt.NDArray[np.object_]) -> Step[ObsT]:
        """Grade each lane that made a step of its own."""
        idle, finals = self.idle(begun), dict(self.final_observations(step.info))
        if self._mode is not SAME_STEP and begun is not None:
            self._begin(begun)
        rewards, going, ended = np.zeros(self._lead), dict[int, Info](), dict[int, Info]()
        for lane in range(self._lead[0]):
            if idle is not None and idle[lane]:
                continue
            graded = self._graded(rubrics[lane], self._transition(step, lane, finals))
            rewards[lane] = graded.reward
            (ended if lane in finals else going)[lane] = graded.info
        if self._mode is SAME_STEP and begun is not None:
            self._begin(begun)
        return step._replace(reward=rewards, info=self._told(step.info, going, ended))

    def _transition(self, step: Step[ObsT], lane: int, finals: Mapping[int, object]) -> Transition:
        given, space = self._action, self.lane_action_space
        # Callers may give a list of the lanes' actions, where that is no other batch.
        action = given[lane] if is_list(given) and not isinstance(space, Tuple) else lane_of(space, given, lane)
        over = lane in finals
        observation = finals[lane] if over else lane_of(self.lane_observation_space, step.observation, lane)
        info = lane_info(step.info["final_info"] if over and "final_info" in step.info else step.info, lane)
        ends = bool(step.terminated[lane]), bool(step.truncated[lane])
        return Transition(action, observation, float(step.reward[lane]), *ends, info)

    def _told(self, info: Info, going: dict[int, Info], ended: dict[int, Info]) -> Info:
        """The infos of the batch, with what the rubrics say of each lane in place of what the environment said."""
        own = {name: one for name, one in info.items() if name.removeprefix("_") != REWARD_COMPONENTS}
        found = joined(own, self._columns(going))
        if ended:
            final = {
                n: one for n, one in info.get("final_info", {}).items() if n.removeprefix("_") != REWARD_COMPONENTS
            }
            found["final_info"] = joined(final, self._columns(ended))
        return found

    def _columns(self, lanes: dict[int, Info]) -> Info:
        batch: Any = self.env.unwrapped
        found: Info = {}
        for lane, told in lanes.items():
            found = batch._add_info(found, told, lane)
        return found

    def close(self) -> None:
        """Close what rubrics hold, and the environment."""
        for rubric in [self.rubric] if self._rubrics is None else self._rubrics:
            rubric.close()
        super().close()


def _copy(rubric: Rubric) -> Rubric:
    """The rubric of one lane."""
    try:
        return deepcopy(rubric)
    except Exception as error:
        raise InvalidType(
            f"RubricReward: expected a rubric that can be copied for each lane, got {rubric.name}: {error}; give it a "
            "__deepcopy__ that shares what cannot be, as Judge shares its client"
        ) from error
