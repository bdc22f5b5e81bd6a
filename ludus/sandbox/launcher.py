"""The launcher: a program of its own that isolates itself, executes the command and stays as the keeper of its tree.

It is imported by an interpreter that was started with `-I -S`, with the three streams, the channel at 3 (or anything),
its steps at 4, the control socket at 5, its home at 6 and what may be mounted from 7 on, and it imports only what is
quick to import. The steps are texts that end in
a null character: a word, its arguments, the next word. They are carried out in a child, in their order; the last one
executes the command. The keeper inherits orphans (it is their subreaper), so that nothing leaves the tree. When the
command ends, when the control socket says so, or when it closes because the other side died, the keeper kills the whole
tree, reports and ends. Where a PID namespace is asked for, the tree is in it and the keeper is not.
"""

import ctypes
import os
import select
import sys
import time
from _collections_abc import Callable  # quicker than the package around it

STEPS, CONTROL, HOME = 4, 5, 6
SIGKILL, SIGCONT, SIGSTOP = 9, 18, 19 if sys.platform == "linux" else 17
IGNORED = (13, 25)
"""SIGPIPE and SIGXFSZ, which Python ignores, and whoever it executes would too."""
PR_SET_PDEATHSIG, PR_SET_NAME, PR_SET_SUBREAPER, PR_SET_NO_NEW_PRIVS = 1, 15, 36, 38
CHECK_INTERVAL_S = 0.1
"""Seconds after which orphans that ended are looked for, and the folder is measured."""
MEASURING_SHARE = 10
"""Measuring takes at most one part in so many of the time."""
BLOCK, PAGE = 512, 4096
KIND, FOLDER, SOCKET, NAME_TOO_LONG = 0o170000, 0o040000, 0o140000, 36
BEGINNING, KEEPING = b"ludus-beginning", b"ludus-keeper"
"""Names of this process: its children have the first until they are the command. See `strays`."""
MAX_FLIGHTS = 10
"""Looks in a row that may find descriptors on their way through sockets: how large those files are, nobody can tell."""
EXITING = 4
"""In the flags of a thread."""

libc = ctypes.CDLL(None, use_errno=True)
environment: dict[str, str] = {}
command: list[str] = []


def checked(result: int, call: str) -> int:
    """The result of a system call, or its failure: a restriction that cannot be set ends the start."""
    if result < 0:
        raise OSError(ctypes.get_errno(), call)
    return result


def prctl(option: int, *values: int) -> None:
    """`prctl`, with arguments as wide as the kernel's."""
    filled = (*values, 0, 0, 0, 0)[:4]
    checked(libc.prctl(option, *map(ctypes.c_ulong, filled)), f"prctl {option}")


def enter_cgroup(path: str) -> None:
    """Move this process into a control group."""
    with open(path, "w", encoding="ascii") as file:
        file.write("0")


def limit(name: str, soft: str, hard: str) -> None:
    """Set a resource limit."""
    import resource

    resource.setrlimit(getattr(resource, f"RLIMIT_{name}"), (int(soft), int(hard)))


def set_variable(name: str, value: str) -> None:
    """Give the command an environment variable."""
    environment[name] = value


def add_word(word: str) -> None:
    """Add a word to the command."""
    command.append(word)


def execute() -> None:
    """Become the command; its failure is reported as by a shell."""
    try:
        os.execvpe(command[0], command, environment)  # noqa: S606  (that is the job)
    except OSError as error:
        os.write(2, f"cannot start {command[0]!r}: {error.strerror}\n".encode("utf8", "replace"))
        os._exit(127 if isinstance(error, FileNotFoundError) else 126)


def forbid_privileges() -> None:
    """Nothing that is executed from here on gains anything, and nothing outlives its keeper."""
    if sys.platform == "linux":
        prctl(PR_SET_NO_NEW_PRIVS, 1)
        prctl(PR_SET_PDEATHSIG, SIGKILL)


def close(number: str) -> None:
    """Close a descriptor."""
    os.close(int(number))


WORDS: dict[str, tuple[Callable[..., object], int]] = {
    "close": (close, 1),
    "cgroup": (enter_cgroup, 1),
    "rlimit": (limit, 3),
    "folder": (os.chdir, 1),
    "privileges": (forbid_privileges, 0),
    "variable": (set_variable, 2),
    "word": (add_word, 1),
    "execute": (execute, 0),
}


def read_steps() -> list[str]:
    """The steps, as texts."""
    with open(STEPS, "rb") as file:
        return file.read().decode("utf8", "surrogateescape").split("\0")[:-1]


def carry_out(steps: list[str], failure: int) -> None:
    """In the child: carry out the steps; what goes wrong is reported to the keeper."""
    try:
        os.setsid()
        for number in IGNORED:
            libc.signal(number, None)
        position = 0
        while position < len(steps):
            if steps[position] not in WORDS:
                import restrictions  # beside this file; only where there are restrictions to set

                WORDS.update(restrictions.WORDS)
            function, count = WORDS[steps[position]]
            function(*steps[position + 1 : position + 1 + count])
            position += 1 + count
    except BaseException as error:
        os.write(failure, f"{type(error).__name__}: {error}".encode("utf8", "replace")[:500])
    finally:
        os._exit(125)


