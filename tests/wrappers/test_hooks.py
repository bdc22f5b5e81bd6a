"""Hooks of a stranger's subclass, of every wrapper there is: they are called, around one environment and a batch."""

import inspect

import numpy as np
import pytest

from ludus import wrappers as w
from ludus.core import ActionWrapper, AutoresetMode, Env, ObservationWrapper, RewardWrapper, Step, Wrapper
from ludus.spaces import Box, Discrete
from ludus.vector import SerialVectorEnv
from tests.kernels.strange_games import Nim
from tests.wrappers.equivalence import Trial, check_equivalence
from tests.wrappers.test_atari import HEIGHT, WIDTH, Game
from tests.wrappers.test_opponent import least
from tests.wrappers.walk import Walk

MODES = list(AutoresetMode)


def identity(value):
    return value


class AnyMove(Nim):
    """A game that takes illegal moves, and has them lose."""

    rules = Nim.rules._replace(illegal="allow")


ARGUMENTS = {
    "AddRenderObservation": ({}, {"render_mode": "rgb_array"}),
    "AddWhiteNoise": ({"probability_of_noise_per_pixel": 0.5}, {"render_mode": "rgb_array"}),
    "ArrayConversion": ({"env_xp": "numpy", "target_xp": "numpy"}, {}),
    "AtariPreprocessing": ({"noop_max": 0, "screen_size": (WIDTH, HEIGHT)}, Game),
    "Autoreset": ({}, {}),
    "ClipAction": ({}, {"actions": "box"}),
    "ClipReward": ({"min_reward": -1.0}, {}),
    "DelayObservation": ({"delay": 1}, {}),
    "DictInfoToList": ({}, {}),
    "DiscretizeAction": ({"bins": 3}, {"actions": "box"}),
    "DiscretizeObservation": ({"bins": 3}, {}),
    "DtypeObservation": ({"dtype": np.float64}, {}),
    "FilterObservation": ({"filter_keys": ["b"]}, {"kind": "dict"}),
    "FlattenObservation": ({}, {"kind": "image"}),
    "FrameStackObservation": ({"stack_size": 2}, {}),
    "GrayscaleObservation": ({}, {"kind": "image"}),
    "HumanRendering": ({}, {"render_mode": "rgb_array"}),
    "MaxAndSkipObservation": ({"skip": 2}, {}),
    "NormalizeObservation": ({}, {}),
    "NormalizeReward": ({}, {}),
    "ObstructView": ({"obstructed_pixels_ratio": 0.5, "obstruction_width": 2}, {"render_mode": "rgb_array"}),
    "CoerceAction": ({}, {}),
    "OrderEnforcing": ({}, {}),
    "PassiveEnvChecker": ({}, {}),
    "PlayAgainst": ({"policy": least}, AnyMove),
    "RecordEpisodeStatistics": ({}, {}),
    "RecordVideo": ({"video_folder": ".", "episode_trigger": lambda number: False}, {"render_mode": "rgb_array"}),
    "RenderCollection": ({}, {"render_mode": "rgb_array"}),
    "RepeatAction": ({"num_repeats": 2}, {}),
    "RescaleAction": ({"min_action": 0.0, "max_action": 1.0}, {"actions": "box"}),
    "RescaleObservation": ({"min_obs": 0.0, "max_obs": 1.0}, {}),
    "ReshapeObservation": ({"shape": (3, 1)}, {}),
    "ResizeObservation": ({"shape": (3, 4)}, {"kind": "image"}),
    "StickyAction": ({"repeat_action_probability": 0.5}, {}),
    "TimeAwareObservation": ({}, "limited"),
    "TimeLimit": ({"max_episode_steps": 4}, {}),
    "Transform": ({}, {}),
    "TransformAction": ({"func": identity}, {}),
    "TransformObservation": ({"func": identity}, {}),
    "TransformReward": ({"func": identity}, {}),
    "VectorizeTransformAction": ({"wrapper": w.TransformAction, "func": identity}, {}),
    "VectorizeTransformObservation": ({"wrapper": w.TransformObservation, "func": identity}, {}),
    "VectorizeTransformReward": ({"wrapper": w.TransformReward, "func": identity}, {}),
}
ABSTRACT = {"ActionTransform", "ObservationTransform", "RewardTransform"}
ELSEWHERE = {"JaxToNumpy", "JaxToTorch", "NumpyToTorch"}
"""Subclasses of ArrayConversion that need a library which may not be here."""
ONE_ONLY = {"Autoreset"}
BATCH_ONLY = {
    "DictInfoToList",
    "VectorizeTransformAction",
    "VectorizeTransformObservation",
    "VectorizeTransformReward",
}


