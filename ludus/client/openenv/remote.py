"""An environment of OpenEnv's as any other: a session that takes our requests, and a codec that reads its JSON.

What OpenEnv's protocol does not have is refused, with the reason.
"""

import warnings
from collections.abc import Callable, Mapping
from contextlib import suppress
from math import isfinite
from typing import TypeVar

from ludus.client.connection_config import ConnectionConfig
from ludus.client.flow import Flow, TransportCall
from ludus.client.openenv.decoder import Decoded, ReplyDecoder
from ludus.client.openenv.schema import announced, space_of, undecided, with_nan, without_nulls, without_undecided
from ludus.client.openenv.session import OpenEnvSession, denied
from ludus.core import Info, Outcome
from ludus.core.env import Metadata
from ludus.core.info import UNANNOUNCED
from ludus.core.outcome import OUTCOME
from ludus.errors import (
    ChannelError,
    ClosedEnvironment,
    CodecError,
    ConnectionLost,
    ContractViolation,
    EnvError,
    InvalidAction,
    InvalidArgument,
    InvalidValue,
    RenderError,
    SessionLost,
    SnapshotError,
    shorten,
)
from ludus.remote.codec import EnvCodec
from ludus.spaces import Record, Space
from ludus.spaces.bound_models import bind_models
from ludus.spaces.kinds import is_dict
from ludus.spaces.space import Violation
from ludus.wire import decode_value
from ludus.wire.failures import clean
from ludus.wire.messages import (
    ForkRequest,
    GetRequest,
    HasRequest,
    HostReply,
    NetworkRequest,
    RenderRequest,
    ResetReply,
    ResetRequest,
    RestoreRequest,
    SetRequest,
    SnapshotRequest,
    StateRequest,
    StepReply,
    StepRequest,
    ValueReply,
)

__all__ = ["OpenEnvCodec", "OpenEnvRequests", "open_openenv"]

APART = ("done", "reward")
"""Fields of an observation's schema that travel beside it."""
OF_TOOLS = ("CallToolObservation", "ListToolsObservation")
"""Titles of observations that answer calls, in environments of MCP tools."""
MAX_SEED = 2**63 - 1
ReplyT = TypeVar("ReplyT")
LACKING: dict[object, tuple[type[Exception], str]] = {
    RenderRequest: (RenderError, "render: expected a server of Ludus, got one of OpenEnv, which has no pictures"),
    SnapshotRequest: (SnapshotError, "snapshot: expected a server of Ludus, got one of OpenEnv, which has none"),
    RestoreRequest: (SnapshotError, "restore: expected a server of Ludus, got one of OpenEnv, which has none"),
    ForkRequest: (SnapshotError, "fork: expected a server of Ludus, got one of OpenEnv, which has no forks"),
}
NO_ATTRIBUTES = "expected a server of Ludus, got one of OpenEnv, which shows no attributes; state_data() is what it has"


def open_openenv(opening: ConnectionConfig) -> Flow[tuple["OpenEnvRequests", "OpenEnvCodec"]]:
    """Open a session at a server of OpenEnv; ConnectionLost where it is none of these either."""
    hello, terms = opening.hello, opening.terms
    if hello.arguments or hello.session:
        raise InvalidArgument(
            f"{terms.where}: expected no arguments and no session, since it is a server of OpenEnv, which makes its "
            f"environment by itself, got {shorten(hello.arguments or hello.session)}; pass options to reset()"
        )
    session = OpenEnvSession(terms)
    status, schema = yield from session.fetch("GET", "/schema")
    refused = denied(status, schema, terms.where)
    if refused is not None:
        raise refused
    if status != 200 or not is_dict(schema) or "action" not in schema:
        raise ConnectionLost(f"{terms.where}: expected a server of Ludus or of OpenEnv, got neither (HTTP {status})")
    _, metadata = yield from session.fetch("GET", "/metadata")
    try:
        yield from session.open()
    except BaseException:
        yield TransportCall("close")
        raise
    codec = OpenEnvCodec(schema, metadata if is_dict(metadata) else {}, opening.models)
    session.name, session.decode = codec.name, codec.decoder.decode
    return OpenEnvRequests(session, codec.announced), codec


