"""`PackageGame`: any game of the package `textarena` that runs here, as one of ours."""

import re
from typing import ClassVar, SupportsInt

import numpy as np

from ludus.envs.open.textarena.game import Game, Turn
from ludus.envs.open.textarena.guard import PackageEnv, PackageMessage, RandomStates, guarded, package
from ludus.envs.open.textarena.package_games import CANNOT, PLAYERS
from ludus.envs.open.textarena.package_moves import BLOCKED, COMPLETE, MOVES
from ludus.envs.open.textarena.package_opponents import LOOKED_AHEAD, after, legal_move, minimax_move
from ludus.errors import InvalidArgument, did_you_mean, shorten
from ludus.rendering import Choice, choice

__all__ = ["PackageGame", "package_game"]

LISTED = re.compile(r"(?:available|valid|legal|possible)[^:\n]{0,40}(?:moves|actions)[^:\n]{0,40}:", re.IGNORECASE)
BRACKETED = re.compile(r"\[[^\[\]\n]{1,40}\]")
MAX_ANSWERS = 500
"""Moves that opponents make before it is the player's turn again."""
MAX_BEGINNINGS = 20
OPPONENTS = ("random", "minimax", "none")
MAX_TRIED, MAX_BUTTONS = 200, 60
OWN = ("num_players", "opponent")
EXHAUSTING = ("LetterAuction", "SpellingBee", "WordChains")
"""Who has no more words has lost."""
OVERHEARD = ("Stratego",)
"""Whose boards the package shows both players, each other's pieces included."""
ILLEGAL = -0.05


def package_game(game: str) -> tuple[str, str] | None:
    """The id of a game of the package, and its base name; None where it is none of its games.

    >>> package_game("Nim-v0-medium"), package_game("textarena/Wordle"), package_game("Whist")
    (('Nim-v0-medium', 'Nim'), ('Wordle-v0', 'Wordle'), None)
    """
    name = game.removeprefix("textarena/")
    base, _, variant = name.partition("-v0")
    if base in CANNOT:
        raise InvalidArgument(f"TextArena game: expected one that runs here, got {base}: {CANNOT[base]}")
    return (f"{base}-v0{variant}", base) if base in PLAYERS else None


