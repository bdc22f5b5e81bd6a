"""Attacks on other processes, and attempts to outlive one's own end."""

import os

from ludus.sandbox.process import OF_ITS_USER, READS, SHARED_MEMORY
from tests.attacks.attack import Account, Attack, Judge
from tests.attacks.canaries import remove_tree
from tests.attacks.judges import did_nothing, knows_no, left_nothing, shut
from tests.attacks.scene import Scene

__all__ = ["PROCESS_ATTACKS", "STAYING_ATTACKS"]

DENIED, UNSEEN, UNHEARD, NOTHING_LEFT = "denied", "unseen", "unheard", "nothing left"


def _all_live(purpose: str) -> Judge:
    def judge(scene: Scene, account: Account) -> str:
        del account
        found = scene.victims.dead(purpose)
        return found and f"it ended {found}"

    return judge


def _unsignalled(scene: Scene, account: Account) -> str:
    del account
    found = scene.victims.signalled()
    return found and f"{found} got a signal from it"


def _none_slowed(scene: Scene, account: Account) -> str:
    del account
    found = scene.victims.slowed()
    return found and f"it changed how {found} is scheduled or limited"


def _sibling_lives(scene: Scene, account: Account) -> str:
    del account
    return "it ended another sandbox" if scene.sibling is not None and scene.sibling.ended else ""


def _sibling_uncalled(scene: Scene, account: Account) -> str:
    del account
    return "it reached another sandbox" if scene.sibling is not None and scene.sibling.called else ""


def _sibling_secret(scene: Scene) -> str:
    return scene.sibling.secret if scene.sibling is not None else ""


def _home_gone(scene: Scene, account: Account) -> str:
    """Neither a process nor, where the host has it, its home, which is removed here."""
    home = account.did
    known = os.path.basename(home).startswith("ludus-home-") or home == scene.canaries.own
    if not known or not os.path.isdir(home):
        return left_nothing(scene, account)
    remove_tree(home)
    return f"its home {home} was still there"


PROCESS_ATTACKS = (
    Attack(
        name="see-processes",
        title="see the commands of the host's processes",
        expects=UNSEEN,
        guarantee="other_processes",
        program="processes:see_others",
        judge=knows_no(lambda scene: scene.victims.secrets["command"], "the command of a process of the host"),
    ),
    Attack(
        name="read-memory",
        title="read the memory of a process of the host (`/proc/…/mem`, `process_vm_readv`)",
        expects=DENIED,
        guarantee="other_processes",
        program="processes:read_memory",
        judge=knows_no(lambda scene: scene.victims.secrets["memory"], "what a process of the host has in memory"),
    ),
    Attack(
        name="trace",
        title="attach to a process of the host by ptrace",
        expects=DENIED,
        guarantee="other_processes",
        program="processes:trace",
        judge=_all_live("trace"),
    ),
    Attack(
        name="take-descriptors",
        title="take open files out of a process of the host (`pidfd_getfd`)",
        expects=DENIED,
        guarantee="other_processes",
        program="processes:take_descriptors",
        judge=did_nothing,
    ),
    Attack(
        name="kill-processes",
        title="kill processes of the host, by every call that sends a signal",
        expects=DENIED,
        guarantee="other_processes",
        program="processes:kill_others",
        judge=_all_live("kill"),
    ),
    Attack(
        name="signal-everybody",
        title="send a signal to every process there is, by one call",
        expects=UNHEARD,
        guarantee="other_processes",
        program="processes:signal_everybody",
        judge=_unsignalled,
    ),
    Attack(
        name="slow-processes",
        title="change priority, scheduling and limits of processes of the host",
        expects=DENIED,
        guarantee="other_processes",
        program="processes:slow_others",
        judge=_none_slowed,
    ),
    Attack(
        name="raise-priority",
        title="go before everybody else on the processor",
        expects=DENIED,
        guarantee="user",
        program="processes:raise_priority",
        judge=shut,
        root=True,
    ),
    Attack(
        name="become-root",
        title="become root, or a member of its groups",
        expects=DENIED,
        guarantee="user",
        program="processes:become_root",
        judge=did_nothing,
        root=True,
    ),
    Attack(
        name="keep-privileges",
        title="have capabilities, or be able to gain them",
        expects=DENIED,
        guarantee="user",
        program="processes:keep_privileges",
        judge=did_nothing,
        open_on={"process": READS},
    ),
    Attack(
        name="shared-memory",
        title="attach to System V shared memory of the host",
        expects=DENIED,
        guarantee="other_processes",
        program="processes:read_shared_memory",
        judge=knows_no(lambda scene: scene.listeners.memory_secret, "what is in shared memory of the host"),
        open_on={"process": SHARED_MEMORY},
    ),
    Attack(
        name="sibling-read",
        title="read the memory and the files of another sandbox",
        expects=DENIED,
        guarantee="other_processes",
        program="processes:read_sibling",
        judge=knows_no(_sibling_secret, "the secret of another sandbox"),
        open_on={"process": OF_ITS_USER},
    ),
    Attack(
        name="sibling-call",
        title="connect to what another sandbox listens on",
        expects=DENIED,
        guarantee="network",
        program="processes:call_sibling",
        judge=_sibling_uncalled,
    ),
    Attack(
        name="sibling-kill",
        title="kill a process of another sandbox",
        expects=DENIED,
        guarantee="other_processes",
        program="processes:kill_sibling",
        judge=_sibling_lives,
    ),
)

STAYING_ATTACKS = (
    Attack(
        name="daemon",
        title="leave a daemon behind by a double fork",
        expects=NOTHING_LEFT,
        guarantee="kill",
        program="staying:daemon",
        judge=left_nothing,
        kind="alone",
    ),
    Attack(
        name="daemon-when-killed",
        title="leave a daemon behind and be stopped at the time limit",
        expects=NOTHING_LEFT,
        guarantee="kill",
        program="staying:daemon_when_killed",
        judge=left_nothing,
        kind="alone",
        limits={"wall": 1.0},
    ),
    Attack(
        name="hydra",
        title="be many processes that fork and end faster than they can be listed",
        expects=NOTHING_LEFT,
        guarantee="kill",
        program="staying:hydra",
        judge=left_nothing,
        kind="alone",
        limits={"processes": 32},
    ),
    Attack(
        name="clone-sibling",
        title="leave a process behind that is a child of the process that looks after it",
        expects=NOTHING_LEFT,
        guarantee="kill",
        program="staying:clone_sibling",
        judge=left_nothing,
        kind="alone",
    ),
    Attack(
        name="deep-folders",
        title="leave folders inside one another, deeper than a path can name, and a daemon",
        expects=NOTHING_LEFT,
        guarantee="kill",
        program="staying:deep_folders",
        judge=_home_gone,
        kind="alone",
    ),
    Attack(
        name="kill-keeper",
        title="kill the process that looks after it, and stay",
        expects=NOTHING_LEFT,
        guarantee="kill",
        program="staying:kill_parent",
        judge=left_nothing,
        kind="alone",
    ),
    Attack(
        name="signal-storm",
        title="send every signal, many times, to the process that looks after it, and stay",
        expects=NOTHING_LEFT,
        guarantee="kill",
        program="staying:storm_parent",
        judge=left_nothing,
        kind="alone",
    ),
)
