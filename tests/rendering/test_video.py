"""Videos: read back, they have the frames, the size and the speed that were written."""

import builtins
import io
import re
import subprocess
import sys

import imageio_ffmpeg
import numpy as np
import pytest
from PIL import Image, ImageSequence

from ludus.errors import InvalidArgument, MissingExtra
from ludus.rendering import VideoWriter, write_video
from ludus.rendering.gif import GifWriter
from tests.core.wording import says
from tests.rendering.walk import Walk


def episode(steps=6):
    env = Walk(render_mode="rgb_array")
    env.reset(seed=0)
    for step in range(steps):
        yield env.render()
        env.step(step % 2)


def read_gif(path):
    with Image.open(path) as image:
        frames = [(np.array(frame.convert("RGB")), frame.info["duration"]) for frame in ImageSequence.Iterator(image)]
        return [frame for frame, _ in frames], [duration for _, duration in frames], image.info.get("loop")


def read_mp4(path):
    """The frames, and what ffmpeg says about the file."""
    command = [imageio_ffmpeg.get_ffmpeg_exe(), "-i", path, "-f", "rawvideo", "-pix_fmt", "rgb24", "-"]
    done = subprocess.run(command, capture_output=True, check=True)
    said = done.stderr.decode()
    width, height = map(int, re.search(r"Video: h264.*?, (\d+)x(\d+)", said).groups())
    return np.frombuffer(done.stdout, np.uint8).reshape(-1, height, width, 3), said


# --- gif ---


def test_a_gif_has_exactly_the_frames_that_were_written(tmp_path):
    wanted = list(episode())
    frames, durations, loop = read_gif(write_video(tmp_path / "a.gif", wanted, fps=10))
    assert len(frames) == len(wanted)
    assert all(np.array_equal(got, frame) for got, frame in zip(frames, wanted, strict=True))
    assert durations == [100] * 6
    assert loop == 0


def test_a_gif_with_many_colors_comes_close(tmp_path):
    rng = np.random.default_rng(0)
    smooth = np.stack(np.meshgrid(np.linspace(0, 255, 80), np.linspace(0, 255, 60)), axis=-1)
    wanted = [np.dstack((smooth, np.full((60, 80), 60 * k))).astype(np.uint8) for k in range(3)]
    wanted.append(rng.integers(0, 256, (60, 80, 3), dtype=np.uint8))
    frames, _, _ = read_gif(write_video(tmp_path / "a.gif", wanted, fps=10))
    for got, frame in zip(frames[:3], wanted[:3], strict=True):
        assert np.abs(got.astype(int) - frame).mean() < 6
    assert np.abs(frames[3].astype(int) - wanted[3]).mean() < 25


def test_frames_that_do_not_change_are_kept_and_cost_nothing(tmp_path):
    still = np.full((200, 300, 3), 77, np.uint8)
    path = write_video(tmp_path / "a.gif", [still] * 50, fps=10)
    frames, _, _ = read_gif(path)
    assert all(np.array_equal(frame, still) for frame in frames)
    assert path.stat().st_size < 6000


@pytest.mark.parametrize(("fps", "count"), [(10, 30), (30, 30), (50, 30), (60, 60), (200, 100)])
def test_a_gif_takes_the_right_time(fps, count, tmp_path):
    frames = [np.full((4, 4, 3), 2 * number, np.uint8) for number in range(count)]
    _, durations, _ = read_gif(write_video(tmp_path / "a.gif", frames, fps=fps))
    assert sum(durations) / 1000 == pytest.approx(count / fps, abs=0.03)
    assert min(durations) >= 20
    assert fps > 50 or len(durations) == count


def test_a_frame_may_be_changed_after_it_was_appended(tmp_path):
    frame = np.zeros((4, 4, 3), np.uint8)
    writer = GifWriter(tmp_path / "a.gif", 10)
    for shade in (0, 100, 200):
        frame[:] = shade
        writer.append(frame)
    writer.close()
    writer.close()
    assert [int(got[0, 0, 0]) for got in read_gif(tmp_path / "a.gif")[0]] == [0, 100, 200]


