"""A good environment, and environments that each break one rule of the contract."""

import random
import threading

import numpy as np

import ludus
from ludus.spaces import Box, Discrete, Space


class Walk(ludus.Env):
    """Keeps every rule."""

    metadata = {"render_modes": ["rgb_array", "ansi"]}

    def __init__(self, render_mode=None):
        self.render_mode = render_mode
        self.observation_space = Box(0, 1, (2,), np.float32)
        self.action_space = Discrete(3)

    def reset(self, *, seed=None, options=None):
        super().reset(seed=seed)
        self.state, self.steps = self.np_random.random(2), 0
        return self.observe(), {"steps": 0}

    def step(self, action):
        self.state = np.clip(self.state + 0.1 * (int(action) - 1) + 0.02 * self.np_random.normal(size=2), 0, 1)
        self.steps += 1
        return ludus.Step(self.observe(), float(self.state.sum()), self.steps >= 17, False, {"steps": self.steps})

    def observe(self):
        return self.state.astype(np.float32)

    def render(self):
        return str(self.state) if self.render_mode == "ansi" else np.zeros((4, 6, 3), np.uint8)


# --- calls ---


class NeedsAnArgument(Walk):
    def __init__(self, size):
        super().__init__()


class NotAnEnv:
    """Has the methods, is not an Env."""

    reset, step = Walk.reset, Walk.step


class ResetWithoutSeed(Walk):
    def reset(self):
        return super().reset()


class ResetWithoutInfo(Walk):
    def reset(self, *, seed=None, options=None):
        return super().reset(seed=seed)[0]


class ResetRaises(Walk):
    def reset(self, *, seed=None, options=None):
        raise RuntimeError("no level today")


class FourValues(Walk):
    def step(self, action):
        observation, reward, terminated, _, info = super().step(action)
        return observation, reward, terminated, info


class InfoIsNone(Walk):
    def step(self, action):
        return super().step(action)._replace(info=None)


class StepRefusesAnAction(Walk):
    def step(self, action):
        if action == 2:
            raise ValueError("2 is not a move")
        return super().step(action)


class StepRaisesLater(Walk):
    def step(self, action):
        if self.steps == 5:
            raise ZeroDivisionError("division by zero")
        return super().step(action)


class StepsWithoutReset(Walk):
    def __init__(self, render_mode=None):
        super().__init__(render_mode)
        self.state, self.steps = np.zeros(2), 0


class FlagsAreIntegers(Walk):
    def step(self, action):
        step = super().step(action)
        return step._replace(terminated=int(step.terminated))


class CrashesOnOptions(Walk):
    def reset(self, *, seed=None, options=None):
        if options is not None:
            self.level = options["level"].upper()
        return super().reset(seed=seed)


class RenderModesAsText(Walk):
    metadata = {"render_modes": "rgb_array"}


class SpecIsText(Walk):
    spec = "Walk-v0"


# --- spaces ---


class SpaceIsMissing(Walk):
    def __init__(self, render_mode=None):
        super().__init__(render_mode)
        del self.observation_space


class SpaceChanges(Walk):
    def reset(self, *, seed=None, options=None):
        self.observation_space = Box(0, 2, (2,), np.float32)
        return super().reset(seed=seed)


class ObservationOutside(Walk):
    def observe(self):
        return super().observe() + np.float32(2)


class ObservationOfWrongDtype(Walk):
    def observe(self):
        return self.state.copy()


class ObservationOfWrongShape(Walk):
    def observe(self):
        return super().observe()[:1]


class ObservationNarrower(Walk):
    def __init__(self, render_mode=None):
        super().__init__(render_mode)
        self.observation_space = Box(0, 1, (2,), np.float64)


class UnboundedActions(Walk):
    def __init__(self, render_mode=None):
        super().__init__(render_mode)
        self.action_space = Box(-np.inf, np.inf, (1,))

    def step(self, action):
        return super().step(np.clip(action[0], 0, 2))


# --- rewards ---


