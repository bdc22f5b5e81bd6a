"""The runs behind the figures of docs/security.md: each is started here, and says of itself when it was and on what.

`security_figures.py` calls them and writes the page. They take root, for namespaces and other users.
"""

import json
import os
import re
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterable
from contextlib import ExitStack
from pathlib import Path
from typing import Any
from xml.etree import ElementTree as ET

ROOT = Path(__file__).resolve().parents[1]
USER = "1000"
FULL = ("-m", "full or not full", "-p", "no:cacheprovider", "-q", "--no-header", "-o", "junit_family=xunit1")
PROTOCOLS = {
    "test_thousands_of_messages_do_no_harm": "Ludus wire",
    "test_every_message_is_answered_and_the_neighbour_goes_on": "OpenEnv, WebSocket",
    "test_every_request_is_answered_with_a_status_below_500": "OpenEnv, HTTP",
    "test_thousands_of_messages_meant_ill_are_answered": "MCP, HTTP",
    "test_torn_requests_to_the_server_itself_do_no_harm": "heads of HTTP",
    "test_a_page_that_means_ill_is_answered_each_time": "play, WebSocket",
    "test_an_agent_that_means_ill_is_answered_over_its_socket": "MCP, WebSocket",
    "test_whatever_is_asked_of_the_other_addresses_has_a_status_below_500": "pages, catalogue, metrics, HTTP",
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
APART = ("unshare", "--pid", "--fork", "--kill-child", "--mount-proc", "--ipc", "sh", "-c", '"$@"; exit "$?"', "sh")
"""Whom a wall that is weaker than it should be would let signal: nobody of the host. The shell is the first process
there: were it the suite, that would be the parent of orphans, and attacks on a parent could not be made."""


def noted() -> dict[str, str]:
    """When a run begins, and on which code: the last change of the library, with a + where there are others."""
    commit = _git("log", "-1", "--format=%h", "--", "ludus")
    changed = "+" if _git("status", "--porcelain", "--", "ludus") else ""
    return {"date": time.strftime("%Y-%m-%d %H:%M", time.gmtime()), "code": f"{commit}{changed}"}


def _git(*words: str) -> str:
    return subprocess.run(["git", *words], cwd=ROOT, capture_output=True, text=True, check=True).stdout.strip()


# --- attacks ---


def attacks(names: list[str]) -> list[dict[str, Any]]:
    """The cells of both users, Docker's with a daemon that is started for them."""
    command = [sys.executable, str(ROOT / "scripts" / "security_attacks.py"), *names]
    apart = APART if any("@" in name for name in names) else ()
    closed = next((str(one) for one in reversed(Path(sys.base_prefix).parents) if not one.stat().st_mode & 1), "")
    as_user = ("unshare", "-m", "--propagation", "private", "sh", "-c", AS_USER, "sh", closed, sys.base_prefix)
    with ExitStack() as undo:
        own = {"LUDUS_USER": USER, "PYTHONDONTWRITEBYTECODE": "1", "PYTHONPATH": str(ROOT)}
        variables = {**os.environ, **own, **(_daemon(undo) if not names or "docker" in names else {})}
        running = [subprocess.Popen([*apart, *around, *command], env=variables, stdout=subprocess.PIPE, cwd=ROOT)
                   for around in ((), as_user)]  # fmt: skip
        outputs = [one.communicate()[0] for one in running]
    return [cell for one in outputs for cell in json.loads(one)]


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


# --- others ---


def faults(_: list[str]) -> dict[str, Any]:
    """Ten minutes of random kills."""
    return _reported("benchmarks/faults.py", "--seconds", "600", "--sessions", "50", "--workers", "3")


def sessions(_: list[str]) -> dict[str, Any]:
    """Twenty thousand sessions."""
    return _reported("benchmarks/sessions.py", "--sessions", "20000")


def _reported(*command: str) -> dict[str, Any]:
    """What a benchmark writes down."""
    with tempfile.TemporaryDirectory(prefix="ludus-figures-") as folder:
        path = Path(folder) / "result.json"
        subprocess.run([sys.executable, *command, "--json", str(path)], cwd=ROOT, check=False, stdout=sys.stderr)
        return json.loads(path.read_text(encoding="utf8"))


def messages(names: list[str]) -> list[dict[str, Any]]:
    """A hundred thousand hostile messages on each protocol, or on those whose tests are named."""
    found: list[dict[str, Any]] = []
    for name in names or PROTOCOLS:
        began = noted()
        cases = [one for one in _tested("tests/server", f"{name} and 100000") if one.get("name", "").startswith(name)]
        row = {"protocol": PROTOCOLS[name], "messages": 100_000, "test": name, "passed": _passed(cases)}
        found.append(row | {"seconds": round(sum(float(one.get("time", 0)) for one in cases))} | began)
    return found


def servers(_: list[str]) -> dict[str, Any]:
    """Two thousand servers that mean ill, against one client."""
    cases = _tested("tests/client/test_hostile_servers.py", "survived or twisted or no_protocol or whoever_asks")
    properties = [one for case in cases for one in case.iter("property")]
    grown = max(float(one.get("value", 0)) for one in properties if one.get("name") == "MiB")
    count = sum(int(one.get("value", 0)) for one in properties if one.get("name") == "servers")
    return {"servers": count, "MiB": round(grown, 1), "passed": _passed(cases)}


def _tested(path: str, chosen: str) -> list[ET.Element]:
    """The cases of a run of pytest."""
    with tempfile.TemporaryDirectory(prefix="ludus-figures-") as folder:
        report = Path(folder) / "report.xml"
        words = [sys.executable, "-m", "pytest", *FULL, path, "-k", chosen, "--junitxml", str(report)]
        subprocess.run(words, cwd=ROOT, check=False, stdout=sys.stderr)
        return list(ET.parse(report).iter("testcase"))


def _passed(cases: Iterable[ET.Element]) -> bool:
    """Whether there were some, and all of them passed."""
    passed = [not any(child.tag in ("failure", "error", "skipped") for child in case) for case in cases]
    return bool(passed) and all(passed)


def lowest(_: list[str]) -> dict[str, Any]:
    """The lowest versions that are allowed, installed and used."""
    command = [sys.executable, "scripts/lowest.py", str(ROOT / "build" / "lowest")]
    done = subprocess.run(command, cwd=ROOT, check=False, capture_output=True, text=True)
    print(done.stdout[-4000:], done.stderr[-4000:], file=sys.stderr)
    tried = re.findall(r"^(\w+): (works|FAILS)$", done.stdout, re.MULTILINE)
    pins = re.findall(r"^\S+ +(\S+) +installed \S+$", done.stdout, re.MULTILINE)
    failed = [name for name, how in tried if how != "works"]
    return {"versions": len(pins), "trials": len(tried), "failed": failed, "passed": done.returncode == 0}


def delegation(names: list[str]) -> list[dict[str, Any]]:
    """Control groups of version 2, in a machine whose kernel is named."""
    began = noted()
    with tempfile.TemporaryDirectory(prefix="ludus-figures-") as folder:
        path = Path(folder) / "result.json"
        command = ["sh", "scripts/cgroup_v2.sh", names[0], sys.executable, str(path)]
        subprocess.run(command, cwd=ROOT, check=True, stdout=sys.stderr)
        return [one | began for one in json.loads(path.read_text(encoding="utf8"))]


RUNS: dict[str, Callable[[list[str]], Any]] = {
    "attacks": attacks, "faults": faults, "sessions": sessions, "messages": messages, "servers": servers,
    "lowest": lowest, "delegation": delegation,
}  # fmt: skip
