"""Wrappers of pictures: collected, recorded, shown and disturbed, of one environment and of a batch."""

import imageio_ffmpeg
import numpy as np
import pytest

import ludus
from ludus import wrappers as w
from ludus.errors import InvalidArgument, RenderError
from ludus.rendering import grid
from ludus.vector import SerialVectorEnv
from ludus.wrappers.pictures import every_cube
from tests.wrappers.walk import Walk


def one():
    return Walk(render_mode="rgb_array")


def many(n=3, mode="NextStep"):
    return SerialVectorEnv([one] * n, autoreset_mode=mode)


def test_frames_are_collected_and_popped():
    env = w.RenderCollection(one())
    env.reset(seed=0)
    expected = [env.env.render()]
    for _ in range(3):
        env.step(0)
        expected.append(env.env.render())
    assert np.array_equal(env.render(), expected)
    assert env.render() == []
    assert env.render_mode == "rgb_array_list"
    assert env.metadata["render_modes"] == ["rgb_array", "rgb_array_list"]
    assert Walk.metadata["render_modes"] == ["rgb_array"]


def test_frames_can_be_kept_over_resets_and_renders():
    env = w.RenderCollection(one(), pop_frames=False, reset_clean=False)
    env.reset(seed=0)
    env.reset()
    assert len(env.render()) == len(env.render()) == 2


@pytest.mark.parametrize(
    "wrapper",
    [
        w.RenderCollection.using(),
        w.RecordVideo.using("."),
        w.HumanRendering.using(),
        w.AddWhiteNoise.using(0.1),
        w.ObstructView.using(0.1, 2),
    ],
    ids=lambda one: one.name,
)
def test_an_environment_that_renders_nothing_is_refused(wrapper):
    with pytest.raises(RenderError) as raised:
        wrapper(Walk())
    assert str(raised.value) == (
        f"{wrapper.name}: expected an environment that renders frames, got render_mode=None; "
        'make it with render_mode="rgb_array"'
    )


def test_make_gives_lists_of_frames_and_windows_where_frames_can_be_had(monkeypatch):
    monkeypatch.setenv("SDL_VIDEODRIVER", "dummy")
    env = ludus.make(Walk, render_mode="rgb_array_list")
    env.reset(seed=0)
    env.step(0)
    assert len(env.render()) == 2
    again = ludus.make(env.spec)
    assert again.render_mode == "rgb_array_list"
    env = ludus.make(Walk, render_mode="human")
    env.reset(seed=0)
    assert (env.render_mode, env.render()) == ("human", None)
    env.close()
    with pytest.raises(RenderError):
        ludus.make(Walk, render_mode="human_list")


def test_a_video_has_the_frames_of_its_episode(tmp_path):
    env = w.RecordVideo(one(), tmp_path, episode_trigger=lambda number: number == 1, suffix="gif")
    env.reset(seed=0)
    assert not env.recording
    env.reset()
    assert env.recording
    expected = [env.env.render()]
    for _ in range(3):
        env.step(0)
        expected.append(env.env.render())
    env.reset()
    env.close()
    assert [path.name for path in env.videos] == ["rl-video-episode-1.gif"]
    assert (tmp_path / "rl-video-episode-1.gif").read_bytes()[:6] == b"GIF89a"


def test_a_video_may_begin_with_a_step_and_have_a_length(tmp_path):
    trigger = {"step_trigger": lambda step: step == 2, "video_length": 2, "name_prefix": "clip", "suffix": "gif"}
    env = w.RecordVideo(ludus.make("CartPole-v1", render_mode="rgb_array"), tmp_path, **trigger)
    env.reset(seed=0)
    for step in range(6):
        env.step(step % 2)
        assert env.recording == (step in (2, 3))
    assert [path.name for path in env.videos] == ["clip-step-2.gif"]


def test_a_batch_is_recorded_as_a_grid_lane_0_counting(tmp_path):
    env = w.RecordVideo(many(), tmp_path, episode_trigger=lambda number: True, suffix="gif")
    env.reset(seed=0)
    ends = 0
    for _ in range(30):
        ends += bool(env.step(np.zeros(3, int)).done[0])
    assert grid(env.unwrapped.render()).shape == (10, 14, 3)
    env.close()
    assert len(env.videos) in (ends, ends + 1)


def test_an_mp4_can_be_written_and_read_back(tmp_path):
    env = w.RecordVideo(ludus.make("CartPole-v1", render_mode="rgb_array"), tmp_path, fps=20)
    env.reset(seed=0)
    for _ in range(5):
        env.step(0)
    env.close()
    assert imageio_ffmpeg.count_frames_and_secs(str(env.videos[0])) == (6, pytest.approx(0.3, abs=0.1))


def test_a_wrong_suffix_is_refused(tmp_path):
    with pytest.raises(InvalidArgument, match="suffix: expected 'mp4' or 'gif', got 'avi'"):
        w.RecordVideo(one(), tmp_path, suffix="avi")


