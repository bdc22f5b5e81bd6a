"""Write docs/places.md, what holds where, from the data of tests/conformance: `python scripts/places_table.py`."""

import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]


def main() -> None:
    """Write the page; nothing is run."""
    sys.path.insert(0, str(ROOT))
    from tests.conformance.table import counts, page  # found by the line above

    target = ROOT / "docs" / "places.md"
    target.write_text(page(), encoding="utf8")
    print(f"{target.relative_to(ROOT)}: {counts()}")


if __name__ == "__main__":
    main()
