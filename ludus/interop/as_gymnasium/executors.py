"""Executors by Gymnasium's names and arguments."""

from collections.abc import Callable, Iterable, Sequence
from enum import Enum
from typing import Any

from ludus.core import AutoresetMode, Info, Step
from ludus.core.env import AnyEnv
from ludus.core.options import Options
from ludus.core.vector_env import AnyVectorEnv
from ludus.errors import ClosedEnvironment, InvalidArgument, InvalidSpace, shorten
from ludus.interop.as_gymnasium.failures import AlreadyPendingCallError, NoAsyncCallError
from ludus.interop.as_gymnasium.vectors import VectorEnv
from ludus.spaces import Space, batch_differing_spaces
from ludus.spaces.kinds import is_tuple
from ludus.vector import ProcessVectorEnv, SerialVectorEnv

__all__ = ["AsyncState", "AsyncVectorEnv", "SyncVectorEnv"]


class SyncVectorEnv(SerialVectorEnv, VectorEnv[Any, Any, Any]):
    """The serial executor by Gymnasium's arguments; lanes may differ in the bounds of their observations.

    >>> from ludus.envs.teaching.grid_world import GridWorld
    >>> SyncVectorEnv([GridWorld, GridWorld]).observation_space
    Box(0, 4, (2, 2), int64)
    """

    def __init__(
        self,
        env_fns: Iterable[Callable[[], AnyEnv]],
        copy: bool = True,
        observation_mode: str | tuple[Space[object], Space[object]] = "same",
        autoreset_mode: AutoresetMode | str = AutoresetMode.NEXT_STEP,
    ) -> None:
        _check_mode(observation_mode)
        self.env_fns, self.observation_mode = list(env_fns), observation_mode
        super().__init__(self.env_fns, autoreset_mode=autoreset_mode, copy=copy)

    def _open(self, envs: list[AnyEnv]) -> None:
        super()._open(envs)
        if self.observation_mode == "different":
            self.observation_space = batch_differing_spaces([env.observation_space for env in envs])
        elif isinstance(self.observation_mode, tuple):
            self.observation_space, self.single_observation_space = self.observation_mode
            self._observations = self.single_observation_space.empty(self.num_envs)

    def _require_equal_spaces(self) -> None:
        if self.observation_mode == "same":
            super()._require_equal_spaces()
            return
        for lane, env in enumerate(self.envs):
            _require_layout(lane, self, env.observation_space, env.action_space)


class AsyncState(Enum):
    """What an `AsyncVectorEnv` is waiting for."""

    DEFAULT = "default"
    WAITING_RESET = "reset"
    WAITING_STEP = "step"
    WAITING_CALL = "call"


