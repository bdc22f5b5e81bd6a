"""`ProxyEnv`: an environment that is somewhere else, which is an `Env` here."""

from copy import deepcopy
from functools import partial
from typing import Any, NamedTuple

import numpy as np

from ludus.core import EnvSpec, Info, Outcome, Step
from ludus.core.env import ActT, Env, ObsT_co
from ludus.core.options import Options
from ludus.core.snapshot import Memo
from ludus.errors import ContractViolation, EnvError, SessionLost, shorten
from ludus.remote.codec import EnvCodec, travelling
from ludus.remote.link import Link, LinkEnded
from ludus.remote.snapshots import SnapshotHandle
from ludus.seeding import Seed, as_seed, derived_stream, np_random
from ludus.spaces import Space
from ludus.wire import encode_value
from ludus.wire.messages import (
    METHOD,
    CallRequest,
    GetRequest,
    HasRequest,
    HostRequest,
    RenderRequest,
    ResetReply,
    ResetRequest,
    SetRequest,
    StateRequest,
    StepReply,
    StepRequest,
    ValueReply,
)

__all__ = ["ProxyEnv", "next_seed"]


def next_seed(seed: int, restarts: int) -> int:
    """The seed for the environment that follows on so many others since that seed: one history follows from one seed.

    >>> next_seed(7, 1) == next_seed(7, 1) != next_seed(7, 2)
    True
    """
    return int(derived_stream(np_random(seed)[0], f"sandbox {restarts}").integers(1 << 63))


