"""Commands in a workspace: what MLGym's shell got wrong, and what a task's limits do."""

import os
import threading

import ludus.tasks.workspace as workspace
from ludus.tasks import TaskEnv
from ludus.tasks.packages import agent_python
from ludus.tools import Call
from tests.patience import until
from tests.tasks.conftest import TASK, shell


def test_heredocs_binary_output_prompts_and_long_lines_behave(env):
    heredoc = "cat > file <<'EOF'\nEOF is no end: ///PROCESS-DONE:0:PROCESS-DONE///\nEOF\ncat file"
    assert shell(env, heredoc).observation.result == "EOF is no end: ///PROCESS-DONE:0:PROCESS-DONE///\n"
    assert "\ufffd" in shell(env, "head -c 100 /dev/urandom; printf '\\xff\\xfe'").observation.result
    prompt = shell(env, "read -p 'name? ' name; echo got:$name; python3 -c 'input()' 2>&1 | tail -1")
    assert prompt.observation.result.endswith("got:\nEOFError: EOF when reading a line\n")
    long = shell(env, "head -c 3000000 /dev/zero | tr '\\0' x; echo end")
    assert len(long.observation.result) < workspace.MAX_OUTPUT_BYTES + 200
    assert "bytes dropped]" in long.observation.result
    assert long.observation.result.endswith("end\n")


def test_python_is_the_interpreter_of_this_ludus_whatever_the_system_calls_it(env):
    told = "import os, sys; print(os.path.realpath(sys.executable))"
    found = shell(env, f"command -v python python3; python -c '{told}'; python3 -c '{told}'").observation.result
    known = os.path.realpath(agent_python())
    assert found == f"/opt/bin/python\n/opt/bin/python3\n{known}\n{known}\n"


def test_folder_variables_and_functions_last_from_step_to_step(env):
    shell(env, "mkdir -p 'a b'; cd 'a b'; export WORD='two words'; count() { echo $# $1; }; local_one=1")
    later = shell(env, 'count "$WORD"; pwd; printenv WORD; echo $local_one')
    assert later.observation.result == "1 two words\n/work/a b\ntwo words\n1\n"
    assert shell(env, "cd ..; rmdir 'a b'; unset WORD; echo [$WORD] $PWD").observation.result == "[] /work\n"


def test_ctrl_c_ends_the_command_and_nothing_else(env):
    shell(env, "export WORD=kept")
    begun, ended = env._placed().work / "begun", threading.Event()

    def interrupt():
        until(begun.exists, "the command to begin")
        while not ended.wait(0.05):  # between two programs, bash goes on, as it does at a terminal
            env._placed().shell.interrupt()

    pressing = threading.Thread(target=interrupt)
    pressing.start()
    step = shell(env, "echo half; echo > begun; sleep 600; echo never", seconds=40.0)
    ended.set()
    pressing.join()
    assert step.info["command"]["interrupted"]
    assert step.observation.result.startswith("half\n[exit code 130]")
    assert shell(env, "echo $WORD; kill -INT $$; echo never").info["command"]["exit_code"] == 130
    assert shell(env, "echo $WORD").observation.result == "kept\n"


def test_a_timeout_kills_the_tree_and_keeps_the_output(env):
    step = shell(env, "echo begun; (setsid sleep 77 &) ; sleep 78", seconds=4)
    assert step.info["command"]["timed_out"]
    assert step.observation.result.startswith("begun\n[stopped after 4 seconds")
    assert shell(env, "ps ax | grep -c '[s]leep 7'").observation.result.startswith("0\n")


def test_a_command_that_prints_nothing_is_stopped_early(parity):
    parity.joinpath("task.yaml").write_text(TASK.replace("total: 300", "total: 300, no_output: 3"))
    with TaskEnv(parity) as env:
        env.reset(seed=0)
        silent = shell(env, "echo word; sleep 60")
        talking = shell(env, "mkfifo gate; for i in {1..40}; do read -t 0.1 -u 9; echo $i; done 9<> gate")
        assert env.last.measured.command_seconds is not None
    assert silent.info["command"]["timed_out"]
    assert talking.info["command"]["exit_code"] == 0


