"""Schemas of OpenEnv's servers as spaces: what an action leaves out."""

from ludus.client.openenv.schema import space_of

POINT = {
    "title": "Point",
    "type": "object",
    "properties": {
        "x": {"type": "number", "default": 0.0},
        "tags": {"type": "array", "items": {"type": "string"}, "default": ["a"]},
    },
}
DISC = {
    "title": "Disc",
    "type": "object",
    "properties": {
        "kind": {"const": "disc", "default": "disc"},
        "centre": {"$ref": "#/$defs/Point", "default": {"x": 2.0}},
    },
}
LINE = {
    "title": "Line",
    "type": "object",
    "properties": {
        "kind": {"const": "line", "default": "line"},
        "ends": {"type": "array", "items": {"$ref": "#/$defs/Point"}, "default": []},
    },
}
ACTION = {
    "title": "Act",
    "type": "object",
    "additionalProperties": False,
    "$defs": {"Point": POINT, "Disc": DISC, "Line": LINE},
    "properties": {
        "shape": {"anyOf": [{"$ref": "#/$defs/Line"}, {"$ref": "#/$defs/Disc"}, {"type": "null"}], "default": None},
        "at": {"$ref": "#/$defs/Point", "default": {"x": 1.0}},
        "facts": {"type": "object", "additionalProperties": True, "default": {"seen": [1]}},
    },
}


def test_an_object_inside_another_may_be_left_out_where_its_schema_has_a_default():
    space = space_of(ACTION)
    action = space.coerce({"shape": {"kind": "disc"}})
    assert (action.shape.kind, action.shape.centre.x, action.at.x) == ("disc", 2.0, 1.0)
    assert space.encode(action)["shape"] == {"kind": "disc", "centre": {"x": 2.0, "tags": ["a"]}}


def test_defaults_of_two_actions_share_nothing():
    space = space_of(ACTION)
    first, second = space.coerce({}), space.coerce({})
    first.at.tags.append("b")
    first.facts["seen"].append(2)
    assert (second.at.tags, second.facts) == (["a"], {"seen": [1]})
