"""Records of models that strangers wrote: all kinds of fields travel, any object with the fields will do, and the quick
way through msgspec never says other than the slow way through the field types."""

import datetime as dt
import pickle
import sys
import types
from copy import deepcopy
from dataclasses import dataclass, field, make_dataclass
from decimal import Decimal
from types import SimpleNamespace
from typing import Any, NamedTuple
from uuid import UUID

import msgspec
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from pydantic import BaseModel, Field, field_validator

from ludus.errors import CodecError, InvalidAction, InvalidType, InvalidValue
from ludus.spaces import (
    Dict,
    Discrete,
    OneOf,
    Record,
    Sequence,
    Tuple,
    bind_models,
    dumps,
    find_models,
    from_json,
    loads,
    to_json,
)
from ludus.tools import tool, tools_of
from ludus.tools.calls import Call, Calls
from tests.core.wording import says
from tests.sampling import examples
from tests.spaces.strangers import (
    STRANGERS,
    Card,
    Everything,
    Form,
    Frozen,
    Letter,
    Mood,
    Place,
    Rank,
    Shape,
    Sloppy,
    Stamped,
    Suit,
    Theirs,
)
from tests.spaces.values import garbage, same

EACH = pytest.mark.parametrize("model", STRANGERS, ids=lambda model: model.__name__)
KINDS = list(Record(Everything).fields)
DEFAULTED = [Frozen, Place, Letter, Theirs]


def stranger(space):
    """The space as another process knows it."""
    return from_json(to_json(space))


def alone(name):
    """A model with one of the fields of `Everything`."""
    return make_dataclass("Alone", [(name, Everything.__annotations__[name])])


ALONE = {name: Record(alone(name)) for name in KINDS}
SAMPLES = {name: [space.sample() for _ in range(20)] for name, space in ALONE.items() if space.seed(7)}


# --- all that can be in a model travels ---


@EACH
@pytest.mark.parametrize("form", ["json", "msgpack"])
def test_every_kind_of_field_travels_and_comes_back_equal(model, form):
    space = Record(model, seed=2)
    for _ in range(20):
        value = space.sample()
        assert space.validate(value) == []
        assert value in space
        again = loads(space, dumps(space, value, format=form), format=form)
        assert again == value
        assert type(again) is model
        assert space.coerce(value) is value


@EACH
def test_a_stranger_reads_and_writes_the_same_values(model):
    space = Record(model, seed=2)
    there = stranger(space)
    assert there == space
    assert repr(there) == repr(space)
    for _ in range(10):
        value = space.sample()
        data = space.encode(value, binary=True)
        copy = there.read(data)
        assert there.write(copy, binary=True).keys() == data.keys()
        assert space.read(there.encode(copy)) == value
        assert there.coerce(value) == copy
        assert space.coerce(copy) == value


@EACH
def test_a_record_is_copied_and_pickled_with_its_generators(model):
    space = Record(model, seed=5)
    space.read(space.encode(space.sample()))  # compiled, which no copy may stumble over
    for other in (deepcopy(space), pickle.loads(pickle.dumps(space)), pickle.loads(pickle.dumps(stranger(space)))):
        assert other == space
    copy = deepcopy(space)
    assert [space.encode(copy.sample()) for _ in range(3)] == [space.encode(space.sample()) for _ in range(3)]


def test_plain_data_is_written_as_anyone_would():
    letter = Letter(to="you", words=["a"], sent=dt.datetime(2030, 1, 2, 3, 4, 5, tzinfo=dt.UTC))
    assert Record(Letter).encode(letter) == {"to": "you", "words": ["a"], "sent": "2030-01-02T03:04:05Z"}
    assert Record(Frozen).encode(Frozen()) == {
        "place": {"x": 1.0, "y": 0.0, "label": "here"},
        "when": "2030-01-02",
        "tags": ["a"],
        "blob": "AAE=",
    }
    assert Record(Frozen).encode(Frozen(), binary=True)["blob"] == b"\0\1"


