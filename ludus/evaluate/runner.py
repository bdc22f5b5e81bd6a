"""`evaluate`: an agent plays episodes whose seeds are derived; wherever they are played, they are the same ones."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import Any, NamedTuple

import numpy as np

from ludus.core import AutoresetMode, Env, Episode, Info, Outcome, VectorEnv
from ludus.core.info import info_of, joined, lane_info
from ludus.errors import ContractViolation, InvalidArgument, InvalidType, shorten
from ludus.evaluate.agents import Agent, AgentLike, as_agent
from ludus.evaluate.evaluation import EpisodeResult, Evaluation
from ludus.evaluate.seeds import derived_seed
from ludus.registry import make_vec
from ludus.registry.resolution import spec_meant
from ludus.spaces import concatenate, iterate

__all__ = ["evaluate"]

LANES = 16
"""How many episodes are played at once, if nobody says."""
Progress = Callable[[EpisodeResult], None]


def evaluate(
    env: Any,
    agent: AgentLike,
    *,
    episodes: int = 50,
    seed: int = 0,
    num_envs: int | None = None,
    max_steps: int = 100_000,
    progress: Progress | None = None,
    kwargs: Mapping[str, Any] | None = None,
    **options: Any,
) -> Evaluation:
    """Play `episodes` episodes and give what came of each; the same seed plays the same ones.

    `env` is whatever `make_vec` takes, and `options` are `make_vec`'s (`executor`, `isolation`, `wrappers` …); `kwargs`
    go to the environment. Seeds are derived from the id, `seed` and the episode's number, so that nobody can have
    picked them. `num_envs` only says how many are played at once: it changes nothing else. An episode that is not over
    after `max_steps` counts as truncated.

    >>> found = evaluate("CartPole-v1", "random", episodes=3, seed=7)
    >>> [one.length for one in found.episodes] == [one.length for one in evaluate("CartPole-v1", "random",
    ...     episodes=3, seed=7, num_envs=1, executor="serial").episodes]
    True
    """
    if episodes < 1 or max_steps < 1:
        raise InvalidArgument(f"expected at least 1 episode and 1 step, got {episodes} and {max_steps}")
    lanes = min(episodes, LANES if num_envs is None else num_envs)
    if isinstance(env, Env) or "episodes" in options or "autoreset_mode" in options:
        given = env if isinstance(env, Env) else sorted({"episodes", "autoreset_mode"} & set(options))
        raise InvalidType(
            f"evaluate: expected an id, a spec, a class or a function that makes an environment, got {shorten(given)}; "
            "each episode is begun by the evaluation, with a seed of its own"
        )
    name = spec_meant(env).id
    plan = DerivedEpisodes(name, seed, lanes)
    made = make_vec(env, lanes, autoreset_mode=AutoresetMode.SAME_STEP, episodes=plan, kwargs=kwargs, **options)
    with made as envs:
        play = _Play(envs, as_agent(agent), plan, episodes, max_steps)
        results = list[EpisodeResult]()
        for one in play.episodes_played():
            results.append(one)
            if progress is not None:
                progress(one)
    results.sort(key=lambda one: one.number)
    return Evaluation(name, seed, tuple(results))


class DerivedEpisodes(NamedTuple):
    """A plan of episodes: lane *i* of *n* plays those numbered *i*, *i + n*, *i + 2n* …, each with its derived seed."""

    name: str
    seed: int
    lanes: int

    def __call__(self, lane: int, number: int) -> Episode:
        return Episode(self.of(lane + number * self.lanes))

    def of(self, index: int, purpose: str = "environment") -> int:
        """The seed of an episode."""
        return derived_seed(self.name, self.seed, index, purpose)


class _Play:
    """Episodes in lanes, each of which is left alone when it has played its own."""

    def __init__(
        self, envs: VectorEnv[Any, Any], agent: Agent, plan: DerivedEpisodes, episodes: int, max_steps: int
    ) -> None:
        self.envs, self.plan, self.episodes, self.max_steps = envs, plan, episodes, max_steps
        self.agent = agent.prepare(envs.single_observation_space, envs.single_action_space, envs.num_envs)
        self.numbers = np.arange(envs.num_envs)
        self.totals = np.zeros(envs.num_envs)
        self.lengths = np.zeros(envs.num_envs, dtype=np.int64)

    def episodes_played(self) -> Iterator[EpisodeResult]:
        """Each as it ends."""
        envs = self.envs
        seeds: Any = [self._seed(lane) for lane in range(envs.num_envs)]
        observations, info = envs.reset(seed=seeds)
        for lane in range(envs.num_envs):
            self._begin(lane)
        active = np.ones(envs.num_envs, dtype=np.bool_)
        while active.any():
            actions = self.agent.act_batch(
                list(iterate(envs.observation_space, observations)), _by_lane(info, envs.num_envs), active
            )
            batch = concatenate(envs.single_action_space, actions)
            step = envs.step(batch) if active.all() else envs.step_masked(batch, active)
            observations, reward, terminated, truncated, info = step
            self.totals[active] += np.asarray(reward)[active]
            self.lengths[active] += 1
            ended = active & (np.asarray(terminated) | np.asarray(truncated))
            late = active & ~ended & (self.lengths >= self.max_steps)
            for lane in np.flatnonzero(ended | late):
                yield self._result(int(lane), step.terminated, step.truncated, info, bool(late[lane]))
            if late.any():
                observations, begun = envs.autoreset(late)
                info = joined(info_of(info, ~late), begun)
            for lane in np.flatnonzero(ended | late):
                active[lane] = self._next(int(lane))

    def _next(self, lane: int) -> bool:
        """Go on to the lane's next episode; whether there is one."""
        self.numbers[lane] += self.envs.num_envs
        self.totals[lane], self.lengths[lane] = 0.0, 0
        more = bool(self.numbers[lane] < self.episodes)
        if more:
            self._begin(lane)
        return more

    def _begin(self, lane: int) -> None:
        self.agent.begin(lane, self.plan.of(int(self.numbers[lane]), "agent"))

    def _seed(self, lane: int) -> int:
        return self.plan.of(int(self.numbers[lane]))

    def _result(self, lane: int, terminated: Any, truncated: Any, info: Info, late: bool) -> EpisodeResult:
        final = lane_info(info.get("final_info", {}), lane)
        return EpisodeResult(
            number=int(self.numbers[lane]),
            seed=self._seed(lane),
            total=float(self.totals[lane]),
            length=int(self.lengths[lane]),
            terminated=bool(terminated[lane]),
            truncated=bool(truncated[lane]) or late,
            outcome=_outcome(final),
        )


def _outcome(final: Info) -> Outcome | None:
    try:
        return Outcome.told(final.get("outcome"))
    except InvalidArgument as error:
        raise ContractViolation(f"info['outcome']: {error}") from error


def _by_lane(info: Info, num_envs: int) -> list[Info]:
    if not info:
        return [{}] * num_envs
    return [lane_info(info, lane) for lane in range(num_envs)]
