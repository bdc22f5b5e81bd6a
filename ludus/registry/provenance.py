"""Provenance: whose code a spec runs, told from names and places on disk; none of it is imported."""

import json
import os
import re
import sys
from collections.abc import Iterator, Mapping
from typing import Literal, NamedTuple, TypeGuard

from ludus.core import EnvSpec, WrapperSpec
from ludus.registry.libraries import adapted_by, is_library
from ludus.registry.ownership import DISTRIBUTION, MODULE, without_arguments
from ludus.registry.shared import registry

__all__ = [
    "LEVELS",
    "Author",
    "Level",
    "authors",
    "authors_before_import",
    "folder_author",
    "is_adapter",
    "is_built_in",
    "only_transforms",
    "places",
]

Level = Literal["built-in", "first-party", "third-party"]
LEVELS: tuple[Level, ...] = ("built-in", "first-party", "third-party")
SITES = ("site-packages", "dist-packages")
NAMED = re.compile(r"(?<![\w.:/])([^\W\d][\w.]*):[^\W\d]")
"""A text, or a part of one, that names code as `module:Name`."""
LOADED = re.compile(r"(?<![\w.:/])([^\W\d][\w.]*):(?!//)")
"""The same to whoever loads it: what comes after the colon is looked at when the module is imported already."""
TIME = re.compile(r"[\d:.\s]*")
JSON = ("{", "[", '"')
ESCAPED = re.compile(r"\\u([0-9a-fA-F]{4})")
PLACE = re.compile(r"[/~\\]|\.{1,2}[/\\]|[A-Za-z]:[/\\]|\S*[/\\]\S*\Z|.*(?:://|\.\.[/\\])", re.DOTALL)
"""A text that begins as the path of a file does, is one by itself, or has an address in it."""
MAX_PATH_BYTES = 4096
CALL, SEPARATORS = re.compile(r"\s*[\w.-]+\(.*\)\s*", re.DOTALL), re.compile(r"[(),=]")
TRANSFORM = re.compile(r"ludus\.wrappers(?:\.\w+)*:(\w+)")
WRITERS = ("RecordVideo", "HumanRendering")
"""Wrappers that do more than transform: they write files and open windows."""


class Author(NamedTuple):
    """Somebody whose code is run: the modules and packages that it goes by, and how near they are to the user."""

    level: Level
    names: tuple[str, ...]

    def __str__(self) -> str:
        return f"{self.level}: {', '.join(self.names)}"


BUILT_IN = Author("built-in", (MODULE, DISTRIBUTION))


def authors(spec: EnvSpec) -> tuple[Author, ...]:
    """Everybody whose code the spec runs: that of the environment, of its wrappers, of who announced it."""
    announcer = registry.announcer(spec)
    found = [] if announcer is None else [Author("third-party", (announcer,))]
    for entry_point in (spec.entry_point, spec.vector_entry_point):
        if entry_point is not None:
            found += [BUILT_IN] if registry.ships(spec) else _environment(entry_point, spec.kwargs)
    for wrapper in spec.additional_wrappers:
        module = wrapper.entry_point.partition(":")[0]
        found.append(BUILT_IN if _top(module) == MODULE else _located(_top(module), None))
        found += (_located(_top(one), None) for one in _named_in(wrapper.kwargs) if _top(one) != MODULE)
    return tuple(dict.fromkeys(found))


def is_adapter(spec: EnvSpec) -> bool:
    """Whether code of ours makes it of what its arguments name: another library's environment, a task.

    >>> is_adapter(registry.spec("CartPole-v1")), is_adapter(registry.spec("task/SatHeuristic-v0"))
    (False, True)
    """
    module = spec.entry_point.partition(":")[0] if isinstance(spec.entry_point, str) else ""
    return _top(module) == MODULE and not module.startswith("ludus.envs.")


