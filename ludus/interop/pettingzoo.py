"""PettingZoo: environments of several players in its two shapes, agents in turn and agents at once.

PettingZoo itself is opened when a view is asked for. The views of this module are whole without it, so that a program
which only drives them needs it no more than they do.
"""

import warnings
from collections.abc import Iterable
from importlib import import_module
from typing import Any, NamedTuple, Self

from ludus.core import Info, Step
from ludus.core.env import AnyEnv
from ludus.core.options import Options
from ludus.core.outcome import OUTCOME
from ludus.errors import InvalidAction, InvalidArgument, InvalidType, MissingExtra, ResetNeeded, listing, shorten
from ludus.interop.gymnasium_spaces import space_to_gymnasium
from ludus.kernels import RuleEnv
from ludus.spaces import Space, Tuple

__all__ = ["InTurn", "Together", "to_aec", "to_parallel"]


def to_aec(env: AnyEnv) -> Any:
    """An environment whose players move in turn, as PettingZoo's `AECEnv`; raises MissingExtra without PettingZoo."""
    return _as("AECEnv", InTurn, env)


def to_parallel(env: AnyEnv) -> Any:
    """An environment whose players move at once, as PettingZoo's `ParallelEnv`; raises MissingExtra without it."""
    return _as("ParallelEnv", Together, env)


def _as(name: str, view: type["_View"], env: AnyEnv) -> Any:
    try:
        theirs: Any = getattr(import_module("pettingzoo"), name)
    except ModuleNotFoundError as error:
        raise MissingExtra(
            'ludus.interop.pettingzoo: expected the package pettingzoo, got none; pip install "ludus-rl[pettingzoo]"',
            name="pettingzoo",
        ) from error
    return type(f"{view.__name__}{name}", (view, theirs), {})(env)


class _Players(NamedTuple):
    """Their names, and how they move."""

    names: list[str]
    in_turn: bool
    asked_in_turn: bool
    """Whether a step takes one player's action: also where moves are made at once, but players are asked one by one."""


def _players_of(env: AnyEnv, view: str) -> _Players:
    """Of rules, of a game that says who sits at it (OpenSpiel), or of agents with names (SUMO)."""
    bare: Any = env.unwrapped
    named = getattr(bare, "possible_agents", None)
    if named is not None and not env.batch_shape and isinstance(env.action_space, Tuple):
        return _Players(list(named), in_turn=False, asked_in_turn=False)
    if env.batch_shape or not (isinstance(bare, RuleEnv) or hasattr(bare, "plays_all_seats")):
        raise InvalidType(f"{view}: expected one environment made of rules, or a game of several, got {shorten(env)}")
    if isinstance(bare, RuleEnv):
        rules = bare.rules
        if rules.players == 1 or rules.opponent is not None:
            raise InvalidArgument(f"{view}: expected rules of several players, got those of {bare}")
        return _Players(_numbered(rules.players), rules.turn is not None, rules.turn is not None)
    if not bare.plays_all_seats:
        raise InvalidArgument(
            f'{view}: expected every seat to be the caller\'s, got {bare}; make it with opponent="none"'
        )
    return _Players(_numbered(bare.num_players), not bare.moves_at_once, True)


def _numbered(count: int) -> list[str]:
    return [f"player_{number}" for number in range(count)]


