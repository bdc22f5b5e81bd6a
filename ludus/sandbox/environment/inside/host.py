"""`SandboxedHost`: the host in a sandboxed process: it makes the environment, and what goes wrong is a reply too."""

import pickle
from collections.abc import Callable
from typing import Any

from ludus.core import AutoresetMode, Env
from ludus.errors import ChannelError, SnapshotError
from ludus.remote.host import EnvHost
from ludus.remote.plans import EpisodePlans
from ludus.sandbox.environment.inside.env_factory import make_env
from ludus.vector import SerialVectorEnv
from ludus.wire import encode_value, write_space
from ludus.wire.failures import write_failure
from ludus.wire.messages import (
    PROTOCOL,
    CloseRequest,
    DoneReply,
    ExportRequest,
    ImportRequest,
    MakeReply,
    MakeRequest,
    ValueReply,
)

__all__ = ["SandboxedHost"]


class SandboxedHost:
    """One environment or batch, made on request. The other side holds what it gives to the spaces, so here nobody does.

    States are pickled here and opened here, or in another process that is sandboxed alike; the other side only carries
    them.
    """

    def __init__(self, make: Callable[[MakeRequest], Env[Any, Any]] = make_env) -> None:
        self._make = make
        self._host: EnvHost | None = None
        self._answers: dict[type[Any], Callable[[Any], Any]] = {MakeRequest: self.make}

    def answer(self, request: Any) -> Any:
        """The reply to a request."""
        try:
            answer = self._answers.get(type(request))
            if answer is None:
                raise ChannelError(f"channel: expected another request, got a {type(request).__name__}")
            return answer(request)
        except Exception as error:
            return write_failure(error)

    def make(self, request: MakeRequest) -> MakeReply:
        """Make the environment; from then on it answers."""
        if request.protocol != PROTOCOL:
            raise ChannelError(f"channel: expected protocol {PROTOCOL}, got {request.protocol}")
        env, plans = self._made(request)
        host = self._host = EnvHost(env, max_snapshots=None, plans=plans, trusted=True, ordered=False)
        self._answers = host.answers | {
            ExportRequest: self._export,
            ImportRequest: self._import,
            CloseRequest: self._close,
        }
        lane: Any = env.envs[0] if isinstance(env, SerialVectorEnv) else env
        return MakeReply(
            PROTOCOL,
            write_space(host.space),
            write_space(host.action_space),
            encode_value(dict(lane.metadata), "metadata"),
            lane.render_mode,
            type(lane.unwrapped).__name__,
        )

    def _made(self, request: MakeRequest) -> tuple[Env[Any, Any], EpisodePlans | None]:
        if not request.lanes:
            return self._make(request), None
        plans, mode = EpisodePlans(), AutoresetMode.of(request.autoreset_mode)
        makers = [lambda: self._make(request)] * request.lanes
        return SerialVectorEnv(makers, autoreset_mode=mode, copy=False, episodes=plans), plans

    # --- states for another process ---

    def _export(self, request: ExportRequest) -> ValueReply:
        host: Any = self._host
        if request.lanes is None:
            state: Any = host.kept(request.number) if request.number else host.dropped(host.keep())
        else:
            state = host.env.export_lanes(request.lanes), (host.episode_id, host.step_count, host.done, host.last)
        try:
            return ValueReply(pickle.dumps((request.lanes is not None, state)))
        except Exception as error:
            raise SnapshotError(
                f"state: expected one that can be moved to another process, got what cannot: {error}"
            ) from error

    def _import(self, request: ImportRequest) -> DoneReply:
        host: Any = self._host
        parts = [pickle.loads(one) for one in request.states]  # noqa: S301  (from a process sandboxed alike)
        if not parts[0][0]:
            host.adopt(parts[0][1])
            return DoneReply()
        host.env.import_lanes([lane for _, (lanes, _) in parts for lane in lanes])
        host.episode_id, host.step_count, host.done, host.last = parts[0][1][1]
        host.plans.clear()
        return DoneReply()

    def _close(self, request: CloseRequest) -> DoneReply:
        del request
        host: Any = self._host
        host.close()
        return DoneReply()
