"""The hostile suite itself: complete, honest about what it cannot tell, and as its page says."""

import os
import re
import signal
import subprocess
import sys
from contextlib import suppress
from pathlib import Path
from subprocess import DEVNULL, PIPE

import pytest

from ludus.errors import ContractViolation
from ludus.sandbox import Guarantees, Limits, Policy, Sandbox, backend, process
from tests.attacks import Account, Attack, attack_sandbox, attacks, run_attack, run_attacks, without_isolation
from tests.attacks.canaries import Canaries
from tests.attacks.environment_attacks import HANGING, MOMENTS, TITLES
from tests.attacks.hostile.environment import DEEDS
from tests.attacks.playing import Watch, play_step
from tests.attacks.scene import Scene
from tests.attacks.table import written
from tests.patience import PATIENCE_S

pytestmark = [pytest.mark.no_cover, pytest.mark.xdist_group("hostile suite")]

PAGE = Path(__file__).resolve().parents[2] / "docs" / "sandbox_attacks.md"
NAMED = {attack.name: attack for attack in attacks()}
NARROW = """
import os, resource
from tests.attacks.hostile.ending import many_threads

for room in range(0, 128 << 10, 4 << 10):
    if os.fork() == 0:
        size = int(open("/proc/self/statm").read().split()[0]) * os.sysconf("SC_PAGE_SIZE")
        resource.setrlimit(resource.RLIMIT_AS, (size + (8 << 20) + room,) * 2)
        many_threads(None)
        os._exit(0)
for _ in range(32):
    print(os.wait()[1])
"""
"""Threads where there are addresses for the stack of one, and so little more that some cannot begin."""


def test_there_are_at_least_forty_attacks_each_by_a_name_of_its_own():
    assert len(NAMED) == len(attacks()) >= 40


def test_every_attack_says_what_it_is_and_what_must_happen():
    assert [attack.name for attack in attacks() if not (attack.title and attack.expects and attack.program)] == []


def test_the_page_shows_the_attacks_as_they_are():
    page = PAGE.read_text(encoding="utf8")
    assert page == written(page), "run: python -m tests.attacks.table docs/sandbox_attacks.md"


def test_every_deed_of_an_environment_is_an_attack():
    assert list(TITLES) == list(DEEDS)
    assert {f"channel-{deed}" for deed in (*DEEDS, *MOMENTS)} <= set(NAMED)
    assert set(HANGING) <= set(DEEDS)


def test_threads_that_find_no_memory_to_begin_with_are_waited_for_by_nobody():
    with subprocess.Popen(
        [sys.executable, "-c", NARROW], stdout=PIPE, stderr=DEVNULL, start_new_session=True
    ) as program:
        try:
            told, _ = program.communicate(timeout=PATIENCE_S)
        finally:
            with suppress(ProcessLookupError):  # all have ended
                os.killpg(program.pid, signal.SIGKILL)
    assert told.split() == [b"0"] * 32


def left_out(kept: Guarantees) -> dict[str, set[str]]:
    """The words of attacks that are known to get through, by the field that has to say them."""
    known = [one for one in attacks() if kept.backend in one.open_on and one.guarantee in kept.enforced]
    return {field: {one.open_on[kept.backend] for one in known if one.guarantee == field} for field in kept.enforced}


@pytest.mark.parametrize("name", ["bubblewrap", "landlock", "podman", "process"])
def test_a_guarantee_leaves_out_what_is_known_to_get_through_and_nothing_else(name):
    kept = backend(name).guarantees(Policy())
    for field, known in left_out(kept).items():
        text = getattr(kept, field)
        assert [words for words in known if words not in text] == []
        for words in known:
            text = text.replace(words, "")
        assert not re.search(r"\b(but|except|unless|not)\b", text), (field, text)


def test_what_is_known_to_get_through_is_known_by_name():
    """A new one is a decision, and is told on the pages of sandboxes and of security."""
    known = {name: {one.name for one in attacks() if name in one.open_on} for name in ("landlock", "process")}
    assert known == {
        "landlock": {"look-up-files"},
        "process": {"read-roots-own", "leave-set-user-id", "keep-privileges", "shared-memory", "sibling-read"},
    }
    assert {name for one in attacks() for name in one.open_on} == set(known)


def test_a_plain_process_of_an_ordinary_user_promises_what_its_own_mounts_keep(monkeypatch):
    monkeypatch.setattr(process, "_sees_mapped", lambda: False)
    monkeypatch.setattr(process, "_forms", lambda: [process.ProcessIsolation("user", False)])
    for disk, seen in ((1 << 20, ""), (None, f" {process.OF_ITS_USER}")):
        kept = process.ProcessBackend().guarantees(Policy(limits=Limits(disk=disk)))
        assert kept.other_processes == f"pid namespace, {process.SHARED_MEMORY}{seen}"
        assert kept.user == ""


