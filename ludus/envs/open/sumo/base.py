"""What the typed environment and the one of arrays have in common: a network, an episode, a simulation, a picture."""

import os
from collections.abc import Mapping
from pathlib import Path
from typing import ClassVar, TypeVar

from ludus.core import Env, Info, Outcome
from ludus.core.options import Options
from ludus.envs.open.sumo.network import demand_of, read_network
from ludus.envs.open.sumo.picture import sumo_picture
from ludus.envs.open.sumo.simulation import Simulation, SumoRun
from ludus.envs.open.sumo.traffic import REWARDS, RewardFn, SumoConfig, Traffic
from ludus.errors import InvalidArgument, ResetNeeded, did_you_mean, shorten
from ludus.rendering import Canvas, Drawn
from ludus.seeding import Seed

__all__ = ["SumoEnv"]

ObsT = TypeVar("ObsT")
ActT = TypeVar("ActT")
PREFIX = "SUMO_"
SETTINGS = ("num_seconds", "delta_time", "yellow_time", "min_green", "max_green")


def settings_from_variables() -> dict[str, str]:
    """The settings that OpenEnv takes from the environment's variables."""
    return {name: os.environ[PREFIX + name.upper()] for name in SETTINGS if PREFIX + name.upper() in os.environ}


class SumoEnv(Drawn, Env[ObsT, ActT]):
    """Traffic lights over a simulation of SUMO; what is observed and done is a subclass's."""

    metadata = Drawn.metadata | {"render_fps": 4}
    snapshot_shared: ClassVar[tuple[str, ...]] = ("_simulation", "network", "_window")

    def _open(
        self,
        net_file: str | None,
        route_file: str | None,
        reward_fn: str | RewardFn | None,
        settings: Mapping[str, object],
    ) -> None:
        """Read arguments, and OpenEnv's variables in their place."""
        self.network = read_network(net_file or os.environ.get("SUMO_NET_FILE", "single"))
        routes = route_file or os.environ.get("SUMO_ROUTE_FILE")
        if routes is not None and not Path(routes).is_file():
            raise InvalidArgument(f"SumoRL route_file: expected a file, got {shorten(routes)}")
        self.route_file = None if routes is None else str(Path(routes).resolve())
        reward = reward_fn or os.environ.get("SUMO_REWARD_FN", "diff-waiting-time")
        if not callable(reward) and reward not in REWARDS:
            meant = did_you_mean(str(reward), list(REWARDS))
            raise InvalidArgument(
                f"SumoRL reward_fn: expected one of {list(REWARDS)} or a function, got {shorten(reward)}{meant}"
            )
        self.reward_fn = reward
        self.config = SumoConfig.of({**settings_from_variables(), **settings})
        self._simulation = Simulation()
        self._traffic: Traffic | None = None
        self._run: SumoRun | None = None
        self._needs = "no episode under way"

    def _begin(self, seed: Seed | None, options: Options | None) -> Traffic:
        """Draw the demand of an episode; no process is needed before the first second has passed."""
        if options:
            raise InvalidArgument(f"options: expected none, since SumoRL has no reset options, got {shorten(options)}")
        if seed is None and self._traffic is None and "SUMO_SEED" in os.environ:
            seed = int(os.environ["SUMO_SEED"])
        super().reset(seed=seed)
        number = int(self.np_random.integers(1 << 31))
        routes = self.route_file or demand_of(self.network, self.config.num_seconds, self.np_random, self.config.demand)
        lights = self.network.lights
        lanes = tuple(dict.fromkeys(lane for light in lights for lane in (*light.lanes, *light.out_lanes)))
        self._run = SumoRun(self.network.path, routes, number, lanes)
        self._traffic, self._needs = Traffic(self.network, self.config, self.reward_fn), ""
        return self._traffic

    def _under_way(self) -> Traffic:
        if self._needs or self._traffic is None:
            raise ResetNeeded(f"step: expected reset() first, got {self._needs}")
        return self._traffic

    def _advance(self, traffic: Traffic, choices: list[int]) -> list[float]:
        """Let the lights change and time pass: the reward of each light."""
        plans, run = traffic.plan(choices), self._run
        try:
            measures = self._simulation.measured(run, plans) if run is not None else traffic.measures
        except BaseException:
            self._needs = "an episode whose simulation failed"
            raise
        rewards = traffic.observe(measures)
        if traffic.over:
            self._needs = "an episode that has ended"
        return rewards

    def _info(self, traffic: Traffic, rewards: list[float]) -> Info:
        name = self.reward_fn if isinstance(self.reward_fn, str) else "reward_fn"
        info: Info = {
            "rewards": rewards,
            "reward_components": {name: float(sum(rewards))},
            "facts": {"queued": [traffic.view(number).queued for number in range(len(rewards))]},
            "system": traffic.totals(),
        }
        if traffic.over:
            info["outcome"] = Outcome.TIME_LIMIT
        return info

    def draw(self) -> Canvas:
        """The roads, the lights and every vehicle."""
        return sumo_picture(self.network, self._traffic)

    def close(self) -> None:
        """End the simulation's process."""
        self._simulation.close()
        super().close()
