"""`check_folder`: what it finds in folders, good and bad."""

import sys

import pytest

from ludus.packaging import scaffold
from ludus.packaging.manifest import read_manifest
from ludus.packaging.requirements import requirements
from ludus.testing.rule import Examination
from ludus.testing.service import check_folder
from ludus.testing.service.folder import EnvFolder
from ludus.testing.service.isolation_rules import LIMIT_RULES

STEPS = 20


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """A new environment, whose module is forgotten afterwards."""
    monkeypatch.setattr(sys, "path", list(sys.path))
    monkeypatch.setattr(sys, "meta_path", list(sys.meta_path))  # what is isolated is located there
    yield scaffold("checked_game", tmp_path, "array")[0].parent
    sys.modules.pop("checked_game", None)


def change(folder, name, before, after):
    path = folder / name
    text = path.read_text()
    assert before in text
    path.write_text(text.replace(before, after))


def found(folder, part="static", **options):
    """Rule, level and message of what one part found."""
    report = check_folder(folder, steps=STEPS, serve=False, **options).parts[part]
    return {one.rule: (one.level, one.message) for one in report.findings}


def limits(folder):
    """What the limits alone find, without the hundreds of steps of the contract."""
    read_manifest(folder).enter()
    report = Examination(LIMIT_RULES, EnvFolder(folder, steps=STEPS)).report()
    return {one.rule: one.message for one in report.findings}


def test_a_new_one_is_clean_in_every_part(folder):
    report = check_folder(folder, steps=STEPS)
    assert list(report.parts) == ["static", "contract", "isolation", "limits", "service", "openenv", "wire"]
    assert (report.ok, report.whole.findings) == (True, ()), str(report)
    assert set(report.parts["isolation"].rules) == {
        "runs-behind-a-sandbox",
        "same-history-behind-a-sandbox",
        "permissions-are-kept",
    }
    assert set(report.parts["limits"].rules) == {
        "steps-keep-their-time",
        "rewards-keep-their-range",
        "deadlines-are-kept",
        "memory-is-enough",
    }


@pytest.mark.parametrize(
    ("name", "before", "after", "rule", "told"),
    [
        ("ludus.toml", "name =", "naem =", "manifest-is-readable", "naem: expected one of the keys"),
        ("ludus.toml", "checked_game:", "another:", "code-is-there", "expected the module 'another' in the folder"),
        ("ludus.toml", ":CheckedGame", ":Chess", "code-is-there", "expected 'Chess' to be defined in it"),
        ("checked_game.py", "class ", "klass ", "code-is-there", "checked_game.py: expected Python, got"),
        ("pyproject.toml", '"checked-game"', '"other"', "package-agrees", "name: expected 'checked_game' as in"),
        (
            "pyproject.toml",
            '"0.1.0"',
            '"9.0"',
            "package-agrees",
            "version: expected '0.1.0' as in ludus.toml, got '9.0'",
        ),
        ("pyproject.toml", ':CheckedGame"', ':Chess"', "package-agrees", "expected an entry point that announces"),
        (
            "ludus.toml",
            "network = []",
            'network = ["web"]',
            "permissions-make-sense",
            "expected 'host:port', got 'web'",
        ),
        ("ludus.toml", "network = []", 'network = ["*"]', "permissions-make-sense", "expected hosts by name, got '*'"),
        ("ludus.toml", "files = []", 'files = ["/data"]', "permissions-make-sense", "'read:PATH' or 'write:PATH'"),
        ("ludus.toml", "files = []", 'files = ["read:/"]', "permissions-make-sense", "expected a folder of its own"),
        ("README.md", "# ", "-----BEGIN RSA PRIVATE KEY-----", "secrets-are-elsewhere", "like a key in README.md"),
    ],
)
def test_what_can_be_told_without_running_it(folder, name, before, after, rule, told):
    change(folder, name, before, after)
    findings = check_folder(folder, steps=1, serve=False).parts["static"].findings
    assert [one.rule for one in findings if told in one.message] == [rule]


def test_what_is_missing_is_told(folder):
    for name in ("README.md", "test_checked_game.py", "pyproject.toml"):
        (folder / name).unlink()
    change(folder, "ludus.toml", 'license = "MIT"\n', "")
    change(folder, "ludus.toml", "description", "# description")
    (folder / ".env").write_text("KEY=1")
    told = found(folder)
    assert {rule: level for rule, (level, _) in told.items()} == {
        "licence-is-named": "warning",
        "readers-are-told": "warning",
        "secrets-are-elsewhere": "warning",
    }
    assert ".env; they are never built or published" in told["secrets-are-elsewhere"][1]
    report = check_folder(folder, steps=STEPS, serve=False)
    assert report.parts["static"].not_checked == {"package-agrees": "there is no pyproject.toml"}
    assert report.ok


