"""WebArena, VisualWebArena and WorkArena: played by BrowserGym itself, on sites that the user runs."""

import os
from importlib import import_module
from typing import Protocol, TypedDict

from ludus.errors import InvalidArgument, MissingExtra
from ludus.spaces.kinds import is_dict, is_list

__all__ = ["REMOTE", "RemoteTask", "remote", "remote_tree"]

SITES = ("SHOPPING", "SHOPPING_ADMIN", "REDDIT", "GITLAB", "WIKIPEDIA", "MAP", "HOMEPAGE")
REMOTE: dict[str, tuple[str, ...]] = {
    "webarena": tuple(f"WA_{name}" for name in SITES),
    "visualwebarena": tuple(f"VWA_{name}" for name in ("CLASSIFIEDS", "SHOPPING", "REDDIT", "WIKIPEDIA", "HOMEPAGE")),
    "workarena": ("SNOW_INSTANCE_URL", "SNOW_INSTANCE_UNAME", "SNOW_INSTANCE_PWD"),
}
"""The variables that say where the sites of a benchmark are."""
MAX_LINES = 4000


class GymnasiumTask(Protocol):
    """A task of BrowserGym's package: an environment of Gymnasium's."""

    def reset(self, *, seed: int) -> tuple[dict[str, object], dict[str, object]]:
        """Begin."""
        ...

    def step(self, action: str, /) -> tuple[dict[str, object], float, bool, bool, dict[str, object]]:
        """Do an action."""
        ...

    def close(self) -> None:
        """End its browser."""
        ...


class RemoteView(TypedDict):
    """What a page shows, by OpenEnv's names."""

    text: str
    axtree_txt: str
    url: str
    goal: str
    error: str
    last_action_error: bool


class RemoteTask:
    """A task that BrowserGym plays in a browser of its own, which may reach the sites."""

    def __init__(self, benchmark: str, task: str) -> None:
        self.benchmark, self.task, self.id = benchmark, task, f"{benchmark}.{task}"
        self._env = _made(benchmark, task)

    def reset(self, seed: int) -> RemoteView:
        """Begin; what the page shows, by OpenEnv's names."""
        return _seen(self._env.reset(seed=seed)[0])

    def step(self, text: str) -> tuple[RemoteView, float, bool, bool]:
        """Do an action: what the page shows, reward, terminated and truncated."""
        observation, reward, terminated, truncated, _ = self._env.step(text)
        return _seen(observation), float(reward), bool(terminated), bool(truncated)

    def close(self) -> None:
        """End its browser."""
        self._env.close()


def remote(benchmark: str | None, task: str | None) -> RemoteTask | None:
    """A task of a benchmark whose sites are elsewhere; None for those that are here.

    InvalidArgument names the variables that are missing.
    """
    name = benchmark or os.environ.get("BROWSERGYM_BENCHMARK") or ""
    if name not in REMOTE:
        return None
    for given in SITES:  # OpenEnv's names, which have no prefix
        if given in os.environ and name == "webarena":
            os.environ.setdefault(f"WA_{given}", os.environ[given])
    missing = [variable for variable in REMOTE[name] if not os.environ.get(variable)]
    if missing:
        raise InvalidArgument(
            f"BrowserGym benchmark {name!r}: expected the addresses of its sites in the variables "
            f"{', '.join(REMOTE[name])}, got none for {', '.join(missing)}; the benchmark 'sites' runs without any"
        )
    wanted = task or os.environ.get("BROWSERGYM_TASK_NAME") or "0"
    return RemoteTask(name, wanted.removeprefix(f"{name}."))


def _made(benchmark: str, task: str) -> GymnasiumTask:
    try:
        gymnasium = import_module("gymnasium")
        return gymnasium.make(f"browsergym.{benchmark}:browsergym/{benchmark}.{task}", disable_env_checker=True)
    except ImportError as error:
        raise MissingExtra(
            f"BrowserGym benchmark {benchmark!r}: expected the package browsergym-{benchmark}, got none; "
            f"pip install browsergym-{benchmark}"
        ) from error


def _seen(observation: dict[str, object]) -> RemoteView:
    error, tree = str(observation.get("last_action_error", "")), remote_tree(observation.get("axtree_object"))
    return {
        "text": tree,
        "axtree_txt": tree,
        "url": str(observation.get("url", "")),
        "goal": str(observation.get("goal", "")),
        "error": error,
        "last_action_error": bool(error),
    }


def remote_tree(tree: object) -> str:
    """Chromium's accessibility tree as lines."""
    found: object = tree.get("nodes") if is_dict(tree) else None
    nodes: dict[object, dict[str, object]] = {}
    for one in found if is_list(found) else []:
        if is_dict(one):
            nodes[one["nodeId"]] = one
    lines: list[str] = []

    def walk(node: dict[str, object], depth: int) -> None:
        role, name = _value(node, "role"), _value(node, "name")
        shown = not node.get("ignored") and (name or role not in ("generic", "none", ""))
        if shown and len(lines) < MAX_LINES:
            bid = node.get("browsergym_id")
            lines.append(f"{chr(9) * depth}{f'[{bid}] ' if bid else ''}{role} {str(name)!r}")
        children = node.get("childIds")
        for child in children if is_list(children) else []:
            if child in nodes:
                walk(nodes[child], depth + (1 if shown else 0))

    if nodes:
        walk(next(iter(nodes.values())), 0)
    return "\n".join(lines)


def _value(node: dict[str, object], name: str) -> object:
    part = node.get(name)
    return part.get("value", "") if is_dict(part) else ""
