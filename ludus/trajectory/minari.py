"""Minari: runs written as its datasets, and its datasets read as runs; by h5py alone, without Minari and its needs.

Lossless: pictures are stored as they are, where Minari's own writer makes JPEGs of them. Outcome, options and the spec
of the environment, which Minari has no place for, are attributes of their own that it passes over.
"""

import io
import json
import os
from collections.abc import Iterator, MutableMapping
from importlib import import_module
from pathlib import Path
from types import ModuleType
from typing import Protocol, overload

import numpy as np

from ludus.core import Outcome
from ludus.core.foreign_file import open_foreign_file, read_foreign_file
from ludus.errors import LudusError, MissingExtra, TrajectoryError, shorten
from ludus.spaces import Box, Dict, Discrete, MultiBinary, MultiDiscrete, Space, Text, Tuple
from ludus.spaces.array_space import Array
from ludus.spaces.kinds import is_dict, is_list, is_tuple
from ludus.spaces.shown import shown
from ludus.trajectory.episode import RecordedEpisode
from ludus.trajectory.event import Data
from ludus.trajectory.imported_episode import ImportedEpisode, imported_header, write_imported
from ludus.trajectory.run import Run
from ludus.trajectory.tracker import outcome_of
from ludus.trajectory.values import ValueColumns
from ludus.wrappers.lanes import rebuilt

__all__ = ["from_minari", "to_minari"]

DATA, METADATA, VERSION = "main_data.hdf5", "metadata.json", "0.5.4"
MAX_METADATA_BYTES = 64 << 20
MIN_PICTURE_PX = 32
"""Pixels of a side from which on Minari takes bytes for a picture."""
PICTURES = ("JPEG",)
"""What Minari writes. Of other formats Pillow reads some by starting a program (EPS: Ghostscript)."""


class Node(Protocol):
    """A group or a set of data of HDF5, as far as it is used here."""

    @property
    def attrs(self) -> MutableMapping[str, object]: ...
    def create_group(self, name: str, /) -> "Node": ...
    def create_dataset(self, name: str, /, *, data: object, dtype: object = None) -> object: ...
    def get(self, name: str, /, *, getlink: bool) -> object: ...
    @overload
    def __getitem__(self, key: str, /) -> "Node": ...
    @overload
    def __getitem__(self, key: tuple[()], /) -> Array: ...


def to_minari(run: Run, folder: str | os.PathLike[str], id: str, *, masked: bool = False) -> int:
    """Write a run of level "full" as a dataset of Minari: `FOLDER/data`; how many episodes it has.

    Under `~/.minari/datasets/ID` `minari.load_dataset(ID)` finds it, elsewhere `minari.MinariDataset(FOLDER/data)`.
    Episodes that are no result of the agent's are left out, unless `masked`. Needs the extra `minari`.
    """
    if run.level != "full":
        raise TrajectoryError(f"to_minari: expected level 'full', got {run.level!r}; `recompute` makes a file that is")
    spaces = {name: _write_space(run.header.space(name)) for name in ("observation", "action")}
    chosen = [episode for episode in run if masked or not episode.masked]
    if not chosen:
        raise TrajectoryError(f"to_minari: expected an episode that is a result, got {len(run)} that are masked")
    data = Path(folder, "data")
    data.mkdir(parents=True)
    with _h5py("to_minari").File(data / DATA, "w", track_order=True) as file:
        for number, episode in enumerate(chosen):
            _write_episode(file.create_group(f"episode_{number}"), number, episode)
    metadata = {
        "total_episodes": len(chosen),
        "total_steps": sum(episode.length for episode in chosen),
        "data_format": "hdf5",
        "jpeg_encoding": False,
        "observation_space": json.dumps(spaces["observation"]),
        "action_space": json.dumps(spaces["action"]),
        "dataset_id": id,
        "minari_version": VERSION,
        "dataset_size": round((data / DATA).stat().st_size / 1e6, 1),
        "ludus": {"spec": run.header.spec, "versions": run.header.versions},
    }
    (data / METADATA).write_text(json.dumps(metadata), encoding="utf8")
    return len(chosen)


def _write_episode(group: Node, number: int, episode: RecordedEpisode) -> None:
    if episode.rewards.ndim != 1:
        raise TrajectoryError(f"to_minari: expected one reward a step, got the shape {episode.rewards.shape[1:]}")
    group.attrs["id"], group.attrs["total_steps"] = number, episode.length
    group.attrs["outcome"] = "" if episode.outcome is None else episode.outcome.value
    if episode.seed is not None:
        group.attrs["seed"] = episode.seed
    if episode.options is not None:
        group.attrs["ludus_options"] = json.dumps(shown(episode.options))
    flags = np.zeros((2, episode.length), np.bool_)
    flags[:, -1] = episode.terminated, episode.truncated
    _write_values(group, "observations", episode.observations)
    _write_values(group, "actions", episode.actions)
    columns = {"rewards": episode.rewards, "terminations": flags[0], "truncations": flags[1]}
    columns |= {f"infos/{key}": episode.info(key) for key in episode.run.header.info}
    for name, column in columns.items():
        group.create_dataset(name, data=column)


