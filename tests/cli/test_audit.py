"""`ludus audit`."""

import pytest

from tests.registry.conftest import Site

pytestmark = pytest.mark.no_cover

MODULE = """
from ludus.envs.teaching.grid_world import GridWorld


class Maze(GridWorld):
    def __init__(self):
        super().__init__(3)
        try:
            open("/etc/passwd").close()
        except OSError:
            pass
"""
CATALOG = '[envs."mazes/Maze-v0"]\nentry_point = "mazes:Maze"\n'
HONEST = CATALOG + '[envs."mazes/Maze-v0".security]\nfiles = ["read:/etc/passwd"]\n'
METADATA = "Metadata-Version: 2.1\nName: mazes\nVersion: 1.0\nLicense: MIT\n"


@pytest.fixture
def mazes(tmp_path):
    """A package on a path that the command is told of."""
    site = Site(tmp_path / "site")

    def install(catalog):
        site.install("mazes", {"envs": "mazes:ludus.toml"}, {"mazes/__init__.py": MODULE, "mazes/ludus.toml": catalog})
        site.write("mazes-1.0.dist-info/METADATA", METADATA)
        site.record("mazes")
        return site

    return install


def audit(program, site, *arguments):
    return program("audit", "mazes", *arguments, PYTHONPATH=str(site.folder), PATH="/usr/bin:/bin:/usr/sbin:/sbin")


def test_a_package_that_keeps_to_its_word_is_clean(program, mazes, read):
    done = audit(program, mazes(HONEST), "--json")
    assert (done.returncode, done.stderr) == (0, "")
    report = read(done.stdout)
    [package] = report["packages"]
    assert (package["name"], package["version"], package["licence"], package["files"]) == ("mazes", "1.0", "MIT", 4)
    assert package["environments"][0]["seen"]["files"] == ["read:/etc/passwd"]
    assert report["findings"] == []
    assert [one["kind"] for one in report["unchecked"]] == ["vulnerability"]


def test_findings_are_told_and_give_exit_code_1(program, mazes):
    site = mazes(CATALOG)
    site.write("mazes/more.py", "")
    done = audit(program, site)
    assert done.returncode == 1
    for words in (
        "mazes/Maze-v0 │ nothing",
        "files read:/etc/passwd",
        "mazes  files  mazes/more.py was added after the installation",
        "mazes  permissions  mazes/Maze-v0 uses files that it does not declare: read:/etc/passwd",
        "mazes  vulnerability, not checked  pip-audit is not installed; `pip install pip-audit`",
        "2 findings, 1 thing not checked",
    ):
        assert words in done.stdout


def test_code_need_not_be_run_and_what_was_not_checked_may_count(program, mazes):
    site = mazes(CATALOG)
    done = audit(program, site, "--no-run")
    assert done.returncode == 0
    assert "its environments were not run: that was not asked for" in done.stdout
    assert "no findings, 2 things not checked" in done.stdout
    assert audit(program, site, "--no-run", "--strict").returncode == 1


def test_a_package_that_is_not_installed_is_one_line_and_exit_code_2(ludus):
    done = ludus("audit", "nowhere-to-be-found")
    assert (done.exit_code, done.stdout) == (2, "")
    assert done.stderr == "audit: expected installed packages, got 'nowhere-to-be-found'\n"


def test_by_default_ludus_is_audited_too(ludus, read):
    report = read(ludus("audit", "--no-run", "--json").stdout)
    assert "ludus-rl" in [one["name"] for one in report["packages"]]
