"""Sessions in real sandboxes: what lasts from one command to the next, and what no command can break."""

import math
import threading

import pytest

from ludus.errors import InvalidArgument, InvalidType, LimitExceeded, SandboxError
from ludus.sandbox import Limits, Sandbox
from ludus.sandbox.session import ShellState
from tests.patience import until

pytestmark = pytest.mark.in_turns("box")  # a session is the same code behind each
BACKENDS = ("process", "bubblewrap")

AGENT = "read -r _ _ _ agent _ < /proc/$PPID/stat"
"""A shell's parent watches its command; the parent of that one is the agent of the session."""


@pytest.fixture(params=BACKENDS)
def box(request):
    return Sandbox(request.param, limits=Limits(wall=120))


@pytest.fixture
def session(box):
    with box.open_session(timeout=60) as session:
        yield session


def output(session, command, **options) -> str:
    result = session.run(command, **options)
    assert result.stderr == b""
    return result.output


# What lasts.


def test_a_result_has_the_code_and_both_streams(session):
    result = session.run("echo out; echo err >&2; exit 3")
    assert (result.code, result.stdout, result.stderr) == (3, b"out\n", b"err\n")
    assert (result.signal, result.timed_out, result.lost, result.dropped, result.note) == (None, False, False, 0, "")


@pytest.mark.parametrize("shell", ["bash", "sh"])
def test_a_command_has_none_of_our_descriptors_but_that_of_its_report(box, shell):
    """`builtin exec` undoes its redirections: the preamble and the state stayed open in whatever bash started."""
    with box.open_session(timeout=30, shell=shell) as session:
        seen = session.run("ls /proc/self/fd").stdout.split()
    assert len(seen) == 5, seen  # the three streams, the listed folder and the report


def test_merged_streams_keep_their_order(session):
    result = session.run("echo 1; echo 2 >&2; echo 3", merge=True)
    assert (result.stdout, result.stderr) == (b"1\n2\n3\n", b"")


def test_the_folder_lasts_and_is_in_the_result(session):
    assert session.run("cd /usr").cwd == "/usr"
    assert session.cwd == "/usr"
    assert output(session, "pwd; cd - >/dev/null; cd ..; echo $OLDPWD").splitlines()[0] == "/usr"


def test_variables_last_exported_or_not_and_stay_unset(session):
    session.run("export A='one\ntwo'; B=2; C=(x 'y z'); declare -A D=([k]=v); unset HOME; readonly R=5")
    told = output(session, 'echo "$A|$B|${C[1]}|${D[k]}|${HOME-unset}|$R"; sh -c \'echo "$A|$B"\'')
    assert told == "one\ntwo|2|y z|v|unset|5\none\ntwo|\n"


def test_functions_aliases_options_umask_and_arguments_last(session):
    session.run(
        "f() { echo \"f $1\"; }; alias a='echo alias'; set -o pipefail; shopt -s extglob; umask 027; set -- p q"
    )
    session.run("g() { [[ $1 == +(a|b) ]] && echo g; }; pushd /usr >/dev/null; pushd /bin >/dev/null")
    told = output(session, "f 1; a; false | true; echo $?; umask; echo $2; g ab; popd >/dev/null; pwd")
    assert told == "f 1\nalias\n1\n0027\nq\ng\n/usr\n"


@pytest.mark.parametrize(
    "odd",
    [
        "export POSIXLY_CORRECT=1",
        "set -o posix",
        "alias exec=false trap=false builtin=false set='echo set' __ludus_save=false return=false .=false",
        "set -euo pipefail",
        "IFS=xyz; set -f",
        "export BASH_ENV=/nowhere ENV=/nowhere",
        "set +B; shopt -s nullglob failglob nocasematch",
        "set -m",
        "set -C",
        "LC_ALL=C; LANG=nonsense",
        "X2=$(printf '\\377\\n\\001\"$`')",
        "declare -n ref=X; declare -i number=5; declare -u upper=abc",
    ],
)
def test_odd_settings_do_not_hinder_the_next_commands(session, odd):
    session.run(f"X=kept\n{odd}")
    result = session.run("f() { echo $X; }\ncd /usr")
    assert (result.code, result.cwd, result.remembered, result.output) == (0, "/usr", True, "")
    assert output(session, "f") == "kept\n"


