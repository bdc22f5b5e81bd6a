r"""What is put around a command so that its shell leaves its folder and variables to the next.

bash reads a preamble (`BASH_ENV`) and then the command itself as `-c`, untouched: messages, line numbers, quotes and
here-documents are bash's own. The preamble sources the state that the command before left, and sets a trap on EXIT
that writes the new state to a descriptor of its own. `exit`, `set -e`, syntax errors and most signals pass through
that trap; `exec`, SIGKILL and a trap on EXIT of the command's own do not, and then the state stays as it was. A report
counts only between two copies of a word drawn for this command: nothing is taken for one that was written by accident.

An interrupt in the middle of the preamble would end the preamble, not the shell: the command would run all the same,
with half of its variables, and leave those to the next. So nobody is told of the shell, and it is not interrupted,
before it has closed a pipe, which is the last thing but one that the preamble does.
"""

from __future__ import annotations

import binascii
import os
import resource

__all__ = ["Shell", "find_shell"]

MAX_REPORT = 1 << 20
SHELLS = {"bash": ("/bin/bash", "/usr/bin/bash", "/usr/local/bin/bash"), "sh": ("/bin/sh", "/usr/bin/sh")}

BASH = r"""
unset BASH_ENV
shopt -s expand_aliases
__ludus_save() {
  [[ ${BASHPID:-$$} == $$ ]] && {
    builtin printf '%s\0' @WORD@
    builtin pwd
    builtin printf '\0'
    builtin set +o
    builtin set +efuvxCT
    builtin printf '\0'
    builtin printf 'shopt -u ${BASHOPTS//:/ }\nshopt -s %s\n' "${BASHOPTS//:/ }"
    builtin umask -p
    builtin declare -p IFS
    local IFS=$' \t\n' __ludus_name
    for __ludus_name in \
      ${!a*} ${!b*} ${!c*} ${!d*} ${!e*} ${!f*} ${!g*} ${!h*} ${!i*} ${!j*} ${!k*} ${!l*} ${!m*} \
      ${!n*} ${!o*} ${!p*} ${!q*} ${!r*} ${!s*} ${!t*} ${!u*} ${!v*} ${!w*} ${!x*} ${!y*} ${!z*} \
      ${!_*} ${!A*} ${!B*} ${!C*} ${!D*} ${!E*} ${!F*} ${!G*} ${!H*} ${!I*} ${!J*} ${!K*} ${!L*} \
      ${!M*} ${!N*} ${!O*} ${!P*} ${!Q*} ${!R*} ${!S*} ${!T*} ${!U*} ${!V*} ${!W*} ${!X*} ${!Y*} \
      ${!Z*}; do
      case $__ludus_name in
        __ludus_* | IFS | _ | BASH | BASHOPTS | BASHPID | BASH_ALIASES | BASH_ARG* | BASH_CMDS | BASH_COMMAND) ;;
        BASH_EXECUTION_STRING | BASH_LINENO | BASH_LOADABLES_PATH | BASH_REMATCH | BASH_SOURCE | BASH_SUBSHELL) ;;
        BASH_VERS* | COMP_* | DIRSTACK | EPOCH* | EUID | FUNCNAME | GROUPS | HISTCMD | LINENO | PIPESTATUS) ;;
        PPID | PWD | RANDOM | SECONDS | SHELLOPTS | SHLVL | SRANDOM | UID) ;;
        *) builtin declare -p "$__ludus_name" ;;
      esac
    done
    for ((__ludus_name = ${#DIRSTACK[@]} - 1; __ludus_name > 0; __ludus_name--)); do
      builtin printf 'pushd -n -- %q >/dev/null\n' "${DIRSTACK[__ludus_name]}"
    done
    builtin printf 'set --'
    (($#)) && builtin printf ' %q' "$@"
    builtin printf '\n'
    builtin unset -f __ludus_save __ludus_begin
    builtin declare -f
    builtin alias -p
    builtin printf '\0%s\n' @WORD@
  } >&@REPORT@ 2>/dev/null
}
. /proc/self/fd/@STATE@ 2>/dev/null
\command exec @PREAMBLE@<&- @STATE@<&-
\builtin trap '{ \__ludus_save "$@"; } 2>/dev/null' EXIT
\__ludus_begin 2>/dev/null
"""
"""Without a fork, which could fail and leave half of it; and read before the aliases that it restores.

Only the shell itself saves: a child that an interrupt meets between fork and exec runs the trap on EXIT as well.

Options of `shopt` are two commands and not `shopt -p`, which is fifty, and whose `shopt -u compat…` sets BASH_COMPAT.
"""