@pytest.mark.parametrize(
    ("name", "value", "data"),
    [
        ("either", 1, 1),
        ("either", "s", "s"),
        ("wide", 1, 1),
        ("wide", 1.0, 1.0),
        ("many", True, True),
        ("many", 3, 3),
        ("many", None, None),
        ("maybe", None, None),
        ("maybe", Place(2.0), {"x": 2.0, "y": 0.0, "label": "here"}),
        ("thing", Card(Suit.HEARTS), {"suit": "♥", "rank": 1}),
        ("thing", Letter(to="me"), {"to": "me", "words": [], "sent": None}),
        ("list_or_text", [1], [1]),
        ("list_or_text", "1", "1"),
        ("shape", Shape.LINE, "LINE"),
        ("mood", Mood.GRIM, "grim"),
        ("by_number", {3: "a"}, {"3": "a"}),
        ("by_suit", {Suit.SPADES: 2}, {"♠": 2}),
        ("price", Decimal("1.50"), "1.50"),
        ("key", UUID(int=5), "00000000-0000-0000-0000-000000000005"),
        ("span", dt.timedelta(seconds=90), "PT90S"),
        ("ratio", float("-inf"), "-Infinity"),
    ],
    ids=lambda one: str(one)[:20],
)
def test_unions_and_the_like_are_written_bare_and_read_as_what_they_were(name, value, data):
    space = ALONE[name]
    made = space.model(value)
    assert space.encode(made) == {name: data}
    again = space.read({name: data})
    assert again == made
    assert type(getattr(again, name)) is type(value)


def test_binary_data_has_floats_as_they_are():
    assert ALONE["ratio"].encode(ALONE["ratio"].model(float("inf")), binary=True) == {"ratio": float("inf")}


def test_text_has_no_limit_that_its_author_did_not_name():
    long = "x" * 3_000_000
    space = ALONE["text"]
    assert space.read({"text": long}).text == long
    assert space.json_schema()["properties"]["text"] == {"type": "string"}
    assert len(space.sample().text) < 100
    assert not space.is_np_flattenable


def test_no_field_is_an_array_that_its_author_did_not_call_one():
    value = Record(Everything, seed=1).sample()
    arrays = [name for name in KINDS if isinstance(getattr(value, name), np.ndarray | np.generic)]
    assert arrays == ["array"]


def test_a_long_list_is_read_in_a_moment():
    space = ALONE["numbers"]
    assert len(space.read({"numbers": list(range(100_800))}).numbers) == 100_800


# --- any object with the fields will do ---


class Point(NamedTuple):
    x: float
    y: float
    label: str


@pytest.mark.parametrize(
    "given",
    [
        {"x": 1},
        {"x": 1.0, "label": "here"},
        types.MappingProxyType({"x": 1}),
        SimpleNamespace(x=1, y=0, label="here"),
        SimpleNamespace(x=1.0),
        make_dataclass("Other", [("x", float), ("y", float), ("label", str)])(1.0, 0.0, "here"),
        msgspec.defstruct("Form", [("x", float), ("y", float), ("label", str)])(1.0, 0.0, "here"),
        type("Model", (BaseModel,), {"__annotations__": {"x": float}})(x=1.0),
        Point(1.0, 0.0, "here"),
        Place(1.0),
    ],
    ids=lambda one: type(one).__name__,
)
def test_objects_with_the_fields_are_made_the_authors(given):
    found = Record(Place).coerce(given)
    assert type(found) is Place
    assert found == Place(1.0)
    assert stranger(Record(Place)).coerce(given) == Place(1.0)


def test_models_inside_are_made_too_wherever_they_are():
    given = {
        "card": {"suit": "♥", "rank": 13},
        "title": "t",
        "options": {"a": (1, 2)},
    }
    assert Record(Form).coerce(given) == Form(title="t", card=Card(Suit.HEARTS, Rank.KING), options={"a": [1, 2]})
    other = SimpleNamespace(title="t", card=SimpleNamespace(suit=Suit.HEARTS), options={}, level=3.0)
    assert Record(Form).coerce(other) == Form(title="t", card=Card(Suit.HEARTS), level=3)
    assert ALONE["places"].coerce({"places": [{"x": 1}, Place(2.0)]}).places == [Place(1.0), Place(2.0)]
    assert ALONE["homes"].coerce({"homes": {"a": {"x": 1}}}).homes == {"a": Place(1.0)}
    assert ALONE["thing"].coerce({"thing": Letter(to="a")}).thing == Letter(to="a")
    assert ALONE["maybe"].coerce({"maybe": SimpleNamespace(x=2)}).maybe == Place(2.0)


