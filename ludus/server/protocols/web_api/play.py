"""Play over a WebSocket: JSON in text frames, a session for as long as the socket is open.

A message is `{"type": …, "id": …, "frame": true, "choices": true}` with what its type needs; its answer has the same
type and id.
What goes wrong is answered with `{"error": …}`, and the socket stays open.
"""

import asyncio
from collections.abc import Awaitable, Callable
from time import monotonic

import msgspec

from ludus.errors import CodecError, InvalidAction, InvalidArgument, InvalidValue, ResetNeeded, shorten
from ludus.remote.host import EnvHost, HostStep
from ludus.server.access import Principal
from ludus.server.failures import error_reply
from ludus.server.protocols.web_api.frame import frame_of
from ludus.server.protocols.web_api.page_json import observed, plain
from ludus.server.protocols.web_api.preview import open_session
from ludus.server.server import Server
from ludus.server.session import Session
from ludus.spaces.kinds import is_dict
from ludus.spaces.mask import sample_legal

__all__ = ["PlaySession", "choices_of"]

CHOICES_METHOD = "get_choices"
MAX_CHOICES = 600
"""Of a step: every point of a board of go, and more than anybody reads."""
MAX_RANDOM_STEPS = 1000
"""Steps that one message asks for."""
STEPS_PER_TURN = 16
"""Steps after which others get their turn."""


Message = dict[str, object]
"""A JSON object."""


class PlaySession:
    """One page that plays: `answer(text)` gives the reply to each message, `close()` ends the session.

    The session is opened by the first reset, and anew by a reset after it was lost: a page that stays open through a
    deadline or a restart of its environment goes on with one click.
    """

    def __init__(self, server: Server, principal: Principal, env: str) -> None:
        self._server, self._principal, self._env = server, principal, env
        self._session: Session | None = None
        self._answers: dict[str, Callable[[Message], Awaitable[Message]]] = {
            "reset": self._reset,
            "step": self._step,
            "random": self._random,
            "state": self._state,
            "frame": self._frame,
        }

    async def answer(self, text: str) -> bytes:
        """The reply to a message."""
        head: Message = {}
        try:
            message = _read(text)
            head = {name: plain(message[name]) for name in ("type", "id") if name in message}
            kind = message.get("type")
            if not isinstance(kind, str) or kind not in self._answers:
                raise InvalidArgument(f"type: expected one of {', '.join(self._answers)}, got {shorten(kind)}")
            return msgspec.json.encode({**head, **await self._answers[kind](message)})
        except Exception as error:
            env = self._env if self._env in self._server.offered else "unknown"
            self._server.metrics.count("errors", env=env, kind=type(error).__name__)
            reply = error_reply(error)
            failure = {"kind": reply.kind, "message": reply.message, "infrastructure": reply.infrastructure}
            return msgspec.json.encode({**head, "error": plain({**failure, "retry_after": reply.retry_after})})

    async def close(self) -> None:
        """Close the session, if there is one."""
        session, self._session = self._session, None
        if session is not None:
            await self._server.sessions.close(session, "its page was left")

    # --- what can be asked ---

    async def _reset(self, message: Message) -> Message:
        seed, options = message.get("seed"), message.get("options")
        if options is not None and not is_dict(options):
            raise InvalidArgument(f"options: expected an object or null, got {shorten(options)}")
        session = await self._opened()

        def work(hosted: EnvHost) -> Message:
            outcome = hosted.reset(seed=seed, options=options)
            if seed is not None:  # random actions are a part of what a seed stands for
                hosted.action_space.seed(seed)
            return _step_message(hosted, outcome) | _framed(hosted, message)

        return await session.call(work, long=True)

    async def _step(self, message: Message) -> Message:
        if "action" not in message:
            raise InvalidAction("step: expected an action, got none")

        def work(hosted: EnvHost) -> Message:
            return _stepped(hosted, _action(hosted, message["action"])) | _framed(hosted, message)

        return await self._timed(work)

    async def _random(self, message: Message) -> Message:
        count = message.get("count", 1)
        if isinstance(count, bool) or not isinstance(count, int) or not 1 <= count <= MAX_RANDOM_STEPS:
            raise InvalidArgument(f"count: expected 1 to {MAX_RANDOM_STEPS}, got {shorten(count)}")
        steps: list[Message] = []
        while len(steps) < count and not (steps and (steps[-1]["terminated"] or steps[-1]["truncated"])):
            steps.append(await self._timed(_at_random))
            if len(steps) % STEPS_PER_TURN == 0:
                await asyncio.sleep(0)
        return {"steps": steps, **await self._begun().call(lambda hosted: _framed(hosted, message))}

    async def _state(self, message: Message) -> Message:
        del message
        private = self._principal.may("run")
        return {"state": await self._begun().call(lambda hosted: plain(hosted.state(private=private)))}

    async def _frame(self, message: Message) -> Message:
        del message
        return await self._begun().call(lambda hosted: {"frame": frame_of(hosted)})

    # --- the session ---

    async def _opened(self) -> Session:
        session = self._session
        if session is None or session.lost is not None:
            await self.close()
            session = self._session = await open_session(self._server, self._env, self._principal)
            session.connection = self
        return session

    def _begun(self) -> Session:
        if self._session is None:
            raise ResetNeeded("play: expected reset first, got no episode under way")
        return self._session

    async def _timed(self, work: Callable[[EnvHost], Message]) -> Message:
        begin = monotonic()
        reply = await self._begun().call(work)
        self._server.metrics.step(self._begun().served.name, monotonic() - begin)
        return reply