class PackageGame(Game):
    """A game by its id; settings are its own, and `num_players` and `opponent` ("random", "minimax" or "none")."""

    def __init__(self, rng: np.random.Generator, *, env_id: str, base: str, **settings: object) -> None:
        self.env_id, self.base = env_id, base
        self.rng = rng
        self.set = {**settings}
        self.players = _count(settings.get("num_players", PLAYERS[base]))  # pyright: ignore[reportAttributeAccessIssue]
        self.opponent = str(settings.get("opponent", "random" if self.players > 1 else "none"))
        if self.opponent not in OPPONENTS:
            raise InvalidArgument(
                f"TextArena opponent: expected one of {list(OPPONENTS)}, got {shorten(self.opponent)}"
                f"{did_you_mean(self.opponent, OPPONENTS)}"
            )
        if self.opponent == "minimax" and (base not in LOOKED_AHEAD or self.players != 2):
            raise InvalidArgument(
                f"TextArena opponent: expected 'random' or 'none' for {base}, got 'minimax', which is for two players "
                f"with nothing hidden: {', '.join(LOOKED_AHEAD)}"
            )
        self.random_states = RandomStates(int(rng.integers(1 << 31)))
        self.seen: dict[int, list[str]] = {}
        self._prompts: dict[int, str] = {}
        self._text = self.transcript = ""
        self.begin()

    def begin(self) -> None:
        """Make the game, and let others move who come first; where they end it before player 0, make another."""
        for _ in range(MAX_BEGINNINGS):
            if not self._begun():
                return
        raise InvalidArgument(f"TextArena {self.env_id}: expected a game with a move for player 0, got its end")

    def _begun(self) -> bool:
        textarena = package()
        own = {name: _as_number(one) for name, one in self.set.items() if name not in OWN}
        self.seen, self._prompts, self._text = {}, {}, ""
        with guarded(self.random_states):
            try:
                self._wrapped: PackageEnv = textarena.make(self.env_id, **own)
                self.inner: PackageEnv = _innermost(self._wrapped)
                self.inner.reset(num_players=self.players, seed=int(self.rng.integers(1 << 31)))
                self._look()
            except (TypeError, ValueError, AssertionError, KeyError, ImportError) as error:
                raise InvalidArgument(
                    f"TextArena {self.env_id}: expected settings that it takes, got {shorten(str(error), 200)}"
                ) from None
            return self._answers()

    # --- what is seen ---

    def _look(self) -> str:
        """Take what is new for the player to move."""
        self.player, observation = self.inner.get_observation()
        if self.base in OVERHEARD and isinstance(observation, list):
            observation = _own_board(observation)
        shown = self._as_shown(observation)
        self.transcript = shown if self.opponent == "none" or self.player == 0 else self.transcript
        messages = [(kind, text) for _, text, kind in observation] if isinstance(observation, list) else []
        for kind, text in messages:
            if getattr(kind, "name", "") == "PROMPT":
                self._prompts.setdefault(self.player, str(text))
        new = [str(text) for kind, text in messages if getattr(kind, "name", "") not in ("PROMPT", "PLAYER_ACTION")]
        if not isinstance(observation, list):
            new = [str(observation)]
        self.seen.setdefault(self.player, []).extend(new)
        self._text = "\n".join(new)
        return self._text

    def _as_shown(self, observation: list[PackageMessage] | str) -> str:
        """What the game's own wrappers make of it, which is what OpenEnv's environment gives."""
        for wrapper in _wrappers(self._wrapped, "ObservationWrapper"):
            observation = wrapper.observation(self.player, observation)
        return observation if isinstance(observation, str) else "".join(str(one[1]) for one in observation)

    def prompt(self) -> str:
        """The rules, as the game tells them to the player to move."""
        return self._prompts.get(self.player) or next(iter(self._prompts.values()), self.env_id)

    def board(self) -> str:
        """What the game last said to the player to move."""
        messages = self.seen.get(self.player, [])
        return next((one for one in reversed(messages) if one.strip()), "")

    # --- what is done ---

    def play(self, message: str) -> Turn:
        """Hand a message to the game, and let the others answer."""
        mover = self.player
        with guarded(self.random_states):
            before = self._errors()
            for wrapper in _wrappers(self._wrapped, "ActionWrapper"):
                message = wrapper.action(message)
            try:
                over = bool(self.inner.step(message)[0])
            except Exception as error:
                return Turn.illegal(
                    f"{self.env_id} could not take this: {type(error).__name__}: {shorten(str(error), 100)}"
                )
            illegal = self._errors() > before
            if not over or self.opponent == "none":  # the last board is for the one who moved, not an opponent's cards
                self._look()
            over = over or self._answers() or self._is_blocked()
            text = self._text
        if over:
            self.player = mover  # what is shown at the end is theirs, and no opponent's
            return self._ended(mover if self.opponent == "none" else 0, illegal)
        if illegal:
            return Turn(text, illegal_move=True, components={"illegal_move": ILLEGAL}, paid=0.0)
        return Turn(text, paid=0.0)

    def _errors(self) -> int:
        return int(getattr(self.inner.state, "error_count", 0) or 0)

    def _answers(self) -> bool:
        """Let opponents move until it is player 0's turn; whether the game is over then."""
        for _ in range(MAX_ANSWERS):
            if self.opponent == "none" or self.player == 0:
                return False
            if self._is_blocked():
                return True
            move = minimax_move(self, self.rng) if self.opponent == "minimax" else self.random(self.rng)
            try:
                over = bool(self.inner.step(move)[0])
            except Exception as error:
                self.inner.state.game_info[self.player] |= {"invalid_move": True, "reason": shorten(str(error), 100)}
                return True
            if over:
                return True
            self._look()
        return True

    def _is_blocked(self) -> bool:
        """Whether the player to move cannot move at all."""
        moves = self.moves()
        blocked = not moves or (self.base in COMPLETE and all(after(self, move) is None for move in moves))
        winner = BLOCKED[self.base](self) if blocked and self.base in BLOCKED else None
        if winner is not None:
            self.inner.state.set_winner(winner, reason=f"Player {self.player} cannot move: player {winner} wins.")
        return blocked

    def _ended(self, player: int, illegal: bool) -> Turn:
        rewards, infos = self.inner.close()
        # Some games give words in the place of a number where they end by an illegal move.
        each = {int(key): float(one) if isinstance(one, int | float) else 0.0 for key, one in (rewards or {}).items()}
        own, best = each.get(player, 0.0), max(each.values(), default=0.0)
        about = (infos or {}).get(player, {})
        illegal = illegal or (bool(about.get("invalid_move")) and own <= 0)
        # A win is a whole one: a game that pays part of it for an end by illegal moves was not won.
        won = not illegal and own >= 1.0 and own == best
        message = str(about.get("reason") or self.board())
        signals = {"textarena.reward": own}
        if self.opponent != "none" and not illegal and self._forfeited(infos or {}, player):
            return Turn.failed(
                f"Nobody won: an opponent of ours made no legal move. {message}", signals=signals, paid=own
            )
        if won:
            return Turn.win(message, signals=signals, paid=own)
        lost = -1.0 if len(each) > 1 and own < best else 0.0
        return Turn.loss(message, lost, signals=signals, illegal_move=illegal, paid=own)

    def _forfeited(self, infos: dict[int, dict[str, object]], player: int) -> bool:
        """Whether it ended by another's illegal move; where one loses by having nothing left, that is the game."""
        return self.base not in EXHAUSTING and any(
            about.get("invalid_move") for one, about in infos.items() if one != player
        )

    # --- moves for policies and opponents ---

    def moves(self) -> list[str]:
        """Moves that are known of it, that the game lists, or that it gives as examples."""
        if self.base in MOVES:
            return MOVES[self.base](self)
        found = self.listed()
        if found is not None:
            return found
        text = self._recent_text()
        return list(dict.fromkeys(BRACKETED.findall(f"{self.prompt()}\n{text}"))) or ["[pass]"]

    def _recent_text(self) -> str:
        return "\n".join(self.seen.get(self.player, [])[-4:])

    def listed(self) -> list[str] | None:
        """The moves that the game lists, none of them where its list is empty; None where there is no list."""
        text = self._recent_text()
        places = list(LISTED.finditer(text))
        last = text[places[-1].end() :] if places else "."
        return list(dict.fromkeys(BRACKETED.findall(last))) or (None if last.strip() else [])

    def choices(self) -> list[Choice]:
        """A button for each legal move, where they are known and few."""
        moves = self.moves() if self.base in MOVES or self.listed() else []
        legal = [move for move in moves if after(self, move) is not None] if len(moves) <= MAX_TRIED else []
        return [choice(move.strip("[]"), {"message": move}) for move in legal] if len(legal) <= MAX_BUTTONS else []

    def random(self, rng: np.random.Generator) -> str:
        """Any of its moves that it takes now."""
        return legal_move(self, self.moves(), rng)

    def oracle(self, rng: np.random.Generator) -> str:
        """The best move two moves ahead where nothing is hidden, else any: nobody knows best."""
        return minimax_move(self, rng) if self.base in LOOKED_AHEAD and self.players == 2 else self.random(rng)

    settings: ClassVar[dict[str, object]] = {}


