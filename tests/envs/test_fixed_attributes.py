"""Attributes of Gymnasium's toy texts that rules have written into them: to set another value is an error."""

import numpy as np
import pytest

import ludus
from ludus.envs.toy_text import CliffWalking, FrozenLake, Taxi
from ludus.errors import InvalidArgument

OTHERS = [
    (CliffWalking, "shape", (5, 12)),
    (CliffWalking, "start_state_index", 0),
    (CliffWalking, "nS", 60),
    (CliffWalking, "nA", 3),
    (CliffWalking, "_cliff", np.zeros((4, 12), bool)),
    (Taxi, "locs", [(0, 0), (0, 4), (4, 0), (4, 4)]),
    (Taxi, "desc", np.zeros((7, 11), "c")),
    (Taxi, "max_row", 9),
    (FrozenLake, "desc", ["SFFG"]),
]


@pytest.mark.parametrize(("kind", "name", "value"), OTHERS)
def test_a_subclass_that_sets_what_the_rules_cannot_follow_is_refused_with_the_reason(kind, name, value):
    for make in (lambda own: own(), lambda own: ludus.make_vec(own, 2)):
        with pytest.raises(InvalidArgument, match=rf"Own\.{name}: expected .*, got .*; (change|call|make)"):
            make(type("Own", (kind,), {name: value}))


@pytest.mark.parametrize(("kind", "name", "value"), OTHERS)
def test_an_environment_does_not_take_what_its_rules_do_not_follow(kind, name, value):
    env = kind()
    with pytest.raises(
        InvalidArgument, match=rf"{kind.__name__}\.{name}: expected .*, which the rules are written for"
    ):
        setattr(env, name, value)
    setattr(env, name, getattr(env, name))


@pytest.mark.parametrize(("kind", "name"), [(CliffWalking, "_cliff"), (Taxi, "desc"), (FrozenLake, "desc")])
def test_a_map_cannot_be_written_into(kind, name):
    with pytest.raises(ValueError, match="read-only"):
        getattr(kind(), name)[0, 0] = 1


def test_stops_are_those_that_everybody_knows():
    assert list(Taxi().locs) == [(0, 0), (0, 4), (4, 0), (4, 3)]
    assert list(CliffWalking()._cliff[3]) == [False] + [True] * 10 + [False]
