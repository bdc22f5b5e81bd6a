"""Batches by Gymnasium's names: bases for batches, and for wrappers around them, of one's own."""

from typing import Any, Generic, TypeVar

from ludus import core
from ludus.core import AutoresetMode, Env, Info, Step
from ludus.core.options import Options
from ludus.errors import InvalidArgument, InvalidType
from ludus.seeding import Seed

__all__ = ["VectorActionWrapper", "VectorEnv", "VectorObservationWrapper", "VectorRewardWrapper", "VectorWrapper"]

ObsT = TypeVar("ObsT")
ActT = TypeVar("ActT")
WrapObsT = TypeVar("WrapObsT")
WrapActT = TypeVar("WrapActT")
ArrayT = TypeVar("ArrayT")
_Batches: Any = type(core.VectorEnv)


class _AnyBatch(_Batches):
    """Makes every batch count as a `VectorEnv`, and every wrapper around one as a `VectorWrapper`."""

    def __instancecheck__(self, instance: Any) -> bool:
        if type.__instancecheck__(self, instance):
            return True
        kind = self.__dict__.get("_stands_for")
        return kind is not None and isinstance(instance, kind) and bool(instance.batch_shape)


class VectorEnv(core.VectorEnv[ObsT, ActT], Generic[ObsT, ActT, ArrayT], metaclass=_AnyBatch):
    """The base of a batch, with the third type parameter that Gymnasium's has.

    >>> from ludus import make_vec
    >>> isinstance(make_vec("GridWorld-v0"), VectorEnv)
    True
    """

    _stands_for = Env
    _autoreset_mode: AutoresetMode | None = None

    @property
    def autoreset_mode(self) -> AutoresetMode:
        """When ended lanes are reset: as set, else as the metadata say."""
        return super().autoreset_mode if self._autoreset_mode is None else self._autoreset_mode

    @autoreset_mode.setter
    def autoreset_mode(self, mode: AutoresetMode | str) -> None:
        self._autoreset_mode = AutoresetMode.of(mode)


class VectorWrapper(
    core.Wrapper[WrapObsT, WrapActT, ObsT, ActT],
    Generic[WrapObsT, WrapActT, ObsT, ActT, ArrayT],
    metaclass=_AnyBatch,
):
    """The base of a wrapper that only makes sense around a batch.

    >>> from ludus import make_vec
    >>> VectorWrapper(make_vec("GridWorld-v0", num_envs=2)).num_envs
    2
    """

    _stands_for = core.Wrapper

    def __init__(self, env: Env[ObsT, ActT]) -> None:
        super().__init__(env)
        if not env.batch_shape:
            raise InvalidType(f"{type(self).__name__}: expected a batch, got one environment, {env}")

    def close(self, **kwargs: Any) -> None:
        """Close the batch."""
        below: Any = self.env
        below.close(**kwargs)

    @property
    def closed(self) -> bool:
        """Whether the batch is closed."""
        return self.env.get_wrapper_attr("closed")


class VectorObservationWrapper(VectorWrapper[WrapObsT, ActT, ObsT, ActT, ArrayT]):
    """A wrapper that changes the observations of a batch, by `observations`.

    >>> from ludus import make_vec
    >>> class Doubled(VectorObservationWrapper):
    ...     def observations(self, observations):
    ...         return observations * 2
    >>> Doubled(make_vec("GridWorld-v0", num_envs=2)).reset(seed=0)[0].shape
    (2, 2)
    """

    def __init__(self, env: Env[ObsT, ActT]) -> None:
        super().__init__(env)
        if self.autoreset_mode is AutoresetMode.SAME_STEP:
            raise InvalidArgument(
                f"{type(self).__name__}: expected the autoreset mode NextStep or Disabled, got SameStep, whose last "
                "observations observations() would miss; derive it from ludus.wrappers.ObservationTransform"
            )

    def observations(self, observations: ObsT) -> WrapObsT:
        """The observations to show instead."""
        raise NotImplementedError(f"{type(self).__name__} defines no observations(observations)")

    def reset(self, *, seed: Seed | None = None, options: Options | None = None) -> tuple[WrapObsT, Info]:
        """Reset, with the observations changed."""
        observations, info = self.env.reset(seed=seed, options=options)
        return self.observations(observations), info

    def step(self, action: ActT) -> Step[WrapObsT]:
        """Step, with the observations changed."""
        observations, rewards, terminations, truncations, infos = self.env.step(action)
        return Step(self.observations(observations), rewards, terminations, truncations, infos)


class VectorActionWrapper(VectorWrapper[ObsT, WrapActT, ObsT, ActT, ArrayT]):
    """A wrapper that changes the actions of a batch, by `actions`.

    >>> from ludus import make_vec
    >>> class Still(VectorActionWrapper):
    ...     def actions(self, actions):
    ...         return actions * 0
    >>> env = Still(make_vec("GridWorld-v0", num_envs=2))
    >>> _ = env.reset(seed=0)
    >>> env.step(env.action_space.sample()).observation.tolist()
    [[0, 0], [0, 0]]
    """

    def actions(self, actions: WrapActT) -> ActT:
        """The actions to take instead."""
        raise NotImplementedError(f"{type(self).__name__} defines no actions(actions)")

    def step(self, action: WrapActT) -> Step[ObsT]:
        """Step with the changed actions."""
        return self.env.step(self.actions(action))


class VectorRewardWrapper(VectorWrapper[ObsT, ActT, ObsT, ActT, ArrayT]):
    """A wrapper that changes the rewards of a batch, by `rewards`.

    >>> from ludus import make_vec
    >>> class Penalty(VectorRewardWrapper):
    ...     def rewards(self, rewards):
    ...         return rewards - 0.5
    >>> env = Penalty(make_vec("GridWorld-v0", num_envs=2))
    >>> _ = env.reset(seed=0)
    >>> env.step(env.action_space.sample() * 0).reward.tolist()
    [-0.5, -0.5]
    """

    def rewards(self, rewards: Any) -> Any:
        """The rewards to give instead."""
        raise NotImplementedError(f"{type(self).__name__} defines no rewards(rewards)")

    def step(self, action: ActT) -> Step[ObsT]:
        """Step, with the rewards changed."""
        observations, rewards, terminations, truncations, infos = self.env.step(action)
        return Step(observations, self.rewards(rewards), terminations, truncations, infos)