class RewardIsAnArray(Walk):
    def step(self, action):
        step = super().step(action)
        return step._replace(reward=np.array([step.reward]))


class RewardIsNone(Walk):
    def step(self, action):
        return super().step(action)._replace(reward=None)


class RewardIsNaN(Walk):
    def step(self, action):
        step = super().step(action)
        return step._replace(reward=float("nan") if self.steps == 3 else step.reward)


# --- seeding ---


class SuperResetMissing(Walk):
    def reset(self, *, seed=None, options=None):
        self.state, self.steps = self.np_random.random(2), 0
        return self.observe(), {}


class OwnGenerator(Walk):
    def __init__(self, render_mode=None):
        super().__init__(render_mode)
        self.rng = np.random.default_rng()

    def step(self, action):
        self.state = np.clip(self.state + 0.01 * self.rng.normal(size=2), 0, 1)
        return super().step(action)


class StateSurvivesReset(Walk):
    total = 0

    def step(self, action):
        self.total += 1
        step = super().step(action)
        return step._replace(info={"total": self.total})


class LuckyInstance(Walk):
    def __init__(self, render_mode=None):
        super().__init__(render_mode)
        self.bonus = float(np.random.default_rng().random())

    def step(self, action):
        step = super().step(action)
        return step._replace(reward=step.reward + self.bonus)


class ConstantGenerator(Walk):
    def reset(self, *, seed=None, options=None):
        super().reset(seed=seed)
        self.rng = np.random.default_rng(0)
        self.state, self.steps = self.rng.random(2), 0
        return self.observe(), {}

    def step(self, action):
        self.steps += 1
        return ludus.Step(self.observe(), float(self.rng.random()), self.steps >= 17, False, {})


class AlwaysTheSameEpisode(Walk):
    def reset(self, *, seed=None, options=None):
        return super().reset(seed=0 if seed is None else seed)


class RefusesNumPySeeds(Walk):
    def reset(self, *, seed=None, options=None):
        if seed is not None and type(seed) is not int:
            raise TypeError("seed must be an int")
        return super().reset(seed=seed)


class GlobalNumPyRandom(Walk):
    def step(self, action):
        self.state = np.clip(self.state + 0.1 * np.random.normal(size=2), 0, 1)
        return super().step(action)


class GlobalRandomModule(Walk):
    def reset(self, *, seed=None, options=None):
        super().reset(seed=seed)
        random.seed(seed)
        self.state[0] = random.random()
        return self.observe(), {}


class DrawsFromActionSpace(Walk):
    def __init__(self, render_mode=None):
        super().__init__(render_mode)
        self.action_space.seed(0)

    def step(self, action):
        self.action_space.sample()
        return super().step(action)


class StateInTheClass(Walk):
    shared = {"steps": 0}

    def reset(self, *, seed=None, options=None):
        self.shared["steps"] = 0
        return super().reset(seed=seed)

    def step(self, action):
        self.shared["steps"] += 1
        return super().step(action)._replace(info=dict(self.shared))


# --- ownership ---


class ReusedBuffer(Walk):
    def __init__(self, render_mode=None):
        super().__init__(render_mode)
        self.buffer = np.zeros(2, np.float32)

    def observe(self):
        self.buffer[:] = self.state
        return self.buffer


class SharedMemory(Walk):
    """The same values in the same memory: nothing changes, until the caller writes."""

    def __init__(self, render_mode=None):
        super().__init__(render_mode)
        self.goal = np.ones(2, np.float32)

    def observe(self):
        return self.goal[:]


class StateGivenAway(Walk):
    """A new array each step, but the environment computes with the one it gave away."""

    def __init__(self, render_mode=None):
        super().__init__(render_mode)
        self.observation_space = Box(0, 1, (2,), np.float64)

    def observe(self):
        return self.state


class ReusedInfo(Walk):
    def reset(self, *, seed=None, options=None):
        self.info = {"steps": 0}
        return super().reset(seed=seed)[0], self.info

    def step(self, action):
        self.info["steps"] += 1
        return super().step(action)._replace(info=self.info)