def is_built_in(spec: EnvSpec) -> bool:
    """Whether a spec, whoever wrote it, can only make one of our environments, in wrappers that only transform.

    By names alone: nothing is imported. Arguments that name files or addresses are not its own either.

    >>> is_built_in(registry.spec("CartPole-v1")), is_built_in(EnvSpec("A-v0", "os:system"))
    (True, False)
    """
    if spec.vector_entry_point is not None:  # none of ours has one
        return False
    if spec.entry_point is not None and not (
        isinstance(spec.entry_point, str) and spec.entry_point.startswith("ludus.envs.")
    ):
        return False
    wrappers = spec.additional_wrappers
    named = [found for one in wrappers for found in _named_in(one.kwargs)]
    return all(map(only_transforms, wrappers)) and all(_top(one) == MODULE for one in named) and not places(spec)


def only_transforms(wrapper: WrapperSpec) -> bool:
    """Whether it names a wrapper of ours that reads and writes nothing but what passes through it.

    >>> only_transforms(WrapperSpec("V", "ludus.wrappers:RecordVideo")), only_transforms(WrapperSpec("W", "w:W"))
    (False, False)
    """
    found = TRANSFORM.fullmatch(wrapper.entry_point)
    return found is not None and found[1] not in WRITERS


def places(spec: EnvSpec, known: EnvSpec | None = None) -> list[str]:
    """Files and addresses that arguments name, of the environment and its wrappers; those of `known` are left out.

    A bare name is a file's where there is one of that name in the current folder.

    >>> places(EnvSpec("A-v0", "a:A", kwargs={"level": 3, "map": ["../map.txt"], "words": "this and/or that"}))
    ['../map.txt']
    """
    usual = {} if known is None else known.kwargs
    own = {name: one for name, one in spec.kwargs.items() if name not in usual or usual[name] != one}
    texts = _texts([own, *(one.kwargs for one in spec.additional_wrappers)])
    return [one for one in texts if PLACE.match(one) or (one not in own and _is_file_here(one))]


def _is_file_here(name: str) -> bool:
    """Whether something is opened by this name as it is. Folders are not: "train" or "docs" are words as well."""
    return os.path.lexists(name) and not os.path.isdir(name)


def authors_before_import(target: str) -> tuple[Author, ...]:
    """Whose code would run merely to find out what a text means; nobody's where it is an id."""
    module, colon, _ = target.partition(":")
    if colon:
        return (BUILT_IN,) if _top(module) == MODULE else (_located(_top(module), None),)
    library = target.partition("/")[0]
    return (Author("third-party", (library,)),) if is_library(library) and "/" in target else ()


def folder_author(target: str) -> Author:
    """Who wrote a folder whose manifest names `module:name`; the name of a package that is installed is not theirs.

    >>> folder_author("maze:Maze").names, folder_author("numpy:Maze").names
    (('maze',), ())
    """
    module = _top(target.partition(":")[0])
    return Author("first-party", () if module == MODULE or _is_taken(module) else (module,))


def _is_taken(name: str) -> bool:
    """Whether a package of that name is installed, but for one that is a link to where it is written."""
    from importlib.metadata import PackageNotFoundError, distribution

    try:
        told = distribution(name).read_text("direct_url.json") or ""
    except (PackageNotFoundError, ValueError):
        return False
    return '"editable": true' not in told


def _environment(entry_point: object, arguments: dict[str, object]) -> Iterator[Author]:
    code = without_arguments(entry_point)
    named = isinstance(code, str)
    module = code.partition(":")[0] if named else str(getattr(code, "__module__", None) or "")
    if _top(module) != MODULE:
        yield _located(_top(module), None if named else code)
    elif not named or module.startswith("ludus.envs."):  # as `is_adapter` has it
        yield BUILT_IN
    else:  # code of ours that runs what its arguments name
        yield Author("third-party", (adapted_by(module) or MODULE,))
        yield from (_located(_top(one), None) for one in [*_named_in(arguments, LOADED), *_split_in(arguments)])


def _named_in(arguments: object, pattern: re.Pattern[str] = NAMED) -> list[str]:
    """The modules that arguments name as `module:Name`, however deep, by themselves or inside text such as JSON."""
    return [module for text in _texts(arguments) for module in pattern.findall(text)]


