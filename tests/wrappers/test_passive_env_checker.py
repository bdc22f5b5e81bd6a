"""`PassiveEnvChecker`: errors where the form is wrong, one warning where the content is, then silence."""

import warnings

import numpy as np
import pytest

from ludus.core import Env, EnvSpec, Step
from ludus.envs.teaching import GridWorld
from ludus.errors import ContractViolation, InvalidType
from ludus.spaces import Discrete
from ludus.vector import SerialVectorEnv
from ludus.wrappers import ContractWarning, OrderEnforcing, PassiveEnvChecker
from tests.core.subjects import Walk
from tests.core.wording import says

FIX = "`ludus check module:Env` lists everything at once"
HERE = np.zeros(2, dtype=np.int64)


class Told(GridWorld):
    """Returns what it is told to."""

    def __init__(self, reset=(HERE, {}), step=(HERE, 0.0, False, False, {})):
        super().__init__()
        self.told_reset, self.told_step = reset, step

    def reset(self, *, seed=None, options=None):
        Env.reset(self, seed=seed)
        return self.told_reset

    def step(self, action):
        return self.told_step


def warned(call):
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        call()
    assert all(one.category is ContractWarning for one in caught)
    return [str(one.message) for one in caught]


def test_a_good_environment_passes_in_silence_and_gives_steps():
    env = PassiveEnvChecker(Told())
    env.reset(seed=0)
    step = env.step(0)
    assert type(step) is Step
    given = Step(HERE, 0.0, False, False, {})
    again = PassiveEnvChecker(Told(step=given))
    again.reset()
    assert again.step(0) is given


@pytest.mark.parametrize(
    ("result", "got"),
    [
        (3, "3"),
        ((1, 2, 3), "(1, 2, 3)"),
        ((1, None), "(1, None)"),
        ([1, {}], "[1, {}]"),
    ],
)
def test_reset_returns_an_observation_and_an_info(result, got):
    with says(ContractViolation, f"Told.reset: expected (observation, info), got {got}; return both"):
        PassiveEnvChecker(Told(reset=result)).reset()


@pytest.mark.parametrize(
    ("result", "got", "hint"),
    [
        ((0, 1.0, True, {}), "(0, 1.0, True, {})", "adapt the old API with ludus.core.from_legacy"),
        ((0, 1.0), "(0, 1.0)", "return a ludus.Step"),
        (None, "None", "return a ludus.Step"),
        ([0, 1.0, True, False, {}], "[0, 1.0, True, False, {}]", "return a ludus.Step"),
    ],
)
def test_step_returns_five_values(result, got, hint):
    env = PassiveEnvChecker(Told(step=result))
    env.reset()
    message = f"Told.step: expected (observation, reward, terminated, truncated, info), got {got}; {hint}"
    with says(ContractViolation, message):
        env.step(0)


def test_the_info_of_a_step_is_a_dictionary():
    env = PassiveEnvChecker(Told(step=(HERE, 0.0, False, False, None)))
    env.reset()
    with says(ContractViolation, "Told.step info: expected a dictionary, got None"):
        env.step(0)


@pytest.mark.parametrize("name", ["observation_space", "action_space"])
def test_spaces_are_looked_at_when_it_is_wrapped(name):
    env = GridWorld()
    setattr(env, name, "four")
    with says(InvalidType, f"GridWorld.{name}: expected a ludus Space, got 'four'; set it in __init__"):
        PassiveEnvChecker(env)
    with says(InvalidType, "Bare.observation_space: expected a ludus Space, got None; set it in __init__"):
        PassiveEnvChecker(type("Bare", (Env,), {})())


