"""What a service costs beside OpenEnv: a user's own typed environment at both, in one run, taking turns.

    python benchmarks/service [--quick] [--rounds N] [--sessions N] [--only PART …] [--json FILE] [--page FILE]

Needs OpenEnv in an environment of its own: `make build/peers/openenv/.installed`, or `make peers`. Without `--only`,
all parts: steps, sessions, starts, held, records, isolation, calls, lines.
"""

import argparse
import asyncio
import json
from pathlib import Path
from tempfile import TemporaryDirectory

from held import hold
from parts import figures, lines
from race import Row, lanes_beside_sessions, race_sessions, race_starts, race_steps
from report import Results, show, write_page
from servers import PEER, Services, services

BESIDE = ("steps", "sessions", "starts", "held")
"""What needs OpenEnv."""
PARTS = (*BESIDE, "records", "isolation", "calls", "lines")
HELD_SECONDS = 20.0


def arguments() -> argparse.Namespace:
    """What is asked for."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--quick", action="store_true", help="short rounds: to try the code, not to quote")
    parser.add_argument("--rounds", type=int, help="7, or 3 where it is to be quick")
    parser.add_argument("--sessions", type=int, help="to be held: 2000, or 200 where it is to be quick")
    parser.add_argument("--only", nargs="+", choices=PARTS, default=PARTS, metavar="PART")
    parser.add_argument("--json", type=Path, help="write the figures here as well")
    parser.add_argument("--page", type=Path, help="write a page of the docs")
    given = parser.parse_args()
    given.rounds = given.rounds or (3 if given.quick else 7)
    given.sessions = given.sessions or (200 if given.quick else 2000)
    return given


def measure_services(found: Results, given: argparse.Namespace, where: Services) -> None:
    """All that needs the servers."""
    scale, seconds = (0.3, 1.0) if given.quick else (1.0, 3.0)
    steps = race_steps(where, given.rounds, scale) if "steps" in given.only else list[Row]()
    sessions = race_sessions(where, given.rounds, seconds) if "sessions" in given.only else list[Row]()
    found.rows += [*steps, *sessions]
    if steps and sessions:
        place = next(place for place, row in enumerate(steps) if "lanes" in row.work)
        found.rows.insert(place + 1, lanes_beside_sessions(steps[place], sessions[0]))
    if "held" in given.only:
        found.held = asyncio.run(hold(where.ours.url, given.sessions, HELD_SECONDS / (4 if given.quick else 1)))


def measure(given: argparse.Namespace, folder: Path) -> Results:
    """All that is asked for."""
    found = Results(given.rounds, [], quick=given.quick)
    if {"steps", "sessions", "held"} & set(given.only):
        with services(folder) as where:
            measure_services(found, given, where)
    if "starts" in given.only:
        found.rows += race_starts(given.rounds)
    if "records" in given.only:
        found.records = figures(folder, "records.py", *(["--quick"] if given.quick else []))
    if "isolation" in given.only:
        found.isolation = figures(folder, "sandbox.py", "--typed", "--rounds", "4" if given.quick else "20")
    if "calls" in given.only:
        found.calls = figures(folder, "calls.py", "--only", "connect")
    if "lines" in given.only:
        found.lines = lines()
    return found


def main() -> None:
    """Measure, print, and write what is asked for."""
    given = arguments()
    if set(BESIDE) & set(given.only) and not PEER.exists():
        print("service: OpenEnv is not installed; run `make build/peers/openenv/.installed`")
        return
    with TemporaryDirectory() as folder:
        found = measure(given, Path(folder))
    show(found)
    if given.page:
        given.page.write_text(write_page(found), encoding="utf8")
    if given.json:
        given.json.write_text(json.dumps(found.to_json(), indent=1) + "\n", encoding="utf8")


if __name__ == "__main__":
    main()
