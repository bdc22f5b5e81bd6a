"""`Step` and `AutoresetMode`: five named values, and three words for when a lane is reset."""

import pickle

import numpy as np
import pytest

from ludus.core import AutoresetMode, Step
from ludus.errors import InvalidArgument
from tests.core.wording import says


@pytest.mark.parametrize(
    ("make", "flags"),
    [(Step.transition, (False, False)), (Step.termination, (True, False)), (Step.truncation, (False, True))],
)
def test_three_constructors_say_how_the_episode_stands(make, flags):
    assert make("s") == ("s", 0.0, *flags, {})
    assert make("s", 2.0, {"a": 1}) == Step("s", 2.0, *flags, {"a": 1})
    assert make("s").done is any(flags)


def test_a_step_unpacks_like_everybodys_five():
    observation, reward, terminated, truncated, info = Step.truncation("s", 0.5, {"k": 1})
    assert (observation, reward, terminated, truncated, info) == ("s", 0.5, False, True, {"k": 1})


def test_two_steps_never_share_their_default_info():
    first, second = Step.transition("a"), Step.transition("b")
    first.info["seen"] = True
    assert second.info == {}


def test_done_of_a_batch_is_lane_by_lane():
    step = Step(None, None, np.array([True, False, False]), np.array([False, True, False]), {})
    assert step.done.tolist() == [True, True, False]


def test_a_step_survives_pickling_as_a_step():
    step = pickle.loads(pickle.dumps(Step.termination([1], 1.0, {"a": 2})))
    assert type(step) is Step
    assert step == Step.termination([1], 1.0, {"a": 2})


@pytest.mark.parametrize("mode", AutoresetMode)
def test_a_mode_is_known_by_itself_its_value_and_its_name(mode):
    assert AutoresetMode.of(mode) is AutoresetMode.of(mode.value) is AutoresetMode.of(mode.name) is mode


def test_the_modes_are_spelled_as_in_gymnasium():
    from gymnasium.vector import AutoresetMode as Theirs

    assert {mode.name: mode.value for mode in AutoresetMode} == {mode.name: mode.value for mode in Theirs}


@pytest.mark.parametrize("mode", ["never", None, 1])
def test_an_unknown_mode_names_the_known_ones(mode):
    with says(InvalidArgument, f"autoreset_mode: expected one of NextStep, SameStep, Disabled, got {mode!r}"):
        AutoresetMode.of(mode)
