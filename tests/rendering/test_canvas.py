"""The canvas remembers what was drawn as plain values, and refuses with a message what cannot be drawn."""

import math

import imageio.v3 as imageio
import numpy as np
import pytest

from ludus.errors import InvalidArgument, InvalidType
from ludus.rendering import Canvas, to_png
from ludus.rendering.color import NAMES, RGBA, parse_color
from ludus.rendering.matrix import IDENTITY, Matrix
from tests.core.wording import says


@pytest.fixture
def canvas():
    return Canvas(40, 30)


def test_marks_are_values_that_can_be_compared_and_hashed(canvas):
    other = Canvas(40, 30)
    for one in (canvas, other):
        one.circle(np.float32(3), 4, 5, fill="red")
        one.polygon(np.array([[0, 0], [1, 0], [1, 1]]), stroke="#000")
        one.image(0, 0, np.zeros((2, 2, 3), np.uint8))
        one.text(1, 2, "hi")
    assert canvas == other
    assert {*canvas.marks} == {*other.marks}
    other.line(0, 0, 1, 1)
    assert canvas != other
    assert canvas != "a canvas"
    assert repr(other) == "<Canvas 40×30, 5 marks>"


def test_a_canvas_cannot_be_hashed_since_it_grows(canvas):
    with pytest.raises(TypeError):
        hash(canvas)


@pytest.mark.parametrize("size", [(0, 3), (3, -1), (3.5, 3), ("3", 3), (1 << 20, 3)])
def test_a_size_is_whole_and_positive(size):
    with pytest.raises(InvalidArgument, match=r"^Canvas (width|height): expected a whole number from 1 to 16384, got "):
        Canvas(*size)


# --- colours ---


@pytest.mark.parametrize(
    ("color", "channels"),
    [
        ((1, 2, 3), (1, 2, 3, 255)),
        ([1, 2, 3, 4], (1, 2, 3, 4)),
        (np.array([1, 2, 3], dtype=np.uint8), (1, 2, 3, 255)),
        ("#0a141e", (10, 20, 30, 255)),
        ("#0A141E80", (10, 20, 30, 128)),
        ("#fff", (255, 255, 255, 255)),
        ("#f008", (255, 0, 0, 136)),
        ("White", (255, 255, 255, 255)),
    ],
)
def test_colors_are_tuples_hex_or_names(color, channels):
    assert parse_color(color) == RGBA(*channels)


@pytest.mark.parametrize(
    "color", [(1, 2), (1, 2, 256), (-1, 0, 0), (0.5, 0, 0), "#12345", "#12 456", "mauve", "ffffff", None, 7]
)
def test_other_colors_are_refused(color):
    with pytest.raises(InvalidArgument) as caught:
        parse_color(color, "fill")
    assert str(caught.value) == (
        "fill: expected (r, g, b) or (r, g, b, a) with integers from 0 to 255, '#rrggbb', '#rrggbbaa' "
        f"or one of {', '.join(NAMES)}, got {color!r}"
    )


def test_every_name_is_a_color():
    assert all(parse_color(name).alpha == 255 for name in NAMES)


def test_a_background_is_opaque():
    with says(InvalidArgument, "background: expected an opaque color, got '#ffffff80'; leave alpha out"):
        Canvas(3, 3, background="#ffffff80")


# --- what cannot be drawn ---


@pytest.mark.parametrize("wrong", [math.nan, math.inf, 2e9, "3", None, [1, 2]])
def test_coordinates_are_finite_numbers(canvas, wrong):
    with pytest.raises(InvalidArgument, match=r"^circle x: expected a finite number, at most 1e\+09 in size, got "):
        canvas.circle(wrong, 0, 1, fill="red")
    assert canvas.marks == []


