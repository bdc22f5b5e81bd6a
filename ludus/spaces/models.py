"""Models: dataclasses, msgspec Structs and Pydantic models, read as fields with types and defaults."""

from abc import ABCMeta
from collections.abc import Callable, Mapping
from copy import deepcopy
from dataclasses import MISSING, field, is_dataclass, make_dataclass
from dataclasses import dataclass as plain_dataclass
from dataclasses import fields as dataclass_fields
from enum import Enum
from inspect import Parameter, signature
from operator import attrgetter
from types import MemberDescriptorType
from typing import (
    TYPE_CHECKING,
    Annotated,
    Any,
    NamedTuple,
    Protocol,
    TypeGuard,
    TypeVar,
    cast,
    get_args,
    get_origin,
    get_type_hints,
)

from ludus.errors import InvalidSpace, InvalidType, shorten
from ludus.spaces.kinds import class_of, is_dict, is_list_or_tuple, is_mapping
from ludus.spaces.space import same_data

if TYPE_CHECKING:
    from msgspec import Struct

__all__ = [
    "NO_DEFAULT",
    "ModelField",
    "StandIn",
    "field_names",
    "fields_of",
    "is_model",
    "is_shareable",
    "model_fields",
    "runs_code",
    "shared_standin",
    "standin_model",
    "takes_positions",
    "validator",
    "written",
]


T = TypeVar("T")


def _no_default(self: object) -> str:
    del self
    return "no default"


NO_DEFAULT: object = type("NoDefault", (), {"__repr__": _no_default})()
"""Stands for a default that a field does not have; None may be one."""


class ModelField(NamedTuple):
    """What a model says about one of its fields."""

    annotation: object
    metadata: tuple[object, ...]
    keyword: str
    """What the constructor calls it."""
    default: object = NO_DEFAULT
    factory: Callable[[], object] | None = None

    def within(self, space: object) -> tuple[object, tuple[object, ...]]:
        """The annotation and what is said of it; a space, where there is one, stands for all that is."""
        if space is None:
            return self.annotation, self.metadata
        bare = self.annotation
        while get_origin(bare) is Annotated:
            bare = get_args(bare)[0]
        return bare, (space,)

    def make_default(self) -> object:
        """A default of one's own, or `NO_DEFAULT`."""
        if self.factory is not None:
            return self.factory()
        return self.default if is_shareable(self.default) else deepcopy(self.default)


def is_model(kind: object) -> TypeGuard[type[object]]:
    """Whether `kind` is a dataclass, msgspec Struct or Pydantic model class."""
    marks = ("__dataclass_fields__", "__struct_fields__", "__pydantic_fields__")
    return isinstance(kind, type) and any(hasattr(kind, mark) for mark in marks)


def field_names(kind: type) -> tuple[str, ...] | None:
    """The names of the fields of a class of models or of named tuples; None of any other.

    >>> from collections import namedtuple
    >>> field_names(namedtuple("Point", "x y")), field_names(int)
    (('x', 'y'), None)
    """
    model: object = kind
    if is_dataclass(kind):
        return tuple(one.name for one in dataclass_fields(kind))
    for attribute in ("__struct_fields__", "__pydantic_fields__", "_fields"):
        found: object = getattr(model, attribute, None)
        if is_list_or_tuple(found) or is_mapping(found):
            return tuple(map(str, found))
    return None


def fields_of(value: object) -> dict[str, object] | None:
    """The fields of a mapping, a model or a named tuple, by name; None of anything else.

    >>> fields_of({"message": "hello"}), fields_of(3)
    ({'message': 'hello'}, None)
    """
    if is_mapping(value):
        return {str(name): one for name, one in value.items()}
    names = field_names(type(value))
    return None if names is None else {name: getattr(value, name) for name in names if hasattr(value, name)}


class _Described(Protocol):
    """What a dataclass and a Struct say of a field."""

    @property
    def name(self) -> str: ...

    @property
    def default(self) -> object: ...

    @property
    def default_factory(self) -> object: ...


class _PydanticField(Protocol):
    """What Pydantic says of one."""

    annotation: object
    validation_alias: object
    default: object
    default_factory: Callable[[], object] | None
    init: bool | None
    metadata: list[object]

    def is_required(self) -> bool: ...


