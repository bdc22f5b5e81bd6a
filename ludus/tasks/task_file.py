"""Task files: YAML to a `TaskSpec`, with errors that name the place, and the schema that editors complete by."""

import re
from pathlib import Path

import msgspec

from ludus.core.foreign_file import read_foreign_file, read_foreign_yaml
from ludus.errors import InvalidArgument, did_you_mean, listing
from ludus.tasks.spec import TaskSpec

__all__ = ["TaskFileError", "read_task", "read_task_text", "task_schema", "write_task"]

PLACE = re.compile(r" - at `(?:key in )?\$(?P<path>[^`]*)`$")
UNKNOWN = re.compile(r"unknown field `(?P<field>[^`]*)`")
NO_FILE = re.compile(r' in "<(?:byte|unicode) string>", line')
"""How PyYAML names a text that it was given."""
MAX_BYTES = 1 << 20


class TaskFileError(InvalidArgument):
    """A task file that cannot be read; the message names the file, the path in it, and what was expected.

    >>> issubclass(TaskFileError, ValueError)
    True
    """


def read_task(path: Path | str) -> TaskSpec:
    """The task of a file, or of the `task.yaml` of a folder."""
    file = Path(path)
    file = file / "task.yaml" if file.is_dir() else file
    try:
        data = read_foreign_file(file, MAX_BYTES)
    except OSError as error:
        raise TaskFileError(f"{file}: expected a task file, got {error.strerror}") from error
    return read_task_text(data, str(file))


def read_task_text(text: str | bytes, where: str = "task") -> TaskSpec:
    r"""The task that a text describes.

    >>> text = "id: Guess\nname: Guess\ndescription: A game.\nevaluation: {metric: accuracy, threshold: high}"
    >>> read_task_text(text, "guess.yaml")
    Traceback (most recent call last):
    ludus.tasks.task_file.TaskFileError: guess.yaml, evaluation.threshold: Expected `float | null`, got `str`
    """
    try:
        return read_foreign_yaml(text, TaskSpec)
    except msgspec.ValidationError as error:
        raise TaskFileError(_message(error, where)) from error
    except msgspec.DecodeError as error:
        message = NO_FILE.sub(" at line", " ".join(str(error).split()))
        raise TaskFileError(f"{where}: expected YAML, got {message}") from error


def _message(error: msgspec.ValidationError, where: str) -> str:
    """The error with the path in front, as a reader looks for it."""
    text = str(error)
    match = PLACE.search(text)
    path = match["path"].lstrip(".") if match else ""
    text = PLACE.sub("", text)
    unknown = UNKNOWN.search(text)
    if unknown:
        known = _fields_at(path)
        text += f"{did_you_mean(unknown['field'], known)}; it knows {listing(known, 40)}"
    return f"{where}, {path}: {text}" if path else f"{where}: {text}"


def _fields_at(path: str) -> list[str]:
    """The keys that the schema has at a path."""
    defined: dict[str, dict[str, dict[str, object]]] = msgspec.json.schema(TaskSpec)["$defs"]
    name = "TaskSpec"
    for part in re.findall(r"[^.\[\]]+", path):
        found: object = defined[name]["properties"].get(part, {})
        refs = re.findall(r"#/\$defs/(\w+)", str(found))
        if refs:
            name = refs[0]
    return sorted(defined[name]["properties"])


def task_schema() -> dict[str, object]:
    """The JSON schema of task files, for editors and validators.

    >>> task_schema()["$ref"]
    '#/$defs/TaskSpec'
    """
    return msgspec.json.schema(TaskSpec)


def write_task(spec: TaskSpec) -> str:
    """The text of a task file that is read as `spec`; defaults are left out."""
    return msgspec.yaml.encode(spec).decode()
