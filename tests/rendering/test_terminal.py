"""The terminal: decoded back, the characters are the picture."""

import re

import numpy as np
import pytest

from ludus.errors import InvalidArgument
from ludus.rendering import Canvas, frame_to_ansi, resize
from tests.core.wording import says


def decode(text):
    """What a terminal would show: a list of lines of (character, foreground, background)."""
    lines = []
    for line in text.split("\n"):
        front = back = None
        cells = []
        for code, character in re.findall(r"\x1b\[([\d;]*)m|(.)", line):
            if character:
                cells.append((character, front, back))
                continue
            numbers = [int(number) for number in code.split(";")]
            while numbers:
                kind = numbers.pop(0)
                if kind == 0:
                    front = back = None
                    continue
                count = 3 if numbers.pop(0) == 2 else 1
                color, numbers = tuple(numbers[:count]), numbers[count:]
                front, back = (color, back) if kind == 38 else (front, color)
        lines.append(cells)
        assert line.endswith("\x1b[0m")
    return lines


def pixels(text):
    """The colours of the half blocks, two rows to a line."""
    rows = []
    for line in decode(text):
        rows.append([back if character == " " else front for character, front, back in line])
        rows.append([back for _, _, back in line])
    return np.array(rows)


def scene():
    canvas = Canvas(64, 32, background="#102030")
    canvas.rectangle(8, 4, 24, 12, fill="red")
    canvas.circle(44, 16, 9, fill="yellow")
    return canvas


def letters(text):
    return [
        "".join(character if character != "▀" else " " for character, _, _ in line).rstrip() for line in decode(text)
    ]


def test_at_one_pixel_to_a_column_the_terminal_shows_the_frame():
    canvas = scene()
    assert np.array_equal(pixels(canvas.to_ansi(64, colors="truecolor")), canvas.to_rgb())


