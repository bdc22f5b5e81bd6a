"""Frame: what `render` gave, as JSON that a page can show: an SVG or a PNG picture, or text."""

from base64 import b64encode
from collections.abc import Iterable
from typing import Final, TypedDict

from ludus.errors import RenderError, shorten
from ludus.remote.host import EnvHost
from ludus.rendering.frame import to_png
from ludus.server.protocols.web_api.page_json import plain
from ludus.spaces.kinds import is_array, is_list

__all__ = ["Frame", "as_frame", "best_mode", "frame_of"]

MODES: Final = ("svg", "rgb_array", "ansi")
"""The best first: an SVG takes a tenth of the time of a PNG, and is sharp at any size."""
MAX_PICTURE_CHARS = 8 << 20
"""Characters of a picture."""


class Frame(TypedDict):
    """A picture with its kind: `svg`, `png` (as base64), `text` or `error`."""

    kind: str
    data: str


def best_mode(modes: Iterable[str]) -> str | None:
    """The render mode that suits a page.

    >>> best_mode(["human", "ansi", "rgb_array"])
    'rgb_array'
    """
    offered = list(modes)
    return next((mode for mode in MODES if mode in offered), None)


def frame_of(hosted: EnvHost) -> Frame | None:
    """The current picture; None where there is none, and what went wrong where drawing failed."""
    if hosted.env.render_mode is None:
        return None
    try:
        return as_frame(hosted.render())
    except Exception as error:  # an environment that cannot draw can still be played
        return {"kind": "error", "data": plain(f"{type(error).__name__}: {shorten(str(error))}")}


def as_frame(picture: object) -> Frame | None:
    """A picture with its kind.

    >>> as_frame("<svg/>"), as_frame("a maze")
    ({'kind': 'svg', 'data': '<svg/>'}, {'kind': 'text', 'data': 'a maze'})
    """
    if is_list(picture) and picture:
        picture = picture[-1]
    if picture is None:
        return None
    if isinstance(picture, str):
        if len(picture) > MAX_PICTURE_CHARS:
            raise RenderError(f"frame: expected at most {MAX_PICTURE_CHARS} characters, got {len(picture)}")
        kind = "svg" if picture.lstrip()[:5] in ("<svg ", "<svg>", "<svg/", "<?xml") else "text"
        return {"kind": kind, "data": picture.encode("utf8", "replace").decode()}
    if not is_array(picture) or picture.size > MAX_PICTURE_CHARS:
        raise RenderError(f"frame: expected pixels or text, got {shorten(picture)}")
    return {"kind": "png", "data": b64encode(to_png(picture)).decode()}
