"""Keep the figures of docs/security.md: make a run, put what comes of it down, write the page.

    python scripts/security_figures.py attacks [BACKEND ...]    # as root and as an ordinary user; landlock@3: forced
    python scripts/security_figures.py faults|sessions|servers|lowest
    python scripts/security_figures.py messages [TEST ...]
    python scripts/security_figures.py delegation KERNEL        # of user-mode Linux: see scripts/cgroup_v2.sh
    python scripts/security_figures.py page

Figures are data in docs/assets/security.json, each with the time at which its run began and the last change of the
library before it; the page holds what is written there, and a test compares the two. Takes root.
"""

import json
import platform
import re
import sys
from typing import Any

from security_runs import ROOT, RUNS, noted

DATA, PAGE = ROOT / "docs" / "assets" / "security.json", ROOT / "docs" / "security.md"
BEGIN, END = "<!-- figures: begin -->", "<!-- figures: end -->"
USERS = ("root", "ordinary user")
BACKENDS = ("bubblewrap", "landlock", "podman", "docker", "gvisor", "process")
KEYS = {"attacks": ("user", "backend"), "messages": ("protocol",), "delegation": ("place",)}
"""Of runs that have several rows: what tells them apart, so that each can be run again by itself."""


def table(data: dict[str, Any]) -> str:
    """The figures as Markdown."""
    cells = {(one["user"], one["backend"]): one for one in data["attacks"]}
    lines = [
        f"Attacks of the suite that came to nothing, on Linux {data.get('kernel', '–')}; times are UTC:", "",
        f"| backend | run | {' | '.join(USERS)} |", f"|---|---|{'---|' * len(USERS)}",
        *(f"| {one} | {_when(cells, one)} | {' | '.join(_cell(cells.get((user, one))) for user in USERS)} |"
          for one in [*BACKENDS, *sorted({name for _, name in cells} - {*BACKENDS})]), "",
        "What enforces the limits:", "",
        f"| limit | {' | '.join(f'bubblewrap, {user}' for user in USERS)} |", f"|---|{'---|' * len(USERS)}",
        *(f"| {limit} | {' | '.join(_means(cells.get((user, 'bubblewrap')), limit) for user in USERS)} |"
          for limit in ("memory", "processes", "disk", "network", "kill")), "",
        "| run | when | figures |", "|---|---|---|", *_runs(data),
    ]  # fmt: skip
    return "\n".join(lines)


def _when(cells: dict[tuple[str, str], dict[str, Any]], backend: str) -> str:
    """When a backend was attacked; both users are run at once."""
    return ", ".join(sorted({_moment(one) for (_, name), one in cells.items() if name == backend})) or "–"


def _moment(run: dict[str, Any]) -> str:
    """When a run began, and on which code."""
    return f"{run['date']}, {run['code']}" if "code" in run else run["date"]


def _cell(cell: dict[str, Any] | None) -> str:
    if cell is None:
        return "not run"
    if "refused" in cell:
        return f"does not start: {cell['refused'][:140].replace('|', '/')}"
    how = "gets through, as its guarantee says" if "code" in cell else "is known to get through"
    known = [f"`{name}` {how}: {words}" for name, words in cell["known to get through"].items()]
    failed = [f"**`{name}` got through**" for name in cell["failed"]]
    rest = [f"{cell['not promised']} not promised"] if cell["not promised"] else []
    if not_made := cell.get("not made"):
        rest.append(f"{len(not_made)} not to be made, for it may not even signal itself")
    return "; ".join([f"{cell['held']} of {cell['attacks']}", *rest, *known, *failed])


def _means(cell: dict[str, Any] | None, limit: str) -> str:
    return "not run" if cell is None or "refused" in cell else cell["enforced by"][limit] or "–"