@pytest.mark.parametrize("columns", [1, 7, 20, 80])
def test_lines_have_the_asked_width_and_square_pixels(columns):
    lines = decode(scene().to_ansi(columns))
    assert {len(line) for line in lines} == {columns}
    assert len(lines) == max(1, (round(columns / 2) + 1) // 2)


def test_a_smaller_drawing_is_the_average_of_the_large_one():
    canvas = scene()
    small = pixels(canvas.to_ansi(16)).astype(int)
    assert np.abs(small - resize(canvas.to_rgb(), (16, 8)).astype(int)).max() <= 2


def test_an_odd_number_of_rows_repeats_the_last():
    frame = np.arange(3 * 4 * 3, dtype=np.uint8).reshape(3, 4, 3)
    shown = pixels(frame_to_ansi(frame, 4))
    assert np.array_equal(shown[:3], frame)
    assert np.array_equal(shown[3], frame[2])


def test_a_frame_is_averaged():
    frame = np.zeros((40, 40, 3), np.uint8)
    frame[:, ::2] = 200
    assert (pixels(frame_to_ansi(frame, 10)) == 100).all()


def test_colors_are_set_only_where_they_change():
    assert Canvas(10, 4, background="red").to_ansi(10).count("\x1b[48") == 2
    stripes = np.zeros((2, 10, 3), np.uint8)
    stripes[0] = 255
    assert frame_to_ansi(stripes, 10) == "\x1b[38;2;255;255;255;48;2;0;0;0m▀▀▀▀▀▀▀▀▀▀\x1b[0m"


# --- fewer colours ---


@pytest.mark.parametrize(
    ("color", "number"),
    [("#000000", 16), ("#ffffff", 231), ("#ff0000", 196), ("#808080", 244), ("#5f87af", 67), ("#0b0b0b", 232)],
)
def test_the_nearest_of_256_colors(color, number):
    assert Canvas(2, 2, background=color).to_ansi(2, colors="256") == f"\x1b[48;5;{number}m  \x1b[0m"


def test_without_colors_what_differs_from_the_background_is_dark():
    canvas = Canvas(16, 16, background="#ffffff")
    canvas.rectangle(4, 4, 8, 8, fill="black")
    assert canvas.to_ansi(8, colors="none") == "\n".join(["        ", "  @@@@  ", "  @@@@  ", "        "])


def test_text_is_readable_without_colors():
    canvas = Canvas(160, 32)
    canvas.text(80, 16, "hello", size=12, anchor="center")
    assert canvas.to_ansi(20, colors="none").split("\n") == [" " * 20, " " * 8 + "hello" + " " * 7]


@pytest.mark.parametrize(
    ("variables", "colored"),
    [
        ({}, True),
        ({"NO_COLOR": "1"}, False),
        ({"NO_COLOR": ""}, True),
        ({"TERM": "dumb"}, False),
        ({"TERM": "xterm"}, True),
    ],
)
def test_auto_respects_the_environment(variables, colored, monkeypatch):
    for name in ("NO_COLOR", "TERM"):
        monkeypatch.delenv(name, raising=False)
    for name, value in variables.items():
        monkeypatch.setenv(name, value)
    assert ("\x1b" in scene().to_ansi(10)) is colored
    assert "\x1b" in scene().to_ansi(10, colors="truecolor")


# --- text ---


def test_small_text_is_written_as_characters_in_its_color():
    canvas = Canvas(160, 32, background="white")
    canvas.text(0, 4, "score 12", size=16, color="#ff0000")
    assert letters(canvas.to_ansi(20))[0] == "score 12"
    assert decode(canvas.to_ansi(20))[0][0] == ("s", (255, 0, 0), (255, 255, 255))


@pytest.mark.parametrize(("anchor", "place"), [("left", 10), ("center", 8), ("right", 6)])
def test_written_text_keeps_its_anchor(anchor, place):
    canvas = Canvas(160, 32)
    canvas.text(80, 16, "abcd", size=12, anchor=anchor)
    assert letters(canvas.to_ansi(20))[1].index("abcd") == place


def test_lines_of_text_are_lines_of_characters():
    canvas = Canvas(80, 80)
    canvas.text(40, 40, "one\ntwo", size=16, anchor="center")
    found = [line.strip() for line in letters(canvas.to_ansi(10)) if line.strip()]
    assert found == ["one", "two"]


def test_what_is_painted_over_text_hides_it():
    canvas = Canvas(160, 32)
    canvas.text(0, 4, "hidden", size=12)
    canvas.rectangle(0, 0, 160, 32, fill="blue")
    canvas.text(0, 20, "seen", size=12)
    assert letters(canvas.to_ansi(20)) == ["", "seen"]


def test_large_and_turned_text_is_painted():
    large, turned, single = Canvas(160, 80), Canvas(160, 80), Canvas(160, 80)
    large.text(0, 0, "AB", size=80)
    single.text(0, 0, "♥", size=60)
    with turned.transform(translate=(80, 40), rotate=1.5):
        turned.text(0, 0, "turned", size=12, anchor="center")
    for canvas in (large, turned, single):
        assert "".join(letters(canvas.to_ansi(20))) == ""
        assert len(np.unique(pixels(canvas.to_ansi(20)))) > 3


def test_text_beyond_the_edge_and_control_characters_are_left_out():
    canvas = Canvas(40, 16)
    canvas.text(20, 4, "a\x07b\x1bcdefghij", size=12)
    canvas.text(0, 400, "below", size=12)
    assert letters(canvas.to_ansi(10)) == ["", "     a b c"]


# --- arguments ---


@pytest.mark.parametrize("columns", [0, -1, 2.5, "80", True, 10_001])
def test_columns_are_a_positive_number(columns):
    with says(InvalidArgument, f"columns: expected a whole number from 1 to 10000, got {columns!r}"):
        scene().to_ansi(columns)


def test_unknown_colors_are_refused():
    with says(InvalidArgument, "colors: expected one of auto, truecolor, 256, none, got '16'"):
        scene().to_ansi(10, colors="16")
