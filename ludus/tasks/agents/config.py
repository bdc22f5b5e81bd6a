"""Agents in YAML: who acts, which tools it is shown, in bundles or one by one, and how a model is reached."""

import os
from collections.abc import Mapping, Sequence
from pathlib import Path
from urllib.parse import urlsplit

import msgspec

from ludus.core.foreign_file import read_foreign_file, read_foreign_yaml
from ludus.errors import InvalidArgument, did_you_mean, listing, shorten
from ludus.tasks.actions import call_in
from ludus.tasks.agents.agent import TaskAgent
from ludus.tasks.agents.model import ModelOptions
from ludus.tools import Call, Calls, Tool, ToolError, ToolOutcome
from ludus.trajectory.event import EventValue

__all__ = ["BUNDLES", "AgentConfig", "ToolSet", "check_key", "read_agent", "shown_tools"]

BUNDLES: dict[str, tuple[str, ...]] = {
    "shell": ("shell",),
    "files": ("read", "write", "edit", "list", "search"),
    "jobs": ("start", "poll", "kill"),
    "scoring": ("validate", "budget", "submit"),
}
"""Tools that belong together, by a name that a file may use for all of them."""
ALWAYS = ("submit", "text")


class AgentConfig(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """What an agent's file says.

    >>> AgentConfig(agent="baseline").tools is None
    True
    """

    agent: str = "model"
    """One of the agents that there are, or `scripted`."""
    name: str = ""
    """What it is called in results; empty: as the agent is."""
    model: ModelOptions | None = None
    tools: tuple[str, ...] | None = None
    """Tools and bundles that it is shown; None: all. `submit` is always there."""
    bundles: dict[str, tuple[str, ...]] = {}
    """Bundles of its own."""
    calls: tuple[Call | str, ...] = ()
    """What `scripted` does, one after the other, before it submits: calls, or text that means one."""


def read_agent(path: Path) -> AgentConfig:
    """The agent of a file; InvalidArgument names the place of what is wrong in it."""
    try:
        found = read_foreign_yaml(read_foreign_file(path), AgentConfig)
    except OSError as error:
        raise InvalidArgument(f"{path}: expected the file of an agent, got {error.strerror}") from error
    except msgspec.MsgspecError as error:
        raise InvalidArgument(f"{path}: expected an agent, got {shorten(str(error), 300)}") from error
    if found.agent.endswith((".yaml", ".yml")):
        raise InvalidArgument(f"{path}, agent: expected the name of an agent, got another file")
    if bool(found.calls) != (found.agent == "scripted"):
        raise InvalidArgument(f"{path}, calls: expected them with `agent: scripted`, got {len(found.calls)} calls")
    return found


def check_key(model: ModelOptions, where: str) -> None:
    """Refuse a file by which a key of yours would go to an address that only the file names.

    This machine may have it, and so may OpenAI the key that is called by its name.
    """
    host = urlsplit(model.url).hostname or ""
    if host in ("localhost", "127.0.0.1", "::1") or (model.key_variable, host) == ("OPENAI_API_KEY", "api.openai.com"):
        return
    if os.environ.get(model.key_variable):
        raise InvalidArgument(
            f"{where}: expected your word before the value of {model.key_variable} is sent to {host!r}, got a file "
            f"that names both; give --url {model.url} as well, or unset the variable"
        )


def shown_tools(config: AgentConfig, known: Mapping[str, Tool]) -> dict[str, Tool]:
    """The tools that an agent is shown, of those that a task has; InvalidArgument for names that there are not."""
    if config.tools is None:
        return dict(known)
    bundles = BUNDLES | config.bundles
    chosen = [one for name in config.tools for one in bundles.get(name, (name,))]
    for name in chosen:
        if name not in known:
            names = [*known, *bundles]
            raise InvalidArgument(
                f"tools: expected tools or bundles, of {listing(names)}, got {name!r}{did_you_mean(name, names)}"
            )
    return {name: one for name, one in known.items() if name in chosen or name in ALWAYS}


def _call_of(action: Call | str, space: Calls | None) -> Call | None:
    """The call that an action is or means, as the environment reads it; None where it means none."""
    if space is None:
        return None
    if isinstance(action, Call) and action.tool != "text":
        return action
    try:
        return call_in(action if isinstance(action, str) else str(action.arguments.get("message")), space)
    except ToolError:
        return None


class ToolSet:
    """An agent that knows some of the tools only; a call of another one is answered as one of none.

    >>> from ludus.tasks.agents.agent import ScriptedTaskAgent
    >>> ToolSet(ScriptedTaskAgent([]), AgentConfig(tools=("files",), name="reader")).name
    'reader'
    """

    def __init__(self, agent: TaskAgent, config: AgentConfig) -> None:
        self._agent, self._config = agent, config
        self.name = config.name or agent.name
        self._shown: dict[str, Tool] = {}
        self._known: Calls | None = None

    def begin(self, description: str, space: Calls) -> None:
        """Tell of the tools that it may use."""
        self._known, self._shown = space, shown_tools(self._config, space.tools)
        self._agent.begin(description, Calls(self._shown))

    def act(self, observation: ToolOutcome) -> Call | str:
        """Its action; a call of a tool that it was not shown becomes text that is none."""
        action = self._agent.act(observation)
        call = _call_of(action, self._known)
        if call is not None and call.tool not in self._shown:
            return f"{call.tool}: no such tool for this agent"
        return action

    def recall(self, call: Call, observation: ToolOutcome) -> None:
        """As the agent does."""
        self._agent.recall(call, observation)

    def events(self) -> Sequence[EventValue]:
        """As the agent's."""
        return self._agent.events()
