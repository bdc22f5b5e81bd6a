"""Where a task comes from: which project's layout a path has, and its conversion."""

from collections.abc import Sequence
from pathlib import Path

from ludus.errors import shorten
from ludus.tasks.conversion.converted_task import ConversionError, Converted
from ludus.tasks.conversion.harbor import from_harbor
from ludus.tasks.conversion.mle_bench import from_mle_bench
from ludus.tasks.conversion.mlgym import from_mlgym
from ludus.tasks.metric import Direction

__all__ = ["import_task"]


def import_task(
    source: Path,
    target: Path,
    *,
    data: Path | None = None,
    hide: Sequence[str] = (),
    direction: Direction | None = None,
) -> Converted:
    """Write a task of MLGym, Harbor or MLE-bench as a folder of ours; what came of it, with notes for a reader.

    `data` is where prepared data lie (MLE-bench) or the root that paths begin at (MLGym); `hide` are patterns of data
    files that only the grader may see; `direction` that of a metric which nobody knows.

    >>> import_task(Path("/nowhere"), Path("/tmp/mine"))
    Traceback (most recent call last):
    ludus.tasks.conversion.converted_task.ConversionError: /nowhere: expected a task.toml folder (Harbor), a YAML file
    ...
    """
    try:
        found = _converted(source, data, hide=hide, direction=direction)
        found.write(target)
    except (RecursionError, OSError) as error:  # folders that are too deep, pipes and devices among the files
        raise ConversionError(
            f"{source}: expected files and folders that can be copied, got {shorten(str(error))}"
        ) from error
    return found


def _converted(source: Path, data: Path | None, *, hide: Sequence[str], direction: Direction | None) -> Converted:
    if (source / "task.toml").is_file():
        found = from_harbor(source)
    elif (source / "config.yaml").is_file() and (source / "grade.py").is_file():
        found = from_mle_bench(source, data, direction)
    elif source.suffix in (".yaml", ".yml") and source.is_file():
        found = from_mlgym(source, data, hide=hide, direction=direction)
    else:
        raise ConversionError(
            f"{source}: expected a task.toml folder (Harbor), a YAML file (MLGym) or a competition's folder with "
            "config.yaml and grade.py (MLE-bench), got none of them"
        )
    return found
