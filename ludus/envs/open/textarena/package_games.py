"""Games of the package `textarena`: which run here, with how many players; which cannot, and why."""

import sys

__all__ = ["CANNOT", "PLAYERS"]

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
SimpleBlindAuction SimpleNegotiation SimpleTak Snake SpellingBee SpiteAndMalice Stratego Surround TicTacToe
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
    "Klondike": "its source is no Python",
    "Debate": MODEL,
    "GuessWho": MODEL,
    "ScenarioPlanning": MODEL,
    "TwentyQuestions": MODEL,
    "ScorableGames": FILES,
    "UsedCarNegotiation": FILES,
    "BabyAiText": "the packages that it needs are none of textarena's own",
    "CharacterConclave": "its own code fails at the first move",
    "Tak": "its own code fails where somebody has won",
    "UsedCar": "its module is not in the package",
}
"""Why, by base name."""
SINCE_PYTHON_3_12 = {"Checkers": 2, "IteratedStagHunt": 2, "ReverseTicTacToe": 2, "UltimateTexasHoldem": 1}
"""Players. The package's `Chess` needs it too, beside which there is our own."""
if sys.version_info >= (3, 12):
    PLAYERS.update(SINCE_PYTHON_3_12, Chess=2)
else:
    CANNOT.update(dict.fromkeys(SINCE_PYTHON_3_12, NEWER))
