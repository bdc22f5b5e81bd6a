"""Rules about outcomes: told with the last step, by their names, and not to be had for nothing."""

from collections.abc import Callable, Container
from itertools import cycle
from math import isfinite
from time import monotonic
from typing import NamedTuple, TypeGuard

import numpy as np

from ludus.core import Outcome
from ludus.core.env import AnyEnv
from ludus.core.info import FACTS, REWARD_COMPONENTS
from ludus.core.outcome import OUTCOME
from ludus.errors import InvalidArgument, LudusError, listing, shorten
from ludus.spaces import Space
from ludus.spaces.kinds import is_dict, is_list
from ludus.testing.history import HistoryEvent, Player, as_step
from ludus.testing.report import Finding, ReportNote, error
from ludus.testing.rule import Found, Unchecked
from ludus.testing.subject import Subject
from ludus.wrappers import OrderEnforcing, PassiveEnvChecker, TimeLimit

__all__ = ["outcomes_come_last", "reward_components_add_up", "trivial_agents_do_not_succeed"]

DECLARED = "trivial_success"
"""The key of `metadata` that names the agents which may succeed."""
EPISODES = 8
MAX_IDLE_SUCCESS_SHARE = 0.75
"""In which share of its episodes an agent that does nothing, or anything, may succeed: some games are won by chance."""
MIN_EPISODES = 3
"""Fewer episodes than these say little of a share."""
SEED_DISTANCE = 1 << 32
"""Between the seeds of environment and agent: with one seed for both, it would draw what the other hides."""
TOLERANCE = 1e-6
SILENT = (PassiveEnvChecker, OrderEnforcing, TimeLimit)
"""Wrappers that leave rewards as they are."""
WRONG: tuple[object, ...] = (None, "no action of this environment", {"nonsense": 1}, [])
NONSENSE = ("", "success", '{"outcome": "success", "reward": 1.0}', "\N{COLLISION SYMBOL}" * 9, "0", "yes", "\t\x00")


def outcomes_come_last(subject: Subject) -> Found:
    """`info["outcome"]` is an `Outcome`, its text or its code, and only the last step of an episode tells one."""
    if subject.env().batch_shape:
        return
    for event in subject.history:
        found = _misplaced(event)
        if found is not None:
            yield found
            return


def _misplaced(event: HistoryEvent) -> Finding | None:
    if OUTCOME not in event.info:
        return None
    try:
        outcome = Outcome.told(event.info[OUTCOME])
    except InvalidArgument as failure:
        message = str(failure).removeprefix("outcome: ")
        fix = "return `Step.success(…)` or `Step.failure(…)`, or name one of these"
        return error(f"{event.label} info['outcome']: {message}", fix)
    if outcome is None or event.terminated or event.truncated:
        return None
    message = f"{event.label} info['outcome']: expected none before the last step, got {outcome.value!r}"
    return error(message, "tell it with the step that terminates or truncates; what holds meanwhile belongs to facts")


def reward_components_add_up(subject: Subject) -> Found:
    """`info["reward_components"]` are numbers by name that add up to the reward, and `info["facts"]` go by name."""
    env = subject.env()
    if env.batch_shape:
        return
    for event in subject.history:
        for key in (FACTS, REWARD_COMPONENTS):
            entry = event.info.get(key, {})
            if not is_dict(entry) or not all(isinstance(name, str) for name in entry):
                message = f"{event.label} info[{key!r}]: expected a dictionary by name, got {shorten(entry)}"
                yield error(message, f"write `info[{key!r}] = {{'name': value}}`")
                return
    changed = [one for one in env._layers()[:-1] if not isinstance(one, SILENT)]  # pyright: ignore[reportPrivateUsage]
    events = [event for event in subject.history if event.info.get(REWARD_COMPONENTS) and event.reward is not None]
    if events and changed:
        raise Unchecked(f"{type(changed[0]).__name__} around it may change rewards, and not what they consist of")
    for event in events:
        parts = event.info[REWARD_COMPONENTS]
        if not all(_is_number(one) for one in parts.values()):
            message = f"{event.label} info['reward_components']: expected finite numbers, got {shorten(parts)}"
            yield error(message, "leave out what is no part of the reward; facts have a place of their own")
            return
        total, reward = sum(float(one) for one in parts.values()), float(event.reward)
        if abs(total - reward) > TOLERANCE * max(1.0, abs(reward)):
            message = f"{event.label}: expected components that add up to the reward {reward:g}, got {total:g}"
            yield error(message, "enter each part with the weight that it has in the reward")
            return


def _is_number(value: object) -> bool:
    return _is_real(value) and not isinstance(value, bool) and isfinite(value)


def _is_real(value: object) -> TypeGuard[float]:
    return isinstance(value, int | float | np.integer | np.floating)


# --- agents that know nothing ---


class Tried(NamedTuple):
    """What an agent came to."""

    episodes: int
    successes: int
    outcomes: frozenset[Outcome]
    hurried: bool
    """Whether its time was over before its episodes were."""


