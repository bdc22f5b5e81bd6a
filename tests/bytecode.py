"""Rewritten assertions, prepared once: of a clean clone every worker would rewrite every file, all at the same time.

pytest rewrites the assertions of a test file when it is imported, and keeps the result beside it. Whoever starts
workers does that before they begin, on all cores, each file once; a file whose result is there costs a look.
"""

import os
import sys
from pathlib import Path

import pytest
from _pytest.assertion import rewrite

FOLDER = Path(__file__).resolve().parent


@pytest.hookimpl(tryfirst=True)
def pytest_sessionstart(session: pytest.Session) -> None:
    """Before workers are started; without any, the files that are needed are rewritten as they are imported."""
    if sys.dont_write_bytecode or not getattr(session.config.option, "tx", None) or not hasattr(os, "fork"):
        return
    stale = [path for path in asserting(FOLDER, session.config.args) if needs_rewriting(path)]
    share = min(os.cpu_count() or 1, len(stale))
    for child in [_rewriting(stale[number::share], session.config) for number in range(share)]:
        os.waitpid(child, 0)


def asserting(folder: Path, named: list[str]) -> list[Path]:
    """The test files under the named folders, and all that configure them."""
    given = [Path(one.partition("::")[0]).resolve() for one in named]
    tests = (one for one in folder.rglob("test_*.py") if any(one.is_relative_to(each) for each in given))
    return sorted([*tests, *folder.rglob("conftest.py")])


def needs_rewriting(path: Path) -> bool:
    """Whether what pytest keeps of a file is missing or old."""
    return rewrite._read_pyc(path, kept(path)) is None  # pyright: ignore[reportPrivateUsage]


def kept(path: Path) -> Path:
    """Where pytest keeps the result."""
    return rewrite.get_cache_dir(path) / (path.stem + rewrite.PYC_TAIL)


def rewrite_all(paths: list[Path], config: pytest.Config) -> None:
    """As pytest does it; a file that is no Python fails where it is imported, with pytest's own words."""
    state = config.stash[rewrite.assertstate_key]
    for path in paths:
        try:
            source_hash, code = rewrite._rewrite_test(path, config)  # pyright: ignore[reportPrivateUsage]
        except (SyntaxError, ValueError):
            continue
        if rewrite.try_makedirs(rewrite.get_cache_dir(path)):
            rewrite._write_pyc(state, code, source_hash, kept(path))  # pyright: ignore[reportPrivateUsage]


def _rewriting(paths: list[Path], config: pytest.Config) -> int:
    """A process that does it; it ends without what this one would do at its end."""
    child = os.fork()
    if child == 0:
        try:
            rewrite_all(paths, config)
        finally:
            os._exit(0)
    return child
