"""`Sequence`: any number of values of one space."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any, Literal, TypeVar, cast, overload

import numpy as np

from ludus.errors import CodecError, InvalidMask, InvalidSeed, InvalidType, InvalidValue, shorten
from ludus.seeding import Seed
from ludus.spaces.array_space import Array
from ludus.spaces.kinds import is_array, is_integer, is_list, is_list_or_tuple, is_tuple
from ludus.spaces.mask import exclusive
from ludus.spaces.space import SequenceT_co, Space, Violation

__all__ = ["Sequence"]

ElementT = TypeVar("ElementT")


class Sequence(Space[SequenceT_co]):
    """Tuples of any length whose every element is in `space`; one stacked value instead of a tuple when `stack`.

    >>> from ludus.spaces import Box
    >>> space = Sequence(Box(0, 1), seed=0)
    >>> space.sample()
    (array([0.6822636], dtype=float32), array([0.18933342], dtype=float32), array([0.19049619], dtype=float32))
    >>> Sequence(Box(0, 1), stack=True, seed=0).sample().shape
    (3, 1)
    """

    @overload
    def __init__(
        self: Sequence[tuple[ElementT, ...]],
        space: Space[ElementT],
        seed: Seed | tuple[int, int] | np.random.Generator | None = None,
        stack: Literal[False] = False,
    ) -> None: ...

    @overload  # a batch of the elements, whatever that is
    def __init__(
        self: Sequence[Any],
        space: Space[object],
        seed: Seed | tuple[int, int] | np.random.Generator | None = None,
        stack: bool = False,
    ) -> None: ...

    def __init__(
        self,
        space: Space[object],
        seed: Seed | tuple[int, int] | np.random.Generator | None = None,
        stack: bool = False,
    ) -> None:
        if not isinstance(space, Space):  # pyright: ignore[reportUnnecessaryIsInstance]
            raise InvalidType(f"Sequence space: expected a ludus Space, got {shorten(space)}")
        self.feature_space = space
        self.stack = stack
        if stack:
            self.stacked_feature_space = space.batch(1)
        super().__init__(None, None, seed)

    def arguments(self) -> dict[str, object]:
        """The space and whether values are stacked."""
        return {"space": self.feature_space, "stack": self.stack}

    @property
    def subspaces(self) -> tuple[Space[object], ...]:
        """The space of one element."""
        return (self.feature_space,)

    def same_layout(self, other: Space[object]) -> bool:
        """Elements that fit the same buffers, stacked alike."""
        return (
            isinstance(other, Sequence)
            and self.stack is other.stack
            and self.feature_space.same_layout(other.feature_space)
        )

    def seed(self, seed: object = None) -> tuple[object, object]:
        """Seed by one integer, from which the element space's is drawn, or by a pair of both."""
        if seed is None:
            return super().seed(None), self.feature_space.seed(None)
        if is_list_or_tuple(seed):
            if len(seed) != 2:
                raise InvalidSeed(f"seed: expected a pair (sequence, element), got {shorten(seed)}")
            return super().seed(seed[0]), self.feature_space.seed(seed[1])
        own = super().seed(seed)
        element = int(self.np_random.integers(np.iinfo(np.int32).max))
        # Seeded again, so that one integer and the pair it stands for leave the same generator.
        return super().seed(own), self.feature_space.seed(element)

    def sample(self, mask: object = None, probability: object = None) -> SequenceT_co:
        """Elements of geometric number; a mask is a pair of a length (or an array of them) and an element mask."""
        kind = exclusive(mask, probability)
        if kind is None:
            length = self.np_random.geometric(0.25)
            values = tuple([self.feature_space.sample() for _ in range(length)])
        else:
            lengths, element = _pair(mask if kind == "mask" else probability, kind)
            length = self._length(lengths, kind)
            values = tuple([self.feature_space.sample(**{kind: element}) for _ in range(length)])
        drawn: Any = self._joined(values) if self.stack else values
        return drawn

    def _length(self, lengths: object, kind: str) -> int:
        if lengths is None:
            return self.np_random.geometric(0.25)
        if is_integer(lengths) and lengths >= 0:
            return int(lengths)
        if is_array(lengths) and lengths.ndim == 1 and lengths.dtype.kind in "iu" and (lengths >= 0).all():
            return self.np_random.choice(lengths)
        raise InvalidMask(
            f"{kind} length: expected None, an integer of at least 0 or a row of them, got {shorten(lengths)}"
        )

    def _joined(self, values: tuple[object, ...]) -> object:
        if not values:
            nothing = self.feature_space.empty(0)
            return () if nothing is None else nothing
        return self.feature_space.concatenate(values, self.feature_space.empty(len(values)))

    def _elements(self, x: object) -> list[object] | None:
        """The elements of `x`, or None where it is not a sequence at all."""
        if not self.stack:
            return list(x) if is_tuple(x) else None
        try:
            return list(self.stacked_feature_space.iterate(x))
        except (TypeError, KeyError, ValueError, IndexError):
            return None

    def default(self) -> SequenceT_co:
        """The empty sequence, or one zero when stacked."""
        return cast(SequenceT_co, self._joined((self.feature_space.default(),)) if self.stack else ())

    def contains(self, x: object) -> bool:
        """Whether `x` is a tuple (or a stacked value) whose every element is in the space."""
        elements = self._elements(x)
        return elements is not None and all(self.feature_space.contains(element) for element in elements)

    def validate(self, x: object, path: str = "value") -> list[Violation]:
        """The violations of every element, or of the type."""
        elements = self._elements(x)
        if elements is None:
            kind = "a stacked value" if self.stack else "a tuple"
            return [self._violation(x, path, f"{kind} of {self.feature_space!r}")]
        return [
            one for i, element in enumerate(elements) for one in self.feature_space.validate(element, f"{path}[{i}]")
        ]

    def coerce(self, x: object, name: str = "value", error: type[InvalidValue] = InvalidValue) -> SequenceT_co:
        """A tuple of the values that its elements stand for."""
        if not self.typed or self.stack or not is_list_or_tuple(x):
            return super().coerce(x, name, error)
        made = tuple([self.feature_space.coerce(one, f"{name}[{i}]", error) for i, one in enumerate(x)])
        return cast(SequenceT_co, made)

    def flatten(self, x: Iterable[object]) -> Any:
        """The elements flattened, joined again when stacked."""
        stacked = self.stacked_feature_space if self.stack else None
        return self._mapped(x, stacked, self.feature_space.flatten, self.feature_space.flat_space())

    def unflatten(self, x: Iterable[object]) -> SequenceT_co:
        """The elements restored, joined again when stacked."""
        flat = self.feature_space.flat_space().batch(1) if self.stack else None
        return cast(SequenceT_co, self._mapped(x, flat, self.feature_space.unflatten, self.feature_space))

    def _mapped(
        self,
        x: Iterable[object],
        source: Space[object] | None,
        change: Callable[[object], object],
        target: Space[object],
    ) -> object:
        if not self.stack or source is None:
            return tuple(change(element) for element in x)
        changed = [change(element) for element in source.iterate(x)]
        return target.concatenate(changed, target.empty(len(changed))) if changed else target.empty(0)

    def flat_space(self) -> Sequence:
        """A sequence of flattened elements."""
        return Sequence(self.feature_space.flat_space(), stack=self.stack)

    def empty(self, n: int = 1, fn: Callable[..., Array] = np.zeros) -> tuple[object, ...]:
        """Empty tuples, or buffers of one element when stacked."""
        return tuple(self.feature_space.empty(1, fn) if self.stack else () for _ in range(n))

    def encode(self, x: Iterable[object], *, binary: bool = False) -> object:
        """A list of encoded elements, or the encoded stack."""
        if self.stack:
            return self.feature_space.encode_many(x, binary=binary)
        return [self.feature_space.encode(element, binary=binary) for element in x]

    def decode(self, data: object) -> SequenceT_co:
        """The tuple or the stack."""
        if self.stack:
            return self.feature_space.decode_many(data)
        if not is_list(data):
            raise CodecError(f"{self!r}: expected a list, got {shorten(data)}")
        value: Any = tuple(self.feature_space.decode(element) for element in data)
        return value

    def read(self, data: object, name: str = "value") -> SequenceT_co:
        """Each element read by its space."""
        if not self.typed or self.stack or not is_list(data):
            return super().read(data, name)
        made = tuple([self.feature_space.read(one, f"{name}[{i}]") for i, one in enumerate(data)])
        return cast(SequenceT_co, made)

    def json_schema(self) -> dict[str, object]:
        """An array of any length."""
        return {"type": "array", "items": self.feature_space.json_schema()}

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Sequence) and self.feature_space == other.feature_space and self.stack == other.stack

    def __repr__(self) -> str:
        return f"Sequence({self.feature_space!r}, stack={self.stack})"


def _pair(given: object, kind: str) -> tuple[object, object]:
    if not is_tuple(given) or len(given) != 2:
        raise InvalidMask(f"{kind}: expected a pair (length or None, element mask or None), got {shorten(given)}")
    return given
