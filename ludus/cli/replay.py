"""`ludus replay`: execute a recorded run again, and say whether it is the same; or film an episode of it."""

from pathlib import Path
from typing import Annotated

import typer

from ludus.cli.console import out, say
from ludus.core.spec import load_entry_point
from ludus.errors import InvalidArgument, IsolationNeeded, LudusError
from ludus.registry import registry
from ludus.registry.foreign_code import unknown_code
from ludus.rendering import VideoWriter
from ludus.trajectory import Run, episode_frames, replay

__all__ = ["replay_run"]

DIFFERENT = 1
DEFAULT_FPS = 30.0


def replay_run(
    file: Annotated[Path, typer.Argument(metavar="FILE", help="A recorded run, .ludus.")],
    episode: Annotated[int, typer.Option(min=0, help="The one to film, by its number.")] = 0,
    video: Annotated[
        Path | None, typer.Option(metavar="FILE", help="Film an episode as .mp4 or .gif, drawn as it is executed.")
    ] = None,
    fps: Annotated[
        float | None, typer.Option(min=0.1, max=1000.0, help="Pictures a second; the environment's own by default.")
    ] = None,
    executor: Annotated[str | None, typer.Option(help="Where a batch is executed; changes nothing else.")] = None,
    isolation: Annotated[
        str | None, typer.Option(help="Run it isolated: none (you trust it), process, sandbox or container.")
    ] = None,
) -> None:
    """Execute a run again: the exit status is 0 where everything was seen again, 1 where something differs."""
    with Run.open(file) as run:
        if isolation is None:
            check_known(run)
        if video is not None:
            film(run, episode, video, fps, isolation)
            return
        found = replay(run, executor=executor, isolation=isolation)
    if found.source_changed:
        say("warning: the environment's source files are not those of the recording", "yellow")
    if found.stopped:
        say(f"{found.replayed:,} of {found.rows:,} rows agree; not executed: {found.stopped}", "yellow")
    elif found.difference is not None:
        say(f"{found.replayed:,} of {found.rows:,} rows agree; then {found.difference}", "red")
    else:
        out.print(f"{file.name}: all {found.rows:,} rows of {len(run):,} episodes were seen again", style="green")
    if not found:
        raise typer.Exit(DIFFERENT)


def film(run: Run, episode: int, path: Path, fps: float | None, isolation: str | None) -> None:
    """Write the video; a part of one is not left behind."""
    if episode >= len(run):
        raise InvalidArgument(f"episode: expected 0 to {len(run) - 1}, got {episode}")
    frames = episode_frames(run, episode, isolation=isolation)
    try:
        with VideoWriter(path, fps or _own_fps(run)) as writer:
            for frame in frames:
                writer.append(frame)
    except BaseException:
        path.unlink(missing_ok=True)
        raise
    out.print(f"saved {path}: {writer.count} pictures of episode {episode}", soft_wrap=True, markup=False)


def check_known(run: Run) -> None:
    """Raise IsolationNeeded where a file names code that nobody has chosen here, as its code or in its arguments."""
    unknown = unknown_code(run.header.env_spec(), tuple(run.header.batch_wrappers()))
    if unknown:
        raise IsolationNeeded(
            f"{run.path.name}: expected an environment that is registered here, got a file that names the code "
            f"{unknown!r}; --isolation sandbox executes it sandboxed, --isolation none if you trust it"
        )


def _own_fps(run: Run) -> float:
    spec = run.header.env_spec()
    try:
        found = registry.spec(spec.id)
    except LudusError:
        return DEFAULT_FPS
    if not isinstance(found.entry_point, str) or not found.entry_point.startswith("ludus."):
        return DEFAULT_FPS  # to ask others would run their code here
    return float(getattr(load_entry_point(found.entry_point), "metadata", {}).get("render_fps") or DEFAULT_FPS)