def make(name):
    arguments = ARGUMENTS[name][1]
    if arguments == "limited":
        return w.TimeLimit(Walk(), 5)
    return arguments() if callable(arguments) else Walk(**arguments)


def surroundings(name):
    """One environment and a batch, as far as the wrapper goes around them."""
    if name not in BATCH_ONLY:
        yield make(name)
    if name not in ONE_ONLY:
        yield SerialVectorEnv([lambda: make(name)] * 3)


def wrapper_names():
    found = {name for name in w.__all__ if inspect.isclass(getattr(w, name)) and issubclass(getattr(w, name), Wrapper)}
    return sorted(found - ABSTRACT - ELSEWHERE)


def test_every_wrapper_is_looked_at():
    assert set(wrapper_names()) == set(ARGUMENTS)


@pytest.fixture(autouse=True)
def no_window(monkeypatch):
    monkeypatch.setenv("SDL_VIDEODRIVER", "dummy")


def stranger(name, **methods):
    return type("Strange", (getattr(w, name),), methods)


def played(env):
    env.reset(seed=0)
    return env.step(env.action_space.sample())


@pytest.mark.parametrize("name", wrapper_names())
def test_a_reward_hook_has_the_last_word(name):
    for env in surroundings(name):
        kind = stranger(name, reward=lambda self, reward: 123.0)
        with kind(env, **ARGUMENTS[name][0]) as wrapped:
            assert np.array_equal(played(wrapped).reward, np.full(env.batch_shape, 123.0))


@pytest.mark.parametrize("name", wrapper_names())
def test_an_observation_hook_has_the_last_word_in_reset_and_step(name):
    for env in surroundings(name):
        kind = stranger(name, observation=lambda self, observation: np.full(2, 7))
        with kind(env, **ARGUMENTS[name][0]) as wrapped:
            expected = np.full((*env.batch_shape, 2), 7)
            assert np.array_equal(wrapped.reset(seed=0)[0], expected)
            assert np.array_equal(wrapped.step(wrapped.action_space.sample()).observation, expected)


@pytest.mark.parametrize("name", wrapper_names())
def test_an_action_hook_says_what_is_done(name):
    for env in surroundings(name):
        told = []

        def action(self, action, told=told):
            told.append(action)
            return self.unwrapped_action

        kind = stranger(name, action=action)
        with kind(env, **ARGUMENTS[name][0]) as wrapped:
            space = wrapped.env.single_action_space if env.batch_shape else wrapped.env.action_space
            kind.unwrapped_action = space.sample()
            played(wrapped)
            assert len(told) == (env.batch_shape or (1,))[0]


@pytest.mark.parametrize("name", sorted(set(wrapper_names()) - ONE_ONLY))
def test_a_hook_for_batches_is_preferred_on_a_batch(name):
    def hook(result):
        return lambda self, values: result

    env = SerialVectorEnv([lambda: make(name)] * 3)
    kind = stranger(name, rewards=hook(np.arange(3.0)), observations=hook(np.full((3, 1), 5)))
    with kind(env, **ARGUMENTS[name][0]) as wrapped:
        step = played(wrapped)
        assert step.reward.tolist() == [0.0, 1.0, 2.0]
        assert np.array_equal(step.observation, np.full((3, 1), 5))


@pytest.mark.parametrize("name", wrapper_names())
def test_reset_and_step_of_a_subclass_are_called_around_what_the_wrapper_does(name):
    for env in surroundings(name):
        base = getattr(w, name)

        def step(self, action, base=base):
            found = base.step(self, action)
            return Step(found[0], found[1] + 1000, *found[2:])

        def reset(self, *, seed=None, options=None, base=base):
            self.resets += 1
            return base.reset(self, seed=seed, options=options)

        kind = stranger(name, step=step, reset=reset, resets=0)
        with kind(env, **ARGUMENTS[name][0]) as wrapped:
            step = played(wrapped)
            assert np.all(np.asarray(step.reward) > 500)
            assert wrapped.resets == 1


@pytest.mark.parametrize("name", sorted(n for n in wrapper_names() if issubclass(getattr(w, n), w.Transform)))
def test_hooks_of_transforms_are_called_whatever_the_transform_does(name):
    for env in surroundings(name):
        base, called = getattr(w, name), []

        def before_step(self, action, base=base, called=called):
            called.append("before")
            return base.before_step(self, action)

        def after_step(self, step, begun, base=base, called=called):
            called.append("after")
            return base.after_step(self, step, begun)

        def on_reset(self, observation, info, begun, base=base, called=called):
            called.append("reset")
            return base.on_reset(self, observation, info, begun)

        kind = stranger(name, before_step=before_step, after_step=after_step, on_reset=on_reset)
        with kind(env, **ARGUMENTS[name][0]) as wrapped:
            played(wrapped)
        assert called == ["reset", "before", "after"]


