"""JSON schemas: valid by themselves, and what is encoded is valid by them."""

import jsonschema
import numpy as np
import pytest

from ludus.spaces import Box, Dict, Discrete, Graph, MultiBinary, MultiDiscrete, OneOf, Record, Sequence, Text, Tuple
from tests.spaces.models import EVERY, Move, Order, Query, any_samples


def valid(schema, data):
    return jsonschema.Draft202012Validator(schema).is_valid(data)


@pytest.mark.parametrize("name", EVERY)
def test_every_encoded_sample_is_valid(name):
    space, values = any_samples(name, 20)
    schema = space.json_schema()
    jsonschema.Draft202012Validator.check_schema(schema)
    for value in values:
        jsonschema.validate(space.encode(value), schema, jsonschema.Draft202012Validator)


SCHEMAS = [
    (Discrete(4, start=-1), {"type": "integer", "minimum": -1, "maximum": 2}),
    (
        Box(0, 1, (2,)),
        {"type": "array", "items": {"type": "number", "minimum": 0.0, "maximum": 1.0}, "minItems": 2, "maxItems": 2},
    ),
    (Box(0, 1, (), np.bool_), {"type": "boolean"}),
    (Box(0, 255, (), np.uint8), {"type": "integer", "minimum": 0, "maximum": 255}),
    (
        Box(0, np.inf, ()),
        {"anyOf": [{"type": "number", "minimum": 0.0}, {"enum": ["NaN", "Infinity", "-Infinity"]}]},
    ),
    (
        MultiDiscrete([2, 3], start=[1, 0]),
        {"type": "array", "items": {"type": "integer", "minimum": 0, "maximum": 2}, "minItems": 2, "maxItems": 2},
    ),
    (MultiDiscrete([]), {"type": "array", "items": {"type": "integer"}, "minItems": 0, "maxItems": 0}),
    (MultiBinary(1), {"type": "array", "items": {"type": "integer", "enum": [0, 1]}, "minItems": 1, "maxItems": 1}),
    (Text(3, charset="ab"), {"type": "string", "minLength": 1, "maxLength": 3, "pattern": "^[ab]*$"}),
    (Text(3, charset=None), {"type": "string", "minLength": 1, "maxLength": 3}),
    (Sequence(Discrete(1)), {"type": "array", "items": {"type": "integer", "minimum": 0, "maximum": 0}}),
    (
        Dict(a=Discrete(1)),
        {
            "type": "object",
            "properties": {"a": {"type": "integer", "minimum": 0, "maximum": 0}},
            "required": ["a"],
            "additionalProperties": False,
        },
    ),
]


@pytest.mark.parametrize(("space", "schema"), SCHEMAS, ids=[repr(space) for space, _ in SCHEMAS])
def test_schemas_say_what_users_expect(space, schema):
    assert space.json_schema() == schema


@pytest.mark.parametrize(
    ("space", "data"),
    [
        (Discrete(3), 3),
        (Discrete(3), 1.5),
        (Box(0, 1, (2,)), [0.5]),
        (Box(0, 1, (2,)), [0.5, 2]),
        (MultiBinary(2), [0, 2]),
        (Text(3, charset="ab"), "abc"),
        (Text(3, charset="ab"), "abab"),
        (Tuple((Discrete(2), Discrete(2))), [0]),
        (Tuple((Discrete(2), Discrete(2))), [0, 2]),
        (Dict(a=Discrete(2)), {}),
        (Dict(a=Discrete(2)), {"a": 0, "b": 1}),
        (Dict({1: Discrete(2), 2: Discrete(2)}), [0]),
        (Sequence(Discrete(2)), [0, 2]),
        (Graph(Discrete(2), Discrete(2)), {"edges": []}),
        (Graph(Discrete(2), Discrete(2)), {"nodes": [0], "edges": [0], "edge_links": [[0]]}),
        (OneOf((Discrete(2), Text(3))), [1, 0]),
        (OneOf((Discrete(2), Text(3))), [2, 0]),
        (OneOf((Discrete(2), Text(3))), 0),
    ],
)
def test_schemas_refuse_what_the_space_refuses(space, data):
    assert not valid(space.json_schema(), data)


@pytest.mark.parametrize("charset", [r"\]^-[", "a-z", "^a", "]", "\\", "é☃", ".*+?(){}|$/", " \t\n\"'"])
def test_patterns_take_characters_as_they_are(charset):
    space = Text(40, min_length=0, charset=charset)
    schema = space.json_schema()
    assert valid(schema, "".join(dict.fromkeys(charset)))
    assert not valid(schema, "Q")
    assert not valid(schema, "b")


def test_the_schema_of_a_record_names_its_fields_and_requires_those_without_default():
    schema = Record(Move).json_schema()
    assert schema["title"] == "Move"
    assert list(schema["properties"]) == ["direction", "steps", "position", "color", "note"]
    assert schema["required"] == ["direction", "steps", "position"]
    assert schema["additionalProperties"] is False
    assert schema["properties"]["direction"] == {"enum": ["left", "right", 3, None, True]}
    assert schema["properties"]["color"] == {"enum": ["red", "blue"], "default": "red"}
    assert schema["properties"]["note"]["anyOf"][1] == {"type": "null"}


@pytest.mark.parametrize(
    ("model", "change"),
    [
        (Query, {"k": 0}),
        (Query, {"k": 11}),
        (Query, {"temperature": 2.0}),
        (Query, {"text": ""}),
        (Query, {"text": "x" * 21}),
        (Query, {"tags": ["a"] * 4}),
        (Query, {"tags": "a"}),
        (Query, {"inner": {"value": 5}}),
        (Query, {"limit": 4}),
        (Query, {"other": 1}),
        (Order, {"pair": [1]}),
        (Order, {"pair": [1, 1]}),
        (Order, {"flags": [1]}),
        (Order, {"scores": {"a": "b"}}),
        (Order, {"choice": [0, "a"]}),
        (Order, {"choice": {"z": 3}}),
        (Order, {"level": 2}),
        (Order, {"nothing": 0}),
        (Order, {"count": 5}),
    ],
)
def test_the_schema_of_a_record_refuses_what_the_record_refuses(model, change):
    space = Record(model, seed=0)
    data = space.encode(space.sample())
    assert valid(space.json_schema(), data)
    assert not valid(space.json_schema(), data | change)
