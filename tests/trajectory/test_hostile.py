"""Files from strangers: whatever they hold, TrajectoryError comes out and nothing else, or a run that reads."""

import json
import os
import random
import tracemalloc

import msgspec
import numpy as np
import pytest

from ludus.errors import TrajectoryError
from ludus.trajectory import Note, Recorder, Run
from ludus.trajectory.archive import Archive, ArchiveWriter
from ludus.trajectory.block import RESET, PlannedEpisode, StepRow
from ludus.trajectory.npy_column import ColumnHead, decode_column, encode_column
from tests.trajectory.conftest import Workshop, batch, play

SEEDS = 120


def recorded(path, env, level, count):
    with Recorder(env, path, level) as recorder:
        play(recorder, count)
        recorder.record(Note("end", recorder.add_blob(b"blob")))
    return path


@pytest.fixture(scope="module")
def originals(tmp_path_factory):
    folder = tmp_path_factory.mktemp("originals")
    made = [
        recorded(folder / "a.ludus", Workshop(), "full", 20),
        recorded(folder / "b.ludus", batch("kernel", "SameStep", 3), "full", 30),
        recorded(folder / "c.ludus", batch("kernel", "NextStep", 3), "seeds", 30),
    ]
    return [(path.read_bytes(), {name: Archive(path).read(name) for name in Archive(path).names()}) for path in made]


def read_everything(path) -> int:
    """As much of a run as can be asked for; how many steps it has."""
    with Run.open(path) as run:
        steps = 0
        for episode in run:
            _ = (episode.seed, episode.options, episode.outcome, repr(episode), episode.actions)
            if run.level == "full":
                steps += len(list(episode))
        for event in run.events():
            if event.kind == "note" and isinstance(event.value.value, str):
                run.blob(event.value.value)
        return steps + len(run)


@pytest.mark.parametrize("lane", [-1, 0])
@pytest.mark.parametrize(
    ("seed", "options", "told"),
    [
        ("seven", None, "expected a seed, got 'seven'"),
        (-1, None, "expected a seed, got -1"),
        (3, "all", "expected options by name, got 'all'"),
    ],
)
def test_seeds_and_options_of_a_stranger_are_such_or_refused(tmp_path, lane, seed, options, told):
    path = tmp_path / "run.ludus"
    with Recorder(batch("serial", "NextStep", 1), path) as recorder:
        recorder.reset(seed=1)
        zeros = recorder._acted.zeros() | {"seen": np.uint64(0)}
        plans = (PlannedEpisode(0, 1, seed, options),) if lane == 0 else ()
        reset = (seed, options) if lane < 0 else None
        recorder._writer.put(StepRow(RESET, zeros, {}, reset=reset, plans=plans))
        recorder._tracker.begin(recorder._writer.row - 1, None, recorder._writer.ended)
        recorder.step([0])
    with Run.open(path) as run, pytest.raises(TrajectoryError, match=told):
        _ = run[-1].seed, run[-1].options
    with Run.open(path) as run, pytest.raises(TrajectoryError, match=told):
        _ = run.resets if lane < 0 else run.plan(0, 1)


def mutated_bytes(data: bytes, rng: random.Random) -> bytes:
    changed = bytearray(data)
    for _ in range(rng.randint(1, 4)):
        if not changed:
            break
        at = rng.randrange(len(changed))
        kind = rng.randrange(5)
        if kind == 0:
            changed[at] ^= 1 << rng.randrange(8)
        elif kind == 1:
            del changed[at : at + rng.randint(1, 64)]
        elif kind == 2:
            changed[at:at] = changed[at : at + rng.randint(1, 64)]
        elif kind == 3:
            changed[at : at + 4] = rng.randbytes(4)
        else:
            del changed[at + 1 :]
    return bytes(changed)


def mutated_json(data: bytes, rng: random.Random) -> bytes:
    try:
        value = json.loads(data)
    except ValueError:  # changed already
        return mutated_bytes(data, rng)
    target, key = value, None
    while isinstance(target, dict | list) and target:
        holder = target
        key = rng.choice(list(target)) if isinstance(target, dict) else rng.randrange(len(target))
        target = holder[key]
        if rng.random() < 0.2:
            break
    if key is None:
        return b"[]"
    odd = [None, -1, 0, 1, 2**31, 2**62, 2**70, 1e308, "", "|O8", "<f4", "bits", [], {}, [2**40, 2**40], "../x", True]
    if rng.random() < 0.2:
        del holder[key]
    else:
        holder[key] = rng.choice(odd)
    return json.dumps(value).encode()


def lie(members: dict[str, bytes], rng: random.Random, path) -> None:
    """The same file with some members that say something else, in a container without a fault."""
    changed = dict(members)
    for _ in range(rng.randint(1, 2)):
        name = rng.choice(list(changed))
        kind = rng.random()
        if kind < 0.1:
            del changed[name]
        elif kind < 0.2:
            changed[name] = changed[rng.choice(list(changed))]
        elif name.endswith(".json") and kind < 0.8:
            changed[name] = mutated_json(changed[name], rng) if changed[name] else b""
        else:
            changed[name] = mutated_bytes(changed[name], rng) if changed[name] else b"\xdd\xff\xff\xff\xff"
        if not changed:
            break
    writer = ArchiveWriter(path)
    for name, data in changed.items():
        writer.add(name, data)
    writer.close()


