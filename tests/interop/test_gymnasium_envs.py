"""Environments pass to Gymnasium and back, one or a batch, with identical histories."""

import warnings

import gymnasium
import numpy as np
import pytest
from gymnasium.utils.env_checker import check_env as gymnasiums_check

import ludus
from ludus import wrappers
from ludus.core import AutoresetMode, Env
from ludus.errors import InvalidArgument, InvalidType
from ludus.interop.gymnasium import from_gymnasium, to_gymnasium
from ludus.interop.gymnasium_single import FromGymnasium, ToGymnasium
from ludus.spaces import Discrete, Graph
from ludus.testing import check_env, data_equal
from ludus.testing.equality import difference
from tests.engines import in_small, siblings_in_turns

IDS = ["CartPole-v1", "Pendulum-v1", "FrozenLake-v1", "Blackjack-v1", "Taxi-v4", "MountainCarContinuous-v0"]
every_id = pytest.mark.parametrize("id", IDS)


def history(env, seed, steps=120):
    """Everything an environment gives, under actions of its own space, with resets."""
    env.action_space.seed(seed)
    found = [env.reset(seed=seed)]
    for _ in range(steps):
        step = tuple(env.step(env.action_space.sample()))
        found.append(step)
        if step[2] or step[3]:
            found.append(env.reset())
    return found


def batch_history(envs, seed, steps=60):
    envs.action_space.seed(seed)
    return [envs.reset(seed=seed), *(tuple(envs.step(envs.action_space.sample())) for _ in range(steps))]


@every_id
@pytest.mark.parametrize("seed", [0, 7])
def test_four_ways_to_the_same_history(id, seed):
    expected = history(gymnasium.make(id), seed)
    for env in (
        ludus.make(id),
        to_gymnasium(ludus.make(id)),
        from_gymnasium(gymnasium.make(id)),
        ludus.make(f"gymnasium/{id}"),
        gymnasium.make(f"ludus.interop.gymnasium:ludus/{id}"),
    ):
        # By value: whether a reward is Python's float or NumPy's is not part of a history.
        assert difference(history(env, seed), expected, exact=False) is None, env


@pytest.mark.parametrize(
    ("id", "mode"),
    [
        *[("CartPole-v1", mode) for mode in AutoresetMode],
        ("Blackjack-v1", AutoresetMode.NEXT_STEP),
        ("Blackjack-v1", AutoresetMode.SAME_STEP),
    ],
)
def test_batches_have_the_same_history_both_ways(id, mode):
    steps = 8 if mode is AutoresetMode.DISABLED else 60
    there = gymnasium.make_vec(id, num_envs=3, vectorization_mode="sync", vector_kwargs={"autoreset_mode": mode.value})
    expected = batch_history(there, 5, steps)
    ours = ludus.make_vec(id, num_envs=3, autoreset_mode=mode)
    assert difference(batch_history(to_gymnasium(ours), 5, steps), expected) is None
    back = from_gymnasium(
        gymnasium.make_vec(id, num_envs=3, vectorization_mode="sync", vector_kwargs={"autoreset_mode": mode.value})
    )
    assert back.autoreset_mode is mode
    assert difference(batch_history(back, 5, steps), expected) is None
    mixed = ludus.make_vec(f"gymnasium/{id}", 3, autoreset_mode=mode)
    assert difference(batch_history(mixed, 5, steps), expected) is None


def test_what_came_from_the_other_side_goes_back_as_it_was():
    ours, theirs = ludus.make("CartPole-v1"), gymnasium.make("CartPole-v1")
    assert from_gymnasium(to_gymnasium(ours)) is ours
    assert to_gymnasium(from_gymnasium(theirs)) is theirs
    many, sync = ludus.make_vec("CartPole-v1", 2), gymnasium.make_vec("CartPole-v1", 2)
    assert from_gymnasium(to_gymnasium(many)) is many
    assert to_gymnasium(from_gymnasium(sync)) is sync


def test_both_libraries_take_them_for_their_own():
    env, envs = to_gymnasium(ludus.make("CartPole-v1")), to_gymnasium(ludus.make_vec("CartPole-v1", 2))
    assert isinstance(env, gymnasium.Env)
    assert isinstance(envs, gymnasium.vector.VectorEnv)
    assert envs.metadata["autoreset_mode"] is gymnasium.vector.AutoresetMode.NEXT_STEP
    assert envs.single_action_space == gymnasium.spaces.Discrete(2)
    back = from_gymnasium(gymnasium.make_vec("CartPole-v1", 2))
    assert isinstance(back, ludus.VectorEnv)
    assert back.batch_shape == (2,)


