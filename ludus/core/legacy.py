"""The legacy API: environments and loops of the old API (one `done` flag, `seed()`), both ways.

An old environment becomes an `Env` by `from_legacy`; an `Env` serves an old loop by `to_legacy`.
"""

from collections.abc import Callable, Sequence
from inspect import Parameter, signature
from typing import Any, Generic, Protocol, TypeVar, cast

import numpy as np

from ludus.core.env import AnyEnv, Env, Metadata
from ludus.core.options import Options
from ludus.core.step import Info, Step
from ludus.errors import ContractViolation, InvalidArgument, InvalidSeed, InvalidType, shorten
from ludus.seeding import Seed, as_seed
from ludus.spaces import Space
from ludus.spaces.kinds import Array, is_dict, is_list, is_tuple
from ludus.spaces.space import is_space

__all__ = ["LegacyEnv", "from_done_step", "from_legacy", "to_done_step", "to_legacy"]

ObsT = TypeVar("ObsT")
ActT = TypeVar("ActT")
CUT = "TimeLimit.truncated"
"""The info key by which the old API told a cut episode from a finished one."""


def from_done_step(result: Sequence[Any]) -> Step[Any]:
    """Five values from the old four, of one environment or a batch; five pass through. The info given is left alone.

    >>> from_done_step(("s", 1.0, True, {"TimeLimit.truncated": True}))
    Step(observation='s', reward=1.0, terminated=False, truncated=True, info={})
    """
    if len(result) == 5:
        return Step(*result)
    if len(result) != 4:
        raise ContractViolation(
            f"step: expected four values (observation, reward, done, info) or five, got {len(result)}"
        )
    observation, reward, done, info = result
    if is_list(info):
        infos = cast(list[Info], info)
        cut = np.array([bool(one.get(CUT, False)) for one in infos])
        rest: Any = [{key: value for key, value in one.items() if key != CUT} for one in infos]
    else:
        cut = info.get(CUT, False)
        rest = {key: value for key, value in info.items() if key != CUT}
    if isinstance(done, np.ndarray | list):
        done = np.asarray(done, dtype=np.bool_)
        cut = np.broadcast_to(cut, done.shape)
        return Step(observation, reward, done & ~cut, done & cut, rest)
    return Step(observation, reward, bool(done and not cut), bool(done and cut), rest)


def to_done_step(step: tuple[Any, ...]) -> tuple[Any, Any, Any, Info]:
    """The old four values from the five, of one environment or a batch; four pass through, the info is left alone.

    >>> to_done_step(Step.truncation("s", 1.0))
    ('s', 1.0, True, {'TimeLimit.truncated': True})
    """
    if len(step) == 4:
        return step  # type: ignore[return-value]
    if len(step) != 5:
        raise ContractViolation(
            f"step: expected five values (observation, reward, terminated, truncated, info) or four, got {len(step)}"
        )
    observation, reward, terminated, truncated, info = step
    if isinstance(terminated, np.ndarray):
        ended: Array = terminated | truncated
        return observation, reward, ended, ({**info, CUT: truncated & ~terminated} if ended.any() else info)
    done = bool(terminated or truncated)
    return observation, reward, done, ({**info, CUT: bool(truncated and not terminated)} if done else info)


def from_legacy(
    env: object, *, observation_space: Space[object] | None = None, action_space: Space[object] | None = None
) -> AnyEnv:
    """An environment of the old API as an `Env`.

    Its spaces must be Ludus's; pass them where the old environment has another library's.
    """
    return _FromLegacy(
        env,
        getattr(env, "observation_space", None) if observation_space is None else observation_space,
        getattr(env, "action_space", None) if action_space is None else action_space,
    )


def _space(name: str, given: object) -> Space[object]:
    if not is_space(given):
        raise InvalidType(
            f"from_legacy {name}: expected a ludus Space, got {shorten(given)}; pass {name}=… to from_legacy"
        )
    return given


class _OldEnv(Protocol):
    """What an environment of the old API may have."""

    reset: Callable[..., object]
    step: Callable[[object], Sequence[object]]
    render: Callable[..., object]
    seed: Callable[[int], object]
    close: Callable[[], object]


