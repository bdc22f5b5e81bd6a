"""`FromOpenEnvTools`: an environment of OpenEnv whose actions are calls of MCP tools."""

import asyncio
from base64 import b64decode
from collections.abc import Callable
from contextlib import suppress
from typing import Any, ClassVar

from ludus.client.openenv.schema import annotation_of
from ludus.core import Info, Step
from ludus.errors import InvalidAction, InvalidSpace
from ludus.interop.openenv.environment import FromOpenEnv
from ludus.interop.openenv.models import Models
from ludus.spaces import Record, Space
from ludus.spaces.annotations import field_type
from ludus.spaces.kinds import is_dict
from ludus.tools import Call, Tool, ToolOutcome
from ludus.tools.calls import Calls
from ludus.tools.outcome import ToolError, failed, succeeded
from ludus.tools.tool import Parameter

__all__ = ["FromOpenEnvTools"]


class FromOpenEnvTools(FromOpenEnv):
    """Its actions are calls of its tools, its observations what they gave, as of a `ToolEnv`."""

    snapshot_shared: ClassVar[tuple[str, ...]] = ("_loop", "_session")

    def __init__(self, openenv_env: Any, models: Models) -> None:
        from ludus.interop.openenv.library import mcp_types  # the package is needed for tools alone

        self._types: Any = mcp_types
        self._session: _Held | None = None
        super().__init__(openenv_env, models)

    def _enter(self) -> None:
        """Hold one session with the tools' server, which each call would begin and end otherwise."""
        session = getattr(self.openenv_env, "mcp_session", None)
        if session is not None:
            self._session = self._awaited(_Held.begin(session))

    def _spaces(self) -> tuple[Space[Any], Space[Any]]:
        listed = self._run(self._call("step"), self._types.ListToolsAction())
        if not listed.tools:
            metadata: dict[str, Any] = listed.metadata or {}
            why = metadata.get("error", "the environment lists none")
            raise InvalidSpace(f"{type(self.openenv_env).__name__}: expected tools, got none: {why}")
        return Calls({one.name: tool_of(one) for one in listed.tools}), Record(ToolOutcome)

    def reset(self, *, seed: Any = None, options: dict[str, Any] | None = None) -> tuple[Any, Info]:
        """Begin an episode; what OpenEnv tells with it is the info."""
        _, info = super().reset(seed=seed, options=options)
        return ToolOutcome(), info

    def step(self, action: Call) -> Step[Any]:
        """Call a tool."""
        self.action_space.check(action, "action", InvalidAction)
        self._called = action.tool
        return super().step(self._types.CallToolAction(tool_name=action.tool, arguments=dict(action.arguments)))

    def _observed(self, observation: Any) -> Any:
        error = getattr(observation, "error", None)
        if error is not None:
            return failed(self._called, ToolError(error.message))
        if not hasattr(observation, "result"):
            return ToolOutcome()
        return succeeded(self._called, _value(observation.result), None)

    def _info(self, observation: Any) -> Info:
        info, error = super()._info(observation), getattr(observation, "error", None)
        if error is not None:
            info["error_type"] = str(getattr(error.error_type, "value", error.error_type))
        return info

    # --- what its server has beside tools ---

    def list_resources(self) -> list[dict[str, Any]]:
        """The resources of the tools' server, as `/mcp` lists them."""
        return [
            _entry(one, ("name", "title", "description", "mimeType"), uri=str(one.uri))
            for one in self._ask("list_resources")
        ]

    def read_resource(self, uri: str) -> str | bytes:
        """The text or the bytes of a resource; of several pieces, the first."""
        [first, *_] = self._ask("read_resource", uri)
        text = getattr(first, "text", None)
        return b64decode(first.blob) if text is None else text

    def list_prompts(self) -> list[dict[str, Any]]:
        """Its prompts."""
        known, of_arguments = ("name", "title", "description"), ("name", "description", "required")
        return [
            _entry(one, known, arguments=[_entry(each, of_arguments) for each in one.arguments or ()])
            for one in self._ask("list_prompts")
        ]

    def get_prompt(self, name: str, arguments: dict[str, Any]) -> list[dict[str, Any]]:
        """The messages of a prompt."""
        messages: Any = self._ask("get_prompt", name, arguments).messages
        return [
            {"role": one.role, "content": one.content.model_dump(mode="json", exclude_none=True)} for one in messages
        ]

    def _ask(self, method: str, *arguments: Any) -> Any:
        async def call() -> Any:
            async with self.openenv_env.mcp_client as client:
                return await getattr(client, method)(*arguments)

        return self._awaited(call())

    def close(self) -> None:
        """End the session with the tools' server, and close."""
        held, self._session = self._session, None
        if held is not None:
            self._awaited(held.end())
        super().close()


class _Held:
    """A session that one task enters and leaves: what it starts belongs to that task, which has to live on."""

    def __init__(self) -> None:
        self._begun, self._over = asyncio.Event(), asyncio.Event()
        self._task: asyncio.Task[None] | None = None

    @classmethod
    async def begin(cls, session: Callable[[], Any]) -> "_Held":
        held = cls()
        held._task = asyncio.create_task(held._live(session))
        await held._begun.wait()
        return held

    async def _live(self, session: Callable[[], Any]) -> None:
        try:
            with suppress(Exception):  # then each call has one of its own
                async with session():
                    self._begun.set()
                    await self._over.wait()
        finally:
            self._begun.set()

    async def end(self) -> None:
        self._over.set()
        if self._task is not None:
            await self._task


def _entry(listed: Any, names: tuple[str, ...], **more: Any) -> dict[str, Any]:
    """What a list says of one thing, without what it leaves open."""
    fields = {name: getattr(listed, name, None) for name in names}
    return {name: one for name, one in {**fields, **more}.items() if one is not None}


def _value(result: Any) -> Any:
    """The value that a tool returned, out of what its server made of it."""
    data, structured, content = (_part(result, one) for one in ("data", "structured_content", "content"))
    if data is None and content is None and structured is None:
        return result
    if data is not None:
        dump: Any = getattr(data, "model_dump", None)
        return data if dump is None else dump(mode="json")
    if is_dict(structured):
        return structured.get("result", structured)
    texts = [_part(one, "text") for one in content or ()]
    return "\n".join(text for text in texts if text) or None


def _part(result: Any, name: str) -> Any:
    return result.get(name) if is_dict(result) else getattr(result, name, None)


def tool_of(listed: Any) -> Tool:
    """A tool that can be described and checked here, and is called there."""
    schema: dict[str, Any] = listed.input_schema or {}
    found = Tool(listed.name, _elsewhere)
    found.description = " ".join((listed.description or "").split())
    required: list[str] = schema.get("required") or []
    properties: dict[str, Any] = schema.get("properties") or {}
    parameters: dict[str, Parameter] = {}
    for name, one in properties.items():
        kind = field_type(annotation_of(one, schema), (), f"{listed.name}.{name}")
        told = one.get("description") if is_dict(one) else None
        text = told if isinstance(told, str) else ""
        default = None if name in required else one.get("default")
        if name not in required and default is None:
            kind = field_type(annotation_of({"anyOf": [one, {"type": "null"}]}, schema), (), f"{listed.name}.{name}")
        parameters[name] = Parameter(kind, name in required, default, text)
    found.parameters = parameters
    return found


def _elsewhere() -> None:
    """What stands for a tool whose code is the environment's own."""
