"""The generators of `reasoning-gym`: the one file that imports it."""

import os
import threading
from collections.abc import Mapping
from importlib import import_module
from typing import Any, Protocol

from ludus.envs.open.reasoning_gym.plain_evaluation import plain_evaluation
from ludus.errors import InvalidArgument, MissingExtra, did_you_mean, shorten

__all__ = ["REFUSED", "Generator", "names"]

LOCK = threading.RLock()
"""Some generators and verifiers keep things in their modules."""
HASHED = "its questions depend on the order of a set, which differs from process to process whatever the seed"
REFUSED = {
    "composite": "it mixes others by a configuration of them; give those as `dataset` in turn",
    "isomorphic_strings": HASHED,
    "polynomial_multiplication": HASHED,
    "ransom_note": HASHED,
}
"""Why, by name."""
FILE = "data_file"
"""The setting that names a file, which the library would open wherever it is."""
WORDS = {"game_of_life_halting": ("True", "False")}
"""What an answer may be, where a verifier takes everything else for one of them."""


class Dataset(Protocol):
    """Questions of one kind; entries have `question`, `answer` and `metadata`."""

    def __getitem__(self, number: int, /) -> Mapping[str, object]: ...

    def score_answer(self, answer: str, entry: Mapping[str, object], /) -> float:
        """From 0 to 1."""
        ...


class Factory(Protocol):
    """What is used of the module `reasoning_gym.factory`."""

    DATASETS: Mapping[str, object]


class ReasoningGymModule(Protocol):
    """What is used of the module `reasoning_gym`."""

    factory: Factory

    def create_dataset(self, name: str, /, **config: object) -> Dataset:
        """Questions by the name of their kind."""
        ...


def _library() -> ReasoningGymModule:
    try:
        # Opened when an environment is made: it takes a second.
        library: Any = import_module("reasoning_gym")
    except ModuleNotFoundError as error:
        raise MissingExtra(
            'ReasoningGym: expected the package reasoning-gym, got none; pip install "ludus-rl[reasoning]"',
            name="reasoning_gym",
        ) from error
    return library


def names() -> list[str]:
    """Every dataset, sorted."""
    with LOCK:
        return sorted(name for name in _library().factory.DATASETS if name not in REFUSED)


class Generator:
    """One dataset with its configuration; `entry` draws a question, and `score` is the dataset's own verifier."""

    def __init__(self, dataset: str, config: dict[str, object]) -> None:
        self.dataset, self.config = dataset, config
        if dataset in REFUSED:
            raise InvalidArgument(
                f"ReasoningGym dataset: expected one that a seed decides, got {dataset!r}: {REFUSED[dataset]}"
            )
        known = names()
        if dataset not in known:
            raise InvalidArgument(
                f"ReasoningGym dataset: expected one of the {len(known)} of reasoning-gym, got {shorten(dataset)}"
                f"{did_you_mean(dataset, known)}"
            )
        file = config.get(FILE, "")
        if os.path.basename(str(file)) != file:
            raise InvalidArgument(
                f"ReasoningGym config {FILE}: expected the name of a file of reasoning-gym, got {shorten(file)}"
            )
        self._made(0)

    def _made(self, seed: int) -> Dataset:
        try:
            return _library().create_dataset(self.dataset, **{"size": 1, **self.config, "seed": seed})
        except (TypeError, AssertionError, ValueError) as error:
            raise InvalidArgument(
                f"ReasoningGym config: expected settings of {self.dataset}, got {shorten(str(error), 200)}"
            ) from None

    def entry(self, seed: int) -> dict[str, object]:
        """The question of a seed, with its answer and metadata."""
        with LOCK, plain_evaluation():
            made = self._made(seed)
            try:
                return dict(made[0])
            except Exception as error:
                if not self.config:
                    raise
                raise InvalidArgument(
                    f"ReasoningGym config: expected settings with which {self.dataset} has questions, got "
                    f"{shorten(self.config)}: {type(error).__name__}"
                ) from error

    def score(self, seed: int, answer: str) -> float:
        """From 0 to 1, by the dataset's own verifier, for the question of a seed."""
        if answer.strip() not in WORDS.get(self.dataset, (answer.strip(),)):
            return 0.0
        with LOCK, plain_evaluation():
            made = self._made(seed)
            return float(made.score_answer(answer, made[0]))
