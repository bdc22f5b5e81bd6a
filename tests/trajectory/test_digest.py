"""The numbers of rows: compiled code and NumPy agree, and whatever differs has another."""

import numpy as np
import pytest

import ludus
from ludus.trajectory import Recorder, Run, replay
from ludus.trajectory.digest import RowDigest
from tests.trajectory.conftest import batch, play

M64, M32, FACTOR = (1 << 64) - 1, (1 << 32) - 1, 0x9E3779B97F4A7C15


def by_hand(data: bytes) -> int:
    """The number of a row as docs/trajectory.md has it, in plain Python."""
    data += bytes(-len(data) % 8)
    words = [int.from_bytes(data[at : at + 8], "little") for at in range(0, len(data), 8)]
    total = 0
    for begin in range(0, len(words), 64):
        group = 0
        for place, word in enumerate(words[begin : begin + 64]):
            key = (place + 1) * FACTOR & M64
            key = (key ^ key >> 30) * 0xBF58476D1CE4E5B9 & M64
            key = (key ^ key >> 27) * 0x94D049BB133111EB & M64
            key ^= key >> 31
            group += ((word + key) & M32) * (((word >> 32) + (key >> 32)) & M32)
        total = (total * FACTOR + group) & M64
    return total


@pytest.mark.parametrize("size", [1, 8, 12, 511, 512, 513, 1024, 9000])
def test_the_number_of_a_row_is_that_of_its_definition(size):
    data = np.random.default_rng(size).bytes(size)
    assert RowDigest().of([np.frombuffer(data, np.uint8)]) == by_hand(data)


@pytest.mark.parametrize("shape", [(1,), (3,), (2, 5), (64,), (65,), (4096, 4)])
def test_any_change_of_any_place_changes_the_number(shape):
    digest, rng = RowDigest(), np.random.default_rng(0)
    values = rng.normal(size=shape).astype(np.float32)
    before = digest.of([values])
    assert digest.of([values.copy()]) == before
    for place in rng.choice(values.size, size=min(20, values.size), replace=False):
        changed = values.copy()
        changed.reshape(-1)[place] += np.float32(1e-3)
        assert digest.of([changed]) != before
    if values.size > 1:
        assert digest.of([np.roll(values, 1)]) != before


def test_leaves_count_by_their_order_and_lane_by_lane():
    digest, a, b = RowDigest(), np.zeros(3), np.ones(3)
    assert len({digest.of(parts) for parts in ([a, b], [b, a], [a, b, b""], [np.stack([a, b])], [b"", a, b])}) == 5
    assert digest.of([np.arange(6).reshape(2, 3).T]) == digest.of([np.arange(6).reshape(2, 3).T.copy()])


@pytest.mark.parametrize("level", ["seeds", "steps"])
@pytest.mark.parametrize("mode", ["NextStep", "SameStep"])
@pytest.mark.parametrize("lanes", [3, 40])
def test_compiled_and_numpy_rows_are_the_same_file(tmp_path, level, mode, lanes):
    files = []
    for name in ("compiled", "numpy"):
        recorder = Recorder(batch("kernel", mode, lanes), tmp_path / name, level)
        assert recorder._tally is not None
        if name == "numpy":
            recorder._tally = None
        play(recorder, 90)
        recorder.close()
        files.append(Run.open(tmp_path / name))
    a, b = files
    assert {key: a.table[key].tolist() for key in a.table.columns} == {
        key: b.table[key].tolist() for key in b.table.columns
    }
    assert [episode.actions.tolist() for episode in a] == [episode.actions.tolist() for episode in b]
    assert a[0].actions.dtype == b[0].actions.dtype == np.int64
    if level == "steps":
        assert [episode.rewards.tolist() for episode in a] == [episode.rewards.tolist() for episode in b]
    assert replay(a)
    assert replay(b)


def test_what_compiled_rows_are_not_made_for_is_taken_all_the_same(path):
    envs = Recorder(ludus.make_vec("CartPole-v1", 5), path)
    envs.reset(seed=0)
    ones = np.ones(5, np.int64)
    envs.step(ones)
    envs.step([1, 0, 1, 0, 1])
    envs.step(ones.astype(np.uint8))
    envs.step_masked(ones, np.array([True, True, False, True, True]))
    envs.step(ones)
    envs.close()
    run = Run.open(path)
    assert {episode.lane: episode.length for episode in run} == {0: 5, 1: 5, 2: 4, 3: 5, 4: 5}
    assert {episode.lane: episode.actions.tolist() for episode in run}[1] == [1, 0, 1, 1, 1]
    assert replay(run)
