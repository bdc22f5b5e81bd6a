"""Calls into the package `textarena`: one at a time, with random states of the game's own, and never a download.

Its games draw from the generators of the modules `random` and `numpy.random`, which everybody shares, and ignore seeds
or set them for all. So a call happens under one lock: the game's states go in, it plays, they are taken out again, and
everybody else's are put back. NLTK's words are ours meanwhile, and `nltk.download` says no.
"""

import contextlib
import io
import random
import sys
import threading
from collections.abc import Callable, Generator
from enum import Enum
from functools import cache
from importlib import import_module
from types import ModuleType
from typing import Any, NamedTuple, Protocol

import numpy as np

from ludus.envs.open.textarena.package_games import PLAYERS
from ludus.envs.open.textarena.words import FIVE, LONG, SHORT
from ludus.errors import MissingExtra
from ludus.spaces.kinds import is_dict

__all__ = ["PackageEnv", "PackageState", "RandomStates", "PackageMessage", "guarded", "package"]

LOCK = threading.RLock()


class PackageMessage(NamedTuple):
    """What a game of the package tells a player; the package gives plain tuples of these."""

    sender: int
    text: str
    kind: Enum
    """Of the package's enumeration."""


class PackageState(Protocol):
    """The part of a game of the package that every one has."""

    logs: list[object]
    observations: dict[int, list[PackageMessage]]
    game_state: dict[str, Any]
    game_info: dict[int, dict[str, object]]
    rewards: dict[int, float] | None
    current_player_id: int

    def set_winner(self, player_id: int, reason: str) -> None:
        """End the game."""
        ...


class PackageEnv(Protocol):
    """A game of the package; what only some of them have is found by its name."""

    state: PackageState

    def reset(self, *, num_players: int, seed: int) -> None:
        """Begin."""
        ...

    def step(self, action: str) -> tuple[bool, object]:
        """Take a message; whether the game is over."""
        ...

    def get_observation(self) -> tuple[int, list[PackageMessage] | str]:
        """Who is to move, and what they are shown."""
        ...

    def close(self) -> tuple[dict[int, object] | None, dict[int, dict[str, object]] | None]:
        """Rewards and infos by player."""
        ...

    def __getattr__(self, name: str) -> Any: ...


class Nltk(Protocol):
    """What is replaced of NLTK."""

    download: Callable[..., object]
    pos_tag: Callable[..., object]


class NltkCorpus(Protocol):
    """And of its corpora."""

    words: object


class EnglishDictionary(Protocol):
    """The package's words, which it reads from files."""

    keep_non_alpha: bool
    keep_proper_nouns: bool


class RandomStates:
    """The states of both modules' generators, as a game left them."""

    def __init__(self, seed: int) -> None:
        self.python: tuple[object, ...] = random.Random(seed).getstate()
        self.numpy = np.random.RandomState(seed).get_state()


class Words:
    """In the place of NLTK's corpus: words of our own."""

    @staticmethod
    def words(*_: object, **__: object) -> list[str]:
        """All of them, sorted."""
        return sorted({*SHORT, *FIVE, *LONG})


def no_download(*_: object, **__: object) -> bool:
    """In the place of `nltk.download`: nothing is fetched, and nothing is missing."""
    return True


def nouns(words: list[str], *_: object, **__: object) -> list[tuple[str, str]]:
    """In the place of `nltk.pos_tag`: our words are common ones, and all are taken."""
    return [(word, "NN") for word in words]


@contextlib.contextmanager
def guarded(states: RandomStates) -> Generator[None]:
    """Play under the lock, with the states of one game."""
    with LOCK, _own_words(), contextlib.redirect_stdout(io.StringIO()):
        python, numpy = random.getstate(), np.random.get_state()  # noqa: NPY002
        random.setstate(states.python)
        np.random.set_state(states.numpy)  # noqa: NPY002
        try:
            yield
        finally:
            states.python, states.numpy = random.getstate(), np.random.get_state()  # noqa: NPY002
            random.setstate(python)
            np.random.set_state(numpy)  # noqa: NPY002


@contextlib.contextmanager
def _own_words() -> Generator[None]:
    nltk: Nltk = _module("nltk")
    corpus: NltkCorpus = _module("nltk.corpus")
    before = nltk.download, nltk.pos_tag, corpus.words
    nltk.download, nltk.pos_tag, corpus.words = no_download, nouns, Words
    try:
        yield
    finally:
        nltk.download, nltk.pos_tag, corpus.words = before


def package() -> ModuleType:
    """The package; raises MissingExtra, with the line to type, where it is not there."""
    with LOCK, _own_words():
        found = _module("textarena")
        for name in [name for name in sys.modules if name.startswith("textarena.")]:
            inner = vars(sys.modules[name])
            if hasattr(inner.get("words"), "words"):  # NLTK's, bound before anybody asked us
                inner["words"] = Words
            if callable(inner.get("pos_tag")):
                inner["pos_tag"] = nouns
        _keep_dictionaries()
        _mend_boards()
        return found


def _keep_dictionaries() -> None:
    """Have the package read its dictionaries once: ten seconds that each of its word games would take at each reset."""
    dictionary: Any = import_module("textarena.envs.utils.word_lists").EnglishDictionary
    read: Callable[..., object] = dictionary._load_dic
    if getattr(read, "kept", None) is not None:
        return
    kept: dict[object, object] = {}

    def read_once(self: EnglishDictionary, *files: str) -> object:
        key = (files, self.keep_non_alpha, self.keep_proper_nouns)
        if key not in kept:
            kept[key] = read(self, *files)
        return kept[key]

    read_once.kept = kept  # pyright: ignore[reportFunctionMemberAccess]
    dictionary._load_dic = read_once


def has_legal_move(*_: object) -> bool:
    """In the place of Checkers' own, which fails."""
    return True


@cache
def _mend_boards() -> None:
    """Have Stratego count pieces on its board: its own list fails at a defused bomb, and takes winner 0 for none.

    And have Checkers, which fails where the player who moved cannot move again, leave blocked players to us.
    """
    stratego: Any = import_module("textarena.envs.Stratego.env").StrategoEnv

    def count(self: PackageEnv) -> None:
        rows: list[list[object]] = self.board
        pieces = [cell for row in rows for cell in row if is_dict(cell)]
        for player in (0, 1):
            if not any(one["player"] == player and one["rank"] not in ("Bomb", "Flag") for one in pieces):
                self.state.set_winner(1 - player, reason=f"Player {player} has no more movable pieces.")

    stratego._check_winner = count
    if "Checkers" in PLAYERS:
        import_module("textarena.envs.Checkers.env").CheckersEnv._has_legal_move = has_legal_move


def _module(name: str) -> Any:
    """A module that is opened when a game of the package is asked for: it takes two seconds."""
    try:
        return import_module("textarena") if name == "textarena" else import_module(name)
    except ModuleNotFoundError as error:
        raise MissingExtra(
            "TextArena: expected the package textarena for a game that is not our own, got none; "
            'pip install "ludus-rl[textarena]"',
            name="textarena",
        ) from error
