"""Connect Four: rules that compile, boards as arrays, the typed game in OpenEnv's words, and policies to try it."""

from ludus.envs.open.connect4.board import Connect4Board, Connect4Players
from ludus.envs.open.connect4.connect4 import Connect4, Connect4Action, Connect4Observation, Connect4State

__all__ = ["Connect4", "Connect4Action", "Connect4Board", "Connect4Observation", "Connect4Players", "Connect4State"]
