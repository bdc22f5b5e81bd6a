"""Subjects: an environment to check, as something that makes fresh ones, or as the one instance there is."""

import math
import time
from collections.abc import Callable
from contextlib import suppress
from functools import cached_property, partial
from typing import Any, NamedTuple

from ludus.client.remote_env import RemoteEnv
from ludus.core import Env, EnvSpec, Info, Wrapper
from ludus.core.entry_point import import_named, load_entry_point, member
from ludus.core.env import AnyEnv, is_env
from ludus.core.legacy import accepts
from ludus.errors import InvalidType, shorten
from ludus.registry import make, spec
from ludus.registry.resolution import resolve
from ludus.registry.trust import required_before_import
from ludus.seeding import Seed
from ludus.spaces.kinds import class_of
from ludus.testing.global_random import global_random
from ludus.testing.history import HistoryEvent, Watch, play, played
from ludus.testing.returned import Keeper, Kept
from ludus.testing.rule import Unchecked

__all__ = ["Subject", "Target"]

Target = AnyEnv | type[AnyEnv] | Callable[..., AnyEnv] | EnvSpec | str
"""An environment, its class, a function that makes one, its spec, its id or `module:Class`."""

FEWEST_STEPS = 10
MAX_HISTORY_S = 2.0
"""Seconds of a history: many are played, so that those of an environment with slow steps have fewer of them."""
ONE_INSTANCE = "only one instance was given: pass the class, a function that makes it, or its id"


class Played(NamedTuple):
    """One history, and what became of the values that its calls returned and were given."""

    events: list[HistoryEvent]
    written: str
    """The first step that wrote into its action, in words."""
    observations: Kept
    infos: Kept


class TooSlow(Exception):
    """A history takes too long; `steps` are those that it had time for."""

    def __init__(self, steps: int) -> None:
        super().__init__(steps)
        self.steps = steps


class Clock:
    """Watches a history, and stops it when its time is over."""

    def __init__(self) -> None:
        self._until, self._seen = time.monotonic() + MAX_HISTORY_S, 0

    def __call__(self, observation: object, info: Info) -> None:
        """Count what is seen."""
        self._seen += 1
        if self._seen > FEWEST_STEPS and time.monotonic() > self._until:
            raise TooSlow(self._seen - 1)