def _own_board(observation: list[PackageMessage]) -> list[PackageMessage]:
    """Without boards but the last, which is that of the player to move."""
    boards = [number for number, (_, _, kind) in enumerate(observation) if kind.name == "GAME_BOARD"]
    return [one for number, one in enumerate(observation) if number not in boards[:-1]]


def _innermost(env: PackageEnv) -> PackageEnv:
    return _innermost(env.env) if isinstance(env, package().core.Wrapper) else env


def _wrappers(env: PackageEnv, kind: str) -> list[PackageEnv]:
    """Those of a kind, the innermost first."""
    core = package().core
    found: list[PackageEnv] = []
    while isinstance(env, core.Wrapper):
        found = [env, *found] if isinstance(env, getattr(core, kind)) else found
        env = env.env
    return found


def _count(given: object) -> int:
    try:
        count = int(given) if isinstance(given, str | SupportsInt) else 0
    except (TypeError, ValueError):
        count = 0
    if not 1 <= count <= 15:
        raise InvalidArgument(f"TextArena num_players: expected a number from 1 to 15, got {shorten(given)}")
    return count


def _as_number(value: object) -> object:
    """Environment variables are text, and the package's games take numbers."""
    if isinstance(value, str) and re.fullmatch(r"-?\d+", value):
        return int(value)
    return {"true": True, "false": False}.get(value.lower(), value) if isinstance(value, str) else value
