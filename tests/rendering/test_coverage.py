"""Coverage is exact: sums are areas, a half-covered pixel is a half, and nothing depends on where the window is."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from ludus.rendering.coverage import coverage
from ludus.rendering.outline import join_contours

numbers = st.floats(1.0, 29.0)


def covered(*contours, size=(30, 30), **options):
    outline = join_contours([np.array(contour, dtype=float) for contour in contours])
    return coverage(outline.points, outline.following, size, **options)


def area(points):
    x, y = np.array(points).T
    return abs(np.dot(x, np.roll(y, -1)) - np.dot(y, np.roll(x, -1))) / 2


def polygon(sides, radius=9.0, center=(15.0, 15.0), turn=0.1):
    angles = turn + 2 * np.pi * np.arange(sides) / sides
    return [(center[0] + radius * np.cos(angle), center[1] + radius * np.sin(angle)) for angle in angles]


@given(st.tuples(numbers, numbers, numbers, numbers, numbers, numbers))
def test_the_sum_over_a_triangle_is_its_area(corners):
    triangle = np.array(corners).reshape(3, 2)
    assert covered(triangle).sum() == pytest.approx(area(triangle), rel=1e-6, abs=1e-6)


@pytest.mark.parametrize("sides", [3, 4, 5, 7, 12, 100])
def test_the_sum_over_a_convex_polygon_is_its_area(sides):
    shape = polygon(sides)
    assert covered(shape).sum() == pytest.approx(area(shape), rel=1e-9)


def test_a_pixel_half_covered_is_a_half():
    left = covered([(0, 0), (2.5, 0), (2.5, 4), (0, 4)], size=(4, 4))
    assert left.tolist() == [[1.0, 1.0, 0.5, 0.0]] * 4
    diagonal = covered([(0, 0), (4, 4), (0, 4)], size=(4, 4))
    assert np.diag(diagonal).tolist() == [0.5] * 4
    assert np.tril(diagonal, -1)[np.tril_indices(4, -1)].tolist() == [1.0] * 6


def test_orientation_does_not_matter():
    shape = polygon(5)
    assert np.allclose(covered(shape), covered(shape[::-1]), atol=1e-12)


@pytest.mark.parametrize("flip", [np.fliplr, np.flipud])
def test_a_mirrored_shape_has_mirrored_coverage(flip):
    shape = np.array(polygon(5))
    mirrored = shape * ((-1, 1) if flip is np.fliplr else (1, -1)) + ((30, 0) if flip is np.fliplr else (0, 30))
    assert np.allclose(flip(covered(shape)), covered(mirrored), atol=1e-12)


@pytest.mark.parametrize("shift", [(-12, 0), (12, 0), (0, -12), (0, 12), (-14, 13), (40, 0), (-40, 0), (0, 40)])
def test_what_lies_outside_the_window_is_cut_off_and_the_rest_unchanged(shift):
    large = np.zeros((110, 110))
    large[:] = covered(np.array(polygon(7)) + 40 + shift, size=(110, 110))
    assert np.allclose(covered(np.array(polygon(7)) + shift), large[40:70, 40:70], atol=1e-12)


def test_the_window_can_be_anywhere():
    shape = polygon(6)
    assert np.allclose(covered(np.array(shape) + 1000, x=1000, y=1000), covered(shape), atol=1e-9)


def test_a_contour_the_other_way_round_is_a_hole():
    outer, inner = polygon(8, 12.0), polygon(8, 6.0)
    ring = area(outer) - area(inner)
    assert covered(outer, inner[::-1]).sum() == pytest.approx(ring, rel=1e-9)


def test_the_rule_decides_what_is_inside_where_sides_cross():
    star = [polygon(5)[2 * corner % 5] for corner in range(5)]
    filled, striped = covered(star), covered(star, rule="evenodd")
    assert filled[15, 15] == pytest.approx(1.0)
    assert striped[15, 15] == pytest.approx(0.0)
    assert striped.sum() < filled.sum()
    assert covered(polygon(6), rule="evenodd").sum() == pytest.approx(area(polygon(6)), rel=1e-9)


def test_overlapping_shapes_of_one_orientation_unite():
    first, second = [(2, 2), (12, 2), (12, 12), (2, 12)], [(7, 7), (17, 7), (17, 17), (7, 17)]
    assert covered(first, second).sum() == pytest.approx(175.0)


def test_a_sliver_thinner_than_a_pixel_keeps_its_area():
    assert covered([(3.2, 1.0), (3.3, 1.0), (9.3, 28.0), (9.2, 28.0)]).sum() == pytest.approx(2.7, rel=1e-6)


def test_nothing_has_no_coverage():
    assert not covered([(5, 5), (9, 5), (7, 5)]).any()
    assert coverage(np.empty((0, 2)), np.empty(0, dtype=np.int64), (4, 4)).tolist() == [[0.0] * 4] * 4