def test_what_gets_through_is_an_error_in_the_report():
    report = attack_sandbox(without_isolation(), attacks=[NAMED["read-keys"]])
    assert report.rules == ()
    assert report.not_checked == {"read-keys": "none does not enforce files"}
    outcome = run_attack(NAMED["read-keys"], without_isolation())
    assert not outcome.held
    assert "id_ed25519" in outcome.evidence


def test_a_backend_that_is_no_boundary_is_attacked_where_it_enforces_something():
    report = attack_sandbox("process", attacks=[NAMED["fork-bomb"], NAMED["read-home"], NAMED["shared-memory"]])
    assert report.ok
    assert report.rules == ("fork-bomb",)
    assert report.not_checked == {
        "read-home": "process does not enforce files",
        "shared-memory": process.SHARED_MEMORY,
    }


def test_a_mount_too_many_is_a_finding(tmp_path, monkeypatch):
    (tmp_path / "notes").write_text("mine")
    tmp_path.chmod(0o755)
    monkeypatch.chdir(tmp_path)
    open_too_far = Sandbox("bubblewrap", mounts=[mount_of(tmp_path)])
    report = attack_sandbox(open_too_far, attacks=[NAMED["read-project"]])
    [finding] = report.errors
    assert finding.rule == "read-project"
    assert finding.message.startswith("read the files of the project that it is started from: expected unseen, got: ")
    with pytest.raises(ContractViolation, match="notes"):
        report.raise_for_errors()


def mount_of(path: Path):
    from ludus.sandbox import Mount

    return Mount(str(path))


def test_an_attack_that_fails_by_itself_is_not_held():
    broken = attack("broken", "files:no_such_function")
    outcome = run_attack(broken, Sandbox("bubblewrap"))
    assert outcome.mistake
    assert not outcome.held
    assert "AttributeError" in outcome.evidence


def test_an_attack_that_says_nothing_is_not_held():
    outcome = run_attack(attack("mute", "limits:stand_still", kind="alone", patience=1.0), Sandbox("bubblewrap"))
    assert outcome.mistake
    assert not outcome.held


def attack(name: str, program: str, **others) -> Attack:
    return Attack(
        name=name, title=name, expects="denied", guarantee="files", program=program, judge=lambda *_: "", **others
    )


def test_probes_are_judged_one_by_one():
    chosen = [NAMED["read-keys"], attack("broken", "files:no_such_function"), NAMED["kill-processes"]]
    outcomes = run_attacks(chosen, Sandbox("bubblewrap"))
    assert [outcome.held for outcome in outcomes.values()] == [True, False, True]


def test_a_scene_leaves_nothing_behind():
    before = {folder: set(os.listdir(folder)) for folder in ("/tmp", "/var/tmp", "/dev/shm")}
    with Scene(["write-outside"]) as scene:
        made = [scene.canaries.folder, *scene.canaries.temporary]
        pids = [pid for found in scene.victims.pids.values() for pid in found]
        assert all(map(os.path.exists, made))
        assert all(os.path.exists(f"/proc/{pid}") for pid in pids)
    assert not any(map(os.path.exists, made))
    assert not any(os.path.exists(f"/proc/{pid}") for pid in pids)
    assert not any(name in os.listdir(folder) for folder in before for name in map(os.path.basename, made))


def test_what_an_attacker_left_in_the_place_of_a_file_is_not_opened():
    """A pipe would make whoever reads it wait for ever, this test too."""
    canaries = Canaries(["write-outside"])
    try:
        file = f"{canaries.folder}/outside/write-outside/file"
        os.unlink(file)
        os.mkfifo(file)
        assert canaries.changed("outside", "write-outside")
        assert canaries.read("nothing") == ""
    finally:
        canaries.close()


class Obedient:
    """An environment that grows instead of refusing."""

    def __init__(self, watch: Watch) -> None:
        self.watch = watch

    def reset(self, *, seed: int) -> None:
        os.mkdir(self.watch.path)

    def step(self, action: int) -> None:
        raise ContractViolation("no")


def test_code_that_ran_on_this_side_is_seen_whatever_else_was_said():
    with Watch() as watch:
        account = play_step(Obedient(watch), "pickle-frame", watch)
    assert account.did == "refused"
    assert NAMED["channel-pickle-frame"].judge(None, account) == "code from the channel was run in this process"


@pytest.mark.parametrize("limit", ["memory", None])
def test_an_end_without_its_limit_is_a_finding(limit):
    from ludus.sandbox import Usage

    account = Account(code=-9, kind="silence", usage=Usage(limit=limit))
    assert bool(NAMED["memory-bomb"].judge(None, account)) == (limit is None)


def test_the_policy_that_is_given_is_the_one_that_is_attacked():
    tight = Sandbox("bubblewrap", limits=Limits(wall=30, processes=8))
    assert run_attack(NAMED["read-home"], tight).held
