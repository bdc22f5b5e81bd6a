"""Git: tasks on real repositories, behind a real forge, with every command in a sandbox."""

import os
from collections.abc import Callable
from typing import ClassVar

from ludus.core import Env, Info, Outcome, Step
from ludus.core.options import Options
from ludus.core.snapshot import Memo
from ludus.envs.open.git.action import GitAction, GitObservation, GitState
from ludus.envs.open.git.box import INNER
from ludus.envs.open.git.forge import HOST, Forge, LocalForge, forge_of
from ludus.envs.open.git.picture import git_picture
from ludus.envs.open.git.tasks import KINDS, Checks, Found, GitTask, Kind
from ludus.envs.open.git.workspace import GitWorkspace, Quotas, words_of
from ludus.errors import (
    ChannelError,
    InvalidAction,
    InvalidArgument,
    InvalidValue,
    ResetNeeded,
    did_you_mean,
    shorten,
)
from ludus.rendering import Canvas, Choice, Drawn, choice
from ludus.sandbox.enforcement import check_outermost
from ludus.sandbox.framed_process import Late
from ludus.seeding import Seed
from ludus.spaces import Record

__all__ = ["Git"]

TASK, CHECKS, INVALID = 0.8, 0.2, -0.05
MAX_FILE = 64 << 10
HOW = "Submit when it is done: the repositories are then looked at, and the episode ends."
FREE = "The repositories of a forge of your own; nothing is asked, and nothing is graded."
PLACED = ("clone", "init")
"""Commands that make a folder of their own: by default they run at the top of the workspace."""


