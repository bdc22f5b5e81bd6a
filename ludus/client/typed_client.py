"""`TypedClient`: the typed style, `result.observation.x`, for every environment, with no class to write."""

from collections.abc import Mapping
from typing import Any, Self, Unpack

from ludus.client.connection import ConnectOptions, connect
from ludus.client.fields import Fields, merged
from ludus.client.flow import Opener
from ludus.client.result import StepResult
from ludus.core import Info
from ludus.core.env import AnyEnv
from ludus.seeding import Seed
from ludus.spaces import Dict, Record
from ludus.spaces.kinds import is_dict

__all__ = ["TypedClient"]


class TypedClient:
    """A session in the typed style. Actions are instances of any class with the right fields, dictionaries or keywords.

    >>> from ludus.server.protocols.memory import LocalServer
    >>> with LocalServer("open/Echo-v0") as server, TypedClient(server) as client:
    ...     _ = client.reset()
    ...     result = client.step(message="hello")
    >>> result.observation.echoed_message, result.reward, result.done
    ('hello', 0.5, False)
    """

    def __init__(
        self,
        url: str | Opener,
        *,
        env: str = "",
        kwargs: Mapping[str, object] | None = None,
        token: str | None = None,
        timeout: float = 120.0,
        **options: Unpack[ConnectOptions],
    ) -> None:
        self.env: AnyEnv = connect(url, env=env, kwargs=kwargs, token=token, timeout=timeout, **options)
        """The same session as an environment."""

    def reset(self, *, seed: Seed | None = None, **options: object) -> StepResult[Any]:
        """Begin an episode; what is given beside the seed are the reset's options."""
        observation, info = self.env.reset(seed=seed, options=options or None)
        return StepResult(_seen(observation), terminated=False, truncated=False, info=info, metadata=_metadata(info))

    def step(self, action: object = None, **fields: object) -> StepResult[Any]:
        """Advance by an action: a value, a record, a dictionary, or its fields by name."""
        given = merged(action, fields)
        if is_dict(given) and set(given) == {"action"} and not isinstance(self.env.action_space, Record | Dict):
            given = given["action"]
        step = self.env.step(given)
        observation, reward, terminated, truncated, info = step
        done = bool(terminated or truncated)
        return StepResult(_seen(observation), reward, done, terminated, truncated, info, _metadata(info))

    def state(self, *, private: bool = False) -> Fields:
        """What the environment shows of its episode."""
        return Fields(self.env.state_data(private=private))

    def close(self) -> None:
        """Close the session; harmless twice."""
        self.env.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *error: object) -> None:
        self.close()


def _seen(observation: object) -> object:
    """An observation whose parts are attributes."""
    return Fields(observation) if is_dict(observation) and type(observation) is dict else observation


def _metadata(info: Info) -> Info | None:
    found = info.get("metadata")
    return found if is_dict(found) else None
