"""SVG: well-formed, whatever the text; one element for each mark, with the numbers that were given."""

import base64
import math
from xml.etree import ElementTree as ET

import imageio.v3 as imageio
import numpy as np
import pytest

from ludus.rendering import SVG, Canvas

NAMESPACE = "{http://www.w3.org/2000/svg}"


def elements(canvas):
    """The elements of a document, without the definitions and the background."""
    root = ET.fromstring(canvas.to_svg())
    return [child for child in root if not child.tag.endswith("defs")][1:]


def only(canvas):
    [element] = elements(canvas)
    return element.tag.removeprefix(NAMESPACE), element.attrib


def test_a_document_has_size_view_box_and_background():
    root = ET.fromstring(Canvas(60, 40, background="#102030").to_svg())
    assert root.tag == f"{NAMESPACE}svg"
    assert root.attrib == {"width": "60", "height": "40", "viewBox": "0 0 60 40"}
    assert [child.attrib for child in root] == [{"width": "60", "height": "40", "fill": "#102030"}]
    assert isinstance(Canvas(2, 2).to_svg(), SVG)


def test_a_circle():
    canvas = Canvas(60, 40)
    canvas.circle(10, 20.5, 1 / 3, fill="#ff0000", stroke=(0, 0, 255, 51), stroke_width=2)
    assert only(canvas) == ("circle", {
        "cx": "10", "cy": "20.5", "r": "0.333", "fill": "#ff0000",
        "stroke": "#0000ff", "stroke-opacity": "0.2", "stroke-width": "2",
    })  # fmt: skip


def test_an_ellipse():
    canvas = Canvas(60, 40)
    canvas.ellipse(10, 20, 5, 7, fill=(0, 0, 0, 0))
    assert only(canvas) == (
        "ellipse",
        {"cx": "10", "cy": "20", "rx": "5", "ry": "7", "fill": "#000000", "fill-opacity": "0"},
    )


@pytest.mark.parametrize(("radius", "attribute"), [(0, {}), (2, {"rx": "2"}), (99, {"rx": "3"})])
def test_a_rectangle(radius, attribute):
    canvas = Canvas(60, 40)
    canvas.rectangle(1, 2, 10, 6, radius=radius, fill="white")
    assert only(canvas) == ("rect", {"x": "1", "y": "2", "width": "10", "height": "6", **attribute, "fill": "#ffffff"})


def test_lines_and_polygons():
    canvas = Canvas(60, 40)
    canvas.line(1, 2, 3, 4, cap="square")
    canvas.polyline([(0, 0), (1, 1), (-0.0001, 0)], width=2)
    canvas.polygon([(0, 0), (1, 0), (1, 1)], fill="black", rule="evenodd")
    line, polyline, polygon = elements(canvas)
    assert line.attrib == {
        "points": "1,2 3,4", "fill": "none", "stroke": "#000000", "stroke-width": "1", "stroke-linecap": "square",
        "stroke-linejoin": "round",
    }  # fmt: skip
    assert polyline.attrib["points"] == "0,0 1,1 0,0"
    assert polyline.attrib["stroke-linejoin"] == "round"
    assert polygon.tag == f"{NAMESPACE}polygon"
    assert polygon.attrib == {"points": "0,0 1,0 1,1", "fill": "#000000", "fill-rule": "evenodd"}


def test_a_transform_is_a_matrix():
    canvas = Canvas(60, 40)
    with canvas.transform(translate=(10, 20), rotate=math.pi / 2, scale=2):
        canvas.circle(0, 0, 1, fill="red")
    assert only(canvas)[1]["transform"] == "matrix(0 2 -2 0 10 20)"


def test_an_image_is_embedded_as_it_is():
    pixels = np.arange(2 * 3 * 4, dtype=np.uint8).reshape(2, 3, 4)
    canvas = Canvas(60, 40)
    canvas.image(1, 2, pixels, width=30, smooth=False)
    name, attributes = only(canvas)
    data = attributes.pop("href").removeprefix("data:image/png;base64,")
    assert np.array_equal(imageio.imread(base64.b64decode(data), extension=".png"), pixels)
    assert (name, attributes) == ("image", {
        "x": "1", "y": "2", "width": "30", "height": "20", "preserveAspectRatio": "none",
        "style": "image-rendering:pixelated",
    })  # fmt: skip


@pytest.mark.parametrize("text", ["a", "<b> & \"c\" 'd'", "two\nlines", "bell\x07 \ufffe", "日本", "]]>", " "])
def test_text_of_any_kind_is_well_formed_and_readable_for_machines(text):
    canvas = Canvas(60, 40)
    canvas.text(5, 5, text, color=(1, 2, 3, 51), bold=True)
    name, attributes = only(canvas)
    assert name == "g"
    assert attributes["aria-label"] == text.replace("\n", " ").replace("\x07", " ").replace("\ufffe", "\ufffd")
    assert (attributes["fill"], attributes["fill-opacity"]) == ("#010203", "0.2")


def test_each_glyph_is_defined_once_and_every_use_has_its_definition():
    canvas = Canvas(60, 40)
    canvas.text(5, 5, "abba b")
    canvas.text(5, 25, "ab", bold=True)
    root = ET.fromstring(canvas.to_svg())
    defined = [path.attrib["id"] for path in root.iter(f"{NAMESPACE}path")]
    used = [use.attrib["href"].removeprefix("#") for use in root.iter(f"{NAMESPACE}use")]
    assert sorted(defined) == sorted(set(used))
    assert len(used) == 7
    assert len(defined) == 4


def test_a_document_is_small():
    canvas = Canvas(60, 40)
    for place in range(100):
        canvas.text(place, place, "0123456789")
    assert len(canvas.to_svg()) < 100_000
