"""Attacks on what there is."""

import os
from typing import Any

from ludus.sandbox.process import UNSEEN
from tests.attacks.attack import Account, Attack, Judge, Look, Moment
from tests.attacks.judges import ended_by, no_more_than, processes_with
from tests.attacks.scene import Scene

__all__ = ["LIMIT_ATTACKS"]

MIB = 1 << 20
PROCESSES, MEMORY, DISK, FILE, FILES, OUTPUT = 16, 96 * MIB, 8 * MIB, 4 * MIB, 64, 256 * 1024
STARTERS = 4
"""Processes that a backend may have around the work."""


def _output_kept(scene: Scene, account: Account) -> str:
    del scene
    return f"{account.output} bytes were kept of {OUTPUT}" if account.output > 2 * OUTPUT else ""


def _returned(scene: Scene, account: Account) -> str:
    held = float(scene.aim()["hold"])
    return f"it kept whoever waits for {account.seconds:.1f} s" if account.seconds >= held else ""


def _filled(scene: Scene, account: Account) -> str:
    """Stopped for it, or refused: never all of it in one folder, and kept."""
    del scene
    if account.did:
        return account.did
    stopped = account.usage.limit in ("disk", "memory") or account.usage.oom
    return "" if stopped or account.code == 0 else f"it ended with {account.code} and no limit"


def _count_processes(moment: Moment) -> str:
    """As the host sees them; a kernel of its own shows none."""
    found = len(processes_with(moment.mark))
    return f"the host sees {found} processes of {PROCESSES}" if found > PROCESSES + STARTERS else ""


def _count_threads(moment: Moment) -> str:
    found = sum(len(os.listdir(f"/proc/{pid}/task")) for pid in processes_with(moment.mark))
    return f"the host sees {found} threads of {PROCESSES}" if found > PROCESSES + STARTERS else ""


def _wait_for_watcher(moment: Moment) -> str:
    """Where folders are watched rather than limited, the watcher is given time to see it."""
    moment.process.wait(0.1 if moment.scene.bare else 5.0)
    return ""


def _limit(
    name: str,
    title: str,
    function: str,
    judge: Judge,
    *,
    expects: str,
    look: Look | None = None,
    excepted: str = "",
    **limits: Any,
) -> Attack:
    """`guarantee` is the first of the limits."""
    return Attack(
        name=name,
        title=title,
        expects=expects,
        guarantee=next(iter(limits)),
        program=f"limits:{function}",
        judge=judge,
        kind="command" if "output" in limits else "alone",
        limits=limits,
        look=look,
        excepted=excepted,
    )


LIMIT_ATTACKS = (
    _limit(
        "fork-bomb",
        "start processes without end",
        "fork_bomb",
        no_more_than(PROCESSES, STARTERS),
        look=_count_processes,
        expects="limited: processes",
        processes=PROCESSES,
    ),
    _limit(
        "thread-bomb",
        "start threads without end",
        "thread_bomb",
        no_more_than(PROCESSES, STARTERS),
        look=_count_threads,
        expects="limited: processes",
        processes=PROCESSES,
    ),
    _limit(
        "memory-bomb",
        "take more memory than there is",
        "memory_bomb",
        ended_by("memory"),
        expects="killed: memory",
        memory=MEMORY,
    ),
    _limit(
        "memory-by-children",
        "take it by several processes, each within the limit",
        "memory_by_children",
        ended_by("memory"),
        look=_wait_for_watcher,
        expects="killed: memory",
        memory=MEMORY,
    ),
    _limit(
        "memory-by-files",
        "take it by files that are in memory alone",
        "memory_by_files",
        ended_by("memory"),
        look=_wait_for_watcher,
        expects="killed: memory",
        memory=MEMORY,
    ),
    _limit(
        "fill-disk",
        "fill its own folders",
        "fill_disk",
        _filled,
        look=_wait_for_watcher,
        expects="limited: disk",
        disk=DISK,
        memory=256 * MIB,
    ),
    _limit(
        "fill-unlinked",
        "fill every folder that can be written, with files that have no name any more",
        "fill_unlinked",
        _filled,
        look=_wait_for_watcher,
        expects="limited: disk",
        disk=DISK,
        memory=256 * MIB,
    ),
    _limit(
        "fill-mapped",
        "fill its own folders with files that have no name, and are no longer open but mapped",
        "fill_mapped",
        _filled,
        look=_wait_for_watcher,
        expects="limited: disk",
        excepted=UNSEEN,
        disk=DISK,
        memory=256 * MIB,
    ),
    _limit(
        "fill-by-thread",
        "fill its own folders with files that have no name, and are open in one thread alone",
        "fill_by_thread",
        _filled,
        look=_wait_for_watcher,
        expects="limited: disk",
        disk=DISK,
        memory=256 * MIB,
    ),
    _limit(
        "fill-in-flight",
        "fill its own folders with files that have no name, and are on their way through a socket",
        "fill_in_flight",
        _filled,
        look=_wait_for_watcher,
        expects="limited: disk",
        disk=DISK,
        memory=256 * MIB,
    ),
    _limit(
        "fill-with-names",
        "fill its own folders with empty files",
        "fill_with_names",
        _filled,
        look=_wait_for_watcher,
        expects="limited: disk or memory",
        disk=DISK,
        memory=40 * MIB,
    ),
    _limit(
        "huge-file",
        "write one file beyond its limit, with bytes and with a hole",
        "huge_file",
        no_more_than(FILE),
        expects="limited: file_size",
        file_size=FILE,
    ),
    _limit(
        "open-files",
        "open files without end",
        "open_files",
        no_more_than(FILES),
        expects="limited: open_files",
        open_files=FILES,
    ),
    _limit(
        "flood-output",
        "write to both outputs without end",
        "flood_output",
        _output_kept,
        expects="limited: output",
        output=OUTPUT,
    ),
    Attack(
        name="hold-outputs",
        title="end, and leave somebody behind who holds the outputs open",
        expects="nothing left",
        guarantee="kill",
        program="limits:hold_pipes",
        judge=_returned,
        kind="command",
    ),
    _limit(
        "spin",
        "use the processor, deaf to every signal",
        "spin",
        ended_by("cpu"),
        expects="killed: cpu",
        cpu=0.3,
    ),
    _limit(
        "spin-by-children",
        "use the processor by many processes that end soon",
        "spin_by_children",
        ended_by("cpu"),
        expects="killed: cpu",
        cpu=0.3,
    ),
    _limit(
        "outstay",
        "stay beyond the time, deaf to every signal",
        "outstay",
        ended_by("wall"),
        expects="killed: wall",
        wall=0.6,
    ),
    _limit(
        "stand-still",
        "stop itself, so that it hears nothing",
        "stand_still",
        ended_by("wall"),
        expects="killed: wall",
        wall=0.6,
    ),
)