class ArrayInInfo(Walk):
    def __init__(self, render_mode=None):
        super().__init__(render_mode)
        self.goal = np.ones(2)

    def step(self, action):
        return super().step(action)._replace(info={"goal": self.goal})


# --- snapshots ---


class HoldsALock(Walk):
    def __init__(self, render_mode=None):
        super().__init__(render_mode)
        self.lock = threading.Lock()


class HoldsAFunctionOfItsOwn(Walk):
    def reset(self, *, seed=None, options=None):
        self.goal_of = lambda position: position + 1
        return super().reset(seed=seed)


class Engine:
    """State that its copies share."""

    def __init__(self):
        self.ticks = 0

    def __deepcopy__(self, memo):
        return self


class SharesItsEngine(Walk):
    def reset(self, *, seed=None, options=None):
        self.engine = Engine()
        return super().reset(seed=seed)

    def step(self, action):
        self.engine.ticks += 1
        return super().step(action)._replace(info={"ticks": self.engine.ticks})


class MeasuresOnlyNewSteps(Walk):
    """Its engine, which snapshots leave alone, is there already when a step is taken back and taken again."""

    snapshot_shared = ("engine_at",)

    def reset(self, *, seed=None, options=None):
        self.engine_at = 0
        return super().reset(seed=seed)

    def step(self, action):
        measured, self.engine_at = self.engine_at != self.steps + 1, self.steps + 1
        return super().step(action)._replace(info={"measured": measured})


class ForgetsTheTime(Walk):
    """Its snapshots leave out an attribute: right on the instance they came from, wrong on a fresh one."""

    snapshot_shared = ("scale",)

    def __init__(self, render_mode=None):
        super().__init__(render_mode)
        self.scale = 1.0

    def reset(self, *, seed=None, options=None):
        self.scale = 2.0
        return super().reset(seed=seed)

    def step(self, action):
        return super().step(action)._replace(info={"scale": self.scale})


# --- rendering ---


class ForgetsItsRenderMode(Walk):
    def __init__(self, render_mode=None):
        super().__init__(None)


class TakesNoRenderMode(Walk):
    def __init__(self):
        super().__init__()


class RendersFloats(Walk):
    metadata = {"render_modes": ["rgb_array"]}

    def render(self):
        return np.zeros((4, 6, 3))


class RendersNothing(Walk):
    metadata = {"render_modes": ["ansi"]}

    def render(self):
        return None


class RendersNoList(Walk):
    metadata = {"render_modes": ["rgb_array_list"]}


class RenderRaises(Walk):
    metadata = {"render_modes": ["rgb_array"]}

    def render(self):
        raise KeyError("font")


class RenderMoves(Walk):
    metadata = {"render_modes": ["rgb_array"]}

    def render(self):
        self.np_random.random()
        return super().render()


# --- closing ---


class CloseRaises(Walk):
    def close(self):
        raise OSError("no window to close")


class CloseNeedsReset(Walk):
    def close(self):
        self.state.fill(0)


class CloseOnce(Walk):
    closed = False

    def close(self):
        if self.closed:
            raise RuntimeError("already closed")
        self.closed = True


# --- serialisation ---


class Unwritable(Space):
    """A space whose arguments are not to be found."""

    def __init__(self, secret=3):
        self._secret = secret
        super().__init__()

    def sample(self, mask=None, probability=None):
        return int(self.np_random.integers(3))

    def contains(self, x):
        return isinstance(x, int | np.integer) and 0 <= x < 3

    def __eq__(self, other):
        return isinstance(other, Unwritable)

    def __repr__(self):
        return "Unwritable()"


class SpaceCannotBeWritten(Walk):
    def __init__(self, render_mode=None):
        super().__init__(render_mode)
        self.action_space = Unwritable()


class Lossy(Discrete):
    """A space that writes every value as 0."""

    def encode(self, x, *, binary=False):
        return 0


class ValuesGetLost(Walk):
    def __init__(self, render_mode=None):
        super().__init__(render_mode)
        self.action_space = Lossy(3)