def _split_in(arguments: object) -> list[str]:
    """What comes before the colon to whoever splits a text there: Python imports names that no program could write."""
    split = [one.partition(":") for one in _texts(arguments) if not one.lstrip().startswith(JSON)]
    return [
        name for name, colon, rest in split if colon and not rest.startswith("//") and not TIME.fullmatch(name + rest)
    ]


def _texts(arguments: object) -> list[str]:
    """Every text in arguments, however deep: also in one that is JSON, which may write any character as a number.

    Also in one that is a call, as OpenSpiel spells its games: `efg_game(filename=game.efg)`.
    """
    found: list[str] = []
    rest = [arguments]
    while rest:
        one = rest.pop()
        if _is_text(one):
            found.append(str(one))
            rest += [_decoded(found[-1]), _called(found[-1])]
        elif isinstance(one, bytes | bytearray) and _may_be_a_path(one):  # Python opens files by such, too
            rest.append(os.fsdecode(bytes(one)))
        elif isinstance(one, Mapping):
            rest += [*one, *one.values()]
        elif isinstance(one, list | tuple | set | frozenset):
            rest += one
    return found


def _is_text(one: object) -> TypeGuard[str | os.PathLike[str]]:
    return isinstance(one, str | os.PathLike)


def _decoded(text: str) -> object:
    """What a text says to whoever reads it as JSON; None where that is nothing else than it looks like."""
    if not text.lstrip().startswith(JSON):
        return None
    try:
        return json.loads(text)
    except (ValueError, RecursionError):  # another reader may be more patient
        plain = ESCAPED.sub(lambda found: chr(int(found[1], 16)), text)
        return plain if plain != text else None


def _called(text: str) -> list[str]:
    """What a text that is a call hands over, and each word of that; nothing where it is none."""
    handed = [one.strip() for one in SEPARATORS.split(text)] if CALL.fullmatch(text) else []
    return [*handed, *(word for one in handed for word in one.split()[1:])]


def _may_be_a_path(data: bytes | bytearray) -> bool:
    return len(data) <= MAX_PATH_BYTES and 0 not in data


def _top(module: str) -> str:
    return module.partition(".")[0]


# --- places ---


def _located(module: str, handed: object) -> Author:
    """Who a top-level module belongs to; `handed` is the object that is run, where it is here already."""
    announcers = registry.announcers(module)
    if announcers:
        return Author("third-party", tuple(dict.fromkeys([*announcers, module])))
    if module == "__main__":
        return Author("first-party", (module,))
    places = _places(module)
    own = bool(places) or handed is not None
    if module in sys.stdlib_module_names or not own or any(map(_is_installed, places)):
        return Author("third-party", tuple(dict.fromkeys([module, *_distributions(module)])))
    return Author("first-party", (module,))


def _places(module: str) -> list[str]:
    """The entries of the path under which a module is found."""
    from importlib.util import find_spec

    known = sys.modules.get(module)
    try:
        spec = getattr(known, "__spec__", None) if known is not None else find_spec(module)
    except (ImportError, ValueError):
        return []
    if spec is None:
        return []
    if spec.submodule_search_locations:
        return [os.path.dirname(place) for place in spec.submodule_search_locations]
    return [os.path.dirname(str(spec.origin))] if spec.has_location else []


def _is_installed(place: str) -> bool:
    """Whether an installer puts packages there; what cannot be looked into counts as such."""
    try:
        return os.path.basename(place) in SITES or any(name.endswith(".dist-info") for name in os.listdir(place))
    except OSError:
        return True


def _distributions(module: str) -> list[str]:
    """The installed packages that a module's files belong to."""
    from importlib.metadata import distributions

    found: set[str] = set()
    for one in distributions():
        try:
            # As text: to parse the records of all packages takes most of a second.
            files = f"\n{one.read_text('RECORD') or ''}"
            if f"\n{module}/" in files or f"\n{module}.py," in files:
                found.add(str(one.metadata["Name"]))
        except Exception:  # noqa: S112  (metadata of any package may be broken: the module's own name is left)
            continue
    return sorted(found)
