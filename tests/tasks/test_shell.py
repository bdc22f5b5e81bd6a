"""Commands in a workspace: what MLGym's shell got wrong, and what a task's limits do."""

import ludus.tasks.workspace as workspace
from ludus.tasks import TaskEnv
from ludus.tools import Call
from tests.tasks.conftest import TASK, shell


def test_heredocs_binary_output_prompts_and_long_lines_behave(env):
    heredoc = "cat > file <<'EOF'\nEOF is no end: ///PROCESS-DONE:0:PROCESS-DONE///\nEOF\ncat file"
    assert shell(env, heredoc).observation.result == "EOF is no end: ///PROCESS-DONE:0:PROCESS-DONE///\n"
    assert "\ufffd" in shell(env, "head -c 100 /dev/urandom; printf '\\xff\\xfe'").observation.result
    prompt = shell(env, "read -p 'name? ' name; echo got:$name; python3 -c 'input()' 2>&1 | tail -1")
    assert prompt.observation.result.endswith("got:\nEOFError: EOF when reading a line\n")
    long = shell(env, "head -c 3000000 /dev/zero | tr '\\0' x; echo end")
    assert len(long.observation.result) < workspace.OUTPUT + 200
    assert "bytes dropped]" in long.observation.result
    assert long.observation.result.endswith("end\n")


def test_a_timeout_kills_the_tree_and_keeps_the_output(env):
    step = shell(env, "echo begun; (setsid sleep 77 &) ; sleep 78", seconds=1)
    assert step.info["command"]["timed_out"]
    assert step.observation.result.startswith("begun\n[stopped after 1 seconds")
    assert shell(env, "ps ax | grep -c '[s]leep 7'").observation.result.startswith("0\n")


def test_a_command_that_prints_nothing_is_stopped_early(parity):
    parity.joinpath("task.yaml").write_text(TASK.replace("total: 300", "total: 300, no_output: 0.5"))
    with TaskEnv(parity) as env:
        env.reset(seed=0)
        silent = shell(env, "echo word; sleep 60")
        talking = shell(env, "for i in 1 2 3 4 5 6; do sleep 0.2; echo $i; done")
    assert (silent.info["command"]["timed_out"], silent.info["command"]["seconds"] < 20) == (True, True)
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


def test_usage_is_counted_for_each_step(env):
    busy = shell(env, "i=0; while [ $i -lt 40000 ]; do i=$((i+1)); done")
    idle = env.step("budget")
    assert busy.info["usage"]["cpu_seconds"] > idle.info["usage"]["cpu_seconds"] >= 0
    assert busy.info["usage"]["peak_memory"] > 0


def test_files_are_read_written_edited_listed_and_searched(env):
    env.call("write", path="src/a.py", content="one\ntwo\nthree\n")
    assert env.call("read", path="src/a.py", line=2, lines=1).observation.result == "src/a.py, 3 lines\n     2  two\n"
    assert env.call("edit", path="src/a.py", old="two", new="2").observation.result == "src/a.py: 1 piece replaced"
    assert "got it 0 times" in env.call("edit", path="src/a.py", old="two", new="2").observation.error
    assert "a.py" in env.call("list", path="src").observation.result
    assert env.call("search", pattern="^th", path="src").observation.result == "src/a.py:3:three\n"
    assert "No such file" in env.call("read", path="nowhere").observation.error
