"""`to_openenv`: an environment of Ludus as an `Environment` of OpenEnv, for whatever imports such classes."""

import asyncio
from collections.abc import Callable
from typing import Any, Self
from uuid import uuid4

import msgspec

from ludus.core import Env
from ludus.registry import make
from ludus.remote.host import EnvHost, HostStep
from ludus.server.protocols.openenv.envelope import envelope
from ludus.server.protocols.openenv.json_format import OF_OBSERVATIONS, JsonFormat
from ludus.server.served_env import describe
from ludus.spaces.shown import shown
from ludus.tools import ToolError

__all__ = ["to_openenv"]


def to_openenv(source: Any) -> Any:
    """An instance for an environment; for an id, a spec or a class, the class of such instances.

    The class has its models as `Action` and `Observation`; values are as OpenEnv's clients see them at a
    [server](serve_openenv.md): an array stands under `value`, a plain action under `action`. An observation with a
    `reward`, `done` or `metadata` of its own stands under `value`, too: OpenEnv's has those for itself. Tools can be
    called over MCP as well.
    """
    target: Any = source
    bare: Env[Any, Any] = target if isinstance(source, Env) else make(target)
    found = _environment(target, JsonFormat(describe(bare)))
    if isinstance(source, Env):
        return found(source)
    bare.close()
    return found


def _environment(target: Any, form: JsonFormat) -> Any:
    """The class whose instances are made of a target, or of an environment that is there."""
    from ludus.interop.openenv.library import Environment, State  # the package is needed in this direction

    (action, observation), own = _models(form), _own_names(form)

    class ToOpenEnv(Environment):  # pyright: ignore[reportUntypedBaseClass]
        """A Ludus environment behind OpenEnv's interface."""

        SUPPORTS_CONCURRENT_SESSIONS = True
        Action, Observation = action, observation

        def __init__(self, ludus_env: Env[Any, Any] | None = None) -> None:
            Environment.__init__(self)
            self.ludus_env: Env[Any, Any] = make(target, kwargs=form.arguments) if ludus_env is None else ludus_env
            self._host, self._id = EnvHost(self.ludus_env), str(uuid4())
            self.mcp_client = ExportedTools(form, self.step) if form.tools else None

        def reset(self, seed: int | None = None, episode_id: str | None = None, **options: Any) -> Any:
            outcome = self._host.reset(seed=seed, options=options or None, episode_id=episode_id)
            return self._told(form.began(outcome), outcome)

        def step(self, action: Any, timeout_s: float | None = None, **_: Any) -> Any:
            del timeout_s
            data = _data(action)
            reading = form.reading(data) or form.reread(data, self._host)
            if reading.answer is not None:
                return self._told(reading.answer, HostStep(None, None, False, False, {}))
            if self._host.episode_id is None:
                self._host.reset()
            outcome = self._host.step(reading.action)
            return self._told(form.observed(reading, outcome), outcome)

        async def step_async(self, action: Any, timeout_s: float | None = None, **more: Any) -> Any:
            return await asyncio.to_thread(self.step, action, timeout_s, **more)

        def _told(self, data: dict[str, Any], outcome: HostStep) -> Any:
            told = envelope(data, form.as_authored(outcome), self._id, full=True)
            fields = _fields(data, own)
            return observation(**fields, reward=told["reward"], done=told["done"], metadata=told["metadata"] or {})

        @property
        def state(self) -> Any:
            return State(**shown(self._host.state(), "state"))

        def close(self) -> None:
            self._host.close()

    ToOpenEnv.__name__ = ToOpenEnv.__qualname__ = form.description.name
    return ToOpenEnv


class ExportedTools:
    """What OpenEnv's server asks for tools over MCP, as it asks a client of FastMCP: calls are steps."""

    def __init__(self, form: JsonFormat, step: Callable[[Any], Any]) -> None:
        self._form, self._step = form, step

    async def __aenter__(self) -> Self:
        """There is nothing to connect to."""
        return self

    async def __aexit__(self, *error: object) -> None:
        """Nor to leave."""

    def is_connected(self) -> bool:
        """Always."""
        return True

    async def list_tools(self) -> list[dict[str, Any]]:
        """The tools, as the protocol lists them."""
        return [
            {"name": one.name, "description": one.description, "inputSchema": one.input_schema()}
            for one in self._form.tools.values()
        ]

    async def call_tool(self, name: str, arguments: dict[str, Any]) -> Any:
        """What a tool gave; ToolError with what it says is wrong."""
        call = {"type": "call_tool", "tool_name": name, "arguments": arguments}
        told: Any = await asyncio.to_thread(self._step, call)
        if told.error is not None:
            raise ToolError(told.error["message"])
        return told.result


def _data(action: Any) -> Any:
    """An action's fields: of the model, or of a dictionary of them, which the form looks at."""
    return action.model_dump(exclude_unset=True) if hasattr(action, "model_dump") else action


def _own_names(form: JsonFormat) -> list[str]:
    """Fields of our own observations by which OpenEnv's call something else."""
    if form.schemas is not None or form.tools:
        return []
    fields: Any = form.description.observation_space.json_schema().get("properties", {})
    return [name for name in ("reward", "done", "metadata") if name in fields]


def _fields(data: dict[str, Any], own: list[str]) -> dict[str, Any]:
    """The fields of an observation; those of one that has names of OpenEnv's, `own`, stand under `value`."""
    fields = {name: _plain(one) for name, one in data.items() if name != "metadata" or name in own}
    return {"value": fields} if own else fields


def _plain(value: Any) -> Any:
    """A value of the form as data: pictures are JSON already, for servers."""
    return msgspec.json.decode(value) if isinstance(value, msgspec.Raw) else value


def _models(form: JsonFormat) -> tuple[type, type]:
    """Models that take what the form's schemas describe; the form itself checks what comes."""
    from pydantic import ConfigDict  # OpenEnv's own models are of it

    from ludus.interop.openenv.library import Action, Observation  # as above

    def model(base: Any, name: str, schema: dict[str, Any]) -> type:
        def told(*_: Any, **__: Any) -> dict[str, Any]:
            return schema

        config = ConfigDict(extra="allow", validate_assignment=False, arbitrary_types_allowed=True)
        return type(
            name, (base,), {"__module__": __name__, "model_config": config, "model_json_schema": staticmethod(told)}
        )

    name, answers = form.description.name, form.answer_schema()
    if _own_names(form):
        inner = form.description.observation_space.json_schema()
        answers = {"title": f"{name}Observation", "type": "object", "properties": {**OF_OBSERVATIONS, "value": inner}}
    return model(Action, f"{name}Action", form.action_schema()), model(Observation, f"{name}Observation", answers)
