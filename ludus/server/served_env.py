"""`ServedEnv`: an environment that a server offers: what it is, and how an instance of it is made."""

from collections.abc import Callable, Iterable, Mapping
from threading import Lock
from typing import NamedTuple, TypedDict, cast

from ludus.core import EnvSpec, EpisodePlan
from ludus.core.env import AnyEnv, Metadata
from ludus.errors import InvalidArgument, RenderError, shorten
from ludus.registry import make, make_vec
from ludus.registry.arguments import LIMITS
from ludus.registry.foreign_code import named_by_caller
from ludus.registry.resolution import Target, resolve
from ludus.sandbox import Deadlines, Mount, Sandbox
from ludus.sandbox.environment.sandboxed_env import SandboxedEnv
from ludus.server.config import ServerConfig
from ludus.spaces import Space
from ludus.tools import Tool, action_tools
from ludus.tools.calls import Calls
from ludus.wire import encode_value, write_space

__all__ = ["Description", "MakeOptions", "ServedEnv", "describe"]

RESET_DEADLINE_FACTOR = 5.0
"""How many times as long as a step a reset, or the making of an environment, may take."""
RENDER_MODE = "rgb_array"
OF_ANY = (*LIMITS, "render_mode")
"""What any environment may be given."""
BOUNDARIES = ("sandbox", "container")
"""Isolation in which files are not the server's."""


class MakeOptions(TypedDict, total=False):
    """Those of a caller's arguments that are `make`'s own, which checks them."""

    max_episode_steps: int | None
    disable_env_checker: bool | None


class Description(NamedTuple):
    """What is to be known of an environment before there is a session."""

    observation_space: Space[object]
    action_space: Space[object]
    metadata: Metadata
    render_mode: str | None
    name: str
    """Of the innermost class."""
    doc: str

    @property
    def spaces(self) -> tuple[dict[str, object], dict[str, object]]:
        """Observation and action space as data."""
        return write_space(self.observation_space), write_space(self.action_space)

    @property
    def tools(self) -> dict[str, Tool]:
        """The tools, where actions are calls."""
        return self.action_space.tools if isinstance(self.action_space, Calls) else {}


