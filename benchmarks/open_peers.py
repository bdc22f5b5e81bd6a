"""Echo, Chat and Git beside OpenEnv's own environments of these names, each in a process, without a server.

    python benchmarks/open_peers.py FOLDER

FOLDER is `envs` of a copy of OpenEnv's repository, whose environments run in the interpreter that OpenEnv is installed
in (build/peers, see scripts/peers.sh). Echo and Chat: steps a second of the processor's time, resets included, the best
of three runs in turn; both chats have our bundled tokenizer. Git: milliseconds by the clock, the median of ten, both on
one forge on loopback; ours confines every command, theirs does not. Its home is a folder that is thrown away, since it
writes into the one it finds.
"""

import ast
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from importlib import import_module
from pathlib import Path
from statistics import median
from sysconfig import get_path
from typing import Any

ROOT = Path(__file__).parents[1]
OPENENV = ROOT / "build" / "peers" / "openenv-0.10.0" / "bin" / "python"
STEPS, FEW, EPISODE, RUNS, TIMES = 1000, 100, 10, 3, 10
MESSAGE = "Which light do you see?"
COMMANDS = ("status", "log --oneline")
REPOSITORY = "atlas"


def stepped(env: Any, action: Any, steps: int = STEPS) -> float:
    """Steps a second of the processor's time, with a reset before every tenth."""
    begun = time.process_time()
    for number in range(steps):
        if number % EPISODE == 0:
            env.reset()
        env.step(action)
    return steps / (time.process_time() - begun)


def our_echo() -> float:
    """Of tools, as theirs is."""
    from ludus.envs.open import EchoTools  # not in the process of OpenEnv's
    from ludus.tools import Call

    return stepped(EchoTools(), Call("echo_message", {"message": MESSAGE}))


def their_echo() -> float:
    """Of tools."""
    from echo_env.server.echo_environment import EchoEnvironment  # type: ignore[import-not-found]
    from openenv.core.env_server.mcp_types import CallToolAction  # type: ignore[import-not-found]

    action: Any = CallToolAction(tool_name="echo_message", arguments={"message": MESSAGE})
    return stepped(EchoEnvironment(), action, FEW)


def our_chat() -> float:
    """With a user who answers."""
    from ludus.envs.open.chat import Chat, ChatAction

    env = Chat(scenario="debug_router")
    return stepped(env, ChatAction(tokens=env.tokenizer.encode(MESSAGE)))


class Tokenizer:
    """The bundled one, as their environment asks for it."""

    def __init__(self) -> None:
        from ludus.envs.open.chat.tokenizer import BundledTokenizer

        self.own = BundledTokenizer()

    def apply_chat_template(self, conversation: list[Any], tokenize: bool = True) -> list[int]:
        """All messages."""
        del tokenize
        return [token for message in conversation for token in self.own.message(message)]

    def encode(self, text: str) -> list[int]:
        """Without marks."""
        return self.own.encode(text)

    def decode(self, tokens: list[int], skip_special_tokens: bool = True) -> str:
        """Without marks."""
        del skip_special_tokens
        return self.own.decode(tokens)


def their_chat() -> float:
    """With nobody who answers."""
    from chat_env.models import ChatAction  # type: ignore[import-not-found]
    from chat_env.server.chat_environment import ChatEnvironment  # type: ignore[import-not-found]

    tokenizer = Tokenizer()
    env: Any = ChatEnvironment(tokenizer, system_prompt="You serve a customer.")
    return stepped(env, ChatAction(tokens=tokenizer.encode(MESSAGE)))


def timed(env: Any, action: Callable[..., Any], reset: Callable[[int], Any]) -> dict[str, float]:
    """Milliseconds of a reset with the first listing, of a clone, and of each command."""
    found: dict[str, list[float]] = {}

    def begin(number: int) -> Any:
        reset(number)
        return env.step(action(action_type="list_repos"))

    def took(name: str, work: Callable[..., Any], *arguments: Any) -> None:
        begun = time.perf_counter()
        result = work(*arguments)
        assert getattr(result, "observation", result).success, result
        found.setdefault(name, []).append((time.perf_counter() - begun) * 1e3)

    for number in range(TIMES + 1):
        took("reset and `list_repos`", begin, number)
        took("`clone_repo`", env.step, action(action_type="clone_repo", repo_name=REPOSITORY))
        for command in COMMANDS:
            asked = action(action_type="execute_git_command", command=command, working_dir=REPOSITORY)
            took(f"`git {command}`", env.step, asked)
    return {name: median(times[1:]) for name, times in found.items()}


def our_git(url: str, user: str, password: str) -> dict[str, float]:
    """Every command in a sandbox."""
    from ludus.envs.open.git import Git, GitAction

    with Git(forge_url=url, username=user, password=password) as env:
        return timed(env, GitAction, lambda number: env.reset(seed=number))


def their_git(url: str, user: str, password: str, folder: str) -> dict[str, float]:
    """Commands as they come."""
    from git_env.models import GitAction  # type: ignore[import-not-found]
    from git_env.server.git_task_environment import GitTaskEnvironment  # type: ignore[import-not-found]

    env: Any = GitTaskEnvironment(url, user, password, workspace_dir=folder)
    return timed(env, GitAction, lambda _: env.reset())


def by_openenv(envs: str, call: str, home: str) -> Any:
    """What a function of this file gives in the interpreter of OpenEnv."""
    paths = [envs, str(Path(__file__).parent), str(ROOT)]
    code = f"import sys; sys.path[:0] = {paths!r}; sys.path.append({get_path('platlib')!r}); "
    code += f"import open_peers; print(repr(open_peers.{call}))"
    done = subprocess.run(
        [str(OPENENV), "-c", code], check=True, stdout=subprocess.PIPE, text=True, env={**os.environ, "HOME": home}
    )
    return ast.literal_eval(done.stdout.strip().splitlines()[-1])


def gits(envs: str, home: str) -> tuple[dict[str, float], dict[str, float]]:
    """Ours and theirs on one forge."""
    sys.path.insert(0, str(ROOT))
    forges = import_module("tests.envs.gitea")
    with tempfile.TemporaryDirectory() as folder, forges.gitea(Path(folder), [f"{forges.USER}/{REPOSITORY}"]) as forge:
        known = forge.url, forges.USER, forges.PASSWORD
        return our_git(*known), by_openenv(envs, f"their_git{(*known, f'{home}/workspace')!r}", home)


def main() -> None:
    """The tables."""
    if len(sys.argv) < 2:
        print("not measured: expected FOLDER, `envs` of a copy of OpenEnv's repository, got none")
        return
    envs = str(Path(sys.argv[1]).resolve())
    pairs = {
        "Echo": (our_echo, "their_echo()"),
        "Chat": (our_chat, "their_chat()"),
    }
    load = " ".join(f"{one:.1f}" for one in os.getloadavg())
    print(f"{os.cpu_count()} cores, load {load}\n\n| steps/s | ours | OpenEnv's | |\n|---|---|---|---|")
    with tempfile.TemporaryDirectory() as home:
        for name, (ours, theirs) in pairs.items():
            runs = [(ours(), by_openenv(envs, theirs, home)) for _ in range(RUNS)]
            own, other = (max(column) for column in zip(*runs, strict=True))
            print(f"| {name} | {own:,.0f} | {other:,.0f} | {own / other:.1f}× |", flush=True)
        print("\n| Git, ms | ours | OpenEnv's |\n|---|---|---|")
        own, other = gits(envs, home)
        print(*(f"| {name} | {took:.1f} | {other[name]:.1f} |" for name, took in own.items()), sep="\n")


if __name__ == "__main__":
    main()
