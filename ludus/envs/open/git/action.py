"""Actions, observations and state of Git, with OpenEnv's names, and a function for each action."""

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Annotated, ClassVar

from ludus.spaces import Text

__all__ = [
    "GitAction",
    "GitObservation",
    "GitState",
    "clone_repo",
    "execute_git_command",
    "list_files",
    "list_repos",
    "read_file",
    "submit",
    "write_file",
]

MAX_TEXT_CHARS = 65_536
Word = Annotated[str, Text(1024, min_length=0, charset=None)]
Output = Annotated[str, Text(1 << 20, min_length=0, charset=None)]


@dataclass
class GitAction:
    """One action. OpenEnv's three use its fields as there; files go by `target_dir` and `command`.

    >>> write_file("notes.txt", "hello")
    GitAction(action_type='write_file', repo_name='', target_dir='notes.txt', command='hello', working_dir='')
    """

    __tools__: ClassVar[tuple[Callable[..., object], ...]] = ()
    """What agents call: the functions below."""

    action_type: Word = ""
    """`list_repos`, `clone_repo`, `execute_git_command`, `read_file`, `write_file`, `list_files` or `submit`; where it
    is empty, a command is executed, and without one repositories are listed."""
    repo_name: Word = ""
    target_dir: str | None = None
    """Where to clone to; of a file action, the path."""
    command: Annotated[str, Text(MAX_TEXT_CHARS, min_length=0, charset=None)] = ""
    """A command of git, with the word `git` or without; of `write_file` the content, of `submit` the answer."""
    working_dir: Word = ""
    """Where it happens, inside of `/workspace`; by default the repository that was cloned last."""


@dataclass
class GitObservation:
    """What came of an action; after a reset, `message` says what is asked."""

    success: bool = False
    message: Output = ""
    output: Output = ""
    error: Output = ""
    repos: list[dict[str, str]] = field(default_factory=list[dict[str, str]])


@dataclass
class GitState:
    """What is shown of the episode."""

    gitea_ready: bool = True
    workspace_path: str = "/workspace"
    task: str = ""


def list_repos() -> GitAction:
    """List the repositories of the forge."""
    return GitAction("list_repos")


def clone_repo(repo_name: str, target_dir: str | None = None) -> GitAction:
    """Clone a repository of the forge into the workspace.

    Args:
        repo_name: Which one, by its name.
        target_dir: Where to, inside of /workspace; by default a folder of its name.
    """
    return GitAction("clone_repo", repo_name, target_dir)


def execute_git_command(command: str, working_dir: str = "") -> GitAction:
    """Run a command of git, with the word `git` or without.

    Args:
        command: The command, as one would type it.
        working_dir: Where, inside of /workspace; by default the repository that was cloned last.
    """
    return GitAction("execute_git_command", command=command, working_dir=working_dir)


def read_file(path: str, working_dir: str = "") -> GitAction:
    """Read a file of the workspace.

    Args:
        path: Its path, from `working_dir`.
        working_dir: A folder inside of /workspace; by default the repository that was cloned last.
    """
    return GitAction("read_file", target_dir=path, working_dir=working_dir)


def write_file(path: str, content: str, working_dir: str = "") -> GitAction:
    """Write a file of the workspace, with the folders above it.

    Args:
        path: Its path, from `working_dir`.
        content: Everything that shall be in it.
        working_dir: A folder inside of /workspace; by default the repository that was cloned last.
    """
    return GitAction("write_file", target_dir=path, command=content, working_dir=working_dir)


def list_files(path: str = ".", working_dir: str = "") -> GitAction:
    """List the names in a folder of the workspace.

    Args:
        path: The folder, from `working_dir`.
        working_dir: A folder inside of /workspace; by default the repository that was cloned last.
    """
    return GitAction("list_files", target_dir=path, working_dir=working_dir)


def submit(answer: str = "") -> GitAction:
    """Hand in, with an answer where one was asked for: the task is graded, and the episode ends.

    Args:
        answer: What was asked for, where the task asks for words.
    """
    return GitAction("submit", command=answer)


GitAction.__tools__ = (list_repos, clone_repo, execute_git_command, read_file, write_file, list_files, submit)
