"""`Hosted`: an environment or a batch with its episode, as every door of a server uses it; one call at a time.

Doors that speak JSON call `reset` and `step` with values; those that speak the wire call `answer` with a message.
"""

from collections.abc import Callable
from typing import Any, NamedTuple
from uuid import uuid4

import numpy as np

from ludus.core import Env, Snapshot, VectorEnv
from ludus.errors import (
    ChannelError,
    CodecError,
    ContractViolation,
    InvalidAction,
    InvalidArgument,
    InvalidValue,
    ResetNeeded,
    SnapshotError,
    shorten,
)
from ludus.rendering.png import to_png
from ludus.sandbox.environment.sandboxed_env import SandboxedEnv
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
from ludus.wire.replies import step_reply, write_info, written

__all__ = ["Hosted", "Outcome"]

LONGEST_ID = 255
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

    def __init__(self, env: Env[Any, Any], *, max_snapshots: int = 64) -> None:
        self.env, self.batched = env, isinstance(env, VectorEnv)
        single: Any = env
        self.space = single.single_observation_space if self.batched else env.observation_space
        self.action_space = single.single_action_space if self.batched else env.action_space
        self.episode_id: str | None = None
        self.step_count, self.done, self.last = 0, True, Outcome(None, None, False, False, {})
        """`last` is what the latest reset or step gave; of a batch nothing."""
        self._snapshots: dict[int, tuple[Snapshot, tuple[Any, ...]]] = {}
        self._taken, self._most = 0, max_snapshots
        self._observations = SpaceCodec(env.observation_space, "observation")
        self._finals = SpaceCodec(self.space, "final_obs")
        self._actions = SpaceCodec(env.action_space, "action")
        self._answers: dict[type[Any], Callable[[Any], Any]] = {
            RenderRequest: lambda _: ValueReply(encode_value(self.render(), "render")),
            PictureRequest: lambda _: ValueReply(self.picture()),
            SnapshotRequest: self._snapshot,
            RestoreRequest: self._restore,
            StateRequest: lambda request: ValueReply(encode_value(self.state(private=request.private), "state")),
        }
        if self.batched:
            self._answers |= {VectorStepRequest: self._step_batch, VectorResetRequest: self._reset_batch}
        else:
            self._answers |= {StepRequest: self._step, ResetRequest: self._reset}

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
        outcome = Outcome(result[0], None, False, False, result[1])
        if not self.batched:
            self.last = outcome
        return outcome

    def step(self, action: Any) -> Outcome:
        """Advance the episode by an action of the action space."""
        if self.episode_id is None:
            raise ResetNeeded("step: expected reset first, got no episode under way")
        observation, reward, terminated, truncated, info = self.env.step(action)
        self.step_count += 1
        outcome = Outcome(observation, reward, terminated, truncated, info)
        if not self.batched:
            self.done, self.last = outcome.done, outcome
        return outcome

    def state(self, *, private: bool = False) -> dict[str, Any]:
        """The episode's name, its steps, and what the author shows."""
        own = {} if self.batched else self.env.state_data(private=private)
        return {**own, "episode_id": self.episode_id, "step_count": self.step_count}

    def render(self) -> Any:
        """The current picture."""
        return self.env.render()

    def picture(self) -> bytes:
        """The current picture as PNG."""
        return as_png(self.render())

    def interrupt(self) -> bool:
        """End what is under way, from another thread: where a process of its own runs it."""
        if isinstance(self.env, SandboxedEnv):
            self.env.interrupt()
            return True
        return False

    def close(self) -> None:
        """Close the environment."""
        self._snapshots.clear()
        self.env.close()

    # --- the wire ---

    def answer(self, request: Any) -> Any:
        """The reply to a message of `ludus.wire.network`; what goes wrong is raised."""
        answer = self._answers.get(type(request))
        if answer is None:
            kind = "a batch" if self.batched else "one environment"
            raise ChannelError(f"session of {kind}: expected another request, got a {type(request).__name__}")
        return answer(request)

    def _action(self, data: Any) -> Any:
        try:
            return self._actions.read(data)
        except (CodecError, InvalidValue) as error:
            raise InvalidAction(str(error)) from error

    def _step(self, request: StepRequest) -> StepReply:
        return step_reply(self.step(self._action(request.action)), self._observations)

    def _reset(self, request: ResetRequest) -> ResetReply:
        seed, options = decode_value(request.seed, "seed"), decode_value(request.options, "options")
        outcome = self.reset(seed=seed, options=options)
        return ResetReply(written(self._observations, outcome.observation), write_info(outcome.info))

    def _step_batch(self, request: VectorStepRequest) -> VectorStepReply:
        observations, rewards, terminated, truncated, infos = self.step(self._action(request.actions))
        return VectorStepReply(
            written(self._observations, observations),
            np.asarray(rewards, "<f8").tobytes(),
            np.asarray(terminated, np.bool_).tobytes(),
            np.asarray(truncated, np.bool_).tobytes(),
            write_infos(infos, self._finals) if infos else {},
        )

    def _reset_batch(self, request: VectorResetRequest) -> VectorResetReply:
        seed, options = decode_value(request.seed, "seed"), decode_value(request.options, "options")
        outcome = self.reset(seed=seed, options=options)
        return VectorResetReply(
            written(self._observations, outcome.observation), write_infos(outcome.info, self._finals)
        )

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


def as_png(picture: Any) -> bytes:
    """A picture of bytes as PNG."""
    if not isinstance(picture, np.ndarray) or picture.dtype != np.uint8 or picture.ndim not in (2, 3):
        raise ContractViolation(f"picture: expected rows of bytes, got {shorten(picture)}; use render_mode='rgb_array'")
    return to_png(picture)
