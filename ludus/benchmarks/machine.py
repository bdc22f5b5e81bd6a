"""The machine and the versions that figures were taken on: what a reader needs to judge them, and no names or paths."""

import os
import platform
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path

from ludus.version import __version__

__all__ = ["describe_machine"]


def describe_machine() -> dict[str, str]:
    """The processor, its cores that may be used, how busy they are, and the versions of what Ludus runs on.

    >>> sorted(describe_machine())
    ['cores', 'load', 'ludus', 'numba', 'numpy', 'processor', 'python', 'system']
    """
    return {
        "processor": _processor(),
        "cores": str(len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count()),
        "load": f"{os.getloadavg()[0]:.1f}",
        "system": f"{platform.system()} {platform.machine()}",
        "python": platform.python_version(),
        "numpy": _version("numpy"),
        "numba": _version("numba"),
        "ludus": __version__,
    }


def _processor() -> str:
    try:
        lines = Path("/proc/cpuinfo").read_text(encoding="utf8").splitlines()
    except OSError:
        return platform.processor() or "unknown"
    pairs = (line.partition(":") for line in lines)
    return next((value.strip() for name, _, value in pairs if name.strip() == "model name"), "unknown")


def _version(package: str) -> str:
    try:
        return version(package)
    except PackageNotFoundError:
        return "not installed"