def _write_values(group: Node, name: str, values: object) -> None:
    """Values with a row in front, in the structure of their space, as groups and datasets."""
    if is_tuple(values):
        values = {f"_index_{place}": one for place, one in enumerate(values)}
    if is_dict(values):
        below = group.create_group(name)
        for key, value in values.items():
            _write_values(below, key, value)
    elif is_list(values):
        group.create_dataset(name, data=values, dtype=_h5py("to_minari").string_dtype(encoding="utf-8"))
    else:
        group.create_dataset(name, data=values)


def _write_space(space: Space[object]) -> dict[str, object]:
    match space:
        case Box():
            bounds = {"low": space.low.tolist(), "high": space.high.tolist()}
            return {"type": "Box", "dtype": str(space.dtype), "shape": list(space.shape), **bounds}
        case Discrete():
            return {"type": "Discrete", "dtype": "int64", "start": int(space.start), "n": int(space.n)}
        case MultiDiscrete():
            sizes = {"nvec": space.nvec.tolist(), "start": space.start.tolist()}
            return {"type": "MultiDiscrete", "dtype": str(space.dtype), **sizes}
        case MultiBinary():
            return {"type": "MultiBinary", "n": shown(space.n)}
        case Dict() if not any("/" in key for key in space.spaces):
            return {"type": "Dict", "subspaces": {key: _write_space(one) for key, one in space.spaces.items()}}
        case Tuple():
            return {"type": "Tuple", "subspaces": [_write_space(one) for one in space.spaces]}
        case Text():
            lengths = {"max_length": space.max_length, "min_length": space.min_length}
            return {"type": "Text", **lengths, "charset": space.characters}
        case _:
            raise TrajectoryError(f"to_minari: expected spaces that Minari has, with keys without '/', got {space!r}")


# --- reading ---


def from_minari(folder: str | os.PathLike[str], path: str | os.PathLike[str]) -> int:
    """Write a run of level "full" from a dataset of Minari in HDF5 (its folder, or `data` in it); how many episodes.

    Rewards, flags, seeds and observations are those of the dataset; a spec is there only if the dataset came from here.
    Needs the extra `minari`.
    """
    data = Path(folder, "data") if Path(folder, "data", METADATA).exists() else Path(folder)
    try:
        metadata: Data = json.loads(read_foreign_file(data / METADATA, MAX_METADATA_BYTES))
        spaces = [_read_space(json.loads(metadata[f"{name}_space"])) for name in ("observation", "action")]
        kind, count = metadata["data_format"], int(metadata["total_episodes"])
        about: Data = metadata.get("ludus") or {}
        told = {"dataset_id": str(metadata.get("dataset_id", "")), "minari": str(metadata.get("minari_version", ""))}
    except (OSError, ValueError, LookupError, TypeError, AttributeError, RecursionError, LudusError) as error:
        raise TrajectoryError(f"{folder}: expected a dataset of Minari, got {error!r}") from error
    if kind != "hdf5":
        raise TrajectoryError(f"{folder}: expected a dataset in HDF5, got {shorten(kind)}; minari itself converts it")
    why = "it was read from Minari, whose environments are Gymnasium's"
    header = imported_header(*spaces, full=True, why=why, spec=about.get("spec"), metadata=told)
    h5py = _h5py("from_minari")
    try:
        open_foreign_file(data / DATA).close()  # HDF5 itself would wait for whoever writes into a pipe
        file = h5py.File(data / DATA, "r")
    except OSError as error:
        raise TrajectoryError(f"{data / DATA}: expected a file of HDF5, got {error}") from error
    with file:
        reader = _Reader(*spaces, jpeg=bool(metadata.get("jpeg_encoding", True)))
        return write_imported(path, header, (reader.episode(file, number) for number in range(count)))


