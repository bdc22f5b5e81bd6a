"""Lines as shapes: their areas are what geometry says, whatever the corners."""

import math

import numpy as np
import pytest

from ludus.rendering.coverage import coverage
from ludus.rendering.outline import join_contours
from ludus.rendering.stroke import arc_steps, stroke


def inked(points, width, **options):
    """The area that a line covers, by its pixels."""
    contours = stroke(np.array(points, dtype=float), width, **{"closed": False, "resolution": 8.0, **options})
    outline = join_contours(contours)
    return coverage(outline.points, outline.following, (60, 60)).sum()


@pytest.mark.parametrize(("cap", "extra"), [("butt", 0.0), ("square", 4.0 * 4.0), ("round", math.pi * 2.0**2)])
def test_a_straight_line_covers_length_times_width_and_its_caps(cap, extra):
    assert inked([(10, 20), (40, 20)], 4.0, cap=cap) == pytest.approx(30 * 4.0 + extra, rel=2e-3)
    assert inked([(10, 10), (10 + 24, 10 + 18)], 4.0, cap=cap) == pytest.approx(30 * 4.0 + extra, rel=2e-3)


@pytest.mark.parametrize("way", [1, -1])
def test_a_mitered_right_angle_is_two_bars_and_a_corner(way):
    corner = [(10, 30), (40, 30), (40, 30 + way * 20)]
    assert inked(corner, 6.0, join="miter") == pytest.approx(30 * 6 + 20 * 6, rel=1e-9)


@pytest.mark.parametrize("way", [1, -1])
def test_a_round_corner_lacks_what_a_quarter_disc_leaves_of_a_square(way):
    corner = [(10, 30), (40, 30), (40, 30 + way * 20)]
    lacking = 3.0**2 - math.pi * 3.0**2 / 4
    assert inked(corner, 6.0, join="round") == pytest.approx(300 - lacking, rel=1e-3)


def test_a_corner_too_sharp_for_a_point_is_cut():
    spike = [(10, 10), (50, 11), (10, 12)]
    # The point would reach forty widths far; cut, the line stays within half a width of its points.
    assert inked(spike, 2.0, join="miter") < 200.0


def test_a_square_frame_is_outer_square_minus_inner_square():
    square = [(10, 10), (40, 10), (40, 40), (10, 40)]
    for points in (square, square[::-1], [*square, square[0]]):
        assert inked(points, 4.0, closed=True) == pytest.approx(34**2 - 26**2, rel=1e-9)


def test_a_line_thicker_than_its_polygon_fills_it():
    triangle = [(20, 20), (30, 20), (25, 28)]
    contours = stroke(np.array(triangle, dtype=float), 14.0, closed=True, join="round")
    outline = join_contours(contours)
    assert coverage(outline.points, outline.following, (60, 60))[22, 25] == pytest.approx(1.0)


def test_a_line_that_turns_back_on_itself_is_covered_once():
    assert inked([(10, 20), (40, 20), (20, 20)], 4.0, join="miter") == pytest.approx(120.0, rel=1e-6)
    assert inked([(10, 20), (40, 20), (20, 20)], 4.0, join="round") == pytest.approx(120 + math.pi * 2, rel=2e-3)


def test_repeated_points_are_one_point():
    assert inked([(10, 20), (10, 20), (40, 20), (40, 20)], 4.0) == pytest.approx(120.0)


@pytest.mark.parametrize(("cap", "area"), [("butt", 0.0), ("square", 16.0), ("round", math.pi * 4.0)])
def test_a_line_without_length_is_its_caps(cap, area):
    assert inked([(20, 20), (20, 20)], 4.0, cap=cap) == pytest.approx(area, rel=1e-2)


def test_two_points_closed_are_a_line():
    assert inked([(10, 20), (40, 20)], 4.0, closed=True) == pytest.approx(120.0)


def test_tight_zigzags_have_no_holes():
    zigzag = [(10 + 2 * step, 20 + 6 * (step % 2)) for step in range(15)]
    contours = stroke(np.array(zigzag, dtype=float), 8.0, closed=False, join="round")
    outline = join_contours(contours)
    assert np.allclose(coverage(outline.points, outline.following, (60, 60))[20:26, 12:36], 1.0)


def test_arcs_get_more_steps_the_larger_they_are():
    steps = [arc_steps(radius, math.tau, 1.0) for radius in (0.001, 1, 10, 100)]
    assert steps == sorted(steps)
    assert steps[0] >= 1
    assert steps[-1] < 200
