"""`ludus play`: play an environment yourself."""

from enum import StrEnum
from typing import Annotated, Any

import typer
import yaml

from ludus.cli.console import out
from ludus.cli.record import SUFFIX, recorded
from ludus.cli.target import meant
from ludus.core.env import AnyEnv
from ludus.errors import InvalidArgument, RenderError, listing
from ludus.registry import make
from ludus.rendering import Drawn, TerminalScreen, WindowScreen
from ludus.rendering import play as play_env

__all__ = ["play"]


class Where(StrEnum):
    """Where to play."""

    TERMINAL = "terminal"
    WINDOW = "window"


def play(
    target: Annotated[str, typer.Argument(metavar="ID", help="An id, module:Env of the current folder, or a folder.")],
    arguments: Annotated[
        list[str] | None, typer.Argument(metavar="NAME=VALUE", help="Arguments of the environment, after --.")
    ] = None,
    render: Annotated[Where, typer.Option(help="Where to play; a window needs pygame-ce.")] = Where.TERMINAL,
    fps: Annotated[
        float | None, typer.Option(min=0.1, max=1000.0, help="Steps a second, when it runs by the clock.")
    ] = None,
    seed: Annotated[int | None, typer.Option(min=0, help="Of the first episode.")] = None,
    record: Annotated[
        str | None, typer.Option(metavar="FILE", help="Record the game as .ludus, or film it as .mp4 or .gif.")
    ] = None,
    turns: Annotated[
        bool | None,
        typer.Option(
            "--turns/--clock", help="One step for each key, or by the clock; the environment's own way if neither."
        ),
    ] = None,
) -> None:
    """Play an environment: arrow keys or letters act, r restarts, q quits. The keys are shown below the picture."""
    run, video = (record, None) if record is not None and record.endswith(SUFFIX) else (None, record)
    with playable(target, keywords(arguments or [])) as bare, recorded(bare, run) as env:
        name = env.spec.id if env.spec is not None else target
        screen = TerminalScreen() if render is Where.TERMINAL else WindowScreen(name)
        scores = play_env(env, screen=screen, fps=fps, seed=seed, record=video, turns=turns)
    out.print(f"{name}: {len(scores)} episode{'s' if len(scores) != 1 else ''}, best score {max(scores):g}")
    if record is not None:
        out.print(f"saved {record}", soft_wrap=True)


def keywords(arguments: list[str]) -> dict[str, Any]:
    """`NAME=VALUE` pairs, with values read as YAML: numbers are numbers and lists are lists."""
    pairs = [argument.partition("=") for argument in arguments]
    wrong = [
        argument
        for argument, (name, sign, _) in zip(arguments, pairs, strict=True)
        if not (sign and name.isidentifier())
    ]
    if wrong:
        raise InvalidArgument(f"arguments: expected NAME=VALUE after --, got {listing(wrong)}")
    return {name: _value(name, value) for name, _, value in pairs}


def _value(name: str, text: str) -> object:
    try:
        return yaml.safe_load(text)
    except yaml.YAMLError as error:
        raise InvalidArgument(f"arguments: expected a value as YAML, got {name}={text!r}") from error


def playable(target: str, arguments: dict[str, Any]) -> AnyEnv:
    """The environment, made so that its picture can be had."""
    found = meant(target, arguments.get("isolation"))
    given: dict[str, Any] = arguments if found.isolation is None else {"isolation": found.isolation, **arguments}
    env = make(found.target, **given)
    if isinstance(env.unwrapped, Drawn) or "render_mode" in arguments:
        return env
    modes: list[str] = env.metadata.get("render_modes") or []
    env.close()
    mode = next((mode for mode in ("rgb_array", "ansi") if mode in modes), None)
    if mode is None:
        raise RenderError(f"play: expected an environment that draws, got {target} with the render modes {list(modes)}")
    return make(found.target, render_mode=mode, **given)