def test_options_of_shopt_last_and_set_no_variable(session):
    session.run("shopt -s extglob globstar; shopt -u sourcepath")
    told = session.run("shopt extglob globstar sourcepath cmdhist dotglob; echo [$BASH_COMPAT]").output.split()
    assert told == ["extglob", "on", "globstar", "on", "sourcepath", "off", "cmdhist", "on", "dotglob", "off", "[]"]


def test_variables_of_every_letter_last(session):
    names = [*"abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ", "_under", "x9"]
    session.run("; ".join(f"{name}=1" for name in names))
    assert output(session, "echo " + "".join(f"${{{name}}}" for name in names)) == "1" * len(names) + "\n"


def test_the_exit_code_of_the_last_command_is_there_for_the_next(session):
    session.run("(exit 7)")
    assert output(session, "echo $?") == "7\n"


def test_errexit_ends_commands_and_not_the_session(session):
    assert session.run("cd /usr; set -e; false; echo never").code == 1
    assert session.run("false; echo never").stdout == b""
    assert output(session, "pwd; set +e; false; echo on") == "/usr\non\n"


def test_tracing_shows_the_command_and_nothing_of_ours(session):
    session.run("set -x")
    assert session.run("echo hi").stderr == b"+ echo hi\n"
    assert session.run("set +x").stderr == b"+ set +x\n"


def test_numbers_of_jobs_go_on_in_another_session_and_after_a_restart(box, session):
    assert session.run("true").job is None
    first = session.start("sleep 100")
    session.restart()
    second = session.start("sleep 100")
    with box.open_session(timeout=30, state=session.state) as other:
        third = other.start("sleep 100")
        assert [one.number for one in other.jobs()] == [third.number]
        with pytest.raises(InvalidArgument, match="expected the number of a job of this session"):
            other.job(second.number)
    assert (first.number, second.number, third.number) == (2, 3, 4)


def test_a_state_goes_on_in_another_session(box, session):
    session.run("cd /usr; X=1")
    with box.open_session(state=session.state) as other:
        assert output(other, "echo $X $PWD") == "1 /usr\n"


def test_a_folder_that_is_gone_is_told(session):
    session.run("mkdir -p a/b; cd a/b")
    session.run("rm -r ../../a")
    result = session.run("pwd")
    assert "a/b is gone" in result.note
    assert result.code == 0


def test_the_plain_shell_keeps_folder_variables_and_options(box):
    with box.open_session(shell="sh") as session:
        assert session.shell == "sh"
        session.run('cd /usr; export A=1; B="it\'s"; set -f')
        assert output(session, "echo $A $B $PWD *; false") == "1 it's /usr *\n"
        assert output(session, "echo $?") == "1\n"
        assert session.run("echo 'oops").code == 2


# What no command can break.


@pytest.mark.parametrize(
    ("command", "code"),
    [
        ("echo 'unbalanced", 2),
        ("if then", 2),
        ("cat <<EOF\nno end", 0),
        ("nosuchcommand", 127),
        ("exec true", 0),
        ("exec nosuchprogram", 127),
        ("kill -TERM $$", 143),
        ("kill -9 $$", 137),
        ("kill -9 0", 137),
        ("kill -SEGV $$", 139),
        ('exec 0<&- 1>&- 2>&-; for i in $(seq 3 255); do eval "exec $i>&-"; done; exit 4', 4),
        ("trap 'exit 9' EXIT; exit 4", 9),
        ("set -n; exit 3", 0),
        ("builtin() { :; }; trap() { :; }; unset PATH; exit 5", 5),
        ('echo \'{"kind": "done", "code": 0}\' >&248; exit 6', 6),
    ],
)
def test_the_session_goes_on_after(session, command, code):
    session.run("cd /usr; X=kept")
    assert session.run(command).code == code
    assert output(session, "PATH=/usr/bin:/bin; echo $X; pwd") == "kept\n/usr\n"


def test_a_signal_is_told_as_shells_do_and_truthfully(session):
    ended = session.run("kill -TERM $$")
    assert (ended.code, ended.signal) == (143, 15)
    assert session.run("sh -c 'kill -9 $$'; exit $?").code == 137
    assert session.run("exit 137").signal is None


def test_a_shell_that_cannot_tell_its_state_leaves_that_from_before_and_says_so(session):
    session.run("cd /usr; X=1")
    result = session.run("cd /; X=2; exec true")
    assert (result.remembered, result.cwd) == (False, "/usr")
    assert "those from before the command hold" in result.note
    assert output(session, "echo $X") == "1\n"


