"""What wrappers refuse, remember, save and say of themselves."""

from itertools import pairwise

import numpy as np
import pytest

import ludus
from ludus import wrappers as w
from ludus.core import AutoresetMode, Env, EnvSpec, VectorEnv
from ludus.errors import InvalidArgument, InvalidSpace, InvalidType, InvalidValue
from ludus.spaces import Box, Dict, Discrete, Text
from ludus.vector import SerialVectorEnv
from tests.wrappers.walk import Walk


def batch(n=3, mode="NextStep", **kwargs):
    return SerialVectorEnv([lambda: Walk(**kwargs)] * n, autoreset_mode=mode)


WRONG = {
    "time limit of zero": (
        lambda: w.TimeLimit(Walk(), 0),
        InvalidArgument,
        "max_episode_steps: expected an integer of at least 1, got 0",
    ),
    "time limit of 2.5": (
        lambda: w.TimeLimit(Walk(), 2.5),
        InvalidType,
        "max_episode_steps: expected an integer of at least 1, got 2.5",
    ),
    "negative delay": (
        lambda: w.DelayObservation(Walk(), -1),
        InvalidArgument,
        "delay: expected an integer of at least 0, got -1",
    ),
    "empty stack": (
        lambda: w.FrameStackObservation(Walk(), 0),
        InvalidArgument,
        "stack_size: expected an integer of at least 1, got 0",
    ),
    "padding": (
        lambda: w.FrameStackObservation(Walk(), 2, padding_type="none"),
        InvalidArgument,
        "padding_type: expected 'reset', 'zero' or an observation, got 'none'",
    ),
    "skip of one": (
        lambda: w.MaxAndSkipObservation(Walk(), 1),
        InvalidArgument,
        "skip: expected an integer of at least 2, got 1",
    ),
    "max of text": (
        lambda: w.MaxAndSkipObservation(Words()),
        InvalidSpace,
        "MaxAndSkipObservation: expected a space of arrays, got Text(",
    ),
    "no bounds": (
        lambda: w.ClipReward(Walk()),
        InvalidArgument,
        "ClipReward: expected min_reward or max_reward, got neither",
    ),
    "bounds turned round": (
        lambda: w.ClipReward(Walk(), 1, 0),
        InvalidArgument,
        "ClipReward: expected min_reward <= max_reward, got 1 and 0",
    ),
    "gamma": (
        lambda: w.NormalizeReward(Walk(), gamma=2),
        InvalidArgument,
        "gamma: expected a number from 0 to 1, got 2",
    ),
    "epsilon": (
        lambda: w.NormalizeReward(Walk(), epsilon=0),
        InvalidArgument,
        "epsilon: expected a positive number, got 0",
    ),
    "normalising text": (
        lambda: w.NormalizeObservation(Words()),
        InvalidSpace,
        "NormalizeObservation: expected a space of arrays, got Text(",
    ),
    "sticky for ever": (
        lambda: w.StickyAction(Walk(), 1.0),
        InvalidArgument,
        "repeat_action_probability: expected at least 0 and less than 1, got 1.0",
    ),
    "sticky duration": (
        lambda: w.StickyAction(Walk(), 0.5, (3, 1)),
        InvalidArgument,
        "repeat_action_duration: expected a positive integer or a pair of them in order, got (3, 1)",
    ),
    "sticky duration of texts": (
        lambda: w.StickyAction(Walk(), 0.5, ("1", "3")),
        InvalidArgument,
        "repeat_action_duration: expected a positive integer or a pair of them in order, got ('1', '3')",
    ),
    "filtering a box": (
        lambda: w.FilterObservation(Walk(), ["a"]),
        InvalidSpace,
        "FilterObservation: expected a Dict or Tuple observation space",
    ),
    "filtering by text": (
        lambda: w.FilterObservation(Walk(kind="dict"), "a"),
        InvalidType,
        "filter_keys: expected a sequence of keys, got 'a'",
    ),
    "unknown key": (
        lambda: w.FilterObservation(Walk(kind="dict"), ["c"]),
        InvalidArgument,
        "filter_keys: expected different keys out of ['a', 'b'], at least one, got ['c']",
    ),
    "gray vector": (
        lambda: w.GrayscaleObservation(Walk()),
        InvalidSpace,
        "GrayscaleObservation: expected images, a uint8 Box from 0 to 255",
    ),
    "two channels": (
        lambda: w.GrayscaleObservation(TwoChannels()),
        InvalidSpace,
        "GrayscaleObservation: expected 3 channels, got shape (2, 2, 2)",
    ),
    "reshaping a dict": (
        lambda: w.ReshapeObservation(Walk(kind="dict"), (1,)),
        InvalidSpace,
        "ReshapeObservation: expected a Box observation space",
    ),
    "reshaping to a list": (
        lambda: w.ReshapeObservation(Walk(), [3]),
        InvalidType,
        "ReshapeObservation shape: expected a tuple of integers, got [3]",
    ),
    "wrong size": (
        lambda: w.ReshapeObservation(Walk(), (2, 2)),
        InvalidArgument,
        "ReshapeObservation shape: expected 3 numbers in all, got (2, 2)",
    ),
    "dtype of a dict": (
        lambda: w.DtypeObservation(Walk(kind="dict"), np.int8),
        InvalidSpace,
        "DtypeObservation: expected a space of arrays or integers",
    ),
    "rescaling a dict": (
        lambda: w.RescaleObservation(Walk(kind="dict"), 0, 1),
        InvalidSpace,
        "RescaleObservation: expected a Box, got Dict(",
    ),
    "rescaling by text": (
        lambda: w.RescaleObservation(Walk(), "a", 1),
        InvalidArgument,
        "RescaleObservation minimum: expected a number or an array of shape (3,), got 'a'",
    ),
    "rescaling to infinity": (
        lambda: w.RescaleObservation(Walk(), -np.inf, 1.0),
        InvalidArgument,
        "RescaleObservation: expected infinite ends to stay infinite",
    ),
    "rescaling backwards": (
        lambda: w.RescaleObservation(Walk(), 1.0, 0.0),
        InvalidArgument,
        "RescaleObservation: expected minimum <= maximum, got 1.0 and 0.0",
    ),
    "rescaling to a point": (
        lambda: w.RescaleAction(Walk(actions="box"), 1.0, 1.0),
        InvalidArgument,
        "RescaleAction: expected min_action < max_action, got 1.0 and 1.0",
    ),
    "rescaling a point": (
        lambda: w.RescaleObservation(Point(), 0.0, 1.0),
        InvalidSpace,
        "RescaleObservation: expected low < high where both are finite",
    ),
    "clipping integers": (
        lambda: w.ClipAction(Walk()),
        InvalidSpace,
        "ClipAction: expected a Box action space, got Discrete(3)",
    ),
    "bins of integers": (
        lambda: w.DiscretizeAction(Walk(), 3),
        InvalidSpace,
        "DiscretizeAction: expected a finite Box, got Discrete(3)",
    ),
    "wrong bins": (
        lambda: w.DiscretizeObservation(Walk(), (2, 2)),
        InvalidArgument,
        "DiscretizeObservation bins: expected a positive integer, or 3 of them, got (2, 2)",
    ),
    "no function": (
        lambda: w.TransformObservation(Walk(), 3),
        InvalidType,
        "TransformObservation func: expected a function, got 3",
    ),
    "no action function": (
        lambda: w.TransformAction(Walk(), 3),
        InvalidType,
        "TransformAction func: expected a function, got 3",
    ),
    "no reward function": (
        lambda: w.TransformReward(Walk(), 3),
        InvalidType,
        "TransformReward func: expected a function, got 3",
    ),
    "no limit to be aware of": (
        lambda: w.TimeAwareObservation(Walk()),
        InvalidArgument,
        "TimeAwareObservation: expected a time limit, got none",
    ),
    "taken key": (
        lambda: w.TimeAwareObservation(w.TimeLimit(Walk(kind="dict"), 3), dict_time_key="a"),
        InvalidArgument,
        "dict_time_key: expected a new key, got 'a', which the observation has",
    ),
    "autoreset of a batch": (
        lambda: w.Autoreset(batch()),
        InvalidType,
        "Autoreset: expected one environment, got a batch of (3,)",
    ),
    "list of one": (
        lambda: w.DictInfoToList(Walk()),
        InvalidType,
        "DictInfoToList: expected a batch, got one environment",
    ),
    "stacked text in a batch": (
        lambda: w.FrameStackObservation(SerialVectorEnv([Words] * 2), 2),
        InvalidType,
        "FrameStackObservation: expected observations made of arrays, got Text(",
    ),
    "delayed text in a batch": (
        lambda: w.DelayObservation(SerialVectorEnv([Words] * 2), 2),
        InvalidType,
        "DelayObservation: expected observations made of arrays, got Text(",
    ),
    "pictures that nobody sees": (
        lambda: w.AddRenderObservation(batch(mode="SameStep", render_mode="rgb_array")),
        InvalidArgument,
        "AddRenderObservation: expected a batch that shows the last picture of an episode, got autoreset in the same "
        "step, which draws over it; make it with autoreset_mode='NextStep' or 'Disabled', or wrap each lane",
    ),
}


