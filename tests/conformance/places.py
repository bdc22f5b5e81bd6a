"""The places an environment can run in, how one and a batch are made there, and what cannot be done there, and why."""

import atexit
import os
import subprocess
import sys
import tempfile
from collections.abc import Callable
from contextlib import ExitStack
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from typing import Any

import ludus
from ludus.core import AutoresetMode
from ludus.errors import EnvError, InvalidArgument, SnapshotError, WorkerFailure
from ludus.sandbox import Sandbox
from ludus.vector import Process
from tests.client.test_openenv import await_answer, python_of
from tests.conformance.kinds import FOLDER, KINDS, Kind

LANES = 4
ROOT = Path(__file__).parents[2]
OPENED = ExitStack()
"""Environments and servers that tests share; closed when the tests are over."""
atexit.register(OPENED.close)


@dataclass(frozen=True)
class Refusal:
    """What a place cannot do, of some kinds or of all: it says so, by an error of that class whose text matches."""

    reason: str
    error: type[Exception]
    said: str
    kinds: tuple[str, ...] | None = None


@dataclass(frozen=True)
class Absence:
    """What cannot even be asked for there."""

    reason: str
    kinds: tuple[str, ...] | None = None


@dataclass(frozen=True)
class Fault:
    """What should hold, and does not yet."""

    reason: str
    kinds: tuple[str, ...] | None = None


Exceptional = Absence | Fault | Refusal


@dataclass
class Place:
    """Where environments run."""

    name: str
    title: str
    """Of its column."""
    make: Callable[..., Any] | None
    make_vec: Callable[..., Any] | None
    sample: tuple[str, ...] | None = None
    """The kinds that a quick run tries there; None: all, always."""
    every: int = 1
    """Of the laws that spoil an environment, a quick run tries every so many there."""
    exceptions: dict[str, Exceptional | tuple[Exceptional, ...]] = field(default_factory=dict)
    """By the name of the law."""
    singles_absent = Absence("It is an executor of batches: one environment has nothing to be divided.")
    batches_absent = Absence("It has no batches.")
    group: str = ""
    only: tuple[str, ...] | None = None
    """The kinds that there are; None: all."""
    same_classes: bool = True
    """Whether observations are of the author's classes; else they are the same data."""
    _shared: dict[Any, Any] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self.group = self.group or self.name

    @property
    def singles(self) -> bool:
        return self.make is not None

    @property
    def batches(self) -> bool:
        return self.make_vec is not None

    def exception(self, law: str, kind: str) -> Exceptional | None:
        """What it has to say against a law for a kind."""
        found = self.exceptions.get(law)
        for one in found if isinstance(found, tuple) else (found,):
            if one is not None and (one.kinds is None or kind in one.kinds):
                return one
        return None

    def own(self, kind: Kind, **kwargs: Any) -> Any:
        """An environment for one test, which closes it."""
        assert self.make is not None
        return self.make(kind, **kwargs)

    def own_batch(self, kind: Kind, mode: AutoresetMode = AutoresetMode.NEXT_STEP, **options: Any) -> Any:
        """A batch for one test, which closes it."""
        assert self.make_vec is not None
        return self.make_vec(kind, mode, **options)

    def one(self, kind: Kind, **kwargs: Any) -> Any:
        """An environment that tests share; it is reset by each."""
        return self._kept(("one", kind.name, *kwargs.items()), lambda: self.own(kind, **kwargs))

    def batch(self, kind: Kind, mode: AutoresetMode = AutoresetMode.NEXT_STEP, **kwargs: Any) -> Any:
        """A batch that tests share."""
        return self._kept(
            ("batch", kind.name, mode, *kwargs.items()), lambda: self.own_batch(kind, mode, kwargs=kwargs)
        )

    def _kept(self, key: Any, make: Callable[[], Any]) -> Any:
        if key not in self._shared:
            self._shared[key] = OPENED.enter_context(make())
        return self._shared[key]

    def __repr__(self) -> str:
        return self.name


# --- beside the caller ---


def local(kind: Kind, **kwargs: Any) -> Any:
    return ludus.make(kind.target, **kwargs)


def local_batch(executor: Any) -> Callable[..., Any]:
    def make_vec(kind: Kind, mode: AutoresetMode, episodes: Any = None, kwargs: Any = None) -> Any:
        return ludus.make_vec(kind.target, LANES, executor, mode, episodes=episodes, kwargs=kwargs)

    return make_vec


# --- in isolation ---


@cache
def sandbox(backend: str) -> Sandbox:
    """A backend that does not start here fails the test; `make system` installs them."""
    return Sandbox(backend)


def isolated(backend: str) -> Callable[..., Any]:
    return lambda kind, **kwargs: ludus.make(kind.target, isolation=sandbox(backend), **kwargs)


