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
from collections.abc import Generator
from functools import cache
from importlib import import_module
from typing import Any

import numpy as np

from ludus.envs.open.textarena.words import FIVE, LONG, SHORT
from ludus.errors import MissingExtra

__all__ = ["RandomStates", "guarded", "package"]

LOCK = threading.RLock()


class RandomStates:
    """The states of both modules' generators, as a game left them."""

    def __init__(self, seed: int) -> None:
        self.python: Any = random.Random(seed).getstate()
        self.numpy: Any = np.random.RandomState(seed).get_state()


class Words:
    """In the place of NLTK's corpus: words of our own."""

    @staticmethod
    def words(*_: Any, **__: Any) -> list[str]:
        """All of them, sorted."""
        return sorted({*SHORT, *FIVE, *LONG})


def no_download(*_: Any, **__: Any) -> bool:
    """In the place of `nltk.download`: nothing is fetched, and nothing is missing."""
    return True


def nouns(words: list[str], *_: Any, **__: Any) -> list[tuple[str, str]]:
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
    nltk: Any = _module("nltk")
    corpus: Any = _module("nltk.corpus")
    before = nltk.download, nltk.pos_tag, corpus.words
    nltk.download, nltk.pos_tag, corpus.words = no_download, nouns, Words
    try:
        yield
    finally:
        nltk.download, nltk.pos_tag, corpus.words = before


def package() -> Any:
    """The package; raises MissingExtra, with the line to type, where it is not there."""
    with LOCK, _own_words():
        found = _module("textarena")
        for name in [name for name in sys.modules if name.startswith("textarena.")]:
            inner: Any = sys.modules[name]
            if hasattr(getattr(inner, "words", None), "words"):  # NLTK's, bound before anybody asked us
                inner.words = Words
            if callable(getattr(inner, "pos_tag", None)):
                inner.pos_tag = nouns
        _keep_dictionaries()
        _count_armies()
        return found


def _keep_dictionaries() -> None:
    """Have the package read its dictionaries once: ten seconds that each of its word games would take at each reset."""
    lists: Any = import_module("textarena.envs.utils.word_lists")
    read = lists.EnglishDictionary._load_dic
    if getattr(read, "kept", None) is not None:
        return
    kept: dict[Any, Any] = {}

    def read_once(self: Any, *files: str) -> Any:
        asked = (files, self.keep_non_alpha, self.keep_proper_nouns)
        if asked not in kept:
            kept[asked] = read(self, *files)
        return kept[asked]

    read_once.kept = kept  # pyright: ignore[reportFunctionMemberAccess]
    lists.EnglishDictionary._load_dic = read_once


@cache
def _count_armies() -> None:
    """Have Stratego count pieces on its board: its own list fails at a defused bomb, and takes winner 0 for none."""
    stratego: Any = import_module("textarena.envs.Stratego.env").StrategoEnv

    def count(self: Any) -> None:
        pieces = [cell for row in self.board for cell in row if isinstance(cell, dict)]
        for player in (0, 1):
            if not any(one["player"] == player and one["rank"] not in ("Bomb", "Flag") for one in pieces):
                self.state.set_winner(1 - player, reason=f"Player {player} has no more movable pieces.")

    stratego._check_winner = count


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
