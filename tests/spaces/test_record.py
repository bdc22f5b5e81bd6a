"""`Record`: dataclasses, Structs and Pydantic models as spaces: sampled, validated, flattened, written, bound."""

import datetime as dt
from dataclasses import dataclass, field
from typing import Annotated, Literal

import msgspec
import numpy as np
import pytest
from pydantic import BaseModel, ConfigDict, Field, field_validator
from pydantic.dataclasses import dataclass as pydantic_dataclass

from ludus.core import Env, Step
from ludus.errors import CodecError, InvalidAction, InvalidMask, InvalidSpace, InvalidType, InvalidValue
from ludus.spaces import (
    Box,
    Dict,
    Discrete,
    OneOf,
    Record,
    Sequence,
    Text,
    Tuple,
    batch_space,
    dumps,
    from_json,
    loads,
    to_json,
)
from ludus.vector import SerialVectorEnv
from tests.core.wording import says
from tests.spaces.models import Color, Corner, Flat, Inner, Level, Move, Order, Point, Query

MODELS = pytest.mark.parametrize("model", [Move, Order, Query, Flat], ids=lambda model: model.__name__)
HERE = np.zeros(2, np.float32)


def order(**changes):
    fields = {"points": [], "pair": (1, True), "flags": (), "scores": {}, "choice": 1}
    return Order(**fields | changes)


def query(**changes):
    return Query.model_construct(
        **{name: one.get_default() for name, one in Query.model_fields.items()} | {"text": "a"} | changes
    )


@MODELS
def test_samples_are_valid_instances_of_the_model(model):
    space = Record(model, seed=0)
    for _ in range(50):
        value = space.sample()
        assert type(value) is model
        assert space.validate(value) == []


def test_plain_python_types_come_out_of_samples():
    value = Record(Order, seed=1).sample()
    assert type(value.points) is list
    assert type(value.pair) is tuple
    assert (type(value.pair[0]), type(value.pair[1])) == (int, bool)
    assert type(value.level) is Level
    assert value.nothing is None
    assert all(type(key) is str and type(one) is float for key, one in value.scores.items())
    assert type(Record(Move, seed=0).sample().steps) is int


def test_samples_reach_every_option():
    space = Record(Order, seed=0)
    drawn = [space.sample() for _ in range(200)]
    assert {type(one.choice) for one in drawn} == {int, str, Point}
    assert {one.level for one in drawn} == set(Level)
    assert {one.corner for one in drawn} == set(Corner)
    assert {one.count for one in drawn} == set(range(5))
    directions = {Record(Move, seed=seed).sample().direction for seed in range(60)}
    assert directions == {"left", "right", 3, None, True}
    queries = [Record(Query, seed=seed).sample() for seed in range(60)]
    assert {one.limit for one in queries} == {None, 0, 1, 2, 3}
    assert {len(one.tags) for one in queries} <= {0, 1, 2, 3}
    assert {one.inner is None for one in queries} == {True, False}
    assert all(1 <= one.k <= 10 and 0 <= one.temperature < 2 and 0 < len(one.text) <= 20 for one in queries)


