"""What stands behind Gymnasium's names, used as Gymnasium's programs use it."""

import os
from importlib.util import find_spec

import numpy as np
import pytest

import ludus
from ludus.core import AutoresetMode, Env
from ludus.envs.teaching.grid_world import GridWorld
from ludus.errors import ContractViolation, InvalidArgument, InvalidSpace, InvalidType, MissingExtra, RegistryError
from ludus.interop.as_gymnasium import (
    checks,
    conversions,
    executors,
    old_steps,
    passive_checks,
    pickles,
    playback,
    registration,
    space_functions,
    throughput,
    vector_wrappers,
    vectors,
)
from ludus.interop.as_gymnasium.functional import FuncEnv
from ludus.spaces import Box, Dict, Discrete, Space
from ludus.testing import data_equal
from ludus.vector import SerialVectorEnv
from ludus.wrappers import TimeAwareObservation


class Sized(GridWorld):
    """A grid whose observations have bounds of their own."""

    def __init__(self, size):
        super().__init__(size=size)


# --- batches ---


def test_lanes_may_differ_in_bounds_when_asked_for():
    lanes = [lambda size=size: Sized(size) for size in (3, 5)]
    with pytest.raises(InvalidSpace, match="lane 1: expected the observation_space of lane 0"):
        executors.SyncVectorEnv(lanes)
    envs = executors.SyncVectorEnv(lanes, observation_mode="different")
    assert envs.observation_space.high.tolist() == [[2, 2], [4, 4]]
    assert envs.reset(seed=0)[0] in envs.observation_space
    batch, lane = Box(0, 9, (2, 2), np.int64), Box(0, 9, (2,), np.int64)
    envs = executors.SyncVectorEnv(lanes, observation_mode=(batch, lane))
    assert envs.observation_space is batch
    assert envs.single_observation_space is lane
    assert envs.reset(seed=0)[0].shape == (2, 2)
    with pytest.raises(InvalidArgument, match="observation_mode: expected 'same', 'different' or"):
        executors.SyncVectorEnv(lanes, observation_mode="other")
    with pytest.raises(InvalidSpace, match="lane 1: expected the shapes and dtypes of lane 0"):
        executors.SyncVectorEnv([GridWorld, lambda: ludus.make("CartPole-v1")], observation_mode="different")


def test_a_worker_of_ones_own_is_refused():
    with pytest.raises(InvalidArgument, match="worker: expected None, since workers have one way to work"):
        executors.AsyncVectorEnv([GridWorld], worker=print)


def test_every_batch_counts_as_a_vector_environment():
    envs = SerialVectorEnv([GridWorld])
    assert isinstance(envs, vectors.VectorEnv)
    assert isinstance(TimeAwareObservation(ludus.make_vec("GridWorld-v0")), vectors.VectorWrapper)
    assert not isinstance(GridWorld(), vectors.VectorEnv)
    assert not isinstance(envs, executors.SyncVectorEnv)
    assert vectors.VectorEnv[int, int, int]
    with pytest.raises(InvalidType, match="VectorWrapper: expected a batch, got one environment"):
        vectors.VectorWrapper(GridWorld())


class Own(vectors.VectorEnv):
    def __init__(self, num_envs=2, max_episode_steps=None):
        self.num_envs, self.limit = num_envs, max_episode_steps
        self.single_observation_space = self.single_action_space = Discrete(3)
        self.observation_space = self.action_space = Discrete(3).batch(num_envs)
        self.autoreset_mode = "SameStep"


def test_a_batch_of_ones_own_is_made_by_its_entry_point():
    registration.register("OwnBatch-v0", vector_entry_point=Own, max_episode_steps=9)
    try:
        envs = registration.make_vec("OwnBatch-v0", num_envs=3)
        assert type(envs) is Own
        assert (envs.num_envs, envs.limit, envs.autoreset_mode) == (3, 9, AutoresetMode.SAME_STEP)
        assert registration.make_vec(envs.spec).num_envs == 3
        with pytest.raises(RegistryError, match="expected an entry_point for the lanes of a batch, got none"):
            registration.make_vec("OwnBatch-v0", vectorization_mode="sync")
        with pytest.raises(InvalidArgument, match="expected no vector_kwargs, wrappers or additional_wrappers"):
            registration.make_vec("OwnBatch-v0", wrappers=[TimeAwareObservation])
    finally:
        del registration.registry["OwnBatch-v0"]


