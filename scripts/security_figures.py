"""Keep the figures of docs/security.md: run the attacks, take the results of other runs, write the page.

    python scripts/security_figures.py attacks [BACKEND ...]      # as root and as an ordinary user; takes root
    python scripts/security_figures.py add faults RESULT.json     # of benchmarks/faults.py --json
    python scripts/security_figures.py add sessions RESULT.json   # of benchmarks/sessions.py --json
    python scripts/security_figures.py add messages RESULT.xml    # of pytest -m full --junitxml, tests/server/*hostile*
    python scripts/security_figures.py add delegation RESULT.json # of scripts/cgroup_v2.sh
    python scripts/security_figures.py page

Figures are data in docs/assets/security.json; the page holds what is written there, and a test compares the two.
"""

import json
import os
import platform
import re
import subprocess
import sys
import tempfile
import time
from contextlib import ExitStack
from pathlib import Path
from typing import Any
from xml.etree import ElementTree as ET

ROOT = Path(__file__).resolve().parents[1]
DATA, PAGE = ROOT / "docs" / "assets" / "security.json", ROOT / "docs" / "security.md"
BEGIN, END = "<!-- figures: begin -->", "<!-- figures: end -->"
USERS = ("root", "ordinary user")
BACKENDS = ("bubblewrap", "landlock", "podman", "docker", "gvisor", "process")
USER = "1000"
PROTOCOLS = {
    "test_thousands_of_messages_do_no_harm": "Ludus wire",
    "test_every_message_is_answered_and_the_neighbour_goes_on": "OpenEnv, WebSocket",
    "test_every_request_is_answered_with_a_status_below_500": "OpenEnv, HTTP",
    "test_thousands_of_messages_meant_ill_are_answered": "MCP, HTTP",
    "test_torn_requests_to_the_server_itself_do_no_harm": "heads of HTTP",
}
AS_USER = """
set -e
closed=$1; prefix=$2; shift 2
if [ -n "$closed" ]; then
    mount --bind "$prefix" /mnt
    mount -t tmpfs -o mode=755 none "$closed"
    mkdir -p "$prefix"
    mount --bind /mnt "$prefix"
fi
export HOME=$(mktemp -d)
chown "$LUDUS_USER" "$HOME"
exec setpriv --reuid="$LUDUS_USER" --regid="$LUDUS_USER" --clear-groups --inh-caps=-all --bounding-set=-all "$@"
"""
"""The interpreter may lie where only root comes: then it is shown to the user, in mounts of their own."""


def attacks(names: list[str]) -> list[dict[str, Any]]:
    """The cells of both users, Docker's with a daemon that is started for them."""
    command = [sys.executable, str(ROOT / "scripts" / "security_attacks.py"), *names]
    closed = next((str(one) for one in reversed(Path(sys.base_prefix).parents) if not one.stat().st_mode & 1), "")
    around = ["unshare", "-m", "--propagation", "private", "sh", "-c", AS_USER, "sh", closed, sys.base_prefix]
    with ExitStack() as undo:
        own = {"LUDUS_USER": USER, "PYTHONDONTWRITEBYTECODE": "1", "PYTHONPATH": str(ROOT)}
        variables = {**os.environ, **own, **_daemon(undo)}
        running = [subprocess.Popen(one, env=variables, stdout=subprocess.PIPE, cwd=ROOT)
                   for one in (command, [*around, *command])]  # fmt: skip
        told = [one.communicate()[0] for one in running]
    return [cell for one in told for cell in json.loads(one)]


def _daemon(undo: ExitStack) -> dict[str, str]:
    """Where a daemon of Docker listens, which anybody may ask; nothing where there is none to start."""
    folder = Path(undo.enter_context(tempfile.TemporaryDirectory(prefix="ludus-dockerd-")))
    folder.chmod(0o755)
    command = ["dockerd", "--data-root", folder / "data", "--exec-root", folder / "exec", "--pidfile", folder / "pid",
               "-H", f"unix://{folder}/docker.sock", "--iptables=false", "--bridge=none"]  # fmt: skip
    try:
        daemon = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    except FileNotFoundError:
        return {}
    undo.callback(daemon.wait)
    undo.callback(daemon.terminate)
    ends = time.monotonic() + 60
    while not (folder / "docker.sock").exists() and time.monotonic() < ends:
        time.sleep(0.1)
    (folder / "docker.sock").chmod(0o666)
    return {"DOCKER_HOST": f"unix://{folder}/docker.sock"}


def messages(path: Path) -> list[dict[str, Any]]:
    """The runs of hostile messages out of a report of pytest."""
    found: list[dict[str, Any]] = []
    for case in ET.parse(path).iter("testcase"):
        name, _, count = case.get("name", "").partition("[")
        if name in PROTOCOLS and count.startswith("100000"):
            passed = not any(child.tag in ("failure", "error", "skipped") for child in case)
            found.append({"protocol": PROTOCOLS[name], "messages": 100_000, "test": name, "passed": passed})
    return found


