"""`GitWorkspace`: a sandbox for one episode, in which the agent's commands run; its only network is the forge."""

import shlex
from dataclasses import dataclass

from ludus.envs.open.git.box import CONFIG, GitBox, Ran
from ludus.envs.open.git.forge import HOST, OWNER, Forge, bare_files, put
from ludus.envs.open.git.objects import Repository
from ludus.envs.open.git.tasks import Checkout, GitTask
from ludus.errors import InvalidValue

__all__ = ["GitWorkspace", "Quotas", "words_of"]

AGENT = ("Agent", "agent@example.com")
CLOCK_STEP = 60
SHELL_WORDS = {"|", "||", "&&", ";", "&", ">", ">>", "<", "<<", "2>&1"}


@dataclass(frozen=True)
class Quotas:
    """What a workspace may use up."""

    seconds: float = 10.0
    memory: int = 512 << 20
    processes: int = 64
    output: int = 64 << 10
    disk: int = 64 << 20


def words_of(command: str) -> list[str]:
    """The words of a command, without `git`; there is no shell.

    >>> words_of("git commit -m 'two words'"), words_of("status")
    (['commit', '-m', 'two words'], ['status'])
    """
    try:
        words = shlex.split(command)
    except ValueError as error:
        raise InvalidValue(f"command: expected words, with every quote closed, got {error}") from None
    if words[:1] == ["git"]:
        words = words[1:]
    if not words:
        raise InvalidValue("command: expected a command of git, got none")
    found = sorted(SHELL_WORDS & set(words))
    if found or any("\0" in word for word in words):
        raise InvalidValue(f"command: expected one command of git, got {found or 'a null'}: there is no shell here")
    return words


class GitWorkspace:
    """The files and commands of one episode.

    >>> with GitBox("workspace") as box:
    ...     box.run(["--version"]).stdout.startswith("git version")
    True
    """

    def __init__(self, forge: Forge, quotas: Quotas, clock: int) -> None:
        self.quotas, self.clock = quotas, clock
        self.box = GitBox(
            "workspace", memory=quotas.memory, processes=quotas.processes, disk=quotas.disk, ask=forge.ask
        )

    def begin(self, task: GitTask | None) -> None:
        """Have what the task begins with."""
        files = {"~/.gitconfig": CONFIG.format(name=AGENT[0], email=AGENT[1]).encode()}
        checkouts = task.workspace if task else {}
        for name, one in checkouts.items():
            files |= _checkout_files(name, one, task.forge.get(name) if task else None)
        put(self.box, files)
        for name, one in checkouts.items():
            commands = [["reset", "-q", "--hard"], *one.setup]
            self.box.call("setup", commands=commands, folder=name, variables=self.variables())
            put(self.box, {f"{name}/{path}": text.encode() for path, text in one.files.items()})
            if one.staged:
                self.box.call("setup", commands=[["add", "-A"]], folder=name, variables=self.variables())

    def variables(self) -> dict[str, str]:
        """The clock of the episode, as git reads it."""
        date = f"{self.clock} +0000"
        return {"GIT_AUTHOR_DATE": date, "GIT_COMMITTER_DATE": date, "GIT_TEST_DATE_NOW": str(self.clock)}

    def run(self, words: list[str], folder: str) -> Ran:
        """Run git, a minute after the command before."""
        self.clock += CLOCK_STEP
        quotas = self.quotas
        return self.box.run(words, folder, seconds=quotas.seconds, limit=quotas.output, variables=self.variables())

    def close(self) -> None:
        """Kill all that is left."""
        self.box.close()


def _checkout_files(name: str, one: Checkout, origin: Repository | None) -> dict[str, bytes]:
    config = "[core]\n\trepositoryformatversion = 0\n\tbare = false\n\tlogallrefupdates = true\n"
    if origin is not None:
        url = f"http://{HOST}/{OWNER}/{name}.git"
        config += f'[remote "origin"]\n\turl = {url}\n\tfetch = +refs/heads/*:refs/remotes/origin/*\n'
    prefix = f"{name}/.git/"
    files = bare_files(prefix, one.repository, config)
    return files | {f"{prefix}logs/{ref}": text.encode() for ref, text in one.logs.items()}