VIOLATIONS = [
    (Move, 3, ["x: expected an instance of Move, got 3"]),
    (Move, Point(1.0), ["x: expected an instance of Move, got Point(x=1.0, y=0.0)"]),
    (
        Move,
        Move("up", 9, np.full(2, 3, np.float32), "red", 5),
        [
            "x.direction: expected one of ['left', 'right', 3, None, True], got 'up'",
            "x.steps: expected Discrete(4, start=1), got 9",
            "x.position[0]: expected -1.0 to 1.0, got 3.0",
            "x.position[1]: expected -1.0 to 1.0, got 3.0",
            "x.color: expected one of [<Color.RED: 'red'>, <Color.BLUE: 'blue'>], got 'red'",
            "x.note: expected str or None, got 5",
        ],
    ),
    (Move, Move(1, 1, HERE), ["x.direction: expected one of ['left', 'right', 3, None, True], got 1"]),
    (Move, Move("left", True, HERE), ["x.steps: expected int, Discrete(4, start=1), got True"]),
    (Move, Move("left", np.int64(1), HERE), ["x.steps: expected int, Discrete(4, start=1), got np.int64(1)"]),
    (Order, order(points=(Point(1.0),)), ["x.points: expected a list, got (Point(x=1.0, y=0.0),)"]),
    (
        Order,
        order(points=[Point(1.0), Point("a", True)]),
        [
            "x.points[1].x: expected float, got 'a'",
            "x.points[1].y: expected float, got True",
        ],
    ),
    (Order, order(pair=(1,)), ["x.pair: expected a tuple of 2, got (1,)"]),
    (Order, order(pair=(1, 2)), ["x.pair[1]: expected bool, got 2"]),
    (Order, order(flags=(True, None)), ["x.flags[1]: expected bool, got None"]),
    (Order, order(scores=[]), ["x.scores: expected a dictionary, got []"]),
    (
        Order,
        order(scores={1: 1.0, "b": "c"}),
        [
            "x.scores key: expected str, got 1",
            "x.scores[\"b\"]: expected float, got 'c'",
        ],
    ),
    (Order, order(choice=Point(None)), ["x.choice.x: expected float, got None"]),
    (
        Order,
        order(choice=2.5),
        [
            "x.choice: expected int or str or an instance of Point, got 2.5",
        ],
    ),
    (Order, order(level=1), ["x.level: expected one of [<Level.LOW: 1>, <Level.HIGH: 5>], got 1"]),
    (Order, order(nothing=0), ["x.nothing: expected None, got 0"]),
    (Order, order(count=5), ["x.count: expected an int from 0 to 4, got 5"]),
    (
        Order,
        order(pair=(2**70, True)),
        ["x.pair[0]: expected an int of 64 bits, got 1180591620717411303424"],
    ),
    (Query, query(text="a" * 21), ["x.text: expected 1 to 20 characters, got 21"]),
    (Query, query(text=""), ["x.text: expected 1 to 20 characters, got 0"]),
    (Query, query(k=11), ["x.k: expected an int from 1 to 10, got 11"]),
    (Query, query(temperature=2.0), ["x.temperature: expected a float from 0.0 to 1.9999999999999998, got 2.0"]),
    (
        Query,
        query(temperature=float("nan")),
        ["x.temperature: expected a float from 0.0 to 1.9999999999999998, got nan"],
    ),
    (Query, query(tags=["a"] * 4), ["x.tags: expected 0 to 3 elements, got 4"]),
    (Query, query(inner=Inner.model_construct(value=5)), ["x.inner.value: expected an int from 0 to 4, got 5"]),
    (Query, query(limit=4), ["x.limit: expected an int from 0 to 3 or None, got 4"]),
]


@pytest.mark.parametrize(("model", "value", "texts"), VIOLATIONS, ids=[texts[0] for *_, texts in VIOLATIONS])
def test_every_wrong_field_is_told_by_its_path(model, value, texts):
    space = Record(model)
    assert [str(one) for one in space.validate(value, "x")] == texts
    assert value not in space
    with says(InvalidValue, "; ".join(texts)):
        space.check(value, "x")


def test_an_integer_may_stand_for_a_float_but_not_one_too_large():
    assert Point(1, 2) in Record(Point)
    assert Point(float("inf")) in Record(Point)
    assert [one.path for one in Record(Point).validate(Point(10**400))] == ["value.x"]


def test_defaults_fill_in_what_a_message_leaves_out():
    assert loads(Record(Point), b'{"x":1.5}') == Point(1.5, 0.0)
    assert loads(Record(Query), b'{"text":"hi"}') == Query(text="hi")
    assert loads(Record(Order), dumps(Record(Order), order())) == order()


def test_messages_are_written_as_the_types_would_be():
    move = Move("left", 2, HERE, Color.BLUE)
    assert (
        dumps(Record(Move), move) == b'{"direction":"left","steps":2,"position":[0.0,0.0],"color":"blue","note":null}'
    )
    coded = Record(Order).encode(order(choice="x", corner=Corner.FAR, scores={"a": float("inf")}))
    assert coded["choice"] == "x"
    assert coded["corner"] == "FAR"
    assert coded["level"] == 1
    assert coded["scores"] == {"a": "Infinity"}


