"""`Hosted`: an environment or a batch with its episode, as every door of a server uses it; one call at a time.

Doors that speak JSON call `reset` and `step` with values; those that speak the wire call `answer` with a message.
"""

from collections.abc import Callable
from typing import Any, NamedTuple
from uuid import uuid4

import numpy as np

from ludus.core import Env, Snapshot, VectorEnv
from ludus.errors import (
    CodecError,
    ContractViolation,
    InvalidAction,
    InvalidArgument,
    InvalidValue,
    RenderError,
    ResetNeeded,
    SnapshotError,
    shorten,
)
from ludus.sandbox.environment.sandboxed_env import SandboxedEnv
from ludus.sandbox.environment.sandboxed_vector_env import SandboxedVectorEnv
from ludus.spaces import Discrete
from ludus.wire import SpaceCodec, decode_value, encode_value
from ludus.wire.infos import write_infos
from ludus.wire.message import (
    DoneReply,
    RenderRequest,
    ResetReply,
    ResetRequest,
    RestoreRequest,
    SnapshotReply,
    SnapshotRequest,
    StateRequest,
    StepReply,
    StepRequest,
    ValueReply,
)
from ludus.wire.network import (
    PictureRequest,
    VectorResetReply,
    VectorResetRequest,
    VectorStepReply,
    VectorStepRequest,
)
from ludus.wire.pictures import PictureCodec, is_picture, write_png, write_render
from ludus.wire.replies import step_reply, write_info, written

__all__ = ["Hosted", "Outcome"]

LONGEST_ID = 255
WALLED = (SandboxedEnv, SandboxedVectorEnv)
"""Environments in a process of their own, which can be ended and says no by itself."""
REASONS = {
    "deadline": "its process was killed, since it did not answer in time",
    "cancelled": "its process was killed, since the step was cancelled",
}
new_tuple: Any = tuple.__new__  # a named tuple's own constructor takes three times as long
CUT = "sandbox"
"""The key of `info` that tells that a process ended, and with it the episode."""


class Outcome(NamedTuple):
    """What a reset (reward None) or a step gave."""

    observation: Any
    reward: Any
    terminated: bool
    truncated: bool
    info: dict[str, Any]

    @property
    def done(self) -> bool:
        """Whether the episode is over."""
        return bool(self.terminated or self.truncated)

    @property
    def infrastructure(self) -> bool:
        """Whether it was cut by the failure of a process, and not by the task: a trainer leaves it out."""
        return bool(self.truncated) and CUT in self.info


