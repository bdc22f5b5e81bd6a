"""The font: every printable character, one look at every size, anchors that mean what they say."""

import string

import numpy as np
import pytest

from ludus.rendering import Canvas, text_width
from ludus.rendering.drawing import ANCHORS
from ludus.rendering.font import CAP_HEIGHT, LINE_HEIGHT, glyph
from ludus.rendering.glyphs import GLYPHS, MISSING

PRINTABLE = [character for character in string.printable if character.isprintable() and character != " "]


def box(canvas):
    """Left, top, right and bottom of what was drawn in black on white."""
    dark = canvas.to_rgb()[:, :, 0] < 128
    rows, columns = np.flatnonzero(dark.any(axis=1)), np.flatnonzero(dark.any(axis=0))
    return columns[0], rows[0], columns[-1] + 1, rows[-1] + 1


def picture(text, **options):
    canvas = Canvas(200, 120)
    canvas.text(100, 60, text, **options)
    return canvas


def has_a_glyph(character, bold):
    found = glyph(character, bold)
    if GLYPHS[character] == MISSING or not found.contours:
        return False
    low = min(contour[:, 0].min() for contour in found.contours)
    high = max(contour[:, 0].max() for contour in found.contours)
    return 0.0 < low < high < found.advance


@pytest.mark.parametrize("bold", [False, True])
def test_every_character_has_a_glyph_of_its_own(bold):
    assert [one for one in [*PRINTABLE, *"♠♥♦♣←↑→↓θπ"] if not has_a_glyph(one, bold)] == []


def test_all_glyphs_look_different():
    seen = {picture(character, size=40).to_rgb().tobytes() for character in PRINTABLE}
    assert len(seen) == len(PRINTABLE)


def test_an_unknown_character_is_a_box():
    assert np.array_equal(picture("日").to_rgb(), picture("語").to_rgb())


@pytest.mark.parametrize("bold", [False, True])
def test_digits_are_equally_wide(bold):
    assert len({text_width(digit, 10, bold=bold) for digit in string.digits}) == 1


def test_width_grows_with_size_and_the_widest_line_counts():
    assert text_width("abc", 20) == pytest.approx(2 * text_width("abc", 10))
    assert text_width("a\nabc\nab", 10) == text_width("abc", 10)
    assert text_width("abc", 10, bold=True) > text_width("abc", 10)
    assert text_width("a b", 10) > text_width("ab", 10)


def test_capitals_are_as_high_as_promised():
    left, top, right, bottom = box(picture("H", size=50, anchor="center"))
    assert bottom - top == pytest.approx(50 * CAP_HEIGHT, abs=1.5)
    assert (left + right) / 2 == pytest.approx(100, abs=1)
    assert (top + bottom) / 2 == pytest.approx(60, abs=1)


@pytest.mark.parametrize("anchor", ANCHORS)
def test_an_anchor_is_where_it_says(anchor):
    left, top, right, bottom = box(picture("HH", size=40, anchor=anchor))
    across, down = ANCHORS[anchor]
    assert left + across * (right - left) == pytest.approx(100, abs=4)
    assert top + down * (bottom - top) == pytest.approx(60, abs=1.5)


def test_lines_follow_each_other_and_keep_their_anchor():
    _, top, _, bottom = box(picture("HHH\nH", size=20, anchor="center"))
    assert bottom - top == pytest.approx(20 * (CAP_HEIGHT + LINE_HEIGHT), abs=1.5)
    assert (top + bottom) / 2 == pytest.approx(60, abs=1)
    frame = picture("HHH\nH", size=20, anchor="right").to_rgb()[:, :, 0]
    rows = np.flatnonzero((frame < 128).any(axis=1))
    ends = [np.flatnonzero(frame[row] < 128)[-1] for row in (rows[2], rows[-2])]
    assert ends[0] == ends[1]


def test_bold_is_darker():
    plain, bold = (255 - picture("Bold", size=20, bold=bold).to_rgb().astype(int) for bold in (False, True))
    assert bold.sum() > 1.2 * plain.sum()


@pytest.mark.parametrize("text", ["", " ", "\n"])
def test_empty_text_draws_nothing(text):
    assert (picture(text).to_rgb() == 255).all()


def test_long_text_is_drawn_like_short_text():
    short, long = Canvas(900, 20), Canvas(900, 20)
    short.text(0, 2, "x" * 60, size=12)
    long.text(0, 2, "x" * 60 + " " * 60, size=12)
    assert np.array_equal(short.to_rgb(), long.to_rgb())