class Words(Env):
    observation_space = Text(3)
    action_space = Discrete(2)


class TwoChannels(Env):
    observation_space = Box(0, 255, (2, 2, 2), np.uint8)
    action_space = Discrete(2)


class Point(Env):
    observation_space = Box(1.0, 1.0, (1,))
    action_space = Discrete(2)


@pytest.mark.parametrize("name", WRONG)
def test_wrong_arguments_are_refused_in_plain_words(name):
    build, error, text = WRONG[name]
    with pytest.raises(error) as raised:
        build()
    assert text in str(raised.value)


def test_using_names_a_wrapper_that_is_not_yet_applied_and_the_pipe_applies_it():
    env = Walk() | w.TimeLimit.using(4) | w.ClipReward.using(max_reward=1.0)
    assert str(env) == "<ClipReward(max_reward=1.0)<TimeLimit(max_episode_steps=4)<Walk instance>>>"
    assert w.TimeLimit.using(4) == w.TimeLimit.using(max_episode_steps=4)


FORMS = [
    w.TimeLimit.using(4),
    {"TimeLimit": {"max_episode_steps": 4}},
    {"ludus.wrappers.time_limit:TimeLimit": {"max_episode_steps": 4}},
    {"entry_point": "ludus.wrappers:TimeLimit", "kwargs": {"max_episode_steps": 4}},
    lambda env: w.TimeLimit(env, 4),
]