REFUSED = [
    (Point, "[]", "Point: expected an instance of Point, or its fields, got []"),
    (Point, '{"y":1}', "Point.x: expected float, got no such field"),
    (Point, '{"x":1,"z":1}', "Point.z: expected one of the fields ['x', 'y'], got 'z'"),
    (Point, '{"x":true}', "Point.x: expected float, got True"),
    (Flat, '{"a":"0","b":true,"c":[0,0]}', "Flat.a: expected int, Discrete(3), got '0'"),
    (Flat, '{"a":0,"b":1,"c":[0,0]}', "Flat.b: expected bool, got 1"),
    (
        Move,
        '{"direction":"up","steps":1,"position":[0,0]}',
        "Move.direction: expected one of ['left', 'right', 3, None, True], got 'up'",
    ),
    (
        Query,
        '{"text":"a","inner":{"value":"x"}}',
        "Query.inner.value: expected an int from 0 to 4, got 'x'",
    ),
    (Query, '{"text":"a","tags":"b"}', "Query.tags: expected a list, got 'b'"),
]


@pytest.mark.parametrize(("model", "text", "message"), REFUSED, ids=[message for *_, message in REFUSED])
def test_what_is_no_instance_is_refused_naming_the_field(model, text, message):
    with says(CodecError, message):
        loads(Record(model), text)


ORDER = {"points": [], "pair": [1, True], "flags": [], "scores": {}, "choice": 1}


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"points": 1}, "Order.points: expected a list, got 1"),
        ({"pair": [1]}, "Order.pair: expected a tuple of 2, got [1]"),
        ({"scores": []}, "Order.scores: expected a dictionary, got []"),
        ({"choice": [3, 1]}, "Order.choice: expected int or str or an instance of Point, or its fields, got [3, 1]"),
        ({"nothing": 0}, "Order.nothing: expected None, got 0"),
    ],
)
def test_every_kind_of_field_refuses_what_it_cannot_read(change, message):
    with says(CodecError, message):
        Record(Order).decode(ORDER | change)


def test_rules_of_the_models_own_are_heard_when_reading():
    class Even(BaseModel):
        n: int = Field(ge=0, le=9)

        @field_validator("n")
        @classmethod
        def even(cls, value):
            if value % 2:
                raise ValueError("odd")
            return value

    assert loads(Record(Even), b'{"n":4}') == Even(n=4)
    with pytest.raises(
        CodecError, match=r"^Even: expected fields that Even accepts, got \{'n': 3\}: 1 validation error"
    ):
        loads(Record(Even), b'{"n":3}')


def test_a_record_of_arrays_flattens_to_one():
    space = Record(Flat, seed=0)
    value = space.sample()
    flat = space.flatten(value)
    assert space.is_np_flattenable
    assert flat.shape == (space.flatdim,) == (7,)
    assert flat in space.flat_space()
    assert space.unflatten(flat) == value


def test_other_records_flatten_to_dictionaries():
    space = Record(Query, seed=0)
    value = space.sample()
    assert not space.is_np_flattenable
    assert isinstance(space.flat_space(), Dict)
    assert space.unflatten(space.flatten(value)) == value


def test_a_batch_of_records_is_a_tuple():
    space = Record(Flat, seed=0)
    batch = batch_space(space, 3)
    assert batch == Tuple((Record(Flat),) * 3)
    assert batch.sample() in batch


def test_an_array_is_the_mask_of_the_one_field_that_has_as_many_choices():
    @dataclass
    class Move:
        square: Annotated[int, Discrete(9)]
        name: str

    legal = np.zeros(9, np.int8)
    legal[[2, 5]] = 1
    space = Record(Move, seed=0)
    assert {space.sample(mask=legal).square for _ in range(40)} == {2, 5}
    assert {space.sample(probability=legal / 2).square for _ in range(40)} == {2, 5}
    with says(
        InvalidMask, "mask: expected a dictionary with the keys ['square', 'name'], got array([0, 0], dtype=int8)"
    ):
        space.sample(mask=legal[:2])