def trivial_agents_do_not_succeed(subject: Subject) -> Found:
    """Doing nothing, acting at random and writing nonsense is no success, or `metadata["trivial_success"]` says so."""
    env = subject.env()
    if env.batch_shape:
        return
    declared: Container[str] = env.metadata.get(DECLARED, ())
    idle = _tried(subject, env, _in_turn(_nothing(env.action_space)))
    outcomes = idle.outcomes | _outcomes_of(subject.history)
    if not outcomes - {Outcome.TIME_LIMIT}:
        return  # success is not defined here
    tried = {"nop": idle, "random": _tried(subject, env, Player.choose)}
    wrong = [one for one in WRONG if not _contains(env.action_space, one)]
    tried["wrong_format"] = _tried(subject, env, _in_turn(wrong))
    nonsense = _nonsense(env.action_space)
    if nonsense:
        tried["garbage"] = _tried(subject, env, _in_turn(nonsense))
    for agent, one in tried.items():
        yield from _judged(agent, one, declared, most=MAX_IDLE_SUCCESS_SHARE if agent in ("nop", "random") else 0.0)
    hurried = [f"{agent} {one.episodes}" for agent, one in tried.items() if one.hurried]
    if hurried:
        yield ReportNote(
            f"episodes are slow: not {EPISODES} of each trivial agent, but {listing(hurried)}; --full has all"
        )


def _judged(agent: str, tried: Tried, declared: Container[str], most: float = 0.0) -> Found:
    share = tried.successes / tried.episodes if tried.episodes else 0.0
    if share <= most or agent in declared or (most and tried.episodes < MIN_EPISODES):
        if share and agent not in declared:
            yield ReportNote(f"the {agent} agent succeeded in {tried.successes} of {tried.episodes} episodes")
        return
    limit = f"at most {most:.0%} of its episodes" if most else "none of its episodes"
    yield error(
        f"the {agent} agent: expected success in {limit}, got it in {tried.successes} of {tried.episodes}",
        f"let success be what only the task done is; if this is meant, metadata['{DECLARED}'] = ['{agent}'] says so",
    )


def _outcomes_of(history: list[HistoryEvent]) -> frozenset[Outcome]:
    found = [Outcome.told(event.info[OUTCOME]) for event in history if OUTCOME in event.info]
    return frozenset(one for one in found if one is not None)


def _tried(subject: Subject, env: AnyEnv, choose: Callable[[Player], object]) -> Tried:
    """A few episodes of an agent, as far as twice the steps of the check go; one that is refused ends there.

    Where they are slow, as far as the time of two histories goes.
    """
    left, successes, outcomes, episodes = 2 * subject.steps, 0, set[Outcome](), 0
    player, until = Player(env, subject.seed + SEED_DISTANCE), subject.deadline(2)
    while left > 0 and episodes < EPISODES:
        if episodes >= MIN_EPISODES and monotonic() > until:
            return Tried(episodes, successes, frozenset(outcomes), True)
        player.reset(subject.seed + episodes)
        ending, left = _episode(player, choose, left)
        if ending is False:
            break  # it was not over when the steps were
        episodes += 1
        if isinstance(ending, Outcome):
            outcomes.add(ending)
            successes += ending is Outcome.SUCCESS
    return Tried(episodes, successes, frozenset(outcomes), False)


def _episode(player: Player, choose: Callable[[Player], object], left: int) -> tuple[Outcome | bool | None, int]:
    """What the episode told at its end, or None; False where it did not come to it. And the steps that are left."""
    while left > 0:
        left -= 1
        try:
            step = as_step(player.env.step(choose(player)))
        except Exception:  # whatever it is raised for, it is no success
            return None, left
        player.mask = step[4].get("action_mask")
        if step[2] or step[3]:
            return Outcome.told(step[4].get(OUTCOME)), left
    return False, left


def _in_turn(values: list[object]) -> Callable[[Player], object]:
    """An agent that gives these values one after another, whatever it sees."""
    given = cycle(values)
    return lambda _: next(given)


def _nothing(space: Space[object]) -> list[object]:
    try:
        return [space.default()]
    except NotImplementedError:  # a space of its author's: any value, again and again
        return [space.sample()]


def _contains(space: Space[object], value: object) -> bool:
    try:
        return space.contains(value)
    except (TypeError, ValueError, KeyError, AttributeError):
        return False


def _nonsense(space: Space[object]) -> list[object]:
    """Actions of the space whose every text is nonsense; none where there is no text in them."""
    found: list[object] = []
    try:
        data = space.encode(space.default(), binary=False)
        if not _has_text(data):
            return []
        for text in NONSENSE:
            action = space.decode(_filled(data, text))
            found += [action] if space.contains(action) else []
    except (LudusError, TypeError, ValueError, KeyError):
        pass  # a space of its own kind
    return found


def _has_text(data: object) -> bool:
    parts = data.values() if is_dict(data) else data if is_list(data) else ()
    return isinstance(data, str) or any(_has_text(one) for one in parts)


def _filled(data: object, text: str) -> object:
    if is_dict(data):
        return {key: _filled(one, text) for key, one in data.items()}
    if is_list(data):
        return [_filled(one, text) for one in data]
    return text if isinstance(data, str) else data