class AsyncVectorEnv(ProcessVectorEnv, VectorEnv[Any, Any, Any]):
    """The process executor by Gymnasium's arguments; lanes may differ in the bounds of their observations.

    One worker has several lanes, as many as there are cores for. Histories are those of `SyncVectorEnv`.

    >>> from ludus.envs.teaching.grid_world import GridWorld
    >>> with AsyncVectorEnv([GridWorld, GridWorld]) as envs:
    ...     envs.reset_async(seed=0)
    ...     envs.reset_wait()[0].tolist()
    [[0, 0], [0, 0]]
    """

    def __init__(
        self,
        env_fns: Sequence[Callable[[], AnyEnv]],
        shared_memory: bool = True,
        copy: bool = True,
        context: str | None = None,
        daemon: bool = True,
        worker: Callable[..., object] | None = None,
        observation_mode: str | tuple[Space[object], Space[object]] = "same",
        autoreset_mode: AutoresetMode | str = AutoresetMode.NEXT_STEP,
        max_concurrency: int | None = None,
    ) -> None:
        del shared_memory, daemon  # memory is always shared, and no worker outlives its parent
        if worker is not None:
            raise InvalidArgument(
                f"worker: expected None, since workers have one way to work, got {shorten(worker)}; "
                "put what it does into a wrapper"
            )
        _check_mode(observation_mode)
        self.env_fns, self.observation_mode = list(env_fns), observation_mode
        self._state = AsyncState.DEFAULT
        self._pending: tuple[tuple[Any, ...], dict[str, Any]] = (), {}
        super().__init__(
            self.env_fns, autoreset_mode=autoreset_mode, copy=copy, context=context, num_workers=max_concurrency
        )

    def _require_equal_spaces(self, found: list[tuple[int, Space[object], Space[object]]]) -> None:
        if self.observation_mode == "same":
            super()._require_equal_spaces(found)
            return
        for lane, seen, acts in found:
            _require_layout(lane, self, seen, acts)
        if self.observation_mode == "different":
            self.observation_space = batch_differing_spaces([seen for _, seen, _ in found])
        elif isinstance(self.observation_mode, tuple):
            self.observation_space, self.single_observation_space = self.observation_mode

    def _begin(self, state: AsyncState, *args: object, **kwargs: object) -> None:
        if self.closed:
            raise ClosedEnvironment(f"{state.value}_async: expected an open batch, got one that is closed")
        if self._state is not AsyncState.DEFAULT:
            raise AlreadyPendingCallError(
                f"{state.value}_async: expected nothing under way, got a pending {self._state.value}; "
                f"call {self._state.value}_wait() first",
                self._state.value,
            )
        self._state, self._pending = state, (args, kwargs)

    def _finish(self, state: AsyncState) -> tuple[tuple[Any, ...], dict[str, Any]]:
        if self._state is not state:
            raise NoAsyncCallError(f"{state.value}_wait: expected {state.value}_async() first, got none", state.value)
        self._state, pending = AsyncState.DEFAULT, self._pending
        return pending

    def reset_async(self, *, seed: Any = None, options: Options | None = None) -> None:
        """Take the arguments of a reset."""
        self._begin(AsyncState.WAITING_RESET, seed=seed, options=options)

    def reset_wait(self, timeout: float | None = None) -> tuple[Any, Info]:
        """Reset with the arguments taken."""
        del timeout
        _, kwargs = self._finish(AsyncState.WAITING_RESET)
        return self.reset(**kwargs)

    def step_async(self, actions: object) -> None:
        """Send every lane on its step; it is made while the caller does something else."""
        self._begin(AsyncState.WAITING_STEP)
        try:
            self.send(actions)
        except BaseException:
            self._state = AsyncState.DEFAULT
            raise

    def step_wait(self, timeout: float | None = None) -> Step[Any]:
        """What the step gave that was begun."""
        del timeout
        self._finish(AsyncState.WAITING_STEP)
        return self.recv()[1]

    def call_async(self, name: str, *args: object, **kwargs: object) -> None:
        """Take the arguments of a call of every lane."""
        self._begin(AsyncState.WAITING_CALL, name, *args, **kwargs)

    def call_wait(self, timeout: float | None = None) -> tuple[object, ...]:
        """Call every lane with the arguments taken."""
        del timeout
        args, kwargs = self._finish(AsyncState.WAITING_CALL)
        return self.call(*args, **kwargs)


def _check_mode(given: object) -> None:
    pair = is_tuple(given) and [isinstance(one, Space) for one in given] == [True, True]
    if not pair and given not in ("same", "different"):
        raise InvalidArgument(
            f"observation_mode: expected 'same', 'different' or (batch space, lane space), got {shorten(given)}"
        )


def _require_layout(lane: int, envs: AnyVectorEnv, seen: Space[object], acts: Space[object]) -> None:
    expected = envs.single_observation_space
    if not expected.same_layout(seen) or acts != envs.single_action_space:
        raise InvalidSpace(
            f"lane {lane}: expected the shapes and dtypes of lane 0, {expected!r}, "
            f"and its action space, {envs.single_action_space!r}, got {seen!r} and {acts!r}"
        )
