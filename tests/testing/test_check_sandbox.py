"""`check_sandbox`: what stands is confirmed, what is open is found, and the attacks are not in the package."""

import pytest

from ludus.errors import ContractViolation, SandboxError
from ludus.sandbox import Guarantees, Mount, Sandbox
from ludus.sandbox.process import ProcessBackend
from ludus.testing import sandbox as suite
from ludus.testing.sandbox import SANDBOX_RULES, check_sandbox


class Boastful(ProcessBackend):
    """A plain process that calls itself a boundary."""

    def guarantees(self, policy):
        return Guarantees(backend="boastful", boundary=True)


def test_the_default_sandbox_keeps_what_it_promises():
    report = check_sandbox()
    assert report.ok, str(report)
    assert set(report.rules) == set(SANDBOX_RULES)


def test_what_is_tried_succeeds_where_nothing_stands_in_its_way(monkeypatch):
    monkeypatch.setattr(suite, "SANDBOX_RULES", {name: one for name, one in SANDBOX_RULES.items() if name in OPEN})
    report = check_sandbox(Sandbox(Boastful()))
    assert [one.rule for one in report.errors] == list(OPEN)
    with pytest.raises(ContractViolation, match=r"read a file of the host: expected to be kept from it, got .*secret"):
        report.raise_for_errors()


OPEN = ("files-are-unseen", "host-is-unreached")


def test_a_mount_too_many_is_found(tmp_path, monkeypatch):
    tmp_path.chmod(0o755)
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    monkeypatch.setattr(suite, "SANDBOX_RULES", {"files-are-unseen": SANDBOX_RULES["files-are-unseen"]})
    [finding] = check_sandbox(Sandbox("bubblewrap", mounts=[Mount(str(tmp_path))])).errors
    assert finding.rule == "files-are-unseen"


def test_a_program_that_does_not_begin_proves_nothing(monkeypatch):
    monkeypatch.setattr(suite, "INSIDE", "raise SystemExit")
    with pytest.raises(SandboxError, match=r"expected a program inside to read a file .* did not begin"):
        check_sandbox("bubblewrap")
