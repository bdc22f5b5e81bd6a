"""`TaskSpec`: what a task file says, as data. Nothing here starts or reads anything."""

import math
import re
from pathlib import PurePosixPath
from typing import Annotated, Literal

import msgspec

from ludus.errors import InvalidArgument, listing, shorten
from ludus.sandbox.policy import Policy
from ludus.tasks.metric import Direction, direction_of
from ludus.tasks.quantity import byte_count, seconds_of

__all__ = [
    "DataSpec",
    "EvaluationSpec",
    "Resources",
    "SolutionSpec",
    "SubmissionFile",
    "TaskSpec",
    "Timeouts",
]

ID = re.compile(r"(?:task/)?(?P<name>[A-Za-z][\w.]*(?:-(?!v\d+$)[\w.]+)*)(?:-v(?P<version>\d+))?")
RELATIVE = re.compile(r"(?!/)(?!.*(?:^|/)\.\.(?:/|$))[^\0]+")
Size = int | str
Seconds = float | str
Positive = Annotated[int, msgspec.Meta(ge=1)]
Count = Annotated[int, msgspec.Meta(ge=0)]


class _Part(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True, omit_defaults=True):
    """A part of a task file: unknown keys are errors."""


class Timeouts(_Part, frozen=True, kw_only=True):
    """Seconds. An action that names a time gets at most `long`, one that does not `short`.

    >>> Timeouts(short="1m").of("short")
    60.0
    """

    short: Seconds = 60
    """Of a command that does not ask for more."""
    long: Seconds = 1800
    """The most that a command may ask for."""
    total: Seconds = 7200
    """Of the whole episode, as the clock of the environment counts it."""
    no_output: Seconds | None = None
    """Of a command that prints nothing; None: it may be silent to its end."""
    grading: Seconds = 300
    """Of one grading, the time of the submitted program included."""

    def of(self, name: str) -> float:
        """One of them, in seconds; infinity where there is none."""
        value = getattr(self, name)
        return float("inf") if value is None else seconds_of(value, f"timeouts.{name}")


class EvaluationSpec(_Part, frozen=True, kw_only=True):
    """How a submission is scored, and what scores mean.

    >>> evaluation = EvaluationSpec(metric="r2", floor=0.0, baseline=0.6, reference=0.9, threshold=0.8)
    >>> evaluation.direction_known, evaluation.normalised(0.45)
    ('maximize', 0.5)
    """

    metric: str
    """The one of the grader's metrics that counts."""
    direction: Direction | None = None
    """`maximize` or `minimize`; None: as is usual for the metric, which then must be a known one."""
    threshold: float | None = None
    """From here on the task is done: the outcome is success."""
    floor: float | None = None
    """What is worth nothing: the score of an answer without any thought. Failed submissions count as this."""
    baseline: float | None = None
    """What the baseline solution scores, about."""
    reference: float | None = None
    """What the reference solution scores, about: 1 on the normalised scale."""
    grader: str = "grader.py"
    """The file with `grade(case)`; it never enters the agent's sandbox."""
    public_split: str = "validation"
    """The split that `validate` scores."""
    hidden_split: str = "test"
    """The split that `submit` scores; the agent never sees it."""
    validations: Count = 10
    """How often `validate` may be called."""
    resolution: float = 0.05
    """Of the normalised score that `validate` tells: finer differences are not shown, so it cannot be climbed."""
    measured: tuple[str, ...] = ()
    """Those of the grader's metrics that are measurements of this machine, such as times: they are kept in the journal,
    and are in no reward and no info, which are the same for the same seed. The metric that counts is none of them."""

    def check(self) -> None:
        """InvalidArgument for marks by which scores would say nothing, or the opposite."""
        for name in ("threshold", "floor", "baseline", "reference", "resolution"):
            value = getattr(self, name)
            if value is not None and not math.isfinite(value):
                raise InvalidArgument(f"evaluation.{name}: expected a finite number, got {value}")
        if self.resolution < 0:
            raise InvalidArgument(f"evaluation.resolution: expected 0 or more, got {self.resolution}")
        better = "above" if self.direction_known == "maximize" else "below"
        for name in ("reference", "threshold"):
            mark = getattr(self, name)
            if self.floor is not None and mark is not None and self.better(self.floor, mark):
                got = f"{mark:g} and a floor of {self.floor:g}"
                raise InvalidArgument(f"evaluation.{name}: expected a mark {better} the floor, got {got}")
        if self.metric in self.measured:
            raise InvalidArgument(
                f"evaluation.measured: expected metrics beside the one that counts, which has to be the same for the "
                f"same seed, got {shorten(self.metric)}; have the grader round it to steps that measuring cannot miss"
            )
        if self.public_split == self.hidden_split:
            raise InvalidArgument(
                f"evaluation.public_split: expected another split than the hidden one, which `validate` would tell of, "
                f"got {shorten(self.public_split)} for both"
            )

    @property
    def direction_known(self) -> Direction:
        """The direction; that of a well-known metric where none is given."""
        return self.direction or direction_of(self.metric)

    def normalised(self, score: float | None) -> float:
        """0 at the floor (or the baseline, where there is none) and below, 1 at the reference; failures are 0."""
        low = self.floor if self.floor is not None else self.baseline
        high = next((one for one in (self.reference, self.threshold) if one is not None and one != low), None)
        if score is None:
            return 0.0
        if low is None or high is None:  # nothing to measure by: only the threshold tells
            return float(self.reached(score))
        return max(0.0, (score - low) / (high - low))

    def reached(self, score: float | None) -> bool:
        """Whether a score is at the threshold or beyond; any score is where there is no threshold."""
        if score is None or self.threshold is None:
            return score is not None
        return score >= self.threshold if self.direction_known == "maximize" else score <= self.threshold

    def better(self, one: float | None, other: float | None) -> bool:
        """Whether one score beats another; a failure beats nothing."""
        if one is None or other is None:
            return one is not None
        return one > other if self.direction_known == "maximize" else one < other


