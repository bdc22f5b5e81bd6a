"""The rules of chess: positions, legal moves, and how a game ends. Squares are numbered from a1, 0, to h8, 63."""

from dataclasses import dataclass, field

__all__ = ["START", "ChessPosition", "perft"]

START = "rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR w KQkq - 0 1"
KNIGHT = ((1, 2), (2, 1), (2, -1), (1, -2), (-1, -2), (-2, -1), (-2, 1), (-1, 2))
STRAIGHT = ((0, 1), (1, 0), (0, -1), (-1, 0))
SLANTED = ((1, 1), (1, -1), (-1, -1), (-1, 1))
SLIDES = {"b": SLANTED, "r": STRAIGHT, "q": STRAIGHT + SLANTED}
ROOKS = {0: "Q", 7: "K", 56: "q", 63: "k"}
NONE = -1
Move = tuple[int, int, str]
"""From, to, and the piece that a pawn becomes, or nothing."""


def square_name(square: int) -> str:
    """A square as everybody writes it."""
    return "abcdefgh"[square % 8] + str(square // 8 + 1)


@dataclass
class ChessPosition:
    """A position, with all that decides what is legal.

    >>> len(ChessPosition.of(START).moves())
    20
    """

    board: list[str]
    """64 pieces, capitals for White, dots for empty squares."""
    white: bool = True
    castling: str = "KQkq"
    en_passant: int = NONE
    quiet: int = 0
    """Moves of either side since a pawn moved or a piece was taken."""
    number: int = 1
    seen: dict[str, int] = field(default_factory=dict[str, int])
    """How often each position was there."""

    @classmethod
    def of(cls, fen: str) -> "ChessPosition":
        """The position of a line in Forsyth-Edwards notation."""
        rows, side, castling, target, quiet, number = fen.split()
        board = [
            sign
            for row in reversed(rows.split("/"))
            for sign in "".join("." * int(one) if one.isdigit() else one for one in row)
        ]
        en_passant = NONE if target == "-" else "abcdefgh".index(target[0]) + 8 * (int(target[1]) - 1)
        position = cls(board, side == "w", castling.replace("-", ""), en_passant, int(quiet), int(number))
        position.seen = {position.key(): 1}
        return position

    def key(self) -> str:
        """What makes two positions the same."""
        return f"{''.join(self.board)} {self.white} {self.castling} {self.en_passant}"

    def fen(self) -> str:
        """The position as a line."""
        rows: list[str] = []
        for rank in range(7, -1, -1):
            text = "".join(self.board[8 * rank : 8 * rank + 8])
            for size in range(8, 0, -1):
                text = text.replace("." * size, str(size))
            rows.append(text)
        target = "-" if self.en_passant == NONE else square_name(self.en_passant)
        side = "w" if self.white else "b"
        return f"{'/'.join(rows)} {side} {self.castling or '-'} {target} {self.quiet} {self.number}"

    # --- moves ---

    def moves(self) -> list[Move]:
        """All legal moves."""
        return [move for move in self._candidates() if not self._leaves_check(move)]

    def _leaves_check(self, move: Move) -> bool:
        after = self._placed(move)
        return attacked(after, after.index("K" if self.white else "k"), not self.white)

    def in_check(self) -> bool:
        """Whether the king of the side to move is attacked."""
        return attacked(self.board, self.board.index("K" if self.white else "k"), not self.white)

    def _candidates(self) -> list[Move]:
        found: list[Move] = []
        for square, piece in enumerate(self.board):
            if piece == "." or piece.isupper() != self.white:
                continue
            kind = piece.lower()
            if kind == "p":
                found += self._pawn(square)
            elif kind in SLIDES:
                found += [(square, to, "") for to in self._slid(square, SLIDES[kind])]
            else:
                found += [(square, to, "") for to in self._jumped(square, KNIGHT if kind == "n" else SLIDES["q"])]
                found += self._castles(square) if kind == "k" else []
        return found

    def _is_own(self, square: int) -> bool:
        return self.board[square] != "." and self.board[square].isupper() == self.white

    def _jumped(self, square: int, steps: tuple[tuple[int, int], ...]) -> list[int]:
        places = (shifted(square, *step) for step in steps)
        return [place for place in places if place != NONE and not self._is_own(place)]

    def _slid(self, square: int, steps: tuple[tuple[int, int], ...]) -> list[int]:
        found: list[int] = []
        for step in steps:
            place = shifted(square, *step)
            while place != NONE and not self._is_own(place):
                found.append(place)
                if self.board[place] != ".":
                    break
                place = shifted(place, *step)
        return found

    def _pawn(self, square: int) -> list[Move]:
        up, home = (1, 1) if self.white else (-1, 6)
        found: list[int] = []
        ahead = square + 8 * up
        if self.board[ahead] == ".":
            found.append(ahead)
            if square // 8 == home and self.board[ahead + 8 * up] == ".":
                found.append(ahead + 8 * up)
        for side in (-1, 1):
            place = shifted(square, side, up)
            if place != NONE and (place == self.en_passant or (self.board[place] != "." and not self._is_own(place))):
                found.append(place)
        return [(square, to, kind) for to in found for kind in ("qrbn" if to // 8 in (0, 7) else ("",))]

    def _castles(self, square: int) -> list[Move]:
        home = 4 if self.white else 60
        if square != home or attacked(self.board, home, not self.white):
            return []
        found: list[Move] = []
        for right, side, length in (("K", 1, 2), ("Q", -1, 3)):
            allowed = (right if self.white else right.lower()) in self.castling
            way = [home + side * at for at in range(1, length + 1)]
            free = allowed and all(self.board[place] == "." for place in way)
            if free and not any(attacked(self.board, place, not self.white) for place in way[:2]):
                found.append((home, home + 2 * side, ""))
        return found

    # --- a move made ---

    def _placed(self, move: Move) -> list[str]:
        start, to, kind = move
        board = list(self.board)
        piece, board[start] = board[start], "."
        if piece in "pP" and to == self.en_passant:
            board[to - (8 if self.white else -8)] = "."
        if piece in "kK" and abs(to - start) == 2:
            rook, place = (to + 1, to - 1) if to > start else (to - 2, to + 1)
            board[place], board[rook] = board[rook], "."
        board[to] = (kind.upper() if self.white else kind) if kind else piece
        return board

    def after(self, move: Move) -> "ChessPosition":
        """The position after a legal move."""
        start, to, _ = move
        piece, taken = self.board[start], self.board[to] != "."
        lost = ROOKS.get(start, "") + ROOKS.get(to, "") + {"K": "KQ", "k": "kq"}.get(piece, "")
        castling = "".join(right for right in self.castling if right not in lost)
        double = piece in "pP" and abs(to - start) == 16
        quiet = 0 if taken or piece in "pP" else self.quiet + 1
        position = ChessPosition(
            self._placed(move), not self.white, castling, (start + to) // 2 if double else NONE, quiet,
            self.number + (not self.white), {} if quiet == 0 else dict(self.seen),
        )  # fmt: skip
        key = position.key()
        position.seen[key] = position.seen.get(key, 0) + 1
        return position

    def ending(self) -> str:
        """How the game has ended: checkmate, stalemate or the rule of a draw; nothing while it goes on."""
        if not self.moves():
            return "checkmate" if self.in_check() else "stalemate"
        if self.quiet >= 100:
            return "fifty moves without a pawn's move or a capture"
        if self.seen.get(self.key(), 0) >= 3:
            return "the same position three times"
        pieces = sorted(piece.lower() for piece in self.board if piece != ".")
        return "too few pieces to win" if pieces in (["k", "k"], ["b", "k", "k"], ["k", "k", "n"]) else ""


def shifted(square: int, right: int, up: int) -> int:
    """A square some files and ranks away; -1 outside the board."""
    column, row = square % 8 + right, square // 8 + up
    return row * 8 + column if 0 <= column < 8 and 0 <= row < 8 else NONE


def attacked(board: list[str], square: int, by_white: bool) -> bool:
    """Whether a side attacks a square."""

    def is_piece(place: int, kinds: str) -> bool:
        return place != NONE and board[place] in (kinds.upper() if by_white else kinds)

    if any(is_piece(shifted(square, side, -1 if by_white else 1), "p") for side in (-1, 1)):
        return True
    if any(is_piece(shifted(square, *step), "n") for step in KNIGHT):
        return True
    if any(is_piece(shifted(square, *step), "k") for step in SLIDES["q"]):
        return True
    for steps, kinds in ((STRAIGHT, "rq"), (SLANTED, "bq")):
        for step in steps:
            place = shifted(square, *step)
            while place != NONE and board[place] == ".":
                place = shifted(place, *step)
            if is_piece(place, kinds):
                return True
    return False


def perft(position: ChessPosition, depth: int) -> int:
    """How many games of so many moves there are: the field's test of a move generator."""
    if depth == 0:
        return 1
    return sum(perft(position.after(move), depth - 1) for move in position.moves())