def test_background_jobs_outlive_a_step(env):
    started = env.step("start mkfifo gate; read word < gate; echo trained $word; exit 2")
    number = started.info["command"]["job"]
    assert "running" in env.step(Call("poll", {"job": number})).observation.result
    shell(env, "until [ -p gate ]; do :; done; echo well > gate")
    ended = env.step(Call("poll", {"job": number, "seconds": 20.0})).observation.result
    assert "ended with 2" in ended
    assert "trained well" in ended
    other = env.step("start sleep 600").info["command"]["job"]
    assert "ended with 137" in env.step(Call("kill", {"job": other})).observation.result


def test_a_session_that_was_killed_begins_anew(env):
    shell(env, "export KEPT=yes; echo data > file")
    assert "exit_code" in shell(env, "kill -9 -1").info["command"]
    assert shell(env, "echo $KEPT; cat file").observation.result.startswith("yes\ndata\n")


def test_usage_is_counted_in_infos_and_measured_beside_them(env):
    busy = shell(env, "echo four; i=0; while [ $i -lt 40000 ]; do i=$((i+1)); done; echo word > file")
    worked = env.measured
    env.step("budget")
    assert worked.cpu_seconds > env.measured.cpu_seconds >= 0
    assert worked.peak_memory > 0
    assert worked.processes >= 1
    assert worked.read_bytes is not None
    assert worked.written_bytes >= 0
    assert 0 < worked.command_seconds <= worked.step_seconds <= worked.seconds
    assert busy.info["usage"] == {"steps": 1, "commands": 1, "output_bytes": 5, "files": 2, "bytes": 14}
    assert busy.info["budget"] == {"steps": 11, "validations": 2, "forfeits": 3}


def test_what_a_step_writes_is_measured_and_what_others_wrote_is_not(env):
    shell(env, "head -c 1000000 /dev/zero > big")
    wrote = env.measured.written_bytes
    shell(env, "true")
    on_disk = os.major(env._placed().work.stat().st_dev) != 0  # in memory, a file is written to no device
    assert wrote >= (1_000_000 if on_disk else 0)
    assert env.measured.written_bytes < 1_000_000


def test_the_same_seed_and_calls_give_the_same_infos(parity):
    calls = ["shell echo a > a; cat a", "no call", "shell sleep 0.3; false", "validate", "budget", "submit"]

    def history():
        with TaskEnv(parity) as env:
            return [env.reset(seed=5), *(tuple(env.step(one)) for one in calls)]

    assert history() == history()


def test_files_are_read_written_edited_listed_and_searched(env):
    env.call("write", path="src/a.py", content="one\ntwo\nthree\n")
    assert env.call("read", path="src/a.py", line=2, lines=1).observation.result == "src/a.py, 3 lines\n     2  two\n"
    assert env.call("edit", path="src/a.py", old="two", new="2").observation.result == "src/a.py: 1 piece replaced"
    assert "got it 0 times" in env.call("edit", path="src/a.py", old="two", new="2").observation.error
    assert "a.py" in env.call("list", path="src").observation.result
    assert env.call("search", pattern="^th", path="src").observation.result == "src/a.py:3:three\n"
    assert "No such file" in env.call("read", path="nowhere").observation.error


def test_a_workspace_beyond_its_limits_is_told_and_not_kept(env):
    large = shell(env, "head -c 5000000 /dev/zero > big; ls -l big | cut -d' ' -f5")
    assert "4194304" in large.observation.result  # resources.file_size
    many = shell(env, "for i in 1 2 3; do head -c 4000000 /dev/zero > part$i; done")
    assert "the workspace is beyond its limits" in many.observation.error
    assert "remove files" in many.observation.error
    assert "snapshot" not in many.info
    assert "snapshot" in shell(env, "rm big part*").info


def test_memory_and_processes_are_held(env):
    eaten = shell(env, "python3 -c 'x = bytearray(600 << 20)'")
    limited = "MemoryError" in eaten.observation.result  # where no cgroup is to be had
    assert limited or eaten.info["command"]["limit"] == "memory"
    forked = shell(env, "for i in $(seq 60); do sleep 9 & done; wait; echo done", seconds=8)
    assert "Resource temporarily unavailable" in forked.observation.result
