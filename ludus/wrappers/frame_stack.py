"""Frame stacks: the last few observations at once."""

from copy import copy
from typing import Any, ClassVar, TypeVar, overload

import numpy as np

from ludus.core import Env, Info, Step
from ludus.core.env import ActT, ObsT
from ludus.core.fork import Lanes
from ludus.core.wrapper import WrapObsT
from ludus.errors import InvalidArgument, InvalidType, shorten
from ludus.spaces import ArraySpace
from ludus.spaces.array_space import Array
from ludus.wrappers.argument import positive
from ludus.wrappers.lanes import leaf_spaces, leaves, made_of_arrays, rebuilt
from ludus.wrappers.transform import Mask, Transform

__all__ = ["FrameStackObservation"]

ArrayT = TypeVar("ArrayT", bound=Array)
SeenT = TypeVar("SeenT")
DoneT = TypeVar("DoneT")


class FrameStackObservation(Transform[WrapObsT, ActT, ObsT, ActT]):
    """Shows the last `stack_size` observations, oldest first.

    An episode begins with its first observation repeated (`"reset"`), with zeros (`"zero"`), or with one given.

    >>> import ludus
    >>> env = FrameStackObservation(ludus.make("GridWorld-v0"), 3, padding_type="zero")
    >>> _ = env.reset(seed=0)
    >>> env.step(1).observation.tolist()
    [[0, 0], [0, 0], [1, 0]]
    """

    lane_fields = ("_films",)

    state_fields = ("_films", "_frames")
    _quick: ClassVar[bool] = True
    """Whether no subclass has hooks of its own around a step."""

    def __init_subclass__(cls, **kwargs: object) -> None:
        super().__init_subclass__(**kwargs)
        own = FrameStackObservation[object, object, object]
        cls._quick = (cls.before_step, cls.after_step) == (own.before_step, own.after_step)

    @overload
    def __init__(
        self: "FrameStackObservation[ArrayT, DoneT, ArrayT]",
        env: Env[ArrayT, DoneT],
        stack_size: int,
        *,
        padding_type: object = "reset",
    ) -> None: ...

    @overload
    def __init__(
        self: "FrameStackObservation[Any, DoneT, SeenT]",
        env: Env[SeenT, DoneT],
        stack_size: int,
        *,
        padding_type: object = "reset",
    ) -> None: ...

    def __init__(self, env: Env[ObsT, ActT], stack_size: int, *, padding_type: object = "reset") -> None:
        super().__init__(env)
        self.stack_size = positive("stack_size", stack_size)
        self._space = self.lane_observation_space
        self._arrays = made_of_arrays(self._space)
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
        self._padding = padding_type if not named else None if padding_type == "reset" else self._space.default()
        self.show_observation_space(self._space.batch(self.stack_size))
        self._plain = isinstance(self._space, ArraySpace)
        self._films: list[Film] = []
        """What observations made of arrays are kept in."""
        self._frames: list[object] = []
        """All other observations."""
        if self._arrays:
            arrays = [leaf for leaf in leaf_spaces(self._space) if isinstance(leaf, ArraySpace)]
            self._films = [Film(self._lead, self.stack_size, leaf) for leaf in arrays]

    def on_reset(self, observation: ObsT, info: Info, begun: Mask | None) -> tuple[WrapObsT, Info]:
        """Fill the stack of every lane that begins."""
        self._begin(observation, begun)
        return self._shown(), info

    def step(self, action: ActT) -> Step[WrapObsT]:
        """Push the observation; refill the stacks of lanes that begin."""
        if self._lead or not self._quick or not self._plain:
            return super().step(action)
        # The common case, without looking any further.
        observation, reward, terminated, truncated, info = self.env.step(action)
        stack: Any = self._films[0].pushed(observation)
        return Step(stack, reward, terminated, truncated, info)

    def after_step(self, step: Step[ObsT], begun: Mask | None) -> Step[WrapObsT]:
        """Push the observation; refill the stacks of lanes that begin."""
        observation, reward, terminated, truncated, info = step
        final = self.final_observations(info) if self._lead else []
        if final:
            info = self.with_final(info, [(lane, self._last_stack(lane, last)) for lane, last in final])
        self._push(observation)
        if begun is not None:
            self._begin(observation, begun)
        return Step(self._shown(), reward, terminated, truncated, info)

    def _push(self, observation: object) -> None:
        if self._plain:
            self._films[0].push(observation, self.stepped)
        elif self._arrays:
            for film, leaf in zip(self._films, leaves(self._space, observation), strict=True):
                film.push(leaf, self.stepped)
        else:
            self._frames = [*self._frames[1:], observation]

    def _begin(self, observation: object, begun: Mask | None) -> None:
        padding = observation if self._padding is None else self._padding
        if not self._arrays:
            self._frames = [padding] * (self.stack_size - 1) + [observation]
            return
        each = zip(self._films, leaves(self._space, observation), leaves(self._space, padding), strict=True)
        for film, leaf, filler in each:
            film.begin(leaf, filler, begun)

    def _last_stack(self, lane: int, last: object) -> object:
        """The stack that an episode ends with; `last` has not been pushed."""
        each = zip(self._films, leaves(self._space, last), strict=True)
        return rebuilt(self._space, [film.ended(lane, leaf) for film, leaf in each])

    def _shown(self) -> Any:
        if self._plain:
            return self._films[0].shown()
        if self._arrays:
            return rebuilt(self._space, [film.shown() for film in self._films])
        return self._space.concatenate(self._frames, self._space.empty(self.stack_size))