SH = r"""
__ludus_save() {
  {
    printf '%s\0' @WORD@
    pwd
    printf '\0'
    set +o
    set +efuvxC
    printf '\0umask '
    umask
    set
    export -p
    printf '\0%s\n' @WORD@
  } >/proc/self/fd/@REPORT@ 2>/dev/null
}
. /proc/self/fd/@STATE@ 2>/dev/null
exec @PREAMBLE@<&- @STATE@<&-
trap '{ __ludus_save; } 2>/dev/null' EXIT
__ludus_begin 2>/dev/null
"""


def find_shell(name: str) -> tuple[str, str]:
    """The kind and path of the shell asked for; "" is bash, or sh where there is none."""
    for kind in (name,) if name else ("bash", "sh"):
        for path in SHELLS.get(kind, ()):
            if os.access(path, os.X_OK):
                return kind, path
    raise FileNotFoundError(f"no shell {name or 'bash or sh'} in the sandbox")


class Shell:
    """One command's shell: its arguments, environment and descriptors before, and the state it reported after."""

    def __init__(self, shell: tuple[str, str], command: bytes, state: bytes, code: int) -> None:
        self.kind, self.path = shell
        self.word = binascii.hexlify(os.urandom(12))
        # One digit is all that a plain sh can redirect; bash gets numbers that scripts do not use.
        top = min(resource.getrlimit(resource.RLIMIT_NOFILE)[0], 256) - 8 if self.kind == "bash" else 6
        self.numbers = top, top + 1, top + 2, top + 3
        closing = (b"\\command exec %d>&-" if self.kind == "bash" else b"exec %d>&-") % self.numbers[3]
        restored = _restored(state, code, closing)
        self.files: tuple[int, ...] = tuple(map(_file, (self._preamble(), restored, b"")))
        preamble = b"/proc/self/fd/%d" % self.numbers[0]
        plain = self.kind == "sh"
        self.arguments = [self.kind.encode(), b"-c", b". %b\n%b" % (preamble, command) if plain else command]
        # A variable that was unset stays unset: with a state, nothing else is inherited.
        self.environment = {} if state else dict(os.environb)
        if not plain:
            self.environment[b"BASH_ENV"] = preamble

    def _preamble(self) -> bytes:
        text = (BASH if self.kind == "bash" else SH).encode()
        for name, number in zip((b"@PREAMBLE@", b"@STATE@", b"@REPORT@"), self.numbers):  # noqa: B905  (not before 3.10)
            text = text.replace(name, b"%d" % number)
        return text.replace(b"@WORD@", self.word)

    def report(self) -> tuple[bytes, bytes] | None:
        """The folder and the state that the shell left; None where it could not say, or said too much."""
        raw = os.pread(self.files[2], 4 * MAX_REPORT, 0)
        begin = raw.rfind(self.word + b"\0")
        end = raw.find(b"\0" + self.word + b"\n", begin)
        if begin < 0 or end < 0:
            return None
        folder, _, state = raw[begin + len(self.word) + 1 : end].partition(b"\n\0")
        if state.count(b"\0") != 1 or not folder.startswith(b"/") or len(state) > MAX_REPORT:
            return None
        return folder, state

    def close(self) -> None:
        """Close the files; harmless twice."""
        files, self.files = self.files, ()
        for file in files:
            os.close(file)


def _restored(state: bytes, code: int, closing: bytes) -> bytes:
    """The state as a script. Options come last, by a function: `set -e` and `set -x` must not meet the rest."""
    options, _, body = state.partition(b"\0")
    lines = [line for line in options.splitlines() if b"noexec" not in line]
    status = b"0" if b"set -o errexit" in lines else b"%d" % code
    return b"\n".join([b"__ludus_begin() {", *lines, closing, b"return " + status, b"}", body])


def _file(content: bytes) -> int:
    """A file without a name, with this content."""
    try:
        file = os.memfd_create("ludus")
    except (AttributeError, OSError):
        file = os.open(os.environ["TMPDIR"], os.O_TMPFILE | os.O_RDWR, 0o600)
    view = memoryview(content)
    while view:
        view = view[os.write(file, view) :]
    return file