class _View:
    """What both shapes have: agents with names and spaces, around an environment."""

    def __init__(self, env: AnyEnv) -> None:
        players = self._players = _players_of(env, type(self).__name__)
        bare: Any = env.unwrapped
        self.env, self._bare = env, bare
        self.possible_agents = players.names
        self.agents: list[str] = []
        self.render_mode = env.render_mode
        self.observation_spaces = self._spaces(env.observation_space)
        self.action_spaces = self._spaces(env.action_space)
        self.metadata = {**env.metadata, "name": type(bare).__name__, "is_parallelizable": not players.in_turn}

    def _spaces(self, space: Space[object]) -> dict[str, Any]:
        each = space.spaces if not self._players.asked_in_turn and isinstance(space, Tuple) else [space]
        parts = each if len(each) > 1 else list(each) * len(self.possible_agents)
        if len(parts) != len(self.possible_agents):
            raise InvalidArgument(f"expected a space for each of {len(self.possible_agents)} players, got {space!r}")
        return {agent: space_to_gymnasium(part) for agent, part in zip(self.possible_agents, parts, strict=True)}

    @property
    def unwrapped(self) -> Self:
        """The view itself: PettingZoo's wrappers look for it."""
        return self

    @property
    def num_agents(self) -> int:
        """How many agents are left."""
        return len(self.agents)

    @property
    def max_num_agents(self) -> int:
        """How many agents there are."""
        return len(self.possible_agents)

    def observation_space(self, agent: str) -> Any:
        """What an agent sees; always the same object."""
        return self.observation_spaces[agent]

    def action_space(self, agent: str) -> Any:
        """What an agent may do; always the same object."""
        return self.action_spaces[agent]

    def render(self) -> Any:
        """The environment's picture."""
        return self.env.render()

    def close(self) -> None:
        """Close the environment."""
        self.env.close()

    def _known(self, options: Options | None) -> Options | None:
        """Of the options of a reset, those that the rules take.

        Others are left out with a warning, and no error: PettingZoo's programs hand on what no game knows, and so do
        its checks.
        """
        bare = self._bare
        if not options or not isinstance(bare, RuleEnv) or type(bare).reset_params is not RuleEnv.reset_params:
            return options
        taken: tuple[str, ...] = () if bare.rules.options is None else bare.rules.options._fields
        unknown = [name for name in options if name not in taken]
        if unknown:
            expected = f"one of {listing(taken)}" if taken else "none"
            warnings.warn(
                f"options of {type(bare).__name__}: expected {expected}, got {listing(unknown)}, left out", stacklevel=3
            )
        return {name: one for name, one in options.items() if name in taken} or None

    def _seen_by(self, agent: str) -> object:
        return self._bare.observation_of(self.possible_agents.index(agent))


class InTurn(_View):
    """Agents that move one after another, as PettingZoo's agent-environment cycle has them.

    `infos` of the agent to move holds what the environment told, its `action_mask` among it; how the game ended is
    told to all of them.
    """

    def __init__(self, env: AnyEnv) -> None:
        super().__init__(env)
        if not self._players.asked_in_turn:
            raise InvalidArgument("InTurn: expected rules with `turn`, got none; see Together and to_parallel")
        self.agent_selection: str = self.possible_agents[0]

    def reset(self, seed: int | None = None, options: Options | None = None) -> None:
        """Begin a game; whose turn it is, is `agent_selection`."""
        _, info = self.env.reset(seed=seed, options=self._known(options))
        self.agents = list(self.possible_agents)
        self.rewards = dict.fromkeys(self.agents, 0.0)
        self._cumulative_rewards = dict.fromkeys(self.agents, 0.0)
        self.terminations = dict.fromkeys(self.agents, False)
        self.truncations = dict.fromkeys(self.agents, False)
        self._select(info)

    def step(self, action: object) -> None:
        """Move the agent whose turn it is; one whose game is over takes None, and leaves."""
        agent = self.agent_selection
        if self.terminations[agent] or self.truncations[agent]:
            self._leave(agent, action)
            return
        step = self.env.step(action)
        self._cumulative_rewards[agent] = 0.0
        for number, one in enumerate(self.agents):
            self.rewards[one] = float(step.info["rewards"][number])
            self._cumulative_rewards[one] += self.rewards[one]
            self.terminations[one], self.truncations[one] = bool(step.terminated), bool(step.truncated)
        self._select(step.info)

    def observe(self, agent: str) -> object:
        """What an agent sees now, whether it is its turn or not."""
        return self._seen_by(agent)

    def last(self, observe: bool = True) -> tuple[object, float, bool, bool, Info]:
        """Observation, reward since its last move, both flags and info of the agent to move."""
        agent = self.agent_selection
        seen = self.observe(agent) if observe else None
        flags = self.terminations[agent], self.truncations[agent]
        return seen, self._cumulative_rewards[agent], *flags, self.infos[agent]

    def _select(self, info: Info) -> None:
        turn: int = info["turn"]
        self.agent_selection = self.possible_agents[turn]
        told = {OUTCOME: info[OUTCOME]} if OUTCOME in info else {}
        self.infos: dict[str, Info] = {agent: dict(told) for agent in self.agents}
        self.infos[self.agent_selection] = {name: one for name, one in info.items() if name not in ("turn", "rewards")}

    def _leave(self, agent: str, action: object) -> None:
        if action is not None:
            raise ValueError(f"step: expected None of {agent}, whose game is over, got {shorten(action)}")
        self.agents.remove(agent)
        for table in (self.rewards, self._cumulative_rewards, self.terminations, self.truncations, self.infos):
            del table[agent]
        self.rewards = dict.fromkeys(self.agents, 0.0)
        if self.agents:
            self.agent_selection = self.agents[0]


