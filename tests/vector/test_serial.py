"""`SerialVectorEnv`: Gymnasium's semantics in all modes, lanes equal to single environments, and clear refusals."""

from copy import deepcopy

import gymnasium
import numpy as np
import pytest

from ludus.core import AutoresetMode, Step, VectorEnv, Wrapper
from ludus.envs.teaching import GridWorld
from ludus.errors import ContractViolation, InvalidArgument, InvalidSeed, InvalidSpace, InvalidType, ResetNeeded
from ludus.spaces import Box, Discrete, iterate
from ludus.vector import SerialVectorEnv
from tests.core.subjects import Walk
from tests.core.wording import says
from tests.vector.twins import FAMILIES, OURS, THEIRS, counter

MODES = pytest.mark.parametrize("mode", AutoresetMode)
EVERY_FAMILY = pytest.mark.parametrize("family", FAMILIES)


def pair(family, mode, n=3, **kwargs):
    """The same batch from both libraries."""
    ours, theirs = FAMILIES[family](OURS), FAMILIES[family](THEIRS)
    return (
        SerialVectorEnv([lambda: ours(**kwargs)] * n, autoreset_mode=mode),
        gymnasium.vector.SyncVectorEnv(
            [lambda: theirs(**kwargs)] * n, autoreset_mode=gymnasium.vector.AutoresetMode(mode.value)
        ),
    )


def same(a, b):
    """Equal to the last bit, dtype and type, whatever the nesting."""
    if isinstance(a, np.ndarray):
        return (
            isinstance(b, np.ndarray)
            and (a.dtype, a.shape) == (b.dtype, b.shape)
            and (all(map(same, a, b)) if a.dtype == object else np.array_equal(a, b))
        )
    if isinstance(a, dict):
        return isinstance(b, dict) and a.keys() == b.keys() and all(same(a[key], b[key]) for key in a)
    if isinstance(a, tuple | list):
        return type(a) is type(b) and len(a) == len(b) and all(map(same, a, b))
    return type(a) is type(b) and a == b


@MODES
@EVERY_FAMILY
@pytest.mark.parametrize("seed", [0, 5, [7, 1, 7]])
def test_a_batch_gives_what_gymnasiums_gives(family, mode, seed):
    ours, theirs = pair(family, mode)
    assert same(ours.reset(seed=seed), theirs.reset(seed=seed))
    theirs.action_space.seed(1)
    for _ in range(30):
        action = theirs.action_space.sample()
        step, expected = ours.step(action), theirs.step(action)
        assert same(tuple(step), tuple(expected))
        done = step.terminated | step.truncated
        if mode is AutoresetMode.DISABLED and done.any():
            options = {"reset_mask": done, "level": 2}
            assert same(ours.reset(options=dict(options)), theirs.reset(options=dict(options)))


@MODES
def test_truncated_lanes_are_treated_as_gymnasium_treats_them(mode):
    ours, theirs = pair("counter", mode, cut=True)
    assert same(ours.reset(seed=3, options={"a": 1}), theirs.reset(seed=3, options={"a": 1}))
    action = {"push": np.array([1, 1, 1]), "turn": np.zeros((3, 2))}
    for _ in range(12):
        step, expected = ours.step(action), theirs.step(action)
        assert same(tuple(step), tuple(expected))
        if mode is AutoresetMode.DISABLED and step.truncated.any():
            both = {"options": {"reset_mask": step.truncated}, "seed": 9}
            assert same(ours.reset(**deepcopy(both)), theirs.reset(**deepcopy(both)))


@MODES
def test_lane_i_of_seed_s_is_the_single_environment_of_seed_s_plus_i(mode):
    envs = SerialVectorEnv([Walk] * 3, autoreset_mode=mode)
    singles = [Walk() for _ in range(3)]
    observations, _ = envs.reset(seed=11)
    assert observations.tolist() == [env.reset(seed=11 + i)[0].tolist() for i, env in enumerate(singles)]
    ended = [False] * 3
    for t in range(40):
        step = envs.step([t % 3 - 1] * 3)
        for lane, single in enumerate(singles):
            if ended[lane] and mode is AutoresetMode.NEXT_STEP:
                expected, ended[lane] = Step(single.reset()[0], 0.0, False, False, {}), False
            else:
                expected = single.step(t % 3 - 1)
                ended[lane] = expected.done
                if ended[lane] and mode is AutoresetMode.SAME_STEP:
                    assert step.info["final_obs"][lane] == expected.observation
                    expected = expected._replace(observation=single.reset()[0])
            assert step.observation[lane] == expected.observation
            assert (step.reward[lane], step.terminated[lane]) == (expected.reward, expected.terminated)
        if mode is AutoresetMode.DISABLED and step.done.any():
            fresh, _ = envs.reset(options={"reset_mask": step.done})
            for lane in np.flatnonzero(step.done):
                assert fresh[lane] == singles[lane].reset()[0]


