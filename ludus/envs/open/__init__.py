"""Environments of the open kind: typed actions and observations, tools, and worlds that language models act in."""

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

__all__ = [
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
    "TextArena",
    "TextArenaAction",
    "TextArenaMessage",
    "TextArenaObservation",
    "TextArenaState",
]