def threads(pid: int) -> list[int]:
    """The threads of a process, by their numbers."""
    try:
        return [int(name) for name in os.listdir(f"/proc/{pid}/task")]
    except OSError:
        return []  # it has ended


def has_in_queue(path: str) -> bool:
    """Whether somebody has sent descriptors to a socket that nobody has received yet, going by what is said of it."""
    with open(path, encoding="ascii") as file:
        return any(line.startswith("scm_fds:") and line.split()[1] != "0" for line in file)


def is_ending(thread: int) -> bool:
    """Whether a thread is on its way out, or gone: then only root may look at it, and it holds nothing for long."""
    try:
        with open(f"/proc/{thread}/stat", encoding="utf8", errors="replace") as file:
            return bool(int(file.read().rpartition(")")[2].split()[6]) & EXITING)
    except OSError:
        return True


def descendants(root: int) -> list[int]:
    """All processes below one."""
    found: list[int] = []
    try:
        for thread in os.listdir(f"/proc/{root}/task"):
            with open(f"/proc/{root}/task/{thread}/children", encoding="ascii") as file:
                found += [int(child) for child in file.read().split()]
    except OSError:
        pass  # it has ended
    return found + [below for child in found for below in descendants(child)]


def send(pid: int, signal: int) -> None:
    """Send a signal, to whom it still reaches."""
    try:  # noqa: SIM105  (contextlib is slow to import)
        os.kill(pid, signal)
    except OSError:
        pass  # it has ended


def sweep(child: int) -> None:
    """Kill the whole tree: first it is stopped, until no process is new, then it is killed."""
    stopped: set[int] = set()
    while sys.platform == "linux" and (fresh := set(descendants(os.getpid())) - stopped):
        for pid in fresh:
            send(pid, SIGSTOP)
        stopped |= fresh
    for pid in stopped:
        send(pid, SIGKILL)
    if sys.platform != "linux":
        send(-child, SIGKILL)


def end_first(child: int) -> None:
    """Kill the first process of a namespace, and so all that are in it."""
    send(child, SIGKILL)


def reap(child: int, status: list[int]) -> bool:
    """Collect children that ended; False when none is left at all. The status of the command is kept."""
    while True:
        try:
            pid, found = os.waitpid(-1, os.WNOHANG)
        except ChildProcessError:
            return False
        if pid == 0:
            return True
        if pid == child:
            status.append(found)


class MeasuredFolder:
    """The command's own folder, measured every now and then."""

    def __init__(self, path: str, most: int, *, hostile: bool) -> None:
        self.path, self.most, self.hostile, self.next = path, most, hostile, 0.0
        self.in_flight, self.flights = False, 0

    def is_full(self) -> bool:
        """Whether there is more in it than there may be."""
        begin = time.monotonic()
        if not self.most or begin < self.next:
            return False
        full = sum(self.sizes(self.path)) + self.nameless() > self.most
        self.next = time.monotonic() + (time.monotonic() - begin) * MEASURING_SHARE
        return full

    def sizes(self, path: str):
        """The bytes of everything in a folder; an empty file counts too. Deeper than a path can name is too much."""
        waiting = [path]
        while waiting:
            try:
                for entry in os.scandir(waiting.pop()):
                    found = entry.stat(follow_symlinks=False)
                    yield max(PAGE, found.st_blocks * BLOCK)
                    if entry.is_dir(follow_symlinks=False):
                        waiting.append(entry.path)
            except OSError as error:
                if error.errno == NAME_TOO_LONG:
                    yield self.most + 1
                # else it was removed meanwhile

    def nameless(self) -> int:
        """The bytes of files that were removed while the tree holds them, on the folder's file system."""
        found: dict[int, int] = {}
        device, self.in_flight = os.stat(self.path).st_dev, False
        for thread in (thread for pid in descendants(os.getpid()) for thread in threads(pid)):
            try:  # each may have descriptors of its own
                self.opened(f"/proc/{thread}/fd", device, found)
                self.mapped(f"/proc/{thread}", found)
            except PermissionError:  # it hides what it holds
                found[-thread] = self.most + 1 if self.hostile and not is_ending(thread) else 0
            except OSError:
                pass  # it has ended
        self.flights = self.flights + 1 if self.in_flight else 0
        return self.most + 1 if self.flights > MAX_FLIGHTS else sum(found.values())

    def opened(self, folder: str, device: int, found: "dict[int, int]") -> None:
        """Files without a name among the descriptors in a folder, and whether sockets have any in their queues."""
        for number in os.listdir(folder):
            try:
                one = os.stat(f"{folder}/{number}")
                if one.st_mode & KIND == SOCKET and has_in_queue(f"{folder}info/{number}"):
                    self.in_flight = True
            except FileNotFoundError:
                continue  # closed meanwhile
            if one.st_nlink == 0 and one.st_dev == device:
                found[one.st_ino] = one.st_blocks * BLOCK

    def mapped(self, place: str, found: "dict[int, int]") -> None:
        """Files of the folder that lost their name and are mapped; only root may learn how large they are."""
        with open(f"{place}/maps", encoding="utf8", errors="replace") as file:
            rows = [line.split(None, 5) for line in file if line.endswith(" (deleted)\n")]
        for area, _, offset, _, inode, path in rows:
            if not path.startswith(f"{self.path}/") or int(inode) in found:
                continue
            try:
                found[int(inode)] = os.stat(f"{place}/map_files/{area}").st_blocks * BLOCK
            except OSError:
                begin, end = (int(number, 16) for number in area.split("-"))
                found[int(inode)] = self.most + 1 if self.hostile else int(offset, 16) + end - begin

    def remove(self) -> None:
        """Remove it with all that is in it, which nothing changes any more; by descriptor, wherever its path leads.

        Folders are moved up before they are emptied: they may be deeper than a path can name.
        """
        os.chmod(HOME, 0o700)
        while names := os.listdir(HOME):
            for name in names:
                if is_folder(name, HOME):
                    self.empty(name, HOME)
                else:
                    os.unlink(name, dir_fd=HOME)
        os.rmdir(self.path)

    def empty(self, name: str, top: int) -> None:
        """Remove a folder; the folders in it become its neighbours."""
        os.chmod(name, 0o700, dir_fd=top)
        folder = os.open(name, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW, dir_fd=top)
        for one in os.listdir(folder):
            if is_folder(one, folder):
                os.chmod(one, 0o700, dir_fd=folder)
                os.rename(one, f".{os.urandom(8).hex()}", src_dir_fd=folder, dst_dir_fd=top)
            else:
                os.unlink(one, dir_fd=folder)
        os.close(folder)
        os.rmdir(name, dir_fd=top)


