"""Measure what Ludus wants to reach, beside the peers, and write the page from what came out.

python benchmarks/suite --peers PYTHON [--peers PYTHON] [--page docs/benchmarks.md] [--json FILE]
python benchmarks/suite --from FILE --page docs/benchmarks.md
"""

import argparse
import sys
from pathlib import Path

from bars import all_bars
from measure import Results, measure
from page import write_page
from rich.console import Console

from ludus.benchmarks import Arena, RacePace


def arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--peers", action="append", metavar="PYTHON", help="an interpreter that has other libraries")
    parser.add_argument("--seconds", type=float, default=0.1, help="the length of a round")
    parser.add_argument("--rounds", type=int, default=20, help="how many; the best counts")
    parser.add_argument("--page", type=Path, help="write the page here, and its picture beside it")
    parser.add_argument("--json", type=Path, help="write the results here as well")
    parser.add_argument("--from", dest="source", type=Path, help="do not measure: take the results of --json")
    return parser.parse_args()


def results(given: argparse.Namespace) -> Results:
    if given.source:
        return Results.load(given.source)
    console = Console(stderr=True)
    with console.status("starting") as status, Arena(RacePace(given.seconds, given.rounds), status.update) as arena:
        return measure(arena, given.peers or [sys.executable])


def main() -> None:
    given = arguments()
    found = results(given)
    if given.json:
        found.save(given.json)
    if given.page:
        write_page(found, given.page)
    for bar in all_bars(found):
        verdict = {True: "met", False: "not met", None: "not available"}[bar.met]
        measured = "–" if bar.measured is None else f"{bar.measured:.3g}{bar.unit}"
        note = f" ({bar.note})" if bar.note else ""
        print(f"{verdict}: {bar.work}, {bar.against or 'at most'}: {measured} of {bar.wanted:g}{bar.unit}{note}")


if __name__ == "__main__":
    main()