class OpenEnvCodec(EnvCodec[object, object]):
    """Spaces as OpenEnv's `/schema` tells them; values travel as JSON.

    A schema of Pydantic's tells what a model takes, not what its serializers write, nor that a default is of another
    type, and no server of OpenEnv's looks: a field that is not what was said is whatever JSON it is from then on.
    """

    def __init__(
        self, schema: Mapping[str, object], metadata: Mapping[str, object], models: tuple[type, ...] = ()
    ) -> None:
        self.name = clean(str(metadata.get("name") or "the environment"), 80)
        self.reserved, self.render_mode = "", None
        self.action_space = bind_models(space_of(schema.get("action")), models)
        self.observation_space = bind_models(_observations(schema), models)
        self.single_observation_space, self.single_action_space = self.observation_space, self.action_space
        self._acted = schema.get("action")
        self._undecided = undecided(self._acted)
        self._nested = is_dict(self._acted) and "$defs" in self._acted
        self._observed: object = schema.get("observation")
        self.decoder = ReplyDecoder(self.observation_space)
        """Reads the text of an answer at once, where it is what it should be."""
        self.metadata: Metadata = {
            "render_modes": [],
            "openenv": {key: value for key, value in metadata.items() if isinstance(value, str)},
        }

    def write_action(self, action: object) -> object:
        """An action as an object of JSON, without fields whose default is the server's to know."""
        try:
            fields = self.action_space.write(action, "action")
        except (CodecError, InvalidValue) as error:
            raise InvalidAction(str(error)) from error
        if self._nested or not is_dict(fields):
            return without_undecided(fields, self._acted)
        return {name: one for name, one in fields.items() if one is not None or name not in self._undecided}

    def announced(self, data: object) -> tuple[object, dict[str, object]]:
        """An observation without the fields that its `/schema` has not, and those: computed ones, or a subclass's."""
        if type(data) is Decoded:
            return data, data.more
        if not isinstance(self.observation_space, Record):
            return data, {}
        found, more = announced(data, self._observed)
        self.decoder.expect(more)
        return found, more

    def read_observation(self, data: object) -> object:
        """An observation, which is what the `/schema` says; null for a number is NaN, as Pydantic writes it."""
        if type(data) is Decoded:
            return data.take()
        try:
            return self.observation_space.read(data, "observation")
        except (CodecError, InvalidValue) as error:
            filled = without_nulls(data, self._observed)
            if filled is not data:
                with suppress(CodecError, InvalidValue):  # what else is wrong with it is said of what came
                    return with_nan(self.observation_space.read(filled, "observation"), data, filled)
            if self._open_fields(filled):
                return self.read_observation(data)
            raise ContractViolation(f"{self.name}: expected what its /schema says, got another: {error}") from error

    def _open_fields(self, data: object) -> bool:
        """Have the space take what came, in place, since it is the environment's, too; whether it can."""
        space = self.observation_space
        if not isinstance(space, Record) or not is_dict(data):
            return False
        here = data.keys() & space.fields
        wrong = {name: found for name in sorted(here) if (found := _problems(space, name, data[name]))}
        absent = [name for name in space.fields if name not in data and not space.defaults.get(name)]
        observed: dict[str, object] = self._observed if is_dict(self._observed) else {}
        properties = observed["properties"]
        known: dict[str, object] = properties if is_dict(properties) else {}
        fields: dict[str, object] = {name: {} if name in wrong else one for name, one in known.items()}
        schema = {**observed, "properties": {name: one for name, one in fields.items() if name not in absent}}
        opened = space_of(schema, without=APART)
        if not (wrong or absent) or not isinstance(opened, Record):
            return False
        if any(_problems(opened, name, data[name]) for name in wrong):
            return False  # not even JSON, or too deep
        self._observed = schema
        space.become(opened)
        self.decoder.restart()
        problems = [
            *(str(one[0]) for one in wrong.values()),
            *(f"observation.{name}: expected it, got none" for name in absent),
        ]
        warnings.warn(
            f"{self.name}: its /schema says something else than it gives, and the observation space takes that now: "
            f"{'; '.join(problems)}",
            stacklevel=2,
        )
        return True


