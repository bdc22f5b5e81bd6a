"""`EnvSpec`: everything needed to make an environment again, and to decide whether one wants to."""

from collections.abc import Callable, Mapping
from dataclasses import MISSING, dataclass, field, fields
from functools import cache, cached_property
from typing import TYPE_CHECKING, Any, ClassVar, Literal, Protocol, TypeVar, get_args

from ludus.core.entry_point import EntryPoint, entry_point_name, load_entry_point
from ludus.core.id import EnvId
from ludus.errors import CodecError, InvalidSpec, InvalidType, listing, shorten
from ludus.spaces.description import SPEC_JSON
from ludus.spaces.kinds import is_dict, is_iterable, is_list_or_tuple, is_mapping, is_tuple
from ludus.spaces.message import read_json, write_json
from ludus.spaces.space import same_data

if TYPE_CHECKING:
    from dataclasses import Field

    from ludus.core.env import AnyEnv
    from ludus.core.vector_env import AnyVectorEnv

__all__ = ["Arguments", "EnvSpec", "Isolation", "Security", "IsolationRecord", "WrapperSpec"]

SpecT = TypeVar("SpecT", bound="Dataclass")
Arguments = dict[str, Any]
"""Keyword arguments of a constructor, which alone knows what they have to be."""


class Dataclass(Protocol):
    """What `dataclasses.fields` takes: a spec of whichever kind."""

    __dataclass_fields__: ClassVar[dict[str, "Field[object]"]]


Isolation = Literal["none", "process", "sandbox", "container"]


@dataclass(frozen=True)
class Security:
    """What an environment may touch beyond computing, and the least isolation it should run under.

    >>> Security(network=("api.example.org:443",), isolation="sandbox").isolation
    'sandbox'
    """

    network: tuple[str, ...] = ()
    """Hosts it may contact, as `host:port`; `"*"` stands for any."""
    files: tuple[str, ...] = ()
    """Paths outside its own package that it may use, as `read:PATH` or `write:PATH`."""
    subprocesses: tuple[str, ...] = ()
    """Programs it may start."""
    dependencies: tuple[str, ...] = ()
    """Requirements it brings with it, as pip spells them."""
    isolation: Isolation = "none"
    """The weakest isolation it should run in."""

    def __post_init__(self) -> None:
        for name in ("network", "files", "subprocesses", "dependencies"):
            _set(self, name, _strings(f"security.{name}", getattr(self, name)))
        _check_isolation("security.isolation", self.isolation)


@dataclass(frozen=True)
class IsolationRecord:
    """What an environment was made behind, beside what was asked for: the record that goes with its results.

    >>> IsolationRecord("none", asked="sandbox").weakened
    True
    """

    isolation: Isolation = "none"
    """What it was made behind."""
    asked: Isolation = "none"
    """The least that its security block and the words on trust ask for."""
    backend: str = ""
    """What gave the isolation; empty where there is none."""

    def __post_init__(self) -> None:
        for name in ("isolation", "asked"):
            _check_isolation(f"isolation_record.{name}", getattr(self, name))
        if not isinstance(self.backend, str):  # pyright: ignore[reportUnnecessaryIsInstance]
            raise InvalidSpec(f"isolation_record.backend: expected text, got {shorten(self.backend)}")

    @property
    def weakened(self) -> bool:
        """Whether it is weaker than what was asked for, which took an explicit word."""
        known = get_args(Isolation)
        return known.index(self.isolation) < known.index(self.asked)