def isolated_batch(backend: str) -> Callable[..., Any]:
    def make_vec(kind: Kind, mode: AutoresetMode, episodes: Any = None, kwargs: Any = None) -> Any:
        executor = (
            Process(workers=2) if kind.name in ("arrays", "screens") else None
        )  # two processes of one batch, once
        return ludus.make_vec(
            kind.target, LANES, executor, mode, isolation=sandbox(backend), episodes=episodes, kwargs=kwargs
        )

    return make_vec


# --- served ---


@cache
def server(workers: int) -> tuple[str, str]:
    """A server of all kinds, a program of its own; its address and its Unix socket, which one worker can have."""
    unix = str(Path(OPENED.enter_context(tempfile.TemporaryDirectory(prefix="ludus-"))) / "socket")
    targets = [kind.target for kind in KINDS.values()] + ["strangers:Arcade"]
    options = ["--port", "0", "--workers", str(workers), "--no-pages", *(["--unix", unix] if workers == 1 else [])]
    path = os.pathsep.join([FOLDER, *sys.path])
    line = program([sys.executable, "-m", "ludus", "serve", *targets, *options], PYTHONPATH=path)
    return line.split()[0], f"unix://{unix}"


def program(command: list[str], **environment: str) -> str:
    """Start a program that ends with this one, however that ends; the first line that it prints."""
    process = subprocess.Popen(
        ["sh", "-c", '"$@" & exec >&-; read -r _; kill "$!"; wait', "sh", *command],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        env={**os.environ, **environment},
        text=True,
    )
    OPENED.callback(process.communicate)
    assert process.stdout is not None
    return process.stdout.readline()


def name_of(kind: Kind) -> str:
    return kind.env.__name__


def served(workers: int, unix: bool) -> Callable[..., Any]:
    return lambda kind, **kwargs: ludus.connect(server(workers)[unix], env=name_of(kind), kwargs=kwargs)


def served_batch(workers: int, unix: bool) -> Callable[..., Any]:
    def make_vec(kind: Kind, mode: AutoresetMode, episodes: Any = None, kwargs: Any = None) -> Any:
        return ludus.connect(
            server(workers)[unix], LANES, env=name_of(kind), kwargs=kwargs, autoreset_mode=mode, episodes=episodes
        )

    return make_vec


# --- OpenEnv's own server ---


@cache
def stock() -> str:
    """OpenEnv's stock server of the same sea; its address."""
    port = int(program([python_of("0.10.0"), str(Path(__file__).with_name("stock_strangers.py"))]))
    await_answer(port)
    return f"http://127.0.0.1:{port}"


def stock_env(kind: Kind, **kwargs: Any) -> Any:
    assert kind.name == "pydantic"
    return ludus.connect(stock(), kwargs=kwargs)


def stock_batch(kind: Kind, mode: AutoresetMode, episodes: Any = None, kwargs: Any = None) -> Any:
    assert kind.name == "pydantic"
    return ludus.connect(stock(), LANES, kwargs=kwargs, autoreset_mode=mode, episodes=episodes)


# --- what cannot be done ---

OWN_AFFAIR = Absence("In process, what an environment does after it was closed is its author's affair.")
HERE = Absence("It runs in the caller's own process, which would end with it.")
UNCHECKED = Absence("Beside the caller only the first reset and step are looked at, and only with a warning.")
AS_GIVEN = Absence(
    "Numbers and text reach an environment as they are given, since some clip; typed actions are always looked at.",
    ("arrays", "text"),
)
DRAWS = Absence("A server has what it serves draw where it can, so that whoever runs it may look; nobody has to ask.")
SERVER = Absence("It runs in the server's own process; `serve(isolation=…)` gives it one of its own.")
NO_PICTURES = Absence("OpenEnv's protocol has no pictures; `render` says so.")
NO_MODE = Refusal(
    "OpenEnv's protocol has no pictures, and its server takes no `render_mode`.",
    InvalidArgument,
    "which makes its environment by itself",
)
NO_SNAPSHOTS = Refusal("OpenEnv's protocol has no snapshots.", SnapshotError, "which has none")
NO_ATTRIBUTES = Refusal("OpenEnv's protocol shows no attributes and calls no methods.", EnvError, "no attributes")
NO_ARGUMENTS = Refusal(
    "OpenEnv's server makes its environment by itself.", InvalidArgument, "which makes its environment by itself"
)
SCHEMA = Absence(
    "OpenEnv's `/schema` describes JSON: it has a field `metadata` of its own, and dates, enums and bytes are text."
)
ANY_OPTION = Absence("`reset` of an environment of OpenEnv's takes any option.")
ANY_ORDER = Absence("OpenEnv's server lets an environment step before its reset, and after its end.")
NOTHING_PRIVATE = Absence("In OpenEnv's state nothing is private.")
NO_TRACEBACK = Absence("OpenEnv's server sends no traceback.")
UNCHECKED_SCHEMA = Refusal(
    "OpenEnv's servers do not hold what they give against their `/schema`: it is given, with a warning.",
    UserWarning,
    "its /schema says something else than it gives",
)
NO_CLASSES = Absence("An environment of OpenEnv's knows no errors of ours.")

