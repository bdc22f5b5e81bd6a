"""ReasoningGym: a question of any generator of reasoning-gym, and its own verifier, in OpenEnv's words."""

from dataclasses import dataclass, field
from math import isfinite
from typing import Annotated, Any

from ludus.core import Env, Info, Outcome, Step
from ludus.core.options import Options
from ludus.envs.open.reasoning_gym.generators import Generator
from ludus.envs.open.reasoning_gym.picture import reasoning_picture
from ludus.errors import InvalidAction, InvalidArgument, ResetNeeded, shorten
from ludus.rendering import Canvas, Choice, Drawn, choice
from ludus.seeding import Seed
from ludus.spaces import Record, Text
from ludus.spaces.kinds import is_dict, is_list_or_tuple

__all__ = ["ReasoningGym", "ReasoningGymAction", "ReasoningGymObservation", "ReasoningGymState"]

MAX_ANSWER_CHARS = 65_536
SHOWN_METADATA = ("source_dataset", "source_index", "difficulty")
"""Of a question's metadata: the rest often has the answer."""


@dataclass
class ReasoningGymAction:
    """An answer, as the question asks for it."""

    answer: Annotated[str, Text(MAX_ANSWER_CHARS, min_length=0, charset=None)]


@dataclass
class ReasoningGymObservation:
    """The question; after the answer, its score and what would have been right."""

    question: str
    score: float | None = None
    correct_answer: str | None = None
    dataset_metadata: dict[str, Any] = field(default_factory=dict[str, Any])


@dataclass
class ReasoningGymState:
    """What is shown of the episode."""

    dataset: str = ""
    answered: bool = False


class ReasoningGym(Drawn, Env[ReasoningGymObservation, ReasoningGymAction]):
    """One question, one answer; the reward is the verifier's score, from 0 to 1, and only a whole 1 is a success.

    >>> env = ReasoningGym(dataset="leg_counting")
    >>> observation, info = env.reset(seed=0)
    >>> "legs" in observation.question, observation.correct_answer
    (True, None)
    >>> step = env.step(ReasoningGymAction("many"))
    >>> step.terminated, step.info["facts"]["won"]
    (True, False)
    """

    metadata = Drawn.metadata | {"render_fps": 2}

    def __init__(
        self, dataset: str = "leg_counting", config: dict[str, object] | None = None, render_mode: str | None = None
    ) -> None:
        self._generator = Generator(dataset, dict(config or {}))
        self.dataset = dataset
        self.action_space, self.observation_space = Record(ReasoningGymAction), Record(ReasoningGymObservation)
        self.render_mode = render_mode
        self.state: ReasoningGymState | None = None
        self._seed = 0
        self._entry: dict[str, object] = {}
        self._shown: ReasoningGymObservation | None = None
        self._answer = ""
        self._needs = "no episode under way"

    def reset(
        self, *, seed: Seed | None = None, options: Options | None = None
    ) -> tuple[ReasoningGymObservation, Info]:
        """Draw a question; the options `dataset` and `config` are another generator for this episode."""
        generator = self._generator if not options else _generator_with(options, self.dataset)
        super().reset(seed=seed)
        self._generator = generator
        self._seed = int(self.np_random.integers(1 << 31))
        self._entry = generator.entry(self._seed)
        self.state, self._needs, self._answer = ReasoningGymState(generator.dataset), "", ""
        self._shown = ReasoningGymObservation(str(self._entry["question"]), dataset_metadata=self._metadata())
        return self._shown, {"dataset": generator.dataset}

    def step(self, action: ReasoningGymAction) -> Step[ReasoningGymObservation]:
        """Have an answer verified; the episode is over."""
        if self._needs or self.state is None:
            raise ResetNeeded(f"step: expected reset() first, got {self._needs}")
        self.action_space.check(action, "action", InvalidAction)
        score, broken = self._score(action.answer)
        self._needs, self.state.answered, self._answer = "an episode that has ended", True, action.answer
        won = score >= 1.0
        right = self._entry.get("answer")
        self._shown = ReasoningGymObservation(
            str(self._entry["question"]), score, None if right is None else str(right), self._metadata()
        )
        info: Info = {
            "reward_components": {"score": score},
            "facts": {"won": won, "invalid_format": broken or not action.answer.strip()},
            "outcome": Outcome.SUCCESS if won else Outcome.FAILURE,
        }
        return Step(self._shown, score, True, False, info)

    def _score(self, answer: str) -> tuple[float, bool]:
        """The verifier's score, and whether it could not read the answer; nothing is worth nothing."""
        if not answer.strip():
            return 0.0, True
        try:
            score = self._generator.score(self._seed, answer)
        except Exception:
            return 0.0, True
        return (min(max(score, 0.0), 1.0), False) if isfinite(score) else (0.0, True)

    def _metadata(self) -> dict[str, object]:
        metadata = self._entry.get("metadata")
        if not is_dict(metadata):
            return {}
        return {name: _plain(metadata[name]) for name in SHOWN_METADATA if name in metadata}

    def get_choices(self) -> list[Choice]:
        """A line to answer in."""
        return [] if self._needs else [choice("Answer", {"answer": "{text}"}, ask="The answer", lines=3)]

    def draw(self) -> Canvas:
        """The question, and below it the answer and its score."""
        shown = self._shown
        return reasoning_picture(
            "" if shown is None else shown.question, self._answer, None if shown is None else shown.score
        )


def _plain(value: object) -> object:
    if is_dict(value):
        return {str(key): _plain(one) for key, one in value.items()}
    if is_list_or_tuple(value):
        return [_plain(one) for one in value]
    return value if value is None or isinstance(value, bool | int | float | str) else str(value)


def _generator_with(options: Options, dataset: str) -> Generator:
    unknown = [name for name in options if name not in ("dataset", "config")]
    if unknown:
        raise InvalidArgument(f"options: expected dataset or config, got {shorten(unknown[0])}")
    return Generator(str(options.get("dataset", dataset)), dict(options.get("config") or {}))
