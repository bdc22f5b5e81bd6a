"""The same environments twice, from one source: on Ludus's base class and on Gymnasium's."""

import gymnasium
import numpy as np

import ludus.spaces
from ludus.core import Env

OURS, THEIRS = (Env, ludus.spaces), (gymnasium.Env, gymnasium.spaces)


def counter(library):
    """Ends after a drawn number of steps; `cut` lanes are truncated; info of every kind, some of it now and then."""
    base, spaces = library

    class Counter(base):
        metadata = {"render_modes": ["ansi"]}
        render_mode = "ansi"

        def __init__(self, cut=False):
            self.cut = cut
            self.observation_space = spaces.Dict(
                count=spaces.Discrete(100), noise=spaces.Box(-np.inf, np.inf, (2,), np.float64), name=spaces.Text(8)
            )
            self.action_space = spaces.Dict(push=spaces.Discrete(3), turn=spaces.Box(-1, 1, (2,), np.float64))
            self.closed = False

        def _observation(self):
            noise = self.np_random.normal(size=2)
            return {"count": np.int64(self.count), "noise": noise, "name": f"n{self.count}"}

        def reset(self, *, seed=None, options=None):
            super().reset(seed=seed)
            self.count, self.last = 0, int(self.np_random.integers(1, 5))
            return self._observation(), {"last": self.last, "options": str(options)}

        def step(self, action):
            self.count += 1
            ended = self.count >= self.last
            reward = float(action["push"]) + float(action["turn"].sum())
            info = {
                "count": self.count,
                "half": self.count / 2,
                "even": self.count % 2 == 0,
                "typed": np.float32(self.count),
                "row": np.full(3, self.count, dtype=np.int8),
                "text": f"step {self.count}",
                "nested": {"square": self.count**2, "deeper": {"name": "x"}},
            }
            if self.count % 2:
                info["odd"] = self.count
            return self._observation(), reward, ended and not self.cut, ended and self.cut, info

        def render(self):
            return f"count {self.count}"

        def close(self):
            self.closed = True

    return Counter


def tuples(library):
    """Tuple observations and multi-discrete actions."""
    base, spaces = library

    class Tuples(base):
        def __init__(self):
            self.observation_space = spaces.Tuple((spaces.Box(0, 9, (1,)), spaces.MultiBinary(2)))
            self.action_space = spaces.MultiDiscrete([3, 3])

        def reset(self, *, seed=None, options=None):
            super().reset(seed=seed)
            self.count = 0
            return self._observation(), {}

        def _observation(self):
            return np.array([self.count % 10], np.float32), self.np_random.integers(0, 2, 2, np.int8)

        def step(self, action):
            self.count += int(action.sum())
            return self._observation(), self.count, self.count > 5, False, {}

    return Tuples


def graphs(library):
    """Observations that are no arrays."""
    base, spaces = library

    class Graphs(base):
        def __init__(self):
            self.observation_space = spaces.Sequence(spaces.Discrete(5))
            self.action_space = spaces.Discrete(2)

        def reset(self, *, seed=None, options=None):
            super().reset(seed=seed)
            self.seen = ()
            return self.seen, {}

        def step(self, action):
            self.seen = (*self.seen, np.int64(self.np_random.integers(5)))
            return self.seen, 1.0, len(self.seen) > 3, False, {"seen": len(self.seen)}

    return Graphs


FAMILIES = {"counter": counter, "tuples": tuples, "graphs": graphs}