def test_killing_the_process_that_watches_costs_only_the_command(session):
    result = session.run("sleep 600 & kill -9 $PPID; sleep 600")
    assert (result.code, result.lost) == (137, False)
    assert "killed the process that watched it" in result.note
    assert output(session, "echo on") == "on\n"
    assert not any(job.running for job in session.jobs())


TAKEN = """
import ctypes, os, sys
watcher, libc = int(sys.argv[1]), ctypes.CDLL(None, use_errno=True)
def tried(name, function):
    try:
        print(name, "taken" if function() not in (-1, None) else "refused")
    except OSError:
        print(name, "refused")
for name in ("mem", "environ", "maps", "root", "cwd", *(f"fd/{number}" for number in range(16))):
    tried(name, lambda: os.open(f"/proc/{watcher}/{name}", os.O_RDONLY))
tried("ptrace", lambda: libc.ptrace(16, watcher, 0, 0))
held = os.pidfd_open(watcher)
for number in range(16):
    tried("descriptor", lambda: libc.syscall(438, held, number, 0))
"""


def test_the_process_that_watches_one_command_after_the_other_cannot_be_opened_by_any(session):
    session.write_file("taken.py", TAKEN)
    first = output(session, "echo $PPID").strip()
    assert output(session, "echo $PPID").strip() == first  # it outlives its commands
    told = output(session, f"python3 -I -S taken.py {first}").split()
    assert told.count("refused") == 5 + 16 + 1 + 16, told
    assert "taken" not in told


def test_stopping_the_process_that_watches_costs_a_moment_and_neither_the_command_nor_the_next(session):
    result = session.run("kill -STOP $PPID; echo said", timeout=30)
    assert (result.code, result.stdout, result.timed_out) == (0, b"said\n", False)
    result = session.run("kill -STOP $PPID; sleep 100", timeout=1)
    assert (result.timed_out, result.lost) == (True, False)
    stopping = session.start('until [ -s watcher ]; do sleep 0.05; done; kill -STOP "$(cat watcher)"')
    assert session.run("echo $PPID > made; mv made watcher").ok
    assert stopping.wait(30).code == 0  # the one that is free stands still, and does not say so
    result = session.run("echo next", timeout=30)
    assert (result.code, result.stdout, result.timed_out) == (0, b"next\n", False)


def test_what_is_sent_to_every_python_reaches_neither_the_session_nor_its_commands(session):
    assert session.run(f"{AGENT}; kill -TERM $agent $PPID; kill -INT $agent $PPID; kill -HUP $agent; exit 4").code == 4
    assert output(session, "cat /proc/$PPID/comm") == "ludus-command\n"


def test_here_documents_of_any_word_are_taken_as_they_are(session):
    session.run("cat > file <<'EOF'\n$HOME `x` \"'\nEOF\ncat >> file <<X\n$((1 + 1))\nX")
    assert session.read_file("file") == b"$HOME `x` \"'\n2\n"


def test_binary_output_is_bytes(session):
    result = session.run(r"printf '\000\377\200'; printf '\xfe' >&2")
    assert (result.stdout, result.stderr) == (b"\0\xff\x80", b"\xfe")
    assert result.output == "\0\ufffd\ufffd\ufffd"


def test_stdin_is_empty_or_what_was_given(session):
    assert output(session, "cat; read x; echo end") == "end\n"
    assert output(session, "wc -c", input=b"x" * 1_000_000).strip() == "1000000"
    assert output(session, "head -c 2", input=b"ab" * 1_000_000) == "ab"


def test_output_keeps_its_beginning_and_its_end_and_counts_the_rest(session):
    result = session.run("seq 1 100000; seq 1 10 >&2", limit=100)
    whole = "".join(f"{number}\n" for number in range(1, 100001)).encode()
    dropped = len(whole) - 100
    assert result.stdout == whole[:50] + b"\n[%d bytes dropped]\n" % dropped + whole[-50:]
    assert result.dropped == dropped
    assert result.stderr.endswith(b"10\n")


def test_output_just_at_the_limit_is_whole(session):
    assert session.run("printf 1234567", limit=7).stdout == b"1234567"
    assert session.run("printf 1", limit=1).stdout == b"1"
    assert session.run("printf 12", limit=1).stdout == b"1\n[1 bytes dropped]\n"


# Time.