class Resources(_Part, frozen=True, kw_only=True):
    """What the agent's sandbox may use.

    >>> Resources(memory="8G").bytes_of("memory") == 8 << 30
    True
    """

    memory: Size = "2G"
    cpu: Annotated[float, msgspec.Meta(gt=0)] = 2
    """Cores: threads that numerical libraries start."""
    gpu: Count = 0
    disk: Size = "1G"
    """Of the workspace."""
    processes: Positive = 128
    file_size: Size = "256M"
    """Of one file."""

    def bytes_of(self, name: str) -> int:
        """One of the sizes, in bytes."""
        return byte_count(getattr(self, name), f"resources.{name}")


class DataSpec(_Part, frozen=True, kw_only=True):
    """Where data come from: a generator with a seed, or files of the task's folder.

    >>> DataSpec(generator="generator.py").seed
    'run'
    """

    generator: str | None = None
    """A file with `generate(seed, public, hidden)`: what it writes to `public` the agent sees, `hidden` the grader."""
    seed: int | Literal["run"] = "run"
    """`run`: of the episode, so that hidden data are new each time; or one number for all."""
    checksum: str | None = None
    """SHA-256 of what the generator writes for seed 0 (or for `seed`); `ludus task audit` computes it anew."""
    public: str | None = None
    """A folder of ready data for the agent."""
    hidden: str | None = None
    """A folder of ready data for the grader."""
    folder: str = "data"
    """Where the agent sees them, in the workspace, read-only."""


class SubmissionFile(_Part, frozen=True, kw_only=True):
    """A file that is handed in.

    >>> SubmissionFile(path="submission.csv").format
    'any'
    """

    path: str
    format: Literal["csv", "json", "npy", "text", "python", "any"] = "any"
    size: Size = "4M"
    required: bool = True


class SolutionSpec(_Part, frozen=True, kw_only=True):
    """A solution of the author's: files that are put into the workspace, and a command.

    >>> SolutionSpec(folder="baseline").run is None
    True
    """

    folder: str
    run: str | None = None
    """None: `python solution.py` where there is such a file, else nothing: the files are the submission."""
    seconds: Seconds | None = None
    """How long it may run; None: `timeouts.long`."""


