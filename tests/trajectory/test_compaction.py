"""Many small chunks become few when a run is closed, and say the same."""

import numpy as np
import pytest

from ludus.trajectory import Note, Recorder, Run, replay
from ludus.trajectory.archive import Archive
from ludus.trajectory.compaction import compact
from tests.trajectory.conftest import Workshop, batch, random_actions


def slow(env, path, level, *, every=3, count=60, close=True):
    recorder = Recorder(env, path, level)
    recorder.reset(seed=4)
    for place, action in enumerate(random_actions(recorder, count)):
        step = recorder.step(action)
        recorder.record(Note(f"step {place}"))
        if recorder.batch_shape and recorder.autoreset_mode.value == "Disabled" and step.done.any():
            recorder.reset(options={"reset_mask": step.done})
        elif not recorder.batch_shape and step.done:
            recorder.reset()
        if place % every == 0:
            recorder.flush()
    recorder.add_blob(b"kept")
    if close:
        recorder.close()
    return recorder


@pytest.mark.parametrize("level", ["seeds", "steps", "full"])
@pytest.mark.parametrize("mode", ["", "NextStep", "SameStep", "Disabled"])
def test_a_compacted_run_says_what_its_chunks_said(path, tmp_path, monkeypatch, level, mode):
    def make():
        return batch("serial", mode, 3) if mode else Workshop()

    with monkeypatch.context() as patch:
        patch.setattr("ludus.trajectory.writer.worth_compacting", lambda *_: False)
        slow(make(), path, level)
    before = Run.open(path)
    assert len(before.chunks.heads) > 15
    slow(make(), tmp_path / "b.ludus", level)
    after = Run.open(tmp_path / "b.ludus")
    assert len(after.chunks.heads) < 4
    assert after.path.stat().st_size < before.path.stat().st_size / 2
    assert after.missing == ""
    for name in before.table.columns:
        assert np.array_equal(before.table[name], after.table[name])
    assert [str(one.actions) for one in before] == [str(one.actions) for one in after]
    assert [(one.episode, one.step, one.value) for one in before.events()] == [
        (one.episode, one.step, one.value) for one in after.events()
    ]
    assert after.blob(after.blobs()[0]) == b"kept"
    result = replay(after, make())
    assert result, result
    assert [path.name for path in tmp_path.iterdir() if path.name.startswith(".")] == []


def test_a_run_whose_compaction_fails_stays_as_it_was(path, monkeypatch):
    with monkeypatch.context() as patch:
        patch.setattr("ludus.trajectory.writer.worth_compacting", lambda *_: False)
        slow(Workshop(), path, "steps")
    data = path.read_bytes()

    def broken(*_):
        raise KeyboardInterrupt

    monkeypatch.setattr("ludus.trajectory.compaction._write_group", broken)
    with pytest.raises(KeyboardInterrupt):
        compact(path)
    assert path.read_bytes() == data
    assert [one.name for one in path.parent.iterdir()] == [path.name]
    assert Archive(path).missing == ""