def test_what_is_neither_is_refused():
    with pytest.raises(InvalidType, match="to_gymnasium: expected a ludus Env, got <gymnasium"):
        to_gymnasium(gymnasium.make("CartPole-v1").unwrapped)
    with pytest.raises(InvalidType, match="from_gymnasium: expected a gymnasium Env or VectorEnv, got"):
        from_gymnasium(ludus.make("CartPole-v1"))


# --- wrappers of either side ---


def test_ludus_wrappers_go_around_gymnasium_environments():
    env = wrappers.TimeLimit(from_gymnasium(gymnasium.make("Pendulum-v1")), 5)
    env = wrappers.RecordEpisodeStatistics(wrappers.FrameStackObservation(env, 2))
    env.reset(seed=0)
    for _ in range(4):
        assert not env.step(env.action_space.sample()).truncated
    step = env.step(env.action_space.sample())
    assert step.truncated
    assert step.info["episode"]["l"] == 5
    assert step.observation.shape == (2, 3)


def test_gymnasium_wrappers_go_around_ludus_environments():
    env = gymnasium.wrappers.TimeLimit(to_gymnasium(ludus.make("Pendulum-v1")), 5)
    env = gymnasium.wrappers.FlattenObservation(gymnasium.wrappers.NormalizeReward(env))
    env.reset(seed=0)
    assert [env.step(env.action_space.sample())[3] for _ in range(5)] == [False] * 4 + [True]


def test_gymnasium_vector_wrappers_go_around_ludus_batches():
    envs = gymnasium.wrappers.vector.RecordEpisodeStatistics(to_gymnasium(ludus.make_vec("CartPole-v1", 3)))
    envs.reset(seed=0)
    ended = 0
    for _ in range(60):
        ended += int(envs.step(envs.action_space.sample())[4].get("_episode", np.zeros(3)).sum())
    assert ended == envs.episode_count > 0


def test_ludus_wrappers_go_around_gymnasium_batches():
    envs = wrappers.RecordEpisodeStatistics(from_gymnasium(gymnasium.make_vec("CartPole-v1", 3)))
    envs.reset(seed=0)
    for _ in range(60):
        envs.step(envs.action_space.sample())
    assert envs.episode_count > 0


def test_a_partial_reset_leaves_the_callers_options_alone():
    envs = from_gymnasium(
        gymnasium.make_vec("CartPole-v1", 2, vectorization_mode="sync", vector_kwargs={"autoreset_mode": "Disabled"})
    )
    envs.reset(seed=0)
    options = {"reset_mask": np.array([True, False])}
    before = envs.step(envs.action_space.sample()).observation
    after, _ = envs.reset(seed=[4, None], options=options)
    assert list(options) == ["reset_mask"]
    assert (after[1] == before[1]).all()
    assert (after[0] != before[0]).any()
    with pytest.raises(InvalidArgument, match="reset_mask"):
        envs.reset(options={"reset_mask": np.array([True])})


# --- seeds, options, attributes, rendering ---


def test_numpy_seeds_and_options_arrive():
    env = from_gymnasium(gymnasium.make("CartPole-v1"))
    first, _ = env.reset(seed=np.int64(3))
    again, _ = env.reset(seed=3)
    assert (first == again).all()
    assert env.np_random_seed == 3
    low, _ = env.reset(seed=3, options={"low": 0.1, "high": 0.2})
    assert (low >= 0.1).all()
    there = to_gymnasium(ludus.make("CartPole-v1"))
    assert (there.reset(seed=3, options={"low": 0.1, "high": 0.2})[0] == low).all()


def test_the_stream_can_be_read_and_set_from_the_other_side():
    for env in (to_gymnasium(ludus.make("CartPole-v1")), from_gymnasium(gymnasium.make("CartPole-v1"))):
        env.np_random = np.random.Generator(np.random.PCG64(9))
        assert env.np_random_seed == -1
        a, _ = env.reset()
        env.np_random = np.random.Generator(np.random.PCG64(9))
        assert (env.reset()[0] == a).all()


def test_attributes_are_found_and_set_through_the_border():
    env = wrappers.ClipReward(ludus.make("gymnasium/CartPole-v1"), 0, 1)
    assert env.get_wrapper_attr("gravity") == 9.8
    env.set_wrapper_attr("gravity", 1.0)
    assert env.unwrapped.gymnasium_env.unwrapped.gravity == 1.0
    assert env.unwrapped.gravity == 1.0
    assert not env.has_wrapper_attr("levity")
    there = gymnasium.wrappers.ClipReward(to_gymnasium(ludus.make("CartPole-v1")), 0, 1)
    assert there.get_wrapper_attr("gravity") == 9.8
    there.set_wrapper_attr("gravity", 1.0)
    assert there.unwrapped.ludus_env.unwrapped.gravity == 1.0
    with pytest.raises(AttributeError):
        there.get_wrapper_attr("levity")