class Together(_View):
    """Agents that move all at once, as PettingZoo's parallel environments have them: a dictionary of everything."""

    def __init__(self, env: AnyEnv) -> None:
        super().__init__(env)
        if self._players.in_turn:
            raise InvalidArgument("Together: expected rules without `turn`, got some; see InTurn and to_aec")

    def reset(
        self, seed: int | None = None, options: Options | None = None
    ) -> tuple[dict[str, object], dict[str, Info]]:
        """Begin a game: observations and infos of every agent."""
        observations, info = self.env.reset(seed=seed, options=self._known(options))
        self.agents = list(self.possible_agents)
        self._turn = info.get("turn", 0)
        return self._seen(observations), {agent: self._told(agent, info) for agent in self.agents}

    def step(
        self, actions: dict[str, Any]
    ) -> tuple[dict[str, object], dict[str, float], dict[str, bool], dict[str, bool], dict[str, Info]]:
        """Move every agent: observations, rewards, terminations, truncations and infos."""
        agents = self.agents
        if not agents:
            raise ResetNeeded("step: expected reset() first, got a game without agents: not begun, or over")
        if actions.keys() != set(agents):
            got = listing(actions) or "none"
            raise InvalidAction(f"step: expected an action of each of {listing(agents)}, got {got}")
        step = self._stepped(actions)
        rewards = [float(one) for one in step.info["rewards"]]
        seen, told = self._seen(step.observation), {agent: self._told(agent, step.info) for agent in agents}
        if step.terminated or step.truncated:
            self.agents = []
        return (
            seen,
            dict(zip(agents, rewards, strict=True)),
            dict.fromkeys(agents, bool(step.terminated)),
            dict.fromkeys(agents, bool(step.truncated)),
            told,
        )

    def _stepped(self, actions: dict[str, Any]) -> Step[Any]:
        """All moves in one step, or one player's after another's until the last of them makes them all."""
        if not self._players.asked_in_turn:
            return self.env.step(tuple(actions[agent] for agent in self.possible_agents))
        self._check_legal(actions)
        while True:
            step = self.env.step(actions[self.possible_agents[self._turn]])
            self._turn = step.info["turn"]
            if step.done or not self._bare.waits_for_others:
                return step

    def _check_legal(self, actions: dict[str, Any]) -> None:
        """Before any is made, since none can be taken back."""
        for number, agent in enumerate(self.possible_agents):
            mask = self._bare.mask_of(number)
            if mask.any() and self._bare.action_space.contains(actions[agent]) and not mask[actions[agent]]:
                raise InvalidAction(
                    f"step: expected a legal action of {agent}, got {shorten(actions[agent])}; see its action_mask"
                )

    def _seen(self, observations: Iterable[object]) -> dict[str, object]:
        if self._players.asked_in_turn:
            return {agent: self._seen_by(agent) for agent in self.agents}
        return dict(zip(self.agents, observations, strict=True))

    def _told(self, agent: str, info: Info) -> Info:
        told = {name: one for name, one in info.items() if name not in ("rewards", "turn")}
        if self._players.asked_in_turn:
            told["action_mask"] = self._bare.mask_of(self.possible_agents.index(agent))
        return told
