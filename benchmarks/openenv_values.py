"""Our client beside OpenEnv's two on OpenEnv's own server: seconds of the client's processor for a step, in turns.

    sh scripts/peers.sh && python benchmarks/openenv_values.py [ROUNDS] [CASE…] [--json FILE]

A ratio is that client's time over ours: 1 is as quick, more is slower than we are. `generic` gives dictionaries as
they came, `typed` makes Pydantic models; ours checks everything by the server's schema and gives objects with its
fields. The load falls on all alike, since each case is asked of them in turns; the least of the rounds counts.
"""

import json
import subprocess
import sys
import time
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import ludus

HERE = Path(__file__).resolve().parent
PYTHON = HERE.parent / "build/peers/openenv-0.10.0/bin/python"
THEIRS = HERE / "strangers/their_values.py"
STEPS = {"small": 100, "records": 5, "open": 5, "numbers": 10, "nan": 10, "text": 10, "lines": 10, "words": 10}
STEPS |= {"picture": 3, "unannounced": 100}
ROUNDS = 7


class LineProgram:
    """A program that does what it is told, line by line."""

    def __init__(self, stack: ExitStack, *command: str) -> None:
        pipe = subprocess.PIPE
        self._process: Any = stack.enter_context(subprocess.Popen(command, stdin=pipe, stdout=pipe, text=True))
        stack.callback(self._process.terminate)
        self.first_line: str = self._process.stdout.readline().strip()

    def __call__(self, case: str, count: int) -> float:
        self._process.stdin.write(f"{case} {count}\n")
        self._process.stdin.flush()
        return float(self._process.stdout.readline())


def ours(env: Any, case: str, count: int) -> float:
    """Seconds of this processor for so many steps."""
    begin = time.process_time()
    for _ in range(count):
        env.step({"case": case})
    return time.process_time() - begin


def measured(rounds: int, cases: list[str]) -> dict[str, dict[str, float]]:
    """Milliseconds of a step of each client, in each of the cases."""
    with ExitStack() as stack:
        url = f"http://127.0.0.1:{LineProgram(stack, str(PYTHON), str(THEIRS), 'serve').first_line}"
        clients: dict[str, Any] = {
            kind: LineProgram(stack, str(PYTHON), str(THEIRS), kind, url) for kind in ("generic", "typed")
        }
        env = stack.enter_context(ludus.connect(url, timeout=120))
        env.reset()
        clients["ours"] = lambda case, count: ours(env, case, count)
        found: dict[str, dict[str, float]] = {}
        for case in cases:
            count = STEPS[case]
            times = [{name: client(case, count) for name, client in clients.items()} for _ in range(rounds)]
            found[case] = {name: min(one[name] for one in times) / count * 1e3 for name in clients}
    return found


def main(arguments: list[str]) -> None:
    """Print a table, and write it where asked."""
    path = arguments[arguments.index("--json") + 1] if "--json" in arguments else None
    rounds = int(arguments[0]) if arguments[:1] and arguments[0].isdigit() else ROUNDS
    found = measured(rounds, [case for case in STEPS if case in arguments] or [*STEPS])
    print(f"{'case':10}{'ours ms':>10}{'generic ms':>12}{'typed ms':>10}{'generic/ours':>14}{'typed/ours':>12}")
    for case, one in found.items():
        ratios = one["generic"] / one["ours"], one["typed"] / one["ours"]
        print(
            f"{case:10}{one['ours']:10.3f}{one['generic']:12.3f}{one['typed']:10.3f}{ratios[0]:14.2f}{ratios[1]:12.2f}"
        )
    if path is not None:
        Path(path).write_text(json.dumps(found, indent=1), encoding="utf8")


if __name__ == "__main__":
    main(sys.argv[1:])