def test_a_batch_is_an_env_with_lanes():
    envs = SerialVectorEnv([Walk] * 4)
    assert isinstance(envs, VectorEnv)
    assert (envs.num_envs, envs.batch_shape) == (4, (4,))
    assert envs.autoreset_mode is envs.metadata["autoreset_mode"] is AutoresetMode.NEXT_STEP
    assert envs.metadata["render_fps"] == 4
    assert envs.single_action_space == Discrete(3, start=-1)
    assert envs.single_observation_space == Box(-100.0, 100.0, (1,), np.float64)
    assert envs.observation_space.shape == (4, 1)
    assert repr(envs) == str(envs) == "SerialVectorEnv(num_envs=4)"
    assert envs.unwrapped is envs


def test_a_batch_shows_its_id():
    envs = SerialVectorEnv([Walk] * 2)
    from ludus.core import EnvSpec

    envs.spec = EnvSpec("Walk-v0")
    assert repr(envs) == "SerialVectorEnv(Walk-v0, num_envs=2)"


def test_what_the_caller_passes_and_gets_is_the_callers():
    envs = SerialVectorEnv([Walk] * 2, autoreset_mode="Disabled")
    first, _ = envs.reset(seed=0)
    kept = first.copy()
    step = envs.step([0, 0])
    assert np.array_equal(first, kept)
    rewards = step.reward.copy()
    options = {"reset_mask": np.array([True, False]), "level": 1}
    envs.reset(options=options)
    assert options["level"] == 1
    assert options["reset_mask"].tolist() == [True, False]
    envs.step([1, 1])
    assert np.array_equal(step.reward, rewards)


def test_without_copies_the_buffer_is_reused():
    envs = SerialVectorEnv([Walk] * 2, copy=False)
    first, _ = envs.reset(seed=0)
    assert envs.step([0, 0]).observation is first


def test_a_reset_of_some_lanes_leaves_the_others_alone():
    envs = SerialVectorEnv([Walk] * 3)
    before, _ = envs.reset(seed=0)
    after, infos = envs.reset(seed=5, options={"reset_mask": np.array([False, True, False])})
    assert after[0] == before[0]
    assert after[1] == Walk().reset(seed=6)[0]
    assert after[2] == before[2]
    assert infos["_steps"].tolist() == [False, True, False]


@pytest.mark.parametrize(
    ("mask", "error", "text"),
    [
        ([True, False], InvalidType, "expected an array of bool, got [True, False]"),
        (np.array([1, 0]), InvalidType, "expected an array of bool, got array([1, 0])"),
        (None, InvalidType, "expected an array of bool, got None"),
        (
            np.array([True]),
            InvalidArgument,
            "expected shape (2,) with at least one True, got array([ True])",
        ),
        (
            np.array([False, False]),
            InvalidArgument,
            "expected shape (2,) with at least one True, got array([False, False])",
        ),
    ],
)
def test_a_wrong_reset_mask_is_refused(mask, error, text):
    envs = SerialVectorEnv([Walk] * 2)
    with says(error, f"options['reset_mask']: {text}"):
        envs.reset(options={"reset_mask": mask})


def test_order_is_enforced_for_every_lane():
    envs = SerialVectorEnv([Walk] * 2)
    with says(ResetNeeded, "step: expected reset() first, got no reset yet"):
        envs.step([0, 0])
    with says(ResetNeeded, "reset: expected every lane to have been reset once, got none for lanes [1]"):
        envs.reset(options={"reset_mask": np.array([True, False])})
    with says(ResetNeeded, "step: expected reset() first, got no reset yet"):
        envs.step([0, 0])
    envs.reset(options={"reset_mask": np.array([False, True])})
    envs.step([0, 0])


