"""Dependencies: whatever the package imports is declared, with a lower bound that `make lowest` can try."""

import ast
import re
import subprocess
import sys
import tomllib
from functools import cache
from pathlib import Path

import pytest
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

pytestmark = pytest.mark.xdist_group("files of the package")  # one worker parses them, once
ROOT = Path(__file__).resolve().parents[2]
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf8"))
EXTRAS = PROJECT["project"]["optional-dependencies"]
DISTRIBUTIONS = {"PIL": "pillow", "pyspiel": "open-spiel", "yaml": "pyyaml", "pygame": "pygame-ce"}
"""Of modules that are not called as what they are installed by."""
LOADERS = ("import_module", "find_spec", "module_namespace")
PROGRAMS = {"pip-audit"}
"""Looked for, and run as programs where they are."""
LOOKED_FOR = {"scipy", "smolagents"}
"""Never loaded by us: whether Numba would find it is asked, so that it is not loaded for nothing; or where it lies, for
the sandboxed interpreter that loads it."""
TYPES = {"typing-extensions"}
"""Known to type checkers by themselves, and imported under TYPE_CHECKING alone."""
UNUSED = {"box2d", "mujoco", "ray"}
"""Extras of engines that no environment of ours uses yet."""
BUNDLES = {"all", "open", "dev", "test"}
"""Extras that name others."""


def imported(path):
    """The top-level modules that a file imports: by statements, in functions too, and by name as text."""
    for node in ast.walk(ast.parse(path.read_text(encoding="utf8"))):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and not node.level:
            yield node.module
        elif isinstance(node, ast.Call) and getattr(node.func, "attr", getattr(node.func, "id", "")) in LOADERS:
            yield from (one.value for one in node.args[:1] if isinstance(getattr(one, "value", None), str))


@cache
def third_parties(folder):
    """Distribution by distribution, the files that import from it."""
    found = {}
    for path in sorted(folder.rglob("*.py")):
        beside = {one.stem for one in path.parent.glob("*.py")}  # of programs that run from their own folder
        if path.parent.name == "starter":  # a task's: files that it shares lie beside it in the workspace
            beside |= {one.stem for one in path.parents[1].glob("*.py")}
        for top in {name.partition(".")[0] for name in imported(path)} - {*sys.stdlib_module_names, *beside}:
            found.setdefault(canonicalize_name(DISTRIBUTIONS.get(top, top)), set()).add(str(path.relative_to(folder)))
    return found


def declared():
    listed = [*PROJECT["project"]["dependencies"], *(one for extra in EXTRAS.values() for one in extra)]
    return {canonicalize_name(Requirement(one).name) for one in listed}


def peers():
    """What benchmarks compare with, installed where it does not meet us."""
    lines = [line for path in ROOT.glob("benchmarks/peers/*.txt") for line in path.read_text().splitlines()]
    return {canonicalize_name(re.match(r"[\w.-]+", line)[0]) for line in lines if re.match(r"\w", line)}


def test_every_third_party_that_is_imported_is_declared():
    known = {"ludus", *PROGRAMS, *LOOKED_FOR, *TYPES, *declared()}
    found = {name: files for name, files in third_parties(ROOT / "ludus").items() if name not in known}
    contestants = {name for name, files in found.items() if all(one.startswith("benchmarks/") for one in files)}
    assert {name: files for name, files in found.items() if name not in contestants & peers()} == {}


def test_what_only_types_need_is_never_loaded():
    everything = "import sys, ludus, ludus.spaces.record; print('typing_extensions' in sys.modules)"
    found = subprocess.run([sys.executable, "-c", everything], capture_output=True, text=True, check=True, cwd=ROOT)
    assert found.stdout == "False\n"


def test_an_import_is_seen_however_it_is_spelt(tmp_path):
    (tmp_path / "odd.py").write_text(
        "import os, strange_one.part as x\nfrom strange_two.a import b\nfrom . import c\nimport near\n"
        "def f():\n    import PIL.Image\n    importlib.import_module('strange_three.x')\n"
        "    find_spec('strange_four')\n    import_module(name)\n"
    )
    (tmp_path / "near.py").write_text("")
    assert set(third_parties(tmp_path)) == {"strange-one", "strange-two", "strange-three", "strange-four", "pillow"}


def test_every_bound_has_a_least_version():
    """Or nobody could say whether it is true."""
    users = [one for name, extra in EXTRAS.items() if name not in BUNDLES for one in extra]
    for one in map(Requirement, [*PROJECT["project"]["dependencies"], *users]):
        assert [clause.operator for clause in one.specifier] == [">="], one


def test_what_is_tried_at_its_least_version_is_all_that_can_be(script):
    lowest = script("lowest")
    rest = set(EXTRAS) - {*BUNDLES, *lowest.EXTRAS}
    assert rest == {"torch", *UNUSED}
    unused = {canonicalize_name(Requirement(one).name) for name in UNUSED for one in EXTRAS[name]}
    assert unused.isdisjoint(third_parties(ROOT / "ludus"))
    assert "uvicorn==0.52.1" in lowest.lowest(PROJECT)
