"""Agents: what chooses actions in an evaluation. A function of the observation is one; so are these."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from copy import deepcopy
from inspect import Parameter, signature
from typing import Any, Generic, Protocol, Self, TypeGuard

import numpy as np
import numpy.typing as npt

from ludus.core import Info
from ludus.core.env import ActT, ObsT
from ludus.core.info import lane_info
from ludus.core.vector_env import AnyVectorEnv
from ludus.errors import InvalidArgument
from ludus.evaluate.seeds import STEP, U64, mixed
from ludus.spaces import Discrete, Record, Space, concatenate, iterate
from ludus.spaces.array_space import Array
from ludus.spaces.kinds import is_dict
from ludus.spaces.mask import field_masks, sample_legal

__all__ = ["FILES", "Agent", "FunctionAgent", "NopAgent", "PolicyAgent", "RandomAgent", "ScriptedAgent", "is_predictor"]

Mask = npt.NDArray[np.bool_]
MAX_CHOICES = 1 << 20
"""Up to so many, a share of 32 bits favours none of them by more than a four-thousandth."""


class Agent(Generic[ObsT, ActT]):
    """Plays in `num_envs` lanes at once, each with episodes of its own. Subclass it and define `act`.

    >>> class Left(Agent):
    ...     def act(self, observation, info, lane):
    ...         return 0
    >>> Left().prepare(Discrete(2), Discrete(2), 1).act(1, {}, 0)
    0
    """

    observation_space: Space[ObsT]
    action_space: Space[ActT]
    """Of one lane, as its observation space is."""

    def prepare(self, observation_space: Space[ObsT], action_space: Space[ActT], num_envs: int) -> Self:
        """Learn of the spaces of one lane, and of how many there are; before anything else. Gives the agent itself."""
        del num_envs
        self.observation_space, self.action_space = observation_space, action_space
        return self

    def attach(self, envs: AnyVectorEnv) -> None:
        """The batch that is played in, after `prepare`: for agents that look ahead in forks of it."""

    def close(self) -> None:
        """Let go of what the agent holds: a model, a process. Called for agents that an evaluation has made itself."""

    def begin(self, lane: int, seed: int) -> None:
        """A new episode in `lane`; `seed` is for whatever the agent draws in it."""

    def act(self, observation: ObsT, info: Info, lane: int) -> ActT:
        """The action for one observation."""
        raise NotImplementedError(f"{type(self).__name__} defines no act(observation, info, lane)")

    def act_batch(self, observations: Any, info: Info, mask: Mask) -> object:
        """Actions for all lanes as one value of the batch; those out of `mask` are not looked at.

        Observations and infos are the batch's own. Define it where many at once are cheaper.
        """
        lanes = iterate(self.observation_space.batch(len(mask)), observations)
        actions = [
            self.act(observation, lane_info(info, lane), lane) if mask[lane] else self.action_space.default()
            for lane, observation in enumerate(lanes)
        ]
        return concatenate(self.action_space, actions)


class RandomAgent(Agent[object, object]):
    """Actions drawn from the space, legal ones where `info["action_mask"]` says which are.

    Each episode has a stream of its own, so that what is drawn does not depend on other lanes. One of several integers
    is drawn by SplitMix64 from the episode's seed and the step, for all lanes at once.

    >>> agent = RandomAgent().prepare(Discrete(2), Discrete(9), num_envs=2)
    >>> agent.begin(0, seed=5)
    >>> agent.begin(1, seed=5)
    >>> int(agent.act(0, {}, 0)) == int(agent.act(0, {}, 1))
    True
    """

    def prepare(self, observation_space: Space[object], action_space: Space[object], num_envs: int) -> Self:
        """A stream for each lane; of spaces that are no few integers, a copy of the space."""
        self._words = np.zeros(num_envs, U64)
        few = isinstance(action_space, Discrete) and action_space.n < MAX_CHOICES
        self._choice = action_space if few and type(action_space) is Discrete else None
        self._spaces = [] if self._choice is not None else [deepcopy(action_space) for _ in range(num_envs)]
        return super().prepare(observation_space, action_space, num_envs)

    def begin(self, lane: int, seed: int) -> None:
        """Seed the lane's own stream."""
        self._words[lane] = seed
        if self._spaces:
            self._spaces[lane].seed(seed)

    def act(self, observation: object, info: Info, lane: int) -> object:
        """A draw."""
        del observation
        mask, space = info.get("action_mask"), self._choice
        if space is None:
            return sample_legal(self._spaces[lane], mask)
        legal = range(int(space.n)) if mask is None else np.flatnonzero(mask).tolist()
        share = int(self._drawn(np.array([lane]))[0])
        return int(space.start) + legal[share * len(legal) >> 32]

    def act_batch(self, observations: object, info: Info, mask: Mask) -> object:
        """A draw for each lane; at once where nothing restricts it."""
        space = self._choice
        if space is None or "action_mask" in info:
            return super().act_batch(observations, info, mask)
        lanes = np.flatnonzero(mask)
        actions = np.full(len(mask), space.start, np.int64)
        actions[lanes] += self._drawn(lanes) * int(space.n) >> 32
        return actions

    def _drawn(self, lanes: Array) -> npt.NDArray[np.int64]:
        """A number of 32 bits from the stream of each lane."""
        word = self._words[lanes] + STEP
        self._words[lanes] = word
        return (mixed(word) >> U64(32)).astype(np.int64)


