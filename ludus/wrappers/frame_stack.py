"""Frame stacks: the last few observations at once."""

from typing import Any

import numpy as np

from ludus.core import Env, Info, Step
from ludus.errors import InvalidArgument, InvalidType, shorten
from ludus.spaces import ArraySpace
from ludus.wrappers.argument import positive
from ludus.wrappers.lanes import blend, copied, lane_of, made_of_arrays, push
from ludus.wrappers.transform import Mask, Transform

__all__ = ["FrameStackObservation"]


class FrameStackObservation(Transform):
    """Shows the last `stack_size` observations, oldest first.

    An episode begins with its first observation repeated (`"reset"`), with zeros (`"zero"`), or with one given.

    >>> import ludus
    >>> env = FrameStackObservation(ludus.make("GridWorld-v0"), 3, padding_type="zero")
    >>> _ = env.reset(seed=0)
    >>> env.step(1).observation.tolist()
    [[0, 0], [0, 0], [1, 0]]
    """

    state_fields = ("_stack",)

    def __init__(self, env: Env[Any, Any], stack_size: int, *, padding_type: Any = "reset") -> None:
        super().__init__(env)
        self.stack_size = positive("stack_size", stack_size)
        self._space = self.lane_observation_space
        self._arrays = made_of_arrays(self._space)
        self._plain = isinstance(self._space, ArraySpace) and not self._lead
        if self._lead and not self._arrays:
            raise InvalidType(
                f"FrameStackObservation: expected observations made of arrays, got {self._space!r}; "
                "wrap each lane instead, by make_vec(wrappers=[…])"
            )
        named = isinstance(padding_type, str) and padding_type in ("reset", "zero")
        if not named and not self._space.contains(padding_type):
            raise InvalidArgument(
                f"padding_type: expected 'reset', 'zero' or an observation, got {shorten(padding_type)}"
            )
        self.padding_type = padding_type
        self._padding = padding_type if not named else None if padding_type == "reset" else self._space.zero()
        self.show_observation_space(self._space.batch(self.stack_size))
        self._stack: Any = None

    def on_reset(self, observation: Any, info: Info, begun: Mask | None) -> tuple[Any, Info]:
        """Fill the stack of every lane that begins."""
        fresh = self._first(observation)
        self._stack = fresh if begun is None else blend(self._space, begun, fresh, self._stack)
        return self._copy(), info

    def after_step(self, step: Step[Any], begun: Mask | None) -> Step[Any]:
        """Push the observation; refill the stacks of lanes that begin."""
        observation, reward, terminated, truncated, info = step
        final = self._final(info) if self._lead else []
        if final:
            before = [(lane, lane_of(self._space, self._stack, lane), last) for lane, last in final]
            info = self._with_final(info, [(lane, push(self._space, stack, last, 0)) for lane, stack, last in before])
        if self._plain:  # one array, one environment: no looking around in nested values
            moved = np.empty_like(self._stack)
            moved[:-1], moved[-1] = self._stack[1:], observation
            self._stack = moved
            return Step(moved.copy(), reward, terminated, truncated, info)
        if self._arrays:
            self._stack = push(self._space, self._stack, observation, 1 if self._lead else 0)
        else:
            self._stack = [*self._stack[1:], observation]
        if begun is not None:
            self._stack = blend(self._space, begun, self._first(observation), self._stack)
        return Step(self._copy(), reward, terminated, truncated, info)

    def _first(self, observation: Any) -> Any:
        """The stack that begins with `observation`: arrays of frames, or a list of them where they are no arrays."""
        if self._lead:
            rows = self.env.observation_space.iterate(observation)
            stacks = [self._space.concatenate(self._frames(row)) for row in rows]
            return self._space.batch(self.stack_size).concatenate(stacks)
        return self._space.concatenate(self._frames(observation)) if self._arrays else self._frames(observation)

    def _frames(self, observation: Any) -> list[Any]:
        padding = observation if self._padding is None else self._padding
        return [padding] * (self.stack_size - 1) + [observation]

    def _copy(self) -> Any:
        if self._arrays:
            return copied(self._space, self._stack)
        return self._space.concatenate(self._stack, self._space.empty(self.stack_size))
