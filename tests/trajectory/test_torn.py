"""A process that is killed leaves a file that opens, says what is missing, and lacks at most the last second."""

import os
import signal
import subprocess
import sys

import numpy as np
import pytest

import ludus
from ludus.core import Outcome
from ludus.errors import TrajectoryError
from ludus.trajectory import Recorder, Run, merge, replay
from ludus.trajectory.writer import FLUSH_SECONDS
from tests.patience import until
from tests.trajectory.conftest import batch, record

PROGRAM = """
import sys, time
import numpy as np, ludus
from ludus.trajectory import Recorder
env = Recorder(ludus.make("CartPole-v1"), sys.argv[1], "full")
env.reset(seed=1)
done = False
while True:
    done = env.step(0 if env._writer.row // 3 % 2 else 1).done
    if done:
        env.reset()
    print(env._writer.row, flush=True)
    time.sleep(0.001)
"""


def rows_of(path):
    """How many rows are in a file by now: while it is written it opens as well."""
    return Run.open(path).chunks.rows


def test_kill_9_loses_at_most_what_came_after_the_last_writing_which_nobody_has_to_ask_for(path):
    child = subprocess.Popen([sys.executable, "-c", PROGRAM, path], stdout=subprocess.PIPE, text=True)
    waited_for = next(row for row in map(int, child.stdout) if row > 10)
    until(lambda: rows_of(path) >= waited_for, "it is written only when the program asks for it")
    seen = rows_of(path)
    child.send_signal(signal.SIGKILL)
    child.stdout.close()
    assert child.wait() == -signal.SIGKILL
    assert FLUSH_SECONDS < 1.0  # so that it is no more than the last second that is lost
    run = Run.open(path)
    assert run.missing.startswith("cut short after ")
    assert run.chunks.rows >= seen >= waited_for
    # Every row is one of an episode, the one under way too; but for a reset after which nothing has come.
    assert run.chunks.rows - sum(episode.length + 1 for episode in run) in (0, 1)
    assert replay(run).difference is None
    assert "cut short" in replay(run).stopped


def test_a_slow_step_does_not_keep_the_last_one_from_the_file(path):
    env = Recorder(ludus.make("GridWorld-v0"), path)
    env.reset(seed=0)
    env.step(1)
    until(lambda: rows_of(path) >= 2, "only the next step has it written")
    assert Run.open(path)[0].actions.tolist() == [1]
    env.close()


@pytest.mark.parametrize("mode", ["NextStep", "SameStep", "Disabled"])
def test_a_file_cut_anywhere_opens_with_what_is_whole(path, tmp_path, mode):
    envs = Recorder(batch("kernel", mode, 3), path, "full")
    envs.reset(seed=0)
    for count in range(60):
        step = envs.step(np.full(3, count % 2))
        if mode == "Disabled" and step.done.any():
            envs.reset(options={"reset_mask": step.done})
        if count % 12 == 0:
            envs.flush()
    envs.close()
    whole, data = Run.open(path), path.read_bytes()
    cut = tmp_path / "cut.ludus"
    seen = set()
    for at in range(len(data) - 1, 2000, -997):
        cut.write_bytes(data[:at])
        run = Run.open(cut)
        assert run.missing
        seen.add(run.chunks.rows)
        for episode in run:
            same = [one for one in whole if one.lane == episode.lane and one.start == episode.start]
            assert same[0].length >= episode.length
            assert np.array_equal(same[0].actions[: episode.length], episode.actions)
            if episode.outcome is not Outcome.ABORTED:
                assert np.array_equal(same[0].observations, episode.observations)
    assert len(seen) > 2


def test_a_file_cut_within_its_header_is_refused(path):
    record(batch(), path, "seeds", 5)
    path.write_bytes(path.read_bytes()[:50])
    with pytest.raises(TrajectoryError, match=r"first member is run\.json"):
        Run.open(path)


def test_a_program_that_ends_without_closing_leaves_a_whole_file(path):
    program = PROGRAM.partition("done = False")[0] + "env.step(0)\n"
    subprocess.run([sys.executable, "-W", "error", "-c", program, path], check=True, env=os.environ)
    run = Run.open(path)
    assert (run.missing, len(run)) == ("", 1)


def test_a_disk_that_fails_is_told_by_the_next_steps_and_by_close(path):
    env = Recorder(ludus.make("GridWorld-v0"), path)
    env.reset(seed=0)
    env._writer._archive._file.close()
    env.step(0)
    with pytest.raises(TrajectoryError, match="recording stopped"):
        env.close()


def test_what_a_killed_process_left_and_what_came_after_are_one_run(path, tmp_path):
    program = PROGRAM.partition("while True:")[0] + (
        "for _ in range(300):\n    if env.step(0).done:\n        env.reset()\n"
        "env.flush()\nimport os, signal\nos.kill(os.getpid(), signal.SIGKILL)\n"
    )
    child = subprocess.run([sys.executable, "-c", program, path], check=False, env=os.environ)
    assert child.returncode == -signal.SIGKILL
    record(ludus.make("CartPole-v1"), tmp_path / "after.ludus", "full", 40)
    before, after = Run.open(path), Run.open(tmp_path / "after.ludus")
    assert before.missing
    assert sum(episode.length for episode in before) == 300
    assert merge([before, after], tmp_path / "whole.ludus") == len(before) + len(after)
    whole = Run.open(tmp_path / "whole.ludus")
    assert whole.missing == ""
    assert np.array_equal(whole[0].observations, before[0].observations)
