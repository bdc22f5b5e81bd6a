"""`Space`: what values look like. A space owns every operation on its values; a custom space is one class.

A custom space must define `sample` and `contains`; what it inherits then works for it: batches are tuples of values,
shared memory and the wire carry `encode(value)`, flattening leaves the value alone. Arrays do better by `ArraySpace`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from copy import deepcopy
from functools import partial
from inspect import Parameter, signature
from typing import TYPE_CHECKING, Any, ClassVar, Generic, Literal, NamedTuple, TypeGuard, TypeVar, cast, overload

import numpy as np
import numpy.typing as npt

from ludus.errors import CodecError, InvalidSpace, InvalidType, InvalidValue, shorten
from ludus.seeding import copy_generator, np_random
from ludus.spaces.kinds import Array, is_array, is_dict, is_list, is_list_or_tuple, is_scalar
from ludus.spaces.slot import Allocate, create_slots, read_slots, write_slot

if TYPE_CHECKING:
    from typing_extensions import TypeVar as DefaultTypeVar

    from ludus.spaces.box import Box
    from ludus.spaces.field_types import FieldType
    from ludus.spaces.multi_discrete import MultiDiscrete
    from ludus.spaces.record import Record
    from ludus.spaces.tuple import Tuple

__all__ = ["ODD_ERRORS", "LanesCodec", "Space", "Violation", "is_space", "known_space", "same_data"]

T_co = TypeVar("T_co", covariant=True)
# What values are, with a default: `Box` alone is one of any arrays. Such defaults come with Python 3.13; type checkers
# know them before, from typing_extensions, which is never loaded. Each is the value's whole type and not a part of it,
# so that `isinstance(space, Box)` of a `Space[T]` is known to be a `Box[T]`.
if TYPE_CHECKING:
    ArrayT_co = DefaultTypeVar("ArrayT_co", default=Array, covariant=True)
    ModelT_co = DefaultTypeVar("ModelT_co", default=Any, covariant=True)
    DictT_co = DefaultTypeVar("DictT_co", default=dict[str, Any], covariant=True)
    TupleT_co = DefaultTypeVar("TupleT_co", default=tuple[Any, ...], covariant=True)
    ScalarT_co = DefaultTypeVar("ScalarT_co", default=Any, covariant=True)
    SequenceT_co = DefaultTypeVar("SequenceT_co", default=Any, covariant=True)
else:
    ArrayT_co = TypeVar("ArrayT_co", covariant=True)
    ModelT_co = TypeVar("ModelT_co", covariant=True)
    DictT_co = TypeVar("DictT_co", covariant=True)
    TupleT_co = TypeVar("TupleT_co", covariant=True)
    ScalarT_co = TypeVar("ScalarT_co", covariant=True)
    SequenceT_co = TypeVar("SequenceT_co", covariant=True)
LanesCodec = tuple[Callable[[bytes], tuple[object, ...]], Callable[[Sequence[object]], bytes]]
"""Reads the values of lanes that travel together, and writes them."""
ODD_ERRORS = (TypeError, ValueError, LookupError, AttributeError, ArithmeticError, RecursionError)
"""What a space's own code may raise on data that it did not expect."""


class Violation(NamedTuple):
    """One reason why a value is not in a space, and where in the value it is.

    >>> print(Violation('action["move"][2]', "Discrete(4)", "7"))
    action["move"][2]: expected Discrete(4), got 7
    """

    path: str
    expected: str
    got: str

    def __str__(self) -> str:
        return f"{self.path}: expected {self.expected}, got {self.got}"