def attack(originals, path, seed: int) -> bool:
    """One hostile file; whether it was refused."""
    rng = random.Random(seed)
    data, members = rng.choice(originals)
    path.unlink(missing_ok=True)
    if rng.random() < 0.4:
        path.write_bytes(mutated_bytes(data, rng))
    else:
        lie(members, rng, path)
    try:
        read_everything(path)
    except TrajectoryError as error:
        return bool(str(error))
    return False


def test_the_files_themselves_are_read(originals, path):
    for data, _ in originals:
        path.write_bytes(data)
        assert read_everything(path) > 3


def test_what_is_no_file_is_refused_and_not_waited_for(tmp_path):
    os.mkfifo(tmp_path / "pipe.ludus")
    (tmp_path / "device.ludus").symlink_to("/dev/zero")
    for name in ("pipe.ludus", "device.ludus", "."):
        with pytest.raises(TrajectoryError, match="expected a file that can be read, got a folder, pipe or device"):
            Run.open(tmp_path / name)


def test_mutated_files_are_refused_with_a_reason_and_never_crash(originals, path):
    tracemalloc.start()
    try:
        refused = sum(attack(originals, path, seed) for seed in range(SEEDS))
        assert tracemalloc.get_traced_memory()[1] < 200_000_000
    finally:
        tracemalloc.stop()
    assert refused > SEEDS // 3


@pytest.mark.full
def test_ten_thousand_mutated_files_are_refused_or_read(originals, path):
    assert sum(attack(originals, path, seed) for seed in range(SEEDS, 10_000 + SEEDS)) > 3000


def rewritten(originals, path, change):
    _, members = originals[1]
    changed = change(dict(members))
    path.unlink(missing_ok=True)
    writer = ArchiveWriter(path)
    for name, data in changed.items():
        writer.add(name, data)
    writer.close()
    return path


def edited_head(members, edit):
    head = json.loads(members["chunks/00000.json"])
    edit(head)
    return {**members, "chunks/00000.json": json.dumps(head).encode()}


@pytest.mark.parametrize(
    ("edit", "reason"),
    [
        (lambda head: head["columns"]["steps/reward"].update(dtype="|O8"), "expected one of the dtypes"),
        (lambda head: head["columns"]["steps/reward"].update(stored="|i1"), "bytes"),
        (lambda head: head["columns"]["steps/reward"].update(shape=[31, 2]), "expected 3 lanes"),
        (lambda head: head["columns"]["steps/reward"].update(shape=[32, 3]), "expected 31 rows"),
        (
            lambda head: head["columns"]["steps/reward"].update(shape=[31, 3, 10**11]),
            "expected at most|a shape of a few",
        ),
        (lambda head: head.update(first=5), "expected rows from 0 on, got 5"),
        (lambda head: head.update(rows=-1), "rows, got -1"),
        (lambda head: head.update(rows=10**12), "expected 0 to"),
        (lambda head: head.update(surprise=1), "unknown field"),
    ],
)
def test_lies_about_columns_are_refused(originals, path, edit, reason):
    rewritten(originals, path, lambda members: edited_head(members, edit))
    with pytest.raises(TrajectoryError, match=reason):
        [episode.rewards for episode in Run.open(path)]


def test_a_table_that_points_elsewhere_is_refused(originals, path):
    def elsewhere(members):
        head, data = encode_column(np.full(len(json.loads(members["chunks/00000.json"])), 9))
        count = json.loads(members["chunks/00000.json"])["columns"]["episodes/lane"]["shape"][0]
        head, data = encode_column(np.full(count, 9))
        members["episodes/00000/lane.npy"] = data
        column = msgspec.to_builtins(head)
        return edited_head(members, lambda chunk: chunk["columns"].update({"episodes/lane": column}))

    with pytest.raises(TrajectoryError, match="expected lanes, rows and outcomes of the run, got lane 9"):
        _ = Run.open(rewritten(originals, path, elsewhere)).table


def test_a_column_of_objects_is_never_unpickled():
    with pytest.raises(TrajectoryError, match="expected one of the dtypes"):
        ColumnHead("|O", (1,))
    with pytest.raises(TrajectoryError, match="expected plain numbers, got dtype object"):
        encode_column(np.array([{}], object))
    head, data = encode_column(np.full(3, 0.5))
    with pytest.raises(TrajectoryError, match="got other bytes"):
        decode_column(head, data.replace(b"'<f8'", b"'|O8'"))


@pytest.mark.parametrize("dtype", ["?", "i1", "u8", "<i8", ">i4", "f2", "f4", ">f8", "c8", "c16"])
def test_columns_of_every_dtype_come_back_value_for_value(dtype):
    rng = np.random.default_rng(0)
    values = (rng.normal(size=(7, 3)) * 100).astype(dtype)
    found = decode_column(*encode_column(values))
    assert np.array_equal(found, values)
    assert found.dtype == values.dtype.newbyteorder("<")


def test_later_versions_are_refused_and_new_fields_of_the_header_are_not(originals, path):
    def header(**changes):
        def change(members):
            data = json.loads(members["run.json"]) | changes
            return {**members, "run.json": json.dumps(data).encode()}

        return rewritten(originals, path, change)

    assert len(Run.open(header(colour="blue"))) > 3
    with pytest.raises(TrajectoryError, match="expected ludus-run version 1, got 'ludus-run' 2"):
        Run.open(header(version=2))
    with pytest.raises(TrajectoryError, match="expected ludus-run version 1"):
        Run.open(header(format="minari"))