def test_rules_are_compiled_where_a_batch_of_one_piece_is_asked_for():
    compiled = registration.make_vec("CartPole-v1", 3, vectorization_mode="vector_entry_point")
    serial = registration.make_vec("CartPole-v1", 3)
    assert type(serial) is executors.SyncVectorEnv
    assert type(compiled) is not type(serial)
    assert (compiled.reset(seed=1)[0] == serial.reset(seed=1)[0]).all()


def test_a_batch_is_made_again_from_its_spec():
    envs = registration.make_vec(
        "CartPole-v1", 2, "sync", {"copy": False}, [TimeAwareObservation], sutton_barto_reward=True
    )
    again = registration.make_vec(envs.spec)
    assert again.spec == envs.spec
    assert again.copy is False
    assert again.observation_space == envs.observation_space
    assert again.envs[0].unwrapped.sutton_barto_reward is True
    with pytest.raises(InvalidArgument, match="vectorization_mode: expected one of async, sync, vector_entry_point"):
        registration.make_vec("CartPole-v1", vectorization_mode="fast")


def test_functions_of_a_whole_batch_keep_the_spaces_given():
    wide = Box(0, 10, (2, 2), np.int64)
    envs = vector_wrappers.TransformObservation(ludus.make_vec("GridWorld-v0", 2), lambda seen: seen * 2, wide)
    assert envs.observation_space is wide
    assert envs.reset(seed=0)[0].shape == (2, 2)
    envs = vector_wrappers.TransformAction(ludus.make_vec("GridWorld-v0", 2), lambda actions: actions % 4, wide)
    assert envs.action_space is wide


@pytest.mark.parametrize(
    "kind", [vectors.VectorObservationWrapper, vectors.VectorActionWrapper, vectors.VectorRewardWrapper]
)
def test_what_a_subclass_does_not_define_says_so(kind):
    envs = kind(ludus.make_vec("GridWorld-v0", 2))
    changed = kind.__name__.removeprefix("Vector").removesuffix("Wrapper").lower() + "s"
    with pytest.raises(NotImplementedError, match=f"{kind.__name__} defines no {changed}"):
        getattr(envs, changed)(None)
    envs.close()
    assert envs.closed


def test_observation_wrappers_for_batches_refuse_to_lose_last_observations():
    with pytest.raises(InvalidArgument, match="expected the autoreset mode NextStep or Disabled, got SameStep"):
        vectors.VectorObservationWrapper(ludus.make_vec("GridWorld-v0", 2, autoreset_mode="SameStep"))


# --- the registry ---


def test_the_registry_is_the_dictionary_that_programs_take_it_for():
    registration.register("Mine-v3", GridWorld, kwargs={"size": 3})
    assert registration.registry.pop("Mine-v3").kwargs == {"size": 3}
    assert "Mine-v3" not in registration.registry
    registration.registry["Mine-v4"] = ludus.EnvSpec("Other-v0", GridWorld)
    assert registration.find_highest_version(None, "Mine") == 4
    del registration.registry["Mine-v4"]
    assert registration.find_highest_version(None, "Mine") is None
    assert len(registration.registry) == len(list(registration.registry))


def test_ids_are_read_and_written():
    assert registration.parse_env_id("ALE/Pong-v5") == ("ALE", "Pong", 5)
    assert registration.get_env_id("ALE", "Pong", 5) == "ALE/Pong-v5"
    assert registration.load_env_creator("ludus.envs.teaching.grid_world:GridWorld") is GridWorld
    assert "GridWorld-v0" in registration.pprint_registry(disable_print=True)


# --- checks ---


class Copycat(Env):
    observation_space = Box(0, 1, (2,), np.float32)
    action_space = Discrete(2)

    def __init__(self):
        self.seen = np.zeros(2, np.float32)

    def reset(self, *, seed=None, options=None):
        super().reset(seed=seed)
        self.seen[:] = self.np_random.random(2)
        return self.seen, {}

    def step(self, action):
        self.seen[:] = self.np_random.random(2)
        return self.seen, 0.0, False, False, {}


def test_single_checks_look_at_one_thing():
    with pytest.raises(ContractViolation, match="observations-are-the-callers"):
        checks.check_returned_data_not_reused(Copycat())
    for check in (
        checks.check_reset_return_type,
        checks.check_reset_options,
        checks.check_reset_seed_determinism,
        checks.check_step_determinism,
        checks.check_returned_data_not_reused,
    ):
        check(ludus.make("GridWorld-v0").unwrapped)  # which is not compiled
    with pytest.raises(InvalidType, match=r"check_env: expected an environment derived from gymnasium\.Env, got 3"):
        checks.check_env(3)


