"""`Dict`: one value of each of several spaces, by key."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable, Iterable, Iterator, KeysView, Mapping, Sequence
from typing import Any, TypeGuard, TypeVar, cast

import numpy as np

from ludus.errors import (
    CodecError,
    InvalidArgument,
    InvalidMask,
    InvalidSeed,
    InvalidSpace,
    InvalidType,
    InvalidValue,
    shorten,
)
from ludus.seeding import Seed, copy_generator
from ludus.spaces.array_space import Array
from ludus.spaces.box import require_same
from ludus.spaces.composite import Composite, combined_box, split_flat
from ludus.spaces.kinds import is_dict, is_list, is_mapping
from ludus.spaces.mask import exclusive
from ludus.spaces.slot import Allocate
from ludus.spaces.space import DictT_co, Space, Violation

__all__ = ["Dict"]

KeyT = TypeVar("KeyT")
ByKey = Mapping[Any, object]
"""A value for each key; keys are of whichever type the author of the space chose."""


class Dict(Composite[DictT_co], Mapping[str, Space[Any]]):
    """Dictionaries with exactly the space's keys. A plain mapping is sorted by key unless `sort_keys=False`.

    >>> from ludus.spaces import Box, Discrete
    >>> space = Dict(position=Box(-1, 1, shape=(2,)), color=Discrete(3), seed=42)
    >>> space.sample()
    {'position': array([0.6273108, 0.240238 ], dtype=float32), 'color': np.int64(2)}
    >>> print(*space.validate({"position": np.zeros(2, np.float32), "color": 7}, "observation"))
    observation["color"]: expected Discrete(3), got 7

    To a type checker values are `dict[str, Any]`, or what their author says: `Dict[Seen]({…})` of a TypedDict.
    """

    batched = True

    def __init__(
        self,
        spaces: Mapping[KeyT, Space[object]] | Sequence[tuple[KeyT, Space[object]]] | None = None,
        seed: Seed | Mapping[object, object] | np.random.Generator | None = None,
        *,
        sort_keys: bool = True,
        **spaces_kwargs: Space[object],
    ) -> None:
        self.sort_keys = sort_keys
        self.spaces: dict[Any, Space[Any]] = _ordered(spaces, sort_keys)
        twice = self.spaces.keys() & spaces_kwargs.keys()
        if twice:
            raise InvalidArgument(
                f"Dict: expected each key once, got {sorted(twice)} both in the mapping and as keywords"
            )
        self.spaces |= spaces_kwargs
        for key, space in self.spaces.items():
            _check_space(key, space)
        super().__init__(None, None, seed)

    def arguments(self) -> dict[str, object]:
        """The pairs of key and space, in order."""
        return {"spaces": tuple(self.spaces.items()), "sort_keys": self.sort_keys}

    @property
    def subspaces(self) -> tuple[Space[object], ...]:
        """The spaces in the order of their keys."""
        return tuple(self.spaces.values())

    def same_layout(self, other: Space[object]) -> bool:
        """The same keys, and parts that fit the same buffers."""
        if not isinstance(other, Dict) or self.spaces.keys() != other.spaces.keys():
            return False
        return all(space.same_layout(other.spaces[key]) for key, space in self.spaces.items())

    def seed(self, seed: object = None) -> dict[str, object]:
        """Seed by one integer, from which each space's is drawn, or by a dictionary of one seed for each key."""
        if seed is None:
            return {key: space.seed(None) for key, space in self.spaces.items()}
        if is_mapping(seed):
            if seed.keys() != self.spaces.keys():
                raise InvalidSeed(f"seed: expected the keys {list(self.spaces)}, got {list(seed)}")
            return {key: self.spaces[key].seed(one) for key, one in seed.items()}
        drawn = self._drawn_seeds(seed)
        return {key: space.seed(one) for (key, space), one in zip(self.spaces.items(), drawn, strict=True)}

    def sample(self, mask: object = None, probability: object = None) -> DictT_co:
        """Independent samples; `mask` and `probability` are dictionaries with one entry, or None, for each key."""
        drawn: Any
        if mask is None and probability is None:
            drawn = {key: space.sample() for key, space in self.spaces.items()}
            return drawn
        kind = exclusive(mask, probability) or "mask"
        given = mask if kind == "mask" else probability
        if not is_mapping(given) or given.keys() != self.spaces.keys():
            raise InvalidMask(f"{kind}: expected a dictionary with the keys {list(self.spaces)}, got {shorten(given)}")
        drawn = {key: space.sample(**{kind: given[key]}) for key, space in self.spaces.items()}
        return drawn

    def default(self) -> DictT_co:
        """The zero of each space."""
        return cast(DictT_co, {key: space.default() for key, space in self.spaces.items()})

    def contains(self, x: object) -> bool:
        """Whether `x` is a dictionary with exactly these keys, each value in its space."""
        if not isinstance(x, dict) or x.keys() != self.spaces.keys():
            return False
        for key, space in self.spaces.items():  # noqa: SIM110  (a generator costs as much as the checks)
            if not space.contains(x[key]):
                return False
        return True

    def validate(self, x: object, path: str = "value") -> list[Violation]:
        """Missing and unknown keys, and the violations of every value."""
        if not is_dict(x):
            return [self._violation(x, path, f"a dictionary with the keys {list(self.spaces)}")]
        found: list[Violation] = []
        for key, space in self.spaces.items():
            where = f"{path}{_subscript(key)}"
            found += space.validate(x[key], where) if key in x else [Violation(where, repr(space), "no such key")]
        strange = [key for key in x if key not in self.spaces]
        return found + [
            Violation(f"{path}{_subscript(key)}", f"only the keys {list(self.spaces)}", "this one") for key in strange
        ]

    def coerce(self, x: object, name: str = "value", error: type[InvalidValue] = InvalidValue) -> DictT_co:
        """A dictionary of the values that its entries stand for."""
        if not self.typed or not is_dict(x) or x.keys() != self.spaces.keys():
            return super().coerce(x, name, error)
        each = self.spaces.items()
        return cast(DictT_co, {key: space.coerce(x[key], f"{name}{_subscript(key)}", error) for key, space in each})

    # --- a mapping of key to space ---

    def __getitem__(self, key: object) -> Space[Any]:
        return self.spaces[key]

    def __setitem__(self, key: object, value: Space[object]) -> None:
        _check_space(key, value)
        self.spaces[key] = value

    def __iter__(self) -> Iterator[str]:
        return iter(self.spaces)

    def __len__(self) -> int:
        return len(self.spaces)

    def keys(self) -> KeysView[str]:
        """The keys in order."""
        return self.spaces.keys()

    def __contains__(self, x: object) -> bool:
        return self.contains(x)

    # --- flattening ---

    def flatten(self, x: Any) -> Any:
        """The flattened values joined in the order of keys, or a dictionary of them where one is not an array."""
        flat = {key: space.flatten(x[key]) for key, space in self.spaces.items()}
        return np.concatenate(list(flat.values())) if self.is_np_flattenable else flat

    def unflatten(self, x: Any) -> DictT_co:
        """The values from their joined or separate flat forms."""
        flat = dict(zip(self.spaces, split_flat(self, x), strict=True)) if self.is_np_flattenable else x
        return cast(DictT_co, {key: space.unflatten(flat[key]) for key, space in self.spaces.items()})

    def flat_space(self) -> Space[object]:
        """One box, or a dictionary of flattened spaces."""
        flat = {key: space.flat_space() for key, space in self.spaces.items()}
        return combined_box(list(flat.values())) if self.is_np_flattenable else self._like(flat)

    def _like(self, spaces: dict[object, Space[object]], seed: np.random.Generator | None = None) -> Dict:
        same = Dict(list(spaces.items()), seed=seed)
        same.sort_keys = self.sort_keys
        return same

    # --- batches ---

    def batch(self, n: int) -> Dict:
        """A dictionary of batches."""
        return self._like({key: space.batch(n) for key, space in self.spaces.items()}, copy_generator(self.np_random))

    def batch_differing(self, spaces: Sequence[Space[object]]) -> Dict:
        """A dictionary of batches of differing spaces."""
        each = require_same(self, spaces)
        if any(one.keys() != self.keys() for one in each):
            raise InvalidSpace(
                f"batch_differing: expected the keys {list(self)} in every space, got {[list(one) for one in each]}"
            )
        columns = {key: space.batch_differing([one[key] for one in each]) for key, space in self.spaces.items()}
        return self._like(columns, copy_generator(self.np_random))

    def iterate(self, items: ByKey) -> Iterator[dict[str, object]]:
        """Lane by lane, a dictionary each."""
        columns = [space.iterate(items[key]) for key, space in self.spaces.items()]
        return (dict(zip(self.spaces, row, strict=True)) for row in zip(*columns, strict=True))

    def concatenate(self, items: Iterable[ByKey], out: ByKey | None = None) -> dict[str, object]:
        """Each key's values joined."""
        rows = list(items)
        outs: ByKey = {} if out is None else out
        return {key: space.concatenate([row[key] for row in rows], outs.get(key)) for key, space in self.spaces.items()}

    def empty(self, n: int = 1, fn: Callable[..., Array] = np.zeros) -> dict[str, object]:
        """A dictionary of buffers."""
        return {key: space.empty(n, fn) for key, space in self.spaces.items()}

    # --- the wire: an object where every key is a string, else a list in the order of keys ---

    @property
    def _named(self) -> bool:
        return all(isinstance(key, str) for key in self.spaces)

    def encode(self, x: ByKey, *, binary: bool = False) -> dict[str, object] | list[object]:
        """An object of encoded values."""
        coded = {key: space.encode(x[key], binary=binary) for key, space in self.spaces.items()}
        return coded if self._named else list(coded.values())

    def decode(self, data: object) -> DictT_co:
        """The dictionary in an object with exactly these keys."""
        if not self._named and is_list(data) and len(data) == len(self.spaces):
            data = dict(zip(self.spaces, data, strict=True))
        if not is_dict(data) or data.keys() != self.spaces.keys():
            raise CodecError(f"{self!r}: expected an object with the keys {list(self.spaces)}, got {shorten(data)}")
        value: Any = {key: space.decode(data[key]) for key, space in self.spaces.items()}
        return value

    def read(self, data: object, name: str = "value") -> DictT_co:
        """Each value read by its own space."""
        if not self.typed or not is_dict(data) or data.keys() != self.spaces.keys():
            return super().read(data, name)
        each = self.spaces.items()
        return cast(DictT_co, {key: space.read(data[key], f"{name}{_subscript(key)}") for key, space in each})

    def to_jsonable(self, sample_n: Iterable[ByKey]) -> dict[str, object]:
        """For each key the list of its values."""
        rows = list(sample_n)
        return {key: space.to_jsonable([row[key] for row in rows]) for key, space in self.spaces.items()}

    def from_jsonable(self, sample_n: ByKey) -> list[DictT_co]:
        """The dictionaries again."""
        columns = [space.from_jsonable(sample_n[key]) for key, space in self.spaces.items()]
        return [cast(DictT_co, dict(zip(self.spaces, row, strict=True))) for row in zip(*columns, strict=True)]

    def json_schema(self) -> dict[str, object]:
        """An object whose every key is required."""
        schemas = {key: space.json_schema() for key, space in self.spaces.items()}
        if not self._named:
            return {
                "type": "array",
                "prefixItems": list(schemas.values()),
                "minItems": len(schemas),
                "maxItems": len(schemas),
            }
        return {"type": "object", "properties": schemas, "required": list(schemas), "additionalProperties": False}

    # --- shared memory ---

    def create_shared(self, n: int, allocate: Allocate) -> dict[str, object]:
        """Memory for each key."""
        return {key: space.create_shared(n, allocate) for key, space in self.spaces.items()}

    def read_shared(self, memory: ByKey, n: int) -> dict[str, object]:
        """A dictionary of batches."""
        return {key: space.read_shared(memory[key], n) for key, space in self.spaces.items()}

    def write_shared(self, memory: ByKey, lane: int, x: ByKey) -> None:
        """Each value into its own memory."""
        for key, space in self.spaces.items():
            space.write_shared(memory[key], lane, x[key])

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Dict) and self.spaces == other.spaces

    def __repr__(self) -> str:
        return f"Dict({', '.join(f'{key!r}: {space!r}' for key, space in self.spaces.items())})"