class Git(Drawn, Env[GitObservation, GitAction]):
    r"""Work on repositories of a forge until they are what was asked for; `submit` hands in.

    >>> from ludus.envs.open.git import clone_repo, execute_git_command
    >>> env = Git(task="tag_release")
    >>> observation, info = env.reset(seed=0)
    >>> name = observation.repos[0]["name"]
    >>> env.step(clone_repo(name)).observation.success
    True
    >>> env.step(execute_git_command("git status", f"/workspace/{name}")).observation.output.splitlines()[0]
    'On branch main'
    >>> env.close()
    """

    metadata = Drawn.metadata | {"render_fps": 2}
    snapshot_shared: ClassVar[tuple[str, ...]] = ("_workspace", "_forge", "_kinds", "_window")

    def __init__(
        self,
        task: str | None = None,
        seconds: float = 10.0,
        memory: int = 512 << 20,
        forge_url: str | None = None,
        username: str | None = None,
        password: str | None = None,
        render_mode: str | None = None,
    ) -> None:
        for name, value in (("seconds", seconds), ("memory", memory)):
            if isinstance(value, bool) or not isinstance(value, int | float) or not value > 0:  # pyright: ignore[reportUnnecessaryIsInstance]
                raise InvalidArgument(f"Git {name}: expected a number above 0, got {shorten(value)}")
        self.quotas = Quotas(seconds=seconds, memory=memory)
        remote = forge_of(forge_url, username, password)
        self._forge: Forge = LocalForge() if remote is None else remote
        self._kinds = _chosen(task) if remote is None else []
        self.action_space, self.observation_space = Record(GitAction), Record(GitObservation)
        self.render_mode = render_mode
        self.state: GitState | None = None
        self._workspace: GitWorkspace | None = None
        self._stale = False
        self._task: GitTask | None = None
        self._actions: list[GitAction] = []
        self._folder = ""
        self._over = False
        self._shown: list[tuple[str, GitObservation]] = []
        self._clones: list[str] = []

    def reset(self, *, seed: Seed | None = None, options: Options | None = None) -> tuple[GitObservation, Info]:
        """Draw a task; the option `task` names its kind. The first action starts its sandboxes.

        SandboxUnavailable inside of another sandbox, where that could not be.
        """
        check_outermost("open/Git-v0", INNER)
        kinds = self._kinds if not options else self._named(options)
        super().reset(seed=seed)
        rng = self.np_random
        self._task = None
        if kinds:
            kind = kinds[int(rng.integers(len(kinds)))]
            self._task = kind.task(int(rng.integers(1 << 62)))
        self._begin()
        task = self._task
        prompt = f"{task.prompt}\n{HOW}" if task else FREE
        self.state = GitState(task=task.kind if task else "")
        observation = GitObservation(True, prompt, repos=self._repos())
        self._shown, self._clones = [("", observation)], [one["name"] for one in observation.repos]
        return observation, {"task": self.state.task, "prompt": prompt}

    def step(self, action: GitAction) -> Step[GitObservation]:
        """Take an action; what cannot be understood is reported in `error`, and the episode goes on."""
        if self.state is None or self._over:
            got = "an episode that has ended" if self._over else "no episode under way"
            raise ResetNeeded(f"step: expected reset() first, got {got}")
        self.action_space.check(action, "action", InvalidAction)
        if self._stale:
            self._replay()
        components = {"task": 0.0, "checks": 0.0, "invalid": 0.0}
        facts: dict[str, object] = {"won": False, "invalid_format": False}
        info: Info = {"reward_components": components, "facts": facts}
        kind = action.action_type or ("execute_git_command" if action.command else "list_repos")
        self._actions = [*self._actions, action]
        if kind == "submit" and self._task is not None:
            observation = self._submitted(self._task, action.command, info)
        else:
            observation = self._observed(kind, action, info)
        components["invalid"] = INVALID if facts["invalid_format"] else 0.0
        self._shown = [*self._shown[-10:], (_typed(kind, action), observation)]
        return Step(observation, float(sum(components.values())), self._over, False, info)

    def close(self) -> None:
        """End both sandboxes."""
        self._drop()
        self._forge.close()
        super().close()

    def get_choices(self) -> list[Choice]:
        """A command line, the repositories to clone, and the end."""
        if self.state is None or self._over:
            return []
        return [
            choice("Run", {"action_type": "execute_git_command", "command": "{text}"}, ask="A command, as git log"),
            *(choice(f"clone {name}", {"action_type": "clone_repo", "repo_name": name}) for name in self._clones),
            choice("list files", {"action_type": "list_files"}),
            choice("submit", {"action_type": "submit"}),
        ]

    def draw(self) -> Canvas:
        """The last commands and what they said, and the commits that the task began with."""
        task = self._task
        graphs = {} if task is None else task.forge or {name: one.repository for name, one in task.workspace.items()}
        return git_picture([(command, one.message, one.output, one.error) for command, one in self._shown], graphs)

    # --- actions ---

    def _observed(self, kind: str, action: GitAction, info: Info) -> GitObservation:
        known: dict[str, Callable[[GitAction, Info], GitObservation]] = {
            "list_repos": self._listed,
            "clone_repo": self._cloned,
            "execute_git_command": self._executed,
            "read_file": self._file_read,
            "write_file": self._file_written,
            "list_files": self._files_listed,
        }
        try:
            if kind not in known:
                meant = did_you_mean(kind, [*known, "submit"])
                raise InvalidValue(f"action_type: expected one of {[*known, 'submit']}, got {shorten(kind)}{meant}")
            return known[kind](action, info)
        except InvalidValue as error:
            info["facts"]["invalid_format"] = True
            return GitObservation(False, "The action cannot be understood.", error=str(error))
        except OSError as error:
            return GitObservation(False, "That was not possible.", error=str(error))
        except ChannelError as error:
            return self._lost(error, info)

    def _listed(self, action: GitAction, info: Info) -> GitObservation:
        del action, info
        repos = self._repos()
        text = "\n".join(f"{one['full_name']}  {one['clone_url']}" for one in repos)
        return GitObservation(True, f"Found {len(repos)} repositories", text, repos=repos)

    def _cloned(self, action: GitAction, info: Info) -> GitObservation:
        known = {one["name"]: one for one in self._repos()}
        name = action.repo_name.rpartition("/")[2].removesuffix(".git")
        if name not in known:
            meant = did_you_mean(name, list(known))
            raise InvalidValue(f"repo_name: expected one of {sorted(known)}, got {shorten(action.repo_name)}{meant}")
        target = _inside(action.target_dir or name)
        seen = self._ran(["clone", known[name]["clone_url"], f"/workspace/{target}"], "", info)
        if seen.success:
            self._folder = target
            seen.message = f"Cloned {name} to /workspace/{target}"
        return seen

    def _executed(self, action: GitAction, info: Info) -> GitObservation:
        words = words_of(action.command)
        folder = _inside(action.working_dir) if action.working_dir else self._folder
        if not action.working_dir and words[0] in PLACED:
            folder = ""
        return self._ran(words, folder, info)

    def _ran(self, words: list[str], folder: str, info: Info) -> GitObservation:
        ran = self._ready().run(words, folder)
        message = f"git {words[0]}: exit code {ran.code}"
        if ran.late:
            info["limit"] = "time"
            message = f"git {words[0]}: killed after {self.quotas.seconds:g} s"
        elif ran.dropped:
            info["limit"] = "output"
            message += f"; {ran.dropped} bytes dropped"
        success = ran.code == 0 and not ran.late
        # git says on stderr how things go, too: only of a failure it is an error.
        output = ran.stdout + (ran.stderr if success else "")
        return GitObservation(success, message, output, "" if success else ran.stderr or message)

    def _file_read(self, action: GitAction, info: Info) -> GitObservation:
        del info
        path = self._path(action)
        reply = self._ready().box.call("read", path=path, limit=MAX_FILE)
        message = f"{reply['size']} bytes" + (f", the first {MAX_FILE} of them" if reply["size"] > MAX_FILE else "")
        return GitObservation(True, message, reply["data"].decode("utf8", "replace"))

    def _file_written(self, action: GitAction, info: Info) -> GitObservation:
        del info
        path = self._path(action)
        self._ready().box.call("write", action.command.encode("utf8", "replace"), path=path)
        return GitObservation(True, f"Wrote /workspace/{path}")

    def _files_listed(self, action: GitAction, info: Info) -> GitObservation:
        del info
        names = self._ready().box.call("list", path=self._path(action, "."))["names"]
        return GitObservation(True, f"{len(names)} names", "\n".join(names))

    def _path(self, action: GitAction, default: str = "") -> str:
        target = action.target_dir or default
        if not target:
            raise InvalidValue("target_dir: expected the path of a file, got none")
        folder = _inside(action.working_dir) if action.working_dir else self._folder
        return _inside(target if target.startswith("/") else os.path.join(folder, target))

    def _repos(self) -> list[dict[str, str]]:
        task, forge = self._task, self._forge
        if task is not None and isinstance(forge, LocalForge):
            return forge.listed(task.forge)
        return forge.repos()

    # --- the sandboxes ---

    def _begin(self) -> None:
        """The beginning of the episode; what the last one left is gone with its sandbox."""
        self._drop()
        self._actions, self._over = [], False
        self._folder = self._task.project if self._task and self._task.local else ""

    def _ready(self) -> GitWorkspace:
        if self._workspace is None:
            task, forge = self._task, self._forge
            self._workspace = GitWorkspace(forge, self.quotas, _clock(task))
            if task is not None and isinstance(forge, LocalForge):
                forge.fill(task.forge)  # while the other one starts
            self._workspace.begin(task)
        return self._workspace

    def _lost(self, error: ChannelError, info: Info) -> GitObservation:
        """The agent ended its own workspace: it has it back as it was in the beginning; the forge is as it was."""
        info["restarted"] = True
        if isinstance(error, Late):
            info["limit"] = "time"
        if self._workspace is not None:
            self._workspace.close()
            self._workspace = GitWorkspace(self._forge, self.quotas, self._workspace.clock)
            self._workspace.begin(self._task)
        self._folder = self._task.project if self._task and self._task.local else ""
        text = f"the workspace is gone ({error}); it was begun anew"
        return GitObservation(False, "The workspace was begun anew.", error=text)

    def _replay(self) -> None:
        """Take a restored episode's actions again, in sandboxes of its own."""
        actions, shown = self._actions, self._shown
        self._begin()
        for action in actions:
            kind = action.action_type or ("execute_git_command" if action.command else "list_repos")
            self._observed(kind, action, {"facts": {}})
        self._actions, self._shown = actions, shown

    def _drop(self) -> None:
        self._stale = False
        if self._workspace is not None:
            self._workspace.close()
            self._workspace = None

    def _reinstate(self, state: object, memo: Memo) -> None:
        super()._reinstate(state, memo)
        self._stale = True

    # --- grading ---

    def _submitted(self, task: GitTask, answer: str, info: Info) -> GitObservation:
        """Look at what the repositories have become; what is expected never leaves this process."""
        self._over = True
        try:
            checks = self._graded(task, answer)
        except (ChannelError, OSError, InvalidValue, ValueError):  # a repository that git itself cannot read
            checks = Checks(readable=False)
        info["reward_components"] |= {"task": TASK * checks.passed, "checks": CHECKS * checks.share}
        info["facts"] |= {"won": checks.passed, "checks": dict(checks)}
        info["outcome"] = Outcome.SUCCESS if checks.passed else Outcome.FAILURE
        text = "\n".join(f"{'ok    ' if held else 'failed'} {name}" for name, held in checks.items())
        return GitObservation(checks.passed, "Done." if checks.passed else "Not what was asked for.", text)

    def _graded(self, task: GitTask, answer: str) -> Checks:
        workspace, forge = self._ready(), self._forge
        if not isinstance(forge, LocalForge):
            raise InvalidValue("grading: expected a forge of our own")
        found = Found({name: forge.look(name) for name in task.forge}, {}, answer.strip())
        for name in task.workspace:
            reply = workspace.box.call("dump", folder=name)
            there = forge.imported(reply["files"], reply["data"])
            if there is None:
                return Checks(repository=False)
            found.workspace[name] = there
        return task.check(found)

    def _named(self, options: Options) -> list[Kind]:
        if set(options) - {"task"} or not self._kinds:
            raise InvalidArgument(f"options: expected only 'task', and no forge by URL, got {shorten(options)}")
        return _chosen(options["task"])