def test_data_is_nearly_equal_unless_exactly_asked_for():
    near = ({"x": (np.array([0.3]), 0.3)}, {"x": (np.array([0.1 + 0.2]), 0.1 + 0.2)})
    assert checks.data_equivalence(*near)
    assert not checks.data_equivalence(*near, exact=True)
    assert checks.data_equivalence(*near[:1] * 2, exact=True)
    for other in (1, "x", np.array([1, 2]), np.array([0.3], np.float32), {"y": 1}, (1, 2, 3)):
        assert not checks.data_equivalence(np.array([0.3]), other)


def test_environments_are_compared_step_by_step():
    checks.check_environments_match(ludus.make("CartPole-v1"), ludus.make("CartPole-v1"), num_steps=60)
    other = ludus.make("CartPole-v1", sutton_barto_reward=True)
    with pytest.raises(ContractViolation, match="step 1 reward: expected the same of both"):
        checks.check_environments_match(ludus.make("CartPole-v1"), other, num_steps=60)
    skipping = {"skip_rew": True, "info_comparison": "keys-superset", "skip_render": False}
    drawn = {"render_mode": "rgb_array"}
    one, other = ludus.make("CartPole-v1", **drawn), ludus.make("CartPole-v1", sutton_barto_reward=True, **drawn)
    checks.check_environments_match(one, other, num_steps=3, **skipping)
    for comparison in ("superset", "skip"):
        checks.check_environments_match(one, other, num_steps=3, skip_rew=True, info_comparison=comparison)


def test_passive_checks_look_in_passing():
    env = GridWorld()
    assert passive_checks.env_reset_passive_checker(env, seed=0)[0].tolist() == [0, 0]
    assert passive_checks.env_step_passive_checker(env, 1).observation.tolist() == [1, 0]
    passive_checks.check_observation_space(env.observation_space)
    passive_checks.check_action_space(env.action_space)
    with pytest.raises(InvalidType, match="action space: expected a Space, got 3"):
        passive_checks.check_action_space(3)
    with pytest.warns(UserWarning, match="reset observation"):
        passive_checks.check_obs(np.array([9, 9]), env.observation_space, "reset")
    with pytest.raises(ContractViolation, match="expected a render_mode, got None"):
        passive_checks.env_render_passive_checker(env)


# --- the rest ---


def test_functions_over_spaces_take_custom_ones():
    class Word(Space[str]):
        pass

    @space_functions.flatten.register(Word)
    def _(space, x):
        return list(x)

    assert space_functions.flatten(Word(), "ab") == ["a", "b"]
    assert space_functions.flatten(Discrete(2), 1).tolist() == [0, 1]
    assert data_equal(space_functions.create_zero_array(Dict(a=Discrete(2))), {"a": np.int64(0)})
    box, into, back = space_functions.rescale_box(Box(0, 1, (1,)), -1, 1)
    assert (box.low, box.high) == (-1, 1)
    assert into(np.array([0.25], np.float32)) == -0.5
    assert back(np.array([-0.5], np.float32)) == 0.25


def test_old_steps_and_new_ones():
    old = ("s", 1.0, True, {"TimeLimit.truncated": True})
    new = old_steps.step_api_compatibility(old)
    assert tuple(new) == ("s", 1.0, False, True, {})
    assert old_steps.step_api_compatibility(new, output_truncation_bool=False) == old


def test_constructors_are_remembered():
    class Both(pickles.RecordConstructorArgs, pickles.EzPickle):
        def __init__(self, size=1):
            pickles.RecordConstructorArgs.__init__(self, size=size)
            pickles.RecordConstructorArgs.__init__(self, other=2)
            pickles.EzPickle.__init__(self, size=size)

    both = Both(4)
    assert both._saved_kwargs == {"size": 4}
    again = Both.__new__(Both)
    again.__setstate__(both.__getstate__())
    assert again._saved_kwargs == {"size": 4}


def test_variables_of_mpi_are_hidden_for_a_while(monkeypatch):
    monkeypatch.setenv("OMPI_X", "1")
    with pickles.clear_mpi_env_vars():
        assert "OMPI_X" not in os.environ
    assert os.environ["OMPI_X"] == "1"