class OpenEnvRequests:
    """A session of OpenEnv's that takes our requests.

    `done` is `terminated`, since its protocol does not tell truncation, and `info` says so. A reward that is null is 0.
    A seed is sent; whether the environment heeds it, its server does not tell.
    """

    def __init__(
        self, session: OpenEnvSession, announced: Callable[[object], tuple[object, dict[str, object]]]
    ) -> None:
        self._session, self._announced = session, announced
        self.lost, self._seed = "", -1
        self.dropped: list[int] = []
        self._seed = -1
        """The last one that was sent: streams of wrappers follow from it."""

    @property
    def name(self) -> str:
        """Of the environment, for messages."""
        return self._session.name

    @property
    def id(self) -> str:
        """Of a session that the server keeps."""
        return self._session.id

    @property
    def resumed(self) -> int:
        """How often a new connection took the place of a lost one."""
        return self._session.resumed

    @property
    def alive(self) -> bool:
        """Whether the session is there, as far as is known."""
        return not self.lost and not self._session.closed

    def ask(self, request: NetworkRequest, kind: type[ReplyT]) -> Flow[ReplyT]:
        """The reply to a request, as a server of ours would give it."""
        if self.lost:
            raise SessionLost(f"{self.lost}; reset() opens another session")
        try:
            reply = yield from self._answer(request)
        except SessionLost as error:
            self.lost = str(error)
            raise
        if isinstance(reply, kind):
            return reply
        raise ChannelError(f"{self.name}: expected a {kind.__name__}, got a {type(reply).__name__}")

    def _answer(self, request: NetworkRequest) -> Flow[HostReply]:
        if isinstance(request, StepRequest):
            return (yield from self._step(request))
        if isinstance(request, ResetRequest):
            return (yield from self._reset(request))
        if isinstance(request, StateRequest):
            return (yield from self._state())
        if isinstance(request, HasRequest):
            return ValueReply(False)
        if isinstance(request, GetRequest) and request.name == "np_random_seed":
            return ValueReply(self._seed)
        if isinstance(request, GetRequest | SetRequest):
            raise EnvError(f"{self.name}.{request.name}: {NO_ATTRIBUTES}")
        error, message = LACKING.get(type(request), (EnvError, "expected a server of Ludus, got one of OpenEnv"))
        raise error(f"{self.name}.{message}")

    def _reset(self, request: ResetRequest) -> Flow[ResetReply]:
        data = dict(decode_value(request.options, "options") or {})
        seed = decode_value(request.seed, "seed")
        if seed is not None:
            if seed > MAX_SEED:
                raise InvalidArgument(f"seed: expected at most 2**63 - 1 for a server of OpenEnv, got {seed}")
            data["seed"] = self._seed = seed
        reply = yield from self._session.ask("reset", data, "observation")
        self._seed = self._seed if seed is None else seed
        observation, info = self._seen(reply)
        return ResetReply(observation, info)

    def _seen(self, reply: Mapping[str, object]) -> tuple[object, Info]:
        """The observation and the info, which has what of the observation nobody announced."""
        observation, more = self._announced(reply.get("observation"))
        info = _info(reply)
        return observation, {**info, UNANNOUNCED: more} if more else info

    def _step(self, request: StepRequest) -> Flow[StepReply]:
        reply = yield from self._session.ask("step", request.action, "observation")
        observation, info = self._seen(reply)
        done = reply.get("done") is True
        terminated, truncated = reply.get("terminated"), reply.get("truncated")
        if not isinstance(terminated, bool) or not isinstance(truncated, bool):
            terminated, truncated = done, False
            if done:
                info["truncated"] = "not told by the server"
        return StepReply(observation, self._reward(reply, info), terminated, truncated, info)

    def _reward(self, reply: Mapping[str, object], info: Info) -> float:
        reward = reply.get("reward")
        if reward is None:
            info["reward"] = None
            return 0.0
        if not isinstance(reward, int | float) or not isfinite(reward):
            raise ContractViolation(f"{self.name} reward: expected a finite number, got {shorten(reward)}")
        return float(reward)

    def _state(self) -> Flow[ValueReply]:
        """The state of the episode; what is private in it, its server does not tell apart."""
        return ValueReply((yield from self._session.ask("state", None, "state")))

    def reopen(self) -> Flow[str]:
        """Open another session in place of the one that was lost; why that was."""
        if self._session.closed:
            raise ClosedEnvironment(f"{self.name}: expected an open environment, got a closed one; connect again")
        why = self.lost
        yield from self._session.open()
        self.lost = ""
        return why

    def close(self) -> Flow[None]:
        """End the session."""
        return self._session.close()


def _problems(space: Record, name: str, value: object) -> list[Violation]:
    """What is wrong with the value of a field."""
    found: list[Violation] = []
    space.fields[name].coerce(value, f"observation.{name}", found)
    return found


def _observations(schema: Mapping[str, object]) -> Space[object]:
    """The space of observations: typed where resets and steps give the same, and all of its fields are known."""
    observed, first = schema.get("observation"), schema.get("reset_observation")
    if is_dict(observed) and observed.get("title") in OF_TOOLS:
        return space_of(None)  # what a call gives; a reset gives something else, and no schema says what
    space = space_of(observed, without=APART)
    if first is not None and first != observed and space_of(first, without=APART) != space:
        return space_of(None)
    if isinstance(space, Record) and set(space.fields) <= {"metadata"}:
        return space_of(None)  # the base class, whose environments give more than it says
    return space


def _info(reply: Mapping[str, object]) -> Info:
    found = reply.get("info")
    info: Info = dict(found) if is_dict(found) else {}
    metadata = reply.get("metadata")
    if is_dict(metadata):
        info["metadata"] = metadata
        outcome = metadata.get(OUTCOME)
        if (
            OUTCOME not in info and isinstance(outcome, str) and outcome in {*Outcome}
        ):  # others mean something else by it
            info[OUTCOME] = outcome
    return info
