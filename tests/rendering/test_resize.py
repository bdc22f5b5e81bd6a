"""Resizing: averages where it shrinks, straight lines where it grows."""

import numpy as np
import pytest

from ludus.errors import InvalidArgument
from ludus.rendering import grid, resize
from ludus.rendering.frame import as_frame
from tests.core.wording import says


def random(shape, dtype=np.uint8):
    return (np.random.default_rng(0).random(shape) * 255).astype(dtype)


@pytest.mark.parametrize("factor", [2, 3, 5])
@pytest.mark.parametrize("shape", [(30, 60), (30, 60, 3), (4, 30, 60, 3)])
def test_shrinking_by_a_whole_factor_averages_blocks(shape, factor):
    frame = random(shape)
    rows = len(shape) == 4
    height, width = shape[1:3] if rows else shape[:2]
    blocks = frame.reshape(*shape[:rows], height // factor, factor, width // factor, factor, *shape[2 + rows :])
    wanted = blocks.mean(axis=(1 + rows, 3 + rows))
    got = resize(frame, (width // factor, height // factor))
    assert got.dtype == np.uint8
    assert np.abs(got - wanted).max() <= 0.5 + 1e-3


def test_shrinking_by_a_part_weighs_the_parts():
    row = np.array([[0, 100, 200]], dtype=np.uint8)
    assert resize(row, (2, 1)).tolist() == [[33, 167]]


@pytest.mark.parametrize("size", [(84, 84), (7, 3), (1, 1), (100, 37)])
def test_the_mean_survives_shrinking(size):
    frame = random((210, 160, 3))
    assert resize(frame, size).mean() == pytest.approx(frame.mean(), abs=0.6)


def test_growing_interpolates_between_pixel_centers():
    row = np.array([[0, 100]], dtype=np.uint8)
    assert resize(row, (4, 1)).tolist() == [[0, 25, 75, 100]]
    assert resize(row.T, (1, 4)).tolist() == [[0], [25], [75], [100]]


def test_one_axis_may_grow_while_the_other_shrinks():
    assert resize(random((10, 40, 3)), (20, 30)).shape == (30, 20, 3)


@pytest.mark.parametrize("value", [0, 1, 127, 254, 255])
@pytest.mark.parametrize("size", [(3, 3), (13, 29), (7, 50)])
def test_a_flat_image_stays_flat(value, size):
    assert (resize(np.full((17, 23, 3), value, np.uint8), size) == value).all()


def test_the_answer_is_always_a_new_array():
    frame = random((5, 5))
    same = resize(frame, (5, 5))
    assert np.array_equal(same, frame)
    assert not np.shares_memory(same, frame)


@pytest.mark.parametrize("dtype", [np.float32, np.float64, np.uint16])
def test_other_numbers_keep_their_dtype(dtype):
    frame = random((8, 8), dtype)
    assert resize(frame, (4, 4)).dtype == dtype
    assert resize(frame, (4, 4))[0, 0] == pytest.approx(frame[:2, :2].mean(), abs=0.5)


@pytest.mark.parametrize("size", [(0, 4), (4, -1), (4,), 4, (2.5, 3), None])
def test_a_size_is_two_whole_numbers(size):
    with says(InvalidArgument, f"size: expected (width, height) in whole pixels, at least 1 each, got {size!r}"):
        resize(random((5, 5)), size)


@pytest.mark.parametrize("frame", [np.zeros(5, np.uint8), np.zeros((0, 4), np.uint8), np.zeros((4, 4), bool)])
def test_only_images_are_resized(frame):
    with says(
        InvalidArgument,
        "resize: expected an image (height, width[, channels]) or a batch (n, height, width, channels) of bytes or "
        f"floats, got {frame.dtype} of shape {frame.shape}",
    ):
        resize(frame, (2, 2))


# --- frames ---


def test_gray_becomes_rgb_and_alpha_is_dropped():
    assert as_frame(random((4, 5))).shape == as_frame(random((4, 5, 1))).shape == as_frame(random((4, 5, 4))).shape
    assert (as_frame(random((4, 5)))[:, :, 2] == random((4, 5))).all()


@pytest.mark.parametrize(
    ("value", "message"),
    [
        (
            np.zeros((2, 2, 3)),
            "frame: expected uint8 pixels of shape (height, width, 3), got float64 of shape (2, 2, 3)",
        ),
        (np.zeros((2, 2, 2), np.uint8), "frame: expected 1, 3 or 4 channels in the last axis, got shape (2, 2, 2)"),
        (None, "frame: expected uint8 pixels of shape (height, width, 3), got None"),
        ("text", "frame: expected uint8 pixels of shape (height, width, 3), got 'text'"),
    ],
)
def test_what_is_no_frame_is_refused(value, message):
    with says(InvalidArgument, message):
        as_frame(value)


# --- grids ---


def test_a_grid_shows_every_frame_in_reading_order():
    frames = [np.full((4, 6, 3), shade, np.uint8) for shade in range(5)]
    sheet = grid(frames, columns=2, gap=1, background="white")
    assert sheet.shape == (3 * 4 + 2, 2 * 6 + 1, 3)
    tiles = [sheet[5 * row : 5 * row + 4, 7 * column : 7 * column + 6] for row in range(3) for column in range(2)]
    assert [np.unique(tile).tolist() for tile in tiles] == [[0], [1], [2], [3], [4], [255]]
    assert (sheet[:, 6] == 255).all()


@pytest.mark.parametrize(("count", "shape"), [(1, (4, 6)), (4, (9, 13)), (6, (14, 13))])
def test_without_columns_a_grid_is_about_square(count, shape):
    assert grid(np.zeros((count, 4, 6, 3), np.uint8), gap=1).shape[:2] == shape


def test_a_grid_has_no_more_columns_than_frames():
    assert grid(np.zeros((2, 4, 6, 3), np.uint8), columns=9, gap=0).shape == (4, 12, 3)


def test_frames_of_different_size_are_refused():
    with says(InvalidArgument, "grid: expected frames of one size, 6×4, got 4×6 as frame 1"):
        grid([np.zeros((4, 6, 3), np.uint8), np.zeros((6, 4, 3), np.uint8)])


def test_a_grid_of_nothing_is_refused():
    with says(InvalidArgument, "grid: expected at least one frame, got none"):
        grid([])


@pytest.mark.parametrize("columns", [0, True, 1.5])
def test_columns_of_a_grid_are_a_positive_number(columns):
    with says(InvalidArgument, f"columns: expected a whole number of at least 1, got {columns!r}"):
        grid(np.zeros((2, 4, 6, 3), np.uint8), columns=columns)
