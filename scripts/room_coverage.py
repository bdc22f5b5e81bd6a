"""Coverage by room: `python scripts/room_coverage.py build/coverage.json`, after `make cover` has measured it."""

import json
import sys
from collections import defaultdict
from collections.abc import Iterator, Mapping
from pathlib import Path, PurePath
from typing import Any


def by_room(files: Mapping[str, Any]) -> dict[str, float]:
    """Per cent of lines and branches together, as coverage itself counts them, for each folder of the package."""
    done, there = defaultdict[str, int](int), defaultdict[str, int](int)
    for name, file in files.items():
        parts = PurePath(name).parts
        room = parts[parts.index("ludus") + 1].removesuffix(".py")
        found = file["summary"]
        done[room] += found["covered_lines"] + found.get("covered_branches", 0)
        there[room] += found["num_statements"] + found.get("num_branches", 0)
    return {room: 100 * done[room] / there[room] if there[room] else 100.0 for room in sorted(there)}


def lines(report: Mapping[str, Any]) -> Iterator[str]:
    """A line for each room, and the total."""
    for room, share in by_room(report["files"]).items():
        yield f"{room:<12} {share:5.1f} %"
    yield f"{'all':<12} {report['totals']['percent_covered']:5.1f} %"


if __name__ == "__main__":
    print(*lines(json.loads(Path(sys.argv[1]).read_text(encoding="utf8"))), sep="\n")
