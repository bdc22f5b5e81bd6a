"""`ModelAgent`: a language model behind any OpenAI-compatible endpoint, with function calls or plain text.

What a server does wrong (429, 5xx, cut streams, answers that are none) is tried again with back-off, as often as
`LUDUS_MODEL_MAX_RETRIES` says; then the episode ends with EnvError. Old observations are left out of the history
when it grows beyond `context` characters; tokens are counted as the server tells them.
"""

import http.client
import json
import os
import time
import urllib.error
import urllib.request
from collections.abc import Callable, Sequence
from typing import Any

import msgspec

from ludus.errors import EnvError, InvalidArgument, shorten
from ludus.tasks.settings import whole_number
from ludus.tools import Call, Calls, ToolOutcome
from ludus.trajectory.event import EventValue, Message, ModelUsage

__all__ = ["ModelAgent", "ModelOptions"]

SYSTEM = (
    "You do a machine-learning task in a Linux workspace by calling tools, one or more at a time. Work step by step, "
    "check what you did with `validate` where it helps, and end with `submit`."
)
LEFT_OUT = "(an earlier output, left out)"
RETRIED = (408, 409, 425, 429, 500, 502, 503, 504)


class ModelOptions(msgspec.Struct, frozen=True, kw_only=True):
    """How to reach a model, and how much of it to use.

    >>> ModelOptions(url="http://127.0.0.1:8000/v1", model="mine").functions
    True
    """

    url: str
    """Of the API, up to and with `/v1`."""
    model: str
    key_variable: str = "OPENAI_API_KEY"
    """The variable with the key; none is sent where it is not set."""
    functions: bool = True
    """Call tools as functions; False: the model writes text with one call in it."""
    stream: bool = False
    temperature: float = 0.0
    max_tokens: int = 4096
    context: int = 200_000
    """Characters of the history that is sent."""
    seconds: float = 300.0
    """For one answer."""
    token_price: tuple[float, float] = (0.0, 0.0)
    """For a token sent, and for one received."""
    most_cost: float | None = None
    """Beyond this it submits what there is."""