def _subscript(key: object) -> str:
    return f'["{key}"]' if isinstance(key, str) else f"[{key!r}]"


def _check_space(key: object, space: object) -> None:
    if not isinstance(space, Space):
        raise InvalidType(f"Dict[{key!r}]: expected a ludus Space, got {shorten(space)}")


def _are_pairs(spaces: object) -> TypeGuard[Sequence[tuple[object, Space[object]]]]:
    """Whether they may be: what they are made of is found when they are taken apart."""
    return isinstance(spaces, Sequence) and not isinstance(spaces, str)


def _ordered(spaces: object, sort_keys: bool) -> dict[object, Space[object]]:
    if spaces is None:
        return {}
    if is_mapping(spaces):
        named = cast(Mapping[Any, Space[object]], spaces)  # each of them is looked at afterwards
        if isinstance(named, OrderedDict) or not sort_keys:
            return dict(named)
        try:
            return {key: named[key] for key in sorted(named)}
        except TypeError:  # keys that do not compare keep the order they came in
            return dict(named)
    try:
        if _are_pairs(spaces):
            return dict(spaces)
    except (TypeError, ValueError):  # not pairs
        pass
    raise InvalidType(f"Dict spaces: expected a mapping or a sequence of pairs, got {shorten(spaces)}")
