"""Datasets of strangers: nothing outside of their folder is read, no program is started, and nobody is waited for."""

import io
import json
import os
import resource
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import h5py
import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
from PIL import Image

import ludus
from ludus.errors import TrajectoryError
from ludus.trajectory import Recorder, Run, from_minari, from_parquet, to_parquet

FOLDER = Path(tempfile.mkdtemp())
SECRET = b"A secret of the host."
EPS = b"%!PS-Adobe-3.0 EPSF-3.0\n%%BoundingBox: 0 0 40 40\n%%EndComments\nshowpage\n"
ROWS = ({"type": "Box", "dtype": "uint8", "shape": [4], "low": [0] * 4, "high": [255] * 4}, (3, 4))
PICTURES: Any = {"type": "Box", "dtype": "uint8", "shape": [40, 40, 3]}
PICTURES |= {"low": np.zeros((40, 40, 3), int).tolist(), "high": np.full((40, 40, 3), 255).tolist()}
MAX_GROWN_MIB = 600


def dataset(name: str, space: Any, observations: Callable[[Any, Path], object]) -> Path:
    """One episode of two steps, whose observations are written by a function."""
    data = FOLDER / name / "data"
    data.mkdir(parents=True)
    acts = {"type": "Discrete", "dtype": "int64", "start": 0, "n": 2}
    about = {"observation_space": json.dumps(space), "action_space": json.dumps(acts)}
    about |= {"data_format": "hdf5", "total_episodes": 1, "dataset_id": "x"}
    (data / "metadata.json").write_text(json.dumps(about))
    with h5py.File(data / "main_data.hdf5", "w") as file:
        group = file.create_group("episode_0")
        group["rewards"], group["actions"] = np.zeros(2), np.zeros(2, np.int64)
        group["terminations"], group["truncations"] = np.array([0, 1], bool), np.zeros(2, bool)
        observations(group, data)
    return data.parent


def other(data: Path) -> Path:
    """Another file of HDF5."""
    path = data.parent / "other.h5"
    with h5py.File(path, "w") as file:
        file["x"] = np.full((3, 4), 65, np.uint8)
    return path


def external(group: Any, data: Path) -> None:
    (data.parent / "secret.txt").write_bytes(SECRET)
    group.create_dataset("observations", shape=(3, 4), dtype="uint8", external=[(data.parent / "secret.txt", 0, 12)])


def linked(group: Any, data: Path) -> None:
    group["observations"] = h5py.ExternalLink(str(other(data)), "/x")


def virtual(group: Any, data: Path) -> None:
    layout = h5py.VirtualLayout((3, 4), "uint8")
    layout[:] = h5py.VirtualSource(str(other(data)), "x", (3, 4))
    group.create_virtual_dataset("observations", layout)


def through(group: Any, data: Path) -> None:
    """A key whose first part leads elsewhere, and the rest is an ordinary name there."""
    group.create_group("observations")["away"] = h5py.ExternalLink(str(other(data)), "/")


def softly(group: Any, data: Path) -> None:
    group["away"] = h5py.ExternalLink(str(other(data)), "/")
    group["observations"] = h5py.SoftLink("/episode_0/away/x")


def pictures(kind: bytes) -> Callable[[Any, Path], None]:
    def put(group: Any, data: Path) -> None:
        del data
        column = group.create_dataset("observations", (3,), dtype=h5py.vlen_dtype(np.uint8))
        for place in range(3):
            column[place] = np.frombuffer(kind, np.uint8)

    return put


def jpeg(width: int, height: int) -> bytes:
    stream = io.BytesIO()
    Image.new("RGB", (width, height)).save(stream, "JPEG")
    return stream.getvalue()


def announced(size: int) -> bytes:
    """A picture that says to be so wide and high, and is not."""
    data = bytearray(jpeg(8, 8))
    at = data.index(b"\xff\xc0") + 5
    data[at : at + 4] = size.to_bytes(2, "big") * 2
    return bytes(data)


def refused(read: Callable[[Any, Any], object], folder: Path, name: str, why: str) -> None:
    made, told = FOLDER / f"{name}.ludus", "nothing"
    try:
        read(folder, made)
    except TrajectoryError as error:
        told = str(error)
    assert why in told, (name, told)
    assert not made.exists(), name


