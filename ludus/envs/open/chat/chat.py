"""Chat: a conversation in messages and tokens, with a user who wants something."""

import os
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import ClassVar, Literal

import numpy as np

from ludus.core import Env, Info, Outcome, Step
from ludus.core.options import Options
from ludus.envs.open.chat.picture import chat_picture
from ludus.envs.open.chat.scenarios import SCENARIOS, Scenario, User, act_in
from ludus.envs.open.chat.tokenizer import ForeignTokenizer, MarkedTokenizer, Message, tokenizer_of
from ludus.errors import InvalidAction, InvalidArgument, ResetNeeded, did_you_mean, shorten
from ludus.rendering import Canvas, Choice, Drawn, choice
from ludus.seeding import Seed
from ludus.spaces import Record

__all__ = ["Chat", "ChatAction", "ChatObservation", "ChatState", "say"]

GOAL, SLOTS, INVALID = 0.8, 0.2, -0.05
PATIENCE = 12
MAX_TOKENS = 8192
HOW = (
    "You serve a customer. {policy} Ask for what you need, one thing at a time. When you know everything, write a "
    "line `ACT {act} {slots}` with the values, or `ACT refuse` where the rules forbid it. The first act is the end."
)
RewardFunction = Callable[[list[Message], list[int]], float]
Overflow = Literal["end", "truncate"]


@dataclass
class ChatAction:
    """What the agent says: as tokens, or as a message. Log-probabilities of the tokens are kept with the step."""

    __tools__: ClassVar[tuple[Callable[..., object], ...]] = ()
    """What agents call."""

    tokens: list[int] = field(default_factory=list[int])
    message: str | None = None
    logprobs: list[float] = field(default_factory=list[float])


def say(message: str) -> ChatAction:
    """Say something to the user, who answers.

    Args:
        message: What to say.
    """
    return ChatAction(message=message)


ChatAction.__tools__ = (say,)


@dataclass
class ChatObservation:
    """Everything that was said, as messages and as tokens."""

    messages: list[dict[str, str]] = field(default_factory=list[dict[str, str]])
    tokens: list[int] = field(default_factory=list[int])


@dataclass
class ChatState:
    """The history; what the user wants is no part of it before it is said."""

    history_messages: list[dict[str, str]] = field(default_factory=list[dict[str, str]])
    history_tokens: list[list[int]] = field(default_factory=list[list[int]])


