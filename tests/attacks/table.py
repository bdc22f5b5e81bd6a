"""The attacks as a table: `python -m tests.attacks.table docs/sandbox_attacks.md` writes it to the docs."""

import sys
from pathlib import Path

from tests.attacks.attack import Attack
from tests.attacks.suite import SECTIONS

__all__ = ["table", "written"]

BEGIN, END = "<!-- attacks: begin -->", "<!-- attacks: end -->"


def table() -> str:
    """Every attack with what must happen, in sections."""
    return "\n\n".join(f"### {title}\n\n{_rows(attacks)}" for title, attacks in SECTIONS.items())


def _rows(attacks: tuple[Attack, ...]) -> str:
    lines = ["| attack | what is tried | what must happen |", "|---|---|---|"]
    lines += [f"| `{attack.name}` | {attack.title} | {_expected(attack)} |" for attack in attacks]
    return "\n".join(lines)


def _expected(attack: Attack) -> str:
    known = [f"not on `{backend}`, whose guarantee says: {words}" for backend, words in attack.open_on.items()]
    return f"{attack.expects} ({'; '.join(known)})" if known else attack.expects


def written(page: str) -> str:
    """A page with the table between its marks."""
    before, _, rest = page.partition(BEGIN)
    return f"{before}{BEGIN}\n\n{table()}\n\n{END}{rest.partition(END)[2]}"


if __name__ == "__main__":
    path = Path(sys.argv[1])
    path.write_text(written(path.read_text(encoding="utf8")), encoding="utf8")
