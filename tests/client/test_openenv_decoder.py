"""Answers of OpenEnv's servers read at once: they give what reading them step by step gives, errors included."""

from contextlib import nullcontext
from math import isnan, nan

import msgspec
import pytest

from ludus.client.openenv.decoder import Decoded, is_shallow
from ludus.client.openenv.remote import OpenEnvCodec
from ludus.errors import ContractViolation
from ludus.spaces.json import MAX_DEPTH

ITEM = {
    "title": "Item",
    "type": "object",
    "properties": {
        "name": {"type": "string", "maxLength": 5},
        "x": {"type": "number"},
        "size": {"type": "integer", "minimum": 0, "default": 7},
    },
    "required": ["name", "x"],
}
SEEN = {
    "title": "Seen",
    "type": "object",
    "additionalProperties": False,
    "$defs": {"Item": ITEM},
    "properties": {
        "items": {"type": "array", "items": {"$ref": "#/$defs/Item"}, "default": []},
        "best": {"anyOf": [{"$ref": "#/$defs/Item"}, {"type": "null"}], "default": None},
        "facts": {"type": "object", "additionalProperties": True, "default": {}},
        "anything": {"default": 3},
        "either": {"anyOf": [{"type": "integer"}, {"type": "string"}, {"type": "null"}], "default": None},
        "grid": {"type": "array", "items": {"type": "array", "items": {"type": "number"}}, "default": [[1.5]]},
        "kind": {"enum": ["a", "b"], "default": "a"},
        "pair": {"type": "array", "items": {"type": "integer"}, "maxItems": 2, "default": []},
        "one": {"type": "number", "minimum": 1, "default": 1.0},
    },
}
SIMPLE = {**SEEN, "properties": {**SEEN["properties"], "grid": {**SEEN["properties"]["grid"], "default": []}}}
"""Whose class runs no code of its own, since no default is to be copied: then nothing is looked at once more."""


def deep(levels, inner=1):
    for _ in range(levels):
        inner = [inner]
    return inner


def codec(schema=SEEN):
    action = {"title": "Act", "type": "object", "properties": {"n": {"type": "integer"}}}
    return OpenEnvCodec({"action": action, "observation": schema}, {"name": "Shop"})


def answer(observation):
    data = {"observation": observation, "reward": 0.5, "done": False, "info": {"a": 1}, "more": 1}
    return msgspec.json.encode({"type": "observation", "data": data})


GOOD = {
    "nothing": {},
    "records": {"items": [{"name": "ä", "x": 1, "size": 2}, {"name": "b", "x": 2.5}], "best": {"name": "c", "x": 0}},
    "open": {"facts": {"a": [1, {"b": None}, "[", True]}, "anything": {"deep": deep(MAX_DEPTH - 1)}},
    "much that is open": {"facts": {"rows": [{"a": n, "b": [n]} for n in range(1500)]}},
    "much text with brackets": {"facts": {"rows": [{"a": n, "b": ["]["]} for n in range(1500)]}},
    "unions": {"either": "x", "kind": "b"},
    "another of them": {"either": 3, "best": None},
    "lists": {"grid": [[1, 2.5], []], "pair": [1, 2]},
    "null for NaN": {"grid": [[None, 1.0], [2.0]], "items": [{"name": "a", "x": None}]},
}
BAD = {
    "an unknown field": {"extra": 1},
    "one inside": {"items": [{"name": "a", "x": 1, "y": 2}]},
    "a missing field": {"items": [{"name": "a"}]},
    "text for a number": {"items": [{"name": "a", "x": "1"}]},
    "too long": {"items": [{"name": "abcdef", "x": 1}]},
    "too many": {"pair": [1, 2, 3]},
    "too small": {"items": [{"name": "a", "x": 1, "size": -1}]},
    "no choice": {"kind": "c"},
    "null beyond the ends": {"one": None},
    "too deep": {"facts": {"a": deep(MAX_DEPTH)}},
    "no object": {"facts": []},
    "null for no number": {"pair": [None]},
    "an int beyond 64 bits": {"items": [{"name": "a", "x": 1, "size": 2**64}]},
}


