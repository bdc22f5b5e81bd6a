"""Rules about randomness: one seed, one history, and nobody else's generator is touched."""

import random
from copy import deepcopy
from itertools import pairwise

import numpy as np

from ludus.core import EnvSpec
from ludus.core.env import AnyEnv
from ludus.errors import EnvError, shorten
from ludus.seeding import lane_seeds, np_random
from ludus.testing.equality import data_equal
from ludus.testing.global_random import global_random, global_states, moved
from ludus.testing.history import HistoryEvent, Interrupted, Player, first_difference
from ludus.testing.report import error, warning
from ludus.testing.rule import Found, Unchecked
from ludus.testing.subject import Subject

__all__ = [
    "action_space_untouched",
    "another_seed_another_history",
    "fresh_instance_same_history",
    "global_random_untouched",
    "instances_are_independent",
    "numpy_seeds_are_accepted",
    "reset_continues_the_stream",
    "reset_seeds_np_random",
    "same_seed_same_history",
]

ROUNDS = 16
"""How many short episodes, at most, stand for the variety of an environment."""


def reset_seeds_np_random(subject: Subject) -> Found:
    """`reset(seed=s)` seeds `np_random` with `s`."""
    env = subject.env()
    for seed in (subject.seed, subject.seed + 1):
        env.reset(seed=seed)
        found: object = env.np_random_seed
        expected: object = tuple(lane_seeds(seed, env.batch_shape[0])) if env.batch_shape else seed
        if found != expected:
            message = f"np_random_seed after reset(seed={seed}): expected {expected}, got {shorten(found)}"
            yield error(message, "begin reset with `super().reset(seed=seed)`")
            return


def same_seed_same_history(subject: Subject) -> Found:
    """The same seed and actions give the same history on one instance, whatever it did before."""
    env = subject.env()
    if isinstance(env.spec, EnvSpec) and env.spec.nondeterministic:
        raise Unchecked("its spec declares it nondeterministic")
    first = subject.play(env)
    parted = first_difference(first, subject.play(env))
    if parted:
        message = f"reset(seed={subject.seed}) twice, same actions: expected the same history, got {parted}"
        yield error(
            message, _blame(env) or "draw every random number from self.np_random, and set all state anew in reset"
        )


def fresh_instance_same_history(subject: Subject) -> Found:
    """The same seed and actions give the same history on a fresh instance."""
    parted = first_difference(subject.play(subject.fresh()), subject.play(subject.fresh()))
    if parted:
        message = f"reset(seed={subject.seed}) on two instances, same actions: expected the same history, got {parted}"
        yield error(message, "draw nothing in __init__, share nothing between instances, and set all state in reset")


def another_seed_another_history(subject: Subject) -> Found:
    """Another seed gives another history, where there is any randomness at all."""
    env = subject.env()
    seeds = range(subject.seed, subject.seed + 5)
    first = subject.play(env, seed=seeds[0])
    if any(first_difference(first, subject.play(env, seed=seed)) for seed in seeds[1:]):  # until one differs
        return
    message = f"the seeds {seeds[0]} to {seeds[-1]}, same actions: expected differing histories, got one and the same"
    own = _blame(env)
    if own:
        yield error(message, own)
    elif _drawn(env, seeds[-1]):
        yield warning(
            f"{message}, although np_random was drawn from",
            "let the draws show in observations, rewards or infos; if they show later, check with more steps",
        )


def reset_continues_the_stream(subject: Subject) -> Found:
    """`reset()` without a seed goes on in the random stream; it does not start it anew."""
    env = subject.env()
    if _repeats(subject, env) or _restarts(subject, env):
        message = (
            "reset() again and again without a seed: expected new episodes of one stream, got the same start each time"
        )
        yield error(message, "pass the seed on as it came, None included: `super().reset(seed=seed)`")


def _restarts(subject: Subject, env: AnyEnv) -> bool:
    """Whether a reset without a seed puts the generator back to where it was."""
    env.reset(seed=subject.seed)
    states = [_states(env)]
    for _ in range(2):
        for generator in _generators(env):
            generator.random()  # now the stream can be where it was only if it was started anew
        env.reset()
        states.append(_states(env))
    return any(data_equal(one, other) for one, other in pairwise(states))