def test_of_two_fields_with_as_many_choices_an_array_means_neither():
    @dataclass
    class Move:
        start: Annotated[int, Discrete(4)]
        end: Annotated[int, Discrete(4)]

    with says(
        InvalidMask, "mask: expected a dictionary with the keys ['start', 'end'], got array([1, 1, 1, 1], dtype=int8)"
    ):
        Record(Move, seed=0).sample(mask=np.ones(4, np.int8))


def test_masks_are_given_by_field():
    space = Record(Flat, seed=0)
    mask = {"a": np.array([0, 0, 1], np.int8), "b": np.array([1, 0], np.int8), "c": None}
    assert {(space.sample(mask=mask).a, space.sample(mask=mask).b) for _ in range(9)} == {(2, False)}
    chance = {"a": np.array([1.0, 0, 0]), "b": None, "c": None}
    assert space.sample(probability=chance).a == 0
    with says(InvalidMask, "mask: expected a dictionary with the keys ['a', 'b', 'c'], got {'a': None}"):
        space.sample(mask={"a": None})


@MODELS
def test_two_records_of_one_model_share_no_generator(model):
    first, second = Record(model, seed=1), Record(model, seed=1)
    drawn = [first.encode(first.sample()) for _ in range(3)]
    assert [second.encode(second.sample()) for _ in range(3)] == drawn


@MODELS
def test_a_stranger_knows_a_record_by_its_description_and_binds_the_class(model):
    space = Record(model, seed=3)
    stranger = from_json(to_json(space))
    assert stranger == space
    assert repr(stranger) == repr(space)
    value = space.sample()
    copy = loads(stranger, dumps(space, value))
    assert type(copy).__name__ == model.__name__
    assert stranger.encode(copy) == space.encode(value)
    bound = stranger.bind(model)
    assert bound.model is model
    assert loads(bound, dumps(stranger, copy)) == value


def test_binding_keeps_the_generator():
    stranger = from_json(to_json(Record(Flat)))
    stranger.seed(5)
    bound = stranger.bind(Flat)
    assert bound.encode(bound.sample()) == stranger.encode(stranger.sample())


def test_only_a_model_with_the_same_fields_can_be_bound():
    message = (
        "bind: expected a model with the fields of Record(Flat: a=Discrete(3), b=bool, "
        "c=Box(0.0, 1.0, (2,), float64)), got Record(Point: x=float, y=float)"
    )
    with says(InvalidSpace, message):
        from_json(to_json(Record(Flat))).bind(Point)


def test_an_environment_of_typed_values_runs_alone_and_in_a_batch():
    class Shop(Env):
        def __init__(self):
            self.observation_space, self.action_space = Record(Point), Record(Query)

        def reset(self, *, seed=None, options=None):
            super().reset(seed=seed)
            return Point(0.0), {}

        def step(self, action):
            self.action_space.check(action, "action")
            return Step.transition(Point(float(action.k)), 1.0)

    envs = SerialVectorEnv([Shop, Shop])
    envs.reset(seed=0)
    step = envs.step((Query(text="a"), Query(text="b", k=7)))
    assert step.observation == (Point(3.0), Point(7.0))
    with says(InvalidAction, "action[1].k: expected an int from 1 to 10, got 99"):
        envs.step((Query(text="a"), query(k=99)))


# --- from types to spaces ---


def space_for(annotation, **default):
    model = dataclass(type("Model", (), {"__annotations__": {"x": annotation}} | default))
    return Record(model).fields["x"].space


FREE_TEXT = Text(None, min_length=0, charset=None)
INTEGER, NUMBER = Box(-np.inf, np.inf, (), np.int64), Box(-np.inf, np.inf, (), np.float64)