class Hosted:
    """One environment (or batch) with the number of its steps, an episode's name, and its snapshots."""

    def __init__(self, env: Env[Any, Any], *, max_snapshots: int = 64, pictures: str = "raw") -> None:
        self.env, self.batched, self.pictures = env, isinstance(env, VectorEnv), pictures
        single: Any = env
        self.space = single.single_observation_space if self.batched else env.observation_space
        self.action_space = single.single_action_space if self.batched else env.action_space
        self.episode_id: str | None = None
        self.step_count, self.done, self.last = 0, True, Outcome(None, None, False, False, {})
        """`last` is what the latest reset or step gave; of a batch nothing."""
        self._snapshots: dict[int, tuple[Snapshot, tuple[Any, ...]]] = {}
        self._taken, self._most = 0, max_snapshots
        self._interrupted = ""
        codec: Any = PictureCodec if pictures == "png" else SpaceCodec
        lane = (self.space,) if pictures == "png" else ()
        self._observations: SpaceCodec = codec(env.observation_space, "observation", *lane)
        self._finals: SpaceCodec = codec(self.space, "final_obs")
        self._read = _action_reader(env)

    # --- the episode, by values ---

    def reset(self, *, seed: Any = None, options: dict[str, Any] | None = None, episode_id: Any = None) -> Outcome:
        """Begin an episode; seed and options reach the environment, or are refused by it."""
        if episode_id is not None and (not isinstance(episode_id, str) or not 0 < len(episode_id) <= LONGEST_ID):
            raise InvalidArgument(
                f"episode_id: expected text of 1 to {LONGEST_ID} characters, got {shorten(episode_id)}"
            )
        result: Any = self.env.reset(seed=seed, options=options)
        if not isinstance(result, tuple) or len(result) != 2:
            raise ContractViolation(f"reset: expected an observation and an info, got {shorten(result)}")
        self.episode_id, self.step_count, self.done = episode_id or str(uuid4()), 0, False
        self._interrupted = ""
        outcome = Outcome(result[0], None, False, False, result[1])
        if not self.batched:
            self.last = outcome
        return outcome

    def step(self, action: Any) -> Outcome:
        """Advance the episode by an action of the action space."""
        if self.episode_id is None:
            raise ResetNeeded("step: expected reset first, got no episode under way")
        result: Any = self.env.step(action)
        if not isinstance(result, tuple) or len(result) != 5:
            raise ContractViolation(f"step: expected a Step of five values, got {shorten(result)}")
        self.step_count += 1
        outcome = new_tuple(Outcome, result)
        if not self.batched:
            self.last = outcome
            self.done = bool(result[2] or result[3])
            if self._interrupted:
                self._explain(outcome)
        return outcome

    def _explain(self, outcome: Outcome) -> None:
        """Tell in the info of a step that was cut from here why that was."""
        why, self._interrupted = self._interrupted, ""
        told = outcome.info.get(CUT) if outcome.infrastructure else None
        if isinstance(told, dict):
            told |= {"limit": why, "reason": REASONS.get(why, told.get("reason"))}

    def state(self, *, private: bool = False) -> dict[str, Any]:
        """The episode's name, its steps, and what the author shows; of a batch, that of each lane as `lanes`."""
        return {**self.env.state_data(private=private), "episode_id": self.episode_id, "step_count": self.step_count}

    def render(self) -> Any:
        """The current picture."""
        if self.env.render_mode is None:
            raise RenderError("render: expected an environment that draws, got one made without a render_mode")
        return self.env.render()

    def picture(self) -> bytes:
        """The current picture as PNG."""
        return as_png(self.render())

    @property
    def can_interrupt(self) -> bool:
        """Whether what is under way can be ended: where a process of its own runs it."""
        return isinstance(self.env, WALLED)

    def interrupt(self, why: str = "cancelled") -> bool:
        """End what is under way, from another thread, where that can be done; the episode is truncated."""
        env, self._interrupted = self.env, why
        if not isinstance(env, WALLED):
            return False
        env.interrupt()
        return True

    def close(self) -> None:
        """Close the environment."""
        self._snapshots.clear()
        self.env.close()

    # --- the wire ---

    def answer(self, request: Any) -> Any:
        """The reply to a message of `ludus.wire.network`; what goes wrong is raised."""
        answer = (BATCH if self.batched else ONE).get(type(request))
        if answer is None:
            kind = "a batch" if self.batched else "one environment"
            raise InvalidArgument(f"session of {kind}: expected another request, got a {type(request).__name__}")
        return answer(self, request)

    def _action(self, data: Any) -> Any:
        try:
            return self._read(data)
        except (CodecError, InvalidValue) as error:
            raise InvalidAction(str(error)) from error

    def _step(self, request: StepRequest) -> StepReply:
        return step_reply(self.step(self._action(request.action)), self._observations)

    def _reset(self, request: ResetRequest) -> ResetReply:
        outcome = self.reset(seed=decode_value(request.seed, "seed"), options=_options(request.options))
        return ResetReply(written(self._observations, outcome.observation), write_info(outcome.info))

    def _step_batch(self, request: VectorStepRequest) -> VectorStepReply:
        observations, rewards, terminated, truncated, infos = self.step(self._action(request.actions))
        return VectorStepReply(
            written(self._observations, observations),
            np.asarray(rewards, "<f8").tobytes(),
            np.asarray(terminated, np.bool_).tobytes(),
            np.asarray(truncated, np.bool_).tobytes(),
            self._infos(infos) if infos else {},
        )

    def _reset_batch(self, request: VectorResetRequest) -> VectorResetReply:
        outcome = self.reset(seed=decode_value(request.seed, "seed"), options=_options(request.options))
        return VectorResetReply(written(self._observations, outcome.observation), self._infos(outcome.info))

    def _infos(self, infos: Any) -> dict[str, Any]:
        try:
            return write_infos(infos, self._finals)
        except (CodecError, InvalidValue) as error:
            raise ContractViolation(str(error)) from error

    def _render(self, request: RenderRequest) -> ValueReply:
        del request
        picture = self.render()
        try:
            return ValueReply(write_render(picture) if self.pictures == "png" else encode_value(picture, "render"))
        except CodecError as error:
            raise ContractViolation(str(error)) from error

    def _picture(self, request: PictureRequest) -> ValueReply:
        del request
        return ValueReply(self.picture())

    def _state(self, request: StateRequest) -> ValueReply:
        try:
            return ValueReply(encode_value(self.state(private=request.private), "state"))
        except CodecError as error:
            raise ContractViolation(str(error)) from error

    # --- snapshots ---

    def _snapshot(self, request: SnapshotRequest) -> SnapshotReply:
        for number in request.dropped:
            self._snapshots.pop(number, None)
        return SnapshotReply(self.keep())

    def keep(self) -> int:
        """Take a snapshot; its number."""
        if len(self._snapshots) >= self._most:
            raise SnapshotError(f"snapshot: expected at most {self._most} of a session, got one more; drop some")
        taken = self.env.snapshot(), (self.episode_id, self.step_count, self.done, self.last)
        self._taken += 1
        self._snapshots[self._taken] = taken
        return self._taken

    def _restore(self, request: RestoreRequest) -> DoneReply:
        self.adopt(self.kept(request.number))
        return DoneReply()

    def kept(self, number: int) -> Any:
        """A snapshot by its number, for `adopt` here or in another session made alike."""
        if number not in self._snapshots:
            raise SnapshotError(f"restore: expected one of {len(self._snapshots)} snapshots, got number {number}")
        return self._snapshots[number]

    def dropped(self, number: int) -> Any:
        """A snapshot by its number, which is forgotten here."""
        taken = self.kept(number)
        del self._snapshots[number]
        return taken

    def adopt(self, taken: Any) -> None:
        """Go on from a snapshot."""
        snapshot, mine = taken
        self.env.restore(snapshot)
        self.episode_id, self.step_count, self.done, self.last = mine