@pytest.mark.parametrize(
    ("given", "found"), [(3.0, 3), (3, 3), (np.int64(3), 3), (Rank.ACE, 1)], ids=["3.0", "3", "int64", "IntEnum"]
)
def test_whole_numbers_are_taken_for_an_int(given, found):
    assert ALONE["number"].coerce({"number": given}).number == found


@pytest.mark.parametrize("given", [3.5, True, "3", float("inf"), float("nan"), None, 2**63], ids=str)
def test_no_other_is(given):
    with pytest.raises(InvalidValue, match=r"^value\.number: expected (int|an int of 64 bits), got "):
        ALONE["number"].coerce({"number": given})


def test_spaces_made_of_records_coerce_inside():
    place = {"x": 1}
    space = Dict(one=Record(Place), more=Tuple((Record(Place), Discrete(3))), rest=Sequence(Record(Place)))
    given = {"one": place, "more": (place, 2), "rest": [place, Place(2.0)]}
    assert space.typed
    assert space.coerce(given) == {"one": Place(1.0), "more": (Place(1.0), 2), "rest": (Place(1.0), Place(2.0))}
    union = OneOf((Discrete(2), Record(Place)))
    assert union.coerce((1, place)) == (1, Place(1.0))
    assert union.read([1, place]) == (1, Place(1.0))
    data = space.write(given)
    assert space.read(data) == space.coerce(given)
    with says(InvalidAction, 'action["rest"][1].x: expected float, got None'):
        space.coerce(given | {"rest": [place, {"x": None}]}, "action", InvalidAction)
    with says(InvalidValue, 'action["more"][0].x: expected float, got no such field'):
        space.read(data | {"more": [{}, 1]}, "action")
    with says(InvalidValue, "value[1].x: expected float, got 'a'"):
        union.read([1, {"x": "a"}])
    assert not Dict(a=Discrete(2)).typed
    assert Discrete(2).coerce(1) == 1
    with says(InvalidAction, "action: expected Discrete(2), got 5"):
        Discrete(2).coerce(5, "action", InvalidAction)


WRONG = [
    (Place, {"x": "a"}, "action.x: expected float, got 'a'"),
    (Place, {}, "action.x: expected float, got no such field"),
    (
        Place,
        {"x": 1, "lable": "a"},
        "action.lable: expected one of the fields ['x', 'y', 'label'], got 'lable'; did you mean 'label'?",
    ),
    (Place, {"x": 1, 3: 4}, "action.3: expected one of the fields ['x', 'y', 'label'], got 3"),
    (Place, None, "action: expected an instance of Place, or its fields, got None"),
    (Place, "Place", "action: expected an instance of Place, or its fields, got 'Place'"),
    (Place, Place, "action: expected an instance of Place, or its fields, got <class 'tests.spaces.strangers.Place'>"),
    (Place, object, "action: expected an instance of Place, or its fields, got <class 'object'>"),
    (Place, Place(None), "action.x: expected float, got None"),
    (Card, {"suit": "♣"}, "action.suit: expected one of ['♥', '♠'], got '♣'"),
    (Letter, {"to": ""}, "action.to: expected 1 to 30 characters, got 0"),
    (Letter, {"to": "a", "words": ["b"] * 5}, "action.words: expected 0 to 4 elements, got 5"),
    (Letter, {"to": "a", "words": ["b", 3]}, "action.words[1]: expected str, got 3"),
    (Letter, {"to": "a", "sent": "today"}, "action.sent: expected datetime or None, got 'today'"),
    (Form, {"title": "a", "card": {"suit": 3}}, "action.card.suit: expected one of ['♥', '♠'], got 3"),
    (Form, {"title": "a", "level": 10}, "action.level: expected an int from 0 to 9, got 10"),
    (Form, {"title": "a", "options": {"b": [1, "c"]}}, "action.options[\"b\"][1]: expected int, got 'c'"),
    (Form, {"title": "\ud800"}, "action.title[0]: expected a Unicode character, got '\\ud800'"),
    (Theirs, {"metadata": {"a": {1, 2}}}, "action.metadata['a']: expected a value of JSON, got {1, 2}"),
    (Theirs, {"metadata": 3}, "action.metadata: expected a JSON object, got 3"),
    (Theirs, {"reward": "high"}, "action.reward: expected bool or int or float or None, got 'high'"),
    (Frozen, {"blob": "*"}, "action.blob: expected bytes, got '*'"),
    (Frozen, {"when": "2030-01-02T03:04:05"}, "action.when: expected date, got '2030-01-02T03:04:05'"),
]


