"""`SandboxedHost`: the host in a sandboxed process: it makes the environment, and what goes wrong is a reply too."""

import pickle
from collections.abc import Callable, Mapping
from functools import partial
from typing import Any

from ludus.core import AutoresetMode
from ludus.core.env import AnyEnv
from ludus.errors import ChannelError, SnapshotError
from ludus.remote.host import EnvHost
from ludus.remote.plans import EpisodePlans
from ludus.sandbox.environment.inside.env_factory import make_env
from ludus.spaces.kinds import class_of
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
    Reply,
    ValueReply,
)

__all__ = ["SandboxedHost"]


class SandboxedHost:
    """One environment or batch, made on request. The other side holds what it gives to the spaces, so here nobody does.

    States are pickled here and opened here, or in another process that is sandboxed alike; the other side only carries
    them.
    """

    def __init__(self, make: Callable[[MakeRequest], AnyEnv] = make_env) -> None:
        self._make = make
        self._answers: Mapping[type, Callable[[Any], Reply]] = {MakeRequest: self.make}

    def answer(self, request: object) -> Reply:
        """The reply to a request."""
        try:
            answer = self._answers.get(class_of(request))
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
        host = EnvHost(env, max_snapshots=None, plans=plans, trusted=True, ordered=False)
        self._answers = host.answers | {
            ExportRequest: partial(self._export, host),
            ImportRequest: partial(self._import, host),
            CloseRequest: partial(self._close, host),
        }
        lane = env.envs[0] if isinstance(env, SerialVectorEnv) else env
        return MakeReply(
            PROTOCOL,
            write_space(host.space),
            write_space(host.action_space),
            encode_value(dict(lane.metadata), "metadata"),
            lane.render_mode,
            type(lane.unwrapped).__name__,
        )

    def _made(self, request: MakeRequest) -> tuple[AnyEnv, EpisodePlans | None]:
        if not request.lanes:
            return self._make(request), None
        plans, mode = EpisodePlans(), AutoresetMode.of(request.autoreset_mode)
        makers = [lambda: self._make(request)] * request.lanes
        return SerialVectorEnv(makers, autoreset_mode=mode, copy=False, episodes=plans), plans

    # --- states for another process ---

    def _export(self, host: EnvHost, request: ExportRequest) -> ValueReply:
        env = host.env
        if request.lanes is None or not isinstance(env, SerialVectorEnv):
            state: object = host.kept(request.number) if request.number else host.dropped(host.keep())
        else:
            state = env.export_lanes(request.lanes), (host.episode_id, host.step_count, host.done, host.last)
        try:
            return ValueReply(pickle.dumps((request.lanes is not None, state)))
        except Exception as error:
            raise SnapshotError(
                f"state: expected one that can be moved to another process, got what cannot: {error}"
            ) from error

    def _import(self, host: EnvHost, request: ImportRequest) -> DoneReply:
        env = host.env
        parts = [pickle.loads(one) for one in request.states]  # noqa: S301  (from a process sandboxed alike)
        if not parts[0][0] or not isinstance(env, SerialVectorEnv):
            host.adopt(parts[0][1])
            return DoneReply()
        env.import_lanes([lane for _, (lanes, _) in parts for lane in lanes])
        host.episode_id, host.step_count, host.done, host.last = parts[0][1][1]
        if host.plans is not None:
            host.plans.clear()
        return DoneReply()

    def _close(self, host: EnvHost, request: CloseRequest) -> DoneReply:
        del request
        host.close()
        return DoneReply()
