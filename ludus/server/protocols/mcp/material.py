"""Resources and prompts: what an environment shows beside its tools, by methods that it may have.

`list_resources()` and `read_resource(uri)`; `list_prompts()` and `get_prompt(name, arguments)`. They are called
wherever the environment runs, and are no steps.
"""

from base64 import b64encode
from collections.abc import Mapping

import msgspec

from ludus.errors import ContractViolation, EnvError, shorten
from ludus.remote.host import EnvHost
from ludus.server.protocols.mcp.env_access import EnvAccess
from ludus.server.protocols.mcp.results import mcp_text
from ludus.server.protocols.mcp.rpc import INVALID_PARAMS, NO_METHOD, RpcError
from ludus.server.session import Session
from ludus.spaces.kinds import is_dict, is_iterable, is_list, is_list_or_tuple
from ludus.spaces.shown import shown

__all__ = ["MATERIAL", "capabilities", "material"]

NOT_FOUND = -32002
KINDS = {"resources": "list_resources", "prompts": "list_prompts"}
MATERIAL = ("resources/list", "resources/templates/list", "resources/read", "prompts/list", "prompts/get")
"""The methods that are answered here."""
OF_RESOURCES = ("uri", "name", "title", "description", "mimeType", "size")
OF_PROMPTS = ("name", "title", "description", "arguments")


async def capabilities(session: Session) -> dict[str, object]:
    """What a server says that it has, of one environment."""

    def work(hosted: EnvHost) -> dict[str, object]:
        if hosted.batched:
            return {}
        return {kind: {} for kind, method in KINDS.items() if hosted.env.has_wrapper_attr(method)}

    return await session.call(work, long=True)


async def material(access: EnvAccess, session: Session, method: str, params: Mapping[str, object]) -> dict[str, object]:
    """The answer to one of the methods."""
    access.principal.need("step", "read what an environment shows")
    kind = method.partition("/")[0]

    def work(hosted: EnvHost) -> dict[str, object]:
        if hosted.batched or not hosted.env.has_wrapper_attr(KINDS[kind]):
            raise RpcError(NO_METHOD, f"Method not found: {method}; the environment has no {kind}")
        if method == "resources/templates/list":
            return {"resourceTemplates": []}
        entries = _entries(hosted, kind)
        if method.endswith("/list"):
            return {kind: entries}
        return _read(hosted, entries, params) if kind == "resources" else _prompt(hosted, entries, params)

    return await session.call(work)


def _called(hosted: EnvHost, method: str, *arguments: object) -> object:
    return hosted.env.get_wrapper_attr(method)(*arguments)


def _entries(hosted: EnvHost, kind: str) -> list[dict[str, object]]:
    key, known = ("uri", OF_RESOURCES) if kind == "resources" else ("name", OF_PROMPTS)
    found: object = shown(_called(hosted, KINDS[kind]), kind)
    entries = [one for one in found if is_dict(one) and isinstance(one.get(key), str)] if is_list(found) else []
    if not is_list(found) or len(entries) < len(found):
        raise ContractViolation(f"{KINDS[kind]}: expected a list of objects with {key!r}, got {shorten(found)}")
    return [{"name": one[key], **{name: one[name] for name in known if name in one}} for one in entries]


def _read(hosted: EnvHost, entries: list[dict[str, object]], params: Mapping[str, object]) -> dict[str, object]:
    uri = params.get("uri")
    entry = next((one for one in entries if one["uri"] == uri), None)
    if entry is None:
        raise RpcError(NOT_FOUND, f"Resource not found: {shorten(uri)}", data={"uri": uri})
    found = _called(hosted, "read_resource", uri)
    content: dict[str, object] = {"uri": uri, "mimeType": entry.get("mimeType", _mime_type(found))}
    if isinstance(found, bytes):
        return {"contents": [content | {"blob": b64encode(found).decode()}]}
    text = found if isinstance(found, str) else msgspec.json.encode(shown(found, "resource")).decode()
    return {"contents": [content | {"text": text}]}


def _mime_type(found: object) -> str:
    if isinstance(found, bytes):
        return "application/octet-stream"
    return "text/plain" if isinstance(found, str) else "application/json"


def _prompt(hosted: EnvHost, entries: list[dict[str, object]], params: Mapping[str, object]) -> dict[str, object]:
    name = params.get("name")
    given: object = params.get("arguments") or {}
    entry = next((one for one in entries if one["name"] == name), None)
    if entry is None:
        raise RpcError(INVALID_PARAMS, f"Unknown prompt: {shorten(name)}")
    if not is_dict(given):
        raise RpcError(INVALID_PARAMS, f"arguments: expected an object, got {shorten(given)}")
    known: object = entry.get("arguments") or ()
    _check_arguments([one for one in known if is_dict(one)] if is_iterable(known) else [], given)
    found = _called(hosted, "get_prompt", name, given)
    messages = [_message("user", found)] if isinstance(found, str) else [_message_of(one) for one in _listed(found)]
    return {"messages": messages} | ({"description": entry["description"]} if "description" in entry else {})


def _check_arguments(known: list[dict[str, object]], given: dict[str, object]) -> None:
    names = [one.get("name") for one in known]
    missing = [one["name"] for one in known if one.get("required") and one["name"] not in given]
    strange = [name for name in given if name not in names]
    if missing or strange:
        raise RpcError(INVALID_PARAMS, f"arguments: expected {shorten(missing or names)}, got {shorten(list(given))}")


def _listed(found: object) -> list[object]:
    if not is_list_or_tuple(found):
        raise EnvError(f"get_prompt: expected text, or a list of messages, got {shorten(found)}")
    return list(found)


def _message_of(one: object) -> dict[str, object]:
    role, content = (one.get("role"), one.get("content")) if is_dict(one) else (None, None)
    if role not in ("user", "assistant") or not (isinstance(content, str) or is_dict(content)):
        raise EnvError(f"get_prompt: expected messages with role (user, assistant) and content, got {shorten(one)}")
    return _message(role, content)


def _message(role: str, content: str | dict[str, object]) -> dict[str, object]:
    return {"role": role, "content": mcp_text(content) if isinstance(content, str) else content}
