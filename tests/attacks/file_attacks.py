"""Attacks on files."""

import time
from copy import copy

import msgspec

from ludus.errors import LudusError
from ludus.sandbox import Mount
from ludus.sandbox.landlock import LOOKED_UP
from ludus.sandbox.process import READS, SET_USER_ID
from tests.attacks.attack import Account, Attack, Judge, Moment
from tests.attacks.judges import did_nothing, read_nothing, shut, unchanged
from tests.attacks.scene import Scene

__all__ = ["FILE_ATTACKS"]

DENIED, UNSEEN = "denied", "unseen"
RACE = 3.0
"""Seconds for which a race is run."""


def _left_no_file(attack: str) -> Judge:
    def judge(scene: Scene, account: Account) -> str:
        del account
        found = scene.canaries.left(attack)
        return found and f"it left a file in {found}"

    return judge


def _names_unseen(scene: Scene, account: Account) -> str:
    found = set(scene.canaries.names.values()) & set(account.did.split())
    return "it knows the names of files of others" if found else ""


def _variable_unseen(scene: Scene, account: Account) -> str:
    known = {scene.variable, scene.victims.secrets["variable"]}
    return "it knows a variable of the host" if known & set(account.did.split()) else ""


def _no_set_user_id(scene: Scene, account: Account) -> str:
    del account
    found = scene.canaries.set_user_id("leave-set-user-id")
    return found and f"it left {found}"


def _mount_what_is_swapped(moment: Moment) -> str:
    """Mount the folder again and again in another sandbox, and read there; most attempts are refused."""
    sub = f"{moment.scene.canaries.folder}/shared/swap-mounts/sub"
    own = copy(moment.sandbox)
    own.policy = msgspec.structs.replace(own.policy, mounts=(*own.policy.mounts, Mount(sub)))
    ends = time.monotonic() + RACE
    while time.monotonic() < ends:
        try:
            told = own.run(["/bin/cat", f"{sub}/file"]).stdout.decode("utf8", "replace")
        except LudusError:
            continue  # refused
        except OSError as error:
            return f"the other sandbox raised {type(error).__name__}: {error}"
        if found := moment.scene.canaries.read(told):
            return f"what was mounted in its place let another sandbox read {found}"
    return ""


def _seen_nothing(scene: Scene, account: Account) -> str:
    del scene
    return account.seen


