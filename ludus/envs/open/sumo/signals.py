"""All lights at once, as arrays: what several agents learn from, and PettingZoo's view shows."""

import numpy as np

from ludus.core import Info, Step
from ludus.core.options import Options
from ludus.envs.open.sumo.base import SumoEnv
from ludus.envs.open.sumo.traffic import RewardFn, Traffic
from ludus.errors import InvalidAction
from ludus.seeding import Seed
from ludus.spaces import Box, Discrete, Tuple

__all__ = ["SumoRLSignals"]


class SumoRLSignals(SumoEnv[tuple[object, ...], tuple[int, ...]]):
    """A phase for every light at each step; observations are a tuple, and `info["rewards"]` has each light's own.

    `ludus.interop.pettingzoo.Together` shows it as agents with the lights' names.

    >>> env = SumoRLSignals("grid", num_seconds=60)
    >>> observation, info = env.reset(seed=0)
    >>> env.possible_agents, len(observation)
    (('A0', 'A1', 'B0', 'B1'), 4)
    >>> step = env.step((0, 1, 0, 1))
    >>> len(step.info["rewards"])
    4
    >>> env.close()
    """

    def __init__(
        self,
        net_file: str | None = None,
        route_file: str | None = None,
        *,
        reward_fn: str | RewardFn | None = None,
        render_mode: str | None = None,
        **settings: object,
    ) -> None:
        self._open(net_file or "grid", route_file, reward_fn, settings)
        self.possible_agents = tuple(light.id for light in self.network.lights)
        """The lights' names; an action moves them all at once."""
        sizes = [len(light.phases) + 1 + 2 * len(light.lanes) for light in self.network.lights]
        self.action_space = Tuple([Discrete(len(light.phases)) for light in self.network.lights])
        self.observation_space = Tuple([Box(0.0, 1.0, (size,), np.float32) for size in sizes])
        self.render_mode = render_mode

    def reset(self, *, seed: Seed | None = None, options: Options | None = None) -> tuple[tuple[object, ...], Info]:
        """An empty network, and the traffic of an episode drawn."""
        return self._seen(self._begin(seed, options)), {}

    def step(self, action: tuple[int, ...]) -> Step[tuple[object, ...]]:
        """Give every light a phase, and let `delta_time` seconds pass."""
        traffic = self._under_way()
        self.action_space.check(action, "action", InvalidAction)
        rewards = self._advance(traffic, [int(one) for one in action])
        return Step(self._seen(traffic), float(sum(rewards)), False, traffic.over, self._info(traffic, rewards))

    def _seen(self, traffic: Traffic) -> tuple[object, ...]:
        return tuple(np.array(traffic.vector(number), np.float32) for number in range(len(self.possible_agents)))