@dataclass(frozen=True)
class WrapperSpec:
    """A wrapper and its arguments, not yet applied.

    >>> WrapperSpec("TimeLimit", "ludus.wrappers.time_limit:TimeLimit", {"max_episode_steps": 5}).name
    'TimeLimit'
    """

    name: str
    entry_point: str
    kwargs: Arguments = field(default_factory=Arguments)

    def __post_init__(self) -> None:
        given: object = self.kwargs
        for name in ("name", "entry_point"):
            if not isinstance(getattr(self, name), str):
                raise InvalidSpec(f"wrapper {name}: expected text, got {shorten(getattr(self, name))}")
        if not is_dict(given):
            raise InvalidSpec(f"wrapper kwargs: expected a dictionary of keyword arguments, got {shorten(given)}")

    def __eq__(self, other: object) -> bool:
        return type(other) is WrapperSpec and _same_fields(self, other)

    def __call__(self, env: "AnyEnv") -> "AnyEnv":
        """Apply the wrapper to an environment."""
        return load_entry_point(self.entry_point, f"wrapper {self.name}")(env, **self.kwargs)


@dataclass(frozen=True)
class EnvSpec:
    """A frozen description of an environment: equal by value, and JSON both ways, wrappers included.

    >>> spec = EnvSpec("Maze-v2", entry_point="maze:Maze", max_episode_steps=100, tags=("grid",))
    >>> spec.name, spec.version, EnvSpec.from_json(spec.to_json()) == spec
    ('Maze', 2, True)
    """

    id: str
    entry_point: EntryPoint | None = None
    """`module:Class`, or a callable; what it returns is the environment."""
    reward_threshold: float | None = None
    """The return at which the environment counts as solved."""
    nondeterministic: bool = False
    max_episode_steps: int | None = None
    """Where an episode is truncated."""
    order_enforce: bool = True
    disable_env_checker: bool = False
    kwargs: Arguments = field(default_factory=Arguments)
    additional_wrappers: tuple[WrapperSpec, ...] = ()
    vector_entry_point: EntryPoint | None = None
    author: str = ""
    description: str = ""
    tags: tuple[str, ...] = ()
    family: str = ""
    """The group it is listed with; by default its namespace, or the folder of a built-in."""
    license: str = ""
    extras: tuple[str, ...] = ()
    """Extras of the package that have to be installed."""
    aliases: tuple[str, ...] = ()
    deprecated: str = ""
    """Why not to use it any more, and what to use instead."""
    security: Security = field(default_factory=lambda: _NOTHING_DECLARED)
    isolation_record: IsolationRecord | None = None
    """Written by `make` where isolation was asked for or given; None: made in this process, as no more was asked."""

    # What the registry, which is above, tells of itself when `import ludus` loads it.
    maker: ClassVar["Callable[..., AnyEnv] | None"] = None
    assembler: ClassVar["Callable[[EnvSpec, Mapping[str, object]], AnyEnv] | None"] = None
    batch_maker: ClassVar["Callable[..., AnyVectorEnv] | None"] = None
    file_spec: ClassVar["Callable[[EnvSpec, tuple[WrapperSpec, ...], object], EnvSpec] | None"] = None

    def __post_init__(self) -> None:
        _ = self.parsed_id
        for name, value in tuple(self.__dict__.items()):
            if name in _READERS and value is not _DEFAULTS[name]:  # most are: catalogs have hundreds of specs
                _set(self, name, _READERS[name](value, self.id, name))
        if not self.family:
            _set(self, "family", self._default_family)

    @cached_property
    def parsed_id(self) -> EnvId:
        """The id in its parts, parsed once."""
        return EnvId.parse(self.id)

    @property
    def namespace(self) -> str | None:
        """The part of the id before the last slash."""
        return self.parsed_id.namespace

    @property
    def name(self) -> str:
        """The part of the id between namespace and version."""
        return self.parsed_id.name

    @property
    def version(self) -> int | None:
        """The number after `-v`."""
        return self.parsed_id.version

    @property
    def deterministic(self) -> bool:
        """Whether equal seeds and actions give equal histories."""
        return not self.nondeterministic

    def replace(self, **changes: Any) -> "EnvSpec":
        """A copy with some fields changed; unknown names are an error. Only what changes is checked again."""
        own = self.__dict__
        if not changes.keys() <= _NAMES:
            _check_names(EnvSpec, changes, "EnvSpec")
        changes = {name: value for name, value in changes.items() if value is not own[name]}
        if not changes:
            return self
        new, named = object.__new__(type(self)), changes.get("id", self.id)
        read = {name: _READERS[name](value, named, name) for name, value in changes.items() if name != "id"}
        new.__dict__.update({**own, **read})
        return new if _FAMILY.isdisjoint(changes) else self._renamed(new, named, changes)

    def _renamed(self, new: "EnvSpec", id: str, changes: Mapping[str, object]) -> "EnvSpec":
        """The copy with its id; a family that nobody chose follows id and code."""
        new.__dict__.update(id=id, parsed_id=EnvId.parse(id))
        if not new.family or ("family" not in changes and self.family == self._default_family):
            _set(new, "family", new._default_family)
        return new

    @property
    def _default_family(self) -> str:
        return self.namespace or _folder(self.entry_point)

    def with_wrapper(self, wrapper: WrapperSpec) -> "EnvSpec":
        """A copy with one more wrapper outside."""
        return self.replace(additional_wrappers=(*self.additional_wrappers, wrapper))

    def make(self, **kwargs: object) -> "AnyEnv":
        """Make the environment."""
        if EnvSpec.maker is None:
            raise InvalidSpec(f"{self.id}: expected `import ludus` before spec.make(), got only ludus.core")
        return EnvSpec.maker(self, **kwargs)

    @classmethod
    def make_named(cls, target: str, **kwargs: object) -> "AnyEnv":
        """Make what `target` names, as `ludus.make` does."""
        if cls.maker is None:
            raise InvalidSpec(f"{target}: expected `import ludus` before it is made, got only ludus.core")
        return cls.maker(target, **kwargs)

    def assemble(self, arguments: Mapping[str, object]) -> "AnyEnv":
        """Make the environment in this process, whatever isolation it asks for: for where it is isolated already."""
        if EnvSpec.assembler is None:
            raise InvalidSpec(f"{self.id}: expected `import ludus` before spec.assemble(), got only ludus.core")
        return EnvSpec.assembler(self, arguments)

    def make_vec(self, num_envs: int, **kwargs: object) -> "AnyVectorEnv":
        """Make a batch of it."""
        if EnvSpec.batch_maker is None:
            raise InvalidSpec(f"{self.id}: expected `import ludus` before spec.make_vec(), got only ludus.core")
        return EnvSpec.batch_maker(self, num_envs, **kwargs)

    def of_file(self, wrappers: "tuple[WrapperSpec, ...]" = (), isolation: object = None) -> "EnvSpec":
        """This spec as the word of a file: where it names code that nobody chose here, it asks for a sandbox.

        `wrappers` are those of a batch, which run in this process; `isolation` is what somebody asked for.
        """
        if EnvSpec.file_spec is None:
            raise InvalidSpec(f"{self.id}: expected `import ludus` before a file is executed, got only ludus.core")
        return EnvSpec.file_spec(self, wrappers, isolation)

    def to_json(self) -> str:
        """The spec as JSON text; raises InvalidSpec naming the argument that is code rather than data."""
        data: dict[str, object] = {}
        for name, default in _DEFAULTS.items():
            value = self.__dict__[name]
            if value is not default and self._chose(name, value):
                data[name] = value if type(value) in (str, int, bool) else _plain(value, f"{self.id}.{name}")
        return write_json(data).decode()

    def _chose(self, name: str, value: object) -> bool:
        """Whether a field is not as it would be by itself."""
        return not same_data(value, _DEFAULTS[name]) and not (name == "family" and value == self._default_family)

    @staticmethod
    def from_json(text: str | bytes) -> "EnvSpec":
        """The spec that `to_json` wrote. Making it imports and runs the code it names: read only what you trust."""
        try:
            data = SPEC_JSON.read(read_json(text, "spec"), "spec")
        except CodecError as error:
            raise InvalidSpec(f"spec: expected JSON text of an EnvSpec, got {shorten(text)}: {error}") from error
        return read_fields(EnvSpec, data, "EnvSpec")

    def pprint(
        self, disable_print: bool = False, include_entry_points: bool = False, print_all: bool = False
    ) -> str | None:
        """Print the fields that differ from their defaults, or return them when `disable_print`."""
        lines: list[str] = []
        for one in fields(self):
            value, hidden = getattr(self, one.name), one.name.endswith("entry_point") and not include_entry_points
            if print_all or (not hidden and not same_data(value, _DEFAULTS[one.name])):
                lines.append(f"{one.name}={value}")
        if disable_print:
            return "\n".join(lines)
        # What a third party wrote may neither rename the terminal's window nor hide text in it.
        shown = "".join(one for one in "\n".join(lines) if one.isprintable() or one == "\n")
        print(shown)  # noqa: T201  (it is what the method is for)
        return None

    def __eq__(self, other: object) -> bool:
        return type(other) is EnvSpec and _same_fields(self, other)

    def __deepcopy__(self, memo: dict[int, object]) -> "EnvSpec":
        return self  # frozen


