"""Every product of the rules, cell by cell, in one process that can be ended and started again.

    nice python -m tests.kernels.products LOG [--steps N] [--only WORD …] [--list]

Cells are sets of rules in all autoreset modes, seeds of random rules, and operations by a million inputs, with NumPy's
newer instructions and without. A line of the log is a cell with what came of it and the digest of the code that it
holds for: what has passed on this very code is not run again. `make test-full` has the same cells, each as a test.
"""

import argparse
import hashlib
import os
import time
import traceback
import warnings
from collections.abc import Callable, Iterator
from functools import cache, partial
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

ROOT = Path(__file__).parents[2]
CODE = ("ludus/kernels", "ludus/envs/algorithmic", "ludus/envs/classic", "ludus/envs/teaching", "ludus/envs/toy_text")
SEEDS = range(100, 200)
"""Of random rules, twenty for each."""
STEPS = 1_000_000
"""Of a set of rules in each mode, all lanes together."""

Cell = tuple[str, Callable[[], None]]


@cache
def digest() -> str:
    """What the compiler and our own rules are now."""
    found = hashlib.sha256()
    for path in sorted(path for folder in CODE for path in (ROOT / folder).rglob("*.py")):
        found.update(path.read_bytes())
    return found.hexdigest()[:12]


def games(steps: int) -> Iterator[Cell]:
    """Every set of rules, in all modes at once."""
    from tests.kernels.test_long import LANES, NEW, OURS, walk

    for kind in [*OURS, *NEW]:
        yield f"steps={steps} {kind.__name__}", partial(walk, kind, steps // LANES + 1)


def random_rules() -> Iterator[Cell]:
    """Twenty rules of each seed."""
    for seed in SEEDS:
        yield f"random rules {seed}", partial(_play_random, seed)


def _play_random(seed: int) -> None:
    from tests.kernels.random_rules import load
    from tests.kernels.test_fuzz import RULES, played_beside

    with TemporaryDirectory() as folder, warnings.catch_warnings():
        warnings.simplefilter("ignore", RuntimeWarning)
        assert played_beside(load(Path(folder), seed, RULES), seed) is None


def operations() -> Iterator[Cell]:
    """The tests of a million inputs, as they are."""
    from tests.kernels import test_exact as exact
    from tests.kernels.operations import REALS

    def reals() -> None:
        exact.test_every_operation_has_the_interpreters_bits_a_million_times(exact.compiled(REALS, ("x", "y")))

    yield "operations on rows", exact.test_every_operation_on_rows_has_the_interpreters_bits_at_any_length
    yield "operations without newer instructions", exact.test_all_of_it_holds_where_numpy_has_other_loops
    yield "operations on integers", exact.test_every_operation_on_integers_is_the_interpreters_a_million_times
    yield "operations on numbers", reals


def outcome(run: Callable[[], None]) -> str:
    """What a cell came to: `passed`, or the last lines of what it raised."""
    try:
        run()
    except Exception:
        return "FAILED " + " | ".join(traceback.format_exc().splitlines()[-4:])
    return "passed"


def passed(log: Path) -> set[str]:
    """The cells that have passed on this code."""
    rows: Any = [line.split("\t") for line in log.read_text().splitlines()] if log.exists() else []
    return {row[1] for row in rows if row[0] == digest() and row[2] == "passed"}


def main() -> None:
    """Run whatever is left."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("log", type=Path)
    parser.add_argument("--steps", type=int, default=STEPS, help="of each set of rules in each mode")
    parser.add_argument("--only", nargs="+", default=[""], metavar="WORD", help="cells whose names have one of these")
    parser.add_argument("--list", action="store_true", help="say what is left, and run nothing")
    given = parser.parse_args()
    os.environ["LUDUS_QUIET"] = "1"
    done = passed(given.log)
    cells = [*games(given.steps), *random_rules(), *operations()]
    left = [(name, run) for name, run in cells if name not in done and any(word in name for word in given.only)]
    print(f"{digest()}: {len(cells)} cells, {len(done)} have passed, {len(left)} to run", flush=True)
    for name, run in [] if given.list else left:
        start = time.process_time()
        found = outcome(run)
        with given.log.open("a") as log:
            log.write(f"{digest()}\t{name}\t{found}\t{time.process_time() - start:.1f} s\n")


if __name__ == "__main__":
    main()