class ServedEnv:
    """An environment under a name. Its spec and isolation are resolved once, when the server starts.

    >>> served = ServedEnv("CartPole-v1")
    >>> served.name, served.isolation, served.description().name
    ('CartPole-v1', 'none', 'CartPole')
    """

    def __init__(
        self,
        target: Target,
        name: str | None = None,
        *,
        arguments: Mapping[str, object] | None = None,
        config: ServerConfig | None = None,
        version: str = "",
    ) -> None:
        self.config = ServerConfig() if config is None else config
        self.version = version
        """As its manifest says; of an id, the number at its end."""
        resolved = resolve(target, self.config.isolation, arguments or {})
        self.spec: EnvSpec = resolved.spec
        self.name = name or self.spec.id
        if not version and self.spec.version is not None:
            self.version = f"{self.spec.version}.0.0"
        self.isolated = resolved.sandbox is not None
        self.isolation = "none" if self.spec.isolation_record is None else self.spec.isolation_record.isolation
        self.arguments = dict(arguments or {})
        self._isolation: Sandbox | str = (
            "none"
            if resolved.sandbox is None
            else resolved.sandbox.with_deadlines(self._deadlines()).with_environment(self.config.variables)
        )
        self._resolved = resolved
        self._described: Description | None = None
        self._agent_tools: dict[str, Tool] | None = None
        self._draws = True
        self._lock = Lock()

    def show(self, folders: Iterable[str]) -> None:
        """Have its sandboxes show these folders, read-only: whoever serves it named them, and not its code."""
        if isinstance(self._isolation, Sandbox):
            self._isolation = self._isolation.with_mounts([Mount(one) for one in folders])

    # --- making ---

    @property
    def creator(self) -> Callable[..., object]:
        """The class or function that makes it; imported here, so only of what is not isolated."""
        return self._resolved.creator.call

    def make(
        self,
        *,
        lanes: int = 0,
        autoreset_mode: str = "NextStep",
        arguments: Mapping[str, object] | None = None,
        episodes: EpisodePlan | None = None,
    ) -> AnyEnv:
        """An instance, or a batch of `lanes`; blocks while it is made."""
        if not 0 <= lanes <= self.config.max_lanes:
            raise InvalidArgument(f"lanes: expected 0 to {self.config.max_lanes}, got {lanes}")
        given = {**self.arguments, **self._allowed(arguments or {})}
        limits = cast("MakeOptions", {name: given.pop(name) for name in self._limits(given)})
        if not self.isolated:  # what it gives is held to its spaces by the host, at every step
            limits.setdefault("disable_env_checker", True)
        if lanes:
            return make_vec(
                self.spec,
                lanes,
                autoreset_mode=autoreset_mode,
                episodes=episodes,
                isolation=self._isolation,
                kwargs=given,
                **limits,
            )
        if "render_mode" not in given and RENDER_MODE in self._modes():
            try:
                return make(
                    self.spec, isolation=self._isolation, kwargs={**given, "render_mode": RENDER_MODE}, **limits
                )
            except RenderError:  # it names the mode, and does not take it: then it is served without pictures
                self._draws = False
        return make(self.spec, isolation=self._isolation, kwargs=given, **limits)

    def _allowed(self, arguments: Mapping[str, object]) -> Mapping[str, object]:
        """A caller's arguments: they go to the constructor, and say nothing of where or how an environment runs."""
        chosen = {name: value for name, value in _checked(arguments).items() if name not in OF_ANY}
        own = self.spec.replace(kwargs={**self.spec.kwargs, **self.arguments})
        confined = self.isolation in BOUNDARIES
        if chosen and (named := named_by_caller(own, chosen, confined=confined)):
            cure = "" if confined else " (--isolation sandbox lets them name its own files)"
            raise InvalidArgument(
                f"arguments: expected none that name code, a file or an address at the server, got {shorten(named)}; "
                f"whoever serves {self.name} gives such{cure}"
            )
        return arguments

    def _limits(self, given: Mapping[str, object]) -> list[str]:
        """Those of a caller's arguments that are `make`'s own; what the constructor takes by that name is its own."""
        names = [name for name in LIMITS if name in given]
        if not names or self.isolated:
            return names
        return [name for name in names if name not in self._resolved.creator.parameters]

    def _modes(self) -> list[str]:
        """The render modes; known from the second instance on."""
        if self._described is not None and self._draws:
            return list(self._described.metadata.get("render_modes") or [])
        return []

    def _deadlines(self) -> Deadlines:
        step = self.config.deadline
        return Deadlines(step=step, other=step, reset=RESET_DEADLINE_FACTOR * step, start=RESET_DEADLINE_FACTOR * step)

    # --- what it is ---

    @property
    def described(self) -> Description | None:
        """The description, if it was made; does not wait for it."""
        return self._described

    def description(self) -> Description:
        """Spaces and metadata, from an instance made for the purpose, once; blocks the first time."""
        if self._described is not None:
            return self._described
        with self._lock:
            if self._described is None:
                with self.make() as env:
                    self._described = describe(env)
            return self._described

    def agent_tools(self) -> dict[str, Tool]:
        """What agents that can only call functions call: tools, or typed actions as tools; blocks the first time."""
        if self._agent_tools is None:
            self._agent_tools = action_tools(self.description().action_space)
        return self._agent_tools


def _checked(arguments: Mapping[str, object]) -> Mapping[str, object]:
    """Arguments by name, none of which opens a window."""
    for name in arguments:
        if not name.isidentifier():
            raise InvalidArgument(f"arguments: expected those of the environment's constructor, got {shorten(name)}")
    if arguments.get("render_mode") == "human":
        raise InvalidArgument("arguments['render_mode']: expected one without a window, got 'human'")
    return arguments


def describe(env: AnyEnv) -> Description:
    """What is to be known of an instance."""
    metadata = encode_value(dict(env.metadata), "metadata")
    inner = env.unwrapped
    if isinstance(inner, SandboxedEnv):  # what is in a sandbox is not loaded here: its spec tells of it
        doc, kind = "" if env.spec is None else env.spec.description, inner.name
    else:
        doc, kind = getattr(type(inner), "__doc__", None), type(inner).__name__
    name = "".join(char for char in kind if char.isprintable())[:80]
    return Description(env.observation_space, env.action_space, metadata, env.render_mode, name, doc or "")
