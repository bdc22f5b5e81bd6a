"""`Record`: typed values. A dataclass, msgspec Struct or Pydantic model is a space like any other."""

from dataclasses import make_dataclass
from functools import lru_cache
from typing import Any

from ludus.errors import CodecError, InvalidSpace, shorten
from ludus.spaces.composite import Composite
from ludus.spaces.dict import Dict
from ludus.spaces.lens import Lens, lens_from_arguments
from ludus.spaces.mask import exclusive
from ludus.spaces.space import Space, Violation
from ludus.spaces.typed import lens_of, model_fields

__all__ = ["Record"]


class Record(Composite[Any]):
    """The instances of `model` whose every field is in the space its annotation stands for.

    >>> from dataclasses import dataclass
    >>> from typing import Annotated, Literal
    >>> from ludus.spaces import Discrete
    >>> @dataclass
    ... class Move:
    ...     direction: Literal["left", "right"]
    ...     steps: Annotated[int, Discrete(4, start=1)]
    >>> space = Record(Move, seed=1)
    >>> space.sample()
    Move(direction='left', steps=1)
    >>> print(*space.validate(Move("up", 9), "action"), sep="; ")
    action.direction: expected one of ['left', 'right'], got 'up'; action.steps: expected Discrete(4, start=1), got 9
    """

    def __init__(
        self,
        model: type,
        seed: Any = None,
        *,
        seen: tuple[Any, ...] = (),
    ) -> None:
        self.model = model
        self.name = getattr(model, "__name__", repr(model))
        found = model_fields(model)
        self.lenses: dict[str, Lens] = {
            name: lens_of(field.annotation, field.metadata, f"{self.name}.{name}", (*seen, model))
            for name, field in found.items()
        }
        self._required = {name for name, field in found.items() if field.required}
        self._keywords = {name: field.keyword for name, field in found.items()}
        if not self.lenses:
            raise InvalidSpace(f"Record({self.name}): expected a model with fields, got none")
        self._dict = Dict([(name, lens.space) for name, lens in self.lenses.items()])
        super().__init__(None, None, seed)

    # --- description ---

    def arguments(self) -> dict[str, Any]:
        """The model's name and the lens of each field: all that a stranger needs, none of the code."""
        return {"name": self.name, "fields": [[name, lens.arguments()] for name, lens in self.lenses.items()]}

    @classmethod
    def from_arguments(cls, arguments: dict[str, Any]) -> "Record":
        """A record of a dataclass made for the occasion, with the same fields; `bind` puts the real one in."""
        name, fields = arguments.get("name"), arguments.get("fields")
        if not isinstance(name, str) or not name.isidentifier() or not isinstance(fields, list):
            raise CodecError(f"Record: expected a name and fields, got {shorten(arguments)}")
        lenses = {key: lens_from_arguments(lens) for key, lens in fields}
        model = _model(name, tuple(lenses))
        self = cls.__new__(cls)
        self.model, self.name, self.lenses, self._required = model, name, lenses, set(lenses)
        self._keywords = {key: key for key in lenses}
        self._dict = Dict([(key, lens.space) for key, lens in lenses.items()])
        Space.__init__(self)
        return self

    def bind(self, model: type) -> "Record":
        """The same space over your own class, checked to have the same fields."""
        bound = Record(model)
        if bound != self:
            raise InvalidSpace(f"bind: expected a model with the fields of {self!r}, got {bound!r}")
        bound.adopt_random(self)
        return bound

    @property
    def subspaces(self) -> tuple[Space[Any], ...]:
        """The spaces of the fields, in order."""
        return self._dict.subspaces

    # --- sampling and membership ---

    def seed(self, seed: Any = None) -> dict[str, Any]:
        """Seed by one integer, from which each field's is drawn, or by a dictionary of one seed for each field."""
        used = self._dict.seed(seed)
        self._np_random = self._dict.np_random
        return used

    def sample(self, mask: Any = None, probability: Any = None) -> Any:
        """An instance with random fields; a mask is a dictionary with one entry, or None, for each field."""
        kind = exclusive(mask, probability)
        values = self._dict.sample(**{kind: mask if kind == "mask" else probability}) if kind else self._dict.sample()
        return self.from_fields(values)

    def zero(self) -> Any:
        """An instance with the zero of each field."""
        return self.from_fields(self._dict.zero())

    def contains(self, x: Any) -> bool:
        """Whether `x` is an instance of the model with every field in its space."""
        return not self.validate(x)

    def validate(self, x: Any, path: str = "value") -> list[Violation]:
        """The violations of every field, by attribute."""
        if not isinstance(x, self.model):
            return [self._violation(x, path, f"an instance of {self.name}")]
        return [one for name, lens in self.lenses.items() for one in lens.validate(getattr(x, name), f"{path}.{name}")]

    # --- to and from the values of the fields' spaces ---

    def to_fields(self, x: Any) -> dict[str, Any]:
        """The value of each field's space, by name."""
        return {name: lens.read(getattr(x, name)) for name, lens in self.lenses.items()}

    def from_fields(self, values: dict[str, Any]) -> Any:
        """The instance with those values of the fields' spaces."""
        return self.model(**{self._keywords[name]: lens.build(values[name]) for name, lens in self.lenses.items()})

    def flatten(self, x: Any) -> Any:
        """The flattened fields joined, or a dictionary of them where one is not an array."""
        return self._dict.flatten(self.to_fields(x))

    def unflatten(self, x: Any) -> Any:
        """The instance again."""
        return self.from_fields(self._dict.unflatten(x))

    def flat_space(self) -> Space[Any]:
        """One box, or a dictionary of flattened fields."""
        return self._dict.flat_space()

    # --- the wire ---

    def encode(self, x: Any, *, binary: bool = False) -> dict[str, Any]:
        """An object of the fields, each written as its own type would be."""
        return {name: lens.encode(getattr(x, name), binary=binary) for name, lens in self.lenses.items()}

    def decode(self, data: Any) -> Any:
        """The instance in an object with these fields and no others; the model's defaults fill in."""
        if not isinstance(data, dict) or not self._required <= data.keys() <= self.lenses.keys():
            raise CodecError(
                f"{self.name}: expected an object with the fields {list(self.lenses)}, got {shorten(data)}"
            )
        fields: dict[str, Any] = {}
        for name, part in data.items():
            try:
                fields[self._keywords[name]] = self.lenses[name].decode(part)
            except CodecError as error:
                raise CodecError(f"{self.name}.{name}: {error}") from error
        try:
            return self.model(**fields)
        except (TypeError, ValueError) as error:  # a model may have rules of its own
            raise CodecError(f"{self.name}: expected fields the model accepts, got {shorten(data)}: {error}") from error

    def json_schema(self) -> dict[str, Any]:
        """An object; fields without a default are required."""
        schemas = {name: lens.json_schema() for name, lens in self.lenses.items()}
        return {
            "title": self.name,
            "type": "object",
            "properties": schemas,
            "required": [name for name in schemas if name in self._required],
            "additionalProperties": False,
        }

    # --- identity ---

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Record) and self.arguments() == other.arguments()

    def __repr__(self) -> str:
        return f"Record({self.name}: {', '.join(f'{name}={lens.space!r}' for name, lens in self.lenses.items())})"


@lru_cache(maxsize=1024)
def _model(name: str, fields: tuple[str, ...]) -> type:
    """A dataclass for the occasion; the same for the same fields, so that values of two such records may be equal."""
    return make_dataclass(name, list(fields))
