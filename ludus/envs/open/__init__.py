"""Environments of the open kind: typed actions and observations, tools, and worlds that language models act in."""

from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from ludus.envs.open.atari import Atari, AtariAction, AtariArrays, AtariObservation, AtariState
    from ludus.envs.open.browsergym import (
        BrowserAction,
        BrowserGym,
        BrowserGymAction,
        BrowserGymObservation,
        BrowserGymState,
    )
    from ludus.envs.open.chat import Chat, ChatAction, ChatObservation, ChatState
    from ludus.envs.open.coding import CodeAction, CodeObservation, CodeState, Coding
    from ludus.envs.open.connect4 import (
        Connect4,
        Connect4Action,
        Connect4Board,
        Connect4Observation,
        Connect4Players,
        Connect4State,
    )
    from ludus.envs.open.dipg_safety import DIPGAction, DIPGObservation, DIPGSafety, DIPGState
    from ludus.envs.open.echo import Echo, EchoAction, EchoObservation
    from ludus.envs.open.echo_tools import EchoTools
    from ludus.envs.open.finrl import FinRL, FinRLAction, FinRLMarket, FinRLObservation, FinRLState
    from ludus.envs.open.git import (
        Git,
        GitAction,
        GitObservation,
        GitState,
        clone_repo,
        execute_git_command,
        list_repos,
    )
    from ludus.envs.open.openspiel import (
        OpenSpiel,
        OpenSpielAction,
        OpenSpielArrays,
        OpenSpielObservation,
        OpenSpielState,
    )
    from ludus.envs.open.reasoning_gym import (
        ReasoningGym,
        ReasoningGymAction,
        ReasoningGymObservation,
        ReasoningGymState,
    )
    from ludus.envs.open.sumo import SumoAction, SumoObservation, SumoRL, SumoRLSignals, SumoState
    from ludus.envs.open.textarena import (
        TextArena,
        TextArenaAction,
        TextArenaMessage,
        TextArenaObservation,
        TextArenaState,
    )

# Loaded when used: whoever makes one of these environments needs none of the other eleven and their engines' adapters.
_HOME = {
    **dict.fromkeys(("Atari", "AtariAction", "AtariArrays", "AtariObservation", "AtariState"), "atari"),
    **dict.fromkeys(
        ("BrowserAction", "BrowserGym", "BrowserGymAction", "BrowserGymObservation", "BrowserGymState"), "browsergym"
    ),
    **dict.fromkeys(("Chat", "ChatAction", "ChatObservation", "ChatState"), "chat"),
    **dict.fromkeys(("CodeAction", "CodeObservation", "CodeState", "Coding"), "coding"),
    **dict.fromkeys(
        ("Connect4", "Connect4Action", "Connect4Board", "Connect4Observation", "Connect4Players", "Connect4State"),
        "connect4",
    ),
    **dict.fromkeys(("DIPGAction", "DIPGObservation", "DIPGSafety", "DIPGState"), "dipg_safety"),
    **dict.fromkeys(("Echo", "EchoAction", "EchoObservation"), "echo"),
    "EchoTools": "echo_tools",
    **dict.fromkeys(("FinRL", "FinRLAction", "FinRLMarket", "FinRLObservation", "FinRLState"), "finrl"),
    **dict.fromkeys(
        ("Git", "GitAction", "GitObservation", "GitState", "clone_repo", "execute_git_command", "list_repos"), "git"
    ),
    **dict.fromkeys(
        ("OpenSpiel", "OpenSpielAction", "OpenSpielArrays", "OpenSpielObservation", "OpenSpielState"), "openspiel"
    ),
    **dict.fromkeys(
        ("ReasoningGym", "ReasoningGymAction", "ReasoningGymObservation", "ReasoningGymState"), "reasoning_gym"
    ),
    **dict.fromkeys(("SumoAction", "SumoObservation", "SumoRL", "SumoRLSignals", "SumoState"), "sumo"),
    **dict.fromkeys(
        ("TextArena", "TextArenaAction", "TextArenaMessage", "TextArenaObservation", "TextArenaState"), "textarena"
    ),
}

__all__ = [
    "BrowserAction",
    "BrowserGym",
    "BrowserGymAction",
    "BrowserGymObservation",
    "BrowserGymState",
    "Atari",
    "AtariAction",
    "AtariArrays",
    "AtariObservation",
    "AtariState",
    "Chat",
    "ChatAction",
    "ChatObservation",
    "ChatState",
    "CodeAction",
    "CodeObservation",
    "CodeState",
    "Coding",
    "Connect4",
    "Connect4Action",
    "Connect4Board",
    "Connect4Observation",
    "Connect4Players",
    "Connect4State",
    "DIPGAction",
    "DIPGObservation",
    "DIPGSafety",
    "DIPGState",
    "Echo",
    "EchoAction",
    "EchoObservation",
    "EchoTools",
    "OpenSpiel",
    "OpenSpielAction",
    "OpenSpielArrays",
    "OpenSpielObservation",
    "OpenSpielState",
    "FinRL",
    "FinRLAction",
    "FinRLMarket",
    "FinRLObservation",
    "FinRLState",
    "ReasoningGym",
    "ReasoningGymAction",
    "ReasoningGymObservation",
    "ReasoningGymState",
    "SumoAction",
    "SumoObservation",
    "SumoRL",
    "SumoRLSignals",
    "SumoState",
    "Git",
    "GitAction",
    "GitObservation",
    "GitState",
    "TextArena",
    "TextArenaAction",
    "TextArenaMessage",
    "TextArenaObservation",
    "TextArenaState",
    "clone_repo",
    "execute_git_command",
    "list_repos",
]


def __getattr__(name: str) -> object:
    if name not in _HOME:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    found = getattr(import_module(f"{__name__}.{_HOME[name]}"), name)
    globals()[name] = found
    return found


def __dir__() -> list[str]:
    return sorted(__all__)