CALLS = {
    "circle radius: expected a number of at least 0, got -1": lambda c: c.circle(0, 0, -1, fill="red"),
    "line width: expected a number of at least 0, got -2": lambda c: c.line(0, 0, 1, 1, width=-2),
    "line cap: expected one of 'butt', 'round', 'square', got 'flat'": lambda c: c.line(0, 0, 1, 1, cap="flat"),
    "polyline join: expected one of 'miter', 'round', got 'x'": lambda c: c.polyline([(0, 0), (1, 1)], join="x"),
    "polygon rule: expected one of 'nonzero', 'evenodd', got 'odd'": (
        lambda c: c.polygon([(0, 0), (1, 1), (1, 0)], fill="red", rule="odd")
    ),
    "circle: expected a fill or a stroke color, got neither": lambda c: c.circle(0, 0, 1),
    "polyline: expected at least 2 points (x, y), got [(0, 0)]": lambda c: c.polyline([(0, 0)]),
    "polygon: expected at least 3 points (x, y), got [(0, 0), (1, 1)]": (
        lambda c: c.polygon([(0, 0), (1, 1)], fill="red")
    ),
    "polygon: expected at least 3 points (x, y), got [(0, 0, 0)]": lambda c: c.polygon([(0, 0, 0)], fill="red"),
    "polyline: expected at least 2 points (x, y), got 'abc'": lambda c: c.polyline("abc"),
    "polyline: expected finite numbers, got [1.0, nan] as point 1": lambda c: c.polyline([(0, 0), (1, math.nan)]),
    "translate: expected two numbers (x, y), got 3": lambda c: c.transform(translate=3).__enter__(),
    "scale: expected factors other than 0, got (1, 0); draw nothing instead": (
        lambda c: c.transform(scale=(1, 0)).__enter__()
    ),
    "text anchor: expected one of 'top left', 'top', 'top right', 'left', 'center', 'right', 'bottom left', 'bottom', "
    "'bottom right', got 'middle'": lambda c: c.text(0, 0, "x", anchor="middle"),
    "image: expected uint8 pixels of shape (height, width, 3 or 4), got float64 of shape (2, 2)": (
        lambda c: c.image(0, 0, np.zeros((2, 2)))
    ),
    "save: expected a file name that ends in .png or .svg, got 'x.bmp'": lambda c: c.save("x.bmp"),
}  # fmt: skip


@pytest.mark.parametrize("message", CALLS)
def test_what_cannot_be_drawn_is_refused_with_a_message(canvas, message):
    with says(InvalidArgument, message):
        CALLS[message](canvas)
    assert canvas.marks == []


def test_text_is_a_string(canvas):
    with says(InvalidType, "text: expected a string, got 7; use str() or an f-string"):
        canvas.text(0, 0, 7)


# --- matrices ---


def test_a_matrix_and_its_inverse_undo_each_other():
    matrix = Matrix.of(translate=(3, -4), rotate=0.3, scale=(2, -5))
    x, y = matrix.inverse().map(*matrix.map(1.5, 2.5))
    assert (x, y) == pytest.approx((1.5, 2.5))
    assert matrix.determinant == pytest.approx(-10)
    assert matrix.after(IDENTITY) == matrix


def test_points_are_mapped_as_single_ones_are():
    matrix = Matrix.of(translate=(3, -4), rotate=0.3, scale=(2, 5))
    assert matrix.map_points(np.array([[1.5, 2.5]]))[0] == pytest.approx(matrix.map(1.5, 2.5))


# --- files ---


def test_a_saved_png_is_the_picture(canvas, tmp_path):
    canvas.circle(20, 15, 10, fill="teal")
    canvas.save(tmp_path / "a.png", scale=2)
    assert np.array_equal(imageio.imread(tmp_path / "a.png"), canvas.to_rgb(scale=2))


def test_a_saved_svg_is_the_document(canvas, tmp_path):
    canvas.text(5, 5, "größe")
    canvas.save(tmp_path / "a.svg")
    assert (tmp_path / "a.svg").read_text(encoding="utf8") == canvas.to_svg()


@pytest.mark.parametrize("shape", [(5, 7), (5, 7, 3), (5, 7, 4)])
def test_png_files_keep_gray_rgb_and_alpha(shape):
    pixels = np.arange(np.prod(shape), dtype=np.uint8).reshape(shape)
    read = imageio.imread(to_png(pixels), extension=".png")
    assert np.array_equal(read, pixels if len(shape) == 3 else np.repeat(pixels[:, :, None], 3, axis=2))


def test_a_notebook_shows_the_svg(canvas):
    assert canvas._repr_svg_() == canvas._repr_html_() == canvas.to_svg()
    assert canvas.to_svg()._repr_svg_() == canvas.to_svg()._repr_html_() == canvas.to_svg()