@pytest.mark.parametrize("form", FORMS, ids=["using", "short", "module", "spec", "function"])
def test_wrap_takes_objects_functions_and_plain_data(form):
    env = ludus.wrap(Walk(), form, w.OrderEnforcing)
    assert isinstance(env, w.OrderEnforcing)
    assert str(env.env) == "<TimeLimit(max_episode_steps=4)<Walk instance>>"


@pytest.mark.parametrize(
    ("form", "text"),
    [
        (3, "wrapper: expected X.using(…), a Wrapper class or a function of an environment, got 3"),
        (Walk, "wrapper: expected a Wrapper class, got <class"),
        ({"a": 1, "b": 2}, "wrapper: expected one 'module:Class' with its arguments, got {'a': 1, 'b': 2}"),
    ],
)
def test_wrap_refuses_what_is_no_wrapper(form, text):
    with pytest.raises((InvalidType, InvalidArgument)) as raised:
        w.wrap(Walk(), form)
    assert text in str(raised.value)


def test_a_stack_of_wrappers_goes_through_json_and_comes_back():
    env = (
        ludus.make("GridWorld-v0")
        | w.FrameStackObservation.using(2)
        | w.RescaleObservation.using(0.0, np.full((2, 2), 8.0))
    )
    again = ludus.make(EnvSpec.from_json(env.spec.to_json()))
    assert str(again) == str(env)
    assert again.observation_space == env.observation_space


def test_a_wrapped_batch_is_a_vector_environment():
    env = w.ClipReward(batch(), 0, 1)
    assert isinstance(env, VectorEnv)
    assert not isinstance(w.ClipReward(Walk(), 0, 1), VectorEnv)
    assert (env.num_envs, env.autoreset_mode) == (3, AutoresetMode.NEXT_STEP)
    with pytest.raises(AttributeError):
        w.ClipReward(Walk(), 0, 1).num_envs  # noqa: B018


def play(env, seed=0, steps=30):
    env.reset(seed=seed)
    env.action_space.seed(seed)
    for _ in range(steps):
        step = env.step(env.action_space.sample())
        if not env.batch_shape and step.done:
            env.reset()


@pytest.mark.parametrize("make", [Walk, batch], ids=["one", "batch"])
@pytest.mark.parametrize("wrapper", [w.NormalizeObservation, w.NormalizeReward])
def test_statistics_are_saved_loaded_and_frozen(wrapper, make):
    env, other = wrapper(make()), wrapper(make())
    play(env)
    other.load_state_dict(env.state_dict())
    play(env, seed=1)
    other.load_state_dict(env.state_dict())
    kept = other.state_dict()
    other.freeze()
    play(other, seed=2)
    name = wrapper.state_fields[0]
    assert np.array_equal(getattr(other, name).mean, kept[name].mean)
    assert getattr(other, name).count == kept[name].count
    assert other.update_running_mean is False
    other.update_running_mean = True
    play(other, seed=3)
    assert getattr(other, name).count > kept[name].count
    with pytest.raises(InvalidArgument) as raised:
        other.load_state_dict({"mean": 1})
    assert f"{wrapper.__name__} state: expected the entries {', '.join(wrapper.state_fields)}, got mean" in str(
        raised.value
    )