def read_fields(kind: type[SpecT], data: object, what: str) -> SpecT:
    """A spec class from a mapping, with unknown and missing names reported."""
    if not is_mapping(data):
        raise InvalidSpec(f"{what}: expected an object, got {shorten(data)}")
    _check_names(kind, data, what)
    missing = [one.name for one in _fields(kind) if one.name not in data and _is_required(one)]
    if missing:
        raise InvalidSpec(f"{what}: expected the fields {listing(map(repr, missing))}, got none of them")
    try:
        return kind(**data)
    except TypeError as error:
        raise InvalidSpec(f"{what}: {error}") from error


def _check_names(kind: "type[Dataclass]", data: Mapping[str, object], what: str) -> None:
    known = [one.name for one in _fields(kind)]
    unknown = [name for name in data if name not in known]
    if unknown:
        raise InvalidSpec(f"{what}: expected the fields {listing(known, 40)}, got {listing(map(repr, unknown))}")


@cache
def _fields(kind: "type[Dataclass]") -> "tuple[Field[object], ...]":
    """The fields of a class, looked up once: a catalog has hundreds of entries."""
    return fields(kind)


def _is_required(one: "Field[object]") -> bool:
    return one.default is MISSING and one.default_factory is MISSING


def _default(one: "Field[object]") -> object:
    return one.default_factory() if callable(one.default_factory) else one.default


