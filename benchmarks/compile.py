"""What compiling costs: processor seconds to make a batch, in a new process, compiled for the first time and from disk.

    python benchmarks/compile.py [ID …]

Every figure is over an interpreter that has loaded nothing; the least of some rounds, since others may use the machine.
"""

import os
import subprocess
import sys
import tempfile

IDS = ("CartPole-v1", "Blackjack-v1", "ReversedAddition3-v0", "Taxi-v4")
ROUNDS = 3
MADE = "import ludus; from ludus.vector import Kernel; ludus.make_vec({id!r}, 64, executor=Kernel(checks={checks}))"
CASES = {
    "import numba": "import numba",
    "import ludus": "import ludus",
    "the compiler": "import ludus.kernels.batch",
}


def cpu_seconds(code: str, folder: str) -> float:
    """The processor time of a new process that runs some code."""
    timed = f"{code}\nimport resource; u = resource.getrusage(resource.RUSAGE_SELF); print(u.ru_utime + u.ru_stime)"
    environment = {
        "LUDUS_CACHE_DIR": folder,
        "LUDUS_QUIET": "1",
        "PATH": "/usr/bin:/bin",
        **({"PYTHONPATH": os.environ["PYTHONPATH"]} if "PYTHONPATH" in os.environ else {}),
    }
    done = subprocess.run([sys.executable, "-c", timed], env=environment, capture_output=True, text=True, check=True)
    return float(done.stdout)


def least(code: str, folder: str, floor: float, rounds: int = ROUNDS) -> float:
    """The least of some rounds, over an empty interpreter."""
    return min(cpu_seconds(code, folder) for _ in range(rounds)) - floor


def main() -> None:
    """Print the table."""
    with tempfile.TemporaryDirectory() as folder:
        floor = min(cpu_seconds("pass", folder) for _ in range(ROUNDS))
        for name, code in CASES.items():
            print(f"{name:24} {least(code, folder, floor):6.2f} s")
    print(f"{'':24} {'first':>8} {'checked':>8} {'cached':>8}")
    for name in sys.argv[1:] or IDS:
        with tempfile.TemporaryDirectory() as folder:
            plain, checked = (MADE.format(id=name, checks=checks) for checks in (False, True))
            figures = least(plain, folder, floor, 1), least(checked, folder, floor, 1), least(plain, folder, floor)
        print(f"{name:24} " + " ".join(f"{one:6.2f} s" for one in figures))


if __name__ == "__main__":
    main()
