"""`ModelAgent`: a language model behind any OpenAI-compatible endpoint, with function calls or plain text.

What a server does wrong (429, 5xx, cut streams, answers that are none) is tried again with back-off, or when the server
says, as often as `LUDUS_MODEL_MAX_RETRIES` says; then the episode ends with ServiceError. Old observations are left out
of the history when it grows beyond `context` characters, or beyond what the server takes; tokens are counted as it
tells.
"""

import http.client
import json
import os
import re
import time
from collections.abc import Callable, Sequence
from urllib.parse import urlsplit

import msgspec

from ludus.errors import InvalidArgument, ServiceError, shorten
from ludus.tasks.agents.chat import ChatMessage, Completion, FunctionCall, read_completion, read_stream
from ludus.tasks.agents.endpoint import Refused, bearer, open_endpoint
from ludus.tasks.variables import whole_number
from ludus.tools import Call, Calls, ToolOutcome
from ludus.trajectory.event import EventValue, Message, ModelUsage, Reasoning

__all__ = ["ModelAgent", "ModelOptions"]

SYSTEM = (
    "You do a machine-learning task in a Linux workspace by calling tools, one or more at a time. Work step by step, "
    "check what you did with `validate` where it helps, and end with `submit`."
)
LEFT_OUT = "(an earlier output, left out)"
RETRIED = (408, 409, 425, 429, 500, 502, 503, 504)
MAX_PAUSE_S = 300.0
"""Seconds for which a server may ask to be left alone; beyond, the episode ends."""
MIN_CONTEXT_CHARS = 1000
"""Characters: a server that refuses so short a history as too long refuses any."""
TOO_LONG = re.compile(r"context[ _-]?(length|window|size|limit)|(prompt|input|request) is too (long|large)", re.I)


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
        check_url(options.url)
        self.options, self.name = options, options.model
        self._pause = pause
        self._messages: list[ChatMessage] = []
        self._waiting: list[FunctionCall] = []
        self._asked: FunctionCall | None = None
        self._tools: list[dict[str, object]] = []
        self._events: list[EventValue] = []
        self._begun = False
        self._context = options.context
        self.sent = self.received = self.calls = self.retries = 0

    @property
    def cost(self) -> float:
        """Of all tokens so far."""
        return self.sent * self.options.token_price[0] + self.received * self.options.token_price[1]

    def begin(self, description: str, space: Calls) -> None:
        """A new history with the task in it."""
        self._messages = [{"role": "system", "content": SYSTEM}, {"role": "user", "content": description}]
        self._waiting, self._asked, self._begun = [], None, False
        self._context = self.options.context
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
            how = f"\nAnswer with one code block: a shell command, or JSON with `tool` and `arguments`.\n{described}"
            self._messages[0]["content"] = SYSTEM + how

    def act(self, observation: ToolOutcome) -> Call | str:
        """The next of the calls of the last answer, or one of a new answer."""
        self._observe(observation)
        if self._waiting:
            return self._next()
        if self.options.most_cost is not None and self.cost >= self.options.most_cost:
            return Call("submit")
        answer = self._answer()
        self._messages.append(answer.message())
        self._events.append(Message("assistant", answer.content))
        self._waiting = list(answer.calls)
        return self._next() if self._waiting else answer.content

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
            self._messages.append({"role": "tool", "tool_call_id": self._asked["id"], "content": text})
            self._asked = None
        else:
            self._messages.append({"role": "user", "content": text})

    def _next(self) -> Call | str:
        """A function call as a call; one that cannot be read as the text it is, which costs a forfeit."""
        self._asked = asked = self._waiting.pop(0)
        function = asked["function"]
        try:
            arguments: object = json.loads(function["arguments"] or "{}")
        except (ValueError, RecursionError):
            arguments = function["arguments"]
        return json.dumps({"tool": function["name"], "arguments": arguments})

    # --- the endpoint ---

    def _answer(self) -> Completion:
        """The model's next message; tried again where the server fails."""
        most, tried = whole_number("model_max_retries"), 0
        while True:
            asked_for = 0.0
            try:
                return self._counted(self._request())
            except Refused as error:
                if self._shortened(error):
                    continue
                reason, asked_for = str(error), error.seconds
                if error.code not in RETRIED or asked_for > MAX_PAUSE_S:
                    break
            except InvalidArgument:  # what we would send, not what came
                raise
            except (OSError, http.client.HTTPException, ValueError) as error:
                reason = f"{type(error).__name__}: {error}"
            if tried >= most:
                break
            tried += 1
            self.retries += 1
            self._pause(max(asked_for, min(60.0, 0.5 * 2**tried)))
        key = os.environ.get(self.options.key_variable)
        reason = reason.replace(key, "…") if key else reason
        wait = f"; it asks to come back in {asked_for:g} s" if asked_for > MAX_PAUSE_S else ""
        raise ServiceError(
            f"model {self.name}: expected an answer within {most} retries, got {shorten(reason, 400)}{wait}"
        )

    def _request(self) -> Completion:
        options = self.options
        body: dict[str, object] = {
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
            headers["Authorization"] = bearer(key)
        url = f"{options.url.rstrip('/')}/chat/completions"
        with open_endpoint(url, json.dumps(body).encode(), headers, options.seconds) as answer:
            return read_stream(answer) if options.stream else read_completion(answer.read())

    def _counted(self, answer: Completion) -> Completion:
        sent, received, prices = answer.sent, answer.received, self.options.token_price
        self.calls, self.sent, self.received = self.calls + 1, self.sent + sent, self.received + received
        if answer.reasoning:
            self._events.append(Reasoning(answer.reasoning))
        cost = sent * prices[0] + received * prices[1] if any(prices) else None
        self._events.append(ModelUsage(self.name, sent, received, cost_usd=cost))
        return answer

    def _shortened(self, error: Refused) -> bool:
        """Whether the history was too long for the server and half of it may do; then it stays so short."""
        size = sum(_size(one) for one in self._within_context())
        if (
            error.code not in (400, 413, 422)
            or TOO_LONG.search(error.text) is None
            or self._context < MIN_CONTEXT_CHARS
        ):
            return False
        self._context = size // 2
        return sum(_size(one) for one in self._within_context()) < size

    def _within_context(self) -> list[ChatMessage]:
        """The history, in which the oldest outputs, then the oldest answers, are left out until it fits."""
        messages = [one.copy() for one in self._messages]
        size = sum(_size(one) for one in messages)
        outputs = [one for one in messages[2:-1] if one["role"] != "assistant"]
        answers = [one for one in messages[2:-2] if one["role"] == "assistant"]
        for one in (*outputs, *answers):
            if size <= self._context:
                break
            size -= _size(one)
            _leave_out(one)
            size += _size(one)
        return messages


def check_url(url: str) -> None:
    """InvalidArgument for what is no address of an endpoint."""
    try:
        parts = urlsplit(url)
        good = parts.scheme in ("http", "https") and bool(parts.hostname) and parts.port != 0
    except ValueError:
        good = False
    if not good or not url.isascii() or not url.isprintable() or " " in url:
        raise InvalidArgument(f"model url: expected http:// or https:// and a host, got {shorten(url)}")


def _size(message: ChatMessage) -> int:
    calls = message.get("tool_calls") or []
    return len(message.get("content") or "") + sum(len(one["function"]["arguments"]) for one in calls)


def _leave_out(message: ChatMessage) -> None:
    """Shorten a message of the history; its calls stay, since their outputs refer to them."""
    if len(message.get("content") or "") > len(LEFT_OUT):
        message["content"] = LEFT_OUT
    calls = message.get("tool_calls")
    if calls:
        message["tool_calls"] = [{**one, "function": {**one["function"], "arguments": "{}"}} for one in calls]
