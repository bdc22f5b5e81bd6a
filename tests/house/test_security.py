"""The page of security: its figures are those of the runs, and the tests it names are there."""

import ast
import json
import re
import sys
from pathlib import Path

import pytest
from hatchling.builders.wheel import WheelBuilder

from tests.attacks import attacks

INSTALLERS = "pip3? install|(?:uv|poetry|pdm) add|(?:pipx|uv tool) install|(?:conda|mamba) install"
HINT = re.compile(rf"""(?:{INSTALLERS})(?: +[^\s`;&|#]+)*? +["'`]*ludus(?![\w-])""")
RUN = re.compile(r"""(?:uvx|(?:pipx|uv tool) run|--with|--from)(?: +-[\w-]+)*[ =]+["'`]*ludus(?![\w-])""")
"""The same for one run of a program of it."""
PIN = re.compile(r"""(?:^|["'`])ludus(?:\[[\w,-]*\])? *(?:[<>=~!]=|@ |[<>] *\d)""", re.MULTILINE)
"""The same as a requirement of a file."""
EXTRA = re.compile(r"(?<![\w.])ludus\[[a-z][a-z,-]*\]")
"""The same without a version."""
BINARY = (".png", ".pyc", ".so", ".gif", ".mp4", ".zip", ".ludus", ".woff2", ".ico")


def test_the_page_holds_the_figures_of_the_runs(root, monkeypatch):
    monkeypatch.setattr(sys, "path", [str(root / "scripts"), *sys.path])
    from security_figures import written  # found by the line above

    page = (root / "docs" / "security.md").read_text(encoding="utf8")
    data = json.loads((root / "docs" / "assets" / "security.json").read_text(encoding="utf8"))
    assert page == written(page, data), "write it anew: python scripts/security_figures.py page"


def test_what_came_of_the_attacks_on_a_backend_is_told(root, monkeypatch):
    monkeypatch.setattr(sys, "path", [str(root / "scripts"), *sys.path])
    import security_attacks  # found by the line above

    monkeypatch.setattr(security_attacks, "attacks", list)
    told = security_attacks.cell("process", "somebody")
    assert (told["user"], told["attacks"], told["held"], told["failed"]) == ("somebody", 0, 0, {})
    assert told["enforced by"].keys() == {"memory", "processes", "cpu", "disk", "network", "kill"}


def test_no_attack_of_a_run_got_through_and_none_was_left_out(root):
    """What was not run, the page calls so."""
    data = json.loads((root / "docs" / "assets" / "security.json").read_text(encoding="utf8"))
    for cell in (one for one in data["attacks"] if "refused" not in one):
        if cell["backend"] != "process":  # which is no boundary
            assert cell["attacks"] == len(attacks()), "python scripts/security_figures.py attacks"
        assert cell["failed"] == {}


def test_every_test_that_the_page_names_is_there(root):
    page = (root / "docs" / "security.md").read_text(encoding="utf8")
    named = set(re.findall(r"`(test_\w+)`", page))
    there = {
        node.name
        for path in (root / "tests").rglob("test_*.py")
        for node in ast.walk(ast.parse(path.read_text(encoding="utf8")))
        if isinstance(node, ast.FunctionDef)
    }
    assert len(named) > 30
    assert named - there == set()
    paths = re.findall(r"`((?:tests|benchmarks|scripts)/[\w/.]+)`", page)
    assert [path for path in paths if not (root / path).exists()] == []


def test_the_package_carries_no_attack(root):
    """What is installed has a self-check; programs that attack are for those who have the repository."""
    built = [Path(one.path) for one in WheelBuilder(str(root)).recurse_included_files()]
    assert len(built) > 500
    hostile = list((root / "tests" / "attacks").rglob("*.py"))
    assert len(hostile) > 30
    bodies = {text for one in hostile if len(text := one.read_bytes()) > 200}
    assert [str(one) for one in built if one.suffix == ".py" and one.read_bytes() in bodies] == []
    assert [str(one) for one in built if {"attacks", "hostile", "tests"} & set(one.relative_to(root).parts)] == []
    assert [str(one) for one in built if one.suffix == ".py" and b"tests.attacks" in one.read_bytes()] == []


def test_no_hint_installs_somebody_elses_package(root):
    """`ludus` in the package index is not ours."""
    folders = ("docs", "ludus", "examples", "scripts", "benchmarks", "requirements", ".github", ".ci")
    places = [*root.glob("*"), *(one for name in folders for one in (root / name).rglob("*"))]
    texts = {
        one: one.read_text(encoding="utf8", errors="replace")
        for one in places
        if one.is_file() and one.suffix not in BINARY
    }
    assert len(texts) > 1000
    found = {str(one.relative_to(root)): _installs(text) for one, text in texts.items()}
    assert {path: said for path, said in found.items() if said} == {}


def _installs(text: str) -> list[str]:
    return [one.group() for pattern in (HINT, RUN, PIN, EXTRA) for one in pattern.finditer(text)]


@pytest.mark.parametrize(
    "line",
    [
        'dependencies = ["ludus>=1"]',
        "numpy\nludus[serve] == 1.0",
        'dependencies = ["numpy", "ludus[serve]"]',
        "pip install -U 'ludus[serve]'",
        "RUN pip install --no-cache-dir -r requirements.txt ludus",
        "uvx ludus list",
        "uvx --from ludus ludus list",
        "uv run --with=ludus program.py",
    ],
)
def test_a_hint_that_installs_somebody_elses_package_is_seen(line):
    assert _installs(line)


@pytest.mark.parametrize(
    "line",
    [
        'dependencies = ["ludus-rl>=1"]',
        "pip install ludus-rl",
        "pip install 'ludus-rl[serve]' && ludus list",
        "uvx --from ludus-rl ludus list",
    ],
)
def test_a_hint_that_installs_ours_is_none(line):
    assert _installs(line) == []
