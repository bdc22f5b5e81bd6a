"""Pictures: each shows its state, keeps its size, and never touches the history."""

import numpy as np
import pytest

import ludus
from ludus.core.spec import load_entry_point
from ludus.kernels import RuleEnv
from ludus.rendering import Canvas
from ludus.testing import data_equal

RULED = [spec.id for spec in ludus.list_envs() if issubclass(load_entry_point(spec.entry_point), RuleEnv)]
IDS = [name for name in RULED if name != "CartPole-v0"]


@pytest.mark.one_of(2)
@pytest.mark.parametrize("name", IDS)
def test_a_picture_has_one_size_and_follows_the_state(name):
    env = ludus.make(name, render_mode="rgb_array")
    env.reset(seed=1)
    env.action_space.seed(1)
    shapes, pictures = set(), set()
    for _ in range(25):
        frame = env.render()
        assert frame.dtype == np.uint8
        shapes.add(frame.shape)
        pictures.add(frame.tobytes())
        step = env.step(env.action_space.sample())
        if step.done:
            env.reset()
    assert len(shapes) == 1
    assert len(pictures) > 2


@pytest.mark.parametrize("name", IDS)
def test_looking_changes_nothing(name):
    seen, unseen = ludus.make(name, render_mode="svg"), ludus.make(name)
    assert data_equal(seen.reset(seed=4), unseen.reset(seed=4))
    seen.action_space.seed(4)
    for _ in range(10):
        assert seen.render().startswith("<svg")
        action = seen.action_space.sample()
        step, other = seen.step(action), unseen.step(action)
        assert data_equal(tuple(step), tuple(other))
        if step.done:
            break


@pytest.mark.parametrize("name", IDS)
def test_a_drawing_is_the_same_for_the_same_state(name):
    env = ludus.make(name).unwrapped
    env.reset(seed=2)
    assert isinstance(env.draw(), Canvas)
    assert env.draw() == env.draw()


@pytest.mark.parametrize("name", IDS)
def test_the_terminal_shows_something_of_every_environment(name):
    env = ludus.make(name, render_mode="ansi")
    env.reset(seed=2)
    assert env.render().count("\n") >= 3


def test_a_dealers_second_card_is_hidden_until_it_is_their_turn():
    env = ludus.make("Blackjack-v1").unwrapped
    for seed in range(20):
        env.reset(seed=seed)
        before = env.draw()
        env.step(0)
        assert env.draw() != before


def test_a_taxi_shows_rain_heading_and_passenger():
    env = ludus.make("Taxi-v4").unwrapped
    env.reset(seed=0)
    env.s = env.encode(2, 2, 0, 1)
    empty = env.draw()
    env.s = env.encode(2, 2, 4, 1)
    assert env.draw() != empty
    full = env.draw()
    env.step(2)
    env.step(3)
    assert env.state.heading == 3
    assert env.draw() != full
    env.is_rainy = True
    assert env.draw() != full


def test_a_hole_swallows_the_penguin():
    env = ludus.make("FrozenLake-v1").unwrapped
    env.reset(seed=0)
    env.s = 4
    above = len(env.draw().marks)
    env.s = 5
    assert len(env.draw().marks) < above


def test_torque_is_drawn_the_way_it_turns():
    env = ludus.make("Pendulum-v1").unwrapped
    env.reset(seed=0)
    assert env.last_u is None
    pictures = []
    for torque in (-9.0, 0.0, 9.0):
        env.step([torque])
        assert env.last_u == max(min(torque, 2.0), -2.0)
        env.state = (1.0, 0.0)
        env.last_action = np.array([torque])
        pictures.append(env.draw().to_svg())
    assert len(set(pictures)) == 3