def test_lanes_answer_through_the_border():
    ours = to_gymnasium(ludus.make_vec("CartPole-v1", 2))
    assert ours.call("get_wrapper_attr", "gravity") == (9.8, 9.8)
    ours.set_attr("gravity", [1.0, 2.0])
    assert ours.get_attr("gravity") == (1.0, 2.0)
    back = from_gymnasium(gymnasium.make_vec("CartPole-v1", 2, vectorization_mode="sync"))
    back.set_attr("gravity", [1.0, 2.0])
    assert back.get_attr("gravity") == (1.0, 2.0)
    assert len(back.np_random) == 2


def test_pictures_and_closing_pass():
    ours = to_gymnasium(ludus.make("CartPole-v1", render_mode="rgb_array"))
    ours.reset(seed=0)
    assert ours.render_mode == "rgb_array"
    assert ours.render().shape == (400, 600, 3)
    back = ludus.make("gymnasium/CartPole-v1", render_mode="rgb_array")
    back.reset(seed=0)
    assert back.render().shape == (400, 600, 3)
    for env in (ours, back, to_gymnasium(ludus.make_vec("CartPole-v1", 2))):
        env.close()
        env.close()


class Grower(Env):
    """Observes graphs, whose class differs on both sides."""

    observation_space = Graph(Discrete(3), None)
    action_space = Discrete(2)

    def reset(self, *, seed=None, options=None):
        super().reset(seed=seed)
        self.observation_space.seed(seed)
        return self.observation_space.sample(), {}

    def step(self, action):
        return self.observation_space.sample(), 0.0, action == 1, False, {}


def test_last_observations_of_a_batch_pass_in_their_class():
    envs = to_gymnasium(ludus.vector.SerialVectorEnv([Grower, Grower], autoreset_mode="SameStep"))
    envs.reset(seed=0)
    observations, *_, info = envs.step(np.array([0, 1]))
    last = info["final_obs"]
    assert last[0] is None
    assert last[1] in envs.single_observation_space
    assert observations in envs.observation_space


# --- contracts of both libraries ---


def ready(id):
    try:
        ludus.make(id)
    except ludus.errors.MissingExtra:
        return False
    return True


def test_calls_of_tools_are_refused_by_name():
    with pytest.raises(ludus.errors.InvalidSpace, match=r"got Calls\(echo_message, echo_with_length\)"):
        to_gymnasium(ludus.make("open/EchoTools-v0"))


GAMES = {spec.id for family in ("openspiel", "atari") for spec in ludus.list_envs(family=family)}
"""One class with other arguments, which tests/envs has game by game."""
WITHOUT_CALLS = [one for one in ludus.registry.registry if one != "open/EchoTools-v0" and not one.startswith("task/")]


@pytest.mark.one_of(2)
@pytest.mark.parametrize("id", siblings_in_turns(one for one in WITHOUT_CALLS if one not in GAMES))
@pytest.mark.filterwarnings("ignore")
def test_every_environment_passes_gymnasiums_own_check(id):
    if not ready(id):
        pytest.skip(f"{id} needs an extra")
    gymnasiums_check(to_gymnasium(ludus.make(in_small(ludus.spec(id)))))


@pytest.mark.parametrize("id", ["CartPole-v1", "FrozenLake-v1", "Taxi-v4"])
def test_gymnasium_environments_keep_our_contract(id):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        report = check_env(f"gymnasium/{id}", steps=30)
    assert report.ok, str(report)


def test_snapshots_of_gymnasium_environments_are_exact():
    env = ludus.make("gymnasium/CartPole-v1")
    env.reset(seed=0)
    before = env.snapshot()
    steps = [env.step(1) for _ in range(3)]
    env.restore(before)
    assert data_equal([env.step(1) for _ in range(3)], steps)


def test_adapters_say_what_they_hold():
    assert str(ToGymnasium(ludus.make("CartPole-v1"))).startswith("<ToGymnasium<TimeLimit")
    assert str(FromGymnasium(gymnasium.make("CartPole-v1"))).startswith("<FromGymnasium<TimeLimit")
    assert repr(to_gymnasium(ludus.make_vec("CartPole-v1", 2))).startswith("BatchToGymnasium(")