@pytest.mark.parametrize("size", [1, 2, 5, 250, 4095, 5000, 40_000])
@pytest.mark.parametrize("bits", [2, 3, 8])
def test_what_was_compressed_can_be_read(size, bits, tmp_path):
    rng = np.random.default_rng(size)
    shades = rng.integers(0, 1 << bits, (size, 1), dtype=np.uint8) * np.uint8(255 >> bits)
    for pixels in (shades, np.zeros_like(shades), np.sort(shades, axis=0)):
        frame = np.repeat(pixels[:, :, None], 3, axis=2)
        assert np.array_equal(read_gif(write_video(tmp_path / "a.gif", [frame], fps=10))[0][0], frame)


def test_a_run_is_compressed(tmp_path):
    assert write_video(tmp_path / "a.gif", [np.zeros((100, 100, 3), np.uint8)]).stat().st_size < 300


@pytest.mark.parametrize("count", [2, 3, 4, 128, 254, 255])
def test_what_changed_is_exact_up_to_255_colors(count, tmp_path):
    rng = np.random.default_rng(count)
    first = np.full((40, 50, 3), 9, np.uint8)
    colors = np.stack((np.arange(count), 255 - np.arange(count), np.full(count, 7)), axis=1).astype(np.uint8)
    second = first.copy()
    second[5:35, 3:47] = colors[rng.permutation(np.arange(30 * 44) % count).reshape(30, 44)]
    second[10:20, 10:20] = 9
    third = second.copy()
    third[0, 0] = third[39, 49] = 200  # so that nearly all of the rectangle is what did not change
    third[12, 12] = (1, 2, 3)
    frames, _, _ = read_gif(write_video(tmp_path / "a.gif", [first, second, third], fps=10))
    for got, wanted in zip(frames, (first, second, third), strict=True):
        assert np.array_equal(got, wanted)


def test_every_index_of_a_gif_is_in_its_color_table(tmp_path):
    """Readers differ about indices beyond it, the transparent one too: browsers take them, others give up."""
    for count in (1, 2, 4, 16, 255):
        shades = (np.arange(256) % count).astype(np.uint8).reshape(16, 16)
        frames = [np.repeat(one[:, :, None], 3, axis=2) for one in (np.full_like(shades, 255), shades)]
        data = write_video(tmp_path / "a.gif", frames, fps=10).read_bytes()
        for table, clear in tables(data):
            assert clear < table


def tables(data):
    """For each image: how many colours its table has, and which of them is transparent."""
    start = 0
    while (start := data.find(b"\x21\xf9\x04\x05", start)) >= 0:
        assert data[start + 8 : start + 9] == b","
        flags = data[start + 17]
        assert flags & 0x80, "a table of its own"
        yield 2 << (flags & 7), data[start + 6]
        start += 18


def test_the_same_frames_give_the_same_bytes(tmp_path):
    rng = np.random.default_rng(0)
    frames = [*episode(), *rng.integers(0, 256, (2, 60, 180, 3), dtype=np.uint8)]
    first, second = (write_video(tmp_path / name, frames, fps=24).read_bytes() for name in ("a.gif", "b.gif"))
    assert first == second


def test_a_view_of_a_larger_array_is_a_frame_too(tmp_path):
    large = np.random.default_rng(0).integers(0, 200, (20, 30, 3), dtype=np.uint8)
    frames, _, _ = read_gif(write_video(tmp_path / "a.gif", [large[::2, ::-3], large[1::2, ::3]], fps=10))
    assert np.array_equal(frames[1], large[1::2, ::3])


def test_a_gif_holds_no_frames_but_the_last(tmp_path):
    """An hour of them needs no more memory than one."""
    writer = GifWriter(tmp_path / "a.gif", 10)
    sizes = []
    for shade in range(4):
        writer.append(np.full((300, 400, 3), shade, np.uint8))
        writer._file.flush()
        sizes.append((tmp_path / "a.gif").stat().st_size)
    writer.close()
    assert sizes == sorted(set(sizes)), "each is in the file before the next comes"


# --- mp4 ---


