"""`SandboxedEnv`: an environment that lives in a confined process, and is an `Env` here."""

from collections.abc import Callable
from copy import deepcopy
from math import isfinite
from typing import Any, NamedTuple

import numpy as np

from ludus.core import Env, EnvSpec, Info, Step
from ludus.errors import (
    CodecError,
    ContractViolation,
    EnvError,
    InvalidAction,
    shorten,
)
from ludus.sandbox.backend import Guarantees, Usage
from ludus.sandbox.deadlines import Deadlines
from ludus.sandbox.environment.ending import Ending
from ludus.sandbox.environment.handle import Handle
from ludus.sandbox.environment.resident import Resident, TenantEnded, read_info, read_observation, travelling
from ludus.sandbox.environment.restart import next_seed
from ludus.seeding import Seed, as_seed, derived_stream, np_random
from ludus.wire import SpaceCodec, decode_value, encode_value
from ludus.wire.message import (
    GetRequest,
    HasRequest,
    RenderRequest,
    ResetReply,
    ResetRequest,
    SetRequest,
    StateRequest,
    StepReply,
    StepRequest,
    ValueReply,
)

__all__ = ["SandboxedEnv"]

PICTURES = (np.ndarray, str, list, tuple, type(None))


class SandboxedEnv(Env[Any, Any]):
    """An environment behind a wall: the same API, spaces, seeds and errors, and nothing that comes from it is trusted.

    What it gives is held to the spaces it announced. A process that ends, or takes too long, cuts the episode: it is
    `truncated`, with the last observation and the reason in `info["sandbox"]`; the next `reset` starts a new process.

    >>> from ludus.sandbox.environment import confine
    >>> env = confine("ludus.envs.teaching.grid_world:GridWorld", {"size": 3}, "process")
    >>> env.reset(seed=0)
    (array([0, 0]), {'goal': array([2, 1])})
    >>> env.step(1).observation
    array([1, 0])
    >>> env.guarantees.backend
    'process'
    >>> env.close()
    """

    def __init__(self, resident: Resident, spec: EnvSpec | None = None) -> None:
        self._resident, self.spec = resident, spec
        resident.open()
        try:
            self.metadata, self.render_mode = resident.metadata(), resident.render_mode()
            self.observation_space, self.action_space = (
                resident.space("observation_space"),
                resident.space("action_space"),
            )
        except BaseException:
            resident.close()
            raise
        self._name = resident.name
        self._codec = SpaceCodec(self.observation_space, "observation")
        self._read: Callable[[Any], Any] = self._codec.read
        self._write = SpaceCodec(self.action_space, "action").write
        self._step_deadline = resident.deadlines.step
        self._last: Any = None
        self._seed: int | None = None
        self._begun, self._restarts = False, 0

    # --- the episode ---

    def reset(self, *, seed: Seed | None = None, options: dict[str, Any] | None = None) -> tuple[Any, Info]:
        """Start an episode, in a new process where the last one ended.

        Without a seed, a new process is seeded by what follows from the seed that its predecessor had.
        """
        resident = self._resident
        asked = None if seed is None else as_seed(seed)
        given = travelling(options, "options")
        request = ResetRequest(encode_value(self._revive(asked)), given)
        if resident.tenant is not None:
            resident.tenant.drain()
        try:
            reply = resident.ask(request, ResetReply, resident.deadlines.reset)
        except TenantEnded as ended:
            raise ended.ending.error(f"{self._name}.reset") from None
        if asked is not None:
            self._seed, self._restarts, self._streams = asked, 0, None
        observation = read_observation(self._read, reply.observation, self._name)
        self._last, self._begun = reply.observation, True
        return observation, read_info(reply.info, self._name)

    def _revive(self, seed: int | None) -> int | None:
        """Start a new process where there is none, and give the seed for its first episode."""
        resident = self._resident
        if resident.tenant is None and not resident.closed:
            resident.open()
            if seed is None and self._seed is not None:
                self._restarts += 1
                return next_seed(self._seed, self._restarts)
        return seed

    def step(self, action: Any) -> Step[Any]:
        """Advance the episode; past the deadline, or where the process ends, it is truncated here."""
        try:
            request = StepRequest(self._write(action))
        except CodecError as error:
            raise InvalidAction(f"{error}; expected {self.action_space!r}") from error
        try:
            reply = self._resident.ask(request, StepReply, self._step_deadline)
        except TenantEnded as ended:
            return self._cut(ended.ending)
        try:
            observation = self._read(reply.observation)
        except ValueError as error:  # CodecError, InvalidValue
            raise ContractViolation(f"{self._name}: {error}") from error
        self._last = reply.observation
        reward = reply.reward
        if type(reward) is dict or not isfinite(reward):  # type: ignore[arg-type]
            reward = _scalar(reward, self._name)
        info = read_info(reply.info, self._name) if reply.info else {}
        return Step(observation, reward, reply.terminated, reply.truncated, info)

    def _cut(self, ending: Ending) -> Step[Any]:
        if not self._begun:
            raise ending.error(f"{self._name}.step")
        self._begun = False
        return Step.truncation(self._read(self._last), 0.0, {"sandbox": ending.info})

    def render(self) -> Any:
        """The current picture: an array, text, or a list of these."""
        picture = self._value(RenderRequest(), "render")
        if not isinstance(picture, PICTURES):
            raise ContractViolation(f"{self._name}.render: expected an array, text or a list, got {shorten(picture)}")
        return picture

    def close(self) -> None:
        """Close the environment, within its deadline, and end its process."""
        self._resident.close()

    def interrupt(self) -> None:
        """Kill its process, from whichever thread: the step that is under way in another ends as truncated."""
        self._resident.interrupt()

    # --- the wall ---

    @property
    def guarantees(self) -> Guarantees:
        """What is in force for its process."""
        return self._tenant.guarantees

    def usage(self) -> Usage:
        """What its process has used so far, or did use."""
        return self._tenant.usage()

    @property
    def deadlines(self) -> Deadlines:
        """How long it may take for what."""
        return self._resident.deadlines

    @property
    def _tenant(self) -> Any:
        return self._resident.tenant or self._resident.last

    # --- randomness: the stream lives with the environment ---

    @property
    def np_random(self) -> np.random.Generator:
        """Refused: the generator is behind the wall."""
        raise EnvError(
            f"{self._name}.np_random: expected np_random_seed or stream(name), got the generator, "
            "which lives behind the wall"
        )

    @np_random.setter
    def np_random(self, value: np.random.Generator) -> None:
        raise EnvError(f"{self._name}.np_random: expected reset(seed=…), got {shorten(value)}, which cannot travel")

    @property
    def np_random_seed(self) -> int:
        """The seed of the environment's stream, as it says."""
        found = self._value(GetRequest("np_random_seed"), "np_random_seed")
        if type(found) is not int or found < -1:
            raise ContractViolation(f"{self._name}.np_random_seed: expected an integer, got {shorten(found)}")
        return found

    def stream(self, name: str) -> np.random.Generator:
        """The stream called `name`, derived from the environment's seed; it is this side's."""
        if self._streams is None:
            self._streams = {}
        if name not in self._streams:
            seed = self.np_random_seed
            self._streams[name] = derived_stream(np_random(None if seed < 0 else seed)[0], name)
        return self._streams[name]

    # --- attributes ---

    def _own(self, name: str) -> bool:
        return not name.startswith("_") and (hasattr(type(self), name) or name in vars(self))

    def has_wrapper_attr(self, name: str) -> bool:
        """Whether this object, or the environment behind the wall, has the attribute."""
        return self._own(name) or bool(self._value(HasRequest(name), name))

    def get_wrapper_attr(self, name: str) -> Any:
        """The attribute, of this object or else of the environment: a copy, and only where it is data."""
        return getattr(self, name) if self._own(name) else self._value(GetRequest(name), name)

    def set_wrapper_attr(self, name: str, value: Any, *, force: bool = True) -> bool:
        """Set an attribute of the environment behind the wall."""
        return bool(self._value(SetRequest(name, travelling(value, name), force), name))

    def state_data(self, *, private: bool = False) -> dict[str, Any]:
        """What the environment behind the wall shows of its episode."""
        found = self._value(StateRequest(private), "state")
        if not isinstance(found, dict):
            raise ContractViolation(f"{self._name}.state: expected a dictionary, got {shorten(found)}")
        return found

    def _value(self, request: Any, what: str) -> Any:
        try:
            reply = self._resident.ask(request, ValueReply, self._resident.deadlines.other)
            return decode_value(reply.value, what)
        except TenantEnded as ended:
            raise ended.ending.error(f"{self._name}.{what}") from None
        except CodecError as error:
            raise ContractViolation(f"{self._name}: {error}") from error

    # --- snapshots: the state stays behind the wall, this side holds its number ---

    def _capture(self, memo: dict[int, Any]) -> Any:
        del memo
        for space in (self.observation_space, self.action_space):
            space.settle()
        spaces = deepcopy((self.observation_space, self.action_space))
        return _State(Handle(self._resident), self._last, self._seed, self._begun, deepcopy(self._streams), spaces)

    def _reinstate(self, state: Any, memo: dict[int, Any]) -> None:
        del memo
        state.handle.restore(self._resident)
        self._last, self._seed, self._begun = state.last, state.seed, state.begun
        self._streams = deepcopy(state.streams)
        self.observation_space.adopt_random(state.spaces[0])
        self.action_space.adopt_random(state.spaces[1])

    def __repr__(self) -> str:
        return f"<SandboxedEnv({self._tenant.guarantees.backend})<{self._name if self.spec is None else self.spec.id}>>"

    __str__ = __repr__


class _State(NamedTuple):
    """What a snapshot holds of an environment behind a wall."""

    handle: Handle
    last: Any
    seed: int | None
    begun: bool
    streams: Any
    spaces: Any


def _scalar(reward: Any, name: str) -> Any:
    """A reward that is a NumPy scalar, checked to be a finite number."""
    try:
        value = decode_value(reward, "reward") if type(reward) is dict else reward
    except CodecError as error:
        raise ContractViolation(f"{name}: {error}") from error
    number = isinstance(value, np.integer | np.floating) and bool(np.isfinite(value))
    if not number:
        raise ContractViolation(f"{name} reward: expected a finite number, got {shorten(value)}")
    return value
