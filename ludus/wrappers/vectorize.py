"""Wrappers named for being put around a batch, which every wrapper of Ludus can be."""

from typing import Any

from ludus.core import EnvSpec, Hooked
from ludus.core.env import AnyEnv
from ludus.errors import InvalidType, shorten
from ludus.wrappers.transform import Transform

__all__ = ["VectorizeTransformAction", "VectorizeTransformObservation", "VectorizeTransformReward"]


def _is_transform(given: object) -> bool:
    return isinstance(given, type) and issubclass(given, Transform)


class _Vectorize(Hooked[Any, Any, object, Any]):
    """A batch with `wrapper(env, **kwargs)` around it; under it, that wrapper does the work."""

    def __init__(self, env: AnyEnv, wrapper: type[Transform], **kwargs: object) -> None:
        name = type(self).__name__
        if not env.batch_shape:
            raise InvalidType(f"{name}: expected a batch, got one environment; use {shorten(wrapper)} itself")
        if not _is_transform(wrapper):
            raise InvalidType(f"{name} wrapper: expected a Transform class, got {shorten(wrapper)}")
        super().__init__(wrapper(env, **kwargs))
        self.wrapper = wrapper

    @property
    def spec(self) -> EnvSpec | None:
        """The spec of the wrapper that does the work."""
        return self.env.spec


class VectorizeTransformObservation(_Vectorize):
    """Puts a wrapper that changes observations around a batch; the same as `wrapper(env, **kwargs)`.

    >>> import ludus
    >>> from ludus.wrappers import TransformObservation
    >>> envs = ludus.make_vec("GridWorld-v0", num_envs=2)
    >>> envs = VectorizeTransformObservation(envs, TransformObservation, func=lambda seen: seen + 10)
    >>> envs.reset(seed=0)[0].tolist()
    [[10, 10], [10, 10]]
    """


class VectorizeTransformAction(_Vectorize):
    """Puts a wrapper that changes actions around a batch; the same as `wrapper(env, **kwargs)`.

    >>> import ludus
    >>> from ludus.wrappers import TransformAction
    >>> envs = ludus.make_vec("GridWorld-v0", num_envs=2)
    >>> envs = VectorizeTransformAction(envs, TransformAction, func=lambda action: 3 - action)
    >>> _ = envs.reset(seed=0)
    >>> envs.step([0, 0]).observation.tolist()
    [[0, 1], [0, 1]]
    """


class VectorizeTransformReward(_Vectorize):
    """Puts a wrapper that changes rewards around a batch; the same as `wrapper(env, **kwargs)`.

    >>> import ludus
    >>> from ludus.wrappers import TransformReward
    >>> envs = ludus.make_vec("GridWorld-v0", num_envs=2)
    >>> envs = VectorizeTransformReward(envs, TransformReward, func=lambda reward: reward - 1)
    >>> _ = envs.reset(seed=0)
    >>> envs.step([0, 0]).reward.tolist()
    [-1.0, -1.0]
    """
