"""`Tuple`: one value of each of several spaces, in order."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any, TypeAlias, TypeVar, cast, overload

import numpy as np

from ludus.errors import CodecError, InvalidSeed, InvalidSpace, InvalidType, InvalidValue, shorten
from ludus.seeding import Seed, copy_generator
from ludus.spaces.array_space import Array
from ludus.spaces.composite import Composite, combined_box, split_flat
from ludus.spaces.kinds import is_array, is_iterable, is_list, is_list_or_tuple
from ludus.spaces.mask import exclusive, parts
from ludus.spaces.slot import Allocate
from ludus.spaces.space import LanesCodec, Space, TupleT_co, Violation, is_space

__all__ = ["Tuple"]


A = TypeVar("A")
B = TypeVar("B")
C = TypeVar("C")
TupleSeed: TypeAlias = "Seed | Sequence[object] | np.random.Generator | None"  # in quotes: it would load numpy.random


class Tuple(Composite[TupleT_co], Sequence[Space[Any]]):
    """Tuples whose element `i` is in space `i`.

    >>> from ludus.spaces import Box, Discrete
    >>> space = Tuple((Discrete(2), Box(-1, 1, shape=(2,))), seed=42)
    >>> space.sample()
    (np.int64(0), array([-0.3991573 ,  0.21649833], dtype=float32))
    >>> print(*space.validate((0, 5), "action"))
    action[1]: expected shape (2,), got shape ()
    """

    batched = True

    @overload
    def __init__(self: Tuple[tuple[A]], spaces: tuple[Space[A]], seed: TupleSeed = None) -> None: ...

    @overload
    def __init__(self: Tuple[tuple[A, B]], spaces: tuple[Space[A], Space[B]], seed: TupleSeed = None) -> None: ...

    @overload
    def __init__(
        self: Tuple[tuple[A, B, C]], spaces: tuple[Space[A], Space[B], Space[C]], seed: TupleSeed = None
    ) -> None: ...

    @overload
    def __init__(self, spaces: Iterable[Space[object]], seed: TupleSeed = None) -> None: ...

    def __init__(self, spaces: Iterable[Space[object]], seed: TupleSeed = None) -> None:
        self.spaces = spaces_of("Tuple", spaces)
        super().__init__(None, None, seed)

    def arguments(self) -> dict[str, object]:
        """The spaces."""
        return {"spaces": self.spaces}

    @property
    def subspaces(self) -> tuple[Space[object], ...]:
        """The spaces in order."""
        return self.spaces

    def seed(self, seed: object = None) -> tuple[object, ...]:
        """Seed by one integer, from which each space's is drawn, or by a sequence of one seed for each."""
        if seed is None:
            return tuple(space.seed(None) for space in self.spaces)
        if is_list_or_tuple(seed):
            if len(seed) != len(self.spaces):
                raise InvalidSeed(f"seed: expected {len(self.spaces)} seeds, one for each space, got {len(seed)}")
            return tuple(space.seed(one) for space, one in zip(self.spaces, seed, strict=True))
        return tuple(space.seed(one) for space, one in zip(self.spaces, self._drawn_seeds(seed), strict=True))

    def sample(self, mask: object = None, probability: object = None) -> TupleT_co:
        """Independent samples; `mask` and `probability` are tuples with one entry, or None, for each space."""
        drawn: Any
        if mask is None and probability is None:
            drawn = tuple([space.sample() for space in self.spaces])
            return drawn
        kind = exclusive(mask, probability) or "mask"
        given = parts(mask if kind == "mask" else probability, kind, len(self.spaces))
        drawn = tuple([space.sample(**{kind: one}) for space, one in zip(self.spaces, given, strict=True)])
        return drawn

    def default(self) -> TupleT_co:
        """The zero of each space."""
        return cast(TupleT_co, tuple(space.default() for space in self.spaces))

    def contains(self, x: Any) -> bool:
        """Whether `x` is a tuple (a list or array will do) of that many values, each in its space."""
        given: tuple[object, ...] = x
        if isinstance(x, list) or (isinstance(x, np.ndarray) and x.ndim):
            given = tuple(given)
        if not isinstance(given, tuple) or len(given) != len(self.spaces):  # pyright: ignore[reportUnnecessaryIsInstance]
            return False
        for space, part in zip(self.spaces, given, strict=True):  # noqa: SIM110  (a generator costs as much as the checks)
            if not space.contains(part):
                return False
        return True

    def validate(self, x: object, path: str = "value") -> list[Violation]:
        """The violations of every element, or of the type and length."""
        if not is_list_or_tuple(x) and not is_array(x):
            return [self._violation(x, path, f"a tuple of {len(self.spaces)}, {self!r}")]
        if is_array(x) and x.ndim == 0:
            return [self._violation(x, path)]
        if len(x) != len(self.spaces):
            return [Violation(path, f"{len(self.spaces)} elements", f"{len(x)}")]
        each = zip(self.spaces, x, strict=True)
        return [one for i, (space, part) in enumerate(each) for one in space.validate(part, f"{path}[{i}]")]

    def coerce(self, x: object, name: str = "value", error: type[InvalidValue] = InvalidValue) -> TupleT_co:
        """A tuple of the values that its elements stand for."""
        if not self.typed or not is_list_or_tuple(x) or len(x) != len(self.spaces):
            return super().coerce(x, name, error)
        each = enumerate(zip(self.spaces, x, strict=True))
        return cast(TupleT_co, tuple([space.coerce(part, f"{name}[{i}]", error) for i, (space, part) in each]))

    @overload
    def __getitem__(self, index: int) -> Space[Any]: ...

    @overload
    def __getitem__(self, index: slice) -> tuple[Space[Any], ...]: ...

    def __getitem__(self, index: int | slice) -> Space[Any] | tuple[Space[Any], ...]:
        return self.spaces[index]

    def __len__(self) -> int:
        return len(self.spaces)

    # --- flattening ---

    def flatten(self, x: Iterable[object]) -> Array | tuple[object, ...]:
        """The flattened elements joined, or a tuple of them where one is not an array."""
        flat = [space.flatten(part) for space, part in zip(self.spaces, x, strict=True)]
        return np.concatenate(flat) if self.is_np_flattenable else tuple(flat)

    def unflatten(self, x: Any) -> TupleT_co:
        """The elements from their joined or separate flat forms."""
        flat = split_flat(self, x) if self.is_np_flattenable else x
        return cast(TupleT_co, tuple(space.unflatten(part) for space, part in zip(self.spaces, flat, strict=True)))

    def flat_space(self) -> Space[object]:
        """One box, or a tuple of flattened spaces."""
        flat = [space.flat_space() for space in self.spaces]
        return combined_box(flat) if self.is_np_flattenable else Tuple(flat)

    # --- batches ---

    def batch(self, n: int) -> Tuple:
        """A tuple of batches."""
        return Tuple([space.batch(n) for space in self.spaces], seed=copy_generator(self.np_random))

    def batch_differing(self, spaces: Sequence[Space[object]]) -> Tuple:
        """A tuple of batches of differing spaces."""
        if any(len(space.subspaces) != len(self.spaces) for space in spaces):
            raise InvalidSpace(f"batch_differing: expected tuples of {len(self.spaces)} spaces, got {shorten(spaces)}")
        columns = zip(*[space.subspaces for space in spaces], strict=True)
        return Tuple([column[0].batch_differing(column) for column in columns], seed=copy_generator(self.np_random))

    def iterate(self, items: Iterable[object]) -> Iterator[object]:
        """Lane by lane: across batches where the elements are batches, else the elements themselves."""
        if all(space.batched for space in self.spaces):
            return zip(*[space.iterate(part) for space, part in zip(self.spaces, items, strict=True)], strict=True)
        try:
            return iter(items)
        except TypeError as error:
            raise InvalidType(
                f"iterate over {self!r}: expected a tuple with one value a lane, got {shorten(items)}"
            ) from error

    def concatenate(self, items: Iterable[Sequence[object]], out: Sequence[object] | None = None) -> tuple[object, ...]:
        """Each element's values joined."""
        rows = list(items)
        outs = [None] * len(self.spaces) if out is None else out
        return tuple(space.concatenate([row[i] for row in rows], outs[i]) for i, space in enumerate(self.spaces))

    def empty(self, n: int = 1, fn: Callable[..., Array] = np.zeros) -> tuple[object, ...]:
        """A tuple of buffers."""
        return tuple(space.empty(n, fn) for space in self.spaces)

    # --- the wire ---

    def encode(self, x: Iterable[object], *, binary: bool = False) -> list[object]:
        """A list of encoded elements."""
        return [space.encode(part, binary=binary) for space, part in zip(self.spaces, x, strict=True)]

    def decode(self, data: object) -> TupleT_co:
        """The tuple in a list of exactly that many elements."""
        if not is_list(data) or len(data) != len(self.spaces):
            raise CodecError(f"{self!r}: expected a list of {len(self.spaces)}, got {shorten(data)}")
        value: Any = tuple(space.decode(part) for space, part in zip(self.spaces, data, strict=True))
        return value

    def read(self, data: object, name: str = "value") -> TupleT_co:
        """Each element read by its own space."""
        if not self.typed or not is_list(data) or len(data) != len(self.spaces):
            return super().read(data, name)
        each = enumerate(zip(self.spaces, data, strict=True))
        return cast(TupleT_co, tuple([space.read(part, f"{name}[{i}]") for i, (space, part) in each]))

    def reader(self, name: str) -> Callable[[object], TupleT_co]:
        """Each element by the function of its own space, or all at once where they travel together."""
        readers = [space.reader(f"{name}[{i}]") for i, space in enumerate(self.spaces)]
        together = self._lanes_codec(name)

        def read_each(data: object) -> Any:
            if together is not None and type(data) is bytes:
                return together[0](data)
            if not is_list(data) or len(data) != len(readers):
                return self.read(data, name)
            return tuple([read(part) for read, part in zip(readers, data, strict=True)])

        return read_each if self.typed else super().reader(name)

    def writer(self, name: str) -> Callable[[object], object]:
        """Each element by the function of its own space, or all at once where they travel together."""
        writers = [space.writer(f"{name}[{i}]") for i, space in enumerate(self.spaces)]
        together = self._lanes_codec(name)

        def write_each(x: object) -> object:
            if not is_list_or_tuple(x) or len(x) != len(writers):
                return self.write(x, name, binary=True)
            if together is not None:
                return together[1](x)
            return [write(part) for write, part in zip(writers, x, strict=True)]

        return write_each if self.typed else super().writer(name)

    def _lanes_codec(self, name: str) -> LanesCodec | None:
        return self.spaces[0].lanes_codec(self.spaces, name) if self.spaces else None

    def to_jsonable(self, sample_n: Iterable[Sequence[object]]) -> list[object]:
        """For each space the list of its values."""
        rows = list(sample_n)
        return [space.to_jsonable([row[i] for row in rows]) for i, space in enumerate(self.spaces)]

    def from_jsonable(self, sample_n: Iterable[object]) -> list[TupleT_co]:
        """The tuples again."""
        columns = [space.from_jsonable(column) for space, column in zip(self.spaces, sample_n, strict=True)]
        return cast(list[TupleT_co], list(zip(*columns, strict=True)))

    def json_schema(self) -> dict[str, object]:
        """An array with a schema for each place."""
        schemas = [space.json_schema() for space in self.spaces]
        return {"type": "array", "prefixItems": schemas, "minItems": len(schemas), "maxItems": len(schemas)}

    # --- shared memory ---

    def create_shared(self, n: int, allocate: Allocate) -> tuple[object, ...]:
        """Memory for each space."""
        return tuple(space.create_shared(n, allocate) for space in self.spaces)

    def read_shared(self, memory: Iterable[object], n: int) -> tuple[object, ...]:
        """A tuple of batches."""
        return tuple(space.read_shared(part, n) for space, part in zip(self.spaces, memory, strict=True))

    def write_shared(self, memory: Iterable[object], lane: int, x: Iterable[object]) -> None:
        """Each element into its own memory."""
        for space, part, value in zip(self.spaces, memory, x, strict=True):
            space.write_shared(part, lane, value)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Tuple) and self.spaces == other.spaces

    def __repr__(self) -> str:
        return f"Tuple({', '.join(map(repr, self.spaces))})"


def spaces_of(what: str, spaces: object) -> tuple[Space[object], ...]:
    """An iterable of spaces as a tuple, each checked to be one."""
    if not is_iterable(spaces):
        raise InvalidType(f"{what}: expected a sequence of spaces, got {shorten(spaces)}")
    found: list[Space[object]] = []
    for i, space in enumerate(spaces):
        if not is_space(space):
            raise InvalidType(f"{what}[{i}]: expected a ludus Space, got {shorten(space)}")
        found.append(space)
    return tuple(found)
