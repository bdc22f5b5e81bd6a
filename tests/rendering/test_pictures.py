"""The pictures on the docs page are what its program draws."""

import pytest

from tests.rendering.pictures import FOLDER, draw


@pytest.fixture(scope="module")
def drawn(tmp_path_factory):
    folder = tmp_path_factory.mktemp("page")
    draw(folder)
    return folder


@pytest.mark.parametrize("name", ["swing.svg", "shapes.svg"])
def test_a_picture_on_the_page_is_up_to_date(name, drawn):
    shown = (FOLDER / name).read_text(encoding="utf8")
    assert shown == (drawn / name).read_text(encoding="utf8"), "run `python -m tests.rendering.pictures`"
    assert len(shown) < 40_000


def test_the_page_also_leaves_its_png_and_videos(drawn):
    assert {path.name for path in drawn.iterdir()} >= {"shapes.png", "swing.gif", "batch.gif"}
