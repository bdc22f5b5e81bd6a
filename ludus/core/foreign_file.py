"""Files that somebody else wrote: read whole or refused, never waited for, and never larger than they may be."""

import errno
import os
import stat
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, BinaryIO, TypeVar

import msgspec

__all__ = ["count_values", "open_foreign_file", "read_foreign_file", "read_foreign_toml", "read_foreign_yaml"]

T = TypeVar("T")
MAX_FILE_BYTES = 1 << 20
MAX_YAML_VALUES = 100_000
"""Values in all, where a file may name one of them a thousand times."""
MAX_YAML_DEPTH = 64
"""Lists in lists: the loader goes down by recursion in C, where a hundred thousand of them end the process."""


def read_foreign_file(path: Path | str, most_bytes: int = MAX_FILE_BYTES) -> bytes:
    """The bytes of a file; OSError for anything else, such as a pipe or a device, and for more than it may have.

    >>> read_foreign_file("/dev/zero")
    Traceback (most recent call last):
    OSError: [Errno 22] something else than a file: '/dev/zero'
    """
    with open_foreign_file(path) as file:
        data = file.read(most_bytes + 1)
    if len(data) > most_bytes:
        raise OSError(errno.EFBIG, f"expected at most {most_bytes} bytes, got more", str(path))
    return data


def open_foreign_file(path: Path | str) -> BinaryIO:
    """A file, opened to be read; OSError for anything else, which is not waited for."""
    # A pipe would keep us waiting for its writer, and a device gives without end.
    descriptor = os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_NOCTTY | os.O_CLOEXEC)
    try:
        kind = os.fstat(descriptor).st_mode
        if stat.S_ISDIR(kind):
            raise IsADirectoryError(errno.EISDIR, os.strerror(errno.EISDIR), str(path))
        if not stat.S_ISREG(kind):
            raise OSError(errno.EINVAL, "something else than a file", str(path))
        return open(descriptor, "rb")
    except BaseException:
        os.close(descriptor)
        raise


def read_foreign_yaml(text: bytes | str, type: type[T], most_values: int = MAX_YAML_VALUES) -> T:
    """What YAML of a stranger says; msgspec.DecodeError for whatever else it is, ValidationError where it does not fit.

    >>> read_foreign_yaml("a: 1", dict[str, int])
    {'a': 1}
    >>> read_foreign_yaml("!!timestamp x", dict[str, int])
    Traceback (most recent call last):
    msgspec.DecodeError: AttributeError: 'NoneType' object has no attribute 'groupdict'
    """
    try:
        _check_depth(text, most_values)
        found: object = msgspec.yaml.decode(text)
    except msgspec.DecodeError:
        raise
    except Exception as error:  # tags raise what Python raises: ValueError, KeyError, AttributeError, …
        raise msgspec.DecodeError(f"{error.__class__.__name__}: {str(error)[:300]}") from error
    if count_values(found, most_values) > most_values:
        raise msgspec.DecodeError(f"expected at most {most_values} values, got more")
    return msgspec.convert(found, type)


def _check_depth(text: bytes | str, most_values: int) -> None:
    """Go through the events of YAML, which needs no recursion, and stop where they are too deep or too many."""
    import yaml  # here: most processes read none, and it takes milliseconds

    parse: Callable[..., Iterator[object]] = getattr(yaml, "parse")  # noqa: B009  (it has no types)
    depth = 0
    try:
        for number, event in enumerate(parse(text, getattr(yaml, "CSafeLoader", yaml.SafeLoader))):
            depth += isinstance(event, yaml.CollectionStartEvent) - isinstance(event, yaml.CollectionEndEvent)
            if depth > MAX_YAML_DEPTH:
                raise msgspec.DecodeError(f"expected at most {MAX_YAML_DEPTH} levels of lists and mappings, got more")
            if number > 2 * most_values + 4:  # two events for a list or mapping, four for what is around them
                raise msgspec.DecodeError(f"expected at most {most_values} values, got more")
    except yaml.YAMLError as error:
        raise msgspec.DecodeError(str(error)) from error


def read_foreign_toml(text: bytes | str) -> dict[str, Any]:
    """What TOML of a stranger says; msgspec.DecodeError for whatever else it is.

    >>> read_foreign_toml("a = " + "[" * 9000)
    Traceback (most recent call last):
    msgspec.DecodeError: RecursionError: maximum recursion depth exceeded
    """
    try:
        return msgspec.toml.decode(text)
    except msgspec.DecodeError:
        raise
    except (RecursionError, ValueError) as error:  # what is nested too deep, and numbers of too many digits
        raise msgspec.DecodeError(f"{error.__class__.__name__}: {str(error)[:100]}") from error


def count_values(value: object, most: int) -> int:
    """How many values there are in all, counted to `most`: with aliases, a few lines of YAML make billions."""
    waiting, count = [value], 0
    while waiting and count <= most:
        one, count = waiting.pop(), count + 1
        waiting += one.values() if isinstance(one, dict) else one if isinstance(one, list) else ()
    return count
