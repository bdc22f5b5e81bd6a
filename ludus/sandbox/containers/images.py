"""The default image: this interpreter and what it needs, from this machine, without a registry.

It holds the interpreter at its own path, its standard library, the shared libraries of both, and a few of the host's
commands; packages are mounted over it (`host_mounts`), so that it is built once and an edited package counts at once.
"""

import hashlib
import os
import re
import shutil
import site
import subprocess
import sys
import sysconfig
import tarfile
from collections.abc import Iterator
from contextlib import suppress
from functools import cache
from io import RawIOBase
from pathlib import Path

from ludus.errors import SandboxUnavailable
from ludus.sandbox.bwrap import ETC, HOME
from ludus.sandbox.containers.api import Api, EngineError
from ludus.sandbox.containers.layout import Layout
from ludus.sandbox.launcher_process import interpreter
from ludus.sandbox.locks import user_lock
from ludus.sandbox.mounts import PACKAGE
from ludus.sandbox.policy import Mount

__all__ = ["host_image", "host_mounts"]

RECIPE = ("images.py", "layout.py")
"""Part of the digest: a change of how the image is made makes a new one."""
LABEL = "ludus.image"
COMMANDS = (
    "[", "awk", "basename", "bash", "cat", "chmod", "cmp", "cp", "cut", "date", "dd", "df", "diff", "dirname", "du",
    "echo", "env", "expr", "false", "find", "grep", "gzip", "head", "hostname", "id", "kill", "ln", "ls", "mkdir",
    "mkfifo", "mktemp", "mv", "nproc", "od", "printf", "ps", "pwd", "readlink", "realpath", "rm", "rmdir", "sed", "seq",
    "sh", "sha256sum", "sleep", "sort", "stat", "tail", "tar", "tee", "test", "timeout", "touch", "tr", "true",
    "uname", "uniq", "wc", "which", "xargs", "yes",
)  # fmt: skip
LIBRARIES = (
    "libdl.so.2", "libgcc_s.so.1", "libgomp.so.1", "libm.so.6", "libnss_dns.so.2", "libnss_files.so.2",
    "libpthread.so.0", "libresolv.so.2", "librt.so.1", "libstdc++.so.6", "libutil.so.1",
)  # fmt: skip
"""What compiled packages take for granted, beside what the interpreter needs itself."""
AUTHORITIES = ("/etc/ssl/certs/ca-certificates.crt", "/usr/lib/ssl/cert.pem", "/etc/pki/tls/cert.pem")
LOADER = "/etc/ld.so.cache"
UNUSED = {"site-packages", "dist-packages", "test", "tests", "idlelib", "tkinter", "turtledemo", "ensurepip", "lib2to3"}
FOLDERS = {"/etc": 0o755, "/run": 0o755, "/var/tmp": 0o755, "/tmp": 0o1777, HOME: 0o1777}  # noqa: S108
LINKS = ("/bin", "/sbin", "/lib", "/lib32", "/lib64")
CHUNK_BYTES = 1 << 20
UNUSED_FILES = re.compile(r"\.opt-[12]\.pyc$|^_tkinter\.")
LDD_BATCH_SIZE, LDD_TIMEOUT_S = 16, 120
"""Programs that ldd is asked about in one call, and how long that may take."""
_FOUND = re.compile(r"^\t(?:\S+ => )?(/\S+) \(0x[0-9a-f]+\)$", re.MULTILINE)


def host_mounts() -> tuple[Mount, ...]:
    """The virtual environment (or the installed packages) and Ludus itself, read-only, at their own paths."""
    folders = [sys.prefix] if sys.prefix != sys.base_prefix else site.getsitepackages()
    if not any(PACKAGE.is_relative_to(folder) for folder in folders):
        folders = [*folders, str(PACKAGE)]
    return tuple(Mount(os.path.abspath(folder)) for folder in folders if os.path.isdir(folder))