def _clock(task: GitTask | None) -> int:
    repositories = [*task.forge.values(), *(one.repository for one in task.workspace.values())] if task else []
    return max((one.clock for one in repositories), default=1_700_000_000) + 86_400


def _chosen(task: object) -> list[Kind]:
    if task is None:
        return list(KINDS.values())
    if not isinstance(task, str) or task not in KINDS:
        meant = did_you_mean(str(task), list(KINDS))
        raise InvalidArgument(f"Git task: expected one of {len(KINDS)} kinds, got {shorten(task)}{meant}")
    return [KINDS[task]]


def _inside(path: str) -> str:
    """A path of the workspace, from its top; what leads outside is refused here, and once more where links are known.

    >>> _inside("/workspace/atlas/"), _inside("atlas/./src")
    ('atlas', 'atlas/src')
    """
    relative = path.removeprefix("/workspace") if path == "/workspace" or path.startswith("/workspace/") else path
    if relative is path and path.startswith("/"):
        raise InvalidValue(f"path: expected one inside of /workspace, got {shorten(path)}")
    found = os.path.normpath(relative.lstrip("/") or ".")
    if found == ".." or found.startswith("../") or "\0" in found:
        raise InvalidValue(f"path: expected one inside of /workspace, got {shorten(path)}")
    return "" if found == "." else found


def _typed(kind: str, action: GitAction) -> str:
    """An action as one would type it."""
    if kind == "execute_git_command":
        return f"git {action.command.removeprefix('git ')}"
    if kind == "clone_repo":
        return f"git clone http://{HOST}/{action.repo_name}"
    return " ".join(filter(None, (kind, action.target_dir, action.command if kind == "submit" else "")))