@pytest.mark.parametrize("make", [Walk, batch], ids=["one", "batch"])
@pytest.mark.parametrize(
    "wrapper",
    [
        w.NormalizeObservation.using(),
        w.NormalizeReward.using(),
        w.FrameStackObservation.using(3),
        w.DelayObservation.using(2),
        w.RecordEpisodeStatistics.using(),
        w.StickyAction.using(0.5),
        w.TimeLimit.using(5),
    ],
    ids=lambda one: one.name,
)
def test_wrappers_take_part_in_snapshots(wrapper, make):
    env = wrapper(make())
    play(env, steps=7)
    env.reset()
    before = env.snapshot()

    def history():
        env.restore(before)
        steps = []
        for _ in range(4):
            step = env.step(env.action_space.sample())
            steps.append(step[:4])
            if not env.batch_shape and step.done:
                break
        return steps

    first, second = history(), history()
    for a, b in zip(first, second, strict=True):
        assert all(np.array_equal(x, y) for x, y in zip(a, b, strict=True))


def test_statistics_tell_of_the_episode_and_keep_the_latest():
    env = w.RecordEpisodeStatistics(w.TimeLimit(Walk(), 3), buffer_length=2, stats_key="told")
    for seed in range(3):
        env.reset(seed=seed)
        total, done = 0.0, False
        while not done:
            step = env.step(1)
            total, done = total + step.reward, step.done
        assert step.info["told"]["r"] == pytest.approx(total)
    assert env.episode_count == 3
    assert len(env.return_queue) == len(env.length_queue) == len(env.time_queue) == 2


def test_statistics_refuse_a_key_that_is_taken():
    env = w.RecordEpisodeStatistics(w.TimeLimit(Walk(), 1), stats_key="age")
    env.reset(seed=0)
    with pytest.raises(InvalidArgument, match="stats_key: expected a key that info has not, got 'age'"):
        env.step(0)


@pytest.mark.parametrize("mode", list(AutoresetMode))
def test_statistics_of_a_batch_agree_with_what_happened(mode):
    env = w.RecordEpisodeStatistics(batch(4, mode))
    env.reset(seed=0)
    totals, ended = np.zeros(4), np.zeros(4, bool)
    env.action_space.seed(0)
    for _ in range(50):
        if mode is AutoresetMode.DISABLED and ended.any():
            env.reset(options={"reset_mask": ended})
            totals[ended] = 0
        elif mode is AutoresetMode.NEXT_STEP:
            totals[ended] = 0
        _, rewards, terminated, truncated, infos = env.step(env.action_space.sample())
        totals += rewards
        ended = terminated | truncated
        if ended.any():
            assert np.array_equal(infos["_episode"], ended)
            assert np.allclose(infos["episode"]["r"][ended], totals[ended])
            if mode is AutoresetMode.SAME_STEP:
                totals[ended] = 0
    assert env.episode_count > 5


def test_infos_of_a_batch_become_one_dictionary_a_lane():
    env = w.DictInfoToList(batch(2, "SameStep"))
    _, infos = env.reset(seed=0)
    assert infos == [{"age": 0}, {"age": 0}]
    for _ in range(30):
        step = env.step(np.zeros(2, int))
        for lane in range(2):
            ended = step.terminated[lane] or step.truncated[lane]
            assert ("final_obs" in step.info[lane]) == ended
            if ended:
                assert step.info[lane]["final_info"]["double"] == 2.0 * step.info[lane]["final_info"]["age"]


def test_bins_turn_back_into_what_they_stand_for():
    seen = w.DiscretizeObservation(Walk(), 4)
    low, high = seen.revert_observation(seen.convert(np.array([0.1, -9.9, 9.9], np.float32), ()))
    assert (low <= [0.1, -9.9, 9.9]).all()
    assert (high >= [0.1, -9.9, 9.9]).all()
    many = w.DiscretizeObservation(Walk(), 4, multidiscrete=True)
    assert many.revert_observation(np.array([0, 1, 3]))[0].tolist() == [-10.0, -5.0, 5.0]
    for several in (False, True):
        acting = w.DiscretizeAction(Walk(actions="box"), 5, multidiscrete=several)
        acting.action_space.seed(0)
        for _ in range(10):
            action = acting.action_space.sample()
            assert np.array_equal(acting.revert_action(acting.before_step(action)), action)
    with pytest.raises(InvalidValue, match="action: expected Discrete"):
        w.DiscretizeAction(Walk(actions="box"), 5).before_step(25)


def test_autoreset_goes_on_by_itself():
    env = w.Autoreset(w.TimeLimit(Walk(), 2))
    env.reset(seed=0)
    flags = [env.step(0) for _ in range(9)]
    assert any(step.done for step in flags)
    for before, after in pairwise(flags):
        if before.done:
            assert (after.reward, after.done) == (0.0, False)


def test_every_space_has_a_zero_of_its_own():
    space = Dict(a=Box(2.0, 3.0, (2,)), b=Discrete(3, start=5), c=Text(4, min_length=2, charset="xy"))
    assert space.default() in space
    assert space.default()["c"] == "xx"
