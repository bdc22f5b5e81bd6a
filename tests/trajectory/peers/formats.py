"""Minari, pandas and Arrow themselves read what we write, and we what they write; run by `test_peers.py`."""

import json
import sys
import tempfile
from dataclasses import dataclass
from pathlib import Path

import gymnasium
import minari
import numpy as np
import pyarrow.parquet
from minari.data_collector import EpisodeBuffer

import ludus
from ludus.core import Env, Step
from ludus.spaces import Box, Dict, Discrete, MultiBinary, MultiDiscrete, Record, Text, Tuple
from ludus.trajectory import (
    Recorder,
    Run,
    diff,
    from_minari,
    from_parquet,
    to_arrow,
    to_minari,
    to_pandas,
    to_parquet,
)

FOLDER = Path(tempfile.mkdtemp())


@dataclass
class Order:
    """A typed action."""

    word: str
    amount: int = 1


class Market(Env):
    """Every kind of space that Minari has, under odd keys."""

    observation_space = Dict(
        {
            "größe": Box(-np.inf, np.inf, (2, 3), np.float32),
            "bits": MultiBinary(4),
            "pair": Tuple((Discrete(7, start=-3), MultiDiscrete([3, 4]))),
            "word": Text(9),
            "picture": Box(0, 255, (40, 33, 3), np.uint8),
        }
    )
    action_space = Tuple((Discrete(5, start=2), Box(-1, 1, (2,), np.float64)))

    def __init__(self):
        self.count = 0

    def reset(self, *, seed=None, options=None):
        super().reset(seed=seed)
        self.count = 0
        return self._seen(), {"price": 1.5}

    def _seen(self):
        self.observation_space.seed(int(self.np_random.integers(1 << 30)))
        return self.observation_space.sample()

    def step(self, action):
        self.count += 1
        over = self.count == 5
        return Step(self._seen(), float(self.np_random.normal()), over, False, {"price": float(self.count)})


class Typed(Env):
    """Actions that are records."""

    observation_space, action_space = Text(5), Record(Order)

    def reset(self, *, seed=None, options=None):
        super().reset(seed=seed)
        self.count = 0
        return "begin"[: 1 + (seed or 0) % 3], {}

    def step(self, action):
        self.count += 1
        return Step(action.word[:5] or "x", float(action.amount), self.count == 4, False, {})


def recorded(env, name, count, **options):
    path = FOLDER / f"{name}.ludus"
    env.action_space.seed(0)
    with Recorder(env, path, "full", **options) as recorder:
        recorder.reset(seed=11)
        for number in range(count):
            step = recorder.step(env.action_space.sample())
            if not env.batch_shape and step.done:
                recorder.reset(seed=number)
    return Run.open(path)


def same(a, b):
    if isinstance(a, dict):
        return a.keys() == b.keys() and all(same(a[key], b[key]) for key in a)
    if isinstance(a, tuple):
        return all(map(same, a, b))
    return a == b if isinstance(a, list | str) else np.array_equal(a, b)


def check_minari(run, name):
    kept = [episode for episode in run if not episode.masked]
    assert to_minari(run, FOLDER / name, f"ludus/{name}-v0") == len(kept)
    dataset = minari.MinariDataset(FOLDER / name / "data")
    assert dataset.total_episodes == len(kept)
    for theirs, ours in zip(dataset.iterate_episodes(), kept, strict=True):
        assert same(ours.observations, theirs.observations), name
        assert same(ours.actions, theirs.actions)
        assert np.array_equal(ours.rewards, theirs.rewards)
        assert (bool(theirs.terminations[-1]), bool(theirs.truncations[-1])) == (ours.terminated, ours.truncated)
        if "price" in run.header.info:
            assert np.array_equal(theirs.infos["price"], ours.info("price"))
    told = list(dataset.storage.get_episode_metadata(range(len(kept))))
    assert [one.get("seed") for one in told] == [one.seed for one in kept]
    from_minari(FOLDER / name, FOLDER / f"{name}.again")
    again = Run.open(FOLDER / f"{name}.again")
    assert [one.outcome for one in again] == [one.outcome for one in kept]
    for theirs, ours in zip(again, kept, strict=True):
        assert same(ours.observations, theirs.observations)
        assert same(ours.actions, theirs.actions)
        assert (ours.seed, ours.total_reward, ours.length) == (theirs.seed, theirs.total_reward, theirs.length)
    assert again.header.spec == run.header.spec