# --- the three classes with one method, on batches ---


class Shifted(ObservationWrapper):
    def observation(self, observation):
        return observation + np.float32(1)


class Stretched(ObservationWrapper):
    """Another shape, and a space for it."""

    def __init__(self, env):
        super().__init__(env)
        self.resized = Box(-10.0, 10.0, (6,), np.float32)
        if env.batch_shape:
            self.single_observation_space = self.resized
        self.observation_space = self.resized.batch(env.num_envs) if env.batch_shape else self.resized

    def observation(self, observation):
        return np.concatenate([observation, observation])


class Reversed(ActionWrapper):
    def action(self, action):
        return 2 - action


class Costly(RewardWrapper):
    def reward(self, reward):
        return reward if reward > 1 else -7.5  # of one number: no array would do


class Own(Wrapper):
    """No hook at all: a step of its own."""

    def step(self, action):
        observation, reward, terminated, truncated, info = self.env.step(action)
        return Step(observation, reward - 1, terminated, truncated, info)


STACKS = {
    "shifted": [Shifted],
    "stretched": [Stretched],
    "reversed": [Reversed],
    "costly": [Costly],
    "all three": [Shifted, Reversed, Costly, w.FrameStackObservation.using(2)],
    "under a limit": [Shifted, Reversed, Costly, w.TimeLimit.using(3)],
    "under repeats": [Costly, w.TimeLimit.using(3), Shifted, Reversed, w.RepeatAction.using(2), Stretched],
}


@pytest.mark.parametrize("mode", MODES, ids=lambda mode: mode.value)
@pytest.mark.parametrize("name", STACKS)
def test_wrappers_that_only_know_one_environment_are_right_on_batches(name, mode):
    def wrap(env):
        for wrapper in STACKS[name]:
            env = wrapper(env)
        return env

    check_equivalence(wrap, Walk, lambda: SerialVectorEnv([Walk] * 4, autoreset_mode=mode), Trial(mode))


def test_a_step_of_ones_own_is_made_in_masked_steps_too():
    envs = w.RepeatAction(Own(SerialVectorEnv([Walk] * 2)), 2)
    bare = w.RepeatAction(SerialVectorEnv([Walk] * 2), 2)
    envs.reset(seed=0)
    bare.reset(seed=0)
    assert np.allclose(envs.step(np.zeros(2, int)).reward, bare.step(np.zeros(2, int)).reward - 2)


def test_the_form_of_the_most_derived_class_counts():
    class Whole(Costly):
        def rewards(self, rewards):
            return rewards * 0 + 1

    class Single(Whole):
        def reward(self, reward):
            return 2.0

    for kind, expected in ((Whole, 1.0), (Single, 2.0)):
        envs = kind(SerialVectorEnv([Walk] * 2))
        envs.reset(seed=0)
        assert envs.step(np.zeros(2, int)).reward.tolist() == [expected] * 2


def test_only_the_batchs_form_also_changes_last_observations():
    class Doubled(ObservationWrapper):
        def observations(self, observations):
            return observations * 2

    envs = Doubled(SerialVectorEnv([Walk] * 3, autoreset_mode="SameStep"))
    bare = SerialVectorEnv([Walk] * 3, autoreset_mode="SameStep")
    envs.reset(seed=0)
    bare.reset(seed=0)
    ends = 0
    for _ in range(20):
        ours, theirs = envs.step(np.zeros(3, int)), bare.step(np.zeros(3, int))
        for lane in np.flatnonzero(theirs.done):
            ends += 1
            assert np.array_equal(ours.info["final_obs"][lane], theirs.info["final_obs"][lane] * 2)
    assert ends > 3


def test_a_hook_mixed_in_is_called():
    class Cost:
        def reward(self, reward):
            return -3.0

    class Limited(Cost, w.TimeLimit):
        pass

    assert played(Limited(Walk(), 3)).reward == -3.0


def test_methods_of_those_names_are_a_plain_wrappers_own_affair():
    class Mine(Wrapper):
        def reward(self):
            return "mine"

    class Bare(Env):
        observation_space = action_space = Discrete(2)

        def reset(self, *, seed=None, options=None):
            return 0, {}

        def step(self, action):
            return Step.transition(0, 1.0)

    env = Mine(Bare())
    env.reset()
    assert (env.step(0).reward, env.reward()) == (1.0, "mine")
