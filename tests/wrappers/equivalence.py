"""The law of wrappers: around a batch a wrapper does, lane by lane, what it does around the single environment.

`check_equivalence` holds any batch to it: hand it what makes one environment, and what makes a batch of them.
"""

from dataclasses import dataclass, field
from typing import Any

import numpy as np

from ludus.core import AutoresetMode, Outcome
from ludus.core.episode import planned

SEED = 10
CLOCKED = ("t",)
"""What infos tell of the time of day."""

BESIDE = ("episode",)
"""What a batch tells beside `final_info` where an episode ends and the next begins in one step."""


@dataclass
class Trial:
    """How a batch is driven: for how many steps, with which plan, and what is done to it on the way."""

    mode: AutoresetMode
    lanes: int = 4
    steps: int = 40
    plan: Any = None
    resets: dict[int, list[int]] = field(default_factory=dict)
    """Before which steps which lanes are reset from outside."""
    rewinds: int | None = None
    """After which step a snapshot is taken, to which the batch goes back after three more."""


class Lane:
    """One wrapped environment, driven as a lane of a batch would be."""

    def __init__(self, env, place, trial):
        self.env, self.place, self.plan, self.mode = env, place, trial.plan, trial.mode
        self.ended, self.number = False, 0

    def reset(self, seed=None):
        self.ended, self.number = False, 0
        return self.env.reset(seed=seed)

    def begin(self):
        self.number += 1
        episode = planned(self.plan, self.place, self.number)
        self.ended = False
        return self.env.reset(seed=episode.seed, options=episode.options)

    def step(self, action):
        if self.ended and self.mode is AutoresetMode.NEXT_STEP:
            observation, info = self.begin()
            return observation, 0.0, False, False, info
        observation, reward, terminated, truncated, info = self.env.step(action)
        self.ended = bool(terminated or truncated)
        if self.mode is AutoresetMode.SAME_STEP and self.ended:
            told = {key: info.pop(key) for key in BESIDE if key in info}
            final = {"final_obs": observation, "final_info": info, **told}
            observation, info = self.begin()
            info = {**final, **info}
        return observation, reward, terminated, truncated, info


def same(a, b):
    """Equal to the last bit; only a Python number may stand for NumPy's."""
    if isinstance(a, dict):
        return a.keys() == b.keys() and all(key in CLOCKED or same(a[key], b[key]) for key in a)
    if isinstance(a, list | tuple):
        return len(a) == len(b) and all(same(x, y) for x, y in zip(a, b, strict=True))
    plain = isinstance(b, int | float | str | None) or isinstance(a, int | float | str | None)
    return np.array_equal(a, b) and (plain or np.asarray(a).dtype == np.asarray(b).dtype)


def told_by(infos, lane):
    """What one lane told, as it would by itself."""
    found = {}
    for key, column in infos.items():
        if key.startswith("_") and key[1:] in infos:
            continue
        if infos[f"_{key}"][lane]:
            found[key] = told_by(column, lane) if isinstance(column, dict) else column[lane]
            if key == "outcome":  # a column of codes
                found[key] = Outcome.of(column[lane])
    return found


def check_observations(batch, observations, expected):
    rows = list(batch.observation_space.iterate(observations))
    for lane, one in expected.items():
        assert same(rows[lane], one), f"observation of lane {lane}: expected {one}, got {rows[lane]}"


def check_equivalence(wrapper, make, make_batch, trial):
    """Drive `wrapper(make_batch())` beside single environments, `wrapper(make())`; all that they give is equal."""
    lanes = [Lane(wrapper(make()), place, trial) for place in range(trial.lanes)]
    with wrapper(make_batch()) as batch:
        assert batch.single_observation_space == lanes[0].env.observation_space
        assert batch.single_action_space == lanes[0].env.action_space
        drive(batch, lanes, trial)


def drive(batch, lanes, trial):
    observations, infos = batch.reset(seed=SEED)
    assert observations in batch.observation_space
    firsts = [lane.reset(SEED + lane.place) for lane in lanes]
    check_observations(batch, observations, {place: first[0] for place, first in enumerate(firsts)})
    for place, (_, info) in enumerate(firsts):
        assert same(told_by(infos, place), info)
    batch.action_space.seed(3)
    kept = None
    for number in range(trial.steps):
        reset_some(batch, lanes, trial, number)
        actions = batch.action_space.sample()
        check_step(batch, lanes, actions)
        if trial.rewinds == number:
            kept = batch.snapshot(), [(lane.env.snapshot(), lane.ended, lane.number) for lane in lanes]
        if kept is not None and number == trial.rewinds + 3:
            batch.restore(kept[0])
            for lane, (snapshot, lane.ended, lane.number) in zip(lanes, kept[1], strict=True):
                lane.env.restore(snapshot)


def reset_some(batch, lanes, trial, number):
    """Reset the lanes that wait for it, and those that the trial says."""
    mask = np.array([trial.mode is AutoresetMode.DISABLED and lane.ended for lane in lanes])
    mask[trial.resets.get(number, [])] = True
    if mask.any():
        observations, infos = batch.reset(options={"reset_mask": mask})
        expected = {lane.place: lane.reset() for lane in lanes if mask[lane.place]}
        check_observations(batch, observations, {place: first[0] for place, first in expected.items()})
        for place, (_, info) in expected.items():
            assert same(told_by(infos, place), info)


def check_step(batch, lanes, actions):
    observations, rewards, terminated, truncated, infos = batch.step(actions)
    each = list(batch.action_space.iterate(actions))
    for place, lane in enumerate(lanes):
        observation, reward, over, cut, info = lane.step(each[place])
        check_observations(batch, observations, {place: observation})
        assert (rewards[place], terminated[place], truncated[place]) == (reward, over, cut)
        assert same(told_by(infos, place), info), f"lane {place}: expected {info}, got {told_by(infos, place)}"
