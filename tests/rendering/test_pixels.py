"""Pixels: right in the middle, half at the edges, the same bytes every time."""

import math
import subprocess
import sys
from itertools import product

import numpy as np
import pytest

from ludus.errors import InvalidArgument
from ludus.rendering import Canvas, to_pixels
from ludus.rendering.color import RGBA
from tests.core.wording import says

WHITE, BLACK = [255, 255, 255], [0, 0, 0]


def ink(canvas, **options):
    """How much of a white canvas was painted black, in pixels."""
    return (255.0 - canvas.to_rgb(**options)[:, :, 0]).sum() / 255.0


def scene():
    """A bit of everything."""
    canvas = Canvas(120, 80, background="#eef2f7")
    canvas.rectangle(5.25, 5.5, 30, 20, fill="red", stroke="black", stroke_width=2, radius=4)
    canvas.circle(60, 30, 14.3, fill=(0, 0, 255, 100), stroke="navy")
    canvas.polyline(np.stack((np.arange(0, 120, 3), 60 + 8 * np.sin(np.arange(40))), axis=1), color="green", width=3)
    with canvas.transform(translate=(90, 30), rotate=0.7, scale=1.5):
        canvas.text(0, 0, "Ag7", size=14, anchor="center", bold=True)
        canvas.image(-8, 4, np.arange(48, dtype=np.uint8).reshape(4, 4, 3) * 5, width=12)
    return canvas


def test_a_blank_canvas_is_its_background():
    assert np.array_equal(Canvas(3, 2, background="#102030").to_rgb(), np.full((2, 3, 3), (16, 32, 48), np.uint8))


def test_the_frame_is_new_each_time_and_the_callers():
    canvas = scene()
    first = canvas.to_rgb()
    first[:] = 0
    assert canvas.to_rgb().any()


@pytest.mark.parametrize("scale", [1, 2, 0.5, np.float32(3.0)])
def test_a_scale_multiplies_size_and_area(scale):
    canvas = Canvas(40, 20)
    canvas.circle(20, 10, 8, fill="black")
    assert canvas.to_rgb(scale=scale).shape == (round(20 * scale), round(40 * scale), 3)
    assert ink(canvas, scale=scale) == pytest.approx(math.pi * 64 * scale**2, rel=5e-3)


@pytest.mark.parametrize("scale", [0, -1, "2", True, float("nan"), 1e9])
def test_a_scale_is_a_number_above_zero(scale):
    with says(InvalidArgument, f"scale: expected a number above 0, got {scale!r}"):
        to_pixels(Canvas(2, 2), scale)


# --- shapes ---


def test_a_rectangle_between_pixels_covers_parts_of_them():
    canvas = Canvas(4, 4)
    canvas.rectangle(0.5, 1, 2, 2.25, fill="black")
    shades = 255 - canvas.to_rgb()[:, :, 0].astype(int)
    assert shades.tolist() == [[0, 0, 0, 0], [128, 255, 128, 0], [128, 255, 128, 0], [32, 64, 32, 0]]


def test_a_rectangle_within_one_pixel_keeps_its_area():
    canvas = Canvas(3, 3)
    canvas.rectangle(1.25, 1.25, 0.5, 0.5, fill="black")
    assert 255 - int(canvas.to_rgb()[1, 1, 0]) == 64
    assert ink(canvas) == pytest.approx(0.25, abs=2e-3)


@pytest.mark.parametrize("box", [(-9, -9, 5, 5), (50, 0, 5, 5), (0, 50, 5, 5), (2, 2, 0, 5)])
def test_a_rectangle_outside_or_without_size_paints_nothing(box):
    canvas = Canvas(20, 20)
    canvas.rectangle(*box, fill="black")
    canvas.rectangle(*box, fill="black", radius=2)
    assert ink(canvas) == 0.0


@pytest.mark.parametrize("radius", [0.4, 3.0, 10.0, 18.7])
def test_a_disc_has_its_area(radius):
    canvas = Canvas(40, 40)
    canvas.circle(20.3, 19.8, radius, fill="black")
    assert ink(canvas) == pytest.approx(math.pi * radius**2, rel=3e-3)


def test_a_ring_an_ellipse_and_a_rounded_rectangle_have_their_areas():
    ring, ellipse, rounded = Canvas(40, 40), Canvas(40, 40), Canvas(40, 40)
    ring.circle(20, 20, 12, stroke="black", stroke_width=4)
    ellipse.ellipse(20, 20, 15, 7, fill="black")
    rounded.rectangle(4, 8, 30, 20, radius=6, fill="black")
    assert ink(ring) == pytest.approx(math.pi * (14**2 - 10**2), rel=2e-3)
    assert ink(ellipse) == pytest.approx(math.pi * 15 * 7, rel=2e-3)
    assert ink(rounded) == pytest.approx(600 - (4 - math.pi) * 36, rel=2e-3)


