"""`Traffic`: lights that are asked for phases, what they see, and what that is worth, as sumo-rl has it."""

from collections.abc import Callable, Mapping
from typing import TypedDict

import msgspec

from ludus.envs.open.sumo.network import Light, Network
from ludus.envs.open.sumo.simulation import Measures, Plan
from ludus.errors import InvalidArgument, did_you_mean, shorten

__all__ = ["REWARDS", "LightView", "RewardFn", "SumoConfig", "Traffic"]

MIN_GAP = 2.5
"""Metres between vehicles that stand."""
MAX_SECONDS = 1_000_000


class SumoConfig(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """When lights may change; the names and defaults are OpenEnv's, but for the length of an episode.

    >>> SumoConfig(delta_time=10).min_green
    5
    """

    num_seconds: int = 600
    delta_time: int = 5
    """Seconds from one action to the next."""
    yellow_time: int = 2
    min_green: int = 5
    max_green: int = 50
    enforce_max_green: bool = False
    """Whether a phase that has lasted `max_green` goes on to the next of its own; sumo-rl never does so."""
    demand: float | None = None
    """Vehicles that enter by each road in an hour, where routes are drawn; None: as fits the network."""

    def __post_init__(self) -> None:
        for name in ("num_seconds", "delta_time", "yellow_time", "max_green"):
            if not 1 <= getattr(self, name) <= MAX_SECONDS:
                raise InvalidArgument(f"SumoRL {name}: expected seconds above 0, got {getattr(self, name)}")
        if self.delta_time <= self.yellow_time:
            raise InvalidArgument(
                f"SumoRL delta_time: expected more than yellow_time ({self.yellow_time}), got {self.delta_time}"
            )
        if not 0 <= self.min_green <= self.max_green:
            raise InvalidArgument(f"SumoRL min_green: expected 0 to max_green ({self.max_green}), got {self.min_green}")
        if self.demand is not None and not 0 < self.demand <= 100_000:
            raise InvalidArgument(f"SumoRL demand: expected vehicles an hour above 0, got {self.demand}")

    @classmethod
    def of(cls, settings: Mapping[str, object]) -> "SumoConfig":
        """Of keywords, each checked."""
        known = cls.__struct_fields__
        for name in settings:
            if name not in known:
                raise InvalidArgument(
                    f"SumoRL: expected settings out of {list(known)}, got {name!r}{did_you_mean(name, known)}"
                )
        kinds = {one.name: one.type for one in msgspec.structs.fields(cls)}
        read = {name: _read(name, value, kinds[name]) for name, value in settings.items()}
        return msgspec.structs.replace(cls(), **read)


def _read(name: str, value: object, kind: object) -> object:
    """A setting, of text too, since that is what environment variables are."""
    try:
        return msgspec.convert(value, kind, strict=False)
    except msgspec.ValidationError as error:
        expected = str(error).partition(",")[0].removeprefix("Expected ").replace("`", "")
        raise InvalidArgument(f"SumoRL {name}: expected {expected}, got {shorten(value)}") from None


class TrafficTotals(TypedDict):
    """Sums and means over all vehicles that are under way."""

    total_vehicles: int
    total_waiting_time: float
    mean_waiting_time: float
    mean_speed: float
    arrived: int


class LightView:
    """What can be measured around one light; a reward of your own takes one, and gives a number."""

    def __init__(self, light: Light, network: Network, measures: Measures, phase: int, since: int) -> None:
        self.light, self.phase, self.since = light, phase, since
        """The light, the number of its green phase, and the seconds since it was chosen."""
        self.time = measures.time
        self._network, self._lanes = network, measures.lanes

    def _counted(self, column: int, lanes: tuple[str, ...] | None = None) -> list[float]:
        empty = [0.0] * 5
        return [self._lanes.get(lane, empty)[column] for lane in (self.light.lanes if lanes is None else lanes)]

    def _filled(self, column: int) -> list[float]:
        """Vehicles as a part of those that each lane has room for."""
        counts, lengths = self._counted(column), self._counted(2)
        rooms = [self._network.lanes[lane].length for lane in self.light.lanes]
        return [
            min(1.0, count / (room / (MIN_GAP + length)))
            for count, length, room in zip(counts, lengths, rooms, strict=True)
        ]

    @property
    def density(self) -> list[float]:
        """How full each lane is, from 0 to 1."""
        return self._filled(0)

    @property
    def queue(self) -> list[float]:
        """How much of each lane is taken by vehicles that stand."""
        return self._filled(1)

    @property
    def queued(self) -> int:
        """Vehicles that stand."""
        return int(sum(self._counted(1)))

    @property
    def waiting_time(self) -> float:
        """Seconds that the vehicles on these lanes have waited on them."""
        return sum(self._counted(3))

    @property
    def pressure(self) -> int:
        """Vehicles that have left, less those that still arrive."""
        return int(sum(self._counted(0, self.light.out_lanes)) - sum(self._counted(0)))

    @property
    def average_speed(self) -> float:
        """As a part of what is allowed; 1 where there is nobody."""
        count = sum(self._counted(0))
        return sum(self._counted(4)) / count if count else 1.0

    def stopped_by(self, phase: int) -> int:
        """Vehicles that stand on lanes which a phase would let go."""
        state = self.light.phases[phase]
        free = {lane for lane, sign in zip(self.light.links, state, strict=False) if sign in "Gg"}
        return int(sum(self._lanes.get(lane, [0.0] * 5)[1] for lane in free))


RewardFn = Callable[[LightView], float]
REWARDS: dict[str, RewardFn | None] = {
    "diff-waiting-time": None,
    "queue": lambda view: float(-view.queued),
    "pressure": lambda view: float(view.pressure),
    "average-speed": lambda view: view.average_speed,
}
"""By sumo-rl's names. The first is what waiting has become less by since the last action, in hundreds of seconds."""


class Traffic:
    """The lights of one episode: plain values, which a snapshot copies."""

    def __init__(self, network: Network, config: SumoConfig, reward: str | RewardFn) -> None:
        self.network, self.config = network, config
        self.reward = REWARDS[reward] if isinstance(reward, str) else reward
        self.plans: list[Plan] = []
        self.phases = [0] * len(network.lights)
        self.since = [0] * len(network.lights)
        self.waited = [0.0] * len(network.lights)
        self.measures = Measures()

    def plan(self, choices: list[int]) -> list[Plan]:
        """Take a phase for each light, and add what follows until the next action."""
        config, changes = self.config, list[tuple[int, str, str]]()
        for number, (light, choice) in enumerate(zip(self.network.lights, choices, strict=True)):
            now, since = self.phases[number], self.since[number]
            if config.enforce_max_green and since >= config.max_green and choice == now:
                choice = (now + 1) % len(light.phases)
            if choice == now or since < config.yellow_time + config.min_green:
                changes.append((0, light.id, light.phases[now]))
                self.since[number] += config.delta_time
                continue
            changes.append((0, light.id, _yellow(light.phases[now], light.phases[choice])))
            changes.append((config.yellow_time, light.id, light.phases[choice]))
            self.phases[number], self.since[number] = choice, config.delta_time
        self.plans.append((config.delta_time, tuple(changes)))
        return self.plans

    def observe(self, measures: Measures) -> list[float]:
        """Take what was measured: the reward of each light."""
        self.measures, rewards = measures, list[float]()
        for number in range(len(self.network.lights)):
            view = self.view(number)
            if self.reward is not None:
                rewards.append(float(self.reward(view)))
                continue
            waited = view.waiting_time / 100.0
            rewards.append(self.waited[number] - waited)
            self.waited[number] = waited
        return rewards

    def view(self, number: int) -> LightView:
        """What a light sees now."""
        light = self.network.lights[number]
        return LightView(light, self.network, self.measures, self.phases[number], self.since[number])

    def vector(self, number: int) -> list[float]:
        """sumo-rl's observation: the phase, whether it may change, how full lanes are, and how much of that stands."""
        view, config = self.view(number), self.config
        phase = [1.0 if one == view.phase else 0.0 for one in range(len(view.light.phases))]
        ready = 0.0 if view.since < config.min_green + config.yellow_time else 1.0
        return [*phase, ready, *view.density, *view.queue]

    @property
    def over(self) -> bool:
        """Whether the time of the episode is up."""
        return self.measures.time >= self.config.num_seconds

    def totals(self) -> TrafficTotals:
        """Of all vehicles that are under way."""
        vehicles = self.measures.vehicles
        count = len(vehicles)
        waiting = sum(one[4] for one in vehicles)
        return {
            "total_vehicles": count,
            "total_waiting_time": waiting,
            "mean_waiting_time": waiting / count if count else 0.0,
            "mean_speed": sum(one[3] for one in vehicles) / count if count else 0.0,
            "arrived": self.measures.arrived,
        }


def _yellow(before: str, after: str) -> str:
    """Yellow for whoever may go and then may not."""
    return "".join("y" if one in "Gg" and two in "rs" else one for one, two in zip(before, after, strict=True))
