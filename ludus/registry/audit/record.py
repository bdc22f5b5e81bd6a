"""Records: the files of a package against what its installer wrote down, and one digest of the whole."""

import csv
import hashlib
import os
import stat
import sys
from base64 import urlsafe_b64encode
from collections.abc import Iterator
from importlib.metadata import Distribution, distributions
from importlib.util import cache_from_source
from pathlib import Path
from typing import NamedTuple

from ludus.wire.failures import clean

__all__ = ["RecordCheck", "caches", "verify"]

GOOD = ("sha256", "sha384", "sha512")
UNLISTED = ("INSTALLER", "RECORD", "REQUESTED", "direct_url.json", "uv_cache.json")
"""What installers write into the metadata folder without listing it."""
CHUNK_BYTES = 1 << 20


class RecordCheck(NamedTuple):
    """What came of it."""

    problems: list[str]
    compared: int
    digest: str
    sources: list[str]
    """Python files whose contents are as recorded, by absolute path."""
    modules: list[str]
    """Its top-level modules."""


class _Row(NamedTuple):
    path: str
    algorithm: str
    value: str

    @property
    def is_cache(self) -> bool:
        return self.path.endswith(".pyc") and "__pycache__/" in self.path

    @property
    def is_volatile(self) -> bool:
        folder, _, name = self.path.rpartition("/")
        return folder.endswith(".dist-info") and name in UNLISTED


def verify(distribution: Distribution) -> RecordCheck | None:
    """Every file that is changed, missing or added; None where the installer left no record."""
    text = distribution.read_text("RECORD")
    if not text:
        return None
    base, rows = Path(str(distribution.locate_file(""))).resolve(), list(_rows(text))
    problems, lines, sources = list[str](), list[str](), list[str]()
    for row in rows:
        if row.is_cache or row.path.endswith(".dist-info/RECORD"):
            continue
        problem, content = _compared(base, row)
        problems += [f"{clean(row.path, 200)} {problem}"] if problem else []
        if content and not row.is_volatile and not row.path.startswith(".."):
            lines.append(f"{row.path} {content}\n")
        if not problem and row.path.endswith(".py"):
            sources.append(str(base / row.path))
    listed = {os.path.normpath(row.path) for row in rows}
    problems += [f"{clean(one, 200)} was added after the installation" for one in _added(distribution, base, listed)]
    digest = hashlib.sha256("".join(sorted(lines)).encode("utf8", "surrogateescape")).hexdigest()
    modules = {row.path.partition("/")[0].removesuffix(".py") for row in rows if row.path.endswith(".py")}
    return RecordCheck(problems, len(lines), digest, sources, sorted(filter(str.isidentifier, modules)))


def _rows(text: str) -> Iterator[_Row]:
    for row in csv.reader(text.splitlines()):
        if row and row[0]:
            algorithm, _, value = (row[1] if len(row) > 1 else "").partition("=")
            yield _Row(row[0].replace("\\", "/"), algorithm, value)


def _compared(base: Path, row: _Row) -> tuple[str, str]:
    """What is wrong with a file, and the SHA-256 of its contents where they could be read."""
    path = os.path.normpath(base / row.path)
    if not any(Path(path).is_relative_to(root) for root in (base, Path(sys.prefix).resolve(), Path(sys.prefix))):
        return "is recorded, outside of the installation", ""
    try:
        if not stat.S_ISREG(os.stat(path).st_mode):
            return "is recorded, and no file", ""
        known = row.algorithm if row.algorithm in GOOD else "sha256"
        found, content = _hashes(path, known)
    except FileNotFoundError:
        return "is missing", ""
    except OSError as error:
        return f"cannot be read ({type(error).__name__})", ""
    if not row.value:
        return ("" if row.is_volatile else "has no recorded hash"), content
    if row.algorithm not in GOOD:
        return f"is recorded by {clean(row.algorithm, 20)}, which proves nothing", content
    return ("" if found == row.value.rstrip("=") else "is not what was installed"), content


def _hashes(path: str, algorithm: str) -> tuple[str, str]:
    named, plain = hashlib.new(algorithm), hashlib.sha256()
    with open(path, "rb") as file:
        while data := file.read(CHUNK_BYTES):
            named.update(data)
            plain.update(data)
    return urlsafe_b64encode(named.digest()).decode().rstrip("="), plain.hexdigest()


def _added(distribution: Distribution, base: Path, listed: set[str]) -> list[str]:
    """Files in the folders of the package that neither it nor another package of the same folders lists."""
    tops = {path.partition("/")[0] for path in listed if "/" in path and not path.startswith("..")}
    found = [path for top in sorted(tops) for path in _files(base, top) if not _is_expected(path, listed)]
    if not found:
        return []
    everyones = listed | _of_others(distribution, base)
    return [path for path in found if not _is_expected(path, everyones)]


def _files(base: Path, top: str) -> Iterator[str]:
    for folder, _, names in os.walk(base / top):
        for name in names:
            yield os.path.relpath(os.path.join(folder, name), base)


def _is_expected(path: str, listed: set[str]) -> bool:
    """Whether it is listed, the compiled form of a listed source, or an installer's own note."""
    folder, name = os.path.split(path)
    if path in listed:
        return True
    if folder.endswith(".dist-info") and name in UNLISTED:
        return True
    if os.path.basename(folder) != "__pycache__" or not name.endswith(".pyc"):
        return False
    source = os.path.join(os.path.dirname(folder), f"{name.partition('.')[0]}.py")
    return source in listed


def _of_others(distribution: Distribution, base: Path) -> set[str]:
    """What other packages list that are installed in the same place."""
    own = distribution.read_text("RECORD")
    beside = [one for one in distributions() if Path(str(one.locate_file(""))).resolve() == base]
    texts = [one.read_text("RECORD") or "" for one in beside]
    return {os.path.normpath(row.path) for text in texts if text != own for row in _rows(text)}


def caches(source: str) -> list[str]:
    """The compiled forms that this interpreter may run in place of a source."""
    found = [cache_from_source(source, optimization=level) for level in ("", "1", "2")]
    return [path for path in found if os.path.isfile(path)]
