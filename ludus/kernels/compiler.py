"""The compiler: rules and a loop over lanes become machine code, kept on disk for the next process."""

import fcntl
import hashlib
import os
import sys
import types
from collections.abc import Callable, Generator, Iterator
from contextlib import contextmanager, suppress
from functools import cache, partial
from pathlib import Path
from typing import Any

import numba
import numpy as np

from ludus.errors import LudusError
from ludus.kernels.cache import RuleCache
from ludus.kernels.exact.explanation import explain
from ludus.kernels.exact.pipeline import program_of
from ludus.kernels.exact.reach import constants_of, makes_arrays, reached
from ludus.kernels.random import Stream
from ludus.kernels.rules import Rules
from ludus.kernels.source import Layout, kernel_source
from ludus.kernels.store import LOOP_NAMES
from ludus.kernels.views import after_column, given, rows_at, values_at

__all__ = ["compile_rules", "compile_single", "load_rules"]

# No fast-math and no contraction: a batch has to give the bits that the interpreted rules give.
OPTIONS: dict[str, Any] = {"nogil": True, "error_model": "numpy", "forceinline": False}


@cache
def compile_rules(rules: Rules, layout: Layout, checks: bool = False) -> Callable[..., int]:
    """The loop for a set of rules; Numba compiles it when it is first called."""
    arrays = any(column.shape for column in layout.columns if column.name.startswith("s_"))
    records = {name: kind for kind, name in layout.records.items()}
    return _scope(rules, kernel_source(layout), records, checks=checks, arrays=arrays)["run_lanes"]


@cache
def compile_single(rules: Rules) -> dict[str, Callable[..., Any]]:
    """Each rule by itself, for one environment; Numba compiles them when they are first called."""
    text = "".join(
        f"\n@kept\ndef run_{name}({', '.join(taken)}):\n    return rule_{name}({', '.join(taken)})\n"
        for name, taken in rules.arguments.items()
    )
    scope = _scope(rules, text, {"State": rules.state}, checks=False, arrays=True)
    return {name: scope[f"run_{name}"] for name in rules.functions}


def _scope(rules: Rules, text: str, records: dict[str, Any], *, checks: bool, arrays: bool) -> dict[str, Any]:
    """What a module of this text holds, in which the rules are `rule_…` and `kept` makes machine code."""
    functions = list(rules.functions.values())
    # Arrays made on the way need counting of references, which costs every lane two or three nanoseconds.
    options: dict[str, Any] = OPTIONS | {"_nrt": arrays or makes_arrays(functions)}
    path = _kept_source(text, rules, functions, checks)
    _announce(path, rules)
    program = program_of(options, checks=checks, inexact=rules.compiled)
    # Numba looks the module of a kept function up by name when it loads it.
    module = types.ModuleType(f"ludus_kernel_{path.stem if path else id(rules)}")
    if path is not None:
        sys.modules[module.__name__] = module
    scope: dict[str, Any] = vars(module)
    scope |= LOOP_NAMES | {
        "np": np,
        **records,
        "Params": rules.params,
        "Stream": Stream,
        "after_column": after_column,
        "given": given,
        "rows_at": rows_at,
        "values_at": values_at,
        "unsigned": np.uint64,  # an index that may be negative costs a test at every access
        "kept": partial(_kept, options | {"pipeline_class": program.pipeline(rule=False)}, path is not None),
        "inner": program.adapter,
    }
    for name, rule in rules.functions.items():
        # A step that is called instead of written into the loop costs half as much again.
        scope[f"rule_{name}"] = program.compiled(rule, forceinline=name in ("step", "observe"))
    exec(compile(text, str(path) if path else "<kernel>", "exec"), scope)  # noqa: S102  (text of our own making)
    return scope


def _kept(options: dict[str, Any], on_disk: bool, function: Any) -> Any:
    """A function to be compiled, and kept on disk where that is possible."""
    made: Any = numba.njit(**options)(function)
    if on_disk:
        made._cache = RuleCache(function, arrays=options["_nrt"])
    return made