def same(one, other):
    """Equal, with NaN equal to itself."""
    if isinstance(one, float):
        return one == other or (isnan(one) and isnan(other))
    if isinstance(one, list):
        return len(one) == len(other) and all(map(same, one, other))
    if hasattr(one, "__dataclass_fields__"):
        return type(one) is type(other) and all(
            same(getattr(one, name), getattr(other, name)) for name in one.__dataclass_fields__
        )
    return type(one) is type(other) and one == other


@pytest.mark.parametrize("case", GOOD)
def test_what_is_read_at_once_is_what_is_read_step_by_step(case):
    reads, data = codec(SIMPLE), answer(GOOD[case])
    for _ in range(2):  # the second time by the text, where the first found much
        told = reads.decoder.decode(data)
        assert type(told["observation"]) is Decoded
        assert (told["reward"], told["done"], told["info"]) == (0.5, False, {"a": 1})
        slowly = reads.read_observation(msgspec.json.decode(data)["data"]["observation"])
        assert same(reads.read_observation(told["observation"]), slowly)


def test_null_is_nan_in_a_list_that_may_be_left_out_too():
    numbers = {"type": "array", "items": {"type": "number"}}
    reads = codec({"title": "Seen", "type": "object", "properties": {"a": numbers, "b": {"type": "integer"}}})
    found = reads.read_observation(reads.decoder.decode(answer({"a": [1, None]}))["observation"])
    assert same(found.a, [1.0, nan])
    assert found.b is None


def test_null_for_a_number_once_changes_nothing_that_is_read_later():
    reads = codec(SIMPLE)
    for case in ("null for NaN", *GOOD):
        data = answer(GOOD[case])
        slowly = reads.read_observation(msgspec.json.decode(data)["data"]["observation"])
        assert same(reads.read_observation(reads.decoder.decode(data)["observation"]), slowly), case
    assert [case for case, seen in BAD.items() if reads.decoder.decode(answer(seen)) is not None] == []


NEVER = ("an unknown field", "too deep")


@pytest.mark.parametrize("case", BAD)
def test_what_does_not_fit_is_left_to_the_way_that_says_why(case):
    reads, data = codec(), answer(BAD[case])
    assert reads.decoder.decode(data) is None
    if case in NEVER:
        with pytest.raises(ContractViolation):
            reads.read_observation(seen_in(data))


@pytest.mark.parametrize("case", [one for one in BAD if one not in NEVER])
def test_a_field_that_is_not_what_the_schema_says_is_as_it_came_and_of_the_space_from_then_on(case):
    reads, data = codec(), answer(BAD[case])
    space, [(name, value)] = reads.observation_space, BAD[case].items()
    for again in (False, True):
        with nullcontext() if again else pytest.warns(UserWarning, match=f"observation.{name}"):
            found = reads.read_observation(seen_in(data))
        assert getattr(found, name) == value
        assert (found in space, reads.observation_space is space) == (True, True)
    told = reads.decoder.decode(data)
    assert getattr(reads.read_observation(told["observation"]), name) == value  # and at once from then on
    others = codec().read_observation({})
    assert [one for one in space.fields if one != name and getattr(found, one) != getattr(others, one)] == []


def test_a_field_that_the_schema_wants_and_the_server_never_sends_is_none_of_the_spaces():
    schema = {**SEEN, "properties": {**SEEN["properties"], "hidden": {"type": "integer"}}, "required": ["hidden"]}
    reads = codec(schema)
    with pytest.warns(UserWarning, match=r"observation\.hidden: expected it, got none"):
        assert reads.read_observation({"kind": "b"}).kind == "b"
    assert "hidden" not in reads.observation_space.fields
    assert reads.announced({"kind": "b", "hidden": 3})[1] == {"hidden": 3}