@pytest.mark.parametrize(("model", "given", "text"), WRONG, ids=[text for *_, text in WRONG])
def test_what_is_wrong_is_told_by_its_path(model, given, text):
    space = Record(model)
    for one in (space, stranger(space)):
        with says(InvalidAction, text):
            one.coerce(given, "action", InvalidAction)
        with says(InvalidValue, text):
            one.write(given, "action")
    if isinstance(given, dict):
        with says(InvalidValue, text):
            space.read(given, "action")


def test_only_the_first_of_many_wrong_elements_are_named():
    with pytest.raises(InvalidValue) as caught:
        ALONE["numbers"].coerce({"numbers": ["a"] * 100_000})
    assert str(caught.value).count("expected int") == 100


# --- defaults ---


@pytest.mark.parametrize("model", DEFAULTED, ids=lambda model: model.__name__)
def test_defaults_travel_and_fill_in_what_is_left_out(model):
    space = Record(model)
    needed = {"x": 1.0} if model is Place else {"to": "a"} if model is Letter else {}
    value = model(**needed)
    there = stranger(space)
    assert there.read(needed) == value
    assert value == there.read(needed)
    assert there.model(**needed) == value
    assert repr(there.read(needed)) == repr(value).replace("tests.spaces.strangers.", "") or model in (Letter, Theirs)
    assert space.json_schema() == there.json_schema()


def test_a_stand_in_looks_and_is_made_like_the_authors_own():
    there = stranger(Record(Place))
    assert repr(there.model(1.0)) == "Place(x=1.0, y=0.0, label='here')"
    assert there.model(1.0, label="b") == Place(1.0, 0.0, "b")
    assert Place(1.0, 0.0, "b") == there.model(1.0, 0.0, "b")
    assert there.model(1.0) != Place(2.0)
    assert there.model(1.0) != 3
    fresh = stranger(Record(Letter))
    first, second = fresh.read({"to": "a"}), fresh.read({"to": "a"})
    first.words.append("mine")
    assert second.words == []


def test_schemas_show_defaults_and_what_is_required():
    schema = Record(Form).json_schema()
    assert schema["required"] == ["title"]
    assert schema["properties"]["card"]["default"] == {"suit": "♠", "rank": 1}
    assert schema["properties"]["options"]["default"] == {}
    assert schema["properties"]["level"] == {"type": "integer", "minimum": 0, "maximum": 9, "default": 4}
    assert ALONE["either"].json_schema()["properties"]["either"]["anyOf"][1] == {"type": "string"}


def test_a_default_that_is_another_each_time_is_the_models_own_affair():
    space = Record(Stamped)
    assert space == Record(Stamped)
    assert stranger(space) == space
    assert space.read({}).token != space.read({}).token
    with says(InvalidValue, "value.token: expected Scalar('uuid'), got no such field"):
        stranger(space).read({})
    assert "token" not in space.json_schema()["required"]


def test_defaults_that_are_not_what_the_annotation_says_are_made_so_or_are_none():
    space = Record(Sloppy)
    found = space.read({"short": "abc"})
    assert found == Sloppy(None, [], Suit.HEARTS, "abc")
    assert stranger(space).read({"short": "abc"}) == found
    assert space.json_schema()["required"] == ["short"]


# --- whose class it is ---


def test_records_are_equal_by_fields_and_not_by_where_the_model_lives():
    again = make_dataclass("Place", [("x", float), ("y", float, 0.0), ("label", str, "here")])
    assert Record(again) == Record(Place)
    assert Record(make_dataclass("Place", [("x", float), ("y", float, 1.0), ("label", str, "here")])) != Record(Place)
    assert Record(make_dataclass("Place", [("x", float), ("y", float), ("label", str, "here")])) != Record(Place)
    assert Record(make_dataclass("Spot", [("x", float), ("y", float, 0.0), ("label", str, "here")])) != Record(Place)


@pytest.mark.parametrize("model", [Everything, Frozen, Form, Theirs, Place, Card, Letter], ids=lambda one: one.__name__)
def test_a_class_that_is_imported_already_is_found_again(model):
    space = Record(model, seed=3)
    found = find_models(stranger(space))
    assert found.model is model
    assert found == space
    value = space.sample()
    assert found.read(space.encode(value)) == value
    assert type(found.read(space.encode(value))) is model