def model_fields(model: type[object]) -> dict[str, ModelField]:
    """The fields of a model that its constructor takes."""
    if not is_model(model):
        raise InvalidType(f"Record: expected a dataclass, msgspec Struct or Pydantic model class, got {shorten(model)}")
    pydantic: Mapping[str, _PydanticField] | None = getattr(model, "__pydantic_fields__", None)
    if pydantic is not None:
        return {name: _pydantic_field(name, one) for name, one in pydantic.items() if one.init is not False}
    try:
        hints = get_type_hints(model, include_extras=True)
    except NameError as error:
        raise InvalidSpace(f"Record({model.__name__}): expected annotations that resolve, got {error}") from error
    if is_dataclass(model):
        return {one.name: _plain_field(one, hints[one.name], MISSING) for one in dataclass_fields(model) if one.init}
    from msgspec import NODEFAULT, structs  # here already, or there would be no Struct

    struct = cast("type[Struct]", model)
    return {one.name: _plain_field(one, hints[one.name], NODEFAULT) for one in structs.fields(struct)}


def _plain_field(one: _Described, annotation: object, missing: object) -> ModelField:
    default = NO_DEFAULT if one.default is missing else one.default
    factory = None if one.default_factory is missing else cast(Callable[[], object], one.default_factory)
    return ModelField(annotation, (), one.name, default, factory)


def _pydantic_field(name: str, info: _PydanticField) -> ModelField:
    keyword = info.validation_alias if isinstance(info.validation_alias, str) else name
    default, factory = NO_DEFAULT, None
    if info.default_factory is not None:
        takes_data = bool(getattr(info, "default_factory_takes_validated_data", False))
        factory = None if takes_data else info.default_factory
    elif not info.is_required():
        default = info.default
    return ModelField(info.annotation, tuple(info.metadata), keyword, default, factory)


def takes_positions(model: type, names: tuple[str, ...]) -> bool:
    """Whether a model's constructor takes the fields by position, in order."""
    try:
        taken = list(signature(model).parameters.values())[: len(names)]
    except (TypeError, ValueError):
        return False
    return tuple(one.name for one in taken) == names and all(
        one.kind is Parameter.POSITIONAL_OR_KEYWORD for one in taken
    )


def validator(model: type[T]) -> Callable[[dict[str, object]], T] | None:
    """What makes an instance of a dictionary of its fields, where the model has a way of its own, as Pydantic's have.

    `model_validate` itself is called where an author wrote one; else what it calls, in half the time.
    """
    owner = next((kind for kind in model.__mro__ if "model_validate" in vars(kind)), None)
    if owner is None:
        return None
    validate = attrgetter("__pydantic_validator__.validate_python" if _is_library(owner) else "model_validate")
    return validate(model)


def is_shareable(default: object) -> bool:
    """Whether a default can be given to many: what has a hash does not change, by the rule that all models follow."""
    try:
        hash(default)
    except TypeError:
        return False
    return True


@plain_dataclass(eq=False)
class StandIn:
    """What models made for the occasion share."""

    def __eq__(self, other: object) -> bool:
        kind, names = type(other), field_names(type(self))
        if kind.__name__ != type(self).__name__ or field_names(kind) != names:
            return NotImplemented
        return all(same_data(_plain(getattr(self, name)), _plain(getattr(other, name))) for name in names or ())

    __hash__ = None  # type: ignore[assignment]  # its fields may change


def _plain(value: object) -> object:
    """A value with the members of enums as they are written: whoever has no such class has them so."""
    if isinstance(value, Enum):
        return written(value)
    if is_list_or_tuple(value):
        return type(value)(map(_plain, value)) if not hasattr(value, "_fields") else value
    return {_plain(key): _plain(one) for key, one in value.items()} if is_dict(value) else value


def written(constant: object) -> object:
    """A constant as plain data: an enum by its value, or by its name where the value is no plain data."""
    if not isinstance(constant, Enum):
        return constant
    return constant.value if isinstance(constant.value, bool | int | float | str) else constant.name