def _first_legal(space: Space[object], mask: object) -> object:
    """The zero of a space, with the first choice that is legal where the mask is of choices."""
    if isinstance(space, Discrete):
        return space.start + int(np.argmax(np.asarray(mask)))
    if not isinstance(space, Record):
        return space.default()
    record: Record[object] = space
    spaces = {name: field.space for name, field in record.fields.items()}
    masks = field_masks(spaces, mask)
    if not is_dict(masks) or masks is mask:
        return record.default()
    values = {name: _first_legal(one, masks[name]) if name in masks else one.default() for name, one in spaces.items()}
    return record.from_fields(values)


class NopAgent(Agent[object, object]):
    """The zero of the action space, always: what doing nothing is worth.

    >>> int(NopAgent().prepare(Discrete(2), Discrete(9), 1).act(1, {}, 0))
    0
    """

    def act(self, observation: object, info: Info, lane: int) -> object:
        """Zero, or the first that is legal."""
        del observation, lane
        mask = info.get("action_mask")
        return self.action_space.default() if mask is None else _first_legal(self.action_space, mask)


class ScriptedAgent(Agent[object, ActT]):
    """The same actions in every episode, the last one again and again after that.

    >>> agent = ScriptedAgent([2, 1])
    >>> agent.begin(0, seed=0)
    >>> [agent.act(None, {}, 0) for _ in range(3)]
    [2, 1, 1]
    """

    def __init__(self, actions: Sequence[ActT]) -> None:
        self.actions = list(actions)
        if not self.actions:
            raise InvalidArgument("ScriptedAgent: expected at least one action, got none")
        self._places: dict[int, int] = {}

    def begin(self, lane: int, seed: int) -> None:
        """From the first one."""
        del seed
        self._places[lane] = 0

    def act(self, observation: object, info: Info, lane: int) -> ActT:
        """The next one."""
        del observation, info
        place = self._places[lane]
        self._places[lane] = place + 1
        return self.actions[min(place, len(self.actions) - 1)]


class FunctionAgent(Agent[object, ActT]):
    """A function of the observation, or of the observation and the info."""

    def __init__(self, function: Callable[..., ActT]) -> None:
        self.function = function
        self._with_info = _takes_two(function)

    def act(self, observation: object, info: Info, lane: int) -> ActT:
        """What it returns."""
        del lane
        return self.function(observation, info) if self._with_info else self.function(observation)


class Predictor(Protocol):
    """What Stable-Baselines3's algorithms and policies have."""

    def predict(self, observation: Any, /, *, deterministic: bool) -> Sequence[object]:
        """An action first, or a batch of them."""
        ...


def is_predictor(agent: object) -> TypeGuard[Predictor]:
    """Whether an object predicts actions."""
    return callable(getattr(agent, "predict", None))


class PolicyAgent(Agent[object, object]):
    """An object with `predict(observation, deterministic=True)`, as Stable-Baselines3's algorithms and policies are."""

    def __init__(self, policy: Predictor) -> None:
        self.policy = policy

    def act(self, observation: object, info: Info, lane: int) -> object:
        """The first of what `predict` returns."""
        del info, lane
        return self.policy.predict(observation, deterministic=True)[0]

    def act_batch(self, observations: object, info: Info, mask: Mask) -> object:
        """All lanes in one call where observations are arrays of one shape."""
        if not isinstance(observations, np.ndarray):
            return super().act_batch(observations, info, mask)
        return np.asarray(self.policy.predict(observations, deterministic=True)[0])


FILES = (".zip", ".pt", ".onnx", ".safetensors")
"""Of policies: by Stable-Baselines3, as TorchScript, ONNX, and weights for a class."""


def _takes_two(function: Callable[..., object]) -> bool:
    """Whether a function asks for two values; one that cannot be looked at is given one."""
    try:
        parameters = list(signature(function).parameters.values())
    except (TypeError, ValueError):
        return False
    by_place = (Parameter.POSITIONAL_ONLY, Parameter.POSITIONAL_OR_KEYWORD)
    return len([one for one in parameters if one.kind in by_place and one.default is Parameter.empty]) >= 2