class ProxyEnv(Env[ObsT_co, ActT]):
    """An environment at the other end of a link: the same API, spaces, seeds, histories and errors as beside you.

    Where the other side is gone, `reset` begins anew; without a seed, by what follows from the last one that was given.
    """

    def __init__(self, link: Link, codec: EnvCodec[ObsT_co, ActT], spec: EnvSpec | None = None) -> None:
        self._link, self._codec, self.spec = link, codec, spec
        self.observation_space, self.action_space = codec.observation_space, codec.action_space
        self.metadata, self.render_mode = codec.metadata, codec.render_mode
        self._ask, self._write_action = link.ask, codec.write_action
        self._last: object = None
        self._seed: int | None = None
        self._begun, self._restarts = False, 0

    # --- the episode ---

    def reset(self, *, seed: Seed | None = None, options: Options | None = None) -> tuple[ObsT_co, Info]:
        """Start an episode, of a new environment where the last one is gone."""
        asked = None if seed is None else as_seed(seed)
        given = travelling(options, "options")
        told = {} if self._link.alive else self._link.reopen()
        try:
            reply = self._ask(ResetRequest(encode_value(self._first(asked, bool(told))), given), ResetReply)
        except SessionLost:  # it is gone, and this is how one hears of it
            if self._link.alive or told:
                raise
            told = self._link.reopen()
            reply = self._ask(ResetRequest(encode_value(self._first(asked, True)), given), ResetReply)
        except LinkEnded as ended:
            raise ended.error(f"{self._codec.name}.reset") from None
        if asked is not None:
            self._seed, self._restarts, self._streams = asked, 0, None
        observation, info = self._codec.read_reset(reply)
        self._last, self._begun = reply.observation, True
        return observation, {**info, **_public(told)}

    def _first(self, seed: int | None, anew: bool) -> int | None:
        """The seed for the first episode of an environment that took the place of another."""
        if not anew or seed is not None or self._seed is None:
            return seed
        self._restarts += 1
        return next_seed(self._seed, self._restarts)

    def step(self, action: ActT) -> Step[ObsT_co]:
        """Advance the episode, by one message each way."""
        request = StepRequest(self._write_action(action))
        try:
            reply = self._ask(request, StepReply)
        except LinkEnded as ended:
            return self._cut(ended)
        step = self._codec.read_step(reply)
        self._last = reply.observation
        return step

    def _cut(self, ended: LinkEnded) -> Step[ObsT_co]:
        """The episode ends here, with the last observation that there was."""
        if not self._begun:
            raise ended.error(f"{self._codec.name}.step")
        self._begun = False
        last = self._codec.read_observation(self._last)
        return Step.ending(last, Outcome.INFRASTRUCTURE_FAILED, 0.0, ended.info)

    def render(self) -> Any:
        """The current picture: an array, text, or a list of these."""
        return self._codec.read_picture(self._value(RenderRequest(), "render"))

    def close(self) -> None:
        """Close the environment, and end the other side; harmless twice."""
        self._link.close()

    def state_data(self, *, private: bool = False) -> Info:
        """What the environment shows of its episode."""
        return self._codec.read_state(self._value(StateRequest(private), "state"))

    def _value(self, request: HostRequest, what: str) -> ValueReply:
        try:
            return self._ask(request, ValueReply)
        except LinkEnded as ended:
            raise ended.error(f"{self._codec.name}.{what}") from None

    # --- randomness: the stream lives with the environment ---

    @property
    def np_random(self) -> np.random.Generator:
        """Refused: the generator is on the other side."""
        raise EnvError(
            f"{self._codec.name}.np_random: expected np_random_seed or stream(name), got the generator, which lives "
            "with the environment, in another process"
        )

    @np_random.setter
    def np_random(self, value: np.random.Generator) -> None:
        raise EnvError(
            f"{self._codec.name}.np_random: expected reset(seed=…), got {shorten(value)}, which cannot travel"
        )

    @property
    def np_random_seed(self) -> int:
        """The seed of the environment's stream, as it says."""
        found = self._codec.read_value(self._value(GetRequest("np_random_seed"), "np_random_seed"), "np_random_seed")
        if type(found) is not int or found < -1:
            raise ContractViolation(f"{self._codec.name}.np_random_seed: expected an integer, got {shorten(found)}")
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
        """Whether this object, or the environment on the other side, has the attribute."""
        return self._own(name) or bool(self._codec.read_value(self._value(HasRequest(name), name), name))

    def get_wrapper_attr(self, name: str) -> Any:
        """The attribute, of this object or else of the environment: a copy where it is data; a method can be called."""
        if self._own(name):
            return getattr(self, name)
        reply = self._value(GetRequest(name), name)
        return partial(self._call, name) if reply.value == METHOD else self._codec.read_value(reply, name)

    def _call(self, name: str, /, *args: object, **kwargs: object) -> object:
        """What a method of the environment on the other side returns; arguments and result are data."""
        given = [travelling(one, f"{name} argument {place}") for place, one in enumerate(args)]
        named = {key: travelling(one, f"{name} argument {key}") for key, one in kwargs.items()}
        return self._codec.read_value(self._value(CallRequest(name, given, named), name), name)

    def set_wrapper_attr(self, name: str, value: object, *, force: bool = True) -> bool:
        """Set an attribute of the environment on the other side."""
        return bool(self._codec.read_value(self._value(SetRequest(name, travelling(value, name), force), name), name))

    # --- snapshots: the state stays there, this side holds its number ---

    def _capture(self, memo: Memo) -> "ProxyState":
        del memo
        for space in (self.observation_space, self.action_space):
            space.ensure_seeded()
        spaces = deepcopy((self.observation_space, self.action_space))
        handle = SnapshotHandle(self._link)
        return ProxyState(handle, self._last, self._seed, self._begun, deepcopy(self._streams), spaces)

    def _reinstate(self, state: "ProxyState", memo: Memo) -> None:
        del memo
        state.handle.restore(self._link)
        self._last, self._seed, self._begun = state.last, state.seed, state.begun
        self._streams = deepcopy(state.streams)
        self.observation_space.copy_rng_from(state.spaces[0])
        self.action_space.copy_rng_from(state.spaces[1])


class ProxyState(NamedTuple):
    """What a snapshot holds of an environment that is somewhere else."""

    handle: SnapshotHandle
    last: object
    seed: int | None
    begun: bool
    streams: dict[str, np.random.Generator] | None
    spaces: tuple[Space[object], Space[object]]


def _public(told: dict[str, object]) -> dict[str, object]:
    """What a link says of its new beginning, for `info`."""
    return {name: value for name, value in told.items() if not name.startswith("_")}