def _read(text: str) -> Message:
    try:
        message: object = msgspec.json.decode(text)
    except (msgspec.DecodeError, UnicodeError, RecursionError) as error:
        raise CodecError(f"message: expected JSON, got {shorten(text)}: {error}") from error
    if not is_dict(message):
        raise CodecError(f"message: expected an object, got {shorten(message)}")
    return message


def _action(hosted: EnvHost, data: object) -> object:
    try:
        action = hosted.action_space.decode(data)
    except (CodecError, InvalidValue) as error:
        raise InvalidAction(str(error)) from error
    hosted.action_space.check(action, "action", InvalidAction)
    return action


def _at_random(hosted: EnvHost) -> Message:
    """A step with a sampled action; one that the environment's mask allows, where it tells one."""
    return _stepped(hosted, sample_legal(hosted.action_space, hosted.last.info.get("action_mask")))


def _stepped(hosted: EnvHost, action: object) -> Message:
    if hosted.done:
        raise ResetNeeded("step: expected reset, since the episode is over")
    return {"action": observed(hosted.action_space, action), **_step_message(hosted, hosted.step(action))}


def _step_message(hosted: EnvHost, outcome: HostStep) -> Message:
    return {
        "observation": observed(hosted.space, outcome.observation),
        "reward": plain(outcome.reward),
        "terminated": bool(outcome.terminated),
        "truncated": bool(outcome.truncated),
        "info": plain(outcome.info),
        "infrastructure": outcome.infrastructure,
        "step": hosted.step_count,
        "episode": hosted.episode_id,
    }


def _framed(hosted: EnvHost, message: Message) -> Message:
    extras: Message = {"frame": frame_of(hosted)} if message.get("frame") else {}
    if message.get("choices") and (found := choices_of(hosted)) is not None:
        extras["choices"] = found
    return extras


def choices_of(hosted: EnvHost) -> object:
    """What can be chosen after the last step; None where the environment leaves that to keys, buttons and the form.

    >>> from ludus.registry import make
    >>> choices_of(EnvHost(make("CartPole-v1"))) is None
    True
    """
    try:
        env = hosted.env
        if not env.has_wrapper_attr(CHOICES_METHOD):
            return None
        found = env.get_wrapper_attr(CHOICES_METHOD)()
        return None if found is None else plain(list(found)[:MAX_CHOICES])
    except Exception:  # an author's table that is broken takes nothing from play: there is the form
        return None