SAMPLES: dict[str, tuple[tuple[str, ...], int]] = {
    "process": (("text",), 2),
    "bubblewrap": ((*KINDS, "screens"), 1),
    "landlock": (("arrays",), 2),
    "podman": (("dataclass",), 3),
}
"""The kinds of a quick run: starting a process that imports all of them takes half a second."""

PYDANTIC = ("pydantic",)
WAYS = (
    ("unix", "Unix socket", 1, ("dataclass", "tools")),
    ("websocket", "WebSocket", 1, (*KINDS, "screens")),
    ("websocket", "WebSocket", 2, ("struct", "text")),
)
"""A server with several workers has no Unix socket; `test_places.py` holds it to that."""

REFERENCE = Place("reference", "in process", local, local_batch("serial"))
"""What all places are compared with; not itself one of them, so that none is compared with itself."""

PLACES: dict[str, Place] = {
    one.name: one
    for one in (
        Place("local", "in process", local, local_batch("serial")),
        Place("workers", "process executor", None, local_batch(Process(workers=2)), (*KINDS, "screens")),
        *(
            Place(backend, f"isolation: {backend}", isolated(backend), isolated_batch(backend), *sample)
            for backend, sample in SAMPLES.items()
        ),
        *(
            Place(
                f"{way}{workers}",
                f"{title}, {workers} worker{'s' * (workers > 1)}",
                served(workers, way == "unix"),
                served_batch(workers, way == "unix"),
                sample,
                group=f"server{workers}",
            )
            for way, title, workers, sample in WAYS
        ),
        Place(
            "openenv", "OpenEnv's server", stock_env, stock_batch, ("pydantic",), only=("pydantic",), same_classes=False
        ),
    )
}


def note(places: tuple[str, ...], laws: tuple[str, ...], exception: Exceptional) -> None:
    """Write down what these places have to say against these laws."""
    for place in places:
        for one in laws:
            before = PLACES[place].exceptions.get(one, ())
            PLACES[place].exceptions[one] = (*(before if isinstance(before, tuple) else (before,)), exception)


BESIDE, SERVED = ("local", "workers"), ("unix1", "websocket1", "websocket2")
ISOLATED = ("process", "bubblewrap", "landlock", "podman")
note(("local",), ("use_after_closing_is_refused",), OWN_AFFAIR)
note(BESIDE, ("a_process_is_killed_in_a_step",), HERE)
note(SERVED, ("a_process_is_killed_in_a_step",), SERVER)
note(BESIDE, ("a_lie_is_found",), UNCHECKED)
note(SERVED, ("render_needs_a_mode",), DRAWS)
note(("local",), ("a_process_of_a_batch_is_killed",), HERE)
note(SERVED, ("a_process_of_a_batch_is_killed",), SERVER)
note(
    ("workers",),
    ("a_process_of_a_batch_is_killed",),
    Refusal(
        'A worker that dies is a WorkerFailure, unless `Process(on_failure="restart")` is asked for.',
        WorkerFailure,
        "was killed by SIGKILL",
    ),
)
note(("openenv",), ("arguments_reach_it",), NO_ARGUMENTS)
note(("openenv",), ("it_renders", "lanes_render"), NO_MODE)
note(("openenv",), ("render_needs_a_mode",), NO_PICTURES)
note(
    ("openenv",),
    (
        *("spaces_are_the_authors", "observations_are_of_the_authors_class", "the_spaces_of_a_batch"),
        "a_wrong_action_is_refused_in_the_same_words",
    ),
    SCHEMA,
)
note(("openenv",), ("unknown_options_are_refused",), ANY_OPTION)
note(("openenv",), ("a_step_needs_a_reset",), ANY_ORDER)
note(("openenv",), ("its_private_state_is_shown_where_asked_for", "the_private_state_of_lanes"), NOTHING_PRIVATE)
note(("openenv",), ("a_lie_is_found",), UNCHECKED_SCHEMA)
note(("openenv",), ("an_exception_has_its_traceback", "an_exception_in_a_lane_has_its_traceback"), NO_TRACEBACK)
note(("openenv",), ("an_error_of_ludus_keeps_its_class", "an_error_of_ludus_in_a_lane"), NO_CLASSES)
note(
    ("openenv",),
    ("a_snapshot_is_gone_back_to", "a_snapshot_moves", "a_snapshot_of_a_batch", "lanes_are_forked"),
    NO_SNAPSHOTS,
)
note(("openenv",), ("attributes_are_read_and_set", "a_method_is_called", "attributes_of_lanes"), NO_ATTRIBUTES)
note(("openenv",), ("a_process_is_killed_in_a_step", "a_process_of_a_batch_is_killed"), SERVER)
note(
    (*BESIDE, *ISOLATED),
    ("a_wrong_action_is_refused_for_its_author",),
    Absence(
        "Numbers and text reach an environment as they are given: some clip. Typed actions never do.",
        ("arrays", "text"),
    ),
)
note(("openenv",), ("a_wrong_action_is_refused_for_its_author",), NO_ARGUMENTS)