class Subject:
    """What is checked, with the seed and the number of steps it is checked with; `full` bounds no rule by its time."""

    def __init__(self, target: Target, *, seed: int = 0, steps: int = 100, full: bool = False) -> None:
        self.seed, self.steps, self.full = seed, steps, full
        self.asked_steps = steps
        self.name = _name(target)
        found = _resolved(target) if isinstance(target, str) else target
        self.instance = found if is_env(found) and not _remakable(found) else None
        self._make, self._creator = (None, None) if self.instance is not None else _makers(found)
        self._made: list[AnyEnv] = []

    # --- environments ---

    def make(self, **arguments: object) -> AnyEnv:
        """A new environment; raises Unchecked where there is only one instance."""
        if self._make is None:
            raise Unchecked(ONE_INSTANCE)
        env = self._make(**arguments)
        self._made.append(env)
        if self.name == "<lambda>":
            kind = class_of(env)
            self.name = str(env) if issubclass(kind, Wrapper) else kind.__name__
        return env

    def fresh(self, **arguments: object) -> AnyEnv:
        """A new environment, made under pinned global generators."""
        with global_random():
            return self.make(**arguments)

    def env(self) -> AnyEnv:
        """An environment to work with: a new one where possible, else the one that was given."""
        return self.fresh() if self.instance is None else self.instance

    @property
    def is_class(self) -> bool:
        """Whether environments are made by a class, which declares its arguments, rather than by any function."""
        return isinstance(self._creator, type)

    @property
    def takes_render_mode(self) -> bool:
        """Whether environments can be made with `render_mode=…`."""
        if self._make is None or self._creator is not None:
            return self._make is not None and accepts(self._creator, "render_mode")
        return self._tried_render_mode

    @cached_property
    def _tried_render_mode(self) -> bool:
        """The same of code that must not be loaded here: it is made so."""
        modes = [mode for mode in self.env().metadata.get("render_modes") or () if mode != "human"]
        try:
            return bool(modes) and self.fresh(render_mode=modes[0]).render_mode == modes[0]
        except Exception:
            return False

    def tidy(self) -> None:
        """Close what was made; whether closing works is a rule of its own."""
        while self._made:
            with suppress(Exception):
                self._made.pop().close()

    # --- histories ---

    def deadline(self, histories: int) -> float:
        """When the time of so many histories is over, by the monotonic clock; never where all is asked for."""
        return math.inf if self.full else time.monotonic() + histories * MAX_HISTORY_S

    @property
    def history(self) -> list[HistoryEvent]:
        """The history of the seed, played once and looked at by many rules; where steps are slow, all get shorter."""
        return self.played.events

    @cached_property
    def played(self) -> Played:
        """That history, with what became of the values that its calls returned and were given."""
        try:
            return self._played(None if self.full else Clock())
        except TooSlow as slow:
            self.steps = slow.steps
            return self._played(None)

    def _played(self, clock: Clock | None) -> Played:
        keeper = Keeper()

        def watch(observation: object, info: Info) -> None:
            keeper(observation, info)
            if clock is not None:
                clock(observation, info)

        player = played(self.env(), seed=self.seed, steps=self.steps, watch=watch)
        events = player.events
        labels = [event.label for event in events]
        # Judged while the environment is open: closed, it may take the memory of its arrays with it.
        return Played(
            events,
            player.written,
            keeper.kept("observation", labels, [event.observation for event in events]),
            keeper.kept("info", labels, [event.info for event in events]),
        )

    def play(
        self, env: AnyEnv, *, seed: Seed | None = None, steps: int | None = None, watch: Watch | None = None
    ) -> list[HistoryEvent]:
        """The history of `seed`, by default the subject's own."""
        seed = self.seed if seed is None else seed
        return play(env, seed=seed, steps=self.steps if steps is None else steps, watch=watch)


def _resolved(text: str) -> object:
    """`module:Class` is the bare class, whatever it is registered as; an id is what `make` gives.

    Where trust asks for isolation, nothing is loaded here: it is what `make` gives, too.
    """
    module, colon, path = text.partition(":")
    if colon and module and path and required_before_import(text).isolation == "none":
        found = import_named(module, text)
        if hasattr(found, path.partition(".")[0]):
            return member(found, path, text)
    return spec(text)


def _remakable(env: AnyEnv) -> bool:
    """Whether the spec of an environment makes the same again: it may name code that cannot be found by name.

    What a server says of its environment is no reason to run anything here.
    """
    if env.spec is None or env.batch_shape or isinstance(env.unwrapped, RemoteEnv):
        return False
    try:
        with make(env.spec) as again:
            return str(again) == str(env)
    except Exception:
        return False


def _makers(found: object) -> tuple[Callable[..., Any], Callable[..., object] | None]:
    """What makes an environment, and the class or function under it that the arguments go to, if it may be loaded."""
    if is_env(found) and found.spec is not None:
        return partial(make, found.spec), _creator(found.spec)
    if isinstance(found, EnvSpec):
        # The passive checker would stop at the first breach; here all are wanted.
        return partial(_unchecked, found), _creator(found)
    if callable(found):
        return found, found
    expected = "an environment, its class, a function that makes one, a spec or an id"
    raise InvalidType(f"check_env: expected {expected}, got {shorten(found)}")


def _creator(spec: EnvSpec) -> Callable[..., object] | None:
    """What a spec names, loaded; None where it runs in isolation only."""
    return None if resolve(spec).sandbox is not None else load_entry_point(spec.entry_point or "", spec.id)


def _unchecked(spec: EnvSpec, **arguments: object) -> AnyEnv:
    return make(spec, disable_env_checker=True, kwargs=arguments)


def _name(target: object) -> str:
    """What `target` is called in a report."""
    if isinstance(target, str):
        return target
    if isinstance(target, Env):
        return type(target.unwrapped).__name__ if target.spec is None else target.spec.id
    if isinstance(target, EnvSpec):
        return target.id
    return str(getattr(target, "__name__", shorten(target, 40)))