class Chat(Drawn, Env[ChatObservation, ChatAction]):
    """Find out what a user wants, and do it: success is a fact of what they wanted, not of what was said.

    >>> env = Chat(scenario="debug_router")
    >>> observation, info = env.reset(seed=0)
    >>> env.step(ChatAction(message="Which light do you see?")).observation.messages[-1]["content"]
    'It is green, but no website opens.'
    >>> env.step(ChatAction(message="ACT fix cause=dns")).info["facts"]["won"]
    True
    """

    metadata = Drawn.metadata | {"render_fps": 2}
    snapshot_shared: ClassVar[tuple[str, ...]] = ("tokenizer", "_rewards", "_window")

    def __init__(
        self,
        scenario: str | None = None,
        tokenizer: object = None,
        system_prompt: str | None = None,
        context: int | None = None,
        overflow: Overflow = "end",
        rewards: Mapping[str, RewardFunction] | None = None,
        render_mode: str | None = None,
    ) -> None:
        if overflow not in ("end", "truncate"):
            raise InvalidArgument(f"Chat overflow: expected 'end' or 'truncate', got {shorten(overflow)}")
        if context is not None and (isinstance(context, bool) or context < 1):
            raise InvalidArgument(f"Chat context: expected a number of tokens above 0, or None, got {shorten(context)}")
        self.tokenizer = tokenizer_of(os.environ.get("TOKENIZER_NAME") if tokenizer is None else tokenizer)
        self.system_prompt = os.environ.get("SYSTEM_PROMPT") if system_prompt is None else system_prompt
        self.context, self.overflow = context, overflow
        self._rewards = dict(rewards or {})
        self._scenarios = _chosen(scenario)
        self.action_space, self.observation_space = Record(ChatAction), Record(ChatObservation)
        self.render_mode = render_mode
        self.state: ChatState | None = None
        self._tokens: list[int] = []
        """All tokens of the history, one after the other: an observation is a copy of them."""
        self._user: User | None = None
        self._over = False

    def reset(self, *, seed: Seed | None = None, options: Options | None = None) -> tuple[ChatObservation, Info]:
        """Draw a user; the option `scenario` names what they want."""
        if options and set(options) - {"scenario"}:
            raise InvalidArgument(f"options: expected only 'scenario', got {shorten(options)}")
        scenarios = _chosen(options["scenario"]) if options else self._scenarios
        super().reset(seed=seed)
        scenario = scenarios[int(self.np_random.integers(len(scenarios)))]
        self._user = User.drawn(scenario, np.random.default_rng(self.np_random.integers(1 << 62)))
        self._over, self.state, self._tokens = False, ChatState(), []
        rules = HOW.format(policy=scenario.policy, act=scenario.act, slots=scenario.blanks)
        instructed = self._say("system", f"{self.system_prompt}\n{rules}" if self.system_prompt else rules)
        opened = self._say("user", scenario.opening)
        return self._observed(), {"scenario": scenario.name, **_new([], [], instructed + opened, [])}

    def step(self, action: ChatAction) -> Step[ChatObservation]:
        """Say something; the user answers, or judges an act."""
        user, state = self._user, self.state
        if user is None or state is None or self._over:
            got = "an episode that has ended" if self._over else "no episode under way"
            raise ResetNeeded(f"step: expected reset() first, got {got}")
        self.action_space.check(action, "action", InvalidAction)
        facts: dict[str, object] = {"won": False, "invalid_format": False}
        components = {"goal": 0.0, "slots": 0.0, "invalid": 0.0}
        info: Info = {"reward_components": components, "facts": facts}
        wrong = self._wrong(action)
        if wrong:
            facts["invalid_format"], components["invalid"], info["error"] = True, INVALID, wrong
            user.turns += 1
            spoken, own, heard = [], [], self._say("user", f"I cannot read that: {wrong}.")
        else:
            spoken, own, text = self._spoken(action, state)
            heard = self._answered(user, text, info)
        info |= _new(spoken, own, heard, action.logprobs)
        for name, function in self._rewards.items():
            components[name] = float(function([dict(one) for one in state.history_messages], list(spoken)))
        truncated = self._end(user, info)
        return Step(self._observed(), float(sum(components.values())), self._over and not truncated, truncated, info)

    def get_choices(self) -> list[Choice]:
        """A line to answer in."""
        return [] if self._over else [choice("Say", {"message": "{text}"}, ask="What to say")]

    def draw(self) -> Canvas:
        """The last messages, as bubbles."""
        return chat_picture([] if self.state is None else self.state.history_messages)

    def _wrong(self, action: ChatAction) -> str:
        """What is wrong with an action that has the right fields."""
        if action.message is None and not action.tokens:
            return "expected tokens or a message, got neither"
        if action.message is not None and action.tokens:
            return "expected tokens or a message, got both"
        if len(action.tokens) > MAX_TOKENS or len(action.message or "") > 4 * MAX_TOKENS:
            return f"expected at most {MAX_TOKENS} tokens"
        tokens, size = action.tokens, self.tokenizer.size
        if tokens and not (min(tokens) >= 0 and max(tokens) < size):
            return f"expected tokens from 0 to {size - 1}, got {next(one for one in tokens if not 0 <= one < size)}"
        if action.logprobs and len(action.logprobs) != len(action.tokens):
            return f"expected {len(action.tokens)} log-probabilities, got {len(action.logprobs)}"
        return ""

    def _answered(self, user: User, text: str, info: Info) -> list[int]:
        act = act_in(text)
        if act is None:
            return self._say("user", user.answer(text))
        share = user.share(act)
        won = share == 1.0
        info["reward_components"] |= {"goal": GOAL * won, "slots": SLOTS * share}
        info["facts"]["won"] = won
        info["outcome"] = Outcome.SUCCESS if won else Outcome.FAILURE
        self._over = True
        return self._say("user", "Thank you, that is right." if won else "No, that is not what I wanted.")

    def _end(self, user: User, info: Info) -> bool:
        """Whether the context is full, with no policy to forget; an impatient user ends the episode as a failure."""
        if not self._over and user.turns >= PATIENCE:
            self._over, info["outcome"] = True, Outcome.FAILURE
        if self._over or self.context is None or len(self._tokens) <= self.context:
            return False
        if self.overflow == "truncate":
            self._forget(self.context)
            return False
        self._over, info["outcome"], info["limit"] = True, Outcome.BUDGET, "context"
        return True

    def _forget(self, context: int) -> None:
        """Drop the oldest messages but the system's, until the rest fits."""
        state, left = self.state or ChatState(), len(self._tokens)
        while left > context and len(state.history_messages) > 2:
            left -= len(state.history_tokens[1])
            del state.history_messages[1], state.history_tokens[1]
        self._tokens = [one for part in state.history_tokens for one in part]

    def _spoken(self, action: ChatAction, state: ChatState) -> tuple[list[int], list[int], str]:
        """Tokens of what the agent says, which of them are its own, and their text; marks that they lack are put in."""
        if action.message is not None:
            spoken = self._say("assistant", action.message)
            return spoken, [1] * len(spoken), action.message
        tokens, tokenizer = list(action.tokens), self.tokenizer
        ahead, behind = _no_marks()
        if isinstance(tokenizer, MarkedTokenizer):
            ahead, behind = tokenizer.around("assistant", state.history_messages)
        begun = len(ahead) if tokens[: len(ahead)] == ahead else 0
        text = self.tokenizer.decode(tokens[begun:] if begun else tokens)
        own, behind = [1] * len(tokens), behind[_closed(tokens, behind) :]
        if not begun:
            tokens, own = ahead + tokens, [0] * len(ahead) + own
        return self._say("assistant", text, tokens + behind), own + [0] * len(behind), text

    def _say(self, role: str, text: str, tokens: list[int] | None = None) -> list[int]:
        """Put a message into the history, as these tokens where there are some; they are the history's own then."""
        state = self.state
        if state is None:
            return []
        message = {"role": role, "content": text}
        if tokens is None:
            tokens = self._tokenized(message, state.history_messages)
        state.history_messages.append(message)
        state.history_tokens.append(tokens)
        self._tokens += tokens
        return tokens

    def _tokenized(self, message: Message, before: list[Message]) -> list[int]:
        tokenizer = self.tokenizer
        if isinstance(tokenizer, ForeignTokenizer):
            return tokenizer.message(message, before)
        return tokenizer.message(message)

    def _observed(self) -> ChatObservation:
        state = self.state or ChatState()
        return ChatObservation([one.copy() for one in state.history_messages], self._tokens.copy())


def _new(spoken: list[int], own: list[int], heard: list[int], logprobs: list[float]) -> Info:
    """Tokens of a step, who said each (1: the agent), and log-probabilities of the agent's."""
    return {"new_tokens": spoken + heard, "mask": own + [0] * len(heard), "logprobs": list(logprobs)}


def _no_marks() -> tuple[list[int], list[int]]:
    return [], []


def _closed(tokens: list[int], marks: list[int]) -> int:
    """How many of the marks behind a message are there already."""
    for size in range(len(marks), 0, -1):
        if tokens[-size:] == marks[:size]:
            return size
    return 0


def _chosen(scenario: object) -> list[Scenario]:
    if scenario is None:
        return list(SCENARIOS.values())
    if not isinstance(scenario, str) or scenario not in SCENARIOS:
        meant = did_you_mean(str(scenario), list(SCENARIOS))
        raise InvalidArgument(f"Chat scenario: expected one of {list(SCENARIOS)}, got {shorten(scenario)}{meant}")
    return [SCENARIOS[scenario]]