def test_stepping_ended_lanes_is_an_error_when_autoreset_is_disabled():
    envs = SerialVectorEnv([counter(OURS)] * 3, autoreset_mode=AutoresetMode.DISABLED)
    envs.reset(seed=0)
    action = {"push": np.zeros(3, int), "turn": np.zeros((3, 2))}
    while not envs.step(action).done.any():
        pass
    ended = np.flatnonzero(envs._ended).tolist()
    message = f"step: expected lanes under way, got ended lanes {ended}; reset them with options={{'reset_mask': mask}}"
    with says(ResetNeeded, message):
        envs.step(action)


@pytest.mark.parametrize(
    ("action", "text"),
    [
        ([0], "action: expected one for each of 2 lanes, got 1"),
        ([0, 1, 0], "action: expected one for each of 2 lanes, got 3"),
        (0, "action: expected a batch of MultiDiscrete([3 3] start=[-1 -1]), got 0"),
        (None, "action: expected a batch of MultiDiscrete([3 3] start=[-1 -1]), got None"),
    ],
)
def test_a_wrong_batch_of_actions_is_refused(action, text):
    envs = SerialVectorEnv([Walk] * 2)
    envs.reset(seed=0)
    with says(InvalidArgument, text.replace("[3 3] start", "[3 3], start")):
        envs.step(action)


def test_a_batch_of_dictionaries_with_a_key_missing_is_refused():
    envs = SerialVectorEnv([counter(OURS)] * 2)
    envs.reset(seed=0)
    with pytest.raises(InvalidArgument, match=r"^action: expected a batch of Dict\(.*\), got \{'push': \[0, 0\]\}$"):
        envs.step({"push": [0, 0]})


@pytest.mark.parametrize("seed", [-1, 1.5, "7", [1], [1, 2, 3], [1, -1]])
def test_a_seed_that_cannot_be_honoured_is_an_error(seed):
    with pytest.raises(InvalidSeed):
        SerialVectorEnv([Walk] * 2).reset(seed=seed)


def test_no_lanes_is_no_batch():
    with says(InvalidArgument, "SerialVectorEnv: expected at least one environment, got none"):
        SerialVectorEnv([])


def test_an_unknown_mode_is_refused_before_anything_is_made():
    with says(InvalidArgument, "autoreset_mode: expected one of NextStep, SameStep, Disabled, got 'sometimes'"):
        SerialVectorEnv([lambda: pytest.fail("made")], autoreset_mode="sometimes")


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("observation_space", "lane 1: expected the observation_space of lane 0, Box(0, 4, (2,), int64), "),
        ("action_space", "lane 1: expected the action_space of lane 0, Discrete(4), "),
    ],
)
def test_lanes_have_equal_spaces(name, text):
    def other():
        env = GridWorld()
        setattr(env, name, Discrete(9))
        return env

    with says(InvalidSpace, f"{text}got Discrete(9)"):
        SerialVectorEnv([GridWorld, other])


def test_attributes_methods_and_pictures_of_every_lane():
    envs = SerialVectorEnv([lambda: Walk(render_mode="ansi")] * 2)
    envs.reset(seed=0)
    assert envs.get_attr("noise") == (1.0, 1.0)
    assert envs.call("render") == envs.render()
    assert envs.call("set_wrapper_attr", "wind", 3) == (True, True)
    assert envs.call("wind") == (3, 3)
    envs.set_attr("noise", 0.5)
    assert envs.get_attr("noise") == (0.5, 0.5)
    envs.set_attr("noise", [0.1, 0.2])
    assert envs.get_attr("noise") == (0.1, 0.2)
    with says(InvalidArgument, "set_attr noise: expected 2 values, got 3"):
        envs.set_attr("noise", (1, 2, 3))
    assert envs.render_mode == "ansi"


def test_generators_seeds_and_streams_are_those_of_the_lanes():
    envs = SerialVectorEnv([Walk] * 2)
    envs.reset(seed=4)
    assert envs.np_random_seed == (4, 5)
    assert [one is env.np_random for one, env in zip(envs.np_random, envs.envs, strict=True)] == [True, True]
    assert [one is env.stream("x") for one, env in zip(envs.stream("x"), envs.envs, strict=True)] == [True, True]
    envs.np_random = [np.random.default_rng(1), np.random.default_rng(2)]
    assert envs.np_random_seed == (-1, -1)