def test_a_ring_wider_than_its_circle_is_a_disc():
    canvas = Canvas(40, 40)
    canvas.circle(20, 20, 3, stroke="black", stroke_width=10)
    assert ink(canvas) == pytest.approx(math.pi * 64, rel=2e-3)


def test_a_stroked_ellipse_is_drawn_around_its_edge():
    canvas = Canvas(60, 40)
    canvas.ellipse(30, 20, 24, 12, stroke="black", stroke_width=3)
    frame = canvas.to_rgb()[:, :, 0]
    assert frame[20, 30] == 255
    assert frame[20, 6] < 20
    assert frame[8, 30] < 20


def test_a_radius_larger_than_the_rectangle_makes_a_disc():
    canvas = Canvas(40, 40)
    canvas.rectangle(10, 10, 20, 20, radius=99, fill="black")
    assert ink(canvas) == pytest.approx(math.pi * 100, rel=5e-3)


@pytest.mark.parametrize("flip", [np.fliplr, np.flipud, np.transpose])
def test_symmetric_shapes_have_symmetric_pixels(flip):
    canvas = Canvas(40, 40)
    canvas.circle(20, 20, 13.37, fill="blue", stroke="black", stroke_width=2.5)
    canvas.rectangle(14, 14, 12, 12, fill="red", radius=3)
    frame = canvas.to_rgb()[:, :, 2]
    assert np.array_equal(frame, flip(frame))


@pytest.mark.parametrize("ends", [(5, 10, 35, 10), (35, 10, 5, 10), (10, 5, 10, 35), (10, 35, 10, 5)])
def test_straight_lines_are_as_wide_as_they_should_be(ends):
    canvas = Canvas(40, 40)
    canvas.line(*ends, width=3)
    assert ink(canvas) == pytest.approx(90.0, rel=5e-3)


def test_a_line_of_no_length_with_plain_ends_is_nothing():
    canvas = Canvas(20, 20)
    canvas.line(10, 10, 10, 10, width=4)
    assert ink(canvas) == 0.0


def test_an_arc_is_its_part_of_the_ring():
    canvas = Canvas(60, 60)
    canvas.arc(30, 30, 20, 0, math.pi / 2, width=4)
    assert ink(canvas) == pytest.approx(math.pi / 4 * (22**2 - 18**2), rel=5e-3)
    frame = canvas.to_rgb()[:, :, 0]
    assert frame[44, 44] == 0, "zero points right and the angle grows downwards"
    assert frame[15, 15] == 255


def test_the_far_end_of_the_world_does_not_trouble_a_picture():
    canvas = Canvas(40, 40)
    canvas.polygon([(-1e8, 20), (1e8, 20), (1e8, 1e8), (-1e8, 1e8)], fill="black")
    canvas.line(-1e9, 5, 1e9, 5, width=2)
    canvas.line(-1e9, 5e8, 3, -5e8, width=2)
    assert ink(canvas) == pytest.approx(20 * 40 + 80, rel=0.05)


# --- transforms ---


def test_transforms_scale_then_turn_then_move_and_nest():
    canvas = Canvas(60, 60)
    with canvas.transform(translate=(30, 30)), canvas.transform(rotate=math.pi / 2, scale=(2, 1)):
        canvas.rectangle(0, 0, 10, 4, fill="black")
    frame = canvas.to_rgb()[:, :, 0]
    assert frame[32:48, 27:29].max() == 0, "x along the turned axis: twice as long, downwards"
    assert ink(canvas) == pytest.approx(80.0, rel=1e-3)


def test_after_an_error_in_the_block_the_old_coordinates_are_back():
    canvas = Canvas(20, 20)
    with pytest.raises(ZeroDivisionError), canvas.transform(translate=(100, 100)):
        raise ZeroDivisionError
    canvas.rectangle(0, 0, 5, 5, fill="black")
    assert ink(canvas) == 25.0


def test_mirrored_drawings_are_mirrored_pictures():
    plain, mirrored = Canvas(40, 40), Canvas(40, 40)
    for canvas, scale in ((plain, 1.0), (mirrored, (-1.0, 1.0))):
        with canvas.transform(translate=(20, 20), scale=scale):
            canvas.polygon([(2, 3), (12, 5), (4, 15)], fill="black")
            canvas.rectangle(-15, -12, 10, 6, fill="black")
    assert np.array_equal(np.fliplr(plain.to_rgb()), mirrored.to_rgb())


