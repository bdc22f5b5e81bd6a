"""Lanes to run in every executor: a module of its own, so that spawned workers can import it."""

import os
import signal
import sys
import time
from dataclasses import dataclass

import numpy as np

import ludus
from ludus.core import Env, Episode, Step
from ludus.envs.teaching import GridWorld
from ludus.errors import InvalidArgument
from ludus.spaces import Box, Dict, Discrete, Graph, GraphInstance, MultiBinary, OneOf, Record, Sequence, Text, Tuple
from ludus.wrappers import TimeLimit


class Short(Env):
    """Episodes of a drawn length; reset options and infos of many kinds, some of them now and then."""

    def __init__(self):
        self.observation_space, self.action_space = self.spaces()
        self.count, self.last = 0, 0

    def reset(self, *, seed=None, options=None):
        super().reset(seed=seed)
        self.count, self.last = 0, int(self.np_random.integers(1, 6))
        return self.observe(), {"last": self.last, "options": str(options), "kind": "reset"}

    def step(self, action):
        self.count += 1
        info = (
            {} if self.count % 3 == 0 else {"count": self.count, "nested": {"half": self.count / 2, "pair": (1, "a")}}
        )
        if self.count == 2:
            info |= {"row": np.full(2, self.count, np.int8), "scalar": np.float32(self.count), "action": action}
        ended = self.count >= self.last
        return Step(self.observe(), self.count / 10, ended and self.last % 2 == 0, ended and self.last % 2 == 1, info)


class Sentences(Short):
    """A dictionary with a text, arrays of several shapes and dtypes, and a tuple; texts as actions."""

    def spaces(self):
        seen = Dict(
            words=Text(100_000, min_length=0, charset=None),
            picture=Box(0, 255, (4, 3), np.uint8),
            pair=Tuple((Discrete(10), Box(-np.inf, np.inf, (), np.float64))),
            bits=MultiBinary(3),
        )
        return seen, Text(20, min_length=0, charset=None)

    def observe(self):
        draw = self.np_random
        return {
            "words": "ä" * (40_000 * (self.count == 2)) + f"step {self.count}",
            "picture": draw.integers(0, 256, (4, 3)).astype(np.uint8),
            "pair": (int(draw.integers(10)), draw.normal()),
            "bits": draw.integers(0, 2, 3).astype(np.int8),
        }


class Maps(Short):
    """Graphs and sequences; one of several kinds of action."""

    def spaces(self):
        graph = Graph(Box(-9, 9, (2,)), Discrete(4))
        return Tuple((graph, Sequence(Discrete(7)), Sequence(Box(0, 1), stack=True))), OneOf((Discrete(3), Text(5)))

    def observe(self):
        draw, nodes = self.np_random, self.count + 1
        links = draw.integers(0, nodes, (self.count, 2)).astype(np.int64)
        graph = GraphInstance(
            draw.normal(size=(nodes, 2)).astype(np.float32),
            draw.integers(0, 4, self.count) if self.count else None,
            links if self.count else None,
        )
        row = tuple(np.int64(one) for one in draw.integers(0, 7, self.count))
        return graph, row, draw.random((self.count, 1)).astype(np.float32)


@dataclass
class Ticket:
    """A record."""

    title: str
    price: float
    seats: list[int]


class Office(Short):
    """Records, seen and given."""

    def spaces(self):
        return Record(Ticket), Record(Ticket)

    def observe(self):
        return Ticket(f"number {self.count}", float(self.np_random.normal()), [1] * self.count)


class Pictures(Env):
    """84 × 84 × 4 bytes, new at every step."""

    observation_space = Box(0, 255, (84, 84, 4), np.uint8)
    action_space = Discrete(4)

    def reset(self, *, seed=None, options=None):
        super().reset(seed=seed)
        self.count = 0
        return np.zeros((84, 84, 4), np.uint8), {}

    def step(self, action):
        self.count += 1
        return Step(np.full((84, 84, 4), self.count % 256, np.uint8), 1.0, False, self.count % 50 == 0, {})


class Steered(Env):
    """A box of float32 as action: says which numbers arrived."""

    observation_space = Box(-np.inf, np.inf, (2,), np.float64)
    action_space = Dict(force=Box(-1, 1, (2,), np.float32), gear=Discrete(3))

    def reset(self, *, seed=None, options=None):
        if options and "unknown" in options:
            raise InvalidArgument("options: expected none of that")
        super().reset(seed=seed)
        self.given = []
        return np.zeros(2), {}

    def step(self, action):
        self.given.append(action)
        info = {"force": action["force"], "gear": action["gear"], "first": self.given[0]["force"]}
        return Step(np.asarray(action["force"], float), 0.0, False, len(self.given) == 7, info)


def grid():
    return TimeLimit(GridWorld(), 6)


def cartpole():
    return ludus.make("CartPole-v1")


def taxi():
    return ludus.make("Taxi-v4", max_episode_steps=7)


def blackjack():
    return ludus.make("Blackjack-v1")


LANES = {
    "grid": grid,
    "cartpole": cartpole,
    "taxi": taxi,
    "blackjack": blackjack,
    "sentences": Sentences,
    "maps": Maps,
    "office": Office,
    "pictures": Pictures,
    "steered": Steered,
}


def plan(lane, number):
    """Seeds for odd episodes, options for every third."""
    return Episode(
        seed=1000 * lane + number if number % 2 else None, options={"n": number} if number % 3 == 0 else None
    )


def seeded(lane, number):
    """A seed for every other episode."""
    return Episode(1000 * lane + number if number % 2 else None)


# --- lanes that fail ---


class Troubled(GridWorld):
    """Does as it is told by the action: 0 goes on, others fail, each in its own way."""

    def __init__(self, marks=None):
        super().__init__(size=30)
        self.marks = marks

    def reset(self, *, seed=None, options=None):
        if options and "trouble" in options:
            self.fail(options["trouble"])
        return super().reset(seed=seed)

    def step(self, action):
        if action:
            self.fail(int(action))
        return super().step(1)

    def fail(self, how):
        if how == 1:
            raise KeyError("a hole in the floor")
        if how == 2:
            os.kill(os.getpid(), signal.SIGKILL)
        while how == 3:
            time.sleep(0.1)

    def close(self):
        if self.marks:
            with open(self.marks, "a") as file:
                file.write("closed\n")


class Unclosable(GridWorld):
    def close(self):
        raise RuntimeError("the door is stuck")


def unbuildable():
    raise RuntimeError("no such maze")


def vanishing():
    os._exit(7)


def endless():
    while True:
        time.sleep(0.1)


def crashing():
    """The interpreter itself dies."""
    import ctypes

    class Crash(GridWorld):
        def step(self, action):
            sys.stderr = None
            ctypes.string_at(0)

    return Crash()