def _typed(kind: type | tuple[type, ...], expected: str) -> "Reader":
    """Take a field that is of a kind; True is no number."""

    def read(value: object, id: str, name: str) -> object:
        if not isinstance(value, kind) or (isinstance(value, bool) and kind is not bool):
            raise InvalidSpec(f"{id}.{name}: expected {expected}, got {shorten(value)}")
        return value

    return read


def _limit(value: object, id: str, name: str) -> int | None:
    if value is not None and (isinstance(value, bool) or not isinstance(value, int) or value < 1):
        raise InvalidSpec(f"{id}.{name}: expected a positive integer or None, got {shorten(value)}")
    return value


def _code(value: object, id: str, name: str) -> EntryPoint | None:
    if value is not None and not callable(value) and not (isinstance(value, str) and ":" in value):
        raise InvalidSpec(f"{id}.{name}: expected 'module:Class' or a callable, got {shorten(value)}")
    return value


def _arguments(value: object, id: str, name: str) -> Arguments:
    if not is_dict(value):
        raise InvalidSpec(f"{id}.{name}: expected a dictionary of keyword arguments, got {shorten(value)}")
    return dict(value)


def _wrappers(value: object, id: str, name: str) -> tuple[WrapperSpec, ...]:
    if not is_list_or_tuple(value):
        raise InvalidSpec(f"{id}.{name}: expected a sequence of WrapperSpec, got {shorten(value)}")
    return tuple(_wrapper(one, id, name) for one in value)


def _wrapper(value: object, id: str, name: str) -> WrapperSpec:
    if isinstance(value, WrapperSpec):
        return value
    if not is_mapping(value):
        raise InvalidSpec(f"{id}.{name}: expected WrapperSpec, got {shorten(value)}")
    return read_fields(WrapperSpec, value, "wrapper")


