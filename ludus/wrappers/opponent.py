"""Opponents that are policies: every player but one is moved by a function, in one environment or in a batch."""

from collections.abc import Callable
from typing import Any

import numpy as np

from ludus.core import AutoresetMode, Env, Info, Step
from ludus.core.env import ActT, ObsT
from ludus.core.info import FINAL, info_of, joined
from ludus.core.options import Options
from ludus.errors import InvalidType, shorten
from ludus.seeding import Seed
from ludus.spaces.array_space import Array
from ludus.wrappers.steered import Steered
from ludus.wrappers.transform import SAME_STEP, Mask

__all__ = ["PlayAgainst"]


class PlayAgainst(Steered[ObsT, ActT, ObsT, ActT]):
    """Leaves one player of a game in turns, `seat`, to the caller; `policy(observation, info)` moves the others.

    A batch calls it with observations and infos of all lanes and uses its actions for the lanes whose turn it is;
    `info["turn"]` and `info["action_mask"]` hold for those. The reward is the seat's. A rule of the game itself, as
    `Rules(opponent=…)`, is compiled and many times faster.

    >>> from ludus.core import Env
    >>> from ludus.spaces import Discrete
    >>> class Countdown(Env):
    ...     "From 4 down by 1 or 2; who takes the last one wins."
    ...     observation_space, action_space = Discrete(5), Discrete(2)
    ...     def reset(self, *, seed=None, options=None):
    ...         self.left, self.mover = 4, 0
    ...         return self.left, {"turn": 0}
    ...     def step(self, action):
    ...         self.left, self.mover = max(self.left - 1 - action, 0), 1 - self.mover
    ...         won = 1.0 if self.left == 0 else 0.0
    ...         rewards = np.array([won, -won] if self.mover == 1 else [-won, won])
    ...         return Step(self.left, won, self.left == 0, False, {"turn": self.mover, "rewards": rewards})
    >>> env = PlayAgainst(Countdown(), lambda observation, info: 0)
    >>> env.reset(seed=0)[0], env.step(0).observation, env.step(1).reward
    (4, 2, 1.0)
    """

    lane_fields = ()

    def __init__(self, env: Env[ObsT, ActT], policy: Callable[[ObsT, Info], Any], seat: int = 0) -> None:
        super().__init__(env)
        if not callable(policy):
            raise InvalidType(f"PlayAgainst policy: expected a function, got {shorten(policy)}")
        self.policy, self.seat = policy, seat

    def reset(self, *, seed: Seed | None = None, options: Options | None = None) -> tuple[ObsT, Info]:
        """Begin, and move the others until it is the seat's turn."""
        observation, info = self.env.reset(seed=seed, options=options)
        if "turn" not in info:
            raise InvalidType(
                f"PlayAgainst: expected a game whose info tells the `turn`, got info with {sorted(info)}; "
                "rules do with players=2 and `turn`, and without an `opponent` of their own"
            )
        begun = self._reset_lanes(options) if self._lead else None
        if self._lead:
            lanes = np.ones(self._lead, np.bool_) if begun is None else begun
            none = np.zeros(self._lead, np.bool_)
            step = self._others(Step(observation, np.zeros(self._lead), none, none.copy(), info), lanes, lanes)
        else:
            step = self._answered(Step(observation, 0.0, False, False, info))
        return self.on_reset(step.observation, step.info, begun)

    def advance(self, action: ActT) -> Step[ObsT]:
        """The seat's move, and those of the others until it is its turn again."""
        step = Step.of(self.env.step(action))
        if not self._lead:
            return self._answered(step._replace(reward=float(step.info["rewards"][self.seat])))
        over = step.terminated | step.truncated
        lanes = np.ones(self._lead, np.bool_) if self.stepped is None else self.stepped
        # Where lanes begin in the same step, what follows the end is the next game's.
        going = lanes if self._mode is SAME_STEP else lanes & ~over
        # What others move before the seat's first move is part of the beginning, for which a reset pays nothing.
        begun = self._ended & lanes if self._mode is AutoresetMode.NEXT_STEP else np.zeros(self._lead, np.bool_)
        return self._others(step._replace(reward=self._gained(step.info)), going, over | begun)

    def _answered(self, step: Step[ObsT]) -> Step[ObsT]:
        while not (step.terminated or step.truncated) and step.info["turn"] != self.seat:
            again = Step.of(self.env.step(self.policy(step.observation, step.info)))
            step = again._replace(reward=step.reward + float(again.info["rewards"][self.seat]))
        return step

    def _others(self, step: Step[ObsT], lanes: Mask, over: Mask) -> Step[ObsT]:
        """Have the policy move these lanes for as long as it is its turn there; those of `over` gain nothing by it."""
        below = self._batch_below
        waiting = lanes & (step.info["turn"] != self.seat)
        while waiting.any():
            again = Step.of(below.step_masked(self.policy(step.observation, step.info), waiting))
            ended = again.terminated | again.truncated
            reward = step.reward + np.where(over, 0.0, self._gained(again.info))
            flags = step.terminated | again.terminated, step.truncated | again.truncated
            step = Step(again.observation, reward, *flags, self._info(step.info, again.info, waiting))
            over = over | ended
            waiting = waiting & (step.info["turn"] != self.seat) & (~ended | (self._mode is SAME_STEP))
        return step

    def _gained(self, info: Info) -> Array:
        """What the seat got from a step, in every lane that made one."""
        gained = np.zeros(self._lead)
        for infos in (info, info.get("final_info", {})):
            if "rewards" in infos:
                gained = gained + np.where(infos["_rewards"], infos["rewards"][:, self.seat], 0.0)
        return gained

    def _info(self, before: Info, after: Info, moved: Mask) -> Info:
        """The lanes' infos: the last of those that moved again, and what there is of a game's end."""
        ends = {key: one for key, one in before.items() if key.removeprefix("_") in FINAL}
        rest = {key: one for key, one in before.items() if key not in ends}
        return joined(joined(info_of(rest, ~moved), ends), after)
