"""What `import ludus` takes of the processor once NumPy is there.

    python benchmarks/imports.py [--runs 20]

Each run is a new interpreter with bytecode. Whatever else the machine does only adds to it: the least counts.
"""

import argparse
import statistics
import subprocess
import sys

BAR_MS = 40.0
PROGRAM = "import time, numpy; t = time.process_time(); import ludus; print(1000 * (time.process_time() - t))"


def cost_ms() -> float:
    """Of one interpreter."""
    return float(subprocess.run([sys.executable, "-c", PROGRAM], capture_output=True, text=True, check=True).stdout)


def main() -> None:
    """Print the least and the median."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--runs", type=int, default=20)
    found = [cost_ms() for _ in range(parser.parse_args().runs)]
    print(
        f"import ludus over NumPy: {min(found):.1f} ms at best, {statistics.median(found):.1f} median (bar {BAR_MS:g})"
    )


if __name__ == "__main__":
    main()
