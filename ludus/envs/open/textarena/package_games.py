"""Games of the package `textarena`: which run here, with how many players; which cannot and why; moves of some."""

from collections.abc import Callable
from typing import Any

__all__ = ["CANNOT", "MOVES", "PLAYERS"]

ALONE = """
2048 Bandit Blackjack Countdown Crosswords Cryptarithm FifteenPuzzle FrozenLake GuessTheNumber Hangman LightsOut
LogicPuzzle Mastermind Minesweeper PegJump RushHour Secretary Set Slitherlink Sokoban Sudoku ThreeCardMonte
TowerOfHanoi WordLadder WordSearch Wordle
"""
OF_TWO = """
Alquerque Battleship Breakthrough Briscola Chopsticks ColonelBlotto ConnectFour Crusade DontSayIt GameOfPureStrategy
GermanWhist Golf HighSociety IndianPoker IteratedMatchingPennies IteratedPrisonersDilemma IteratedRockPaperScissors
IteratedTwoThirdsAverage IteratedUltimatumGame KuhnPoker LetterAuction LiarsDice LinesOfAction MarketEntryGame
MemoryGame NewRecruit Nim Othello PigDice Poker PublicGoodsGame QuantumTicTacToe SantoriniBaseFixed
SimpleBlindAuction SimpleNegotiation SimpleTak Snake SpellingBee SpiteAndMalice Stratego Surround Tak TicTacToe
TruthAndDeception TwoDollar UltimateTicTacToe WildTicTacToe WordChains
"""
OF_MORE = {
    "Codenames": 4,
    "SecretMafia": 6,
    "SettlersOfCatan": 4,
    "Taboo": 4,
    "ThreePlayerGOPS": 3,
    "ThreePlayerIPD": 3,
    "ThreePlayerTicTacToe": 3,
}
PLAYERS: dict[str, int] = dict.fromkeys(ALONE.split(), 1) | dict.fromkeys(OF_TWO.split(), 2) | OF_MORE
"""Players by base name, as few as the game takes."""

NEWER = "its source needs Python 3.12 or later"
MODEL = "a language model at OpenRouter is part of it, which needs a key and the network"
FILES = "files that it reads are not in the package"
CANNOT: dict[str, str] = {
    "Checkers": NEWER,
    "IteratedStagHunt": NEWER,
    "ReverseTicTacToe": NEWER,
    "UltimateTexasHoldem": NEWER,
    "Klondike": "its source is no Python",
    "Debate": MODEL,
    "GuessWho": MODEL,
    "ScenarioPlanning": MODEL,
    "TwentyQuestions": MODEL,
    "ScorableGames": FILES,
    "UsedCarNegotiation": FILES,
    "BabyAiText": "the packages that it needs are none of textarena's own",
    "CharacterConclave": "its own code fails at the first move",
    "UsedCar": "its module is not in the package",
}
"""Why, by base name. `Chess` is our own; the package's needs Python 3.12."""


def fixed(*moves: str) -> Callable[[Any], list[str]]:
    """Always these."""
    return lambda _: list(moves)


MOVES: dict[str, Callable[[Any], list[str]]] = {
    "IteratedMatchingPennies": fixed("[heads]", "[tails]"),
    "IteratedRockPaperScissors": fixed("[rock]", "[paper]", "[scissors]"),
    "IteratedPrisonersDilemma": fixed("[cooperate]", "[defect]"),
    "ThreePlayerIPD": fixed("[1 cooperate] [2 defect]", "[0 defect] [2 cooperate]", "[0 cooperate] [1 cooperate]"),
    "IteratedTwoThirdsAverage": lambda _: [f"[{number}]" for number in range(0, 101, 5)],
    "ConnectFour": lambda _: [f"[col {number}]" for number in range(7)],
    "Nim": lambda _: [f"[{pile} {count}]" for pile in range(3) for count in range(1, 4)],
    "Snake": fixed("[up]", "[down]", "[left]", "[right]"),
    "Surround": fixed("[up]", "[down]", "[left]", "[right]"),
    "Chopsticks": fixed("[attack L L]", "[attack L R]", "[attack R L]", "[attack R R]"),
    "GameOfPureStrategy": lambda _: [f"[{card}]" for card in (*range(2, 11), "J", "Q", "K", "A")],
    "ThreePlayerGOPS": lambda _: [f"[{card}]" for card in (*range(2, 11), "J", "Q", "K", "A")],
}
"""Moves of games that do not list them; not all are legal at any time."""