class _FromLegacy(AnyEnv):
    def __init__(self, env: object, observation_space: object, action_space: object) -> None:
        self.env = cast(_OldEnv, env)
        self.observation_space = _space("observation_space", observation_space)
        self.action_space = _space("action_space", action_space)
        metadata: Metadata = getattr(env, "metadata", {})
        modes: list[str] = metadata.get("render_modes", metadata.get("render.modes", []))
        self.metadata = {**metadata, "render_modes": list(modes)}
        self.render_mode = getattr(env, "render_mode", None)

    def reset(self, *, seed: Seed | None = None, options: Options | None = None) -> tuple[object, Info]:
        super().reset(seed=seed)
        arguments = self._reset_arguments(seed, options)
        result = self.env.reset(**arguments)
        if is_tuple(result) and len(result) == 2 and is_dict(result[1]):
            return result[0], result[1]
        return result, {}

    def _reset_arguments(self, seed: Seed | None, options: Options | None) -> dict[str, object]:
        arguments: dict[str, object] = {}
        if options:
            if not accepts(self.env.reset, "options"):
                raise InvalidArgument(
                    f"options: expected None, since {type(self.env).__name__}.reset takes none, got {shorten(options)}"
                )
            arguments["options"] = options
        if seed is not None:
            # A `reset(**kwargs)`, as old wrappers have it, only passes on: `seed()` is the surer way.
            by_method = callable(getattr(self.env, "seed", None)) and not accepts(self.env.reset, "seed", by_name=True)
            if by_method:
                self.env.seed(int(seed))
            elif accepts(self.env.reset, "seed"):
                arguments["seed"] = int(seed)
            else:
                raise InvalidSeed(f"seed: expected None, since {type(self.env).__name__} has no seed(), got {seed}")
        return arguments

    def step(self, action: object) -> Step[object]:
        return from_done_step(self.env.step(action))

    def render(self) -> object:
        if accepts(self.env.render, "mode") and self.render_mode is not None:
            return self.env.render(mode=self.render_mode)
        return self.env.render()

    def close(self) -> None:
        if hasattr(self.env, "close"):
            self.env.close()


class LegacyEnv(Generic[ObsT, ActT]):
    """An `Env` for a loop of the old API: `reset()` gives an observation, `step` four values, `seed` waits for reset.

    >>> from ludus.envs.teaching.grid_world import GridWorld
    >>> env = LegacyEnv(GridWorld())
    >>> env.seed(3)
    [3]
    >>> observation = env.reset()
    >>> observation, reward, done, info = env.step(0)
    >>> done
    False
    """

    def __init__(self, env: Env[ObsT, ActT]) -> None:
        self.env = env
        self.observation_space, self.action_space = env.observation_space, env.action_space
        self.metadata, self.reward_range = env.metadata, (-float("inf"), float("inf"))
        self._seed: int | None = None

    def seed(self, seed: Seed | None = None) -> list[int]:
        """Seed the next reset; returns the seeds as the old API did."""
        self._seed = None if seed is None else as_seed(seed)
        return [] if self._seed is None else [self._seed]

    def reset(self, **kwargs: object) -> ObsT:
        """The first observation of an episode."""
        seed, self._seed = self._seed, None
        begin: Callable[..., tuple[ObsT, Info]] = self.env.reset
        observation, _ = begin(**({"seed": seed} | kwargs))
        return observation

    def step(self, action: ActT) -> tuple[ObsT, Any, Any, Info]:
        """The old four values."""
        return to_done_step(self.env.step(action))

    def render(self, mode: str | None = None) -> Any:
        """The picture; `mode` must be the one the environment was made with."""
        if mode not in (None, self.env.render_mode):
            raise InvalidArgument(
                f"render mode: expected {self.env.render_mode!r}, got {mode!r}; make it with render_mode={mode!r}"
            )
        return self.env.render()

    def close(self) -> None:
        """Close the environment."""
        self.env.close()

    @property
    def unwrapped(self) -> AnyEnv:
        """The environment under all wrappers."""
        return self.env.unwrapped


def to_legacy(env: Env[ObsT, ActT]) -> LegacyEnv[ObsT, ActT]:
    """An `Env` for a loop of the old API."""
    return LegacyEnv(env)


def accepts(function: Callable[..., object] | None, name: str, *, by_name: bool = False) -> bool:
    """Whether `function` has a parameter of that name, or (unless `by_name`) takes any."""
    if function is None:
        return False
    try:
        parameters = signature(function).parameters
    except (TypeError, ValueError):
        return False
    if name in parameters:
        return True
    return not by_name and any(one.kind is Parameter.VAR_KEYWORD for one in parameters.values())