class TaskSpec(_Part, frozen=True, kw_only=True):
    """A task: what is asked, what is given, within which limits, and how it is scored.

    >>> spec = TaskSpec(id="Guess", name="Guess", description="…", evaluation=EvaluationSpec(metric="accuracy"))
    >>> spec.env_id, spec.max_steps, spec.timeouts_known.of("total")
    ('task/Guess-v0', 50, 7200.0)
    """

    id: str
    name: str
    description: str
    version: str = "1"
    license: str = ""
    author: str = ""
    tags: tuple[str, ...] = ()
    max_steps: Positive = 50
    timeout: Seconds | None = None
    """Short for `timeouts.total`."""
    timeouts: Timeouts = Timeouts()
    forfeits: Positive = 10
    """Actions in a row that are none (unknown tools, unreadable text) after which the episode is cut."""
    evaluation: EvaluationSpec
    submission: tuple[SubmissionFile, ...] = ()
    resources: Resources = Resources()
    network: str | tuple[str, ...] = "none"
    """`none`, `loopback`, or the `host:port` that may be reached."""
    data: DataSpec = DataSpec()
    starter: str | None = "starter"
    """A folder that is copied into the workspace."""
    shared: tuple[str, ...] = ()
    """Files of the task's folder that the agent finds in its workspace too, such as rules that its grader goes by."""
    read_only: tuple[str, ...] = ()
    """Paths of the workspace that cannot be changed; the data folder is one always."""
    requirements: tuple[str, ...] = ("numpy",)
    """Installed distributions that the agent's Python has."""
    environment: dict[str, str] = {}
    artifacts: tuple[str, ...] = ()
    """Patterns of files to keep when the episode ends, beside the submission."""
    cost: float = 0.0
    """Deducted from the reward at each step."""
    baseline: SolutionSpec | None = None
    reference: SolutionSpec | None = None

    def __post_init__(self) -> None:
        if ID.fullmatch(self.id) is None:
            raise InvalidArgument(f"id: expected a name like 'TabularRegression-v0', got {shorten(self.id)}")
        self.evaluation.check()
        if not math.isfinite(self.cost):
            raise InvalidArgument(f"cost: expected a finite number, got {self.cost}")
        for at, one in enumerate(self.submission):
            byte_count(one.size, f"submission[{at}].size")
        Policy(network=self.network)
        for name in ("memory", "disk", "file_size"):
            self.resources.bytes_of(name)
        for name in Timeouts.__struct_fields__:
            self.timeouts_known.of(name)
        self._check_paths()

    def _check_paths(self) -> None:
        data = self.data
        paths = {
            "evaluation.grader": self.evaluation.grader,
            "data.generator": data.generator,
            "data.public": data.public,
            "data.hidden": data.hidden,
            "data.folder": data.folder,
            "starter": self.starter,
            "baseline.folder": self.solution("baseline").folder,
            "reference.folder": self.solution("reference").folder,
            **{f"submission[{at}].path": one.path for at, one in enumerate(self.submission)},
            **{f"read_only[{at}]": one for at, one in enumerate(self.read_only)},
            **{f"shared[{at}]": one for at, one in enumerate(self.shared)},
        }
        for where, path in paths.items():
            if path is not None and RELATIVE.fullmatch(path) is None:
                raise InvalidArgument(f"{where}: expected a relative path without '..', got {shorten(path)}")
        secret = ["task.yaml", "cheats", self.evaluation.grader, data.generator, data.hidden]
        secret += [self.solution("baseline").folder, self.solution("reference").folder]
        for one in self.shared:
            if any(part is not None and PurePosixPath(one).is_relative_to(part) for part in secret):
                raise InvalidArgument(f"shared: expected files that agents may see, got {shorten(one)}")
        names = [one.path for one in self.submission]
        if len(set(names)) != len(names):
            raise InvalidArgument(f"submission: expected different paths, got {listing(names)}")

    @property
    def timeouts_known(self) -> Timeouts:
        """The timeouts, with `timeout` as the total."""
        return self.timeouts if self.timeout is None else msgspec.structs.replace(self.timeouts, total=self.timeout)

    @property
    def env_id(self) -> str:
        """The id that `ludus.make` takes."""
        match = ID.fullmatch(self.id)
        return f"task/{self.id}" if match is None else f"task/{match['name']}-v{match['version'] or 0}"

    def solution(self, name: Literal["baseline", "reference"]) -> SolutionSpec:
        """A solution of the author's; by default the files of the folder of that name."""
        given: SolutionSpec | None = getattr(self, name)
        return SolutionSpec(folder=name) if given is None else given