class ModelAgent:
    """Asks a model for every action.

    >>> ModelAgent(ModelOptions(url="http://127.0.0.1:8000/v1", model="mine")).name
    'mine'
    """

    def __init__(self, options: ModelOptions, *, pause: Callable[[float], None] = time.sleep) -> None:
        if not options.url.startswith(("http://", "https://")):
            raise InvalidArgument(f"model url: expected http:// or https://, got {shorten(options.url)}")
        self.options, self.name = options, options.model
        self._pause = pause
        self._messages: list[dict[str, Any]] = []
        self._waiting: list[dict[str, Any]] = []
        self._asked: dict[str, Any] | None = None
        self._tools: list[dict[str, Any]] = []
        self._events: list[EventValue] = []
        self._begun = False
        self.sent = self.received = self.calls = self.retries = 0

    @property
    def cost(self) -> float:
        """Of all tokens so far."""
        return self.sent * self.options.token_price[0] + self.received * self.options.token_price[1]

    def begin(self, description: str, space: Calls) -> None:
        """A new history with the task in it."""
        self._messages = [{"role": "system", "content": SYSTEM}, {"role": "user", "content": description}]
        self._waiting, self._asked, self._begun = [], None, False
        shown = [one for one in space.tools.values() if one.name != "text"]
        self._tools = [
            {
                "type": "function",
                "function": {"name": one.name, "description": one.description, "parameters": one.input_schema()},
            }
            for one in shown
        ]
        if not self.options.functions:
            described = "\n".join(f"{one.name}: {one.description} {json.dumps(one.input_schema())}" for one in shown)
            self._messages[0]["content"] += (
                f"\nAnswer with one code block: a shell command, or JSON with `tool` and `arguments`.\n{described}"
            )

    def act(self, observation: ToolOutcome) -> Call | str:
        """The next of the calls of the last answer, or one of a new answer."""
        self._observe(observation)
        if self._waiting:
            return self._next()
        if self.options.most_cost is not None and self.cost >= self.options.most_cost:
            return Call("submit")
        answer = self._answer()
        self._messages.append(answer)
        text = str(answer.get("content") or "")
        self._events.append(Message("assistant", text))
        self._waiting = list(answer.get("tool_calls") or ())
        return self._next() if self._waiting else text

    def recall(self, call: Call, observation: ToolOutcome) -> None:
        """Put a step of before into the history."""
        self._observe(observation)
        self._messages.append({"role": "assistant", "content": msgspec.json.encode(call).decode()})

    def events(self) -> Sequence[EventValue]:
        """Answers and usage since it was asked last."""
        events, self._events = self._events, []
        return events

    def _observe(self, observation: ToolOutcome) -> None:
        if not self._begun:  # the description, which is in the history already
            self._begun = True
            return
        text = "\n".join(filter(None, (observation.result, observation.error and f"error: {observation.error}")))
        if self._asked is not None:
            self._messages.append({"role": "tool", "tool_call_id": self._asked.get("id", ""), "content": text})
            self._asked = None
        else:
            self._messages.append({"role": "user", "content": text})

    def _next(self) -> Call | str:
        """A function call as a call; one that cannot be read as the text it is, which costs a forfeit."""
        self._asked = asked = self._waiting.pop(0)
        function: Any = asked.get("function") or {}
        try:
            arguments: Any = json.loads(function.get("arguments") or "{}")
        except ValueError:
            arguments = function.get("arguments")
        return json.dumps({"tool": function.get("name"), "arguments": arguments})

    # --- the endpoint ---

    def _answer(self) -> dict[str, Any]:
        """The model's next message; tried again where the server fails."""
        most, reason = whole_number("model_max_retries"), ""
        for attempt in range(most + 1):
            if attempt:
                self.retries += 1
                self._pause(min(60.0, 0.5 * 2**attempt))
            try:
                return self._checked(self._request())
            except urllib.error.HTTPError as error:
                reason = f"HTTP {error.code}: {error.read(500).decode('utf8', 'replace')}"
                if error.code not in RETRIED:
                    break
            except (OSError, http.client.HTTPException, ValueError, KeyError, TypeError, IndexError) as error:
                reason = f"{type(error).__name__}: {error}"
        raise EnvError(f"model {self.name}: expected an answer within {most} retries, got {shorten(reason, 400)}")

    def _request(self) -> dict[str, Any]:
        options = self.options
        body: dict[str, Any] = {
            "model": options.model,
            "messages": self._within_context(),
            "temperature": options.temperature,
            "max_tokens": options.max_tokens,
            "stream": options.stream,
        }
        if options.functions:
            body["tools"] = self._tools
        headers = {"Content-Type": "application/json"}
        key = os.environ.get(options.key_variable)
        if key:
            headers["Authorization"] = f"Bearer {key}"
        url = f"{options.url.rstrip('/')}/chat/completions"
        request = urllib.request.Request(url, json.dumps(body).encode(), headers)  # noqa: S310  (checked above)
        with urllib.request.urlopen(request, timeout=options.seconds) as response:  # noqa: S310
            return _streamed(response) if options.stream else json.load(response)

    def _checked(self, answer: dict[str, Any]) -> dict[str, Any]:
        message = answer["choices"][0]["message"]
        usage = answer.get("usage") or {}
        sent, received = int(usage.get("prompt_tokens", 0)), int(usage.get("completion_tokens", 0))
        if not message.get("content") and not message.get("tool_calls"):
            raise ValueError("an answer with neither text nor calls")
        self.calls, self.sent, self.received = self.calls + 1, self.sent + sent, self.received + received
        self._events.append(ModelUsage(self.name, sent, received))
        return {"role": "assistant", **{key: message[key] for key in ("content", "tool_calls") if message.get(key)}}

    def _within_context(self) -> list[dict[str, Any]]:
        """The history, in which the oldest outputs are left out until it fits."""
        messages = [dict(one) for one in self._messages]
        size = sum(len(str(one.get("content") or "")) for one in messages)
        for one in messages[2:-1]:
            if size <= self.options.context:
                break
            if one["role"] in ("tool", "user"):
                size -= len(one["content"]) - len(LEFT_OUT)
                one["content"] = LEFT_OUT
        return messages


def _streamed(response: Any) -> dict[str, Any]:
    """A streamed answer as a whole one; ValueError where it was cut off before its end."""
    text, calls, usage, ended = "", dict[int, dict[str, Any]](), dict[str, Any](), False
    for line in response:
        data = line.strip().removeprefix(b"data:").strip()
        if data == b"[DONE]":
            ended = True
            break
        if not data:
            continue
        piece = json.loads(data)
        usage = piece.get("usage") or usage
        for choice in piece.get("choices") or ():
            delta = choice.get("delta") or {}
            text += delta.get("content") or ""
            for one in delta.get("tool_calls") or ():
                _joined(calls, one)
    if not ended:
        raise ValueError("a stream that was cut off")
    message = {"content": text, "tool_calls": [calls[at] for at in sorted(calls)]}
    return {"choices": [{"message": message}], "usage": usage}


def _joined(calls: dict[int, dict[str, Any]], piece: dict[str, Any]) -> None:
    known = calls.setdefault(
        int(piece.get("index", 0)), {"id": "", "type": "function", "function": {"name": "", "arguments": ""}}
    )
    known["id"] = piece.get("id") or known["id"]
    function = piece.get("function") or {}
    known["function"]["name"] += function.get("name") or ""
    known["function"]["arguments"] += function.get("arguments") or ""
