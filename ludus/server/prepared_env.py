"""`PreparedEnv`: environments that take seconds to import, each session a fork of one process that imported them."""

import os
from collections.abc import Mapping
from threading import Lock
from typing import cast

import msgspec

from ludus.core import EpisodePlan
from ludus.core.env import AnyEnv
from ludus.errors import InvalidArgument, listing
from ludus.registry.arguments import LIMITS
from ludus.registry.make import limited
from ludus.registry.resolution import Target
from ludus.sandbox import Sandbox
from ludus.sandbox.environment import ForkServer
from ludus.server.config import ServerConfig
from ludus.server.served_env import MakeOptions, ServedEnv

__all__ = ["FixedEnv", "PreparedEnv"]


class FixedEnv(ServedEnv):
    """An environment that an application makes by itself: of its arguments, callers choose none.

    >>> FixedEnv("GridWorld-v0").make(arguments={"size": 3})
    Traceback (most recent call last):
    ludus.errors.InvalidArgument: GridWorld-v0: expected no arguments, since its application makes it, got size; ...
    """

    def make(
        self,
        *,
        lanes: int = 0,
        autoreset_mode: str = "NextStep",
        arguments: Mapping[str, object] | None = None,
        episodes: EpisodePlan | None = None,
    ) -> AnyEnv:
        """An instance, or a batch; `arguments` are limits alone."""
        given = [name for name in arguments or () if name not in LIMITS]
        if given:
            raise InvalidArgument(
                f"{self.name}: expected no arguments, since its application makes it, got {listing(given)}; pass "
                "options to reset()"
            )
        return super().make(lanes=lanes, autoreset_mode=autoreset_mode, arguments=arguments, episodes=episodes)


class PreparedEnv(FixedEnv):
    """An environment whose sessions share the process that they are forked from, and no state.

    Limits of memory hold for each session. What `--isolation sandbox` gives, a boundary for each, forks do not: there
    each session starts a process of its own.

    >>> served = PreparedEnv("CartPole-v1", config=ServerConfig(isolation="process"))
    >>> with served.make() as env:
    ...     env.reset(seed=0)[0].shape
    (4,)
    """

    _server: ForkServer | None = None
    _owner = 0
    """The process that started it: a worker that was forked since has one of its own."""

    def __init__(
        self, target: Target, name: str | None = None, *, config: ServerConfig | None = None, version: str = ""
    ) -> None:
        super().__init__(target, name, config=config, version=version)
        self._starting = Lock()

    def make(
        self,
        *,
        lanes: int = 0,
        autoreset_mode: str = "NextStep",
        arguments: Mapping[str, object] | None = None,
        episodes: EpisodePlan | None = None,
    ) -> AnyEnv:
        """An instance in a fork, or a batch in a process; blocks while it is made."""
        limits = cast("MakeOptions", dict(arguments or {}))
        if lanes or any(name not in LIMITS for name in limits):
            return super().make(lanes=lanes, autoreset_mode=autoreset_mode, arguments=arguments, episodes=episodes)
        spec = limited(self.spec, limits.get("max_episode_steps"), limits.get("disable_env_checker"))
        return self._running().spawn(spec, memory=self._box.policy.limits.memory)

    @property
    def _box(self) -> Sandbox:
        if not isinstance(self._isolation, Sandbox):
            raise InvalidArgument(f"{self.name}: expected isolation for the process to fork, got none")
        return self._isolation

    def _running(self) -> ForkServer:
        """The process that sessions are forked from, started by the first of them."""
        with self._starting:
            if self._server is None or self._owner != os.getpid():
                policy = self._box.policy
                shared = msgspec.structs.replace(policy.limits, memory=None, processes=None)
                self._server = ForkServer(self.spec, None, self._box.with_limits(shared))
                self._owner = os.getpid()
            return self._server