def test_an_mp4_has_the_frames_the_size_and_the_speed(tmp_path):
    wanted = list(episode(12))
    path = write_video(tmp_path / "new" / "a.mp4", wanted, fps=24)
    frames, said = read_mp4(path)
    assert frames.shape == (12, 60, 180, 3)
    assert " 24 fps" in said
    assert "yuv420p" in said, "what every browser plays"
    assert np.abs(frames.astype(int) - np.array(wanted)).mean() < 3


def test_odd_sides_get_one_more_pixel_and_nothing_is_stretched(tmp_path):
    frame = np.zeros((31, 45, 3), np.uint8)
    frame[:, 30:] = 255
    read, _ = read_mp4(write_video(tmp_path / "a.mp4", [frame] * 3, fps=10))
    assert read.shape == (3, 32, 46, 3)
    assert read[1, 10, 20, 0] < 30
    assert read[1, 10, 40, 0] > 225


# --- both ---


@pytest.mark.parametrize(
    ("file", "module", "package"), [("a.mp4", "imageio_ffmpeg", "imageio-ffmpeg"), ("a.gif", "PIL", "Pillow")]
)
def test_without_its_library_the_error_names_the_extra_and_no_file_is_left(
    file, module, package, monkeypatch, tmp_path
):
    load = builtins.__import__

    def missing(name, *arguments, **options):
        if name == module:
            raise ImportError(name)
        return load(name, *arguments, **options)

    frames = list(episode(1))
    monkeypatch.setattr(builtins, "__import__", missing)
    with says(
        MissingExtra,
        f'video: expected {package} to be installed, got no such package; pip install "ludus-rl[video]"',
    ):
        write_video(tmp_path / file, frames, fps=10)
    assert not (tmp_path / file).exists()


def test_frames_are_taken_one_at_a_time(tmp_path):
    alive = []

    def frames():
        for number in range(5):
            alive.append(video.count == number)
            yield np.full((4, 4, 3), number, np.uint8)

    with VideoWriter(tmp_path / "a.gif", fps=10) as video:
        for frame in frames():
            video.append(frame)
    assert alive == [True] * 5


@pytest.mark.parametrize("known", [True, False])
def test_progress_is_shown_on_standard_error(tmp_path, monkeypatch, known):
    said = io.StringIO()
    monkeypatch.setattr(sys, "stderr", said)
    frames = np.zeros((3, 4, 4, 3), np.uint8)
    write_video(tmp_path / "a.gif", frames if known else iter(frames), fps=10, progress=True)
    assert "Writing a.gif" in said.getvalue()


def test_gray_frames_are_welcome(tmp_path):
    frames, _, _ = read_gif(write_video(tmp_path / "a.gif", [np.full((4, 4), 9, np.uint8)], fps=10))
    assert (frames[0] == 9).all()


def test_a_frame_of_another_size_is_refused_by_its_number(tmp_path):
    with says(InvalidArgument, "frame 1: expected 6×4 pixels as in the frames before, got 4×6"):
        write_video(tmp_path / "a.gif", [np.zeros((4, 6, 3), np.uint8), np.zeros((6, 4, 3), np.uint8)])


def test_what_is_no_frame_is_refused_by_its_number(tmp_path):
    with says(InvalidArgument, "frame 0: expected uint8 pixels of shape (height, width, 3), got None"):
        write_video(tmp_path / "a.gif", [None])


@pytest.mark.parametrize("name", ["a.avi", "a", "gif"])
def test_only_mp4_and_gif_are_written(name):
    with says(InvalidArgument, f"video: expected a file name that ends in .mp4 or .gif, got {name!r}"):
        VideoWriter(name)


@pytest.mark.parametrize("name", ["a.gif", "a.mp4"])
def test_a_video_without_frames_is_refused_and_leaves_no_file(name, tmp_path):
    with says(InvalidArgument, f"video: expected at least one frame for {name}, got none"):
        write_video(tmp_path / name, [])
    assert not (tmp_path / name).exists()


def test_a_speed_must_be_possible():
    with says(InvalidArgument, "fps: expected a number above 0 and up to 1000, got 0"):
        VideoWriter("a.gif", fps=0)