def minari() -> None:
    """Names that lead elsewhere, pictures that only programs can read, and what is no file."""
    for name, put in (("external", external), ("linked", linked), ("virtual", virtual), ("softly", softly)):
        refused(from_minari, dataset(name, ROWS[0], put), name, "in the dataset's own file")
    keyed = {"type": "Dict", "subspaces": {"away/x": ROWS[0]}}
    refused(from_minari, dataset("through", keyed, through), "through", "in the dataset's own file")
    marker, programs = FOLDER / "ran", FOLDER / "bin"
    programs.mkdir()
    (programs / "gs").write_text(f"#!/bin/sh\n: > {marker}\nexit 1\n")
    (programs / "gs").chmod(0o755)
    os.environ["PATH"] = f"{programs}:{os.environ['PATH']}"
    refused(from_minari, dataset("eps", PICTURES, pictures(EPS)), "eps", "expected an episode of Minari")
    assert not marker.exists()
    refused(from_minari, dataset("wide", PICTURES, pictures(jpeg(50, 40))), "wide", "expected (40, 40) pixels")
    refused(from_minari, dataset("bomb", PICTURES, pictures(announced(65_000))), "bomb", "expected (40, 40) pixels")
    assert from_minari(dataset("whole", PICTURES, pictures(jpeg(40, 40))), FOLDER / "whole.ludus") == 1
    for name in ("pipe", "garbage"):
        folder = dataset(name, ROWS[0], linked)
        (folder / "data" / "main_data.hdf5").unlink()
        if name == "pipe":
            os.mkfifo(folder / "data" / "main_data.hdf5")
        else:
            (folder / "data" / "main_data.hdf5").write_bytes(b"x" * 100)
        refused(from_minari, folder, name, "expected a file of HDF5")


def parquet() -> None:
    """Pipes, rows without end, and JSON without end."""
    with Recorder(ludus.make("CartPole-v1"), FOLDER / "b.ludus", level="full") as env:
        for seed in range(3):
            env.reset(seed=seed)
            while not env.step(1).terminated:
                pass
    whole = FOLDER / "p"
    with Run.open(FOLDER / "b.ludus") as run:
        assert to_parquet(run, whole) == 3
    for name in ("episodes", "steps"):
        folder = copied(whole, f"pipe of {name}")
        (folder / f"{name}.parquet").unlink()
        os.mkfifo(folder / f"{name}.parquet")
        refused(from_parquet, folder, f"pipe of {name}", "something else than a file")
    table = pq.read_table(whole / "episodes.parquet")
    many = np.zeros(1_000_000, np.int64)
    rows = {name: table.column(name).combine_chunks().take(pa.array(many)) for name in table.column_names}
    options = {**{name: table.column(name) for name in table.column_names}, "options": pa.array(["[" * 100_000] * 3)}
    for name, columns, why in (("many", rows, "expected as many"), ("deep", options, "recursion")):
        folder = copied(whole, name)
        changed = pa.table(columns).replace_schema_metadata(table.schema.metadata)
        pq.write_table(changed, folder / "episodes.parquet", compression="zstd")
        before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
        refused(from_parquet, folder, name, why)
        assert resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before < MAX_GROWN_MIB << 10, name
    assert from_parquet(whole, FOLDER / "whole-parquet.ludus") == 3
    unfolding(whole)


def unfolding(whole: Path) -> None:
    """Texts and lists that lie in kilobytes and unfold to gigabytes."""
    episodes, steps = (pq.read_table(whole / f"{name}.parquet") for name in ("episodes", "steps"))
    long = '"' + "a" * (16 << 20) + '"'
    numbers = pa.array([np.zeros(1 << 27, np.uint8)], pa.list_(pa.uint8()))
    first, rows = steps.slice(0, 1), steps.take(pa.array(np.zeros(1 << 10, np.int64)))
    same = episodes.take(pa.array(np.zeros(1 << 10, np.int64)))
    many = pa.DictionaryArray.from_arrays(pa.array(np.zeros(1 << 10, np.int32)), pa.array([long]))
    listed = pa.ListArray.from_arrays(pa.array(np.arange(1025), pa.int32()), many)
    for name, file, table, column, values, why in (
        ("long text", "episodes", episodes, "options", pa.array([long * 20] * 3), "pages of at most"),
        ("same text", "episodes", same, "options", many, "options of episode 0: expected at most"),
        ("same last", "episodes", same, "final_observation", many, "expected a run"),
        ("texts in lists", "episodes", same, "final_observation", listed, "numbers, texts or lists of numbers"),
        ("list", "steps", first, "reward", numbers, "expected 1 values in each of 1 rows"),
        ("list of one space", "steps", first, "observation", numbers, "expected 4 values in each of 1 rows"),
        ("same action", "steps", rows, "action", many, "expected"),
    ):
        folder = copied(whole, name)
        place = table.column_names.index(column)
        changed = table.set_column(place, column, values).replace_schema_metadata(table.schema.metadata)
        pq.write_table(changed, folder / f"{file}.parquet", compression="zstd")
        assert (folder / f"{file}.parquet").stat().st_size < 1 << 20, name
        before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
        refused(from_parquet, folder, name, why)
        grown = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before
        assert grown < MAX_GROWN_MIB << 10, f"{name}: {grown >> 10} MiB"


def copied(folder: Path, name: str) -> Path:
    made = FOLDER / name
    made.mkdir()
    for one in folder.iterdir():
        (made / one.name).write_bytes(one.read_bytes())
    return made


if __name__ == "__main__":
    minari()
    parquet()
    sys.stdout.write("ok\n")
