"""Pydantic's models are made by Pydantic: what its rules and the author's code do to an instance is done."""

from typing import Any

import pytest
from pydantic import BaseModel, ConfigDict, Field, PrivateAttr, computed_field, model_validator

from ludus.errors import InvalidValue
from ludus.spaces import Record


class Tidy(BaseModel):
    model_config = ConfigDict(str_strip_whitespace=True, extra="allow")
    name: str
    size: int = 3


class Remembering(BaseModel):
    name: str
    _seen: list[str] = PrivateAttr(default_factory=list)

    @computed_field
    @property
    def loud(self) -> str:
        return self.name.upper()


class Renamed(BaseModel):
    model_config = ConfigDict(frozen=True)
    name: str = Field(validation_alias="title")


class Choosy(BaseModel):
    low: int
    high: int

    @model_validator(mode="after")
    def in_order(self):
        if self.low > self.high:
            raise ValueError("low comes first")
        return self


class Signed(BaseModel):
    name: str
    by: str = ""

    @classmethod
    def model_validate(cls, obj: Any, **options: Any) -> Any:
        return super().model_validate({**obj, "by": "its own code"}, **options)


@pytest.mark.parametrize(
    ("data", "made"),
    [
        ({"name": " tea "}, Tidy(name="tea")),
        ({"name": "tea"}, Remembering(name="tea")),
        ({"name": "tea"}, Renamed(title="tea")),
        ({"low": 1, "high": 2.0}, Choosy(low=1, high=2)),
        ({"name": "hé"}, Signed(name="hé", by="its own code")),
    ],
    ids=lambda one: type(one).__name__,
)
def test_an_instance_is_what_pydantic_makes_of_the_fields(data, made):
    found = Record(type(made)).read(data)
    assert (type(found), found, vars(found)) == (type(made), made, vars(made))
    assert (found.__pydantic_extra__, found.__pydantic_private__) == (
        made.__pydantic_extra__,
        made.__pydantic_private__,
    )
    assert found.model_dump() == made.model_dump()


@pytest.mark.parametrize(
    ("model", "data", "said"),
    [
        (Tidy, {"name": "tea", "size": "3"}, r"value\.size: expected int, got '3'"),
        (Tidy, {"name": "tea", "size": 2**70}, r"value\.size"),
        (Tidy, {"name": "\ud800"}, r"value\.name"),
        (Tidy, {"name": "tea", "more": 1}, r"value\.more"),
        (Choosy, {"low": 3, "high": 2}, "low comes first"),
        (Renamed, {"title": "tea"}, r"value\.title"),
    ],
)
def test_what_no_field_takes_is_refused_though_pydantic_might_take_it(model, data, said):
    with pytest.raises(InvalidValue, match=said):
        Record(model).read(data)
