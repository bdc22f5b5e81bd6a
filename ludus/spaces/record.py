"""`Record`: typed values. A dataclass, msgspec Struct or Pydantic model is a space like any other."""

from collections.abc import Callable, Mapping, Sequence
from copy import copy, deepcopy
from dataclasses import fields as dataclass_fields
from dataclasses import is_dataclass
from functools import cached_property, partial
from keyword import iskeyword
from typing import Any, TypeAlias, TypeVar, cast

import numpy as np

from ludus.errors import CodecError, InvalidSpace, InvalidValue, did_you_mean, shorten
from ludus.spaces.annotations import ALONE, WITH_NAN, Within, field_type
from ludus.spaces.compiled import Compiled, Construct, getter
from ludus.spaces.composite import Composite
from ludus.spaces.defaults import Default, described_default, model_default
from ludus.spaces.dict import Dict
from ludus.spaces.field_description import field_from_arguments
from ludus.spaces.field_types import FieldType
from ludus.spaces.kinds import is_list, is_list_or_tuple, is_mapping
from ludus.spaces.mask import exclusive, field_masks
from ludus.spaces.models import NO_DEFAULT, StandIn, model_fields, runs_code, shared_standin, takes_positions, validator
from ludus.spaces.record_columns import WRITTEN_ALIKE, RecordColumns, is_flat
from ludus.spaces.space import LanesCodec, ModelT_co, Space, Violation, same_data

__all__ = ["Record"]

Drawing: TypeAlias = "np.random.Generator | None"
T = TypeVar("T")
MAX_ORIGIN_CHARS = 1024
"""Characters of the place of a model in a description."""


