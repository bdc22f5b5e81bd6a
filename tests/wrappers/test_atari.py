"""Atari preprocessing, on a small machine that speaks as the emulator does."""

from functools import partial

import numpy as np
import pytest

import ludus
from ludus.core import AutoresetMode, Env
from ludus.errors import InvalidArgument, InvalidSpace, InvalidType
from ludus.rendering import resize
from ludus.spaces import Box, Discrete
from ludus.testing import data_equal
from ludus.vector import ProcessVectorEnv, SerialVectorEnv
from ludus.wrappers import AddRenderObservation, FrameStackObservation, TimeLimit
from ludus.wrappers.atari import AtariPreprocessing
from tests.wrappers.equivalence import Trial, check_equivalence

HEIGHT, WIDTH = 12, 10


class Machine:
    """A screen that shows the number of the frame, odd and even ones in different halves, and loses lives."""

    def __init__(self):
        self.frame, self.left = 0, 3

    def lives(self):
        return self.left

    def _value(self):
        half = np.zeros((HEIGHT, WIDTH), np.uint8)
        half[:, (self.frame % 2) * (WIDTH // 2) :][:, : WIDTH // 2] = self.frame
        return half

    def getScreenGrayscale(self, out):
        out[...] = self._value()

    def getScreenRGB(self, out):
        out[...] = self._value()[..., None] * np.array([1, 2, 0], np.uint8)


class Game(Env):
    metadata = {"render_modes": []}
    observation_space = Box(0, 255, (HEIGHT, WIDTH, 3), np.uint8)
    action_space = Discrete(3)

    def __init__(self, frameskip=1, length=100, life=1000, first="NOOP"):
        self._frameskip, self.length, self.life, self.first = frameskip, length, life, first
        self.ale, self.actions = Machine(), []

    def get_action_meanings(self):
        return [self.first, "LEFT", "RIGHT"]

    def reset(self, *, seed=None, options=None):
        super().reset(seed=seed)
        self.ale, self.actions = Machine(), []
        return self._seen(), {"frame": 0}

    def step(self, action):
        self.actions.append(int(action))
        self.ale.frame += 1
        if self.ale.frame % self.life == 0:
            self.ale.left -= 1
        over = self.ale.frame >= self.length
        return self._seen(), 1.0, over, False, {"frame": self.ale.frame}

    def _seen(self):
        screen = np.empty((HEIGHT, WIDTH, 3), np.uint8)
        self.ale.getScreenRGB(screen)
        return screen


def screen(*frames):
    """What is shown for these frames: the brightest of them, in grey, at full size."""
    machine, shown = Machine(), np.zeros((HEIGHT, WIDTH), np.uint8)
    for machine.frame in frames:
        shown = np.maximum(shown, machine._value())
    return shown


FULL = {"noop_max": 0, "screen_size": (WIDTH, HEIGHT)}


def test_each_action_is_taken_for_several_frames_and_the_last_two_are_pooled():
    env = AtariPreprocessing(Game(), **FULL)
    observation, info = env.reset(seed=0)
    assert data_equal(observation, screen(0))
    assert info == {"frame": 0}
    observation, reward, terminated, truncated, info = env.step(2)
    assert env.unwrapped.actions == [2, 2, 2, 2]
    assert data_equal(observation, screen(3, 4))
    assert (reward, terminated, truncated, info) == (4.0, False, False, {"frame": 4})
    assert observation in env.observation_space


def test_one_frame_is_shown_as_it_is():
    env = AtariPreprocessing(Game(frameskip=4), frame_skip=1, **FULL)
    env.reset(seed=0)
    assert data_equal(env.step(0).observation, screen(1))


@pytest.mark.parametrize(("length", "frames"), [(2, (2,)), (3, (3,)), (4, (3, 4)), (1, (1,))])
def test_an_episode_that_ends_early_shows_its_own_last_frames(length, frames):
    env = AtariPreprocessing(Game(length=length), **FULL)
    env.reset(seed=0)
    step = env.step(1)
    assert step.terminated
    assert step.reward == length
    assert data_equal(step.observation, screen(*frames))


def test_a_lost_life_ends_the_episode_when_asked_for():
    env = AtariPreprocessing(Game(life=6), terminal_on_life_loss=True, **FULL)
    env.reset(seed=0)
    assert env.lives == 3
    assert not env.step(0).terminated
    step = env.step(0)
    assert step.terminated
    assert step.reward == 2.0
    assert (env.lives, env.game_over) == (2, True)
    plain = AtariPreprocessing(Game(life=6), **FULL)
    plain.reset(seed=0)
    assert [plain.step(0).terminated for _ in range(3)] == [False] * 3


def test_an_episode_begins_after_a_while_of_doing_nothing():
    counts = set()
    env = AtariPreprocessing(Game(), noop_max=4, screen_size=(WIDTH, HEIGHT))
    for seed in range(30):
        observation, info = env.reset(seed=seed)
        idle = len(env.unwrapped.actions)
        assert set(env.unwrapped.actions) == {0}
        assert info == {"frame": idle}
        assert data_equal(observation, screen(idle))
        counts.add(idle)
    assert counts == {1, 2, 3, 4}


def test_doing_nothing_does_not_shift_the_stream_of_the_environment():
    env, plain = AtariPreprocessing(Game(), **FULL | {"noop_max": 9}), Game()
    env.reset(seed=5)
    plain.reset(seed=5)
    assert env.np_random.random() == plain.np_random.random()


def test_an_episode_that_ends_while_nothing_is_done_begins_anew():
    env = AtariPreprocessing(Game(length=3), **FULL | {"noop_max": 30})
    _, info = env.reset(seed=1)
    assert info["frame"] < 3


@pytest.mark.parametrize(
    ("arguments", "shape", "dtype"),
    [
        ({}, (84, 84), np.uint8),
        ({"screen_size": 20}, (20, 20), np.uint8),
        ({"screen_size": (20, 30)}, (30, 20), np.uint8),
        ({"grayscale_obs": False}, (84, 84, 3), np.uint8),
        ({"grayscale_newaxis": True}, (84, 84, 1), np.uint8),
        ({"scale_obs": True}, (84, 84), np.float32),
    ],
)
def test_the_screen_is_shown_as_asked_for(arguments, shape, dtype):
    env = AtariPreprocessing(Game(), **arguments)
    observation, _ = env.reset(seed=0)
    assert (env.observation_space.shape, env.observation_space.dtype) == (shape, dtype)
    assert observation in env.observation_space
    assert observation.dtype == dtype
    assert env.step(1).observation in env.observation_space


def test_screens_are_shrunk_by_area_and_scaled_to_one():
    env = AtariPreprocessing(Game(), noop_max=0, screen_size=5, scale_obs=True)
    env.reset(seed=0)
    observation = env.step(0).observation
    assert data_equal(observation, resize(screen(3, 4), (5, 5)).astype(np.float32) / np.float32(255))


class Arcade(Game):
    """Ends and loses lives by chance, drawn at every reset and step; its observation is the screen, in grey or not."""

    def __init__(self, gray=True, tells=False):
        super().__init__()
        self.gray, self.tells = gray, tells
        self.observation_space = Box(0, 255, (HEIGHT, WIDTH) if gray else (HEIGHT, WIDTH, 3), np.uint8)

    def reset(self, *, seed=None, options=None):
        _, info = super().reset(seed=seed)
        self.ale.frame = int(self.np_random.integers(50))
        return self._seen(), info | self._told()

    def step(self, action):
        self.ale.frame += 1 + int(action) + int(self.np_random.integers(3))
        self.ale.left -= int(self.np_random.random() < 0.1)
        over, cut = self.np_random.random(2) < 0.07
        return self._seen(), float(self.ale.frame), bool(over), bool(cut), {"frame": self.ale.frame} | self._told()

    def _told(self):
        return {"lives": self.ale.left} if self.tells else {}

    def _seen(self):
        if not self.gray:
            return super()._seen()
        screen = np.empty((HEIGHT, WIDTH), np.uint8)
        self.ale.getScreenGrayscale(screen)
        return screen


BATCHES = {"serial": SerialVectorEnv, "process": partial(ProcessVectorEnv, num_workers=2)}
SHOWN = {
    "direct": ({"gray": True}, {}),
    "direct, lives told": ({"gray": True, "tells": True}, {"terminal_on_life_loss": True}),
    "direct, lives asked for": ({"gray": False}, {"terminal_on_life_loss": True, "grayscale_obs": False}),
    "by emulators": ({"gray": False}, {"terminal_on_life_loss": True}),
    "one frame": ({"gray": True}, {"frame_skip": 1}),
    "two frames": ({"gray": True}, {"frame_skip": 2, "noop_max": 0}),
}


ASKS = ("direct, lives asked for", "by emulators")
"""What needs the emulators: they are in the next episode already where autoreset is in the same step."""
CASES = [
    (name, mode, executor)
    for name in SHOWN
    for mode in AutoresetMode
    for executor in (BATCHES if name in ASKS else ["serial"])
    if name not in ASKS or mode is not AutoresetMode.SAME_STEP
]


@pytest.mark.parametrize(("name", "mode", "executor"), CASES)
def test_a_batch_is_its_lanes(name, mode, executor):
    given, arguments = SHOWN[name]
    make = partial(Arcade, **given)
    wrapper = AtariPreprocessing.using(**{**FULL, "noop_max": 2, **arguments})
    batch = partial(BATCHES[executor], [make] * 4, autoreset_mode=mode)
    check_equivalence(wrapper, make, batch, Trial(mode, steps=25, resets={7: [2]}))


@pytest.mark.parametrize("mode", list(AutoresetMode), ids=lambda mode: mode.value)
def test_a_batch_of_screens_under_other_wrappers_is_its_lanes(mode):
    def wrap(env):
        env = AtariPreprocessing(env, terminal_on_life_loss=True, **FULL | {"noop_max": 3})
        return TimeLimit(FrameStackObservation(env, 2), 4)

    make = partial(Arcade, tells=True)
    batch = partial(SerialVectorEnv, [make] * 4, autoreset_mode=mode)
    check_equivalence(wrap, make, batch, Trial(mode, steps=25, rewinds=5))


def test_lives_that_nobody_tells_of_are_asked_for():
    envs = AtariPreprocessing(
        SerialVectorEnv([Arcade] * 2, autoreset_mode="SameStep"), terminal_on_life_loss=True, **FULL
    )
    with pytest.raises(InvalidArgument, match=r"expected info\['lives'\], since autoreset in the same step forgets"):
        envs.reset(seed=0)


def test_emulators_out_of_reach_are_told_of():
    class Sealed(Arcade):
        @property
        def ale(self):
            raise RuntimeError("sealed")

        @ale.setter
        def ale(self, value):
            pass

    with pytest.raises(InvalidArgument, match="expected emulators in reach, or observations that are the screens"):
        AtariPreprocessing(SerialVectorEnv([lambda: Sealed(gray=False)] * 2), **FULL)
    with pytest.raises(InvalidArgument, match="since autoreset in the same step draws over the last one"):
        AtariPreprocessing(SerialVectorEnv([lambda: Arcade(gray=False)] * 2, autoreset_mode="SameStep"), **FULL)


@pytest.mark.parametrize(
    ("arguments", "error", "message"),
    [
        ({"frame_skip": 0}, InvalidArgument, "frame_skip: expected an integer of at least 1, got 0"),
        ({"noop_max": -1}, InvalidArgument, "noop_max: expected an integer of at least 0, got -1"),
        ({"noop_max": 1.5}, InvalidType, "noop_max: expected an integer of at least 0, got 1.5"),
        (
            {"screen_size": (84, 0)},
            InvalidArgument,
            "screen_size: expected a positive integer, or (width, height) of two, got (84, 0)",
        ),
    ],
)
def test_wrong_arguments_are_refused(arguments, error, message):
    with pytest.raises(error) as caught:
        AtariPreprocessing(Game(), **arguments)
    assert str(caught.value) == message


def test_environments_that_do_not_fit_are_refused():
    with pytest.raises(InvalidArgument) as caught:
        AtariPreprocessing(Game(frameskip=4))
    assert str(caught.value) == (
        "AtariPreprocessing: expected an environment that skips no frames itself, got a frameskip of 4; "
        "make it with frameskip=1"
    )
    with pytest.raises(InvalidArgument) as caught:
        AtariPreprocessing(Game(first="FIRE"))
    assert str(caught.value) == (
        "AtariPreprocessing: expected 'NOOP' as the meaning of action 0, got 'FIRE'; set noop_max=0"
    )

    class Blind(Game):
        observation_space = Discrete(2)

    with pytest.raises(InvalidArgument, match="expected an environment with the emulator as `ale`, got <AddRender"):
        AtariPreprocessing(AddRenderObservation(ludus.make("CartPole-v1", render_mode="rgb_array")))
    with pytest.raises(InvalidSpace, match="AtariPreprocessing: expected images, a Box of 2 or 3 dimensions, got Disc"):
        AtariPreprocessing(Blind())
