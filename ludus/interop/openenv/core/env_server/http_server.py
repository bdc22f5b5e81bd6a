"""`create_fastapi_app`: the application of one environment, as the guide makes it; ours behind that name."""

from collections.abc import Callable
from copy import deepcopy
from typing import Any, NamedTuple

from ludus.core import Env
from ludus.interop.openenv.source import from_openenv
from ludus.server.app import create_app as app_of_targets
from ludus.server.config import ServerConfig
from ludus.server.served_env import ServedEnv

__all__ = ["Source", "create_app", "create_fastapi_app"]


class Source(NamedTuple):
    """What an application was made of."""

    make: Callable[[], Any]
    models: dict[str, Any]


def create_fastapi_app(env: Any, action_cls: type, observation_cls: type, **options: Any) -> Any:
    """An ASGI application for uvicorn: the environment with every protocol and page of a Ludus server.

    `env` is a class, a function, or an instance as in the guide, of which each session has a copy of its own.
    `max_concurrent_envs`, `env_name` and `mode` are heeded; anything else that OpenEnv takes is about its own pages.

    >>> from ludus.interop.openenv.core.env_server import Action, Environment, Observation, State
    >>> class Silent(Environment):
    ...     def reset(self): return Observation()
    ...     def step(self, action): return Observation()
    ...     @property
    ...     def state(self): return State()
    >>> create_fastapi_app(Silent(), Action, Observation).state.server.sessions.served().name
    'Silent'
    """
    make: Callable[[], Any] = env if callable(env) else lambda: deepcopy(env)
    kind = env if isinstance(env, type) else type(env)

    def created() -> Env[Any, Any]:
        return from_openenv(make(), action=action_cls, observation=observation_cls)

    settings = {"max_sessions": options.get("max_concurrent_envs"), "mode": options.get("mode")}
    config = ServerConfig(**{name: one for name, one in settings.items() if one is not None})
    name = options.get("env_name") or getattr(env, "__name__", None) or kind.__name__
    app = app_of_targets(ServedEnv(created, name, config=config), config=config, hosts=None)
    app.state.openenv_source = Source(make, {"action": action_cls, "observation": observation_cls})
    return app


create_app = create_fastapi_app