def seen_in(data):
    return msgspec.json.decode(data)["data"]["observation"]


def test_each_that_asks_again_has_an_observation_of_its_own():
    reads = codec()
    found = reads.decoder.decode(answer({"items": [{"name": "a", "x": 1}]}))["observation"]
    first = reads.read_observation(found)
    first.items[0].x = nan
    assert reads.read_observation(found).items[0].x == 1.0


def test_fields_that_no_schema_announces_are_told_apart_and_read_at_once_from_then_on():
    reads = codec()
    seen = {"items": [{"name": "a", "x": 1, "double": 2}], "best": {"name": "b", "x": 3, "double": 6}, "total": [7]}
    found, more = reads.announced(seen)
    assert more == {"items[0].double": 2, "best.double": 6, "total": [7]}
    assert [one.x for one in (*reads.read_observation(found).items, reads.read_observation(found).best)] == [1.0, 3.0]
    told = reads.decoder.decode(answer({"kind": "b", "total": [8]}))["observation"]
    assert reads.announced(told) == (told, {"total": [8]})
    assert reads.read_observation(told).kind == "b"
    without = reads.decoder.decode(answer({"kind": "b"}))["observation"]
    assert reads.announced(without)[1] == {}
    assert reads.decoder.decode(answer({"another": 1})) is None


@pytest.mark.parametrize(
    "seen", [{"total": 1, "kind": "c"}, {"total": 1, "facts": []}, {"class": 1, "pair": [1, 2, 3]}]
)
def test_what_is_wrong_beside_an_unannounced_field_is_told(seen):
    reads = codec()
    found, more = reads.announced(seen)
    with pytest.warns(UserWarning, match="its /schema says something else"):
        assert reads.read_observation(found) in reads.observation_space
    assert len(more) == 1


def test_defaults_are_made_anew():
    reads = codec()
    first, second = (reads.read_observation(reads.decoder.decode(answer({}))["observation"]) for _ in range(2))
    first.facts["a"] = 1
    assert (second.facts, second.grid, second.anything) == ({}, [[1.5]], 3)


@pytest.mark.parametrize(
    "text", ['{"type": "error", "data": {}}', "no JSON", '{"type": "observation"}', '{"type": "state"}', "[]"]
)
def test_other_answers_are_read_step_by_step(text):
    assert codec().decoder.decode(text) is None


def test_what_no_schema_describes_is_read_at_once_too():
    reads = codec({"type": "object", "additionalProperties": True})
    assert reads.read_observation(reads.decoder.decode(answer({"a": [1]}))["observation"]) == {"a": [1]}
    assert reads.decoder.decode(answer({"a": deep(MAX_DEPTH)})) is None


def test_a_union_that_only_we_tell_apart_is_read_step_by_step():
    either = {"anyOf": [{"type": "array", "items": {"type": kind}} for kind in ("integer", "string")]}
    reads = codec({"title": "Seen", "type": "object", "properties": {"a": either}, "required": ["a"]})
    assert reads.decoder.decode(answer({"a": ["x"]})) is None
    assert reads.read_observation({"a": ["x"]}).a == ["x"]


@pytest.mark.parametrize(
    ("value", "told"),
    [
        ({"a": ['quotes " and \\ and \\" here', 'x\\"']}, True),
        ({"a": ["[", "]"]}, False),
        ({"a": ['"[', ']"']}, False),
        ({"[": "]"}, False),
        (deep(MAX_DEPTH), True),
        (deep(MAX_DEPTH + 1), False),
        ([deep(MAX_DEPTH - 1)] * 3, True),
        ({"a": "ä[ö"}, False),
        ("\\", True),
    ],
)
def test_text_is_shallow_only_where_that_is_certain(value, told):
    assert is_shallow(msgspec.json.encode(value)) is told
