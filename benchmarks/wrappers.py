"""What one wrapper costs, on one environment and on a batch of 1,024, beside Gymnasium's own wrapper of that name.

    python benchmarks/wrappers.py [--json FILE]

The environment does nothing, so that only wrappers are timed; a batch's cost is given as the share of throughput that
Gymnasium's NumPy CartPole (the fastest batch both libraries can run) would keep with the wrapper around it. Those that
steer lanes are measured around our own compiled CartPole too, with actions drawn at random: episodes end in every step.
"""

import argparse
import json
import time
import warnings
from pathlib import Path
from typing import Any

import gymnasium
import gymnasium.wrappers as gym_wrappers
import gymnasium.wrappers.vector as gym_vector
import numpy as np
from rich.console import Console
from rich.table import Table

import ludus
from ludus import spaces, wrappers
from ludus.core import AutoresetMode, Env, Step, VectorEnv

LANES, ROUNDS = 1024, 9
INFO: dict[str, Any] = {}


def lane_spaces(module: Any) -> tuple[Any, Any]:
    """A CartPole-like observation and a continuous action."""
    return module.Box(-2.0, 2.0, (4,), np.float32), module.Box(-1.0, 1.0, (1,), np.float32)


class Still(Env[Any, Any]):
    """One environment that stands still."""

    def __init__(self) -> None:
        self.observation_space, self.action_space = lane_spaces(spaces)
        self._seen = np.zeros(4, np.float32)

    def reset(self, *, seed: Any = None, options: Any = None) -> Any:
        """Nothing."""
        return self._seen, {}

    def step(self, action: Any) -> Any:
        """Nothing."""
        return Step(self._seen, 1.0, False, False, {})


class StillBatch(VectorEnv[Any, Any]):
    """A batch that stands still."""

    def __init__(self) -> None:
        self.num_envs, self.metadata = LANES, {"autoreset_mode": AutoresetMode.NEXT_STEP}
        self.single_observation_space, self.single_action_space = lane_spaces(spaces)
        self.observation_space, self.action_space = (
            self.single_observation_space.batch(LANES),
            self.single_action_space.batch(LANES),
        )
        self._seen, self._reward, self._no = np.zeros((LANES, 4), np.float32), np.ones(LANES), np.zeros(LANES, bool)

    def reset(self, *, seed: Any = None, options: Any = None) -> Any:
        """Nothing."""
        return self._seen, {}

    def step(self, action: Any) -> Any:
        """Nothing."""
        return Step(self._seen, self._reward, self._no, self._no, {})


class GymStill(gymnasium.Env):
    """The same for Gymnasium."""

    def __init__(self) -> None:
        self.observation_space, self.action_space = lane_spaces(gymnasium.spaces)
        self._seen = np.zeros(4, np.float32)

    def reset(self, *, seed: Any = None, options: Any = None) -> Any:
        """Nothing."""
        return self._seen, {}

    def step(self, action: Any) -> Any:
        """Nothing."""
        return self._seen, 1.0, False, False, {}


class GymStillBatch(gymnasium.vector.VectorEnv):
    """The same batch for Gymnasium."""

    def __init__(self) -> None:
        self.num_envs, self.metadata = LANES, {"autoreset_mode": gymnasium.vector.AutoresetMode.NEXT_STEP}
        self.single_observation_space, self.single_action_space = lane_spaces(gymnasium.spaces)
        batch = gymnasium.vector.utils.batch_space
        self.observation_space, self.action_space = (
            batch(self.single_observation_space, LANES),
            batch(self.single_action_space, LANES),
        )
        self._seen, self._reward, self._no = np.zeros((LANES, 4), np.float32), np.ones(LANES), np.zeros(LANES, bool)

    def reset(self, *, seed: Any = None, options: Any = None) -> Any:
        """Nothing."""
        return self._seen, {}

    def step(self, actions: Any) -> Any:
        """Nothing."""
        return self._seen, self._reward, self._no, self._no, {}


CASES: dict[str, dict[str, Any]] = {
    "ClipReward": {"min_reward": -1.0, "max_reward": 1.0},
    "ClipAction": {},
    "RescaleAction": {"min_action": np.float32(0), "max_action": np.float32(2)},
    "RescaleObservation": {"min_obs": np.float32(0), "max_obs": np.float32(1)},
    "DtypeObservation": {"dtype": np.float64},
    "ReshapeObservation": {"shape": (2, 2)},
    "FlattenObservation": {},
    "NormalizeObservation": {},
    "NormalizeReward": {},
    "RecordEpisodeStatistics": {},
    "DelayObservation": {"delay": 2},
    "FrameStackObservation": {"stack_size": 4},
    "OrderEnforcing": {},
    "TimeLimit": {"max_episode_steps": 10**9},
}
INSIDE = ("OrderEnforcing",)
COMPILED: dict[str, dict[str, Any]] = {
    "TimeLimit": {"max_episode_steps": 400},
    "StickyAction": {"repeat_action_probability": 0.25},
}


