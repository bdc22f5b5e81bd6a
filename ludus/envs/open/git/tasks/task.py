"""`GitTask`: what is asked, the repositories it is asked of, and how what they became is judged."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

import numpy as np

from ludus.envs.open.git.objects import Repository, Seen

__all__ = ["Checkout", "Checks", "Draw", "Found", "Kind", "GitTask"]

FIRST = ("Ada", "Grace", "Linus", "Margaret", "Ken", "Barbara", "Edsger", "Radia", "Alan", "Frances")
LAST = ("Moss", "Park", "Rivera", "Sato", "Novak", "Okafor", "Berg", "Costa", "Lind", "Roy")
PROJECTS = ("atlas", "beacon", "comet", "delta", "ember", "falcon", "garnet", "harbor", "indigo", "juniper")
WORDS = ("amber", "birch", "cedar", "dune", "elm", "fern", "grove", "heath", "iris", "jade", "kelp", "larch", "maple",
         "nettle", "oak", "pine", "quartz", "reed", "slate", "thorn", "umber", "violet", "willow")  # fmt: skip


class Checks(dict[str, bool]):
    """What must hold in the end, by name: `kept` held from the beginning and must not be broken, the rest is progress.

    >>> checks = Checks(merged=True)
    >>> checks.kept(history=True)
    >>> checks.passed, checks.share
    (True, 1.0)
    """

    def __init__(self, **done: bool) -> None:
        super().__init__(done)
        self._guards: set[str] = set()

    def kept(self, **guards: bool) -> None:
        """Add what held from the beginning."""
        self.update(guards)
        self._guards |= set(guards)

    @property
    def passed(self) -> bool:
        """Whether all hold."""
        return all(self.values())

    @property
    def share(self) -> float:
        """How much of the progress was made; none where something was broken."""
        progress = [held for name, held in self.items() if name not in self._guards]
        intact = all(self[name] for name in self._guards)
        return sum(progress) / len(progress) if progress and intact else 0.0


@dataclass
class Found:
    """What is there in the end: repositories of the forge, those of the workspace, and the answer that was given."""

    forge: dict[str, Seen]
    workspace: dict[str, Seen]
    answer: str = ""


@dataclass
class Checkout:
    """A repository that is in the workspace from the beginning."""

    repository: Repository
    setup: list[list[str]] = field(default_factory=list[list[str]])
    """Commands of git that bring it where the task begins, after a first checkout."""
    files: dict[str, str] = field(default_factory=dict[str, str])
    """Written beside it after all commands."""
    logs: dict[str, str] = field(default_factory=dict[str, str])
    """Reflogs, by ref."""
    staged: bool = False
    """Whether those files are added to the index."""


@dataclass
class GitTask:
    """One drawn task. What `check` looks at is data; the solution is a list of words for policies of this process."""

    project: str
    prompt: str
    forge: dict[str, Repository]
    check: Callable[[Found], Checks]
    solution: list[list[str]]
    """Commands of git in the project; `["!write", path, content]` writes a file, `["!submit", answer]` hands in."""
    workspace: dict[str, Checkout] = field(default_factory=dict[str, Checkout])
    kind: str = ""
    drawn: "tuple[Callable[[int], GitTask], int] | None" = None
    """Who draws it, and from which seed: how it is copied and pickled, since `check` is a function of its own."""

    def __reduce__(self) -> "tuple[Callable[[int], GitTask], tuple[int]]":
        if self.drawn is None:
            raise TypeError("a task of Git: expected one that Kind.task has drawn, got one made by hand")
        draw, seed = self.drawn
        return draw, (seed,)

    def __deepcopy__(self, memo: object) -> "GitTask":
        """Itself: nothing changes a task once it is drawn."""
        return self

    @property
    def local(self) -> bool:
        """Whether it begins in the workspace."""
        return bool(self.workspace)


class Draw:
    """What tasks are made of: people, projects, lines and a first repository, all from one generator."""

    def __init__(self, rng: np.random.Generator) -> None:
        self.rng = rng
        self.project = self.pick(PROJECTS)
        names = [f"{first} {last}" for first in FIRST for last in LAST]
        chosen = [names[int(at)] for at in rng.permutation(len(names))[:4]]
        self.people = [f"{name} <{name.lower().replace(' ', '.')}@example.com>" for name in chosen]
        self.words = [str(word) for word in rng.permutation(list(WORDS))]
        self.repository = Repository(clock=1_700_000_000 + int(rng.integers(10_000)) * 60)

    def pick(self, options: tuple[str, ...] | list[str]) -> str:
        """One of them."""
        return options[int(self.rng.integers(len(options)))]

    def number(self, low: int, high: int) -> int:
        """From low to high, both possible."""
        return int(self.rng.integers(low, high + 1))

    def who(self) -> str:
        """One of the people."""
        return self.pick(self.people)

    def lines(self, count: int, offset: int = 0) -> str:
        """So many lines, each its own."""
        return "".join(f"{word} = {self.number(1, 99)}\n" for word in self.words[offset : offset + count])

    def commit(self, branch: str, files: Mapping[str, str], message: str, *, author: str = "", **more: object) -> str:
        """Commit to the repository, by somebody."""
        return self.repository.commit(branch, files, message, author=author or self.who(), **more)  # pyright: ignore[reportArgumentType]

    def begin(self) -> dict[str, str]:
        """A project with a few commits on main; its files."""
        files = {"README.md": f"# {self.project}\n"}
        self.commit("main", files, f"Begin {self.project}")
        files |= {"settings.ini": self.lines(6), "src/main.py": f"print('{self.project}')\n"}
        self.commit("main", files, "Add settings and a program")
        files |= {"docs/guide.md": f"Start {self.project} with `python src/main.py`.\n"}
        self.commit("main", files, "Write a guide")
        return files


@dataclass(frozen=True)
class Kind:
    """A kind of task, which draws its own."""

    name: str
    make: Callable[[Draw], GitTask]

    def task(self, seed: int) -> GitTask:
        """One of this kind; a seed always draws the same one."""
        task = self.make(Draw(np.random.default_rng(seed)))
        task.kind, task.drawn = self.name, (self.task, seed)
        return task