# --- colours ---


@pytest.mark.parametrize("alpha", [0, 1, 100, 254, 255])
def test_translucent_colors_mix_to_the_nearest_byte(alpha):
    canvas = Canvas(40, 40, background=(200, 100, 50))
    canvas.rectangle(0, 0, 10, 40, fill=(10, 20, 30, alpha))
    canvas.polygon([(20, 0), (40, 0), (40, 40), (20, 40), (19, 20)], fill=(10, 20, 30, alpha))
    mixed = [
        round((new * alpha + old * (255 - alpha)) / 255) for new, old in zip((10, 20, 30), (200, 100, 50), strict=True)
    ]
    frame = canvas.to_rgb()
    assert frame[20, 5].tolist() == mixed
    assert frame[20, 30].tolist() == mixed


def test_every_mixture_of_bytes_is_rounded_to_the_nearest():
    canvas = Canvas(256, 2, background="black")
    for alpha in range(256):
        canvas.rectangle(alpha, 0, 1, 2, fill=(251, 127, 3, alpha))
    wanted = [[(channel * alpha * 2 + 255) // 510 for channel in (251, 127, 3)] for alpha in range(256)]
    assert canvas.to_rgb()[0].tolist() == wanted


def test_later_marks_cover_earlier_ones():
    canvas = Canvas(10, 10)
    canvas.rectangle(0, 0, 10, 10, fill="red")
    canvas.rectangle(0, 0, 10, 10, fill="blue")
    assert canvas.to_rgb()[5, 5].tolist() == [25, 113, 194]


# --- images ---

CHECKS = np.array([[[255, 0, 0], [0, 255, 0]], [[0, 0, 255], [255, 255, 0]]], dtype=np.uint8)


def test_an_image_at_its_own_size_is_copied():
    canvas = Canvas(6, 6)
    canvas.image(2, 3, CHECKS)
    assert np.array_equal(canvas.to_rgb()[3:5, 2:4], CHECKS)
    assert canvas.to_rgb()[0, 0].tolist() == WHITE


def test_an_image_is_copied_when_it_is_drawn():
    pixels = CHECKS.copy()
    canvas = Canvas(6, 6)
    canvas.image(0, 0, pixels)
    pixels[:] = 0
    assert canvas.to_rgb()[0, 0].tolist() == [255, 0, 0]


@pytest.mark.parametrize(
    ("size", "shape"), [({"width": 8}, (8, 8)), ({"height": 4}, (4, 4)), ({"width": 8, "height": 2}, (2, 8))]
)
def test_the_missing_side_of_an_image_follows(size, shape):
    canvas = Canvas(12, 12)
    canvas.image(0, 0, np.zeros((2, 2, 3), np.uint8), **size)
    assert ink(canvas) == shape[0] * shape[1]


def test_pixel_art_stays_sharp_on_request():
    canvas = Canvas(8, 8)
    canvas.image(0, 0, CHECKS, width=8, smooth=False)
    assert np.array_equal(canvas.to_rgb(), CHECKS.repeat(4, axis=0).repeat(4, axis=1))
    smooth = Canvas(8, 8)
    smooth.image(0, 0, CHECKS, width=8)
    assert len(np.unique(smooth.to_rgb().reshape(-1, 3), axis=0)) > 4


def test_alpha_of_an_image_lets_the_ground_through():
    sprite = np.zeros((2, 2, 4), dtype=np.uint8)
    sprite[0, 0] = (255, 0, 0, 255)
    sprite[0, 1] = (255, 0, 0, 128)
    canvas = Canvas(4, 4)
    canvas.image(1, 1, sprite)
    frame = canvas.to_rgb()
    assert frame[1, 1].tolist() == [255, 0, 0]
    assert frame[1, 2].tolist() == [255, 127, 127]
    assert frame[2, 2].tolist() == WHITE


def test_shrinking_an_image_averages_it_and_transparent_pixels_lend_no_color():
    sprite = np.zeros((4, 4, 4), dtype=np.uint8)
    sprite[:, :2] = (200, 0, 0, 255)
    sprite[:, 2:, :3] = (0, 255, 0)
    canvas = Canvas(4, 4, background="black")
    canvas.image(0, 0, sprite, width=1)
    assert canvas.to_rgb()[0, 0].tolist() == [100, 0, 0]


def test_a_turned_image_has_its_area_and_smooth_edges():
    canvas = Canvas(60, 60)
    with canvas.transform(translate=(30, 30), rotate=0.5):
        canvas.image(-15, -10, np.zeros((4, 6, 3), np.uint8), width=30)
    assert ink(canvas) == pytest.approx(600.0, rel=2e-3)
    assert len(np.unique(canvas.to_rgb()[:, :, 0])) > 10


@pytest.mark.parametrize("smooth", [True, False])
def test_an_image_between_pixels_keeps_its_area(smooth):
    canvas = Canvas(20, 20)
    canvas.image(3.3, 4.6, np.zeros((5, 5, 3), np.uint8), width=7.5, smooth=smooth)
    assert ink(canvas) == pytest.approx(7.5**2, rel=3e-3)


@pytest.mark.parametrize("place", [(-3, -3), (17, 17), (-50, 0), (50, 0)])
def test_an_image_is_cut_at_the_edge(place):
    canvas = Canvas(20, 20)
    canvas.image(*place, np.zeros((6, 6, 3), np.uint8))
    inside = [max(0, min(20, at + 6) - max(0, at)) for at in place]
    assert ink(canvas) == inside[0] * inside[1]


def test_an_image_without_size_paints_nothing():
    canvas = Canvas(20, 20)
    canvas.image(3, 3, CHECKS, width=0)
    assert ink(canvas) == 0.0


def test_a_large_image_and_a_large_picture_are_drawn_like_small_ones():
    noise = np.random.default_rng(0).integers(0, 256, (200, 200, 3), dtype=np.uint8)
    canvas = Canvas(200, 200)
    canvas.image(0, 0, noise)
    assert np.array_equal(canvas.to_rgb(), noise)
    disc = Canvas(200, 200)
    disc.circle(100, 100, 90, fill="black")
    assert ink(disc, scale=6) == pytest.approx(36 * math.pi * 90**2, rel=1e-4)


# --- the same every time, and fast ---


def test_the_same_drawing_gives_the_same_bytes_with_cold_and_warm_caches_and_in_another_process():
    first = scene().to_rgb()
    assert np.array_equal(scene().to_rgb(), first)
    program = (
        "import hashlib; from tests.rendering.test_pixels import scene; "
        "print(hashlib.sha256(scene().to_rgb().tobytes()).hexdigest())"
    )
    runs = {
        subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True).stdout for _ in "ab"
    }
    assert len(runs) == 1


def test_moving_by_a_whole_pixel_moves_the_pixels_and_nothing_else():
    frames = []
    for shift in (0, 1):
        canvas = Canvas(60, 40)
        with canvas.transform(translate=(20.3 + shift, 15.7), rotate=0.3):
            canvas.polygon([(-9, -4), (11, -6), (5, 13)], fill="black", stroke="red", stroke_width=1.5)
            canvas.text(0, 0, "x1", size=12)
        frames.append(canvas.to_rgb())
    assert np.array_equal(frames[0][:, :-1], frames[1][:, 1:])


def cart(x):
    canvas = Canvas(600, 400, background="#f8f9fa")
    canvas.rectangle(0, 300, 600, 100, fill="#e9ecef")
    canvas.line(0, 300, 600, 300, color="#adb5bd", width=2)
    with canvas.transform(translate=(300 + x, 280)):
        canvas.rectangle(-36, -16, 72, 32, radius=6, fill="#343a40")
        with canvas.transform(rotate=x / 100):
            canvas.rectangle(-5, -125, 10, 132, radius=5, fill="#e8590c")
        canvas.circle(0, 0, 6, fill="#ffd8a8", stroke="#343a40")
    return canvas


def lake():
    canvas = Canvas(512, 512, background="#343a40")
    for row, column in product(range(8), range(8)):
        canvas.rectangle(64 * column + 1, 64 * row + 1, 62, 62, radius=6, fill="#d0ebff")
        canvas.text(64 * column + 32, 64 * row + 32, f"{row}.{column}5", size=15, anchor="center")
    return canvas


def calls_of(work):
    """How many functions it calls, Python's and NumPy's: the same number on every machine, however busy."""
    count = 0

    def called(frame, event, argument):
        nonlocal count
        count += event in ("call", "c_call")

    before = sys.getprofile()
    sys.setprofile(called)
    try:
        work()
    finally:
        sys.setprofile(before)
    return count


@pytest.mark.parametrize(("draw", "limit"), [(cart, 1_000), (lambda _: lake(), 10_000)], ids=["cart", "lake"])
def test_a_picture_takes_few_calls_and_none_for_each_pixel(draw, limit):
    """How long that takes is benchmarks/pictures.py's to say."""
    draw(0.0).to_rgb()  # glyphs are kept
    assert calls_of(draw(1 / 7).to_rgb) <= limit


def test_channels_have_names():
    assert RGBA(1, 2, 3).alpha == 255