FILE_ATTACKS = (
    Attack(
        name="read-home",
        title="read the files in the home folder",
        expects=UNSEEN,
        guarantee="files",
        program="files:read_home",
        judge=read_nothing,
    ),
    Attack(
        name="read-keys",
        title="read private keys",
        expects=UNSEEN,
        guarantee="files",
        program="files:read_keys",
        judge=read_nothing,
    ),
    Attack(
        name="read-project",
        title="read the files of the project that it is started from",
        expects=UNSEEN,
        guarantee="files",
        program="files:read_project",
        judge=read_nothing,
    ),
    Attack(
        name="read-temporary",
        title="read what others left for everybody in `/tmp`, `/var/tmp` and `/dev/shm`",
        expects=UNSEEN,
        guarantee="files",
        program="files:read_temporary",
        judge=read_nothing,
    ),
    Attack(
        name="read-by-proc",
        title="read files of the host through `/proc/…/root`, `/proc/…/cwd` and `..`",
        expects=UNSEEN,
        guarantee="files",
        program="files:read_by_proc",
        judge=read_nothing,
    ),
    Attack(
        name="list-shared-folders",
        title="list the names in `/tmp`, `/var/tmp` and `/dev/shm` of the host",
        expects=UNSEEN,
        guarantee="files",
        program="files:list_shared_folders",
        judge=_names_unseen,
    ),
    Attack(
        name="look-up-files",
        title="learn the size and the time of files of the project, without opening them",
        expects=UNSEEN,
        guarantee="files",
        program="files:look_up",
        judge=read_nothing,
        open_on={"landlock": LOOKED_UP},
    ),
    Attack(
        name="read-variables",
        title="read environment variables of the host, its own and those of other processes",
        expects=UNSEEN,
        guarantee="other_processes",
        program="files:read_variables",
        judge=_variable_unseen,
    ),
    Attack(
        name="inherited-descriptors",
        title="use descriptors that were open in the process that started it",
        expects=UNSEEN,
        guarantee="files",
        program="files:inherited",
        judge=did_nothing,
    ),
    Attack(
        name="write-outside",
        title="change files outside that everybody may write: content, mode, times, names, new files",
        expects=DENIED,
        guarantee="files",
        program="files:write_outside",
        judge=unchanged("outside", attack="write-outside"),
    ),
    Attack(
        name="write-system",
        title="leave a file in a folder of the system",
        expects=DENIED,
        guarantee="files",
        program="files:write_system",
        judge=_left_no_file("write-system"),
        root=True,
    ),
    Attack(
        name="poison-interpreter",
        title="leave a file where the interpreter, its packages or Ludus import from",
        expects=DENIED,
        guarantee="files",
        program="files:poison_interpreter",
        judge=_left_no_file("poison-interpreter"),
        root=True,
    ),
    Attack(
        name="write-read-only",
        title="change what is mounted read-only, or mount it again",
        expects=DENIED,
        guarantee="files",
        program="files:write_read_only",
        judge=unchanged("shown", attack="write-read-only"),
    ),
    Attack(
        name="follow-links",
        title="read and write outside through symbolic links in a writable mount",
        expects=DENIED,
        guarantee="files",
        program="files:follow_links",
        judge=unchanged("outside", attack="follow-links"),
    ),
    Attack(
        name="hard-links",
        title="bring a file from outside, or from a read-only mount, into a writable one by a hard link",
        expects=DENIED,
        guarantee="files",
        program="files:link_hard",
        judge=unchanged("outside", "shown", attack="hard-links"),
    ),
    Attack(
        name="swapped-mount",
        title="have a folder mounted that was replaced by a link to outside, in an earlier run",
        expects=DENIED,
        guarantee="files",
        program="files:read_swapped",
        judge=read_nothing,
        kind="alone",
        mounts=("swapped",),
    ),
    Attack(
        name="swap-mounts",
        title="swap a folder for a link to outside, at the moment when it is mounted in another sandbox",
        expects=DENIED,
        guarantee="files",
        program="files:swap_mounts",
        judge=_seen_nothing,
        look=_mount_what_is_swapped,
        kind="alone",
    ),
    Attack(
        name="rename-out",
        title="move a file out of a writable mount",
        expects=DENIED,
        guarantee="files",
        program="files:rename_out",
        judge=unchanged("outside", attack="rename-out"),
    ),
    Attack(
        name="open-by-handle",
        title="open a file outside by its number in the file system",
        expects=DENIED,
        guarantee="files",
        program="files:open_by_handle",
        judge=read_nothing,
        root=True,
    ),
    Attack(
        name="device-nodes",
        title="make the node of the disk, open devices of the machine",
        expects=DENIED,
        guarantee="files",
        program="machine:use_devices",
        judge=shut,
        root=True,
    ),
    Attack(
        name="run-set-user-id",
        title="gain the rights of root by a set-user-id program",
        expects=DENIED,
        guarantee="user",
        program="files:run_set_user_id",
        judge=did_nothing,
        root=True,
    ),
    Attack(
        name="read-roots-own",
        title="read a file that only root may read, in a folder that is mounted",
        expects=DENIED,
        guarantee="user",
        program="files:read_roots_own",
        judge=read_nothing,
        root=True,
        open_on={"process": READS},
    ),
    Attack(
        name="leave-set-user-id",
        title="leave a set-user-id program of ours in a writable mount",
        expects=DENIED,
        guarantee="user",
        program="files:leave_set_user_id",
        judge=_no_set_user_id,
        open_on={"process": SET_USER_ID},
    ),
    Attack(
        name="kernel-settings",
        title="open files of `/proc/sys` for writing",
        expects=DENIED,
        guarantee="files",
        program="machine:write_kernel_settings",
        judge=did_nothing,
        root=True,
    ),
    Attack(
        name="core-pattern",
        title="write `core_pattern`, the program that the kernel starts on a crash",
        expects=DENIED,
        guarantee="files",
        program="machine:write_core_pattern",
        judge=did_nothing,
        root=True,
    ),
    Attack(
        name="kernel-files",
        title="open the kernel's triggers, memory and log in `/proc` and `/sys`",
        expects=DENIED,
        guarantee="files",
        program="machine:open_kernel_files",
        judge=did_nothing,
        root=True,
    ),
    Attack(
        name="leave-cgroup",
        title="open the files by which a control group is left or its limits are lifted",
        expects=DENIED,
        guarantee="files",
        program="machine:leave_cgroup",
        judge=did_nothing,
        root=True,
    ),
)