def load_rules(rules: Rules, loop: Callable[..., int], arguments: tuple[Any, ...]) -> None:
    """Compile the loop, or load it from disk, by a call over no lanes: what is wrong with rules is told here."""
    try:
        with _by_one_process(loop):
            loop(*arguments)
    except LudusError:
        raise
    except Exception as error:  # Numba's own, and whatever it stumbles over
        raise explain(rules, error) from error


@contextmanager
def _by_one_process(loop: Any) -> Generator[None]:
    """Of processes that want the same loop at once, one compiles it and the others load what it kept."""
    path = loop.py_func.__code__.co_filename
    if not os.path.isfile(path):
        yield
        return
    with open(path, "rb") as file:
        with suppress(OSError):  # a file system without locks: then each compiles for itself
            fcntl.flock(file, fcntl.LOCK_EX)
        try:
            yield
        finally:
            with suppress(OSError):  # said, not left to closing: a process that was forked meanwhile has the file open
                fcntl.flock(file, fcntl.LOCK_UN)


def _announce(path: Path | None, rules: Rules) -> None:
    """One line, where seconds are about to pass; LUDUS_QUIET=1 leaves it out."""
    if os.environ.get("LUDUS_QUIET") or (path is not None and any(_machine_code(path))):
        return
    kept = f"kept in {path.parent}" if path else "not kept: rules of a module that can be imported are"
    sys.stderr.write(f"ludus: compiling the rules of {rules.step.__module__} ({kept})\n")


def _machine_code(path: Path) -> Iterator[Path]:
    """Where Numba keeps what it compiled from a file."""
    return (path.parent / "__pycache__").glob(f"{path.stem}.*.nbi")


# --- what is kept on disk ---


def _kept_source(text: str, rules: Rules, functions: list[Any], checks: bool) -> Path | None:
    """The file that holds `text`, named by all that it depends on; None where nothing can be kept."""
    importable = all(_importable(one) for one in [*functions, rules.state, rules.params])
    folder = _folder() if importable else None
    if folder is None:
        return None
    versions = f"{numba.__version__}{np.__version__}{sys.version}"
    digest = hashlib.sha256(f"{text}{OPTIONS}{checks}{rules.compiled}{versions}".encode())
    home = Path(__file__).parent
    own = {str(home / name) for name in ("compiler.py", "displays.py", "random.py", "store.py", "views.py")}
    own |= {str(path) for path in (home / "exact").glob("*.py")}
    called = reached(functions)
    for source in sorted({one.__code__.co_filename for one in called} | own):
        digest.update(Path(source).read_bytes())
    # One file may hold several sets of rules, and constants may come from files that are not read here.
    for one in [*functions, rules.state, rules.params]:
        digest.update(f"{one.__module__}:{one.__qualname__};".encode())
    for one in called:
        digest.update(constants_of(one).encode())
    path = folder / f"{rules.step.__module__.replace('.', '_')}_{digest.hexdigest()[:24]}.py"
    try:
        if not path.exists():
            new = path.with_suffix(f".{os.getpid()}")
            new.write_text(text)
            new.replace(path)  # at once: many processes may do the same
    except OSError:
        return None
    return path


def _folder() -> Path | None:
    home = os.environ.get("LUDUS_CACHE_DIR") or os.path.join(
        os.environ.get("XDG_CACHE_HOME") or os.path.join(os.path.expanduser("~"), ".cache"), "ludus"
    )
    folder = Path(home) / "kernels"
    try:
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    except OSError:
        return None
    # Code is loaded from here: a folder that others may write to, or that we may not, is not used.
    status = folder.stat()
    own = not hasattr(os, "getuid") or (status.st_uid == os.getuid() and not status.st_mode & 0o022)
    return folder if own and os.access(folder, os.W_OK) else None


def _importable(thing: Any) -> bool:
    module = sys.modules.get(thing.__module__)
    return thing.__module__ != "__main__" and getattr(module, thing.__qualname__, None) is thing
