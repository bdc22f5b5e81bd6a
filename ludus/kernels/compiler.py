"""The compiler: rules and a loop over lanes become machine code, kept on disk for the next process."""

import hashlib
import os
import re
import sys
import types
from collections.abc import Callable, Iterator
from functools import cache
from pathlib import Path
from typing import Any

import numba
import numpy as np
from numba.core.errors import NumbaError

from ludus.errors import KernelError
from ludus.kernels.displays import tuple_code
from ludus.kernels.random import Stream
from ludus.kernels.rules import Rules
from ludus.kernels.source import Layout, kernel_source
from ludus.kernels.store import LOOP_NAMES
from ludus.kernels.views import rows_at, values_at

__all__ = ["compile_rules", "explain"]

# No fast-math and no contraction: a batch has to give the bits that the interpreted rules give.
OPTIONS: dict[str, Any] = {"nogil": True, "error_model": "numpy", "forceinline": False}
DRAWN_ARRAYS = {"permutation", "shuffle", "choice"}


@cache
def compile_rules(rules: Rules, layout: Layout) -> Callable[..., int]:
    """The loop for a set of rules; Numba compiles it when it is first called."""
    functions = list(rules.functions.values())
    # Arrays made on the way need counting of references, which costs every lane two or three nanoseconds.
    counts = any(column.shape for column in layout.columns if column.name.startswith("s_")) or _makes_arrays(functions)
    options: dict[str, Any] = OPTIONS | {"_nrt": counts}
    text = kernel_source(layout)
    path = _kept_source(text, rules, functions)
    _announce(path, rules)
    seen: dict[Any, Any] = {}
    # Numba looks the module of a kept function up by name when it loads it.
    module = types.ModuleType(f"ludus_kernel_{path.stem if path else id(rules)}")
    if path is not None:
        sys.modules[module.__name__] = module
    scope: dict[str, Any] = vars(module)
    scope |= LOOP_NAMES | {
        "np": np,
        **{name: kind for kind, name in layout.records.items()},
        "Params": rules.params,
        "Stream": Stream,
        "rows_at": rows_at,
        "values_at": values_at,
        "unsigned": np.uint64,  # an index that may be negative costs a test at every access
        "kept": numba.njit(cache=path is not None, **options),
        "inner": numba.njit(**options),
    }
    for name, rule in rules.functions.items():
        # A step that is called instead of written into the loop costs half as much again.
        inline = {"forceinline": name in ("step", "observe")}
        scope[f"rule_{name}"] = _compiled(rule, seen, options, inline)
    exec(compile(text, str(path) if path else "<kernel>", "exec"), scope)  # noqa: S102  (text of our own making)
    return scope["run_lanes"]


def _announce(path: Path | None, rules: Rules) -> None:
    """One line, where seconds are about to pass; LUDUS_QUIET=1 leaves it out."""
    if os.environ.get("LUDUS_QUIET") or (path is not None and any(_machine_code(path))):
        return
    kept = f"kept in {path.parent}" if path else "not kept: rules of a module that can be imported are"
    sys.stderr.write(f"ludus: compiling the rules of {rules.step.__module__} ({kept})\n")


def _machine_code(path: Path) -> Iterator[Path]:
    """Where Numba keeps what it compiled from a file."""
    return (path.parent / "__pycache__").glob(f"{path.stem}.*.nbi")


def _makes_arrays(functions: list[Any]) -> bool:
    """Whether any function that is reached uses NumPy, or draws an array."""
    for one in _reached(functions):
        names = set(one.__code__.co_names)
        used = [one.__globals__.get(name) for name in names]
        if names & DRAWN_ARRAYS or any(_of_numpy(thing) for thing in used):
            return True
    return False


def _of_numpy(thing: Any) -> bool:
    return thing is np or str(getattr(thing, "__module__", "")).partition(".")[0] == "numpy"


def _compiled(
    function: Any, seen: dict[Any, Any], options: dict[str, Any], inline: dict[str, bool] | None = None
) -> Any:
    """A rule, and every plain function it calls, for use in compiled code."""
    if function in seen:
        return seen[function]
    scope = {"float": _double, **function.__globals__}
    for name in function.__code__.co_names:
        called = scope.get(name)
        if isinstance(called, types.FunctionType) and called is not function:
            scope[name] = _compiled(called, seen, options)
    copy = types.FunctionType(
        tuple_code(function.__code__), scope, function.__name__, function.__defaults__, function.__closure__
    )
    copy.__module__, copy.__qualname__ = function.__module__, function.__qualname__
    choices: dict[str, Any] = options | (inline or {})
    seen[function] = numba.njit(**choices)(copy)
    return seen[function]


@numba.njit(**OPTIONS)
def _double(x: Any) -> Any:
    """What `float(x)` means in Python; Numba's leaves a single-precision number as it is."""
    return np.float64(x)


def explain(rules: Rules, error: NumbaError) -> KernelError:
    """What Numba said, shortened to the reason and to the line of the rule it stumbled over."""
    lines = [line.strip() for line in re.sub(r"\x1b\[[0-9;]*m", "", str(error)).splitlines() if line.strip()]
    reason = next((line for line in lines if not line.startswith("Failed in")), "an unknown construct")
    where = next((line.rstrip(":") for line in lines if line.startswith("File ") and "<kernel>" not in line), "")
    caret = next((place for place, line in enumerate(lines) if set(line) == {"^"}), 0)
    return KernelError(
        f"rules of {rules.step.__module__}: expected numbers, tuples and small arrays, got {reason} "
        f"({where}: {lines[caret - 1]}); rewrite that line, or run with executor='serial'"
    )


# --- what is kept on disk ---


def _kept_source(text: str, rules: Rules, functions: list[Any]) -> Path | None:
    """The file that holds `text`, named by all that it depends on; None where nothing can be kept."""
    importable = all(_importable(one) for one in [*functions, rules.state, rules.params])
    folder = _folder() if importable else None
    if folder is None:
        return None
    digest = hashlib.sha256(f"{text}{OPTIONS}{numba.__version__}{np.__version__}{sys.version}".encode())
    own = {str(Path(__file__).with_name(name)) for name in ("compiler.py", "random.py", "store.py", "views.py")}
    called = _reached(functions)
    for source in sorted({one.__code__.co_filename for one in called} | own):
        digest.update(Path(source).read_bytes())
    # One file may hold several sets of rules, and constants may come from files that are not read here.
    for one in [*functions, rules.state, rules.params]:
        digest.update(f"{one.__module__}:{one.__qualname__};".encode())
    for one in called:
        digest.update(_constants(one).encode())
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


def _reached(functions: list[Any]) -> list[Any]:
    """The rules and every plain function they call, in the order they are met."""
    found: dict[Any, None] = {}
    waiting = list(functions)
    while waiting:
        one = waiting.pop(0)
        if one not in found:
            found[one] = None
            named = [one.__globals__.get(name) for name in one.__code__.co_names]
            waiting += [other for other in named if isinstance(other, types.FunctionType)]
    return list(found)


def _constants(function: Any) -> str:
    """The numbers, text, tuples and arrays of its module that a function uses, as text."""
    used = {name: function.__globals__.get(name) for name in function.__code__.co_names}
    plain = {name: one for name, one in used.items() if isinstance(one, int | float | str | bytes | tuple)}
    arrays = {name: one.tobytes() for name, one in used.items() if isinstance(one, np.ndarray)}
    return f"{function.__qualname__}{plain}{arrays}"