class Space(Generic[T_co]):
    """The set of valid values of something: actions, observations, messages.

    What methods that a space of your own defines take is `Any` here, so that it may say more: `contains(self, x: int)`.

    >>> class Even(Space[int]):
    ...     def sample(self, mask=None, probability=None):
    ...         return 2 * int(self.np_random.integers(50))
    ...     def contains(self, x):
    ...         return isinstance(x, int) and x % 2 == 0
    >>> space = Even(seed=0)
    >>> space.sample() in space, 3 in space
    (True, False)
    >>> space.batch(3).sample()
    (0, 62, 40)
    """

    _known: ClassVar[dict[str, type[Space[object]]]] = {}
    batched: ClassVar[bool] = False
    """Whether a value of this space can be read as a batch, by `iterate`."""

    def __init_subclass__(cls, **kwargs: object) -> None:
        super().__init_subclass__(**kwargs)
        Space._known[cls.type_name()] = cls

    def __init__(
        self,
        shape: Sequence[int] | None = None,
        dtype: npt.DTypeLike | None = None,
        seed: object = None,
    ) -> None:
        self._shape = None if shape is None else tuple(shape)
        self.dtype: Any = None if dtype is None else np.dtype(dtype)
        self._np_random: np.random.Generator | None = None
        if isinstance(seed, np.random.Generator):
            self._np_random = seed
        elif seed is not None:
            self.seed(seed)

    # --- what it is ---

    @classmethod
    def type_name(cls) -> str:
        """The name under which descriptions know this class: bare for Ludus's own, `module:Class` for others."""
        own = cls.__module__.startswith("ludus.spaces.")
        return cls.__qualname__ if own else f"{cls.__module__}:{cls.__qualname__}"

    @property
    def shape(self) -> tuple[int, ...] | None:
        """The shape of a value, or None where values are not arrays."""
        return self._shape

    @property
    def subspaces(self) -> tuple[Space[object], ...]:
        """The spaces this one is made of."""
        return ()

    def field_types(self) -> tuple[FieldType, ...]:
        """The types of its fields, where its values have fields."""
        return ()

    @property
    def is_np_flattenable(self) -> bool:
        """Whether `flatten` gives a one-dimensional array in a `Box`."""
        return False

    def arguments(self) -> Mapping[str, object]:
        """The constructor arguments that make an equal space; by default the attributes of the same names."""
        found: dict[str, object] = {}
        for name, parameter in signature(type(self)).parameters.items():
            if name == "seed" or parameter.kind in (Parameter.VAR_POSITIONAL, Parameter.VAR_KEYWORD):
                continue
            if not hasattr(self, name):
                raise CodecError(
                    f"{type(self).__name__}: expected an attribute {name!r}, since the constructor takes it, got none; "
                    f"set `self.{name}` or override `arguments`"
                )
            found[name] = getattr(self, name)
        return found

    @classmethod
    def from_arguments(cls, arguments: Mapping[str, object]) -> Space[object]:
        """The space that `arguments` came from."""
        make = cast(Callable[..., Space[object]], cls)  # what each class takes is its own affair
        return make(**arguments)

    # --- randomness ---

    @property
    def np_random(self) -> np.random.Generator:
        """The space's generator, seeded from the operating system on first use."""
        rng = self._np_random
        return rng if rng is not None else self._seeded_lazily()

    def _seeded_lazily(self) -> np.random.Generator:
        self.seed(None)
        if self._np_random is None:  # composite spaces leave themselves unseeded when given None
            self._np_random = np_random()[0]
        return self._np_random

    def seed(self, seed: Any = None) -> object:
        """Seed this space, and its subspaces; returns the seeds used."""
        self._np_random, used = np_random(seed)
        return used

    def ensure_seeded(self) -> None:
        """Seed from the operating system whatever has no generator yet, so that all draws from here on are fixed."""
        if self._np_random is None:
            self._np_random = np_random()[0]
        for space in self.subspaces:
            space.ensure_seeded()

    def copy_rng_from(self, other: Space[object]) -> None:
        """Continue from where the generators of an equal space are."""
        self._np_random = None if other._np_random is None else copy_generator(other._np_random)
        for mine, theirs in zip(self.subspaces, other.subspaces, strict=True):
            mine.copy_rng_from(theirs)

    def sample(self, mask: Any = None, probability: Any = None) -> T_co:
        """A random value; at most one of `mask` and `probability` may restrict it."""
        raise NotImplementedError(f"{type(self).__name__} defines no sample(mask=None, probability=None)")

    def default(self) -> T_co:
        """The value that stands for nothing: zero where that is in the space, else the nearest to it."""
        raise NotImplementedError(f"{type(self).__name__} defines no default()")

    # --- membership ---

    def contains(self, x: Any) -> bool:
        """Whether `x` is in the space: the fast form of `not validate(x)`."""
        base: type[Space[object]] = Space
        if type(self).validate is base.validate:
            raise NotImplementedError(f"{type(self).__name__} defines neither contains(x) nor validate(x, path)")
        return not self.validate(x)

    def __contains__(self, x: object) -> bool:
        return self.contains(x)

    def validate(self, x: Any, path: str = "value") -> list[Violation]:
        """Every reason why `x` is not in the space, each with its path; empty when it is."""
        return [] if self.contains(x) else [self._violation(x, path)]

    def check(self, x: object, name: str = "value", error: type[InvalidValue] = InvalidValue) -> None:
        """Raise `error` with every violation unless `x` is in the space.

        >>> from ludus.spaces import Discrete
        >>> Discrete(2).check(7, "action")
        Traceback (most recent call last):
        ludus.errors.InvalidValue: action: expected Discrete(2), got 7
        """
        if not self.contains(x):
            raise error("; ".join(map(str, self.validate(x, name))) or f"{name}: expected {self!r}, got {shorten(x)}")

    # --- values at a boundary: each is checked once, on its way in or out ---

    @property
    def typed(self) -> bool:
        """Whether `coerce` can change a value: whether there is a record, or are calls of tools, somewhere in it."""
        return any(space.typed for space in self.subspaces)

    def coerce(self, x: Any, name: str = "value", error: type[InvalidValue] = InvalidValue) -> T_co:
        """`x` as a value of the space: itself where it is one, what it stands for where it is typed; else `error`."""
        self.check(x, name, error)
        return x

    def read(self, data: object, name: str = "value") -> T_co:
        """The value in plain data, held to the space; CodecError or InvalidValue, and nothing else, on any data.

        >>> from ludus.spaces import Discrete
        >>> Discrete(2).read(7, "action")
        Traceback (most recent call last):
        ludus.errors.InvalidValue: action: expected Discrete(2), got 7 (int64)
        """
        try:
            value = self.decode(data)
        except (CodecError, InvalidValue):
            raise
        except ODD_ERRORS as error:
            raise CodecError(f"{name}: expected data of {self!r}, got {type(data).__name__}: {error}") from error
        try:
            self.check(value, name)
        except InvalidValue:
            raise
        except ODD_ERRORS as error:
            raise InvalidValue(f"{name}: expected {self!r}, got {type(value).__name__}: {error}") from error
        return value

    def write(self, x: object, name: str = "value", *, binary: bool = False) -> object:
        """`x`, or what it stands for, as plain data; InvalidValue where it is not in the space."""
        return self.encode(self.coerce(x, name), binary=binary)

    def reader(self, name: str) -> Callable[[object], T_co]:
        """`read` for values of that name, as a function made once: for where thousands come in."""
        return partial(self.read, name=name)

    def writer(self, name: str) -> Callable[[object], object]:
        """`write` of that name for msgpack, as a function made once; msgpack's encoder takes what it gives."""
        return partial(self.write, name=name, binary=True)

    def lanes_codec(self, spaces: Sequence[Space[object]], name: str) -> LanesCodec | None:
        """What reads and writes one value of each of `spaces`, of which this is the first, together as bytes.

        None where they travel one by one, as `reader` and `writer` have them.
        """
        del spaces, name

    def _violation(self, x: object, path: str, expected: str | None = None) -> Violation:
        return Violation(path, repr(self) if expected is None else expected, describe_value(x))

    # --- flattening ---

    @property
    def flatdim(self) -> int:
        """How many numbers a flattened value has."""
        raise InvalidSpace(
            f"flatdim: expected a space that flattens to an array, got {self!r}, whose values vary in size"
        )

    @property
    def flat_dtype(self) -> np.dtype[np.generic]:
        """The dtype of a flattened value."""
        raise InvalidSpace(f"flat_dtype: expected a space that flattens to an array, got {self!r}")

    def flatten(self, x: Any) -> Any:
        """`x` as flat as it gets: a one-dimensional array where `is_np_flattenable`."""
        return x

    def unflatten(self, x: Any) -> T_co:
        """The value that `flatten` made `x` from."""
        return x

    def flat_space(self) -> Space[Any]:
        """The space that flattened values are in."""
        return self

    # --- batches ---

    def batch(self, n: int) -> Space[Any]:
        """The space of `n` values at once; the default is a tuple of independent copies."""
        make_tuple = known_space("Tuple")
        batch = make_tuple(tuple(deepcopy(self) for _ in range(n)), seed=copy_generator(self.np_random))
        batch.seed([int(one) for one in copy_generator(self.np_random).integers(0, int(1e8), n)])
        return batch

    def batch_differing(self, spaces: Sequence[Space[object]]) -> Space[Any]:
        """The space of one value of each of `spaces`, all of this class, which may differ in their bounds."""
        return known_space("Tuple")([deepcopy(space) for space in spaces], seed=copy_generator(self.np_random))

    def same_layout(self, other: Space[object]) -> bool:
        """Whether values of both fit the same buffers: equal dtype, shape and structure."""
        return type(self) is type(other) and (self.shape, self.dtype) == (other.shape, other.dtype)

    def iterate(self, items: Any) -> Iterator[Any]:
        """The lanes of a value of this space read as a batch."""
        raise InvalidType(
            f"iterate: expected a batched space (Box, MultiDiscrete, MultiBinary, Tuple, Dict), got {self!r}"
        )

    def concatenate(self, items: Iterable[Any], out: Any = None) -> Any:
        """Values of this space as one value of the batched space, written into `out` where it is an array."""
        del out
        return tuple(items)

    def empty(self, n: int = 1, fn: Callable[..., Array] = np.zeros) -> object:
        """A buffer for `n` values, made by `fn`; None where batches are not arrays."""
        del n, fn

    # --- the wire ---

    def encode(self, x: Any, *, binary: bool = False) -> object:
        """`x` as plain data for JSON, or for msgpack (arrays as bytes) when `binary`."""
        del binary
        return x

    def decode(self, data: Any) -> T_co:
        """The value that `encode` wrote, in either form; raises CodecError, and does not check bounds."""
        return data

    def encode_many(self, items: Any, *, binary: bool = False) -> object:
        """A batched value as plain data, however many lanes it has."""
        return [self.encode(item, binary=binary) for item in self.batch(1).iterate(items)]

    def decode_many(self, data: Any) -> Any:
        """The batched value that `encode_many` wrote."""
        if not is_list(data):
            raise CodecError(f"{self!r}: expected a list of values, got {shorten(data)}")
        items = [self.decode(one) for one in data]
        buffer = self.empty(len(items))
        if not items:
            return () if buffer is None else buffer
        return self.concatenate(items, buffer)

    def json_schema(self) -> Mapping[str, object]:
        """The JSON schema of an encoded value."""
        return {"title": type(self).__name__}

    def to_jsonable(self, sample_n: Iterable[Any]) -> object:
        """A list of values as plain data."""
        return [self.encode(x) for x in sample_n]

    def from_jsonable(self, sample_n: Any) -> list[T_co]:
        """The values that `to_jsonable` wrote."""
        return [self.decode(x) for x in sample_n]

    # --- shared memory ---

    def create_shared(self, n: int, allocate: Allocate) -> object:
        """Memory for `n` values, through `allocate(bytes)`; by default a slot for each value's msgpack."""
        return create_slots(n, allocate)

    def read_shared(self, memory: Any, n: int) -> Any:
        """The batched value in `memory`: views where values are arrays, fresh objects otherwise."""
        return tuple(self.decode(data) for data in read_slots(memory, n))

    def write_shared(self, memory: Any, lane: int, x: Any) -> None:
        """Write `x` as lane `lane` of `memory`."""
        write_slot(memory, lane, self.encode(x, binary=True), repr(self))

    # --- identity ---

    def __eq__(self, other: object) -> bool:
        return type(self) is type(other) and same_data(self.arguments(), other.arguments())  # type: ignore[attr-defined]

    __hash__ = None  # type: ignore[assignment]  # a space carries a generator: it is compared, never hashed

    def __repr__(self) -> str:
        try:
            arguments = self.arguments()
        except CodecError:  # a custom space that keeps none of its arguments can still be shown
            return f"{type(self).__name__}(…)"
        return f"{type(self).__name__}({', '.join(f'{k}={shorten(v)}' for k, v in arguments.items())})"


