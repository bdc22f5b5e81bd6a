"""`OpenEnvRules`: what OpenEnv's own environment of TextArena makes of a game, which programs written for it read."""

from dataclasses import replace

from ludus.envs.open.textarena.game import Game, Turn

__all__ = ["OpenEnvRules"]

MAX_ILLEGAL_IN_A_ROW = 1
"""One more ends the game."""
INVALID = "You attempted an invalid move. {} Please resubmit."
"""Words by which programs that were written for OpenEnv know that a move was not taken."""
ROLES = ("[Player]", "[GAME]")
"""What nobody can write into a transcript but the game."""


class OpenEnvRules:
    r"""One transcript that grows, no penalties, part of a win for an end without one, and two illegal moves end a game.

    >>> rules = OpenEnvRules()
    >>> rules.say("Player", "[7]")
    >>> rules.say("GAME", "Higher.")
    >>> rules.transcript
    '\n[Player] [7]\n[GAME] Higher.'
    """

    def __init__(self) -> None:
        self.transcript = self._board = ""
        self._illegal = 0

    def say(self, name: str, text: str) -> None:
        """Write down what somebody said."""
        if text:
            self.transcript += f"\n[{name}] {text}"

    def show(self, board: str) -> None:
        """Write down a board, unless it is the last one."""
        if board != self._board:
            self.say("GAME", f"Board:\n{board}")
        self._board = board

    def move(self, voice: str, message: str) -> None:
        """Write down a move as the package does: in brackets, whoever forgot them, and without anybody's name."""
        for role in ROLES:
            message = message.replace(role, "")
        self.transcript += f"\n[{voice}] {message}"

    def judge(self, game: Game, turn: Turn) -> Turn:
        """What came of a message, by these rules."""
        if turn.paid is not None:
            return replace(turn, components={"textarena": turn.paid} if turn.over else {})
        if turn.illegal_move or turn.invalid_format:
            return self._refused(game, turn)
        self._illegal = 0
        if turn.over and not turn.won and game.players == 1:
            return replace(turn, components={"share": game.share()})
        return turn

    def _refused(self, game: Game, turn: Turn) -> Turn:
        self._illegal += 1
        last = self._illegal > MAX_ILLEGAL_IN_A_ROW
        message = INVALID.format(turn.message)
        if game.voice is not None:
            message = "" if last else message  # the package says nothing at the end
        elif turn.over or last:
            message = f"Invalid move: {turn.message}"
        if not turn.over and not last:
            return replace(turn, message=message, components={})
        paid = {"share": game.share()} if game.players == 1 else {"win": -1.0}
        return replace(turn, message=message, over=True, components=paid)
