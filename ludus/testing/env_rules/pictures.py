"""Rules about rendering: the picture is what the mode promises, and looking changes nothing."""

from collections.abc import Iterator

import numpy as np

from ludus.core.env import AnyEnv
from ludus.errors import RenderError, shorten
from ludus.spaces.kinds import is_array, is_list
from ludus.testing.history import Interrupted, Player, first_difference
from ludus.testing.report import Finding, error, warning
from ludus.testing.rule import Found, Unchecked, raised
from ludus.testing.subject import Subject

__all__ = ["render_gives_what_its_mode_says", "render_mode_is_an_argument", "rendering_changes_nothing"]

EXPECTED = {
    "rgb_array": "a uint8 array of shape (height, width, 3)",
    "depth_array": "an array of shape (height, width)",
    "ansi": "text",
}
FIXES = {
    "rgb_array": "return `frame.astype(np.uint8)`, rows first, three colours last",
    "depth_array": "return a two-dimensional array, rows first",
    "ansi": "return a str",
}


def render_mode_is_an_argument(subject: Subject) -> Found:
    """An environment that declares render modes is made with `render_mode=…`, and remembers it."""
    fix = "take `render_mode=None` in __init__ and set `self.render_mode = render_mode`"
    for mode in _modes(subject):
        if not subject.takes_render_mode:
            if subject.is_class:
                yield warning(f"render modes {_modes(subject)}: expected an argument render_mode, got none", fix)
            return
        env = subject.fresh(render_mode=mode)
        if env.render_mode != mode:
            yield error(f"made with render_mode={mode!r}: expected it as env.render_mode, got {env.render_mode!r}", fix)
            return


def render_gives_what_its_mode_says(subject: Subject) -> Found:
    """`render` gives a picture, a list of pictures or text, as the render mode says."""
    if "human" in _modes(subject):
        yield Unchecked("the render mode human opens a window")
    for env in _drawing(subject):
        player = Player(env, 0)
        player.reset(subject.seed)
        try:
            picture: object = env.render()
        except ImportError as missing:
            yield Unchecked(f"render mode {env.render_mode} needs a package: {missing}")
            continue
        except Exception as failure:
            message = f"render() in mode {env.render_mode!r}: expected a picture, got {raised(failure)}"
            yield error(message, "let render run to its end in this mode, or take it off metadata['render_modes']")
            continue
        yield from _wrong(str(env.render_mode), picture)


def rendering_changes_nothing(subject: Subject) -> Found:
    """Rendering after each call gives the same history as never rendering."""
    for env in _drawing(subject):
        expected = subject.play(env)
        try:
            found = subject.play(env, watch=lambda _observation, _info, env=env: env.render())
        except (ImportError, RenderError, Interrupted) as failure:
            raise Unchecked(f"rendering stopped: {failure}") from failure
        parted = first_difference(expected, found)
        if parted:
            message = (
                f"render() in mode {env.render_mode!r}: expected the history that there is without it, got {parted}"
            )
            yield error(message, "change no state in render, and draw its random numbers from self.stream('render')")


def _modes(subject: Subject) -> list[str]:
    return list(subject.env().metadata.get("render_modes") or [])


def _drawing(subject: Subject) -> Iterator[AnyEnv]:
    """An environment for each mode that needs no display."""
    modes = [mode for mode in _modes(subject) if mode != "human"]
    if not modes:
        return
    if subject.takes_render_mode:
        yield from (subject.fresh(render_mode=mode) for mode in modes)
    elif subject.env().render_mode in modes:
        yield subject.env()
    else:
        raise Unchecked(f"it declares render modes {modes} and cannot be made with render_mode=…")


def _wrong(mode: str, picture: object) -> Iterator[Finding]:
    name = mode.removesuffix("_list")
    pictures: object = picture if mode.endswith("_list") else [picture]
    if not is_list(pictures):
        yield error(f"render() in mode {mode!r}: expected a list, got {_described(picture)}", _fix(mode))
        return
    for one in pictures:
        if not _fits(name, one):
            expected = EXPECTED.get(name, "something to see")
            yield error(f"render() in mode {mode!r}: expected {expected}, got {_described(one)}", _fix(mode))
            return


def _fits(name: str, picture: object) -> bool:
    if name == "ansi":
        return isinstance(picture, str)
    if name not in EXPECTED:
        return picture is not None
    if not is_array(picture):
        return False
    if name == "rgb_array":
        return picture.ndim == 3 and picture.shape[-1] == 3 and picture.dtype == np.uint8 and picture.size > 0
    return picture.ndim == 2


def _described(picture: object) -> str:
    if is_array(picture):
        return f"an array of shape {picture.shape}, dtype {picture.dtype}"
    return shorten(picture)


def _fix(mode: str) -> str:
    if mode.endswith("_list"):
        return "return a list of what one picture would be"
    return FIXES.get(mode, f"return something for the mode {mode!r}, or take it off metadata['render_modes']")