class _Reader:
    def __init__(self, observations: Space[object], actions: Space[object], *, jpeg: bool) -> None:
        self.observed = ValueColumns(observations, "observation", None)
        self.acted = ValueColumns(actions, "action", None)
        self.jpeg = jpeg

    def episode(self, file: Node, number: int) -> ImportedEpisode:
        try:
            group = _inside(file, f"episode_{number}")
            rewards = np.asarray(_inside(group, "rewards"), np.float64)
            length, attributes = len(rewards), dict(group.attrs)
            terminated, truncated = (bool(np.any(_inside(group, name)[()])) for name in ("terminations", "truncations"))
            seed = attributes.get("seed")
            options = json.loads(str(attributes["ludus_options"])) if "ludus_options" in attributes else None
            told = outcome_of(str(attributes.get("outcome", "")))
            return ImportedEpisode(
                self._values(self.acted, _inside(group, "actions"), length),
                rewards,
                self._values(self.observed, _inside(group, "observations"), length + 1),
                terminated,
                truncated,
                told if "outcome" in attributes else Outcome.derived(terminated, truncated) or told,
                None if seed is None else int(np.asarray(seed)),
                options,
            )
        except (LookupError, ValueError, TypeError, OSError, AttributeError, RuntimeError) as error:
            if isinstance(error, LudusError):
                raise
            raise TrajectoryError(f"episode {number}: expected an episode of Minari, got {error!r}") from error

    def _values(self, columns: ValueColumns, node: Node, count: int) -> list[object]:
        leaves = [
            self._leaf(space, one) for space, one in zip(columns.leaf_spaces, _nodes(columns.space, node), strict=True)
        ]
        return columns.split(rebuilt(columns.space, leaves), count)

    def _leaf(self, space: Space[object], node: Node) -> object:
        if isinstance(space, Text):
            return [one.decode("utf-8") if isinstance(one, bytes) else str(one) for one in node[()]]
        if self.jpeg and _is_picture(space):
            return np.stack([_picture(bytes(one), space.shape or ()) for one in node[()]])
        return np.asarray(node[()], getattr(space, "dtype", None))


def _nodes(space: Space[object], node: Node) -> Iterator[Node]:
    """The datasets of a value, in the order of the leaves of its space."""
    if isinstance(space, Dict):
        for key, one in space.spaces.items():
            yield from _nodes(one, _inside(node, key))
    elif isinstance(space, Tuple):
        for place, one in enumerate(space.spaces):
            yield from _nodes(one, _inside(node, f"_index_{place}"))
    else:
        yield node


def _inside(group: Node, name: str) -> Node:
    """What a group has by a name, in its own file: HDF5 has names that lead to other files, and data that lie there."""
    node = group
    for part in name.split("/"):  # a key with a slash is groups in groups, any of which may lead elsewhere
        link = node.get(part, getlink=True) if part else None
        if (path := getattr(link, "path", None)) is not None:  # soft links, too: what they name is reached by others
            raise TrajectoryError(f"{name}: expected it in the dataset's own file, got a link to {path!r}")
        node = node[part]
    if getattr(node, "external", None) or getattr(node, "is_virtual", False):
        raise TrajectoryError(f"{name}: expected its data in the dataset's own file, got data of another file")
    return node


def _picture(data: bytes, shape: tuple[int, ...]) -> Array:
    """The pixels of a JPEG, which has the size that its space says."""
    pictures = _package("from_minari", "PIL.Image", "video")
    try:
        with pictures.open(io.BytesIO(data), formats=PICTURES) as image:
            if (image.height, image.width) != shape[:2]:
                raise TrajectoryError(f"picture: expected {shape[:2]} pixels, got {(image.height, image.width)}")
            return np.asarray(image)
    except pictures.DecompressionBombError as error:
        raise TrajectoryError(f"picture: expected {shape[:2]} pixels, got {error}") from error


def _is_picture(space: Space[object]) -> bool:
    """As Minari decides it."""
    if not isinstance(space, Box) or len(space.shape) not in (2, 3) or space.dtype != np.uint8:
        return False
    large = min(space.shape[:2]) >= MIN_PICTURE_PX
    return large and bool((space.low == 0).all() and (space.high == 255).all())


def _read_space(data: Data) -> Space[object]:
    match data["type"]:
        case "Box":
            dtype = np.dtype(data["dtype"])
            low, high = (np.array(data[name], dtype) for name in ("low", "high"))
            return Box(low, high, tuple(data["shape"]), dtype.type)
        case "Discrete":
            return Discrete(int(data["n"]), start=int(data["start"]))
        case "MultiDiscrete":
            return MultiDiscrete(np.array(data["nvec"]), np.dtype(data["dtype"]).type, start=np.array(data["start"]))
        case "MultiBinary":
            return MultiBinary(data["n"])
        case "Dict":
            return Dict({key: _read_space(one) for key, one in data["subspaces"].items()})
        case "Tuple":
            return Tuple(tuple(map(_read_space, data["subspaces"])))
        case "Text":
            return Text(data["max_length"], min_length=data["min_length"], charset=data["charset"])
        case other:
            raise TrajectoryError(f"space: expected one of Minari's seven, got {shorten(other)}")


def _h5py(what: str) -> ModuleType:
    return _package(what, "h5py", "minari")


def _package(what: str, name: str, extra: str) -> ModuleType:
    try:
        return import_module(name)
    except ImportError as error:
        raise MissingExtra(
            f'{what}: expected the package {name}, got none; `pip install "ludus-rl[{extra}]"`'
        ) from error
