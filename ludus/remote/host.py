"""`EnvHost`: answers for an environment or a batch, where that lives; one request at a time.

A sandboxed process and a server's session have one each. Protocols that speak JSON call `reset` and `step` with values;
those that speak the wire call `answer` with a message. What the environment gives is held to its spaces here, once.
"""

from collections.abc import Callable
from functools import partial
from math import isfinite
from typing import Any, TypeVar, cast
from uuid import uuid4

import numpy as np
import numpy.typing as npt

from ludus.core import Info, VectorEnv
from ludus.core.env import AnyEnv
from ludus.core.options import Options, TrackedOptions
from ludus.core.outcome import OUTCOME
from ludus.core.vector_env import AnyVectorEnv
from ludus.errors import (
    CodecError,
    ContractViolation,
    InvalidAction,
    InvalidArgument,
    InvalidValue,
    MissingAttribute,
    RenderError,
    ResetNeeded,
    SnapshotError,
    listing,
    shorten,
)
from ludus.remote.host_step import Export, Exported, HostStep, Kept, LaneAttributes, Transferred
from ludus.remote.plans import EpisodePlans
from ludus.remote.values import (
    action_reader,
    flag,
    read_episode_id,
    read_options,
    value_reply,
    with_outcome,
    write_info,
    write_number,
)
from ludus.seeding import Seed
from ludus.spaces import Space
from ludus.spaces.kinds import class_of, is_dict, is_tuple
from ludus.wire import SpaceCodec, decode_value
from ludus.wire.infos import write_infos
from ludus.wire.messages import (
    METHOD,
    AutoresetRequest,
    BatchReply,
    BatchResetRequest,
    BatchStepReply,
    BatchStepRequest,
    CallRequest,
    DoneReply,
    GetRequest,
    HasRequest,
    HostReply,
    Plan,
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

__all__ = ["EnvHost", "HostStep"]

T = TypeVar("T")
RequestT = TypeVar("RequestT")
Answers = dict[type, Callable[[Any], HostReply]]  # by class of request
CUT = "sandbox"
"""The key of `info` that tells that a process ended, and with it the episode."""
OWN_EPISODES = "own_episodes"
"""The key of `metadata` of environments that name and count their episodes themselves, as OpenEnv's do."""
REASONS = {
    "deadline": "its process was killed, since it did not answer in time",
    "cancelled": "its process was killed, since the step was cancelled",
}
NO_EPISODE = "step: expected reset() first, got no episode under way"
new_step = tuple[object, ...].__new__
"""A named tuple's own constructor takes three times as long."""


class EnvHost:
    """One environment (or batch) with the number of its steps, an episode's name, and its snapshots.

    `trusted` leaves what the environment gives unchecked: another side will hold it to the spaces, or has done so.
    `ordered` refuses a step before the first reset, whatever the environment would do.
    """

    def __init__(
        self,
        env: AnyEnv,
        *,
        max_snapshots: int | None = 64,
        plans: EpisodePlans | None = None,
        trusted: bool | None = None,
        ordered: bool = True,
    ) -> None:
        self.env, self.plans = env, plans
        self._batch: AnyVectorEnv | None = env if isinstance(env, VectorEnv) else None
        self._attributes = cast("LaneAttributes | None", self._batch)
        self.batched = self._batch is not None
        self._ordered = ordered
        self._own_episodes = bool(env.metadata.get(OWN_EPISODES))
        if hasattr(env, "copy"):  # what it gives is written down at once, so that it need not be the caller's own
            env.copy = False  # type: ignore[attr-defined]
        batch = self._batch
        self.space: Space[object] = env.observation_space if batch is None else batch.single_observation_space
        self.action_space: Space[object] = env.action_space if batch is None else batch.single_action_space
        self.episode_id: str | None = None
        self.step_count, self.done, self.last = 0, True, HostStep(None, None, False, False, {})
        """`last` is what the latest reset or step gave; of a batch nothing."""
        self._snapshots: dict[int, Kept] = {}
        self._taken, self._most = 0, max_snapshots
        self._interrupted = ""
        self._interrupt: Callable[[], None] | None = getattr(env, "interrupt", None)
        self._trusted = self._interrupt is not None if trusted is None else trusted
        codec = SpaceCodec(env.observation_space, "observation")
        self._write = codec.write if self._trusted else codec.write_checked
        finals = SpaceCodec(self.space, "final_obs")
        self._write_final = finals.write if self._trusted else finals.write_checked
        # Bounds are left to environments that clip by themselves, and where another process will say no.
        checked = not self._trusted and not getattr(env.unwrapped, "clips_actions", False)
        self._read_action = action_reader(env, checked=checked)
        if (checked or self.action_space.typed) and hasattr(env, "checks_actions"):  # typed ones always are, as read
            env.checks_actions = False  # type: ignore[attr-defined]
        self.answers = self._answers()

    # --- the episode, by values ---

    def reset(self, *, seed: object = None, options: Options | None = None, episode_id: object = None) -> HostStep:
        """Begin an episode; seed and options reach the environment, or are refused by it."""
        outcome = self._begin(seed, options, episode_id)
        try:
            return outcome if self._trusted else self._held(outcome)
        except ContractViolation:
            self.episode_id = None  # nothing has begun, and what it began with is sent to nobody who asks later
            raise

    def step(self, action: object) -> HostStep:
        """Advance the episode by an action of the action space."""
        outcome = self._advance(action)
        return outcome if self._trusted else self._held(outcome)

    def _begin(self, seed: object, options: Options | None, episode_id: object = None) -> HostStep:
        name = read_episode_id(episode_id)
        if self._own_episodes and name is not None:
            options = {**(options or {}), "episode_id": name}
        given = TrackedOptions(options) if options else options
        if isinstance(given, TrackedOptions):
            given.lend()
        result: object = self.env.reset(seed=cast("Seed | None", seed), options=given)  # it refuses what is none
        if not is_tuple(result) or len(result) != 2:
            raise ContractViolation(f"reset: expected an observation and an info, got {shorten(result)}")
        dropped = given.dropped() if isinstance(given, TrackedOptions) else []
        if dropped:
            raise InvalidArgument(
                f"options: expected those that the environment reads, got {listing(map(repr, dropped))}, which it did "
                "not look at; leave it out, or have its reset refuse what it does not know"
            )
        self.episode_id, self.step_count, self.done = name or str(uuid4()), 0, False
        self._interrupted = ""
        outcome = HostStep(result[0], None, False, False, cast(Info, result[1]))
        if not self.batched:
            self.last = outcome
        return outcome

    def _advance(self, action: object) -> HostStep:
        if self.episode_id is None and self._ordered:
            raise ResetNeeded(NO_EPISODE)
        result: object = self.env.step(action)
        if not is_tuple(result) or len(result) != 5:
            raise ContractViolation(f"step: expected a Step of five values, got {shorten(result)}")
        self.step_count += 1
        outcome = new_step(HostStep, result)
        if not self.batched:
            self.last = outcome
            self.done = bool(result[2] or result[3])
            if self._interrupted:
                self._explain(outcome)
        return outcome

    def _held(self, outcome: HostStep) -> HostStep:
        """The outcome, in its space, with a reward that is a finite number and flags that are flags."""
        try:
            observation = self.env.observation_space.coerce(outcome.observation, "observation")
        except InvalidValue as error:
            raise ContractViolation(str(error)) from error
        if outcome.reward is not None and not self.batched:
            write_number(outcome.reward)
            for name in ("terminated", "truncated"):
                flag(getattr(outcome, name), name)
        has_outcome = not self.batched and isinstance(outcome.info, dict) and OUTCOME in outcome.info  # pyright: ignore[reportUnnecessaryIsInstance]
        if observation is outcome.observation and not has_outcome:
            return outcome
        info = with_outcome(outcome.info) if has_outcome else outcome.info
        self.last = outcome._replace(observation=observation, info=info)
        return self.last

    def _explain(self, outcome: HostStep) -> None:
        """Tell in the info of a step that was cut from here why that was."""
        why, self._interrupted = self._interrupted, ""
        report = outcome.info.get(CUT) if outcome.infrastructure else None
        if is_dict(report):
            report |= {"limit": why, "reason": REASONS.get(why, report.get("reason"))}

    def state(self, *, private: bool = False) -> Info:
        """The episode's name, its steps, and what the author shows; of a batch, that of each lane as `lanes`."""
        state = self.env.state_data(private=private)
        if self._own_episodes:
            return {"episode_id": self.episode_id, "step_count": self.step_count, **state}
        return {**state, "episode_id": self.episode_id, "step_count": self.step_count}

    def render(self) -> object:
        """The current picture."""
        if self.env.render_mode is None:
            raise RenderError("render: expected an environment that draws, got one made without a render_mode")
        return self.env.render()

    @property
    def can_interrupt(self) -> bool:
        """Whether what is under way can be ended: where a process of its own runs it."""
        return self._interrupt is not None

    def interrupt(self, why: str = "cancelled") -> bool:
        """End what is under way, from another thread, where that can be done; the episode is truncated."""
        self._interrupted = why
        if self._interrupt is None:
            return False
        self._interrupt()
        return True

    def close(self) -> None:
        """Close the environment."""
        self._snapshots.clear()
        self.env.close()

    # --- the wire ---

    def answer(self, request: object) -> HostReply:
        """The reply to a message; what goes wrong is raised."""
        answer = self.answers.get(class_of(request))
        if answer is None:
            kind = "a batch" if self.batched else "one environment"
            raise InvalidArgument(f"{kind}: expected another request, got a {type(request).__name__}")
        return answer(request)

    def _answers(self) -> Answers:
        own: Answers = (
            {
                BatchStepRequest: self._step_batch,
                BatchResetRequest: self._reset_batch,
                AutoresetRequest: self._autoreset,
            }
            if self.batched
            else {StepRequest: self._step, ResetRequest: self._reset}
        )
        return own | {
            RenderRequest: self._render,
            StateRequest: self._state,
            GetRequest: partial(_attributes, self._get),
            HasRequest: self._has,
            SetRequest: partial(_attributes, self._set),
            CallRequest: partial(_attributes, self._call),
            SnapshotRequest: self._snapshot,
            RestoreRequest: self._restore,
        }

    def _action(self, data: object) -> object:
        try:
            return self._read_action(data)
        except (CodecError, InvalidValue) as error:
            raise InvalidAction(str(error)) from error

    def _step(self, request: StepRequest) -> StepReply:
        """As `step`, in one function: nearly all that is asked of a host is this."""
        try:
            action = self._read_action(request.action)
        except (CodecError, InvalidValue) as error:
            raise InvalidAction(str(error)) from error
        if self.episode_id is None and self._ordered:
            raise ResetNeeded(NO_EPISODE)
        result: object = self.env.step(action)
        if not is_tuple(result) or len(result) != 5:
            raise ContractViolation(f"step: expected a Step of five values, got {shorten(result)}")
        observation, reward, terminated, truncated, info = result
        self.step_count += 1
        self.last, self.done = new_step(HostStep, result), bool(terminated or truncated)
        if self._interrupted:
            self._explain(self.last)
        try:
            written = self._write(observation)
        except (CodecError, InvalidValue) as error:
            raise ContractViolation(str(error)) from error
        return StepReply(
            written,
            reward if (type(reward) is float or type(reward) is int) and isfinite(reward) else write_number(reward),
            terminated if type(terminated) is bool else flag(terminated, "terminated"),
            truncated if type(truncated) is bool else flag(truncated, "truncated"),
            write_info(info) if info else {},
        )

    def _reset(self, request: ResetRequest) -> ResetReply:
        outcome = self._begin(decode_value(request.seed, "seed"), read_options(request.options))
        return ResetReply(self._written(self._write, outcome.observation), write_info(outcome.info))

    def _written(self, write: Callable[[object], T], value: object) -> T:
        """A value as its space's data; ContractViolation where it is not one of it."""
        try:
            return write(value)
        except (CodecError, InvalidValue) as error:
            raise ContractViolation(str(error)) from error

    # --- a batch ---

    def _step_batch(self, request: BatchStepRequest) -> BatchStepReply:
        self._plan(request.plans)
        actions = self._action(request.actions)
        if request.mask:
            if self.episode_id is None and self._ordered:
                raise ResetNeeded(NO_EPISODE)
            batch = self._lanes()
            result: tuple[object, ...] = batch.step_masked(actions, self._mask(batch, request.mask))
            self.step_count += 1
        else:
            result = self._advance(actions)
        observations, rewards, terminated, truncated, infos = result
        return BatchStepReply(
            self._written(self._write, observations),
            np.asarray(rewards, "<f8").tobytes(),
            np.asarray(terminated, np.bool_).tobytes(),
            np.asarray(truncated, np.bool_).tobytes(),
            self._infos(infos) if infos else {},
        )

    def _reset_batch(self, request: BatchResetRequest) -> BatchReply:
        self._plan(request.plans)
        outcome = self._begin(decode_value(request.seed, "seed"), read_options(request.options))
        return BatchReply(self._written(self._write, outcome.observation), self._infos(outcome.info))

    def _autoreset(self, request: AutoresetRequest) -> BatchReply:
        self._plan(request.plans)
        batch = self._lanes()
        observations, infos = batch.autoreset(self._mask(batch, request.mask))
        self.episode_id = self.episode_id or str(uuid4())
        return BatchReply(self._written(self._write, observations), self._infos(infos))

    def _plan(self, plans: list[Plan]) -> None:
        if not plans:
            return
        if self.plans is None:
            raise InvalidArgument("plans: expected a batch that was made to take them, got one that was not")
        self.plans.take(plans)

    def _lanes(self) -> AnyVectorEnv:
        if self._batch is None:
            raise InvalidArgument("one environment: expected a batch, got one environment")
        return self._batch

    def _mask(self, batch: AnyVectorEnv, data: bytes) -> npt.NDArray[np.bool_]:
        count = batch.num_envs
        if len(data) != count or data.strip(b"\0\1"):
            raise InvalidArgument(f"mask: expected {count} bytes of 0 and 1, got {shorten(data)}")
        return np.frombuffer(data, np.bool_).copy()

    def _infos(self, infos: object) -> dict[str, object]:
        try:
            return write_infos(infos, self._write_final)
        except (CodecError, InvalidValue) as error:
            raise ContractViolation(str(error)) from error

    # --- pictures, state, attributes ---

    def _render(self, request: RenderRequest) -> ValueReply:
        del request
        return value_reply(self.render(), "render")

    def _state(self, request: StateRequest) -> ValueReply:
        return value_reply(self.state(private=request.private), "state")

    def _get(self, request: GetRequest) -> ValueReply:
        env, name, batch = self.env, request.name, self._attributes
        if batch is None:
            found: object = env.get_wrapper_attr(name)
            # A method stays here; the other side may call it by its name.
            return ValueReply(dict(METHOD)) if callable(found) else value_reply(found, name)
        # Lanes that are no environments of their own have seeds, too.
        lanes = batch.np_random_seed if name == "np_random_seed" else batch.get_attr(name)
        return value_reply(list(lanes), name)

    def _has(self, request: HasRequest) -> ValueReply:
        return ValueReply(self.env.has_wrapper_attr(request.name))

    def _set(self, request: SetRequest) -> ValueReply:
        value, batch = decode_value(request.value, request.name), self._attributes
        if batch is None:
            return ValueReply(self.env.set_wrapper_attr(request.name, value, force=request.force))
        batch.set_attr(request.name, value)
        return ValueReply(True)

    def _call(self, request: CallRequest) -> ValueReply:
        args = [decode_value(one, f"{request.name} argument {place}") for place, one in enumerate(request.args)]
        kwargs = {name: decode_value(one, name) for name, one in request.kwargs.items()}
        batch = self._attributes
        if batch is not None:
            return value_reply(list(batch.call(request.name, *args, **kwargs)), request.name)
        found = self.env.get_wrapper_attr(request.name)
        return value_reply(found(*args, **kwargs) if callable(found) else found, request.name)

    # --- snapshots ---

    def _snapshot(self, request: SnapshotRequest) -> SnapshotReply:
        for number in request.dropped:
            self._snapshots.pop(number, None)
        return SnapshotReply(self.keep())

    def keep(self) -> int:
        """Take a snapshot; its number."""
        if self._most is not None and len(self._snapshots) >= self._most:
            raise SnapshotError(f"snapshot: expected at most {self._most} of a session, got one more; drop some")
        taken = self.env.snapshot(), (self.episode_id, self.step_count, self.done, self.last)
        self._taken += 1
        self._snapshots[self._taken] = taken
        return self._taken

    def _restore(self, request: RestoreRequest) -> DoneReply:
        self.adopt(self.kept(request.number))
        return DoneReply()

    def kept(self, number: int) -> Kept:
        """A snapshot by its number, for `adopt` here or in another host made alike."""
        if number not in self._snapshots:
            raise SnapshotError(f"restore: expected one of {len(self._snapshots)} snapshots, got number {number}")
        return self._snapshots[number]

    def dropped(self, number: int) -> Kept:
        """A snapshot by its number, which is forgotten here."""
        taken = self.kept(number)
        del self._snapshots[number]
        return taken

    def adopt(self, taken: Kept) -> None:
        """Go on from a snapshot; what was planned since is to be planned again."""
        snapshot, episode = taken
        self.env.restore(snapshot)
        self.episode_id, self.step_count, self.done, self.last = episode
        if self.plans is not None:
            self.plans.clear()

    # --- states for another host made alike ---

    def transfer(self, number: int = 0, lanes: list[int] | None = None) -> Transferred:
        """The state, or a snapshot by its number, for `accept` of another host; of a batch, of these lanes."""
        export: Export | None = getattr(self.env, "export_state", None)
        if export is None and lanes is None:
            return self.kept(number) if number else self.dropped(self.keep())
        if not number:
            return self._transferred(export, lanes)
        now = self.keep()
        try:
            self.adopt(self.kept(number))
            return self._transferred(export, lanes)
        finally:
            self.adopt(self.dropped(now))

    def _transferred(self, export: Export | None, lanes: list[int] | None) -> Transferred:
        episode = self.episode_id, self.step_count, self.done, self.last
        if export is not None:
            return Exported(export(lanes)), episode
        with self._lanes().fork(lanes or []) as twin:
            return twin.snapshot(), episode

    def accept(self, taken: Transferred) -> None:
        """Go on from what another host transferred."""
        state, episode = taken
        if not isinstance(state, Exported):
            self.adopt((state, episode))
            return
        self.env.import_state(state.state)  # type: ignore[attr-defined]
        self.episode_id, self.step_count, self.done, self.last = episode


def _attributes(answer: Callable[[RequestT], HostReply], request: RequestT) -> HostReply:
    """A request for what is not there gets an error that is no fault of the environment's."""
    try:
        return answer(request)
    except AttributeError as error:
        raise MissingAttribute(str(error)) from error