class Record(Composite[ModelT_co]):
    """The instances of `model` whose every field is what its annotation says.

    `spaces` are those of fields whose size is known only when an environment is made: they stand for what the
    annotation names.

    >>> from dataclasses import dataclass
    >>> from typing import Annotated, Literal
    >>> from ludus.spaces import Discrete
    >>> @dataclass
    ... class Move:
    ...     direction: Literal["left", "right"]
    ...     steps: Annotated[int, Discrete(4, start=1)] = 1
    >>> space = Record(Move, seed=1)
    >>> space.sample()
    Move(direction='left', steps=1)
    >>> space.coerce({"direction": "right"})
    Move(direction='right', steps=1)
    >>> space.coerce(Move("up"), "action")
    Traceback (most recent call last):
    ludus.errors.InvalidValue: action.direction: expected one of ['left', 'right'], got 'up'
    >>> Record(Move, spaces={"steps": Discrete(2)}).contains(Move("left", 3))
    False
    """

    def __init__(
        self,
        model: type[ModelT_co],
        seed: object = None,
        *,
        spaces: Mapping[str, Space[object]] | None = None,
        within: Within = ALONE,
    ) -> None:
        found = model_fields(model)
        name = getattr(model, "__name__", repr(model))
        own = dict(spaces or {})
        if strange := own.keys() - found.keys():
            raise InvalidSpace(
                f"Record({name}) spaces: expected some of the fields {list(found)}, got {sorted(strange)}"
            )
        inside = within._replace(models=(*within.models, model))
        fields = {one: field_type(*field.within(own.get(one)), f"{name}.{one}", inside) for one, field in found.items()}
        defaults = {one: model_default(fields, one, field) for one, field in found.items()}
        keywords = {one: field.keyword for one, field in found.items()}
        self._set(model, name, fields, {one: default for one, default in defaults.items() if default}, keywords)
        self._spaces, self._nan = own, within.nan
        self.origin = f"{model.__module__}:{model.__qualname__}"
        super().__init__(None, None, seed)

    def _set(
        self,
        model: type[object],
        name: str,
        fields: dict[str, FieldType],
        defaults: dict[str, Default],
        keywords: dict[str, str],
    ) -> None:
        if not fields:
            raise InvalidSpace(f"Record({name}): expected a model with fields, got none")
        self.model = cast(type[ModelT_co], model)
        self.name, self.fields, self.defaults = name, fields, defaults
        self.origin: str | None = None
        """Where the model is, as `module:Class`; nobody is led there by a description."""
        self._keywords = keywords
        self._spaces: dict[str, Space[object]] = {}
        self._nan = False
        self._compiled: Compiled[ModelT_co] | None = None

    # --- description ---

    def arguments(self) -> dict[str, object]:
        """The model's name and place, and each field's type and default: all a stranger needs, none of the code."""
        fields = [
            [name, field.arguments(), self.defaults[name].described if name in self.defaults else []]
            for name, field in self.fields.items()
        ]
        return {"name": self.name, "model": self.origin, "fields": fields}

    @classmethod
    def from_arguments(cls, arguments: Mapping[str, object]) -> "Record":
        """A record of a class made for the occasion, with the same fields and defaults; `bind` puts the real one in."""
        name, fields = arguments.get("name"), arguments.get("fields")
        if not isinstance(name, str) or not _is_name(name) or not is_list(fields):
            raise CodecError(f"Record: expected a name and fields, got {shorten(arguments)}")
        types: dict[str, FieldType] = {}
        defaults: dict[str, Default] = {}
        for one in fields:
            if not is_list(one) or len(one) != 3:
                raise CodecError(f"{name}: expected fields of a name, a type and a default, got {shorten(one)}")
            key, described, default = one
            if not isinstance(key, str) or not _is_name(key) or key in types:
                raise CodecError(f"{name}: expected fields of different names, got {shorten(key)}")
            types[key] = field_from_arguments(described)
            if default != []:
                defaults[key] = described_default(f"{name}.{key}", types[key], default)
        makers = {key: defaults[key].maker if key in defaults else None for key in types}
        self = cls.__new__(cls)
        self._set(
            shared_standin(repr((name, fields)), name, makers), name, types, defaults, {key: key for key in types}
        )
        self.origin = _place(arguments.get("model"))
        super(Record, self).__init__()
        return self

    def bind(self, model: type[T]) -> "Record[T]":
        """The same space over your own class, checked to have the same fields."""
        bound = self.over(model)
        if bound != self:
            raise InvalidSpace(f"bind: expected a model with the fields of {self!r}, got {bound!r}")
        bound.copy_rng_from(self)
        return bound

    def over(self, model: type[T]) -> "Record[T]":
        """A record of a class with this one's spaces, where the class names others of their kind."""
        bare = next(
            (one for one in (Record(model, within=place) for place in (ALONE, WITH_NAN)) if one == self), Record(model)
        )
        both = [
            (name, field.named, self.fields[name].named) for name, field in bare.fields.items() if name in self.fields
        ]
        spaces = {one: it for one, here, it in both if it is not None and type(here) is type(it) and here != it}
        return Record(model, spaces=spaces, within=Within(nan=bare._nan)) if spaces else bare

    def become(self, other: "Record") -> None:
        """Be an equal record from here on, in place, for the spaces that hold this one."""
        if other is not self:
            vars(self).clear()
            vars(self).update(vars(other))

    def recompile(self) -> None:
        """Forget what was compiled, since a model inside has changed."""
        self._compiled = None
        vars(self).pop("read", None)

    def field_types(self) -> tuple[FieldType, ...]:
        """Those of the fields."""
        return tuple(self.fields.values())

    @cached_property
    def _dict(self) -> Dict:
        return Dict([(name, field.space) for name, field in self.fields.items()])

    @property
    def subspaces(self) -> tuple[Space[object], ...]:
        """The spaces that the fields are sampled from, in order."""
        return self._dict.subspaces

    # --- sampling ---

    def seed(self, seed: object = None) -> dict[str, object]:
        """Seed by one integer, from which each field's is drawn, or by a dictionary of one seed for each field."""
        used = self._dict.seed(seed)
        self._np_random = self._dict.np_random
        return used

    def copy_rng_from(self, other: Space[object]) -> None:
        """Continue from where the generators of an equal space are."""
        if "_dict" in vars(other):
            super().copy_rng_from(other)

    def sample(self, mask: object = None, probability: object = None) -> ModelT_co:
        """An instance with random fields; a mask has an entry or None for each, or is the array of the one it fits."""
        kind = exclusive(mask, probability)
        given = field_masks(self._dict.spaces, mask if kind == "mask" else probability)
        values = self._dict.sample(**{kind: given}) if kind else self._dict.sample()
        return self.from_fields(values)

    def default(self) -> ModelT_co:
        """An instance with the zero of each field."""
        return self.from_fields(self._dict.default())

    # --- membership ---

    @property
    def typed(self) -> bool:
        """Always: objects of other classes are made the model's."""
        return True

    @property
    def compiled(self) -> Compiled[ModelT_co]:
        """The fields as msgspec sees them, made on first use: it is loaded then."""
        return self._compiled or self._compile()

    def _compile(self) -> Compiled[ModelT_co]:
        makers = {name: make for name, default in self.defaults.items() if (make := default.maker) is not None}
        self._compiled = Compiled(self.name, self.fields, makers, self.construct())
        # The compiled function in place of the method, which is found first: a call less for each value that comes in.
        vars(self)["read"] = self._compiled.reader(self._read_slowly)
        return self._compiled

    def construct(self) -> Construct[ModelT_co]:
        """How instances are made; where the model runs code of its own, what that makes of values is checked."""
        model, keywords = self.model, tuple(self._keywords.values())
        validate = validator(model)
        if takes_positions(model, keywords):
            found = Construct(model)
        elif validate is not None and not runs_code(model):  # Pydantic's own way in, which is the quicker one
            return Construct(validate, keywords, whole=True)
        else:
            found = Construct(model, keywords)
        return found._replace(call=partial(self._checked, model)) if runs_code(model) else found

    def _checked(self, model: Callable[..., T], *values: object, **named: object) -> T:
        made = model(*values, **named)
        if not self._fits(made):
            raise ValueError(f"{shorten(made)} is what the model's own code makes of them")
        return made

    def contains(self, x: object) -> bool:
        """Whether `x` is an instance of the model with every field valid."""
        return isinstance(x, self.model) and ((self._compiled or self._compile()).fits(x) or not self.validate(x))

    def _fits(self, x: object) -> bool:
        return (self._compiled or self._compile()).fits(x) or not self.validate(x)

    def validate(self, x: object, path: str = "value") -> list[Violation]:
        """The violations of every field, by attribute."""
        if not isinstance(x, self.model):
            return [self._violation(x, path, f"an instance of {self.name}")]
        found: list[Violation] = []
        for name, field in self.fields.items():
            value = getattr(x, name, NO_DEFAULT)
            missing = [Violation(f"{path}.{name}", repr(field), "no such field")]
            found += missing if value is NO_DEFAULT else field.validate(value, f"{path}.{name}")
        return found

    def check(self, x: object, name: str = "value", error: type[InvalidValue] = InvalidValue) -> None:
        """Raise `error` with every violation unless `x` is in the space."""
        if isinstance(x, self.model) and (self._compiled or self._compile()).fits(x):
            return
        problems = self.validate(x, name)
        if problems:
            raise error("; ".join(map(str, problems)))

    # --- values of other classes, and plain data ---

    def coerce(self, x: object, name: str = "value", error: type[InvalidValue] = InvalidValue) -> ModelT_co:
        """`x` as an instance of the model: itself, or made of a mapping or an object of any class with the fields."""
        self.compiled  # noqa: B018  (made outside the net: a fault in it is ours)
        try:
            return self.quick(x)
        except Exception:  # noqa: S110  (msgspec's, or that of the author's own code: the slow way says what it is)
            pass
        return self._explained(x, name, error)

    def quick(self, x: object) -> ModelT_co:
        """What `coerce` gives where msgspec can tell; it raises whatever it meets elsewhere, and does not say why."""
        compiled = self._compiled or self._compile()
        if type(x) is dict:
            return compiled.read(x)
        if isinstance(x, self.model) and compiled.fits(x):
            return x
        if is_mapping(x):
            return compiled.read(dict(x))
        return compiled.read_row(getter(tuple(self.fields))(x))

    def _explained(self, x: object, name: str, error: type[Exception]) -> ModelT_co:
        """The instance, made field by field, or `error` with all that is wrong."""
        if isinstance(x, self.model) and not self.validate(x):
            return x
        problems: list[Violation] = []
        value = self.coerce_fields(x, name, problems)
        if problems:
            raise error("; ".join(map(str, problems)))
        return cast(ModelT_co, value)

    def coerce_fields(self, x: object, path: str, problems: list[Violation]) -> object:
        """The instance that `x` stands for, or `x` as it is; what is wrong with it is added to `problems`."""
        given = self._given(x)
        if given is None:
            problems.append(self._violation(x, path, f"an instance of {self.name}, or its fields"))
            return x
        before = len(problems)
        problems += [self._unknown(key, path) for key in given if key not in self.fields]
        values = [self._field_value(name, given, path, problems) for name in self.fields]
        if len(problems) > before:
            return x
        try:
            return self.construct().make(values)
        except Exception as error:  # whatever the author's own code raises
            reason = " ".join(str(error).split())
            problems.append(Violation(path, f"fields that {self.name} accepts", f"{shorten(x)}: {reason}"))
            return x

    def _given(self, x: object) -> dict[object, object] | None:
        """The fields that an object has; None where it has none of them."""
        if is_mapping(x):
            return dict(x)
        plain = isinstance(x, type | str | bytes | int | float | None) or is_list_or_tuple(x)
        if plain and not hasattr(x, "_fields"):
            return None
        found: dict[object, object] = {name: getattr(x, name) for name in self.fields if hasattr(x, name)}
        return found or None

    def _field_value(self, name: str, given: dict[object, object], path: str, problems: list[Violation]) -> object:
        if name in given:
            return self.fields[name].coerce(given[name], f"{path}.{name}", problems)
        default = self.defaults.get(name)
        if default is None or default.maker is None:
            problems.append(Violation(f"{path}.{name}", repr(self.fields[name]), "no such field"))
            return None
        return default.make()

    def _unknown(self, key: object, path: str) -> Violation:
        hint = did_you_mean(key, list(self.fields)) if isinstance(key, str) else ""
        return Violation(f"{path}.{key}", f"one of the fields {list(self.fields)}", f"{shorten(key)}{hint}")

    def read(self, data: object, name: str = "value") -> ModelT_co:
        """The instance in an object with these fields and no others; defaults fill in what it leaves out."""
        self._compile()
        return vars(self)["read"](data, name)

    def _read_slowly(self, data: object, name: str) -> ModelT_co:
        try:
            return self._explained(data, name, InvalidValue)
        except RecursionError as error:
            raise CodecError(f"{name}: expected a few levels of nesting, got more than can be read") from error

    def decode(self, data: object) -> ModelT_co:
        """What `read` gives; CodecError where the fields do not fit."""
        compiled = self._compiled or self._compile()
        try:
            return compiled.read(data)
        except Exception:  # noqa: S110  (as in `read`)
            pass
        return self._explained(data, self.name, CodecError)

    def write(self, x: object, name: str = "value", *, binary: bool = False) -> dict[str, object]:
        """An object of the fields of what `x` stands for."""
        return self.encode(self.coerce(x, name), binary=binary)

    def reader(self, name: str) -> Callable[[object], ModelT_co]:
        """`read` for values of that name, as it was compiled."""
        self.compiled  # noqa: B018  (it puts the compiled function in the method's place)
        return partial(self.read, name=name)

    def batch(self, n: int) -> Space[tuple[ModelT_co, ...]]:
        """A tuple of `n` copies, which share what was compiled: so they are known to be equal."""
        self.compiled  # noqa: B018  (made before it is copied)
        return super().batch(n)

    def lanes_codec(self, spaces: Sequence[Space[object]], name: str) -> LanesCodec | None:
        """Columns, where these spaces are equal to this one and all fields hold single values."""
        if not all(map(is_flat, self.fields.values())) or not all(map(self._is_twin, spaces)):
            return None
        found = RecordColumns(self, len(spaces), name)
        return found.read, found.write

    def _is_twin(self, other: Space[object]) -> bool:
        """Whether a space takes and gives the same; copies of one batch, nearly always, are seen at a glance."""
        if type(other) is not Record:
            return False
        return other._compiled is self.compiled or (other.model is self.model and other == self)

    def writer(self, name: str) -> Callable[[object], object]:
        """`write` of that name for msgpack: an instance of a plain dataclass is left to the encoder, which knows it."""
        model, fits, write = self.model, self.compiled.fits, partial(self.write, name=name, binary=True)
        if not self._is_plain():
            return write

        def write_plain(x: object) -> object:
            return x if type(x) is model and fits(x) else write(x)

        return write_plain

    def _is_plain(self) -> bool:
        """Whether msgspec would write an instance as `encode` does: a dataclass of numbers, text and truth alone."""
        model = self.model
        known = {one.name for one in dataclass_fields(model)} if is_dataclass(model) else None
        return known == set(self.fields) and all(type(one) in WRITTEN_ALIKE for one in self.fields.values())

    def encode(self, x: object, *, binary: bool = False) -> dict[str, object]:
        """An object of the fields, each written as its own type would be."""
        return {name: field.encode(getattr(x, name), binary=binary) for name, field in self.fields.items()}

    def json_schema(self) -> dict[str, object]:
        """An object; fields without a default are required."""
        schemas = {name: field.json_schema() for name, field in self.fields.items()}
        for name, default in self.defaults.items():
            if default.data is not NO_DEFAULT:
                schemas[name] = {**schemas[name], "default": default.data}
        return {
            "title": self.name,
            "type": "object",
            "properties": schemas,
            "required": [name for name in schemas if name not in self.defaults],
            "additionalProperties": False,
        }

    # --- to and from the values of the fields' spaces ---

    def to_fields(self, x: object) -> dict[str, object]:
        """The value of each field's space, by name."""
        return {name: field.read(getattr(x, name)) for name, field in self.fields.items()}

    def from_fields(self, values: Mapping[str, object]) -> ModelT_co:
        """The instance with those values of the fields' spaces."""
        return self.model(**{self._keywords[name]: field.build(values[name]) for name, field in self.fields.items()})

    def flatten(self, x: object) -> Any:
        """The flattened fields joined, or a dictionary of them where one is not an array."""
        return self._dict.flatten(self.to_fields(x))

    def unflatten(self, x: object) -> ModelT_co:
        """The instance again."""
        return self.from_fields(self._dict.unflatten(x))

    def flat_space(self) -> Space[object]:
        """One box, or a dictionary of flattened fields."""
        return self._dict.flat_space()

    # --- identity ---

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Record) or self.name != other.name:
            return False
        return same_data(self.arguments()["fields"], other.arguments()["fields"])

    def __repr__(self) -> str:
        return f"Record({self.name}: {', '.join(f'{name}={field!r}' for name, field in self.fields.items())})"

    def __deepcopy__(self, memo: dict[int, object]) -> "Record":
        twin = copy(self)
        memo[id(self)] = twin
        vars(twin).pop("_dict", None)
        twin.fields = deepcopy(self.fields, memo)  # and with them the generators of the spaces they are sampled from
        twin._np_random = deepcopy(self._np_random, memo)
        if self._compiled is not None:  # which draws no samples, so that both may have it
            twin._compiled = self._compiled
            vars(twin)["read"] = self._compiled.reader(twin._read_slowly)
        if "_dict" in vars(self):
            twin._dict.copy_rng_from(self._dict)
        return twin

    def __copy__(self) -> "Record":
        twin = Record.__new__(type(self))
        vars(twin).update(vars(self))
        twin.recompile()
        return twin

    def __reduce__(self) -> tuple[Callable[..., "Record"], tuple[object, ...]]:
        drawn, model = vars(self).get("_dict"), self.model
        if issubclass(self.model, StandIn):
            return _restored, (None, self.arguments(), drawn, self._np_random)
        return _restored, (model, self._spaces, drawn, self._np_random, self._nan)


def _restored(
    model: type[object] | None, given: Mapping[str, object], drawn: Dict | None, rng: Drawing, nan: bool = False
) -> "Record":
    """A record that was pickled: its model by name, with its spaces, or its description, and its generators."""
    spaces = cast(Mapping[str, Space[object]], given)
    record = Record.from_arguments(given) if model is None else Record(model, spaces=spaces, within=Within(nan=nan))
    if drawn is not None:
        record._dict.copy_rng_from(drawn)  # pyright: ignore[reportPrivateUsage]
    record._np_random = rng  # pyright: ignore[reportPrivateUsage]
    return record


def _is_name(name: str) -> bool:
    return name.isidentifier() and not iskeyword(name) and not name.startswith("__")


def _place(origin: object) -> str | None:
    return origin if isinstance(origin, str) and len(origin) <= MAX_ORIGIN_CHARS else None
