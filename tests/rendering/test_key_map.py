"""Which key does what: the author's keys, or a good guess."""

import numpy as np
import pytest

from ludus.core import Env
from ludus.errors import InvalidArgument
from ludus.rendering import KeyMap
from ludus.rendering.terminal_screen import decode_keys
from ludus.spaces import Box, Discrete, MultiBinary
from ludus.wrappers import TimeLimit
from tests.core.wording import says


class Subject(Env):
    def __init__(self, space, **metadata):
        self.action_space, self.observation_space = space, Discrete(1)
        self.metadata = {"render_modes": [], **metadata}


def chosen(space, *held):
    return KeyMap.of(Subject(space)).choose(set(held))


# --- guesses ---


@pytest.mark.parametrize(
    ("count", "keys"),
    [
        (1, ["space"]),
        (2, ["left", "right"]),
        (3, ["left", "down", "right"]),
        (4, ["left", "down", "right", "up"]),
        (5, ["left", "down", "right", "up", "space"]),
        (6, ["left", "down", "right", "up", "space", "enter"]),
    ],
)
def test_few_actions_are_on_the_arrows(count, keys):
    assert [chosen(Discrete(count), key) for key in keys] == list(range(count))
    assert [chosen(Discrete(count, start=3), key) for key in keys] == list(range(3, 3 + count))


def test_letters_and_digits_do_the_same():
    assert [chosen(Discrete(4), key) for key in "asdw"] == [0, 1, 2, 3]
    assert [chosen(Discrete(4), key) for key in "0123"] == [0, 1, 2, 3]


def test_more_actions_are_on_digits_and_letters_but_not_on_the_keys_of_the_game():
    assert [chosen(Discrete(9), str(digit)) for digit in range(9)] == list(range(9))
    keys = KeyMap.of(Subject(Discrete(34)))
    assert keys.choose({"a"}) == 10
    assert keys.choose({"q"}) is keys.choose({"r"}) is None
    assert keys.choose({"z"}) == 33


@pytest.mark.parametrize(("low", "high", "idle"), [(-2.0, 2.0, 0.0), (1.0, 3.0, 1.0), (-np.inf, np.inf, 0.0)])
def test_one_number_is_left_right_and_in_between(low, high, idle):
    keys = KeyMap.of(Subject(Box(low, high, (1,))))
    ends = [low if np.isfinite(low) else -1.0, high if np.isfinite(high) else 1.0]
    assert [keys.choose({key}).tolist() for key in ("left", "right")] == [[end] for end in ends]
    assert keys.choose(set()).tolist() == [idle]
    assert keys.choose({"left"}).dtype == np.float32
    assert keys.has_idle


@pytest.mark.parametrize("space", [Discrete(35), Box(-1, 1, (2,)), MultiBinary(3)])
def test_other_spaces_need_keys(space):
    with pytest.raises(InvalidArgument) as caught:
        KeyMap.of(Subject(space))
    assert str(caught.value) == (
        f"play: expected Discrete actions, at most 34, or a Box of one number, got {space!r}; "
        "pass keys_to_action, or give the environment metadata['keys_to_action']"
    )


# --- the author's keys ---


def test_given_keys_come_before_the_authors_and_those_before_a_guess():
    env = Subject(Discrete(2), keys_to_action={"x": 1})
    assert KeyMap.of(env).choose({"x"}) == 1
    assert KeyMap.of(env).choose({"left"}) is None
    assert KeyMap.of(env, {"y": 0}).choose({"x"}) is None


def test_a_method_of_the_environment_is_found_under_its_wrappers():
    env = Subject(Discrete(2))
    env.get_keys_to_action = lambda: {"p": 1}
    assert KeyMap.of(TimeLimit(env, 5)).choose({"p"}) == 1


@pytest.mark.parametrize("keys", ["wd", ("w", "d"), (ord("w"), ord("d")), frozenset("wd"), "WD"])
def test_chords_are_written_as_everybody_does(keys):
    found = KeyMap({keys: 5, "w": 1, "d": 2})
    assert found.choose({"w", "d"}) == 5
    assert found.choose({"w"}) == 1
    assert found.choose({"w", "d", "x"}) == 5


def test_names_characters_and_codes_of_keys():
    keys = KeyMap({" ": 0, "enter": 1, 1073741904: 2, 1073741903: 3, 1073741905: 4, 1073741906: 5, (): 9})
    held = ["space", "enter", "left", "right", "down", "up"]
    assert [keys.choose({key}) for key in held] == [0, 1, 2, 3, 4, 5]
    assert keys.choose(set()) == 9
    assert keys.has_idle
    assert not KeyMap({"a": 0}).has_idle


@pytest.mark.parametrize(
    ("keys", "message"),
    [
        ({"q": 1}, "keys_to_action: expected keys other than r (restarts), q and escape (quit), got ['q']"),
        ({"": 1}, "keys_to_action: expected at least one key, got none"),
        ({}, "keys_to_action: expected at least one key, got none"),
        ({1.5: 1}, "keys_to_action: expected names like 'left' or 'a', or tuples of them, got 1.5"),
        ({-1: 1}, "keys_to_action: expected a key code, got -1; write the key's name instead"),
    ],
)
def test_keys_that_cannot_be_are_refused(keys, message):
    with says(InvalidArgument, message):
        KeyMap(keys)


# --- what the player reads ---


def test_the_legend_has_an_entry_for_each_action():
    assert KeyMap.of(Subject(Discrete(2))).legend() == ["←/a 0", "→/d 1"]
    assert KeyMap({"wd": 3, "up": 2, "": 0}).legend() == ["d+w 3", "↑ 2"]
    assert KeyMap.of(Subject(Box(-2, 2, (1,)))).legend() == ["← -2", "→ 2"]
    assert KeyMap({"a": "hello"}).legend() == ["a hello"]


@pytest.mark.parametrize("names", [["LEFT", "right"], {0: "left", 1: "right"}])
def test_actions_have_the_authors_names(names):
    assert KeyMap.of(Subject(Discrete(2), action_names=names)).legend() == ["←/a left", "→/d right"]


def test_names_from_a_method_count_from_the_spaces_start():
    env = Subject(Discrete(2, start=4))
    env.get_action_meanings = lambda: ["NOOP", "FIRE"]
    assert KeyMap.of(env).legend() == ["←/a noop", "→/d fire"]


# --- what a terminal sends ---


@pytest.mark.parametrize(
    ("sent", "keys", "rest"),
    [
        ("", [], ""),
        ("aA1", ["a", "a", "1"], ""),
        (" \r\n\t\x7f", ["space", "enter", "enter", "tab", "backspace"], ""),
        ("\x1b[A\x1b[B\x1b[C\x1b[D", ["up", "down", "right", "left"], ""),
        ("\x1bOA\x1bOD", ["up", "left"], ""),
        ("\x1b[1;5D", ["left"], ""),
        ("\x1b[15~x", ["x"], ""),
        ("\x1bx", ["escape", "x"], ""),
        ("x\x1b", ["x"], "\x1b"),
        ("\x1b[1;", [], "\x1b[1;"),
        ("\x01b\x02", ["b"], ""),
    ],
)
def test_keys_are_read_from_what_a_terminal_sends(sent, keys, rest):
    assert decode_keys(sent) == (keys, rest)
