"""DIPG Safety: answer from the context alone, with quotes, or say why one cannot."""

import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Annotated

from ludus.core import Env, Info, Outcome, Step
from ludus.core.options import Options
from ludus.envs.open.dipg_safety.cases import CONFLICTING, KINDS, MISSING, Kind, SafetyCase, drawn_case, read_cases
from ludus.envs.open.dipg_safety.grade import Grade, grade
from ludus.envs.open.dipg_safety.picture import dipg_picture
from ludus.envs.open.dipg_safety.rewards import channels_of, rewards_of
from ludus.errors import InvalidAction, InvalidArgument, ResetNeeded, shorten
from ludus.rendering import Canvas, Choice, Drawn, choice
from ludus.seeding import Seed
from ludus.spaces import Record, Text

__all__ = ["DIPGAction", "DIPGObservation", "DIPGSafety", "DIPGState"]

MAX_RESPONSE_CHARS = 32_768
Passage = Annotated[str, Text(1 << 20, min_length=0, charset=None)]


@dataclass
class DIPGAction:
    """A response with three channels: analysis, proof and final."""

    llm_response: Annotated[str, Text(MAX_RESPONSE_CHARS, min_length=0, charset=None)]


@dataclass
class DIPGObservation:
    """What one may use, and what is asked; both empty at the end."""

    context: Passage = ""
    question: Passage = ""


@dataclass
class DIPGState:
    """What is shown of the episode; what is expected is no part of it, not even a private one."""

    current_context: str = ""
    current_question: str = ""


class DIPGSafety(Drawn, Env[DIPGObservation, DIPGAction]):
    """One question, one response: quotes must be in the context and support the answer; some questions have none.

    >>> env = DIPGSafety()
    >>> observation, info = env.reset(seed=3)
    >>> observation.question
    'How often did Morneparib cause nausea?'
    >>> step = env.step(DIPGAction("I do not know"))
    >>> step.reward, step.info["facts"]["invalid_format"], step.terminated
    (-10.0, True, True)
    """

    metadata = Drawn.metadata | {"render_fps": 2}

    def __init__(
        self,
        dataset_path: str | None = None,
        kinds: Sequence[Kind] = KINDS,
        rewards: Mapping[str, float] | None = None,
        channels: Mapping[str, str] | None = None,
        render_mode: str | None = None,
    ) -> None:
        if not kinds or any(kind not in KINDS for kind in kinds):
            raise InvalidArgument(f"DIPGSafety kinds: expected some of {list(KINDS)}, got {shorten(kinds)}")
        self.kinds = tuple(kinds)
        self.rewards, self.channels = rewards_of(rewards), channels_of(channels)
        path = dataset_path or os.environ.get("DIPG_DATASET_PATH")
        self._cases = read_cases(path) if path else None
        self.action_space, self.observation_space = Record(DIPGAction), Record(DIPGObservation)
        self.render_mode = render_mode
        self.state: DIPGState | None = None
        self._case: SafetyCase | None = None
        self._graded: tuple[str, Grade] | None = None

    def reset(self, *, seed: Seed | None = None, options: Options | None = None) -> tuple[DIPGObservation, Info]:
        """Draw a case: a made-up one, or one of the dataset."""
        if options:
            raise InvalidArgument(
                f"options: expected none, since DIPGSafety has no reset options, got {shorten(options)}"
            )
        super().reset(seed=seed)
        rng = self.np_random
        cases = self._cases
        case = drawn_case(rng, self.kinds) if cases is None else cases[int(rng.integers(len(cases)))]
        self._case, self._graded = case, None
        self.state = DIPGState(case.context, case.question)
        return DIPGObservation(case.context, case.question), {}

    def step(self, action: DIPGAction) -> Step[DIPGObservation]:
        """Grade the response; the episode is over."""
        if self._case is None or self._graded is not None:
            got = "no episode under way" if self._case is None else "an episode that has ended"
            raise ResetNeeded(f"step: expected reset() first, got {got}")
        self.action_space.check(action, "action", InvalidAction)
        graded = grade(action.llm_response, self._case, self.rewards, self.channels)
        self._graded = action.llm_response, graded
        info: Info = {
            "reward_components": dict(graded.components),
            "facts": {
                "won": graded.right,
                "invalid_format": graded.invalid_format,
                "hallucinated": graded.hallucinated,
            },
            "outcome": Outcome.SUCCESS if graded.right else Outcome.FAILURE,
        }
        return Step(DIPGObservation(), graded.total, True, False, info)

    def get_choices(self) -> list[Choice]:
        """Each sentence of the context as the proof of an answer to be written, and both reasons not to answer."""
        case = self._case
        if case is None or self._graded is not None:
            return []
        sentences = [f"{one.strip().rstrip('.')}." for one in case.context.split(". ") if one.strip()]
        return [
            *(choice(one, self._response(one, "{text}"), ask=f"What does this answer? {one}") for one in sentences),
            choice("The sources conflict", self._response("", CONFLICTING)),
            choice("The context does not say", self._response("", MISSING)),
        ]

    def _response(self, proof: str, final: str) -> dict[str, str]:
        marks = self.channels
        starts = (marks.analysis_channel_start, marks.proof_channel_start, marks.final_channel_start)
        said = zip(starts, ("I looked it up.", proof, final), strict=True)
        return {"llm_response": "".join(f"{start}{text}{marks.channel_end}" for start, text in said)}

    def draw(self) -> Canvas:
        """The context, the question, and what came of the response."""
        case = self._case
        verdict = None if self._graded is None else (self._graded[0], self._graded[1].components)
        return dipg_picture("" if case is None else case.context, "" if case is None else case.question, verdict)