@pytest.mark.parametrize(
    ("annotation", "space"),
    [
        (bool, Discrete(2)),
        (int, INTEGER),
        (float, NUMBER),
        (str, FREE_TEXT),
        (None, Discrete(1)),
        (type(None), Discrete(1)),
        (Literal["a", 2], Discrete(2)),
        (Color, Discrete(2)),
        (list[bool], Sequence(Discrete(2))),
        (tuple[bool, ...], Sequence(Discrete(2))),
        (tuple[bool, str], Tuple((Discrete(2), FREE_TEXT))),
        (dict[str, bool], Sequence(Tuple((FREE_TEXT, Discrete(2))))),
        (int | None, OneOf((INTEGER, Discrete(1)))),
        (Annotated[np.ndarray, Box(0, 1, (2,))], Box(0, 1, (2,))),
        (Annotated[float, Box(0, 1, ())], Box(0, 1, ())),
        (Annotated[str, Text(3, charset="ab")], Text(3, charset="ab")),
        (list[Annotated[str, Text(3, charset="ab")]], Sequence(Text(3, charset="ab"))),
        (Annotated[Annotated[int, "doc"], Discrete(3)], Discrete(3)),
        (Annotated[int, msgspec.Meta(ge=1, le=6)], Discrete(6, start=1)),
        (Annotated[int, msgspec.Meta(gt=0, lt=7)], Discrete(6, start=1)),
        (Annotated[int, msgspec.Meta(gt=-1.5, lt=1.5)], Discrete(3, start=-1)),
        (Annotated[int, msgspec.Meta(ge=0.5)], Box(1, np.inf, (), np.int64)),
        (Annotated[int, msgspec.Meta(ge=0, le=10**6)], Box(0, 10**6, (), np.int64)),
        (Annotated[int, msgspec.Meta(lt=0)], Box(-np.inf, -1, (), np.int64)),
        (Annotated[float, msgspec.Meta(gt=0, le=1)], Box(5e-324, 1, (), np.float64)),
        (Annotated[str, msgspec.Meta(max_length=5)], Text(5, min_length=0, charset=None)),
        (Annotated[str, msgspec.Meta(min_length=2)], Text(None, min_length=2, charset=None)),
        (Annotated[int, Field(ge=1, le=6)], Discrete(6, start=1)),
        (Annotated[int | None, Field(ge=1, le=6)], OneOf((Discrete(6, start=1), Discrete(1)))),
        (Annotated[int, msgspec.Meta(description="a number")], INTEGER),
    ],
    ids=str,
)
def test_annotations_and_constraints_stand_for_spaces(annotation, space):
    assert space_for(annotation) == space


@pytest.mark.parametrize("kind", [list, tuple])
@pytest.mark.parametrize(("least", "most"), [(0, 2), (3, 3), (5, None), (0, 0)])
def test_lengths_of_lists_are_kept_by_samples_and_said_by_schemas(kind, least, most):
    item = list[bool] if kind is list else tuple[bool, ...]
    annotation = Annotated[item, msgspec.Meta(min_length=least or None, max_length=most)]
    model = dataclass(type("Model", (), {"__annotations__": {"x": annotation}}))
    space = Record(model, seed=0)
    for _ in range(30):
        value = space.sample().x
        assert type(value) is kind
        assert least <= len(value) <= (most if most is not None else 99)
    assert len(space.default().x) == least
    assert from_json(to_json(space)) == space
    assert space.json_schema()["properties"]["x"].get("maxItems") == most
    if least:
        number = {3: "3", None: f"{least} or more"}[most]
        assert [str(one) for one in space.validate(model(kind()), "m")] == [f"m.x: expected {number} elements, got 0"]


NO_TYPE = (
    "Model.x: expected bool, int, float, str, bytes, None, Literal, an enum, a date or time, UUID, Decimal, Any, list, "
    "tuple, set, dict, a union, a model or Annotated[type, space], got {}; "
    "name its space, as in Annotated[np.ndarray, Box(…)]"
)