def test_speed_is_a_positive_number():
    env = ludus.make("CartPole-v1", render_mode="rgb_array")
    assert throughput.benchmark_step(env, 0.02, seed=1) > 100
    assert throughput.benchmark_init(lambda: ludus.make("CartPole-v1"), 0.02, seed=1) > 10
    assert throughput.benchmark_render(env, 0.02) > 1
    for mode in AutoresetMode:
        envs = ludus.make_vec("CartPole-v1", 4, autoreset_mode=mode)
        assert throughput.benchmark_vector_step(envs, 0.02, seed=1) > 100


def test_a_functional_environment_is_transformed_whole():
    class Count(FuncEnv):
        def initial(self, rng, params=None):
            return 0

        def transition_info(self, state, action, next_state, params=None):
            return {"step": next_state - state}

    rules = Count({"limit": 3})
    assert rules.limit == 3
    assert rules.default_params is None
    rules.transform(lambda rule: lambda *args: ("seen", rule(*args)))
    assert rules.initial(None) == ("seen", 0)
    assert rules.transition_info(0, 1, 1) == ("seen", {"step": 1})
    for name in ("transition", "observation", "reward", "terminal", "render_image", "render_init", "render_close"):
        with pytest.raises((NotImplementedError, TypeError)):
            getattr(Count(), name)(*[None] * (0 if name == "render_init" else 2))


def test_videos_are_written_for_the_episodes_and_steps_asked_for(tmp_path):
    frames = [np.full((16, 16, 3), number * 10, np.uint8) for number in range(6)]
    playback.save_video(frames, str(tmp_path / "a"), fps=10)
    playback.save_video(frames, str(tmp_path / "a"), fps=10, episode_index=2)
    assert [path.name for path in (tmp_path / "a").iterdir()] == ["rl-video-episode-0.mp4"]
    playback.save_video(
        frames, str(tmp_path / "b"), step_trigger=lambda step: step == 12, step_starting_index=10, video_length=2
    )
    assert [path.name for path in (tmp_path / "b").iterdir()] == ["rl-video-step-12.mp4"]


class Script:
    """A screen at which somebody types."""

    gone = False

    def __init__(self, title):
        self.left = ["d", "d", "q"]

    def __enter__(self):
        return self

    def __exit__(self, *error):
        pass

    def show(self, picture, lines):
        pass

    def keys(self, timeout):
        return [self.left.pop(0)]

    def held(self):
        return frozenset()


def test_a_person_plays_and_a_callback_follows(monkeypatch):
    monkeypatch.setattr(playback, "WindowScreen", Script)
    seen = []
    env = ludus.make("FrozenLake-v1", render_mode="rgb_array", is_slippery=False)
    playback.play(
        env,
        keys_to_action={"d": 2, "s": 1},
        seed=0,
        wait_on_player=True,
        callback=lambda before, after, action, *rest: seen.append((int(before), int(after), action)),
    )
    assert seen == [(0, 1, 2), (1, 2, 2)]
    with pytest.raises(InvalidArgument, match="play: expected zoom=None and transpose=True"):
        playback.play(env, zoom=2.0)


@pytest.mark.skipif(find_spec("torch") is not None or find_spec("jax") is not None, reason="nothing is missing")
def test_conversions_name_what_is_missing():
    with pytest.raises(MissingExtra, match=r'expected the package torch, got none; pip install "ludus-rl\[torch\]"'):
        conversions.numpy_to_torch(np.zeros(2))
    with pytest.raises(MissingExtra, match=r'expected the package jax, got none; pip install "ludus-rl\[jax\]"'):
        conversions.numpy_to_jax(np.zeros(2))
    assert conversions.torch_to_numpy(3) == np.array(3)


@pytest.mark.parametrize("mode", ["different", "pair"])
def test_lanes_in_processes_may_differ_in_their_bounds(mode):
    lanes = [lambda: GridWorld(3), lambda: GridWorld(6)]
    wide = Box(0, 9, (2,), np.int64)
    given = (wide.batch(2), wide) if mode == "pair" else mode
    with executors.AsyncVectorEnv(lanes, observation_mode=given) as envs:
        expected = executors.SyncVectorEnv(lanes, observation_mode=given)
        assert envs.observation_space == expected.observation_space
        assert np.array_equal(envs.reset(seed=1)[1]["goal"], expected.reset(seed=1)[1]["goal"])
    with pytest.raises(InvalidSpace, match="lane 1: expected the observation_space of lane 0"):
        executors.AsyncVectorEnv(lanes)
