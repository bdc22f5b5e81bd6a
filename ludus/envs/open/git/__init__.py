"""Git: 36 kinds of tasks on real repositories, a forge behind git's own HTTP server, and commands in a sandbox."""

from ludus.envs.open.git.action import (
    GitAction,
    GitObservation,
    GitState,
    clone_repo,
    execute_git_command,
    list_files,
    list_repos,
    read_file,
    submit,
    write_file,
)
from ludus.envs.open.git.git import Git

__all__ = [
    "Git",
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