class Film:
    """The last frames of one array, in a strip twice as long: new ones go behind, and are moved only now and then."""

    def __init__(self, lead: tuple[int, ...], size: int, space: ArraySpace[object]) -> None:
        self._batch, self._size, self._end = bool(lead), size, size
        self._strip = np.zeros((*lead, 2 * size, *space.shape), dtype=space.dtype)

    def forked(self, lanes: Lanes) -> "Film":
        """The stacks of these lanes."""
        twin = copy(self)
        twin._strip = self._strip[np.asarray(lanes)]
        return twin

    def push(self, frame: object, stepped: Mask | None = None) -> None:
        """Add a frame; the oldest one is forgotten. The stacks of lanes that were not stepped stay as they are."""
        size, strip = self._size, self._strip
        held = None if stepped is None else self._strip[~stepped, self._end - size : self._end].copy()
        if self._end == 2 * size:
            if self._batch:
                strip[:, :size] = strip[:, size:]
            else:
                strip[:size] = strip[size:]
            self._end = size
        if self._batch:
            strip[:, self._end] = frame
        else:
            strip[self._end] = frame
        self._end += 1
        if stepped is not None:
            strip[~stepped, self._end - size : self._end] = held

    def pushed(self, frame: object) -> Array:
        """`push` and `shown` at once, for one environment."""
        size, strip, end = self._size, self._strip, self._end
        if end == 2 * size:
            strip[:size] = strip[size:]
            end = size
        strip[end] = frame
        self._end = end = end + 1
        return strip[end - size : end].copy()

    def begin(self, frame: object, padding: object, begun: Mask | None) -> None:
        """Fill the stack with padding up to `frame`, in the lanes that begin."""
        start, last = self._end - self._size, self._end - 1
        if not self._batch:
            self._strip[start:last], self._strip[last] = padding, frame
            return
        rows = slice(None) if begun is None else begun
        filler, first = np.asarray(padding), np.asarray(frame)
        one_each = filler.ndim == first.ndim  # the first observation repeated, not one padding for all
        self._strip[rows, start:last] = filler[rows][:, None] if one_each else filler
        self._strip[rows, last] = first[rows]

    def shown(self) -> Array:
        """A copy of the stack."""
        start = self._end - self._size
        return (self._strip[:, start : self._end] if self._batch else self._strip[start : self._end]).copy()

    def ended(self, lane: int, last: object) -> Array:
        """The stack of one lane with `last` behind it."""
        stack = np.empty((self._size, *self._strip.shape[2:]), dtype=self._strip.dtype)
        stack[:-1], stack[-1] = self._strip[lane, self._end - self._size + 1 : self._end], last
        return stack