@pytest.mark.parametrize(
    ("annotation", "text"),
    [
        (np.ndarray, NO_TYPE.format("<class 'numpy.ndarray'>")),
        (complex, NO_TYPE.format("<class 'complex'>")),
        (dict[float, int], "Model.x: expected keys of text, int, Literal or an enum, got float"),
        (list[complex], NO_TYPE.format("<class 'complex'>").replace("Model.x:", "Model.x[]:")),
        (tuple[int, complex], NO_TYPE.format("<class 'complex'>").replace("Model.x:", "Model.x[1]:")),
        (
            Annotated[str, msgspec.Meta(pattern="a+")],
            "Model.x: expected ge, le, gt, lt, min_length, max_length as constraints, got pattern, which no space can "
            "sample; name a space, as in Annotated[str, Text(…)]",
        ),
        (
            Annotated[int, Field(multiple_of=2)],
            "Model.x: expected ge, le, gt, lt, min_length, max_length as constraints, got multiple_of, which no space "
            "can sample; name a space, as in Annotated[str, Text(…)]",
        ),
        (
            Annotated[dt.date, msgspec.Meta(ge=3)],
            "Model.x: expected constraints on numbers, text, bytes, lists or dictionaries, got ge on "
            "<class 'datetime.date'>",
        ),
        (
            Annotated[float, Box(0, 1)],
            "Model.x: expected a space of single values for float, got Box(0.0, 1.0, (1,), float32); "
            "give it shape=(), or annotate np.ndarray",
        ),
        (Annotated[int, msgspec.Meta(ge=5, le=3)], "Model.x: expected an int of 64 bits with low <= high, got 5 to 3"),
        ("Missing", "Record(Model): expected annotations that resolve, got name 'Missing' is not defined"),
    ],
    ids=range(11),
)
def test_types_without_a_space_are_refused_naming_the_field(annotation, text):
    with says(InvalidSpace, text):
        space_for(annotation)


@dataclass
class Tree:
    children: "list[Tree]"


@dataclass
class Person:
    friend: "Person | None"


@pytest.mark.parametrize(("model", "path"), [(Tree, "Tree.children[]"), (Person, "Person.friend")])
def test_a_model_inside_itself_is_refused(model, path):
    with says(InvalidSpace, f"{path}: expected a type of bounded depth, got {model.__name__} inside itself"):
        Record(model)


@pytest.mark.parametrize("model", [int, "Point", Point(1.0), None])
def test_only_model_classes_make_records(model):
    message = f"Record: expected a dataclass, msgspec Struct or Pydantic model class, got {model!r}"
    with says(InvalidType, message):
        Record(model)


def test_a_model_without_fields_is_no_space():
    with says(InvalidSpace, "Record(Nothing): expected a model with fields, got none"):
        Record(dataclass(type("Nothing", (), {})))


def test_fields_that_the_constructor_does_not_take_are_left_out():
    @dataclass(kw_only=True)
    class Cached:
        a: bool
        b: int = field(init=False, default=0)

    space = Record(Cached, seed=0)
    assert list(space.fields) == ["a"]
    assert space.sample() in space


def test_pydantic_dataclasses_and_aliases_are_understood():
    @pydantic_dataclass
    class Bounded:
        n: int = Field(ge=0, le=2)

    class Renamed(BaseModel):
        model_config = ConfigDict(alias_generator=lambda name: name.upper())
        value: bool

    assert Record(Bounded).fields["n"].space == Discrete(3)
    assert Record(Bounded, seed=0).sample() in Record(Bounded)
    space = Record(Renamed, seed=0)
    assert loads(space, dumps(space, Renamed(VALUE=True))) == Renamed(VALUE=True)
    assert space.sample() in space


def test_options_of_a_union_are_tried_in_order():
    @dataclass
    class Either:
        x: list[int] | list[str]

    space = Record(Either, seed=0)
    assert dumps(space, Either([])) == b'{"x":[]}'
    assert dumps(space, Either(["a"])) == b'{"x":["a"]}'
    for _ in range(20):
        value = space.sample()
        assert space.unflatten(space.flatten(value)) == value


def test_a_value_of_no_option_cannot_be_flattened():
    with says(InvalidSpace, "expected a value of the union, got 2.5"):
        Record(Order).flatten(order(choice=2.5))


def test_a_record_shows_its_fields():
    assert repr(Record(Inner)) == "Record(Inner: value=an int from 0 to 4)"