def test_a_timeout_keeps_the_output_and_kills_the_tree_and_nothing_else(session):
    session.run("sleep 600 >/dev/null 2>&1 & echo $! > earlier")
    slow = "cd /usr; echo begun; setsid sh -c 'echo $$ > ~/daemon; exec sleep 600' & sleep 600"
    result = session.run(f"cd; {slow}", timeout=6)
    assert (result.timed_out, result.code, result.lost) == (True, 130, False)
    assert result.stdout == b"begun\n"
    assert "ran out of time" in result.note
    assert (
        output(session, "cd; kill -0 $(cat daemon) 2>/dev/null; echo $?; kill -0 $(cat earlier); echo $?") == "1\n0\n"
    )


def test_what_ignores_the_interrupt_is_killed_and_the_state_is_that_from_before(session):
    session.run("cd /usr; X=1")
    result = session.run("trap '' INT TERM; X=2; cd /; echo begun; while :; do :; done", timeout=5)
    assert (result.timed_out, result.code, result.signal, result.stdout) == (True, 137, 9, b"begun\n")
    assert output(session, "echo $X; pwd") == "1\n/usr\n"


def test_a_program_that_buffers_is_heard_at_the_timeout(session):
    result = session.run("python3 -c 'import time; print(\"buffered\"); time.sleep(600)'", timeout=8)
    assert result.timed_out
    assert result.stdout == b"buffered\n"


def test_an_interrupt_ends_the_command_and_not_the_session(session):
    over = threading.Event()

    def interrupt() -> None:
        while not over.wait(0.05):
            session.interrupt()

    thread = threading.Thread(target=interrupt)
    thread.start()
    result = session.run("sleep 600")
    over.set()
    thread.join()
    assert (result.code, result.interrupted, result.timed_out) == (130, True, False)
    assert output(session, "echo on") == "on\n"


def test_an_interrupt_without_a_command_is_nothing(session):
    session.interrupt()
    assert output(session, "echo on") == "on\n"


# Jobs.


def test_a_job_runs_beside_commands(session):
    session.run("mkfifo gate")
    job = session.start("read x < gate; echo got $x; echo err >&2; exit 5")
    assert job.poll().running
    session.run("echo it > gate")
    status = job.wait(60)
    assert (status.running, status.code, status.stdout, status.stderr) == (False, 5, 7, 4)
    assert (job.tail(), job.tail(stderr=True), job.tail(3)) == (b"got it\n", b"err\n", b"it\n")
    assert [one.number for one in session.jobs() if one.command.startswith("read")] == [job.number]


def test_a_job_leaves_nothing_to_the_session(session):
    session.run("X=1")
    session.start("X=2; cd /").wait(60)
    assert output(session, "echo $X") == "1\n"


def test_a_killed_job_is_gone_with_all_it_started(session):
    session.run("mkfifo gate")
    job = session.start("setsid sh -c 'echo $$ > daemon; echo > gate; exec sleep 600' & wait; sleep 600")
    session.run("read x < gate")
    status = job.kill()
    assert (status.running, status.code) == (False, 137)
    assert session.run("kill -0 $(cat daemon)").code == 1


def test_a_wait_that_is_too_short_says_that_it_runs(session):
    job = session.start("sleep 600")
    assert job.wait(0.05).running
    assert job.kill().signal == 9


def test_what_a_command_leaves_behind_becomes_a_job(session):
    result = session.run("sleep 600 & echo started")
    assert (result.code, result.stdout) == (0, b"started\n")
    assert result.job is not None
    assert f"job {result.job}" in result.note
    job = session.job(result.job)
    assert job.poll().running
    assert not job.kill().running


def test_a_job_has_a_timeout_of_its_own(session):
    status = session.start("sleep 600", timeout=0.2).wait(60)
    assert (status.timed_out, status.code) == (True, 130)


def test_too_many_jobs_are_refused_and_cost_nothing_else():
    with Sandbox("process", limits=Limits(processes=1000)).open_session() as session:
        jobs = [session.start("exec sleep 600") for _ in range(32)]
        with pytest.raises(SandboxError, match="32 jobs are running"):
            session.start("sleep 600")
        result = session.run("true")
        assert result.code == 126
        assert "could not be started: 32 jobs are running" in result.note
        jobs[0].kill()
        assert session.run("true").ok
        with pytest.raises(InvalidArgument, match="number of a job"):
            session.job(999)


# Files.