def test_classes_are_found_wherever_records_are_in_a_space():
    inner = Dict(a=Tuple((Record(Place), Discrete(2))), b=Sequence(Record(Card), stack=True), c=Record(Form))
    found = find_models(stranger(inner))
    assert found["a"][0].model is Place
    assert found["b"].feature_space.model is Card
    assert found["c"].coerce({"title": "a"}) == Form(title="a")
    plain = Dict(a=Discrete(2))
    assert find_models(plain) is plain


def test_a_class_inside_one_that_is_not_found_is():
    outer = make_dataclass("Unknown", [("place", Place), ("cards", list[Card])])
    found = find_models(stranger(Record(outer)))
    value = found.read({"place": {"x": 1}, "cards": [{"suit": "♥"}]})
    assert type(value.place) is Place
    assert value.cards == [Card(Suit.HEARTS)]
    assert type(value).__module__ != outer.__module__ or found.model is not outer
    assert found.contains(found.coerce(value))


def test_what_was_handed_over_is_bound_and_the_rest_left_alone():
    @dataclass
    class Loud:
        x: int

        def __post_init__(self):
            self.x = abs(self.x)

    space = stranger(Dict(loud=Record(Loud), place=Record(Place)))
    bound = bind_models(space, [Loud, Card])
    assert bound["loud"].model is Loud
    assert bound["loud"].read({"x": -3}) == Loud(3)
    assert bound["place"].model is not Place
    other = make_dataclass("Loud", [("x", str)])
    assert bind_models(space, [other])["loud"].model is not other
    with says(InvalidType, "models: expected dataclasses, msgspec Structs or Pydantic models, got <class 'int'>"):
        bind_models(space, [int])


def test_binding_copies_and_the_first_space_is_as_it_was():
    space = stranger(Dict(place=Record(Place)))
    before = space["place"].model
    assert find_models(space)["place"].model is Place
    assert space["place"].model is before


def test_a_record_that_was_read_with_before_reads_with_the_bound_class_after():
    outer = make_dataclass("Unknown", [("place", Place)])
    space = stranger(Record(outer))
    assert type(space.read({"place": {"x": 1}}).place) is not Place
    assert type(find_models(space).read({"place": {"x": 1}}).place) is Place


class Trap(types.ModuleType):
    def __getattr__(self, name):
        raise AssertionError(f"{name} was asked for")


RAN: list[str] = []


@dataclass
class WithHook:
    x: int

    def __post_init__(self):
        RAN.append("hook")


@dataclass
class WithFactory:
    x: list[int] = field(default_factory=lambda: RAN.append("factory") or [])


class WithValidator(BaseModel):
    x: int

    @field_validator("x")
    @classmethod
    def check(cls, value):
        RAN.append("validator")
        return value


class WithPostInit(BaseModel):
    x: int

    def model_post_init(self, context):
        RAN.append("post init")


class WithStructHook(msgspec.Struct):
    x: int

    def __post_init__(self):
        RAN.append("struct hook")


@dataclass
class WithNew:
    x: int

    def __new__(cls, *args, **kwargs):
        RAN.append("new")
        return object.__new__(cls)


@dataclass
class WithSetattr:
    x: int

    def __setattr__(self, name, value):
        RAN.append("setattr")
        object.__setattr__(self, name, value)


@dataclass
class WithInner:
    inner: WithHook


class OwnInit(BaseModel):
    x: int

    def __init__(self, **data):
        RAN.append("init")
        super().__init__(**data)


QUIET = [WithHook, WithFactory, WithValidator, WithPostInit, WithStructHook, WithNew, WithSetattr, WithInner, OwnInit]


@pytest.mark.parametrize("model", QUIET, ids=lambda one: one.__name__)
def test_no_code_runs_because_a_server_named_a_class(model):
    space = stranger(Record(model))
    RAN.clear()
    found = find_models(space)
    found.read({"x": [3]} if model is WithFactory else {"inner": {"x": 3}} if model is WithInner else {"x": 3})
    assert found.model is not model
    assert RAN == []
    bound = bind_models(space, [model])
    assert bound.model is model


