"""`Host`: answers each request with one reply; what an environment raises is a reply too."""

from collections.abc import Callable
from typing import Any

from ludus.core import Env, Snapshot
from ludus.errors import (
    ChannelError,
    CodecError,
    ContractViolation,
    InvalidAction,
    SnapshotError,
    shorten,
)
from ludus.sandbox.environment.failure import failed
from ludus.sandbox.environment.inside.batch import HostedBatch
from ludus.sandbox.environment.inside.making import make_env
from ludus.wire import SpaceCodec, decode_value, encode_value, write_space
from ludus.wire.message import (
    PROTOCOL,
    BatchResetReply,
    BatchResetRequest,
    BatchStepReply,
    BatchStepRequest,
    CloseRequest,
    DoneReply,
    GetRequest,
    HasRequest,
    MakeReply,
    MakeRequest,
    RenderRequest,
    ResetReply,
    ResetRequest,
    RestoreRequest,
    SetRequest,
    SnapshotReply,
    SnapshotRequest,
    StateRequest,
    StepReply,
    StepRequest,
    ValueReply,
)
from ludus.wire.replies import step_reply, write_info, written

__all__ = ["Host"]


class Host:
    """One environment or batch, and the snapshots that were taken of it."""

    env: Any
    """`Env` or `HostedBatch`."""

    def __init__(self, make: Callable[[MakeRequest], Env[Any, Any]] = make_env) -> None:
        self._make = make
        self._snapshots: dict[int, Snapshot] = {}
        self._taken = 0
        self._answers: dict[type[Any], Callable[[Any], Any]] = {MakeRequest: self.make}

    def answer(self, request: Any) -> Any:
        """The reply to a request."""
        try:
            answer = self._answers.get(type(request))
            if answer is None:
                raise ChannelError(f"channel: expected another request, got a {type(request).__name__}")
            return answer(request)
        except Exception as error:
            return failed(error)

    def make(self, request: MakeRequest) -> MakeReply:
        """Make the environment; from then on it answers."""
        if request.protocol != PROTOCOL:
            raise ChannelError(f"channel: expected protocol {PROTOCOL}, got {request.protocol}")
        if request.lanes:
            self.env = HostedBatch(lambda: self._make(request), request)
            lane = self.env.first
            self._answers = {BatchStepRequest: self.step_batch, BatchResetRequest: self.reset_batch}
        else:
            self.env = lane = self._make(request)
            self._answers = {StepRequest: self.step, ResetRequest: self.reset}
        observed, acted = lane.observation_space, lane.action_space
        self._answers |= {
            RenderRequest: lambda _: ValueReply(encode_value(self.env.render(), "render")),
            GetRequest: self.get,
            HasRequest: lambda request: ValueReply(all(one.has_wrapper_attr(request.name) for one in self._lanes())),
            SetRequest: self.set,
            StateRequest: self.state,
            SnapshotRequest: self.snapshot,
            RestoreRequest: self.restore,
            CloseRequest: self.close,
        }
        self.observations = SpaceCodec(self.env.observation_space, "observation")
        self.finals = SpaceCodec(observed, "final_obs")
        self.actions, self.all_actions = SpaceCodec(acted, "action"), SpaceCodec(self.env.action_space, "action")
        return MakeReply(
            PROTOCOL,
            write_space(observed),
            write_space(acted),
            encode_value(dict(lane.metadata), "metadata"),
            lane.render_mode,
            type(lane.unwrapped).__name__,
        )

    def _lanes(self) -> list[Env[Any, Any]]:
        return self.env.envs if isinstance(self.env, HostedBatch) else [self.env]

    # --- one environment ---

    def step(self, request: StepRequest) -> StepReply:
        """Step by the action."""
        return step_reply(self.env.step(self._action(request.action)), self.observations)

    def _action(self, data: Any) -> Any:
        try:
            return self.actions.take(data)
        except CodecError as error:
            raise InvalidAction(str(error)) from error

    def reset(self, request: ResetRequest) -> ResetReply:
        """Begin an episode."""
        seed, options = decode_value(request.seed, "seed"), decode_value(request.options, "options")
        result = self.env.reset(seed=seed, options=options)
        if not isinstance(result, tuple) or len(result) != 2:
            raise ContractViolation(f"reset: expected an observation and an info, got {shorten(result)}")
        return ResetReply(written(self.observations, result[0]), write_info(result[1]))

    # --- a batch ---

    def step_batch(self, request: BatchStepRequest) -> BatchStepReply:
        """Step every lane."""
        batch: HostedBatch = self.env
        batch.plan(request.plans)
        if request.listed:
            actions = [self._action(one) for one in request.actions]
        else:
            actions = list(self.all_actions.take(request.actions))
        observations = batch.step(actions)
        return BatchStepReply(
            written(self.observations, observations),
            batch.rewards.tobytes(),
            batch.terminated.tobytes(),
            batch.truncated.tobytes(),
            self._entries(batch),
        )

    def reset_batch(self, request: BatchResetRequest) -> BatchResetReply:
        """Begin an episode in some lanes."""
        batch: HostedBatch = self.env
        batch.plan(request.plans)
        if request.lanes:
            seeds = [decode_value(seed, "seed") for seed in request.seeds]
            observations = batch.reset(request.lanes, seeds, decode_value(request.options, "options"))
        else:
            observations = batch.begin()
        return BatchResetReply(written(self.observations, observations), self._entries(batch))

    def _entries(self, batch: HostedBatch) -> list[Any]:
        """What the lanes added to the infos, as data."""
        return [
            (lane, write_info(info), [written(self.finals, one) for one in final])
            for lane, info, final in batch.entries
        ]

    # --- attributes ---

    def get(self, request: GetRequest) -> ValueReply:
        """The value of an attribute, in a batch of each lane."""
        found = [one.get_wrapper_attr(request.name) for one in self._lanes()]
        values = [encode_value(one, request.name) for one in found]
        return ValueReply(values if isinstance(self.env, HostedBatch) else values[0])

    def set(self, request: SetRequest) -> ValueReply:
        """Set an attribute, in a batch of each lane."""
        value = decode_value(request.value, request.name)
        values = value if isinstance(self.env, HostedBatch) else [value]
        pairs = zip(self._lanes(), values, strict=True)
        done = [env.set_wrapper_attr(request.name, one, force=request.force) for env, one in pairs]
        return ValueReply(all(done))

    def state(self, request: StateRequest) -> ValueReply:
        """What the environment shows of its episode, in a batch each lane."""
        found = [encode_value(one.state_data(private=request.private), "state") for one in self._lanes()]
        return ValueReply(found if isinstance(self.env, HostedBatch) else found[0])

    # --- snapshots ---

    def snapshot(self, request: SnapshotRequest) -> SnapshotReply:
        """Keep the state under a number."""
        for number in request.dropped:
            self._snapshots.pop(number, None)
        taken = self.env.snapshot()
        self._taken += 1
        self._snapshots[self._taken] = taken
        return SnapshotReply(self._taken)

    def restore(self, request: RestoreRequest) -> DoneReply:
        """Go back to the state under a number."""
        if request.number not in self._snapshots:
            raise SnapshotError(
                f"restore: expected one of {len(self._snapshots)} snapshots, got number {request.number}"
            )
        self.env.restore(self._snapshots[request.number])
        return DoneReply()

    def close(self, request: CloseRequest) -> DoneReply:
        """Close the environment."""
        del request
        self.env.close()
        return DoneReply()