def standin_model(name: str, fields: Mapping[str, Callable[[], object] | None]) -> type:
    """A dataclass that stands for a model elsewhere: its fields by name, and what makes their defaults.

    Its instances equal those of any class of the same name with the same fields, the author's own too.

    >>> Echo = standin_model("Echo", {"message": None, "count": lambda: 1})
    >>> Echo("hi"), Echo("hi") == Echo("hi", 1)
    (Echo(message='hi', count=1), True)
    """
    specified: list[tuple[str, object, object]] = []
    optional = False
    for one, default in fields.items():
        if default is not None:
            specified.append((one, Any, field(default_factory=default)))
        else:  # one that must be given after one that need not be is given by name
            specified.append((one, Any, field(kw_only=optional)))
        optional = optional or default is not None
    return make_dataclass(name, specified, bases=(StandIn,), eq=False)


MAX_STANDINS = 256
_standins: dict[str, type] = {}


def shared_standin(described: str, name: str, fields: Mapping[str, Callable[[], object] | None]) -> type:
    """One class for one description, whoever reads it: what two sessions give is of both their spaces."""
    found = _standins.pop(described, None) or standin_model(name, fields)
    _standins[described] = found  # the last one used is the last to go
    if len(_standins) > MAX_STANDINS:
        _standins.pop(next(iter(_standins)), None)
    return found


PLAIN_FACTORIES = (list, dict, set, tuple, frozenset, str, int, float, bool, bytes)
"""What makes a default and runs nobody's code."""
LIBRARIES = ("builtins", "abc", "typing", "msgspec", "pydantic", "enum")
"""Where the machinery of models is; what it runs is not an author's code."""


def runs_code(model: type[object]) -> bool:
    """Whether making an instance of a model runs code that its author wrote: hooks, validators, factories.

    >>> @plain_dataclass
    ... class Loud:
    ...     x: int
    ...     def __post_init__(self):
    ...         print("made")
    >>> runs_code(Loud)
    True
    """
    if issubclass(model, StandIn):
        return False
    if type(model) not in (type, ABCMeta) and not _is_library(class_of(model)):
        return True
    return _has_hooks(model) or any(_field_runs_code(model, name, one) for name, one in model_fields(model).items())


def _is_library(kind: type) -> bool:
    return kind.__module__.partition(".")[0] in LIBRARIES


def _has_hooks(model: type[object]) -> bool:
    """Whether the class, or one it derives from, has methods that are called as an instance is made."""
    decorators: object = getattr(model, "__pydantic_decorators__", None)
    kinds = ("validators", "field_validators", "root_validators", "model_validators")
    if decorators is not None and any(getattr(decorators, kind, None) for kind in kinds):
        return True
    return any(_called_at_birth(kind) for kind in model.__mro__ if not _is_library(kind))


def _called_at_birth(kind: type) -> set[str]:
    """The names of those methods; less those that `dataclass` wrote."""
    called = {"__new__", "__init__", "__post_init__", "__setattr__", "__getattribute__", "model_post_init"}
    called |= {"__get_pydantic_core_schema__", "__get_validators__"}
    params = vars(kind).get("__dataclass_params__")
    generated = set[str]()
    if params is not None:
        generated |= {"__init__"} if params.init else set()
        generated |= {"__setattr__"} if params.frozen else set()
    return (called - generated) & vars(kind).keys()


def _field_runs_code(model: type[object], name: str, one: ModelField) -> bool:
    if one.factory is not None and one.factory not in PLAIN_FACTORIES:
        return True
    for kind in model.__mro__:
        held: Mapping[str, object] = kind.__dict__
        described = held.get(name)
        if hasattr(class_of(described), "__set__") and not isinstance(described, MemberDescriptorType):
            return True
    return any(map(_is_function, one.metadata)) or _annotation_runs_code(one.annotation)


def _is_function(metadata: object) -> bool:
    """Whether what an annotation says is one of Pydantic's validators, which call what they are given."""
    return callable(getattr(metadata, "func", None)) or any(
        hasattr(metadata, name) for name in ("__get_pydantic_core_schema__", "__get_validators__")
    )


def _annotation_runs_code(annotation: object) -> bool:
    if is_model(annotation):
        return runs_code(annotation)
    if any(map(_is_function, getattr(annotation, "__metadata__", ()))):
        return True
    return any(_annotation_runs_code(one) for one in get_args(annotation))
