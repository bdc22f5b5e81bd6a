"""`Env`: seeds and streams, the with-statement, text, attributes."""

import gymnasium
import numpy as np
import pytest

from ludus.core import Env, EnvSpec
from ludus.errors import InvalidSeed, RenderError
from ludus.spaces import Discrete
from tests.core.subjects import Counted, Mirrored, Walk, history
from tests.core.wording import says

ACTIONS = [0, 1, -1, 1, 1, -1, 0, 0, 1]


def test_the_stream_of_a_seed_is_gymnasiums():
    ours, theirs = Walk(), gymnasium.Env()
    ours.reset(seed=5)
    theirs.reset(seed=5)
    theirs.np_random.normal()  # the walk drew one
    assert ours.np_random_seed == theirs.np_random_seed == 5
    assert ours.np_random.random(5).tolist() == theirs.np_random.random(5).tolist()


def test_the_same_seed_twice_gives_the_same_history_and_another_seed_another():
    env = Walk()
    first = history(env, ACTIONS, seed=3)
    assert history(env, ACTIONS, seed=3) == first
    assert history(Walk(), ACTIONS, seed=np.int64(3)) == first
    assert history(env, ACTIONS, seed=4) != first


def test_reset_without_a_seed_goes_on_in_the_stream():
    env = Walk()
    starts = [env.reset(seed=3)[0].tolist(), env.reset()[0].tolist(), env.reset()[0].tolist()]
    assert len({one[0] for one in starts}) == 3
    assert env.np_random_seed == 3
    expected = np.random.Generator(np.random.PCG64(3)).normal(size=3)
    assert [one[0] for one in starts] == expected.tolist()


def test_an_unseeded_environment_takes_a_seed_that_can_be_given_again():
    env = Walk()
    seed = env.np_random_seed
    first = history(env, ACTIONS)
    assert history(Walk(), ACTIONS, seed=seed) == first
    fresh = Walk()
    fresh.reset()
    assert fresh.np_random_seed != seed


@pytest.mark.parametrize("seed", [-1, True, 1.5, "3"])
def test_a_seed_that_cannot_be_honoured_is_an_error(seed):
    env = Walk()
    message = f"seed: expected an integer of at least 0, got {seed!r}; None takes one from the system"
    with says(InvalidSeed, message):
        env.reset(seed=seed)


@pytest.mark.parametrize("wrap", [lambda env: env, Mirrored, lambda env: Counted(Mirrored(env))])
def test_a_generator_set_from_outside_is_used_and_its_seed_reads_minus_one(wrap):
    env = wrap(Walk())
    env.np_random = np.random.default_rng(9)
    assert env.np_random_seed == env.unwrapped.np_random_seed == -1
    assert env.reset()[0].tolist() == [np.random.default_rng(9).normal()]
    env.reset(seed=2)
    assert env.np_random_seed == 2


def test_streams_never_shift_the_dynamics():
    class Rendering(Walk):
        def step(self, action):
            self.stream("render").random(17)
            return super().step(action)

    assert history(Rendering(), ACTIONS, seed=8) == history(Walk(), ACTIONS, seed=8)
    noisy = history(Counted(Walk(), scale=1.0), ACTIONS, seed=8)
    assert [one[0] for one in noisy] == [one[0] for one in history(Walk(), ACTIONS, seed=8)]


def test_a_stream_goes_on_between_calls_and_starts_anew_with_a_seed():
    env = Walk()
    env.reset(seed=1)
    first = env.stream("wind").random()
    second = env.stream("wind").random()
    assert first != second
    env.reset()
    assert env.stream("wind").random() not in (first, second)
    env.reset(seed=1)
    assert env.stream("wind").random() == first
    env.np_random = np.random.default_rng(1)
    assert env.stream("wind").random() == first  # the same seed, said another way
    assert env.stream("rain").random() != first


def test_a_wrapper_draws_from_the_streams_of_the_environment_below():
    env = Counted(Mirrored(Walk()))
    env.reset(seed=1)
    assert env.stream("wind") is env.unwrapped.stream("wind")
    assert env.np_random is env.unwrapped.np_random
    assert env.np_random_seed == 1


def test_the_with_statement_closes_even_after_an_error():
    with Counted(Walk()) as env:
        assert env.unwrapped.closes == 0
    assert env.unwrapped.closes == 1
    with pytest.raises(KeyError), Walk() as failing:
        raise KeyError
    assert failing.closes == 1


def test_text_shows_the_class_and_the_id():
    env = Walk()
    assert str(env) == "<Walk instance>"
    env.spec = EnvSpec("Walk-v0")
    assert str(env) == "<Walk<Walk-v0>>"
    assert str(Counted(Mirrored(env), 2.0)) == "<Counted(scale=2.0)<Mirrored<Walk<Walk-v0>>>>"
    assert repr(Mirrored(env)) == "<Mirrored<Walk<Walk-v0>>>"


def test_one_environment_has_an_empty_batch_shape_and_is_unwrapped():
    env = Walk()
    assert env.batch_shape == ()
    assert env.unwrapped is env
    assert Mirrored(env).unwrapped is env


def test_what_a_subclass_leaves_out_is_named():
    class Empty(Env):
        observation_space = action_space = Discrete(2)

    env = Empty()
    assert env.reset(seed=1) is None
    env.close()
    with says(NotImplementedError, "Empty defines no step(action)"):
        env.step(0)
    message = (
        "render: expected an environment that draws, got Empty, which defines no render(); its render modes are []"
    )
    with says(RenderError, message):
        env.render()


def test_attributes_of_a_bare_environment():
    env = Walk()
    assert env.has_wrapper_attr("noise")
    assert not env.has_wrapper_attr("wind")
    assert env.get_wrapper_attr("noise") == 1.0
    with pytest.raises(AttributeError):
        env.get_wrapper_attr("wind")
    assert env.set_wrapper_attr("noise", 0.0, force=False) is True
    assert env.set_wrapper_attr("wind", 2, force=False) is False
    assert not hasattr(env, "wind")
    assert env.set_wrapper_attr("wind", 2) is True
    assert (env.noise, env.wind) == (0.0, 2)


def test_a_pipe_applies_what_is_callable():
    env = Walk()
    assert (env | Mirrored).env is env
    with pytest.raises(TypeError):
        env | 3
