"""Extras: what an environment needs besides its package, and the line to type where that is not installed."""

import re
from importlib.metadata import PackageNotFoundError, distribution

from ludus.core import EnvSpec

__all__ = ["install_line"]

EXTRA = re.compile(r"extra\s*==\s*['\"]([^'\"]+)['\"]")
NAME = re.compile(r"[A-Za-z0-9._-]+")
OTHER = re.compile(r"\b(python_version|python_full_version|sys_platform|platform_\w+|implementation_name)\b")


def install_line(spec: EnvSpec, package: str) -> str:
    """What to type so that an environment of a package can be made; empty where its extras are installed.

    Nothing is imported for that: what is asked is which packages are there.

    >>> install_line(EnvSpec("Grid-v0", "ludus.envs.teaching:Grid"), "ludus-rl")
    ''
    >>> install_line(EnvSpec("Maze-v0", "mazes:Maze", extras=("big",)), "no-such-package")
    'pip install "no-such-package[big]"'
    """
    if all(_installed(package, extra) for extra in spec.extras):
        return ""
    return f'pip install "{package}[{",".join(spec.extras)}]"'


def _installed(package: str, extra: str) -> bool:
    try:
        for one in distribution(package).requires or ():
            requirement, _, marker = one.partition(";")
            # What is asked for on other systems only may be absent here.
            if extra in EXTRA.findall(marker) and not OTHER.search(marker) and (name := NAME.match(requirement)):
                distribution(name[0])
    except PackageNotFoundError:
        return False
    return True