def test_files_are_written_read_and_listed_from_the_folder_of_the_session(session):
    session.run("mkdir sub; cd sub")
    session.write_file("deep/er/file.bin", b"\0\xff" * 10, mode=0o750)
    session.write_file("text", "grüße\n")
    session.run("ln -s /etc/passwd link; mkfifo pipe; cd ..")
    assert session.read_file("sub/deep/er/file.bin") == b"\0\xff" * 10
    assert session.read_file("sub/text").decode() == "grüße\n"
    assert session.read_file("sub/text", 3, offset=6) == b"e\n"
    entries = {entry.name: entry for entry in session.list_files("sub")}
    assert {name: entry.kind for name, entry in entries.items()} == {
        "deep": "folder",
        "link": "link",
        "pipe": "other",
        "text": "file",
    }
    assert entries["text"].size == 8
    assert session.list_files("sub/deep/er")[0].mode == 0o750


def test_large_files_go_in_pieces_and_replace_what_was_there(session):
    content = bytes(range(256)) * 12_000
    session.write_file("large", b"longer than the rest" * 400_000)
    session.write_file("large", content)
    assert session.read_file("large", len(content)) == content
    session.write_file("large", b"")
    assert session.read_file("large") == b""


def test_a_file_beyond_the_limit_is_refused(session):
    session.write_file("file", b"12345")
    assert session.read_file("file", 5) == b"12345"
    with pytest.raises(LimitExceeded, match="expected at most 4 bytes"):
        session.read_file("file", 4)


def test_a_folder_beyond_the_limit_is_refused(session):
    session.run("mkdir many; cd many; touch 1 2 3; cd ..")
    assert len(session.list_files("many", 3)) == 3
    with pytest.raises(LimitExceeded, match="expected at most 2 names"):
        session.list_files("many", 2)


def test_errors_of_files_are_those_of_open(session):
    session.run("mkfifo pipe; mkdir folder")
    with pytest.raises(FileNotFoundError, match="nothing"):
        session.read_file("nothing")
    with pytest.raises(IsADirectoryError):
        session.read_file("folder")
    with pytest.raises(OSError, match="pipe"):
        session.write_file("pipe", b"nobody reads")
    with pytest.raises(OSError, match="zero"):
        session.read_file("/dev/zero")
    with pytest.raises(NotADirectoryError):
        session.list_files("/etc/passwd/x")
    assert output(session, "echo on") == "on\n"


def test_names_that_are_no_text_come_through(session):
    session.run("mkdir odd; touch $'odd/new\\nline' $'odd/\\377'")
    names = [entry.name for entry in session.list_files("odd")]
    assert names == ["new\nline", "\udcff"]
    assert session.read_file("odd/\udcff") == b""


# Losing it, and restarting.


def test_a_session_whose_processes_are_killed_says_so_and_keeps_the_output(session):
    session.run("cd /usr; X=kept")
    result = session.run(f"echo begun; {AGENT}; kill -9 $agent")
    assert (result.lost, result.code, result.cwd) == (True, None, "/usr")
    assert "the session is lost" in result.note
    with pytest.raises(SandboxError, match=r"call restart\(\)"):
        session.run("echo on")
    session.restart()
    after = session.run("echo $X $PWD")
    assert after.stdout == b"kept /usr\n"
    assert "restarted" in after.note
    assert session.run("true").note == ""


def test_with_restart_the_next_command_begins_anew_and_says_so(box):
    with box.open_session(restart=True) as session:
        job = session.start("sleep 600")
        session.run("cd /usr")
        assert session.run(f"{AGENT}; kill -9 $agent").lost
        result = session.run("pwd")
        assert (result.stdout, result.lost) == (b"/usr\n", False)
        assert "the session was restarted (the session is lost" in result.note
        with pytest.raises(SandboxError, match=f"no job {job.number}"):
            job.poll()


def test_after_a_restart_home_is_the_new_one(box):
    with box.open_session(restart=True) as session:
        session.run("mkdir sub; cd sub; export MINE=$HOME")
        session.run(f"{AGENT}; kill -9 $agent")
        result = session.run('cd; pwd; [ "$PWD" = "$HOME" ] && [ -d "$TMPDIR" ] && mktemp >/dev/null && echo good')
        assert result.stdout.splitlines()[1:] == [b"good"]
        assert "sub is gone" in result.note


def test_what_fills_the_process_table_can_be_killed(box):
    with Sandbox(box.backend.name, limits=Limits(processes=30, wall=60)).open_session() as session:
        session.run("X=kept; f() { echo f; }")
        result = session.run("for i in $(seq 50); do sleep 600 & done 2>/dev/null", timeout=1)
        for job in session.jobs():
            session.job(job.number).kill()
        assert session.run("echo $X; f").stdout == b"kept\nf\n"
        assert result.lost is False


