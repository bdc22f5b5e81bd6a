"""`OpenEnvRemote`: an environment of OpenEnv as talks. What its protocol does not have is refused, with the reason."""

from math import isfinite
from typing import Any

from ludus.client.failing import clean
from ludus.client.fields import to_action
from ludus.client.openenv.schema import space_of
from ludus.client.openenv.session import OpenEnvSession, denied
from ludus.client.opening import Opening
from ludus.client.talk import Effect, Talk
from ludus.core import EnvSpec, Info, Step
from ludus.errors import (
    CodecError,
    ConnectionLost,
    ContractViolation,
    InvalidArgument,
    InvalidValue,
    RenderError,
    SnapshotError,
    shorten,
)
from ludus.seeding import Seed, as_seed
from ludus.spaces import Record, Space

__all__ = ["OpenEnvRemote", "open_openenv"]

APART = ("done", "reward")
"""Fields of an observation's schema that travel beside it."""
LARGEST_SEED = 2**63 - 1


def open_openenv(opening: Opening) -> Talk["OpenEnvRemote"]:
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
    if status != 200 or not isinstance(schema, dict) or "action" not in schema:
        raise ConnectionLost(f"{terms.where}: expected a server of Ludus or of OpenEnv, got neither (HTTP {status})")
    _, metadata = yield from session.fetch("GET", "/metadata")
    try:
        yield from session.open()
    except BaseException:
        yield Effect("close")
        raise
    return OpenEnvRemote(session, schema, metadata if isinstance(metadata, dict) else {})


class OpenEnvRemote:
    """The episode of an environment of OpenEnv.

    `done` is `terminated`, since its protocol does not tell truncation, and `info` says so. A reward that is null is 0.
    A seed is sent; whether the environment heeds it, its server does not tell.
    """

    render_mode: str | None = None
    spec: EnvSpec | None = None

    def __init__(self, session: OpenEnvSession, schema: dict[str, Any], metadata: dict[str, Any]) -> None:
        self.session, self.seed = session, None
        session.name = clean(str(metadata.get("name") or "the environment"), 80)
        self.action_space: Space[Any] = space_of(schema.get("action"))
        self.observation_space: Space[Any] = _observations(schema)
        self.single_observation_space, self.single_action_space = self.observation_space, self.action_space
        self._undecided = _undecided(schema.get("action"))
        self.metadata: dict[str, Any] = {
            "render_modes": [],
            "openenv": {key: value for key, value in metadata.items() if isinstance(value, str)},
        }

    @property
    def name(self) -> str:
        """Of the environment, for messages."""
        return self.session.name

    def reset(self, seed: Seed | None, options: dict[str, Any] | None) -> Talk[tuple[Any, Info]]:
        """Begin an episode; options travel beside the seed."""
        data = dict(options or {})
        if seed is not None:
            asked = as_seed(seed)
            if asked > LARGEST_SEED:
                raise InvalidArgument(f"seed: expected at most 2**63 - 1 for a server of OpenEnv, got {asked}")
            data["seed"] = self.seed = asked
        reply = yield from self.session.ask("reset", data, "observation")
        return self._observation(reply), _info(reply)

    def step(self, action: Any) -> Talk[Step[Any]]:
        """Advance the episode."""
        value = to_action(self.action_space, action)
        fields = self.action_space.encode(value)
        data = {name: one for name, one in fields.items() if one is not None or name not in self._undecided}
        reply = yield from self.session.ask("step", data, "observation")
        info, done = _info(reply), reply.get("done") is True
        terminated, truncated = reply.get("terminated"), reply.get("truncated")
        if not isinstance(terminated, bool) or not isinstance(truncated, bool):
            terminated, truncated = done, False
            if done:
                info["truncated"] = "not told by the server"
        return Step(self._observation(reply), self._reward(reply, info), terminated, truncated, info)

    def _reward(self, reply: dict[str, Any], info: Info) -> float:
        reward = reply.get("reward")
        if reward is None:
            info["reward"] = None
            return 0.0
        if not isinstance(reward, int | float) or not isfinite(reward):
            raise ContractViolation(f"{self.name} reward: expected a finite number, got {shorten(reward)}")
        return float(reward)

    def _observation(self, reply: dict[str, Any]) -> Any:
        data = reply.get("observation")
        try:
            found = self.observation_space.decode(data)
            self.observation_space.check(found, "observation")
        except (CodecError, InvalidValue) as error:
            if not isinstance(self.observation_space, Record) or not isinstance(data, dict):
                raise ContractViolation(f"{self.name}: {error}") from error
            raise ContractViolation(f"{self.name}: expected what its /schema says, got another: {error}") from error
        return found

    def state(self, *, private: bool = False) -> Talk[dict[str, Any]]:
        """The state of the episode; what is private in it, its server does not tell apart."""
        del private
        return (yield from self.session.ask("state", None, "state"))

    # --- what there is not ---

    def render(self) -> Talk[Any]:
        """Refused."""
        raise RenderError(f"{self.name}.render: expected a server of Ludus, got one of OpenEnv, which has no pictures")
        yield Effect("close")  # makes it a talk

    def snapshot(self, line: Any = None) -> Talk[Any]:
        """Refused."""
        raise SnapshotError(f"{self.name}.snapshot: expected a server of Ludus, got one of OpenEnv, which has none")
        yield Effect("close")

    def restore(self, handle: Any) -> Talk[None]:
        """Refused."""
        raise SnapshotError(f"{self.name}.restore: expected a server of Ludus, got one of OpenEnv, which has none")
        yield Effect("close")

    def fork(self) -> Talk[str]:
        """Refused."""
        raise SnapshotError(f"{self.name}.fork: expected a server of Ludus, got one of OpenEnv, which has no forks")
        yield Effect("close")

    def close(self) -> Talk[None]:
        """End the session."""
        return self.session.close()


def _observations(schema: dict[str, Any]) -> Space[Any]:
    """The space of observations: typed where resets and steps give the same, and all of its fields are known."""
    observed, first = schema.get("observation"), schema.get("reset_observation")
    space = space_of(observed, without=APART)
    if first is not None and first != observed and space_of(first, without=APART) != space:
        return space_of(None)
    if isinstance(space, Record) and set(space.fields) <= {"metadata"}:
        return space_of(None)  # the base class, whose environments give more than it says
    return space


def _undecided(schema: Any) -> frozenset[str]:
    """The fields that may be left out, and whose default is the server's to know."""
    fields: Any = schema.get("properties") if isinstance(schema, dict) else None
    if not isinstance(fields, dict):
        return frozenset()
    known = {name for name, one in fields.items() if isinstance(one, dict) and "default" in one}
    return frozenset(fields.keys() - known - set(schema.get("required") or ()))


def _info(reply: dict[str, Any]) -> Info:
    found = reply.get("info")
    info: Info = dict(found) if isinstance(found, dict) else {}
    metadata = reply.get("metadata")
    if isinstance(metadata, dict):
        info["metadata"] = metadata
    return info