SHARED: dict[type[Any], Callable[[Hosted, Any], Any]] = {
    RenderRequest: Hosted._render,  # pyright: ignore[reportPrivateUsage]
    PictureRequest: Hosted._picture,  # pyright: ignore[reportPrivateUsage]
    SnapshotRequest: Hosted._snapshot,  # pyright: ignore[reportPrivateUsage]
    RestoreRequest: Hosted._restore,  # pyright: ignore[reportPrivateUsage]
    StateRequest: Hosted._state,  # pyright: ignore[reportPrivateUsage]
}
ONE = {StepRequest: Hosted._step, ResetRequest: Hosted._reset, **SHARED}  # pyright: ignore[reportPrivateUsage]
BATCH = {
    VectorStepRequest: Hosted._step_batch,  # pyright: ignore[reportPrivateUsage]
    VectorResetRequest: Hosted._reset_batch,  # pyright: ignore[reportPrivateUsage]
    **SHARED,
}


def _options(data: Any) -> dict[str, Any] | None:
    options = decode_value(data, "options")
    if options is not None and type(options) is not dict:
        raise InvalidArgument(f"options: expected a dictionary or None, got {shorten(options)}")
    return options


def _action_reader(env: Any) -> Callable[[Any], Any]:
    """What reads actions: of a choice out of a few, which is most of them, in one comparison.

    Bounds are left to environments that clip by themselves, and to those behind a wall, whose own process says no.
    """
    space, codec = env.action_space, SpaceCodec(env.action_space, "action")
    if isinstance(env, WALLED) or getattr(env.unwrapped, "clips_actions", False):
        return codec.take
    if type(space) is not Discrete:
        return codec.read
    least, most, read = int(space.start), int(space.start + space.n) - 1, codec.read

    def read_choice(data: Any) -> Any:
        return data if type(data) is int and least <= data <= most else read(data)

    return read_choice


def as_png(picture: Any) -> bytes:
    """A picture of bytes as PNG."""
    if not is_picture(picture):
        raise ContractViolation(f"picture: expected rows of bytes, got {shorten(picture)}; use render_mode='rgb_array'")
    return write_png(picture)