def _texts(value: object, id: str, name: str) -> tuple[str, ...]:
    del id
    return _strings(name, value)


def _security(value: object, id: str, name: str) -> Security:
    if isinstance(value, Security):
        return value
    if not is_mapping(value):
        raise InvalidSpec(f"{id}.{name}: expected a Security block, got {shorten(value)}")
    return read_fields(Security, value, "security")


def _isolation_record(value: object, id: str, name: str) -> IsolationRecord | None:
    if value is None or isinstance(value, IsolationRecord):
        return value
    if not is_mapping(value):
        raise InvalidSpec(f"{id}.{name}: expected an IsolationRecord or None, got {shorten(value)}")
    return read_fields(IsolationRecord, value, "isolation_record")


def _check_isolation(what: str, value: object) -> None:
    if value not in get_args(Isolation):
        raise InvalidSpec(f"{what}: expected one of {listing(get_args(Isolation))}, got {shorten(value)}")


def _strings(what: str, value: object) -> tuple[str, ...]:
    # Looked at in a tuple of its own: an iterator can be gone through once.
    given = tuple(value) if is_iterable(value) and not isinstance(value, str) else None
    found = tuple(one for one in given or () if isinstance(one, str))
    if given is None or len(found) < len(given):
        raise InvalidType(f"{what}: expected a sequence of text, got {shorten(value)}")
    return found


def _same_fields(a: "Dataclass", b: object) -> bool:
    return all(same_data(getattr(a, one.name), getattr(b, one.name)) for one in fields(a))


def _set(frozen: object, name: str, value: object) -> None:
    object.__setattr__(frozen, name, value)


Reader = Callable[[object, str, str], object]
_flag, _text = _typed(bool, "True or False"), _typed(str, "text")
_READERS: dict[str, Reader] = {
    "entry_point": _code,
    "reward_threshold": _typed((int, float, type(None)), "a number or None"),
    "nondeterministic": _flag,
    "max_episode_steps": _limit,
    "order_enforce": _flag,
    "disable_env_checker": _flag,
    "kwargs": _arguments,
    "additional_wrappers": _wrappers,
    "vector_entry_point": _code,
    "author": _text,
    "description": _text,
    "tags": _texts,
    "family": _text,
    "license": _text,
    "extras": _texts,
    "aliases": _texts,
    "deprecated": _text,
    "security": _security,
    "isolation_record": _isolation_record,
}
"""For each field beside the id: it is checked, and taken as what the spec keeps."""
_NAMES = {"id", *_READERS}
_NOTHING_DECLARED = Security()
_DEFAULTS = {one.name: _default(one) for one in fields(EnvSpec)}
LEVELS = 4
"""What is around the argument of a wrapper in a spec's JSON: the spec, its wrappers, one of them, its arguments."""
_FAMILY = {"id", "entry_point", "family"}
"""What the default of the family follows."""


def _folder(entry_point: object) -> str:
    """`classic` for `ludus.envs.classic.cartpole:CartPole`; empty for code from elsewhere."""
    path = entry_point.split(".") if isinstance(entry_point, str) else []
    return path[2].partition(":")[0] if path[:2] == ["ludus", "envs"] and len(path) > 2 else ""


def _plain(value: object, what: str) -> object:
    if isinstance(value, WrapperSpec):
        entry_point_name(value.entry_point, f"{what}.entry_point")
    if isinstance(value, Security | IsolationRecord | WrapperSpec):
        return {one.name: _plain(getattr(value, one.name), f"{what}.{one.name}") for one in fields(value)}
    if is_tuple(value) and value and isinstance(value[0], WrapperSpec | str):
        return [_plain(one, what) for one in value]
    if callable(value):
        return entry_point_name(value, what)
    try:
        return SPEC_JSON.write(value, what, LEVELS)
    except CodecError as error:
        raise InvalidSpec(str(error)) from error