@pytest.mark.parametrize(
    ("values", "texts"),
    [
        ((np.array([0, 9]), 0.0, False, False, {}), ["observation[1]: expected 0 to 4, got 9"]),
        ((np.array([7, 9]), 0.0, False, False, {}), ["observation[0]: expected 0 to 4, got 7 and 1 more"]),
        (
            (np.zeros(2), 0.0, False, False, {}),
            ["observation: expected dtype int64 or one that casts to it safely, got dtype float64"],
        ),
        ((HERE, 0.0, 0, False, {}), ["terminated: expected a bool, got 0"]),
        ((HERE, 0.0, False, None, {}), ["truncated: expected a bool, got None"]),
        ((HERE, "1", False, False, {}), ["reward: expected a number, got '1'"]),
        ((HERE, True, False, False, {}), ["reward: expected a number, got True"]),
        ((HERE, np.zeros(1), False, False, {}), ["reward: expected a number, got array([0.])"]),
        ((HERE, float("nan"), False, False, {}), ["reward: expected a finite number, got nan"]),
        ((HERE, -np.inf, False, False, {}), ["reward: expected a finite number, got -inf"]),
        (
            (np.array([0, 9]), None, 1, False, {}),
            [
                "observation[1]: expected 0 to 4, got 9",
                "terminated: expected a bool, got 1",
                "reward: expected a number, got None",
            ],
        ),
    ],
)
def test_the_content_of_the_first_step_is_warned_about_once(values, texts):
    env = PassiveEnvChecker(Told(step=values))
    env.reset()
    assert warned(lambda: env.step(0)) == [f"Told.step {text}; {FIX}" for text in texts]
    assert warned(lambda: env.step(0)) == []


@pytest.mark.parametrize("flag", [True, np.True_])
@pytest.mark.parametrize("reward", [1, 1.5, np.float32(2), np.int64(3)])
def test_numpys_flags_and_numbers_are_as_good(flag, reward):
    env = PassiveEnvChecker(Told(step=(HERE, reward, flag, flag, {})))
    env.reset()
    assert warned(lambda: env.step(0)) == []


def test_the_first_observation_is_warned_about_once():
    env = PassiveEnvChecker(Told(reset=(np.array([5, 0]), {})))
    assert warned(env.reset) == [f"Told.reset observation[0]: expected 0 to 4, got 5; {FIX}"]
    assert warned(env.reset) == []


def test_the_warning_points_at_the_callers_line():
    env = PassiveEnvChecker(Told(reset=(np.array([5, 0]), {})))
    with pytest.warns(ContractWarning) as caught:
        env.reset()
    assert caught[0].filename == __file__


def test_rendering_needs_a_mode():
    env = PassiveEnvChecker(OrderEnforcing(Walk()))
    env.reset()
    message = "Walk.render: expected a render_mode, got None; make it with render_mode=… out of ['ansi']"
    with says(ContractViolation, message):
        env.render()
    drawing = PassiveEnvChecker(Walk(render_mode="ansi"))
    drawing.reset(seed=0)
    assert drawing.render() == drawing.render()


def test_a_batch_is_checked_as_a_batch():
    envs = PassiveEnvChecker(SerialVectorEnv([Told, Told]))
    assert warned(lambda: envs.reset(seed=0)) == []
    assert warned(lambda: envs.step([0, 0])) == []
    wrong = SerialVectorEnv([lambda: Told(reset=(np.array([5, 0]), {}))] * 2)
    texts = warned(PassiveEnvChecker(wrong).reset)
    assert texts == [f"SerialVectorEnv.reset observation[0][0]: expected 0 to 4, got 5 and 1 more; {FIX}"]


def test_the_spec_carries_the_check_as_its_own_field():
    env = GridWorld()
    assert PassiveEnvChecker(env).spec is None
    env.spec = EnvSpec("GridWorld-v0", disable_env_checker=True)
    assert PassiveEnvChecker(env).spec == EnvSpec("GridWorld-v0", disable_env_checker=False)


def test_the_environments_own_steps_are_left_alone():
    class Once(GridWorld):
        observation_space = action_space = Discrete(2)

    env = PassiveEnvChecker(GridWorld())
    plain = GridWorld()
    assert np.array_equal(env.reset(seed=1)[0], plain.reset(seed=1)[0])
    for action in (0, 1, 2, 3, 1):
        step, expected = env.step(action), plain.step(action)
        assert np.array_equal(step.observation, expected.observation)
        assert step[1:4] == expected[1:4]