def _merged(before: list[dict[str, Any]], found: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Runs of before, but for protocols that were run again: each takes its minutes, and may have a run of its own."""
    new = {one["protocol"] for one in found}
    return [*(one for one in before if one["protocol"] not in new), *found]


def table(data: dict[str, Any]) -> str:
    """The figures as Markdown."""
    cells = {(one["user"], one["backend"]): one for one in data["attacks"]}
    lines = [
        f"Attacks of the suite that came to nothing, on Linux {data.get('kernel', '–')}; times are UTC:", "",
        f"| backend | run | {' | '.join(USERS)} |", f"|---|---|{'---|' * len(USERS)}",
        *(f"| {one} | {_when(cells, one)} | {' | '.join(_cell(cells.get((user, one))) for user in USERS)} |"
          for one in BACKENDS), "",
        "What enforces the limits:", "",
        f"| limit | {' | '.join(f'bubblewrap, {user}' for user in USERS)} |", f"|---|{'---|' * len(USERS)}",
        *(f"| {limit} | {' | '.join(_means(cells.get((user, 'bubblewrap')), limit) for user in USERS)} |"
          for limit in ("memory", "processes", "disk", "network", "kill")), "",
        "| run | when | figures |", "|---|---|---|", *_runs(data),
    ]  # fmt: skip
    return "\n".join(lines)


def _when(cells: dict[tuple[str, str], dict[str, Any]], backend: str) -> str:
    """When a backend was attacked; both users are run at once."""
    return ", ".join(sorted({one["date"] for (_, name), one in cells.items() if name == backend})) or "–"


def _cell(cell: dict[str, Any] | None) -> str:
    if cell is None:
        return "not run"
    if "refused" in cell:
        return f"does not start: {cell['refused'][:140].replace('|', '/')}"
    known = [f"`{name}` is known to get through: {why}" for name, why in cell["known to get through"].items()]
    failed = [f"**`{name}` got through**" for name in cell["failed"]]
    rest = [f"{cell['not promised']} not promised"] if cell["not promised"] else []
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
            f"{faults['workers']} workers, seed {faults['seed']} | {faults['date']} | {kinds}; {faults['steps']:,} "
            f"steps; longest call {faults['longest call, seconds']} s; {wrong} |"
        )
    if sessions := data.get("sessions"):
        first, last = sessions["after a tenth"], sessions["at the end"]
        grown = "; ".join(f"{side} {first[side]['MiB']} → {last[side]['MiB']} MiB" for side in first)
        rows.append(f"| {sessions['sessions']:,} sessions of four protocols | {sessions['date']} | {grown} |")
    for one in data.get("messages", []):
        told = "each answered or ended, neighbours go on" if one["passed"] else "**failed**"
        rows.append(
            f"| {one['messages']:,} hostile messages, {one['protocol']} | {one['date']} | {told} (`{one['test']}`) |"
        )
    return rows + [
        f"| cgroup v2: {one['place']}, Linux {one['kernel']}, systemd {one['systemd']} | {one['date']} | "
        f"{one['told']} |"
        for one in data.get("delegation", [])
    ]


def written(page: str, data: dict[str, Any]) -> str:
    """A page with the figures between its marks."""
    before, _, rest = page.partition(BEGIN)
    return f"{before}{BEGIN}\n\n{table(data)}\n\n{END}{rest.partition(END)[2]}"


def _now(moment: float | None = None) -> str:
    return time.strftime("%Y-%m-%d %H:%M", time.gmtime(moment))


def main(words: list[str]) -> int:
    """Do what is asked for; the exit code tells whether an attack got through."""
    data: dict[str, Any] = json.loads(DATA.read_text(encoding="utf8")) if DATA.exists() else {"attacks": []}
    if words[:1] == ["attacks"]:
        found = [one | {"date": _now()} for one in attacks(words[1:])]
        new = {(one["user"], one["backend"]) for one in found}
        kept = [one for one in data["attacks"] if (one["user"], one["backend"]) not in new]
        release = re.match(r"[\d.]+\d", platform.release())
        data |= {"attacks": [*kept, *found], "kernel": release[0] if release else ""}
    elif words[:1] == ["add"]:
        kind, path = words[1], Path(words[2])
        found = messages(path) if kind == "messages" else json.loads(path.read_text(encoding="utf8"))
        ended = {"date": _now(path.stat().st_mtime)}
        found = [one | ended for one in found] if isinstance(found, list) else found | ended
        data[kind] = _merged(data.get(kind, []), found) if kind == "messages" else found
    elif words[:1] != ["page"]:
        raise SystemExit(__doc__)
    DATA.write_text(json.dumps(data, indent=1, ensure_ascii=False) + "\n", encoding="utf8")
    PAGE.write_text(written(PAGE.read_text(encoding="utf8"), data), encoding="utf8")
    return int(any(one.get("failed") for one in data["attacks"]))


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
