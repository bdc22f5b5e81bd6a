"""A task whose agent, submitted files and grader are in containers of each engine, from its start to its score."""

import pytest

from ludus.tasks import TaskEnv, find_task
from ludus.tasks.agents import ScriptedTaskAgent
from ludus.tasks.agents.replay import replay_run
from ludus.tasks.agents.run import RunOptions, run_task
from ludus.tasks.journal import Journal
from ludus.tools import Call
from tests.sandbox.conftest import container_backend as container_backend
from tests.sandbox.conftest import container_daemon as container_daemon
from tests.tasks.conftest import SOLVE, shell

pytestmark = [pytest.mark.full, pytest.mark.in_turns("container_backend")]

WORK = [
    Call("shell", {"command": "mkdir sub; cd sub; export WORD=hi; id -u"}),
    Call(
        "shell",
        {"command": "echo $WORD $PWD; ls -A /hidden /task; touch ../rules.txt; echo $?"},
    ),
    Call("start", {"command": "sleep 600"}),
    Call("shell", {"command": f'cd /work; python -c "{SOLVE}" > answer.json'}),
    Call("validate"),
    Call("kill", {"job": 3}),
    Call("shell", {"command": "sleep 600", "seconds": 2.0}),
]


def test_a_run_in_containers_is_scored_recorded_and_done_again(parity, container_backend, tmp_path):
    task, options = find_task(parity), RunOptions(folder=tmp_path / "run", backend=container_backend)
    episode = run_task(task, ScriptedTaskAgent(WORK), 3, options=options)
    first, *steps = Journal(tmp_path / "run").read()
    told = [one.observation.result for one in steps]
    assert (episode.outcome, episode.score["value"], episode.total) == ("success", 1.0, 1.0)
    assert first.info["guarantees"]["backend"] == container_backend
    assert told[1].startswith("hi /work/sub\n1\n"), "what is read-only is not written"
    assert "cannot access '/hidden'" in told[1]
    assert told[4].startswith("valid, better than before: 1.00")
    assert told[5].startswith("job 3 ended with 137")
    assert "[stopped after 2 seconds" in told[6]
    assert replay_run(task, tmp_path / "run", backend=container_backend) == []


def test_a_task_in_a_container_is_taken_back_and_goes_on_elsewhere(parity, container_backend, tmp_path):
    with TaskEnv(parity, backend=container_backend, folder=tmp_path / "run") as env:
        env.reset(seed=3)
        shell(env, f'python -c "{SOLVE}" > answer.json; export WORD=hi')
        kept = env.snapshot()
        shell(env, "rm answer.json; WORD=bye")
        env.restore(kept)
        assert shell(env, "echo $WORD; ls").observation.result == "hi\nanswer.json\ndata\nrules.txt\n"
    with TaskEnv(parity, backend=container_backend, folder=tmp_path / "run") as env:
        env.resume()
        assert shell(env, "echo $WORD").observation.result == "hi\n"
        step = env.step(Call("submit"))
    assert step.info["score"]["value"] == 1.0, step.info["score"]["reason"]