def check_a_dataset_of_minaris_own(jpeg):
    spaces = gymnasium.spaces
    seen = spaces.Dict({"at": spaces.Box(-1, 1, (2,), np.float32), "eye": spaces.Box(0, 255, (32, 32, 3), np.uint8)})
    acts = spaces.Discrete(3)
    seen.seed(0)
    buffers = []
    for number in range(3):
        observations = [seen.sample() for _ in range(number + 3)]
        stacked = {key: np.stack([one[key] for one in observations]) for key in ("at", "eye")}
        length = number + 2
        flags = [False] * (length - 1) + [True]
        buffers.append(
            EpisodeBuffer(
                id=number,
                seed=40 + number,
                observations=stacked,
                actions=np.arange(length) % 3,
                rewards=list(np.linspace(0, 1, length)),
                terminations=flags,
                truncations=[False] * length,
            )
        )
    name = f"theirs/{'jpeg' if jpeg else 'raw'}-v0"
    dataset = minari.create_dataset_from_buffers(
        name, buffers, observation_space=seen, action_space=acts, jpeg_encoding=jpeg, data_format="hdf5"
    )
    path = FOLDER / f"theirs{jpeg}.ludus"
    assert from_minari(dataset.storage.data_path, path) == 3
    run = Run.open(path)
    assert [episode.seed for episode in run] == [40, 41, 42]
    for ours, theirs in zip(run, dataset.iterate_episodes(), strict=True):
        assert same(ours.observations, theirs.observations)
        assert np.array_equal(ours.rewards, theirs.rewards)
        assert (ours.terminated, ours.truncated) == (True, False)


def check_parquet(run, name):
    kept = [episode for episode in run if not episode.masked]
    assert to_parquet(run, FOLDER / f"{name}.parquet") == len(kept)
    from_parquet(FOLDER / f"{name}.parquet", FOLDER / f"{name}.back")
    back = Run.open(FOLDER / f"{name}.back")
    assert len(back) == len(kept)
    for theirs, ours in zip(back, kept, strict=True):
        assert same(ours.observations, theirs.observations), name
        assert same(ours.actions, theirs.actions)
        assert np.array_equal(ours.rewards, theirs.rewards)
        assert (ours.outcome, ours.seed, ours.options) == (theirs.outcome, theirs.seed, theirs.options)
    table = pyarrow.parquet.read_table(FOLDER / f"{name}.parquet" / "steps.parquet")
    assert table.num_rows == sum(one.length for one in kept)
    assert json.loads(table.schema.metadata[b"ludus"])["format"] == "ludus-run"


def check_tables(run):
    frame = to_pandas(run)
    assert len(frame) == sum(one.length for one in run)
    returns = frame.groupby("episode")["reward"].sum()
    assert np.allclose(returns.to_numpy(), run.table["return"])
    assert to_arrow(run).num_rows == len(frame)


def main():
    cartpole = recorded(ludus.make_vec("CartPole-v1", 3), "cartpole", 80)
    market = recorded(Market(), "market", 13, info=["price"])
    pendulum = recorded(ludus.make("Pendulum-v1", max_episode_steps=9), "pendulum", 30)
    typed = recorded(Typed(), "typed", 30)
    for run, name in ((cartpole, "cartpole"), (market, "market"), (pendulum, "pendulum")):
        check_minari(run, name)
    for run, name in ((cartpole, "cartpole"), (market, "market"), (pendulum, "pendulum"), (typed, "typed")):
        check_parquet(run, name)
        check_tables(run)
    for jpeg in (False, True):
        check_a_dataset_of_minaris_own(jpeg)
    assert diff(market, market) is None
    print("ok")


if __name__ == "__main__":
    sys.exit(main())
