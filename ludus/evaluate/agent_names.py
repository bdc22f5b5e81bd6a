"""Agents by name: a built-in one, an address, a file, `module:name`, or whatever else can be taken as an agent."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, TypeGuard

import numpy as np

from ludus.core import Info
from ludus.core.spec import load_entry_point
from ludus.errors import InvalidArgument, InvalidType, IsolationNeeded, listing, shorten
from ludus.evaluate.agents import (
    FILES,
    Agent,
    FunctionAgent,
    NopAgent,
    PolicyAgent,
    Predictor,
    RandomAgent,
    ScriptedAgent,
    is_predictor,
)
from ludus.registry.trust import required_before_import
from ludus.spaces.kinds import is_array, is_list_or_tuple

__all__ = ["AGENTS", "AgentLike", "agent_name", "as_agent"]

AGENTS: dict[str, type[Agent]] = {"random": RandomAgent, "nop": NopAgent}
"""By name, as the command line takes them."""
SEARCH = ("one-step", "mcts")
"""The same for those that are loaded when they are asked for."""
AgentLike = (
    Agent | type[Agent] | str | Predictor | Callable[[Any], object] | Callable[[Any, Info], object] | Sequence[object]
)
"""An agent, its class, its name, what predicts, a function of the observation (and the info), or actions in turn."""


def as_agent(agent: object) -> Agent:
    """An `Agent`, whatever it is given as: one, a class of them, a name, `module:name`, a function, a policy, actions.

    >>> type(as_agent("random")).__name__, type(as_agent([0, 1])).__name__, type(as_agent(lambda seen: 0)).__name__
    ('RandomAgent', 'ScriptedAgent', 'FunctionAgent')
    """
    if isinstance(agent, str):
        return as_agent(_named(agent))
    if isinstance(agent, type):
        return as_agent(agent())
    if _is_agent(agent):
        return agent
    if is_predictor(agent):
        return PolicyAgent(agent)
    if callable(agent):
        return FunctionAgent(agent)
    if is_list_or_tuple(agent) or is_array(agent):
        return ScriptedAgent(list[object](agent))
    raise InvalidType(
        "agent: expected an Agent, a function of the observation, an object with predict, a list of actions or a name, "
        f"got {shorten(agent)}"
    )


def _is_agent(agent: object) -> TypeGuard[Agent]:
    return isinstance(agent, Agent)


def _named(agent: str) -> object:
    """What a text names: a built-in agent, an address, a file, or `module:name`."""
    if agent in AGENTS:
        return AGENTS[agent]
    if agent in SEARCH:
        from ludus.evaluate.search import MctsAgent, OneStepAgent  # with what searches, where it is asked for

        return OneStepAgent if agent == "one-step" else MctsAgent
    if agent.startswith(("http://", "https://")):
        from ludus.evaluate.http_agent import HttpAgent  # with what speaks HTTP, where it is asked for

        return HttpAgent(agent)
    if agent.partition(":")[0].endswith(FILES):
        from ludus.evaluate.file_agent import FileAgent  # with the sandbox that it runs in, where it is asked for

        return FileAgent(agent)
    if ":" not in agent:
        raise InvalidArgument(
            f"agent: expected {listing([*AGENTS, *SEARCH])}, module:name, http://… or a file ({listing(FILES)}), got "
            f"{agent!r}"
        )
    needs = required_before_import(agent)
    if needs.isolation != "none":
        raise IsolationNeeded(
            f"agent {agent!r}: expected code that may run in this process, got {', '.join(needs.reasons)}; trust its "
            "package by its name, serve it (http://…), or give a file of weights, which runs in a sandbox"
        )
    return load_entry_point(agent)


def agent_name(agent: object) -> str:
    """What an agent is called in results: the name it was given as, its own `name`, or that of its class or function.

    >>> agent_name("random"), agent_name(RandomAgent), agent_name([0, 1])
    ('random', 'RandomAgent', 'ScriptedAgent')
    """
    if isinstance(agent, str):
        return agent
    if isinstance(agent, list | tuple | np.ndarray):
        return ScriptedAgent.__name__
    own = getattr(agent, "name", None)
    return own if isinstance(own, str) else str(getattr(agent, "__qualname__", type(agent).__qualname__))
