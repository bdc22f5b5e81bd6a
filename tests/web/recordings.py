"""Recorded runs for the tests of the viewer: games, an agent's talk, a batch, strangers' files."""

from pathlib import Path
from typing import Any, ClassVar

import msgspec
import numpy as np

import ludus
from ludus.core import Env, Step
from ludus.spaces import Box, Discrete, Text
from ludus.trajectory import (
    Failure,
    FileDiff,
    LimitReached,
    Message,
    ModelUsage,
    Note,
    Reasoning,
    Recorder,
    Score,
    ToolCall,
    ToolResult,
)
from ludus.trajectory.archive import ArchiveWriter
from ludus.trajectory.block import StoredReset
from ludus.trajectory.chunk import write_chunk
from ludus.trajectory.event import Unknown
from ludus.trajectory.header import header_of

BAIT = "<img src=x onerror=\"document.title='pwned'\"></script><script>document.title='pwned'</script>"
ODD = f"{BAIT}\x1b[2J\x1b]0;pwned\x07 \u202eevil\u202c \u2066x \x00 ${{1}} {{{{1}}}}"
DIFF = "--- a/main.py\n+++ b/main.py\n@@ -1,2 +1,2 @@\n def add(a, b):\n-    return a - b\n+    return a + b\n"


class Loud(Env[Any, Any]):
    """A stranger's environment: everything it says is bait, and it ends as the last action says."""

    metadata: ClassVar[dict[str, Any]] = {"render_modes": ["svg"], "action_names": [BAIT, "end"]}

    def __init__(self) -> None:
        self.action_space, self.observation_space = Discrete(2), Text(400, min_length=0, charset=None)

    def reset(self, *, seed: Any = None, options: Any = None) -> tuple[str, dict[str, Any]]:
        super().reset(seed=seed)
        return ODD, {BAIT: BAIT}

    def step(self, action: Any) -> Step[str]:
        return Step(ODD, 1.0, bool(action), False, {BAIT: ODD, "outcome": "failure"} if action else {BAIT: ODD})


class Counting(Env[Any, Any]):
    """A picture of numbers as observation, and nothing that draws."""

    metadata: ClassVar[dict[str, Any]] = {"render_modes": []}

    def __init__(self) -> None:
        self.action_space, self.observation_space = Discrete(3), Box(0, 255, (32, 24), np.uint8)
        self.count = 0

    def reset(self, *, seed: Any = None, options: Any = None) -> tuple[Any, dict[str, Any]]:
        super().reset(seed=seed)
        self.count = 0
        return np.zeros((32, 24), np.uint8), {}

    def step(self, action: Any) -> Step[Any]:
        self.count += 1
        return Step(
            np.full((32, 24), self.count, np.uint8), float(action), self.count == 5, False, {"value": 1.0 / self.count}
        )


def cart(folder: Path, name: str = "cart.ludus", *, episodes: int = 6, turn: int = 1000) -> str:
    """CartPole; from step `turn` on, the other way."""
    path = str(folder / name)
    with Recorder(ludus.make("CartPole-v1"), path, "full") as env:
        for seed in range(episodes):
            env.reset(seed=seed)
            for step in range(500):
                action = (step // 2 + seed) % 2 if step < turn else step % 2
                found = env.step(action)
                env.record(Score("value", 1.0 - step / 100))
                if found.terminated or found.truncated:
                    break
    return path


def batch(folder: Path, level: Any = "full", mode: str = "NextStep", lanes: int = 5) -> str:
    """A batch of Taxis, each lane with several episodes."""
    path = str(folder / f"batch-{level}-{mode}.ludus")
    with Recorder(ludus.make_vec("CartPole-v1", lanes, autoreset_mode=mode), path, level) as envs:
        envs.action_space.seed(3)
        envs.reset(seed=11)
        for _ in range(90):
            envs.step(envs.action_space.sample())
    return path


def agent(
    folder: Path, name: str = "agent.ludus", *, text: str = "The function `add` is wrong.", rounds: int = 3
) -> str:
    """What an agent said and did."""
    path = str(folder / name)
    about = {"agent": "somebody's 1.2", "guarantees": {"network": "none"}}
    with Recorder(ludus.make("GridWorld-v0"), path, "full", metadata=about) as env:
        env.reset(seed=4)
        env.record(Message("system", "You repair programs."))
        env.record(Message("user", text))
        for step in range(rounds):
            env.step(step % 4)
            env.record(Reasoning(f"thought {step}: {text}"))
            env.record(ToolCall(f"c{step}", "bash", {"command": f"cat main.py # {text}", "timeout": 30}))
            env.record(ToolResult(f"c{step}", f"out {step} {text}", error="" if step else f"no such file {text}"))
            env.record(FileDiff("main.py", DIFF))
            env.record(ModelUsage("model-x", 1000, 50, 10, 0.25, 1.5))
        env.record(Message("assistant", [{"type": "text", "text": f"Done. {text}"}]))
        env.record(LimitReached("tokens", 4000, 4100))
        env.record(Failure("TimeoutError", text, "Traceback …"))
        env.record(Note(text, {"a": [1, text]}))
        env.record(Unknown(f"thermal {text}"[:60], {text: text}))
    return path


def hostile(folder: Path) -> str:
    """A run of an environment that nobody here knows, full of bait."""
    path = str(folder / "hostile.ludus")
    with Recorder(ludus.make(Loud), path, "full", metadata={BAIT: ODD}) as env:
        env.reset(seed=1)
        env.record(Message(BAIT, ODD, BAIT))
        for action in (0, 0, 1):
            env.step(action)
            env.record(ToolCall(BAIT, BAIT, {BAIT: ODD}))
            env.record(ToolResult(BAIT, {"x": ODD}, BAIT))
            env.record(FileDiff(BAIT, f"+{ODD}\n-{BAIT}"))
            env.record(Score(BAIT, 0.5, ODD))
            env.record(Unknown(BAIT[:60], {BAIT: ODD}))
    return path


def pendulum(path: Path, steps: int) -> str:
    """One episode of so many steps, put into columns at once; its rewards are not those of the actions."""
    header = header_of(ludus.make("Pendulum-v1", max_episode_steps=-1), "full")
    rows, draw = steps + 1, np.random.default_rng(0)
    operations = np.ones(rows, np.uint8)
    operations[0] = 0
    none = np.zeros((rows, 1), np.bool_)
    reward = np.cumsum(draw.normal(size=(rows, 1)), axis=0)
    arrays = {
        "steps/op": operations,
        "steps/action": draw.uniform(-2, 2, (rows, 1, 1)).astype(np.float32),
        "steps/observation": draw.uniform(-1, 1, (rows, 1, 3)).astype(np.float32),
        "steps/reward": reward,
        "steps/terminated": none,
        "steps/truncated": none,
        "episodes/lane": np.zeros(1, np.int64),
        "episodes/end": np.array([steps]),
        "episodes/length": np.array([steps]),
        "episodes/return": reward[1:].sum(axis=0),
        "episodes/terminated": np.zeros(1, np.bool_),
        "episodes/truncated": np.ones(1, np.bool_),
    }
    archive = ArchiveWriter(path)
    archive.add("run.json", msgspec.json.encode(header))
    write_chunk(archive, 0, 0, rows, arrays, {}, events=[], resets=[StoredReset(0, 7, None)], digests=[])
    archive.close()
    return str(path)