def test_a_module_that_hides_another_is_told(folder):
    (folder / "checked_game.py").rename(folder / "json.py")
    change(folder, "ludus.toml", "checked_game:", "json:")
    assert "expected a name of its own, got 'json'" in found(folder)["module-hides-no-other"][1]


def test_code_does_not_run_where_the_static_part_has_errors(folder):
    change(folder, "checked_game.py", "import ludus\n", "raise SystemExit('it ran')\nimport ludus\n")
    change(folder, "pyproject.toml", '"0.1.0"', '"9.0"')
    assert list(check_folder(folder).parts) == ["static"]


def test_a_breach_of_the_contract_is_an_error(folder):
    change(folder, "checked_game.py", "float(there)", 'float("nan")')
    assert "expected a finite number, got nan" in found(folder, "contract")["rewards-are-finite"][1]


def test_a_history_that_depends_on_the_process_is_found_behind_the_sandbox(folder):
    change(folder, "checked_game.py", "import ludus\n", "import os\n\nimport ludus\n")
    change(folder, "checked_game.py", "float(there)", "float(os.getpid())")
    level, message = found(folder, "isolation")["same-history-behind-a-sandbox"]
    assert level == "error"
    assert "here and behind a sandbox: expected the same history, got" in message


def test_what_it_uses_without_saying_so_is_found(folder):
    change(folder, "checked_game.py", "import ludus\n", "from pathlib import Path\n\nimport ludus\n")
    change(folder, "checked_game.py", "self.steps += 1\n", "self.steps += 1\n        Path('/etc/hosts').read_text()\n")
    level, message = found(folder, "isolation")["permissions-are-kept"]
    assert (level, message) == ("error", "permissions.files: expected what is declared, got read:/etc/hosts as well")
    change(folder, "ludus.toml", "files = []", 'files = ["read:/etc/hosts"]')
    assert found(folder, "isolation") == {}


def test_what_the_isolation_does_not_let_it_do_is_an_error(folder, tmp_path):
    change(folder, "checked_game.py", "import ludus\n", "from pathlib import Path\n\nimport ludus\n")
    written = tmp_path / "written"
    change(folder, "checked_game.py", "self.steps += 1\n", f"self.steps += 1\n        Path({str(written)!r}).touch()\n")
    level, message = found(folder, "isolation")["runs-behind-a-sandbox"]
    assert level == "error"
    assert f"behind a sandbox: expected {STEPS} steps, got step 1" in message


def test_memory_beyond_what_it_asks_for_is_an_error(folder):
    change(folder, "ludus.toml", "memory_mb = 1024", "memory_mb = 256")
    hoard = "self.steps += 1\n        self.held = b'x' * (300 << 20 if self.steps == 8 else 1)\n"
    change(folder, "checked_game.py", "self.steps += 1\n", hoard)
    told = limits(folder)["memory-is-enough"]
    assert "20 steps within 256 MiB, got step 8: its process was stopped at the limit 'memory'" in told


def test_steps_longer_than_it_says_are_an_error(folder):
    change(folder, "ludus.toml", "step_seconds = 30.0", "step_seconds = 0.000001")
    assert "expected at most 1e-06 s for a step, got" in limits(folder)["steps-keep-their-time"]


def test_rewards_out_of_their_range_are_an_error(folder):
    change(folder, "ludus.toml", "[0.0, 1.0]", "[2, 3]")
    assert limits(folder)["rewards-keep-their-range"] == "step 1 reward: expected 2 to 3 as in the manifest, got 0.0"


def test_one_that_asks_for_isolation_never_runs_outside_it(folder):
    change(folder, "ludus.toml", 'isolation = "none"', 'isolation = "sandbox"')
    report = check_folder(folder, steps=3, serve=False)
    assert report.ok, str(report)
    assert "checked_game" not in sys.modules


def test_a_folder_without_a_manifest_is_a_finding(tmp_path):
    report = check_folder(tmp_path)
    assert not report.ok
    assert "got a folder without either" in str(report)


def test_json_has_every_part(folder):
    report = check_folder(folder, steps=STEPS, serve=False)
    text = report.to_json()
    assert '"name":' in text
    assert '"parts":{"static":{' in text
    assert report.summary.endswith("0 errors, 0 warnings")


def test_an_application_of_openenv_says_what_to_install(tmp_path, monkeypatch):
    monkeypatch.setattr(sys, "path", list(sys.path))
    monkeypatch.setattr(sys, "meta_path", list(sys.meta_path))
    (tmp_path / "openenv.yaml").write_text("spec_version: 1\nname: theirs\napp: theirs_server.app:app\n")
    (tmp_path / "theirs_server").mkdir()
    (tmp_path / "theirs_server" / "app.py").write_text(
        "from openenv.core.env_server import create_app\napp = create_app()\n"
    )
    report = check_folder(tmp_path)
    assert list(report.parts) == ["static", "service"]
    [finding] = report.parts["service"].findings
    assert "No module named 'openenv'" in finding.message
    assert "openenv" in requirements(read_manifest(tmp_path))