@pytest.mark.parametrize(
    "origin",
    [
        "antigravity:Place",
        "no.such.module:Place",
        "trap:Place",
        "trap:Place.Inner",
        "tests.spaces.strangers:Missing",
        "tests.spaces.strangers:Suit",
        "tests.spaces.strangers:np.ndarray",
        "tests.spaces.strangers:Place.__init__.__globals__",
        "os:system",
        "sys:modules",
        "builtins:object",
        "",
        ":",
        "a" * 5000,
        3,
        None,
        ["x"],
    ],
    ids=lambda one: repr(one)[:30],
)
def test_no_name_in_a_description_is_imported_or_asked_for(origin, monkeypatch):
    monkeypatch.setitem(sys.modules, "trap", Trap("trap"))
    before = set(sys.modules)
    arguments = Record(Place).arguments() | {"model": origin}
    space = Record.from_arguments(arguments)
    assert find_models(space).model is not Place
    assert space == Record(Place)
    assert set(sys.modules) == before


def test_a_class_of_that_name_with_other_fields_is_not_taken():
    arguments = Record(Place).arguments()
    arguments["fields"][1][2] = [5.0]
    assert find_models(Record.from_arguments(arguments)).model is not Place


# --- models with rules of their own ---


def test_what_a_models_own_rules_refuse_is_told():
    class Even(BaseModel):
        n: int = Field(ge=0)

        @field_validator("n")
        @classmethod
        def even(cls, value):
            if value % 2:
                raise ValueError("odd")
            return value

    with pytest.raises(InvalidValue, match=r"^action: expected fields that Even accepts, got \{'n': 3\}: 1 validation"):
        Record(Even).read({"n": 3}, "action")


def test_what_a_models_own_code_makes_of_values_is_held_to_the_space():
    @dataclass
    class Doubling:
        n: Any = field(default=0)
        m: int = 0

        def __post_init__(self):
            self.m = str(self.m)

    with pytest.raises(InvalidValue, match=r"^value: expected fields that Doubling accepts, got \{'m': 3\}: "):
        Record(Doubling).read({"m": 3})


def test_whatever_a_models_own_code_raises_is_an_error_of_the_value():
    @dataclass
    class Rude:
        n: int

        def __post_init__(self):
            raise LookupError("go away")

    with says(InvalidValue, "value: expected fields that Rude accepts, got {'n': 3}: go away"):
        Record(Rude).read({"n": 3})


# --- the quick way and the slow way agree ---


def slow(space, x):
    """What the field types alone make of a value, or its problems."""
    problems = []
    return space.coerce_fields(x, "value", problems), problems


ODD = [
    [],
    (),
    {},
    "",
    b"",
    0,
    0.0,
    1.0,
    2.5,
    True,
    None,
    {1},
    {"x": 1},
    {"x": 1.0},
    [1.0],
    ["a", 1],
    Place(1.0),
    Suit.HEARTS,
    Rank.ACE,
    "♥",
    13,
    "2030-01-02",
    "NaN",
    float("nan"),
    float("-inf"),
    10**400,
    "\ud800",
    ["\ud800"],
    {"\ud800": 1},
]
"""What stands near to many kinds of fields, and is of few of them."""


def near(name):
    """Values of a field, plain forms of such, and garbage."""
    values = [getattr(one, name) for one in SAMPLES[name]]
    coded = [
        data[name] for one in SAMPLES[name] for data in (ALONE[name].encode(one), ALONE[name].encode(one, binary=True))
    ]
    others = [getattr(one, kind) for kind in KINDS for one in SAMPLES[kind][:2]]
    odd = ODD
    return st.one_of(
        st.sampled_from(values), st.sampled_from(coded), st.sampled_from(others), st.sampled_from(odd), garbage
    )


@pytest.mark.parametrize("name", KINDS)
@settings(max_examples=examples(60), deadline=None)
@given(data=st.data())
def test_the_quick_way_takes_nothing_that_the_slow_way_refuses(name, data):
    x = data.draw(near(name))
    space = ALONE[name]
    value = space.model(x)
    if space.compiled.fits(value):
        assert space.validate(value) == []
    assert space.contains(value) is (space.validate(value) == [])
    try:
        quick = space.quick({name: x})
    except Exception:
        return
    found, problems = slow(space, {name: x})
    assert problems == []
    assert same(getattr(quick, name), getattr(found, name)) or getattr(quick, name) == getattr(found, name)
    assert type(getattr(quick, name)) is type(getattr(found, name))
    assert space.validate(quick) == []


