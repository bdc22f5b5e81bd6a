"""`Game`: the contract of a text game, and how a move is read out of a message."""

import re
from abc import ABC, abstractmethod
from dataclasses import dataclass, field
from typing import Any, ClassVar, SupportsInt, TypedDict, Unpack

import numpy as np

from ludus.errors import InvalidArgument, did_you_mean, shorten
from ludus.rendering import Choice

__all__ = ["Cell", "Game", "Turn", "bracketed", "move_in"]

BRACKETED = re.compile(r"\[([^\[\]]{1,200})\]")
LONGEST_BARE = 40
ILLEGAL = -0.05
Cell = tuple[str, str, str]
"""Text, color of the field, color of the text."""


class TurnDetails(TypedDict, total=False):
    """What may be said of the last message of a game, beside who won."""

    signals: dict[str, float]
    illegal_move: bool
    paid: float | None


@dataclass
class Turn:
    """What came of a message."""

    message: str
    over: bool = False
    won: bool = False
    illegal_move: bool = False
    invalid_format: bool = False
    components: dict[str, float] = field(default_factory=dict[str, float])
    signals: dict[str, float] = field(default_factory=dict[str, float])
    """What else can be counted, by name; no part of the reward."""
    paid: float | None = None
    """What a game of the package `textarena` pays itself."""
    opponent_failed: bool = False
    """Whether it ended since a built-in opponent had no move: nobody's win and nobody's defeat."""

    @classmethod
    def unreadable(cls, expected: str) -> "Turn":
        """A message without a move: it costs a little, and nothing has happened."""
        return cls(f"Expected a move like {expected}.", invalid_format=True, components={"invalid_format": ILLEGAL})

    @classmethod
    def illegal(cls, reason: str) -> "Turn":
        """A move that the rules forbid: it costs a little, and nothing has happened."""
        return cls(reason, illegal_move=True, components={"illegal_move": ILLEGAL})

    @classmethod
    def win(cls, message: str, **more: Unpack[TurnDetails]) -> "Turn":
        """The end, and a reward of 1."""
        return cls(message, over=True, won=True, components={"win": 1.0}, **more)

    @classmethod
    def failed(cls, message: str, **more: Unpack[TurnDetails]) -> "Turn":
        """The end, by an opponent of ours who could not go on."""
        return cls(message, over=True, components={"win": 0.0}, opponent_failed=True, **more)

    @classmethod
    def loss(cls, message: str, reward: float = 0.0, **more: Unpack[TurnDetails]) -> "Turn":
        """The end, without a win."""
        return cls(message, over=True, components={"win": reward}, **more)


class Game(ABC):
    """One episode of a game: made with a generator and its settings, then `play` by `play`.

    Whatever it keeps is copied by snapshots, so it keeps plain values. `oracle` and `random` are moves for policies.
    """

    settings: ClassVar[dict[str, object]] = {}
    """What may be set, with its defaults; numbers of the same kind."""
    players: ClassVar[int] = 1
    player: int = 0
    """Who is to move."""
    chessmen: ClassVar[bool] = False
    """Whether letters in its squares are pieces of chess."""
    voice: ClassVar[str | None] = None
    """Whose name stands before moves in OpenEnv's transcript, in games whose words are the package's; else None."""

    def __init__(self, rng: np.random.Generator, **settings: object) -> None:
        for name, value in settings.items():
            if name not in self.settings:
                known = list(self.settings)
                raise InvalidArgument(
                    f"{type(self).__name__} settings: expected some of {known}, got {name!r}{did_you_mean(name, known)}"
                )
            settings[name] = self._setting(name, value)
        self.set: dict[str, Any] = {**self.settings, **settings}  # each of its default's type
        self.rng = rng
        self.begin()

    def _setting(self, name: str, value: object) -> int | str:
        default = self.settings[name]
        number = value if isinstance(value, str | bytes | SupportsInt) else ""
        if isinstance(default, bool):
            return str(value).lower() in ("1", "true", "yes")
        try:  # environment variables are text
            return str(value) if isinstance(default, str) else int(number)
        except (TypeError, ValueError):
            raise InvalidArgument(
                f"{type(self).__name__} {name}: expected {type(default).__name__}, got {shorten(value)}"
            ) from None

    @abstractmethod
    def begin(self) -> None:
        """Draw what the game starts with."""

    @abstractmethod
    def prompt(self) -> str:
        """The rules, and how to move."""

    @abstractmethod
    def board(self) -> str:
        """What is to be seen; nothing that a player may not know."""

    def cells(self) -> list[list[Cell]]:
        """The board as a picture has it, row by row; nothing where its text says it all."""
        return []

    def choices(self) -> list[Choice]:
        """Moves that one may click in a page: places of the picture, or buttons; nothing where a line is written."""
        return []

    def share(self) -> float:
        """How far the player came, from 0 to 1: what the original of the game pays where it ends without a win."""
        return 0.0

    @abstractmethod
    def play(self, message: str) -> Turn:
        """Take the move in a message."""

    @abstractmethod
    def oracle(self, rng: np.random.Generator) -> str:
        """A move of one who knows everything."""

    @abstractmethod
    def random(self, rng: np.random.Generator) -> str:
        """Any move that can be read."""


def move_in(message: str) -> str | None:
    """The last part of a message in square brackets, or all of a short one that has none.

    >>> move_in("Not [crane]. I say [SLATE]!"), move_in("slate"), move_in("I think that it is a word like slate or so")
    ('SLATE', 'slate', None)
    """
    found = BRACKETED.findall(message[-20_000:])
    if found:
        return found[-1].strip()
    bare = message.strip()
    return bare if 0 < len(bare) <= LONGEST_BARE and "[" not in bare and "\n" not in bare else None


def bracketed(message: str) -> str:
    """A message as the package reads it: all of one that has no brackets is the move.

    >>> bracketed("slate"), bracketed("I say [slate]")
    ('[slate]', 'I say [slate]')
    """
    return message if "[" in message or "]" in message else f"[{message}]"
