"""TextArena: Wordle, GuessTheNumber, Hangman, Mastermind, Sudoku, Minesweeper, Countdown and chess, by messages."""

from ludus.envs.open.textarena.game import Game, Turn
from ludus.envs.open.textarena.textarena import (
    GAMES,
    TextArena,
    TextArenaAction,
    TextArenaMessage,
    TextArenaObservation,
    TextArenaState,
)

__all__ = [
    "GAMES",
    "Game",
    "TextArena",
    "TextArenaAction",
    "TextArenaMessage",
    "TextArenaObservation",
    "TextArenaState",
    "Turn",
]
