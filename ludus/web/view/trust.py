"""Whether the environment that a file names may be made here: a file is a stranger's word, and making runs code."""

import re
from collections.abc import Iterator

from ludus.core import EnvSpec
from ludus.errors import LudusError
from ludus.registry import registry
from ludus.registry.provenance import authors, only_transforms, places
from ludus.spaces.kinds import is_dict, is_list_or_tuple
from ludus.trajectory.header import RunHeader

__all__ = ["untrusted"]

PLAIN_TEXT = re.compile(r"[\w .+-]{0,80}", re.ASCII)
"""Text that can name neither a path, nor a module, nor an address."""
MAX_NUMBER = 1 << 20


def untrusted(header: RunHeader) -> str:
    """Why the environment must not be made without somebody's word; empty where it may.

    Made are the environments that come with the library, registered exactly so, with arguments that are plain values
    and wrappers that only transform. Whatever else a file names could be any code on this machine.
    """
    try:
        spec = header.env_spec()
        wrappers = [*spec.additional_wrappers, *header.batch_wrappers()]
    except LudusError as error:
        return str(error)
    known = _registered(spec)
    if known is None:
        return f"{spec.id} is not an environment that comes with the library, and making it runs the code it names"
    if not all(map(only_transforms, wrappers)):
        return f"{spec.id} was recorded with wrappers that do more than transform"
    given = {name: value for name, value in spec.kwargs.items() if known.kwargs.get(name) != value}
    named = places(spec.replace(additional_wrappers=tuple(wrappers)), known)
    if named or not all(map(_harmless, _leaves([given, *(one.kwargs for one in wrappers)]))):
        return f"{spec.id} was recorded with arguments that could name files or code"
    return ""


def _registered(spec: EnvSpec) -> EnvSpec | None:
    """What the library itself registered under this id, if the spec names the same code."""
    try:
        if any(author.level != "built-in" for author in authors(spec)):
            return None
        known: EnvSpec = registry.spec(spec.id)
    except LudusError:
        return None
    return known if spec.entry_point == known.entry_point else None


def _leaves(value: object) -> Iterator[object]:
    if is_dict(value):
        yield from (leaf for pair in value.items() for one in pair for leaf in _leaves(one))
    elif is_list_or_tuple(value):
        yield from (leaf for one in value for leaf in _leaves(one))
    else:
        yield value


def _harmless(value: object) -> bool:
    if isinstance(value, str):
        return PLAIN_TEXT.fullmatch(value) is not None and ".." not in value
    if isinstance(value, int) and not isinstance(value, bool):
        return abs(value) <= MAX_NUMBER
    return value is None or isinstance(value, bool | float)