def host_image(api: Api) -> str:
    """The name of the default image; where it is not there it is built, which takes seconds, once."""
    name = f"localhost/ludus-{digest()}"
    if api.image(name) is None:
        with user_lock("host-image"):  # one build at a time, whichever process asks
            if api.image(name) is None:
                _build(api, name)
    return name


@cache
def digest() -> str:
    """Of all that the image is made from, by path, size and time of change."""
    known = hashlib.sha256(sys.version.encode())
    for file in (*(Path(__file__).with_name(name) for name in RECIPE), *sorted(ETC.iterdir())):
        known.update(file.read_bytes())
    for path in (*_sources(), LOADER):
        found = os.stat(path) if os.path.exists(path) else None
        known.update(f"{path}\0{found and (found.st_size, found.st_mtime_ns)}\n".encode())
    return known.hexdigest()[:16]


def _build(api: Api, name: str) -> None:
    series = hashlib.sha256(interpreter().encode()).hexdigest()[:16]
    outdated = api.images(f"{LABEL}={series}")
    api.import_image(name, _write, changes=f"LABEL {LABEL}={series}")
    if api.image(name) is None:
        raise SandboxUnavailable(f"container image: expected {name} to be there once it is built, got nothing")
    for other in outdated:
        with suppress(EngineError):  # in use: it goes the next time
            api.remove_image(other)


def _write(file: RawIOBase) -> None:
    with tarfile.open(fileobj=file, mode="w|", bufsize=CHUNK_BYTES, format=tarfile.PAX_FORMAT) as archive:
        layout = Layout(archive)
        for path, mode in FOLDERS.items():
            layout.folder(path, mode)
        for setting in sorted(ETC.iterdir()):
            layout.text(f"/etc/{setting.name}", setting.read_text(encoding="utf8"))
        sources = _sources()
        for path in (*LINKS, *sources, *_libraries(sources), *AUTHORITIES, LOADER):
            layout.add(path)


@cache
def _sources() -> tuple[str, ...]:
    """The interpreter, its library and the commands; what these load is found when the image is built."""
    commands = [path for name in COMMANDS if (path := shutil.which(name, path="/usr/bin:/bin"))]
    return (*_names(), *commands, *sorted(_standard_library()))


def _names() -> list[str]:
    """The interpreter, and the other names for it beside it: virtual environments point at any of them."""
    folder = os.path.dirname(interpreter())
    beside = sorted(os.path.join(folder, name) for name in os.listdir(folder) if name.startswith("python"))
    return [interpreter(), *(path for path in beside if os.path.realpath(path) == interpreter())]


def _standard_library() -> Iterator[str]:
    for folder, folders, files in os.walk(sysconfig.get_path("stdlib")):
        folders[:] = [one for one in folders if one not in UNUSED and not one.startswith("config-")]
        yield from (os.path.join(folder, one) for one in files if not UNUSED_FILES.search(one))


def _libraries(sources: tuple[str, ...]) -> list[str]:
    """The shared libraries that the loader opens for them, at the paths where it finds them."""
    found = _loaded([path for path in sources if path.endswith(".so") or os.access(path, os.X_OK)])
    folders = sorted({os.path.dirname(path) for path in found})
    named = [path for name in LIBRARIES for folder in folders if os.path.exists(path := os.path.join(folder, name))]
    return sorted(found | _loaded(named) | set(named))


def _loaded(programs: list[str]) -> set[str]:
    paths, found = list(map(os.path.realpath, programs)), set[str]()
    for at in range(0, len(paths), LDD_BATCH_SIZE):
        command = ["ldd", *paths[at : at + LDD_BATCH_SIZE]]
        try:
            result = subprocess.run(command, capture_output=True, text=True, timeout=LDD_TIMEOUT_S, check=False)
        except subprocess.TimeoutExpired as error:
            raise SandboxUnavailable(
                f"image of the host: expected ldd to tell the libraries of {LDD_BATCH_SIZE} programs "
                f"within {LDD_TIMEOUT_S} s, "
                "got no answer; try again when the machine is less busy"
            ) from error
        found |= set(_FOUND.findall(result.stdout))  # it grumbles about what is not dynamic, and lists the rest
    return found