def rate(env: Any, action: Any, calls: int) -> float:
    """Microseconds a step, over one round."""
    start = time.perf_counter()
    for _ in range(calls):
        env.step(action)
    return (time.perf_counter() - start) / calls * 1e6


def best(envs: list[Any], action: Any, calls: int) -> list[float]:
    """The best of several rounds for each environment, taking turns."""
    for env in envs:
        env.reset(seed=0)
    found = [float("inf")] * len(envs)
    for _ in range(ROUNDS):
        for place, env in enumerate(envs):
            found[place] = min(found[place], rate(env, action, calls))
    return found


def cartpole_step() -> float:
    """Microseconds of one step of the reference batch."""
    env = gymnasium.make_vec("CartPole-v1", num_envs=LANES, vectorization_mode="vector_entry_point")
    return best([env], np.zeros(LANES, dtype=np.int64), 50)[0]


def measure() -> list[dict[str, Any]]:
    """One row for each wrapper."""
    reference, rows = cartpole_step(), []
    one, many = np.zeros(1, np.float32), np.zeros((LANES, 1), np.float32)
    for name, arguments in CASES.items():
        ours, theirs, batched = getattr(wrappers, name), getattr(gym_wrappers, name), getattr(gym_vector, name, None)
        single = best([Still(), ours(Still(), **arguments), GymStill(), theirs(GymStill(), **arguments)], one, 3000)
        row: dict[str, Any] = {"wrapper": name, "one": single[1] - single[0], "one_gymnasium": single[3] - single[2]}
        if name not in INSIDE:
            lanes = [StillBatch(), ours(StillBatch(), **arguments)]
            lanes += [GymStillBatch(), batched(GymStillBatch(), **arguments)] if batched else []
            found = best(lanes, many, 30)
            row["kept"] = reference / (reference + found[1] - found[0])
            row["kept_gymnasium"] = reference / (reference + found[3] - found[2]) if batched else None
        rows.append(row)
    return rows


def measure_compiled() -> list[dict[str, Any]]:
    """One row for each wrapper that steers lanes: the share of a compiled batch's throughput that is kept."""
    drawn = np.random.default_rng(0).integers(0, 2, (64, LANES))
    bare = ludus.make_vec("CartPole-v1", LANES, "kernel")
    wrapped = {
        name: getattr(wrappers, name)(ludus.make_vec("CartPole-v1", LANES, "kernel"), **arguments)
        for name, arguments in COMPILED.items()
    }
    envs: list[Any] = [bare, *wrapped.values()]
    found = [float("inf")] * len(envs)
    for env in envs:
        env.reset(seed=0)
    for _ in range(ROUNDS):
        for place, env in enumerate(envs):
            start = time.perf_counter()
            for number in range(600):
                env.step(drawn[number % 64])
            found[place] = min(found[place], (time.perf_counter() - start) / 600 * 1e6)
    return [
        {"wrapper": name, "microseconds": took, "kept_compiled": found[0] / took}
        for name, took in zip(wrapped, found[1:], strict=True)
    ]


def show(rows: list[dict[str, Any]]) -> None:
    """The table."""
    table = Table(title=f"one wrapper: µs added to one environment; share of throughput kept at {LANES} lanes")
    for column in ("wrapper", "µs", "Gymnasium", f"kept at {LANES}", "Gymnasium"):
        table.add_column(column, justify="left" if column == "wrapper" else "right")
    for row in rows:
        kept, other = row.get("kept"), row.get("kept_gymnasium")
        cells = [f"{row['one']:.2f}", f"{row['one_gymnasium']:.2f}", "inside" if kept is None else f"{kept:.2f}"]
        table.add_row(row["wrapper"], *cells, "–" if other is None else f"{other:.2f}")
    Console().print(table)
    print("over 1.5 µs:", ", ".join(row["wrapper"] for row in rows if row["one"] > 1.5) or "none")
    print("under 0.85:", ", ".join(row["wrapper"] for row in rows if row.get("kept") and row["kept"] < 0.85) or "none")


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--json", type=Path, help="write the figures here as well")
    arguments = parser.parse_args()
    warnings.filterwarnings("ignore", module="gymnasium")
    rows, compiled = measure(), measure_compiled()
    show(rows)
    for row in compiled:
        print(f"around a compiled batch of {LANES}: {row['wrapper']} keeps {row['kept_compiled']:.2f}")
    if arguments.json:
        arguments.json.write_text(json.dumps(rows + compiled, indent=1))


if __name__ == "__main__":
    main()
