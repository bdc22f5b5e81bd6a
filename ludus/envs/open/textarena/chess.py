"""Chess in text: moves from square to square, against an opponent or with both sides by the caller."""

from typing import ClassVar

import numpy as np

from ludus.envs.open.textarena.chess_rules import START, ChessPosition, Move, square_name
from ludus.envs.open.textarena.game import Cell, Game, Turn, move_in
from ludus.errors import InvalidArgument
from ludus.rendering import Choice, choice

__all__ = ["Chess"]

WORTH = {"p": 1, "n": 3, "b": 3, "r": 5, "q": 9, "k": 0, ".": 0}
OPPONENTS = ("random", "greedy", "none")
MATE = 1000


def written(move: Move) -> str:
    """A move as engines write it."""
    return f"{square_name(move[0])}{square_name(move[1])}{move[2]}"


def _place(square: int) -> tuple[float, float, float, float]:
    """Where a square is in the picture."""
    return square % 8 / 8, (7 - square // 8) / 8, 1 / 8, 1 / 8


def material(position: ChessPosition) -> int:
    """What the side to move has more than the other."""
    total = sum(WORTH[piece.lower()] * (1 if piece.isupper() else -1) for piece in position.board)
    return total if position.white else -total


def greedy_move(position: ChessPosition, rng: np.random.Generator) -> Move:
    """Mate in one, else what takes most and is not taken back for more; drawn among equals."""
    scored: list[tuple[int, Move]] = []
    for move in position.moves():
        after = position.after(move)
        replies = after.moves()
        if not replies:
            scored.append((MATE if after.in_check() else 0, move))
            continue
        loss = max(WORTH[after.board[reply[1]].lower()] for reply in replies)
        scored.append((-material(after) - loss, move))
    best = max(score for score, _ in scored)
    equal = [move for score, move in scored if score == best]
    return equal[int(rng.integers(len(equal)))]


class Chess(Game):
    """White is the agent's; Black draws its moves, or takes what it can, or is the caller's too."""

    settings: ClassVar[dict[str, object]] = {"opponent": "random", "max_turns": 100, "fen": START}
    players: ClassVar[int] = 2
    chessmen: ClassVar[bool] = True

    def begin(self) -> None:
        """Set the pieces up."""
        if self.set["opponent"] not in OPPONENTS:
            raise InvalidArgument(f"Chess opponent: expected one of {list(OPPONENTS)}, got {self.set['opponent']!r}")
        try:
            self.position = ChessPosition.of(self.set["fen"])
            self.position.moves()
        except (ValueError, IndexError, KeyError):
            raise InvalidArgument(f"Chess fen: expected a position, got {self.set['fen']!r}") from None
        self.turns = 0
        self.last = ""

    @property
    def player(self) -> int:  # pyright: ignore[reportIncompatibleVariableOverride]
        """0 for White, 1 for Black."""
        return 0 if self.position.white else 1

    def prompt(self) -> str:
        """The rules."""
        side = "both sides in turn" if self.set["opponent"] == "none" else "White"
        return (
            f"You are playing chess, {side}. Write a move as the squares it leads from and to, in square brackets, "
            f"like [e2e4], or [e7e8q] for a pawn that becomes a queen. The game is a draw after "
            f"{self.set['max_turns']} moves of yours."
        )

    def board(self) -> str:
        """The board with White below, and the position as a line."""
        rows = [f"{rank + 1} {' '.join(self.position.board[8 * rank : 8 * rank + 8])}" for rank in range(7, -1, -1)]
        last = f"\nlast move: {self.last}" if self.last else ""
        return "\n".join([*rows, "  a b c d e f g h"]) + f"{last}\n{self.position.fen()}"

    def cells(self) -> list[list[Cell]]:
        """Light and dark squares with the letters of the pieces, White's in capitals."""
        board = self.position.board
        return [
            [
                (
                    board[8 * rank + file].strip("."),
                    "#d9c9a8" if (rank + file) % 2 else "#a07c55",
                    "#ffffff" if board[8 * rank + file].isupper() else "#1b1b1b",
                )
                for file in range(8)
            ]
            for rank in range(7, -1, -1)
        ]

    def choices(self) -> list[Choice]:
        """A click on a piece and one on where it goes; White is below."""
        return [
            choice(written(move), {"message": f"[{written(move)}]"}, places=[_place(move[0]), _place(move[1])])
            for move in self.position.moves()
        ]

    def play(self, message: str) -> Turn:
        """Move, and let the opponent answer."""
        text = (move_in(message) or "").lower().replace("-", "").replace(" ", "")
        if (
            not 4 <= len(text) <= 5
            or text[0] not in "abcdefgh"
            or text[2] not in "abcdefgh"
            or not (text[1] + text[3]).isdigit()
        ):
            return Turn.unreadable("[e2e4]")
        chosen = [move for move in self.position.moves() if written(move) == text]
        if not chosen:
            return Turn.illegal(f"{text} is no legal move here.")
        self.turns += 1
        ended = self._moved(chosen[0])
        if ended:
            return self._end(ended, by_agent=True)
        if self.set["opponent"] != "none":
            ended = self._moved(self._answer())
            if ended:
                return self._end(ended, by_agent=False)
        if self.turns >= self.set["max_turns"]:
            return Turn.loss("A draw: the moves are used up.")
        check = " Check." if self.position.in_check() else ""
        return Turn(f"Played {text}; {self.last} was the last move.{check}")

    def _moved(self, move: Move) -> str:
        self.last = written(move)
        self.position = self.position.after(move)
        return self.position.ending()

    def _answer(self) -> Move:
        if self.set["opponent"] == "greedy":
            return greedy_move(self.position, self.rng)
        moves = self.position.moves()
        return moves[int(self.rng.integers(len(moves)))]

    def _end(self, ended: str, by_agent: bool) -> Turn:
        if ended != "checkmate":
            return Turn.loss(f"A draw: {ended}.")
        return (
            Turn.win(f"{self.last}, checkmate. You win.")
            if by_agent
            else Turn.loss(f"{self.last}, checkmate. You lose.", -1.0)
        )

    def oracle(self, rng: np.random.Generator) -> str:
        """What takes most; with much more than the other, what leaves the king the fewest moves, and no stalemate."""
        if material(self.position) < 9:
            return f"[{written(greedy_move(self.position, rng))}]"
        scored = [(self._pressure(self.position.after(move)), move) for move in self.position.moves()]
        best = max(score for score, _ in scored)
        equal = [move for score, move in scored if score == best]
        return f"[{written(equal[int(rng.integers(len(equal)))])}]"

    def _pressure(self, after: ChessPosition) -> float:
        replies = after.moves()
        if not replies:
            return MATE if after.in_check() else -MATE
        if after.seen.get(after.key(), 0) > 1:
            return -MATE / 2
        loss = max(WORTH[after.board[reply[1]].lower()] for reply in replies)
        king = after.board.index("K" if after.white else "k")
        own = "QR" if not after.white else "qr"
        near = sum(
            max(abs(king % 8 - at % 8), abs(king // 8 - at // 8))
            for at, one in enumerate(after.board)
            if one in own + "Kk"
        )
        pawns = sum(at // 8 for at, one in enumerate(after.board) if one == "P") if not after.white else 0
        return -5.0 * material(after) - 10.0 * loss - len(replies) - 0.3 * near + 0.3 * pawns

    def random(self, rng: np.random.Generator) -> str:
        """Any legal move."""
        moves = self.position.moves()
        return f"[{written(moves[int(rng.integers(len(moves)))])}]"