def test_closing_closes_every_lane_once():
    with SerialVectorEnv([Walk] * 2) as envs:
        pass
    envs.close()
    assert [env.closes for env in envs.envs] == [1, 1]
    assert envs.closed


def test_a_batch_can_be_wrapped():
    envs = Wrapper(SerialVectorEnv([Walk] * 2))
    assert envs.batch_shape == (2,)
    assert envs.reset(seed=0)[0].shape == (2, 1)
    assert str(envs) == "<WrapperSerialVectorEnv(num_envs=2)>"
    assert isinstance(envs, VectorEnv)
    assert (envs.num_envs, envs.autoreset_mode) == (2, AutoresetMode.NEXT_STEP)
    assert envs.single_action_space == Discrete(3, start=-1)
    envs.single_action_space, envs.single_observation_space = Discrete(2), Discrete(4)
    assert (envs.single_action_space, envs.single_observation_space) == (Discrete(2), Discrete(4))
    assert envs.env.single_action_space == Discrete(3, start=-1)


def test_a_wrapper_of_one_environment_has_no_lanes():
    env = Wrapper(Walk())
    assert not isinstance(env, VectorEnv)
    with says(AttributeError, "Wrapper has no attribute 'num_envs'"):
        env.num_envs  # noqa: B018


class Infos(GridWorld):
    """Gives the info it was made with."""

    def __init__(self, info):
        super().__init__()
        self.info = info

    def reset(self, *, seed=None, options=None):
        return super().reset(seed=seed)[0], self.info


def merged(*infos):
    return SerialVectorEnv([lambda info=info: Infos(info) for info in infos]).reset(seed=0)[1]


@pytest.mark.parametrize(
    ("values", "expected"),
    [
        ((1, 0.5), np.array([1.0, 0.5])),
        ((True, 3), np.array([1, 3])),
        ((np.float32(1), 2), np.array([1.0, 2.0])),
        ((1, None), np.array([1, None])),
        ((1, "a"), np.array([1, "a"], dtype=object)),
        ((1, 2**100), np.array([1, 2**100], dtype=object)),
        ((2**100, 1), np.array([2**100, 1], dtype=object)),
        ((np.zeros(2, np.int8), np.full(2, 0.5)), np.array([[0, 0], [0.5, 0.5]])),
        ((np.array(["a"]), np.array(["longer"])), np.array([["a"], ["longer"]])),
    ],
    ids=str,
)
def test_no_info_is_changed_to_fit_the_first_lanes_type(values, expected):
    infos = merged(*[{"x": value} for value in values])
    assert infos["x"].dtype == expected.dtype
    assert infos["x"].tolist() == expected.tolist()
    assert infos["_x"].tolist() == [True, True]


@pytest.mark.parametrize(
    "values",
    [(np.zeros(2), np.zeros(3)), (np.zeros(2), 1), (1, np.zeros(2)), (np.array([1]), np.array(["a"]))],
    ids=["lengths", "array then number", "number then array", "kinds"],
)
def test_infos_that_fit_no_array_are_kept_as_objects(values):
    infos = merged({}, *[{"x": value} for value in values])
    assert infos["x"].dtype == object
    assert infos["x"][0] is None
    assert all(np.array_equal(infos["x"][1 + lane], value) for lane, value in enumerate(values))
    assert infos["_x"].tolist() == [False, True, True]


@pytest.mark.parametrize(
    ("values", "got"), [(({"a": 1}, 3), "3"), ((3, {"a": 1}), "{'a': 1}")], ids=["dict first", "dict second"]
)
def test_a_dictionary_beside_something_else_is_an_error(values, got):
    message = f"lane 1 info['x']: expected a dictionary in all lanes or in none, got {got}"
    with says(ContractViolation, message):
        merged(*[{"x": value} for value in values])


def test_actions_are_given_to_lanes_as_iterate_gives_them():
    envs = SerialVectorEnv([counter(OURS)] * 2)
    action = {"push": np.array([1, 2]), "turn": np.zeros((2, 2))}
    rows = list(iterate(envs.action_space, action))
    envs.reset(seed=0)
    assert envs.step(action).reward.tolist() == [float(row["push"]) for row in rows]
