"""Environments to isolate: one that behaves, and ones that do not. Imported by the sandboxed process."""

import os
import pickle
import signal
import socket
import sys
import threading
import time

import numpy as np

from ludus import Env, Step
from ludus.spaces import Box, Discrete, Text


class Dweller(Env):
    """Does what its argument says in the step of that action; in the others it counts."""

    metadata = {"render_modes": ["rgb_array", "ansi"], "owner": "tests", "at": (1, 2)}
    observation_space = Box(-10, 10, (2,), np.float64)
    action_space = Discrete(3)

    def __init__(self, deed="nothing", where="step", render_mode=None):
        self.deed, self.where, self.render_mode = deed, where, render_mode
        self.count, self.size, self.table = 0, 4, {"a": np.arange(3)}
        if where == "init":
            self.act()

    def reset(self, *, seed=None, options=None):
        super().reset(seed=seed)
        self.count = 0
        if self.where == "reset" or (options or {}).get("deed"):
            self.act()
        return self.observe(), {"options": options, "draw": float(self.np_random.random())}

    def step(self, action):
        self.count += 1
        given = Step.transition(self.observe(), 1.0, {"count": self.count})
        if action == 2 and self.where == "step":
            return self.act() or given
        return given._replace(terminated=self.count == 6)

    def observe(self):
        return np.array([self.count, self.np_random.random()])

    def render(self):
        if self.where == "render":
            return self.act()
        return "picture" if self.render_mode == "ansi" else np.full((2, 2, 3), self.count, np.uint8)

    def close(self):
        if self.where == "close":
            self.act()

    def act(self):
        return getattr(self, f"do_{self.deed}")()

    def step_with(self, **changes):
        return Step.transition(self.observe(), 1.0)._replace(**changes)

    # --- deeds ---

    def do_nothing(self):
        pass

    def do_hang(self):
        time.sleep(600)

    def do_spin(self):
        while True:
            pass

    def do_exit(self):
        os._exit(3)

    def do_leave(self):
        sys.exit(4)

    def do_kill(self):
        os.kill(os.getpid(), signal.SIGKILL)

    def do_crash(self):
        os.kill(os.getpid(), signal.SIGSEGV)

    def do_raise(self):
        raise ValueError("an odd \x1b[31m value")

    def do_raise_strange(self):
        raise type("Strange\n", (Exception,), {"__str__": lambda self: 1 / 0})

    def do_eat(self):
        kept = []
        while True:
            kept.append(bytearray(b"x") * (16 << 20))

    def do_flood(self):
        line = "x" * 999 + "\n"
        for _ in range(5000):
            sys.stderr.write(line)
            sys.stdout.write(line)
            os.write(1, line.encode())

    def do_outside(self):
        return self.step_with(observation=np.array([11.0, 0.0]))

    def do_nan(self):
        return self.step_with(observation=np.array([np.nan, 0.0]))

    def do_shape(self):
        return self.step_with(observation=np.zeros(3))

    def do_object(self):
        return self.step_with(observation=np.array([{}, 1], dtype=object))

    def do_reward_nan(self):
        return self.step_with(reward=float("nan"))

    def do_reward_numpy(self):
        return self.step_with(reward=np.float32(0.5))

    def do_reward_numpy_inf(self):
        return self.step_with(reward=np.float32("inf"))

    def do_reward_text(self):
        return self.step_with(reward="much")

    def do_reward_array(self):
        return self.step_with(reward=np.array(2.5))

    def do_flag(self):
        return self.step_with(terminated=1)

    def do_flag_numpy(self):
        return self.step_with(terminated=np.True_)

    def do_four(self):
        return self.observe(), 1.0, False, {}

    def do_info_code(self):
        return self.step_with(info={"hook": [print]})

    def do_info_objects(self):
        return self.step_with(info={"all": np.array([{}], dtype=object)})

    def do_info_list(self):
        return self.step_with(info=["no", "dictionary"])

    def do_info_own(self):
        return self.step_with(info={"sandbox": {"limit": "deadline"}})

    def do_info_large(self):
        return self.step_with(info={"all": bytes(65 << 20)})

    def do_info_deep(self):
        deep = {}
        for _ in range(100):
            deep = {"deep": deep}
        return self.step_with(info=deep)

    def do_info_pickle(self):
        return self.step_with(info={"pickle": pickle.dumps(print)})

    def do_thread(self):
        threading.Thread(target=time.sleep, args=(600,)).start()

    def do_fork(self):
        if os.fork() == 0:
            time.sleep(600)

    def do_picture(self):
        return {"no": "picture"}

    def do_pair(self):
        return 1, 2


class Liar(Dweller):
    """Says that its observations are something else."""

    observation_space = Text(3)


class Restless(Dweller):
    """Has other spaces each time it is made: they follow the process."""

    def __init__(self):
        super().__init__("exit")
        self.observation_space = Box(-10, 10 + int.from_bytes(os.urandom(4), "big"), (2,), np.float64)


def broken():
    """No environment at all."""
    return 5


class Prober(Dweller):
    """Tries what it should not be able to do, and tells."""

    def reset(self, *, seed=None, options=None):
        self.options = options
        return super().reset(seed=seed)

    def step(self, action):
        told = {
            "seen": os.path.exists(self.options["marker"]),
            "written": succeeds(lambda: open(__file__, "a").close()),
            "connected": succeeds(lambda: socket.create_connection(("127.0.0.1", self.options["port"]), 5).close()),
            "open": [one for one in range(64) if succeeds(lambda one=one: os.fstat(one))],
        }
        return self.step_with(info=told)


def succeeds(deed):
    try:
        deed()
    except OSError:
        return False
    return True
