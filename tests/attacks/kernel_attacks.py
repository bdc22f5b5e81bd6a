"""Attacks on the kernel's rarely used doors."""

from tests.attacks.attack import Account, Attack
from tests.attacks.judges import shut
from tests.attacks.scene import Scene

__all__ = ["KERNEL_ATTACKS"]

DENIED = "denied"
MODULES = "a kernel that is built without loadable modules has no such call"


def _nothing_typed(scene: Scene, account: Account) -> str:
    del scene
    return account.seen


def _door(name: str, title: str, function: str, *, root: bool = True, bare: str = "") -> Attack:
    return Attack(
        name=name,
        title=title,
        expects=DENIED,
        guarantee="syscalls",
        program=f"doors:{function}",
        judge=shut,
        root=root,
        bare=bare,
    )


KERNEL_ATTACKS = (
    _door("mount", "mount and unmount file systems, by the old calls and the new", "mount"),
    _door("namespaces", "make namespaces (`unshare`, `clone`, `clone3`)", "new_namespaces"),
    _door("enter-namespaces", "enter the namespaces of a process of the host (`setns`)", "enter_namespaces"),
    _door("change-root", "change the root folder (`chroot`)", "change_root"),
    _door("bpf", "load programs into the kernel (`bpf`)", "load_bpf"),
    _door("io-uring", "set up `io_uring`, whose calls no filter sees", "ring"),
    _door("keys", "use the kernel's key rings (`keyctl`, `add_key`)", "use_keys", root=False),
    _door("count-events", "count events of the processor (`perf_event_open`)", "count_events"),
    _door("catch-faults", "catch page faults (`userfaultfd`)", "catch_faults"),
    _door("administer", "calls of an administrator (`reboot`, `settimeofday`, `swapoff`, `syslog`)", "administer"),
    _door("load-module", "load a module into the kernel (`init_module`)", "load_module", bare=MODULES),
    _door("compare-processes", "compare what two processes hold (`kcmp`)", "compare", root=False),
    _door("old-numbers", "make calls by the numbers of another architecture (`int 0x80`, x32)", "old_numbers"),
    Attack(
        name="type-into-terminal",
        title="type into the terminal that is its input (`TIOCSTI`)",
        expects=DENIED,
        guarantee="syscalls",
        program="doors:type_into_terminal",
        judge=_nothing_typed,
        kind="terminal",
        root=True,
    ),
)