def _repeats(subject: Subject, env: AnyEnv) -> bool:
    """Whether seeds make a difference, and episodes without a seed make none."""
    first, differing, number = _round(env, subject.seed), 0, 0
    while differing < ROUNDS // 2:
        number += 1
        if number == ROUNDS:
            return False  # too little varies to tell
        differing += first_difference(first, _round(env, subject.seed + number)) is not None
    env.reset(seed=subject.seed)
    unseeded = _round(env, None)
    return all(first_difference(unseeded, _round(env, None)) is None for _ in range(ROUNDS - 1))  # until one differs


def _round(env: AnyEnv, seed: int | None) -> list[HistoryEvent]:
    player = Player(env, 0)
    player.reset(seed)
    for _ in range(5):
        if not player.needs_reset:
            player.step()
    return player.events


def numpy_seeds_are_accepted(subject: Subject) -> Found:
    """`reset` takes a NumPy integer as seed, and it means the same as the Python one."""
    env = subject.env()
    expected, fix = (
        subject.play(env),
        "hand the seed to `super().reset(seed=seed)` as it is, and `int(seed)` to other libraries",
    )
    try:
        found = subject.play(env, seed=np.int64(subject.seed))
    except Interrupted as failure:
        yield error(f"expected np.int64 seeds to be accepted, got {failure}", fix)
        return
    parted = first_difference(expected, found)
    if parted:
        yield error(f"reset(seed=np.int64({subject.seed})): expected the history of {subject.seed}, got {parted}", fix)


def global_random_untouched(subject: Subject) -> Found:
    """Neither `random` nor `np.random`, the process's own generators, is drawn from or seeded by the environment."""
    with global_random(1):
        before = global_states()
        env = subject.make() if subject.instance is None else subject.instance
        first = _unpinned(subject, env)
        used = moved(before)
    if used:
        with global_random(2):
            parted = first_difference(first, _unpinned(subject, env))
        consequence = f", on which the history depends ({parted})" if parted else ""
        message = f"expected draws from self.np_random only, got some from the global {' and '.join(used)}{consequence}"
        yield error(message, "use self.np_random in place of np.random and random")


def _unpinned(subject: Subject, env: AnyEnv) -> list[HistoryEvent]:
    player = Player(env, 0)
    player.reset(subject.seed)
    return player.run(subject.steps).events


def action_space_untouched(subject: Subject) -> Found:
    """The environment leaves the generator of its action space to the agent."""
    env = subject.env()
    env.action_space.seed(subject.seed)
    expected = deepcopy(env.action_space)
    subject.play(env)
    found = deepcopy(env.action_space)
    if not all(data_equal(expected.sample(), found.sample()) for _ in range(32)):
        message = "action_space after an episode: expected the samples it would have given before, got others"
        yield warning(message, "draw from self.np_random, and leave seeding and sampling action_space to the agent")


def instances_are_independent(subject: Subject) -> Found:
    """Two instances, stepped in turn, each give the history they give alone."""
    alone = subject.play(subject.fresh())
    player, other = Player(subject.fresh(), 0), Player(subject.fresh(), 1)
    player.reset(subject.seed)
    other.reset(subject.seed + 1)
    for number in range(subject.steps):
        for one in (player, other):
            if one.needs_reset or (number == subject.steps // 2 and number > 0):
                one.reset()
            one.step()
    parted = first_difference(alone, player.events)
    if parted:
        message = f"beside a second instance: expected the history it has alone, got {parted}"
        yield error(message, "keep state in `self`, not in the class, the module or a default argument")


def _generators(env: AnyEnv) -> list[np.random.Generator]:
    try:
        found: object = env.np_random
    except EnvError as elsewhere:
        raise Unchecked("where its random stream stands is known in its own process only") from elsewhere
    return list(found) if isinstance(found, tuple | list) else [found]


def _states(env: AnyEnv) -> list[object]:
    return [deepcopy(generator.bit_generator.state) for generator in _generators(env)]


def _drawn(env: AnyEnv, seed: int) -> bool:
    """Whether `np_random` is no longer where that seed put it."""
    seeds = lane_seeds(seed, len(_generators(env)))
    return not data_equal(_states(env), [np_random(one)[0].bit_generator.state for one in seeds])


def _blame(env: AnyEnv) -> str:
    """A fix that names a generator of the environment's own, if it has one."""
    kinds = (np.random.Generator, np.random.RandomState, random.Random)
    bottom = env.unwrapped
    own = [name for name, value in vars(bottom).items() if isinstance(value, kinds) and name != "_np_random"]
    return (
        f"`self.{own[0]}` is a generator that reset(seed=…) does not seed: use self.np_random in its place"
        if own
        else ""
    )