@pytest.mark.parametrize("name", KINDS)
@settings(max_examples=examples(40), deadline=None)
@given(data=st.data())
def test_what_is_taken_is_in_the_space_and_what_is_not_is_one_of_two_errors(name, data):
    x = data.draw(near(name))
    space = ALONE[name]
    for give in (space.coerce, space.read, space.decode):
        try:
            value = give({name: x})
        except (CodecError, InvalidValue):
            continue
        assert value in space
        assert space.coerce(value) is value
        assert space.read(space.encode(value)) in space


ANY = {"every kind": Record(Everything), "theirs": Record(Theirs), "another's": stranger(Record(Form))}


@pytest.mark.parametrize("name", ANY)
@settings(max_examples=examples(80), deadline=None)
@given(x=garbage)
def test_nothing_but_those_errors_comes_of_any_data(name, x):
    for data in (x, {"metadata": x, "title": x, "card": x}, dict.fromkeys(KINDS, x)):
        try:
            assert ANY[name].read(data) in ANY[name]
        except (CodecError, InvalidValue):
            continue


# --- tools ---


class Shop:
    @tool
    def buy(self, item: str, count: int = 1, at: Place | None = None) -> str:
        """Buy something."""
        return f"{count} × {item} at {at}"


def test_a_call_is_made_of_an_object_of_a_tool_and_arguments():
    space = Calls(tools_of(Shop))
    assert space.typed
    assert space.coerce({"tool": "buy", "arguments": {"item": "tea", "count": 2.0}}) == Call(
        "buy", {"item": "tea", "count": 2}
    )
    assert space.coerce({"tool": "buy", "arguments": {"item": "tea", "at": {"x": 1}}}).arguments["at"] == Place(1.0)
    call = Call("buy", {"item": "tea"})
    assert space.coerce(call) is call
    other = make_dataclass("Other", [("tool", str), ("arguments", dict)])("buy", {"item": "tea"})
    assert space.coerce(other) == call
    assert space.read(space.write(call)) == call


@pytest.mark.parametrize(
    ("given", "text"),
    [
        (3, "action: expected a Call(tool, arguments), or its fields, got 3"),
        ({"tool": "sell"}, "action.tool: expected one of buy, got 'sell'"),
        ({"tool": ["buy"]}, "action.tool: expected one of buy, got ['buy']"),
        ({"tool": "buy"}, "action.arguments: expected the arguments item, count, at, got no item"),
        ({"tool": "buy", "arguments": 3}, "action.arguments: expected arguments by name, got 3"),
        ({"tool": "buy", "arguments": {"item": 3}}, "action.arguments.item: expected str, got 3"),
        (
            {"tool": "buy", "arguments": {"item": "a", "at": {"x": None}}},
            "action.arguments.at.x: expected float, got None",
        ),
        (
            {"tool": "buy", "arguments": {"item": "a", "cuont": 3}},
            "action.arguments: expected the arguments item, count, at, got 'cuont'",
        ),
    ],
)
def test_what_is_wrong_with_a_call_is_told(given, text):
    with says(InvalidAction, text):
        Calls(tools_of(Shop)).coerce(given, "action", InvalidAction)


def test_models_in_calls_are_found_too():
    found = find_models(stranger(Calls(tools_of(Shop))))
    assert type(found.coerce({"tool": "buy", "arguments": {"item": "a", "at": {"x": 1}}}).arguments["at"]) is Place


# --- numbers that are none ---


@dataclass
class Measured:
    share: float
    count: int = 0
    shares: list[float] = field(default_factory=list)


@pytest.mark.parametrize("name", ["share", "count"])
def test_a_span_of_time_is_no_number(name):
    with pytest.raises(InvalidValue, match=rf"^action\.{name}: expected (float|int), got "):
        Record(Measured).coerce({"share": 1.0} | {name: np.timedelta64(3, "s")}, "action")


def test_a_decimal_is_read_as_a_float_and_is_none_itself():
    space = Record(Measured)
    half = Decimal("0.5")
    assert space.coerce({"share": half, "shares": [half]}) == Measured(0.5, 0, [0.5])
    assert Measured(half) not in space
    assert Measured(0.5, 0, [half]) not in space
    for one in ("NaN", "sNaN"):
        with pytest.raises(InvalidValue, match=r"^value\.share: expected float, got "):
            space.coerce({"share": Decimal(one)})