def is_space(value: object) -> TypeGuard[Space[object]]:
    """Whether it is a space, of values of any kind."""
    return isinstance(value, Space)


@overload
def known_space(name: Literal["Box"]) -> type[Box]: ...


@overload
def known_space(name: Literal["MultiDiscrete"]) -> type[MultiDiscrete]: ...


@overload
def known_space(name: Literal["Record"]) -> type[Record]: ...


@overload
def known_space(name: Literal["Tuple"]) -> type[Tuple]: ...


@overload
def known_space(name: str) -> type[Space[object]]: ...


def known_space(name: str) -> type[Space[object]]:
    """The space class of that type name, which has been imported: nothing is loaded by name.

    >>> known_space("Box").__name__
    'Box'
    """
    classes = Space._known  # pyright: ignore[reportPrivateUsage]
    known, base = classes.get(name), Space[object]
    if known is None or known.sample is base.sample:  # a class without `sample` is a base of spaces, not one
        names = sorted(one for one, kind in classes.items() if kind.sample is not base.sample)
        raise CodecError(
            f"space type: expected one of {', '.join(names)}, got {shorten(name)}; "
            "import the module that defines it first"
        )
    return known


def describe_value(x: object) -> str:
    """A value in a message: short, and with its dtype where NumPy gave it one."""
    if is_scalar(x):
        return f"{x!s} ({x.dtype})"
    if is_array(x):
        array = x
        return f"array of shape {array.shape}, dtype {array.dtype}"
    return shorten(x)


def same_data(a: Any, b: Any) -> bool:
    """Whether two arguments are equal, where `==` would stumble over arrays inside containers.

    >>> same_data({"low": [np.zeros(2)]}, {"low": [np.zeros(2)]})
    True
    """
    if is_array(a) or is_array(b):
        return np.array_equal(a, b)
    if is_dict(a) and is_dict(b):
        return a.keys() == b.keys() and all(same_data(value, b[key]) for key, value in a.items())
    if is_list_or_tuple(a) and type(a) is type(b):
        return len(a) == len(b) and all(map(same_data, a, b))
    return bool(a == b)