def _runs(data: dict[str, Any]) -> list[str]:
    rows: list[str] = []
    if faults := data.get("faults"):
        kinds = ", ".join(f"{kind} {count}×" for kind, count in sorted(faults["faults"].items()))
        found = (
            f"**at the end {what}: {len(one) if isinstance(one, list) else one}**"
            for what, one in faults["wrong"].items()
        )
        wrong = ", ".join(found) or "nothing left, no client hung, no foreign error"
        rows.append(
            f"| random faults, {faults['seconds'] / 60:g} minutes, {faults['sessions']} sessions over "
            f"{faults['workers']} workers, seed {faults['seed']} | {_moment(faults)} | {kinds}; {faults['steps']:,} "
            f"steps; longest call {faults['longest call, seconds']} s; {wrong} |"
        )
    if sessions := data.get("sessions"):
        first, last = sessions["after a tenth"], sessions["at the end"]
        grown = "; ".join(f"{side} {first[side]['MiB']} → {last[side]['MiB']} MiB" for side in first)
        wrong = "".join(f"; **{one}**" for one in sessions["wrong"])
        rows.append(f"| {sessions['sessions']:,} sessions of four protocols | {_moment(sessions)} | {grown}{wrong} |")
    if servers := data.get("servers"):
        result = "no foreign exception" if servers["passed"] else "**failed**"
        rows.append(
            f"| {servers['servers']:,} servers that mean ill, one client | {_moment(servers)} | {result}; at most "
            f"{servers['MiB']} MiB more (`test_two_thousand_servers_are_survived`) |"
        )
    for one in data.get("messages", []):
        result = "each answered or ended, neighbours go on" if one["passed"] else "**failed**"
        rows.append(
            f"| {one['messages']:,} hostile messages, {one['protocol']} | {_moment(one)} | {result} (`{one['test']}`) |"
        )
    if lowest := data.get("lowest"):
        failed = f"**failed: {', '.join(lowest['failed']) or 'before the trials'}**"
        result = f"{lowest['trials']} trials work" if lowest["passed"] else failed
        rows.append(f"| the lowest versions of {lowest['versions']} packages | {_moment(lowest)} | {result} |")
    return rows + [
        f"| cgroup v2: {one['place']}, Linux {one['kernel']}, systemd {one['systemd']} | {_moment(one)} | "
        f"{one['told']} |"
        for one in data.get("delegation", [])
    ]


def written(page: str, data: dict[str, Any]) -> str:
    """A page with the figures between its marks."""
    before, _, rest = page.partition(BEGIN)
    return f"{before}{BEGIN}\n\n{table(data)}\n\n{END}{rest.partition(END)[2]}"


def merged(kind: str, before: list[dict[str, Any]], found: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Rows of before, but for those that were run again."""
    keys = KEYS[kind]
    new = {tuple(one[key] for key in keys) for one in found}
    return [*(one for one in before if tuple(one[key] for key in keys) not in new), *found]


def main(words: list[str]) -> int:
    """Do what is asked for; the exit code tells whether something got through, or failed."""
    kind = words[0] if words else ""
    if kind not in (*RUNS, "page"):
        raise SystemExit(__doc__)
    began = noted()
    found = RUNS[kind](words[1:]) if kind in RUNS else None
    data: dict[str, Any] = json.loads(DATA.read_text(encoding="utf8")) if DATA.exists() else {"attacks": []}
    if isinstance(found, list):
        data[kind] = merged(kind, data.get(kind, []), [began | one for one in found])
    elif found is not None:
        data[kind] = found | began
    if kind == "attacks":
        release = re.match(r"[\d.]+\d", platform.release())
        data["kernel"] = release[0] if release else ""
    DATA.write_text(json.dumps(data, indent=1, ensure_ascii=False) + "\n", encoding="utf8")
    PAGE.write_text(written(PAGE.read_text(encoding="utf8"), data), encoding="utf8")
    rows: list[dict[str, Any]] = found if isinstance(found, list) else [found or {}]
    return int(any(one.get("failed") or one.get("wrong") or not one.get("passed", True) for one in rows))


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
