"""SUMO-RL: traffic lights with typed actions, in OpenEnv's words."""

import json
from dataclasses import dataclass, field, make_dataclass
from functools import cache
from typing import Annotated, ClassVar, Literal

from ludus.core import Info, Step
from ludus.core.options import Options
from ludus.envs.open.sumo.base import SumoEnv
from ludus.envs.open.sumo.traffic import RewardFn, Traffic
from ludus.errors import InvalidAction
from ludus.rendering import Choice, choice
from ludus.seeding import Seed
from ludus.spaces import Discrete, Record

__all__ = ["SumoAction", "SumoObservation", "SumoRL", "SumoState"]

DEFAULT, FIRST = "default", "0"
"""No light by name: the one whose turn it is. OpenEnv's own client always says the second."""


@dataclass
class SumoAction:
    """The green phase that a light should have next; without its name, the light whose turn it is."""

    __tool__: ClassVar[str] = "set_phase"

    phase_id: int
    ts_id: str = DEFAULT


@dataclass
class SumoObservation:
    """What the light to be asked sees: its phase, whether it may change, and how full and how queued its lanes are."""

    observation: list[float]
    observation_shape: list[int]
    action_mask: list[int]
    """The phases it may be given."""
    sim_time: float
    ts_id: str = DEFAULT


@dataclass
class SumoState:
    """What is shown of the simulation, and how it is set."""

    net_file: str = ""
    route_file: str = ""
    num_seconds: int = 0
    delta_time: int = 0
    yellow_time: int = 0
    min_green: int = 0
    max_green: int = 0
    reward_fn: str = ""
    sim_time: float = 0.0
    total_vehicles: int = 0
    total_waiting_time: float = 0.0
    mean_waiting_time: float = 0.0
    mean_speed: float = 0.0
    arrived: int = 0
    lights: dict[str, int] = field(default_factory=dict[str, int])


@cache
def action_model(phases: int, lights: tuple[str, ...]) -> type[SumoAction]:
    """The class of actions for lights of these names, with so many phases."""
    names: object = Literal[tuple(dict.fromkeys((DEFAULT, FIRST, *lights)))]  # pyright: ignore[reportInvalidTypeArguments]
    fields: list[tuple[str, object] | tuple[str, object, object]] = [
        ("phase_id", Annotated[int, Discrete(phases)]),
        ("ts_id", names, DEFAULT),
    ]
    made = make_dataclass("SumoAction", fields, bases=(SumoAction,))
    described = json.dumps([phases, lights]).encode().hex()  # a light may have any name
    made.__doc__, made.__module__, made.__qualname__ = SumoAction.__doc__, __name__, f"SumoAction_{described}"
    return made


def __getattr__(name: str) -> object:
    """The classes that `action_model` makes, so that pickles of snapshots find them in any process."""
    stem, _, described = name.partition("_")
    if stem == "SumoAction" and described:
        phases, lights = json.loads(bytes.fromhex(described))
        return action_model(int(phases), tuple(lights))
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


class SumoRL(SumoEnv[SumoObservation, SumoAction]):
    """Choose green phases so that traffic flows, in a simulation by SUMO; every `delta_time` seconds a light is asked.

    Where there are several lights they are asked one after another, and time passes when each has its phase: an
    observation says whose turn it is, and the reward is the sum of all, told with the last. `net_file` is a file, or
    "single", "grid" or "arterial"; without `route_file` the traffic is drawn from the seed.

    >>> env = SumoRL(num_seconds=60)
    >>> observation, info = env.reset(seed=0)
    >>> observation.action_mask, observation.sim_time
    ([0, 1], 0.0)
    >>> env.step(SumoAction(phase_id=1)).observation.sim_time
    5.0
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
        self._open(net_file, route_file, reward_fn, settings)
        most = max(len(light.phases) for light in self.network.lights)
        names = tuple(light.id for light in self.network.lights)
        self.action_space, self.observation_space = Record(action_model(most, names)), Record(SumoObservation)
        self.metadata = self.metadata | {
            "action_names": [f"phase {number}" for number in range(most)],
        }
        self.render_mode = render_mode
        self._chosen: dict[str, int] = {}

    @property
    def state(self) -> SumoState | None:
        """The simulation; None before the first reset."""
        traffic, config = self._traffic, self.config
        if traffic is None:
            return None
        names = [light.id for light in self.network.lights]
        reward = self.reward_fn if isinstance(self.reward_fn, str) else getattr(self.reward_fn, "__name__", "own")
        return SumoState(
            self.network.name, self.route_file or "", config.num_seconds, config.delta_time, config.yellow_time,
            config.min_green, config.max_green, reward, traffic.measures.time,
            lights=dict(zip(names, traffic.phases, strict=True)), **traffic.totals(),
        )  # fmt: skip

    def reset(self, *, seed: Seed | None = None, options: Options | None = None) -> tuple[SumoObservation, Info]:
        """An empty network, and the traffic of an episode drawn."""
        traffic = self._begin(seed, options)
        self._chosen = {}
        return self._seen(traffic), {"lights": [light.id for light in self.network.lights]}

    def step(self, action: SumoAction) -> Step[SumoObservation]:
        """Give a light its phase; time passes when every light has one."""
        traffic = self._under_way()
        asked = self.action_space.coerce(action, "action", InvalidAction)
        number = self._light_of(asked.ts_id)
        light = self.network.lights[number]
        if not asked.phase_id < len(light.phases):
            raise InvalidAction(
                f"action.phase_id: expected 0 to {len(light.phases) - 1}, as {light.id} has, got {asked.phase_id}"
            )
        chosen = self._chosen | {light.id: asked.phase_id}
        if len(chosen) < len(self.network.lights):
            self._chosen = chosen
            info: Info = {"rewards": [], "reward_components": {}, "facts": {"waiting_for": self._waiting()}}
            return Step(self._seen(traffic), 0.0, False, False, info)
        self._chosen = {}
        rewards = self._advance(traffic, [chosen[one.id] for one in self.network.lights])
        info = self._told(traffic, rewards)
        return Step(self._seen(traffic), float(sum(rewards)), False, traffic.over, info)

    def _waiting(self) -> list[str]:
        return [light.id for light in self.network.lights if light.id not in self._chosen]

    def _light_of(self, name: str) -> int:
        names = [light.id for light in self.network.lights]
        return names.index(name if name in names else self._waiting()[0])

    def _seen(self, traffic: Traffic) -> SumoObservation:
        number = self._light_of(DEFAULT)
        light, vector = self.network.lights[number], traffic.vector(number)
        return SumoObservation(vector, [len(vector)], list(range(len(light.phases))), traffic.measures.time, light.id)

    def get_choices(self) -> list[Choice]:
        """The phases of the light that is asked."""
        light = self.network.lights[self._light_of(DEFAULT)]
        return [choice(f"{light.id}: phase {one + 1}", {"phase_id": one}) for one in range(len(light.phases))]

    def get_keys_to_action(self) -> dict[str, SumoAction]:
        """A digit for each phase."""
        most = max(len(light.phases) for light in self.network.lights)
        return {str(number + 1): SumoAction(number) for number in range(min(most, 9))}
