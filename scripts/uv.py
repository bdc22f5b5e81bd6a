"""uv with the indexes, folders and certificates that pip is set up with here: `uv.py pip install -r FILE`.

It installs in parallel what pip installs one by one. Where packages come from is said once, to pip (`pip config`, or
variables PIP_…), and all indexes count alike, as they do to pip. What is in uv's cache is installed without asking
anybody, so that another clone needs no network; hashes count there as well. uv itself comes from requirements/uv.lock,
by its hash, into this user's cache. Without `--python` it installs beside the interpreter that runs this.
"""

import contextlib
import hashlib
import os
import subprocess
import sys
import tempfile
from collections.abc import Iterable, Mapping
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
LOCK = ROOT / "requirements" / "uv.lock"

# What pip calls it, what uv calls it, and what stands between several.
NAMES = {
    "index-url": ("UV_DEFAULT_INDEX", " "),
    "extra-index-url": ("UV_INDEX", " "),
    "find-links": ("UV_FIND_LINKS", ","),
    "no-index": ("UV_NO_INDEX", " "),
    "cert": ("SSL_CERT_FILE", " "),
    "trusted-host": ("UV_INSECURE_HOST", " "),
    "timeout": ("UV_HTTP_TIMEOUT", " "),
    "default-timeout": ("UV_HTTP_TIMEOUT", " "),
}


def settings(lines: Iterable[str]) -> dict[str, str]:
    """What `pip config list` says, as variables of uv; the nearest of several sections counts.

    >>> settings(["global.find-links='/wheels /more'", "global.timeout='5'", "install.user='true'"])
    {'UV_FIND_LINKS': '/wheels,/more', 'UV_HTTP_TIMEOUT': '5'}
    """
    found: dict[str, str] = {}
    # A section `install` is more particular than `global`, and the environment than both.
    ranks = {"global": 0, "install": 1, ":env:": 2}
    split = [(*key.rpartition(".")[::2], value) for key, _, value in (line.partition("=") for line in lines)]
    for section, name, value in sorted(split, key=lambda one: ranks.get(one[0], -1)):
        if section in ranks and name in NAMES:
            variable, between = NAMES[name]
            found[variable] = between.join(value.strip("'\"").replace("\\n", " ").split())
    return found


def environment(of_pip: Mapping[str, str], own: Mapping[str, str]) -> dict[str, str]:
    """Variables for uv: what somebody set for it goes before what pip is told."""
    return {"UV_INDEX_STRATEGY": "unsafe-best-match", "UV_LINK_MODE": "copy", **of_pip, **own}


def place(lock: str, variables: Mapping[str, str]) -> Path:
    """The folder of the uv that a lock names, in the cache of this user.

    >>> place("uv==0.9", {"XDG_CACHE_HOME": "/cache"}).parent
    PosixPath('/cache/ludus/uv')
    """
    cache = variables.get("XDG_CACHE_HOME") or os.path.expanduser("~/.cache")
    return Path(cache, "ludus", "uv", hashlib.sha256(lock.encode()).hexdigest()[:16])


def program() -> Path:
    """The program uv, installed where it is not there yet."""
    folder = place(LOCK.read_text(encoding="utf8"), os.environ)
    uv = folder / "bin" / "uv"
    if not uv.is_file():
        folder.parent.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryDirectory(dir=folder.parent, prefix="new-") as new:
            command = [sys.executable, "-m", "pip", "install", "-qq", "--disable-pip-version-check", "--no-deps"]
            target = Path(new, "uv")
            subprocess.run([*command, "--require-hashes", "--target", target, "-r", LOCK], check=True)
            with contextlib.suppress(OSError):  # another clone was first
                target.rename(folder)
    return uv


def main(arguments: list[str]) -> None:
    """Become uv."""
    listed = subprocess.run([sys.executable, "-m", "pip", "config", "list"], check=True, capture_output=True, text=True)
    known = environment(settings(listed.stdout.splitlines()), os.environ)
    installs = arguments[:2] == ["pip", "install"]
    if installs and "--python" not in arguments:
        arguments = [*arguments[:2], "--python", sys.executable, *arguments[2:]]
    uv = program()
    if installs:
        cached = subprocess.run([uv, *arguments, "--offline"], check=False, env=known, capture_output=True)
        if cached.returncode == 0:
            return
    os.execve(uv, [str(uv), *arguments], known)


if __name__ == "__main__":
    main(sys.argv[1:])
