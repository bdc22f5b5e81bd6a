"""`ludus info`."""

import pytest

from ludus.core import Security, WrapperSpec
from ludus.errors import SandboxUnavailable
from ludus.registry import isolation, registry

ISOLATED = """
import pathlib
from ludus.envs.teaching.grid_world import GridWorld
try:
    pathlib.Path(__file__).with_name("imported.txt").write_text("here")
except OSError:
    pass
class Isolated(GridWorld): pass
"""


def test_it_shows_spec_spaces_arguments_and_security(ludus):
    shown = ludus("info", "GridWorld-v0").stdout
    for line in (
        "GridWorld-v0  teaching · ludus",
        "observations   Box(0, 4, (2,), int64)",
        "actions        Discrete(4)",
        "arguments      size: int = 5",
        "time limit     100 steps",
        "deterministic  yes",
        "code           ludus.envs.teaching.grid_world:GridWorld",
        "may touch      by its own word, nothing but its own memory",
        "isolation      none needed",
        "code by        built-in: ludus",
        "can reach      whatever you can: it runs in this process",
    ):
        assert line in shown


def test_as_json_it_is_complete(ludus, read):
    data = read(ludus("info", "GridWorld", "--json").stdout)
    assert data["spec"]["id"] == "GridWorld-v0"
    assert data["package"] == "ludus-rl"
    assert data["security"]["isolation"] == "none"
    assert data["trust"] == {
        "code": [{"level": "built-in", "names": ["ludus", "ludus-rl"]}],
        "isolation": "none",
        "reasons": [],
        "granted": False,
    }
    assert data["action_space"] == {"type": "Discrete", "n": 4, "start": 0, "dtype": "int64"}


def test_code_need_not_be_loaded(ludus, read):
    assert "spaces         not loaded" in ludus("info", "GridWorld-v0", "--no-load").stdout
    assert "action_space" not in read(ludus("info", "GridWorld-v0", "--no-load", "--json").stdout)


@pytest.fixture
def dangerous():
    spec = registry.register(
        "tests/Dangerous-v0",
        "nowhere_to_be_found:Env",
        reward_threshold=9.5,
        kwargs={"size": 3},
        additional_wrappers=[WrapperSpec("Clip", "x:Clip", {})],
        aliases=["tests/Risky-v0"],
        extras=["fast"],
        security=Security(
            network=("example.org:443",), subprocesses=("git",), dependencies=("chess>=1",), isolation="sandbox"
        ),
    )
    return spec.id


def test_all_that_a_spec_says_is_shown(ludus, dangerous):
    shown = ludus("info", dangerous, "--no-load")
    assert shown.exit_code == 0
    for line in (
        "spaces         not loaded",
        "solved at      return 9.5",
        "set to         size=3",
        "wrappers       Clip",
        "aliases        tests/Risky-v0",
        "extras         fast",
        "network        example.org:443",
        "subprocesses   git",
        "dependencies   chess>=1",
        "isolation      sandbox or stronger: its spec asks for it",
        "code by        third-party: nowhere_to_be_found; third-party: x",
        "can reach      the interpreter and its packages, to read, and nothing of what",
        "it declares, which nobody granted; ludus.trust(PACKAGE,",
    ):
        assert line in shown.stdout


@pytest.mark.no_cover
def test_code_that_asks_for_isolation_is_loaded_in_isolation(program, folder):
    (folder / "isolated.py").write_text(ISOLATED)
    done = program("info", "isolated:Isolated", LUDUS_TRUST="first-party=sandbox")
    assert done.returncode == 0, done.stderr
    for line in (
        "observations   Box(0, 4, (2,), int64)",
        "arguments      known inside the sandbox only",
        "isolation      sandbox or stronger: LUDUS_TRUST says first-party=sandbox",
        "code by        first-party: isolated",
        "can reach      the interpreter and its packages, to read: it declares no more,",
    ):
        assert line in done.stdout
    assert not (folder / "imported.txt").exists()


def test_where_no_isolation_can_be_had_the_spec_is_shown_and_nothing_runs(ludus, dangerous, monkeypatch):
    def nothing(isolation):
        raise SandboxUnavailable("sandbox: got none")

    monkeypatch.setattr(isolation, "sandbox_for", nothing)
    shown = ludus("info", dangerous)
    assert shown.exit_code == 2
    assert "network        example.org:443" in shown.stdout
    assert "expected to run behind a sandbox (its spec asks for it), got none that starts here" in shown.stderr
    assert ludus("info", dangerous, "--no-load").exit_code == 0


def test_what_the_spec_says_is_shown_even_if_the_code_cannot_be_loaded(ludus):
    registry.register("tests/Lost-v0", "nowhere_to_be_found:Env", description="Lost.")
    shown = ludus("info", "tests/Lost-v0")
    assert shown.exit_code == 2
    assert "Lost." in shown.stdout
    assert "spaces         not loaded" in shown.stdout
    assert "expected a module 'nowhere_to_be_found' that can be imported" in shown.stderr


def test_a_module_of_the_current_folder_is_found_and_deprecation_is_said(program):
    done = program("info", "my_module:tests/Corridor")
    assert done.returncode == 0
    assert "tests/Corridor-v0  tests · my_module" in done.stdout
    assert "hello" not in done.stdout
    assert "warning: tests/Corridor-v0 is deprecated: too [short]" in done.stderr


def test_an_unknown_id_is_one_line_and_exit_code_2(program):
    done = program("info", "GridWrld-v0")
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr == (
        "no environment 'GridWrld-v0'; did you mean 'GridWorld-v0'? "
        f"`ludus list` shows the {len(registry)} known ones\n"
    )