def test_cubes_are_recorded_and_then_thousands():
    assert [number for number in range(3001) if every_cube(number)] == [*(i**3 for i in range(10)), 1000, 2000, 3000]


@pytest.mark.parametrize("make", [one, many], ids=["one", "batch"])
def test_a_window_shows_every_step(monkeypatch, make):
    monkeypatch.setenv("SDL_VIDEODRIVER", "dummy")
    env = w.HumanRendering(make())
    shown = []
    monkeypatch.setattr(env._window, "show", lambda picture, fps: shown.append(picture.shape))
    env.reset(seed=0)
    env.step(np.zeros(env.batch_shape, int) if env.batch_shape else 0)
    assert len(shown) == 2
    assert env.render() is None
    assert "human" in env.metadata["render_modes"]
    env.close()


@pytest.mark.parametrize("gray", [False, True])
@pytest.mark.parametrize(
    "wrapper", [w.AddWhiteNoise.using(0.5), w.ObstructView.using(0.5, 2)], ids=["noise", "squares"]
)
@pytest.mark.parametrize("make", [one, many], ids=["one", "batch"])
def test_noise_is_seeded_and_leaves_the_dynamics_alone(wrapper, make, gray):
    def history(noisy):
        env = type(wrapper)(wrapper.name, wrapper.entry_point, {**wrapper.kwargs, "is_noise_grayscale": gray})(make())
        env.reset(seed=3)
        pictures, seen = [], []
        for _ in range(4):
            if noisy:
                pictures.append(env.render())
            step = env.step(np.zeros(env.batch_shape, int) if env.batch_shape else 0)
            seen.append(step[0])
            if not env.batch_shape and step.done:
                env.reset()
        return pictures, seen

    pictures, seen = history(True)
    again, _ = history(True)
    _, silent = history(False)
    assert np.array_equal(seen, silent)
    assert np.array_equal(pictures, again)
    assert len({np.asarray(picture).tobytes() for picture in pictures}) == 4


@pytest.mark.parametrize(
    ("build", "text"),
    [
        (
            lambda: w.AddWhiteNoise(one(), 1.0),
            "probability_of_noise_per_pixel: expected at least 0 and less than 1, got 1.0",
        ),
        (
            lambda: w.ObstructView(one(), 1.0, 1),
            "obstructed_pixels_ratio: expected at least 0 and less than 1, got 1.0",
        ),
        (lambda: w.ObstructView(one(), 0.5, 0), "obstruction_width: expected at least 1, got 0"),
    ],
)
def test_wrong_noise_is_refused(build, text):
    with pytest.raises(InvalidArgument) as raised:
        build()
    assert str(raised.value) == text


@pytest.mark.parametrize("mode", ["NextStep", "Disabled"])
@pytest.mark.parametrize("kind", ["box", "dict"])
@pytest.mark.parametrize("only", [True, False])
def test_pictures_are_observations_in_one_and_in_a_batch(kind, only, mode):
    single = w.AddRenderObservation(Walk(kind=kind, render_mode="rgb_array"), render_only=only)
    batch = w.AddRenderObservation(
        SerialVectorEnv([lambda: Walk(kind=kind, render_mode="rgb_array")] * 2, autoreset_mode=mode), only
    )
    assert batch.single_observation_space == single.observation_space
    seen, _ = batch.reset(seed=4)
    assert seen in batch.observation_space
    first, _ = single.reset(seed=4)
    assert first in single.observation_space
    picture = first if only else first["pixels"]
    pictures = seen if only else seen["pixels"]
    assert np.array_equal(pictures[0], picture)
    assert batch.step(np.zeros(2, int)).observation in batch.observation_space


def test_looking_at_a_first_picture_leaves_no_trace():
    env, plain = one(), one()
    env.reset(seed=1)
    plain.reset(seed=1)
    w.AddRenderObservation(env)
    assert np.array_equal(env.step(0).observation, plain.step(0).observation)


def test_a_picture_needs_a_key_of_its_own():
    with pytest.raises(InvalidArgument, match="render_key: expected a new key, got 'a', which the observation has"):
        w.AddRenderObservation(Walk(kind="dict", render_mode="rgb_array"), render_only=False, render_key="a")


def test_images_are_resized_in_one_and_in_a_batch():
    single = w.ResizeObservation(Walk(kind="image"), (3, 4))
    batch = w.ResizeObservation(SerialVectorEnv([lambda: Walk(kind="image")] * 2), (3, 4))
    first, _ = single.reset(seed=0)
    seen, _ = batch.reset(seed=0)
    assert first.shape == (3, 4, 3)
    assert np.array_equal(seen[0], first)
    with pytest.raises(
        InvalidArgument, match=r"ResizeObservation shape: expected a tuple of two positive integers, got \(0, 4\)"
    ):
        w.ResizeObservation(Walk(kind="image"), (0, 4))