def test_a_child_of_the_shell_leaves_no_state(session):
    """As one would that an interrupt meets between fork and exec: bash runs the trap on EXIT in it as well."""
    session.run("X=kept")
    assert session.run("(X=childs; __ludus_save); exec true").remembered is False
    assert session.run("echo $X").stdout == b"kept\n"


def test_a_limit_that_ends_the_sandbox_is_named():
    with Sandbox("process", limits=Limits(wall=8)).open_session() as session:
        result = session.run("echo begun; sleep 600", timeout=math.inf)
        assert (result.lost, result.limit, result.stdout) == (True, "wall", b"begun\n")


def test_a_closed_session_refuses_and_may_be_closed_again(session):
    session.close()
    session.close()
    session.interrupt()
    with pytest.raises(SandboxError, match="after close"):
        session.run("true")


def test_a_second_thread_is_refused(session):
    refused: list[BaseException] = []
    over = threading.Event()

    def second() -> None:
        until(lambda: session.state.number, "the first call to begin")
        while not over.wait(0.02):
            try:
                session.jobs()
            except SandboxError as error:
                refused.append(error)
                session.interrupt()

    thread = threading.Thread(target=second)
    thread.start()
    session.run("sleep 600")
    over.set()
    thread.join()
    assert "one call at a time" in str(refused[0])


def test_closing_in_another_thread_ends_the_command(session):
    def close() -> None:
        until(lambda: session.state.number, "the command to begin")
        session.close()

    thread = threading.Thread(target=close)
    thread.start()
    result = session.run("sleep 600")
    thread.join()
    assert result.lost


def test_usage_and_guarantees_are_those_of_the_sandbox(box, session):
    assert session.guarantees == box.guarantees
    assert session.usage().wall > 0


# Without /proc, which Landlock does not show.


def test_commands_last_and_time_out_without_proc():
    with Sandbox("landlock").open_session() as session:
        session.run("cd /usr; X=1")
        result = session.run("echo $X; sleep 600 & sleep 600", timeout=6)
        assert (result.stdout, result.timed_out, result.cwd) == (b"1\n", True, "/usr")
        assert session.start("sleep 600").kill().code == 137
        assert output(session, "echo $X $PWD") == "1 /usr\n"


def test_a_daemon_that_cannot_be_found_without_proc_costs_the_session_and_ends_with_it():
    with Sandbox("landlock").open_session(restart=True) as session:
        result = session.run("setsid sleep 600 & sleep 600", timeout=2)
        assert result.lost
        assert "cannot be killed" in result.note
        assert session.run("echo on").stdout == b"on\n"


# What is refused before anything happens.


@pytest.mark.parametrize(
    ("arguments", "error", "match"),
    [
        (("x\0",), InvalidArgument, "null characters"),
        ((5,), InvalidType, "expected text"),
        (("#" * 200_000,), InvalidArgument, "at most 120000 bytes"),
        (("true", {"timeout": 0}), InvalidArgument, "above 0"),
        (("true", {"timeout": math.nan}), InvalidArgument, "above 0"),
        (("true", {"limit": 0}), InvalidArgument, "from 1"),
        (("true", {"input": "text"}), InvalidType, "expected bytes"),
        (("true", {"input": bytes(5 << 20)}), InvalidArgument, "at most"),
    ],
)
def test_arguments_are_checked_first(arguments, error, match):
    command, options = (*arguments, {})[:2]
    with Sandbox("process").open_session() as session:
        with pytest.raises(error, match=match):
            session.run(command, **options)
        assert session.run("true").ok


def test_paths_are_checked_first():
    with Sandbox("process").open_session() as session:
        for path in ("", "a\0b", 5):
            with pytest.raises((InvalidArgument, InvalidType), match="path"):
                session.read_file(path)


def test_an_unknown_shell_is_refused():
    with pytest.raises(InvalidArgument, match="'bash', 'sh' or None"):
        Sandbox("process").open_session(shell="fish")


def test_a_state_without_a_script_is_only_a_folder():
    with Sandbox("process").open_session(state=ShellState(cwd="/usr", code=3)) as session:
        assert session.run("echo $? $PWD $HOME").stdout.startswith(b"3 /usr /")