def is_folder(name: str, folder: int) -> bool:
    """Whether it is one, and no link to one."""
    return os.stat(name, dir_fd=folder, follow_symlinks=False).st_mode & KIND == FOLDER


def keep(child: int, folder: MeasuredFolder, kill: Callable[[int], None]) -> tuple[int, str]:
    """Wait for the end of the command, or for the word or reason to end it; then kill what is left.

    The command's status, and the limit that was hit.
    """
    status: list[int] = []
    reached = ""
    bells = select.poll()
    bells.register(CONTROL, select.POLLIN)
    if sys.platform == "linux":
        bells.register(os.pidfd_open(child), select.POLLIN)
    while not status and not reached:
        if any(descriptor == CONTROL for descriptor, _ in bells.poll(CHECK_INTERVAL_S * 1000)):
            break
        reap(child, status)
        reached = "disk" if not status and folder.is_full() else ""
    while reap(child, status):
        kill(child)
        time.sleep(0.001)
    return status[0], reached


def start(steps: list[str], namespace: str, failure: int, ended: int) -> int:
    """Start the command, or the first process of a namespace, which starts it; the number of that process."""
    if namespace:
        import namespaces  # beside this file; only where there is one

        namespaces.enter(namespace)
        if (child := os.fork()) == 0:
            namespaces.lead(lambda: carry_out(steps, failure), ended, failure)
    elif (child := os.fork()) == 0:
        carry_out(steps, failure)
    return child


def main() -> None:
    """Start the command, and keep its tree."""
    path, most, held, hostile, namespace = sys.argv[1:]
    steps = read_steps()
    folder = MeasuredFolder(path, int(most), hostile=bool(hostile))
    pins = HOME + 1, HOME + 1 + int(held)
    for number in (CONTROL, HOME, *range(*pins)):
        os.set_inheritable(number, False)
    if sys.platform == "linux":
        prctl(PR_SET_PDEATHSIG, SIGCONT)  # stopped, it would not hear that the other side is gone
        prctl(PR_SET_SUBREAPER, 1)
        libc.prctl(PR_SET_NAME, BEGINNING)
    (failed, failure), (ended, ending) = os.pipe(), os.pipe()
    try:
        child = start(steps, namespace, failure, ending)
    except OSError as error:
        report(0, "", str(error).encode("utf8", "replace"))
        folder.remove()
        return
    if sys.platform == "linux":
        libc.prctl(PR_SET_NAME, KEEPING)
    os.close(failure)
    os.close(ending)
    os.closerange(0, STEPS)  # else the other side would wait for the ends that the keeper holds
    os.closerange(*pins)
    status, reached = keep(child, folder, end_first if namespace else sweep)
    inner_status = os.read(ended, 4)  # by the first process of the namespace, unless it was killed
    report(int.from_bytes(inner_status, "little") if inner_status else status, reached, os.read(failed, 500))
    folder.remove()


def report(status: int, reached: str, failure: bytes) -> None:
    """Tell the other side how it ended and what it used."""
    import resource

    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    code = os.waitstatus_to_exitcode(status)
    numbers = code, used.ru_utime + used.ru_stime, used.ru_inblock, used.ru_oublock, reached
    try:  # noqa: SIM105  (contextlib is slow to import)
        os.write(CONTROL, " ".join(map(str, numbers)).encode() + b"\n" + failure)
    except OSError:
        pass  # there is no other side
