"""Results in files: the same whatever played them, and the same again after a kill."""

import os
import subprocess
import sys

import pytest

from ludus.errors import InvalidArgument, TrajectoryError
from ludus.evaluate import ResultFile, evaluate, open_result, read_evaluation, verify
from ludus.trajectory import Run, diff, recompute, replay

WORLD = """
import sys
from ludus.envs.teaching import GridWorld
from ludus.evaluate import evaluate, result_file

class World(GridWorld):
    pass

def stop(one):
    if one.number == 36:
        print("here", flush=True)
        sys.stdin.read()

if __name__ == "__main__":
    result_file.FLUSH_SECONDS = 0.0
    evaluate("own_world:World", "random", episodes=60, num_envs=3, max_steps=15, out=sys.argv[1], progress=stop)
"""


def test_a_file_does_not_depend_on_how_it_was_played(tmp_path):
    files = [tmp_path / f"{one}.ludus" for one in range(3)]
    evaluate("FrozenLake-v1", "random", episodes=9, num_envs=1, executor="serial", out=files[0])
    evaluate("FrozenLake-v1", "random", episodes=9, num_envs=4, out=files[1])
    evaluate("FrozenLake-v1", "random", episodes=9, num_envs=9, executor="thread", out=files[2])
    first, *others = (open_result(one) for one in files)
    for other in others:
        assert diff(first.run, other.run) is None
        assert other.claimed().keys() == first.claimed().keys()
        assert other.evaluation() == first.evaluation()


def test_a_result_is_a_run_that_can_be_read_replayed_and_computed_anew(tmp_path):
    path = tmp_path / "result.ludus"
    found = evaluate("CartPole-v1", "random", episodes=4, out=path)
    run = Run.open(path)
    assert [len(one.actions) for one in run] == [one.length for one in found.episodes]
    assert [one.seed for one in run] == [one.seed for one in found.episodes]
    again = replay(path)
    assert again
    assert not again.source_changed
    assert recompute(path, tmp_path / "full.ludus", "full")
    assert Run.open(tmp_path / "full.ludus")[0].observations.shape == (found.episodes[0].length + 1, 4)


def test_killed_in_the_middle_it_goes_on_to_the_same_result(tmp_path, monkeypatch):
    (tmp_path / "own_world.py").write_text(WORLD)
    killed, whole = tmp_path / "killed.ludus", tmp_path / "whole.ludus"
    environment = os.environ | {"PYTHONPATH": os.pathsep.join([str(tmp_path), *filter(None, sys.path)])}
    command = [sys.executable, str(tmp_path / "own_world.py"), str(killed)]
    pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "text": True}
    with subprocess.Popen(command, env=environment, **pipes) as process:
        assert process.stdout.readline() == "here\n"
        process.kill()
    before = open_result(killed)
    assert before.run.missing
    assert 30 < len(before) < 60
    monkeypatch.syspath_prepend(tmp_path)
    options, played = {"episodes": 60, "num_envs": 5, "max_steps": 15}, []
    going_on = {"out": ResultFile(killed, resume=True), "progress": played.append, **options}
    found = evaluate("own_world:World", "random", **going_on)
    assert len(played) == 60 - len(before)
    assert found == evaluate("own_world:World", "random", out=whole, **options)
    assert read_evaluation(killed) == read_evaluation(whole)
    assert diff(Run.open(killed), Run.open(whole)) is None
    checked = verify(killed, "own_world:World")
    assert checked, str(checked)
    assert evaluate("own_world:World", "random", **going_on) == found
    assert len(played) == 60 - len(before)


def test_an_interrupt_leaves_what_is_complete(tmp_path):
    path = tmp_path / "result.ludus"

    def stop(one):
        if one.number == 6:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        evaluate("GridWorld-v0", "random", episodes=20, num_envs=1, out=path, progress=stop)
    assert len(open_result(path)) == 7
    assert evaluate("GridWorld-v0", "random", episodes=20, out=ResultFile(path, resume=True)) == evaluate(
        "GridWorld-v0", "random", episodes=20
    )


def test_another_evaluation_does_not_go_on_in_the_file(tmp_path):
    path = tmp_path / "result.ludus"
    evaluate("GridWorld-v0", "random", episodes=3, out=path)
    with pytest.raises(TrajectoryError, match=r"expected a path for a new file"):
        evaluate("GridWorld-v0", "random", episodes=3, out=path)
    with pytest.raises(TrajectoryError, match=r"resume: expected the same evaluation, got another metadata"):
        evaluate("GridWorld-v0", "random", episodes=4, out=ResultFile(path, resume=True))
    with pytest.raises(TrajectoryError, match=r"resume: expected the same evaluation, got another spec"):
        evaluate("GridWorld-v0", "random", episodes=3, kwargs={"size": 3}, out=ResultFile(path, resume=True))


def test_what_no_file_can_be_made_of_is_refused(tmp_path):
    with pytest.raises(InvalidArgument, match=r"level: expected 'seeds' or 'steps', got 'full'; recompute"):
        ResultFile(tmp_path / "a", "full")
    with pytest.raises(InvalidArgument, match=r"seed: expected integers of 0 up to 2\*\*63, got -1"):
        evaluate("GridWorld-v0", "random", seed=[3, -1])
    with pytest.raises(InvalidArgument, match=r"expected a file with an Ed25519 key and no password"):
        evaluate("GridWorld-v0", "random", episodes=2, out=ResultFile(tmp_path / "a", key=tmp_path / "none"))
