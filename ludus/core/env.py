"""`Env`: what an environment is, whether one, a batch, or one on another machine."""

from __future__ import annotations

from collections.abc import Callable
from types import TracebackType
from typing import TYPE_CHECKING, Any, ClassVar, Generic, Self, TypeGuard, TypeVar

import numpy as np

from ludus.core.options import Options
from ludus.core.snapshot import Memo, Snapshot, capture_attributes, put, reinstate_attributes, take
from ludus.core.spec import EnvSpec
from ludus.core.state import state_data
from ludus.core.step import Info, Step
from ludus.errors import RenderError
from ludus.seeding import Seed, derived_stream, np_random
from ludus.spaces import Space

if TYPE_CHECKING:
    from typing_extensions import TypeVar as DefaultTypeVar

__all__ = ["AnyEnv", "Env"]

# With a default, so that `class Mine(Wrapper)` and `env: Env` say what they mean where nothing is known. Such defaults
# come with Python 3.13; type checkers know them before, from typing_extensions, which is never loaded.
if TYPE_CHECKING:
    ObsT = DefaultTypeVar("ObsT", default=Any)
    ObsT_co = DefaultTypeVar("ObsT_co", default=Any, covariant=True)
    ActT = DefaultTypeVar("ActT", default=Any)
else:
    ObsT = TypeVar("ObsT")
    ObsT_co = TypeVar("ObsT_co", covariant=True)
    ActT = TypeVar("ActT")
WrappedT = TypeVar("WrappedT")
Metadata = dict[str, Any]
"""What a class says of itself: `render_modes`, `render_fps`, and what its author adds."""


class Env(Generic[ObsT_co, ActT]):
    """An environment: `reset` starts an episode, `step` advances it, until `terminated` or `truncated`.

    A subclass sets `observation_space` and `action_space` and defines `reset` and `step`. What they return is the
    caller's: a new object each time, never a buffer that the next call changes.

    >>> from ludus.spaces import Discrete
    >>> class Coin(Env[int, int]):
    ...     observation_space = action_space = Discrete(2)
    ...     def reset(self, *, seed=None, options=None):
    ...         super().reset(seed=seed)
    ...         return 0, {}
    ...     def step(self, action):
    ...         side = int(self.np_random.integers(2))
    ...         return Step.termination(side, float(side == action))
    >>> env = Coin()
    >>> observation, info = env.reset(seed=7)
    >>> env.step(1)
    Step(observation=1, reward=1.0, terminated=True, truncated=False, info={})
    """

    metadata: Metadata = {"render_modes": []}  # noqa: RUF012  (the field's convention; copied before it is changed)
    render_mode: str | None = None
    spec: EnvSpec | None = None
    action_space: Space[ActT]
    observation_space: Space[ObsT_co]

    snapshot_shared: ClassVar[tuple[str, ...]] = ()
    """Attributes that are no state (windows, handles): a snapshot leaves them alone."""

    _np_random: np.random.Generator | None = None
    _np_random_seed: int | None = None
    _streams: dict[str, np.random.Generator] | None = None

    # --- the episode ---

    def reset(self, *, seed: Seed | None = None, options: Options | None = None) -> tuple[ObsT_co, Info]:
        """Start an episode and return its first observation and info.

        A seed starts the random stream anew; without one the stream goes on. Subclasses begin with
        `super().reset(seed=seed)`, whose own return value is of no use. Unknown `options` are an error, never dropped.
        """
        del options
        if seed is not None:
            self._np_random, self._np_random_seed = np_random(seed)
            self._streams = None
        return None  # type: ignore[return-value]

    def step(self, action: ActT) -> Step[ObsT_co]:
        """Advance the episode by one action; a plain tuple of the five values is as good as a `Step`."""
        raise NotImplementedError(f"{type(self).__name__} defines no step(action)")

    def render(self) -> Any:
        """The current picture, as `render_mode` asks for it."""
        modes: list[str] = self.metadata.get("render_modes") or []
        raise RenderError(
            f"render: expected an environment that draws, got {type(self).__name__}, which defines no render(); "
            f"its render modes are {list(modes)}"
        )

    def close(self) -> None:
        """Release what the environment holds; closing twice is harmless."""

    # --- what it is ---

    @property
    def batch_shape(self) -> tuple[int, ...]:
        """`()` for one environment, `(n,)` for a batch of `n`."""
        return ()

    @property
    def unwrapped(self) -> AnyEnv:
        """The environment under all wrappers."""
        return self

    def state_data(self, *, private: bool = False) -> Info:
        """What the author shows of the episode: the environment's `state`, if it has one, as plain data.

        Fields marked `Private` are left out, unless `private`: those are for whoever runs the episode.
        """
        return state_data(getattr(self, "state", None), private=private)

    # --- randomness ---

    @property
    def np_random(self) -> np.random.Generator:
        """The environment's own stream, seeded by `reset(seed=…)`, else from the operating system on first use."""
        if self._np_random is None:
            self._np_random, self._np_random_seed = np_random()
        return self._np_random

    @np_random.setter
    def np_random(self, value: np.random.Generator) -> None:
        self._np_random, self._np_random_seed, self._streams = value, -1, None

    @property
    def np_random_seed(self) -> int:
        """The seed of `np_random`; -1 when a generator was set from outside."""
        if self._np_random_seed is None:
            self._np_random, self._np_random_seed = np_random()
        return self._np_random_seed

    def stream(self, name: str) -> np.random.Generator:
        """The random stream called `name`, derived from the environment's seed and independent of its draws.

        Wrappers and rendering draw from here: adding them never shifts the dynamics. A new seed starts it anew.
        """
        if self._streams is None:
            self._streams = {}
        if name not in self._streams:
            self._streams[name] = derived_stream(self.np_random, name)
        return self._streams[name]

    # --- snapshots ---

    def snapshot(self) -> Snapshot:
        """The exact state of environment, wrappers, spaces and random streams, to `restore` any number of times.

        Raises SnapshotError naming the attribute that cannot be copied.
        """
        return take(self._layers(), lambda layer, memo: layer._capture(memo))

    def restore(self, snapshot: Snapshot) -> None:
        """Go back (or forward) to a snapshot of this environment, or of another one made alike."""
        put(self._layers(), snapshot, lambda layer, state, memo: layer._reinstate(state, memo))

    def _layers(self) -> list[AnyEnv]:
        return [self]

    def _capture(self, memo: Memo) -> object:
        """This layer's state as data; override together with `_reinstate` where attributes are not all of it."""
        return capture_attributes(self, memo)

    def _reinstate(self, state: Any, memo: Memo) -> None:
        """Take on the state that `_capture` gave; it may be asked for again and must not be changed."""
        reinstate_attributes(self, state, memo)

    # --- attributes through wrappers ---

    def has_wrapper_attr(self, name: str) -> bool:
        """Whether this environment, or one under it, has the attribute."""
        return hasattr(self, name)

    def get_wrapper_attr(self, name: str) -> Any:
        """The attribute of this environment, or of the nearest one under it that has it."""
        return getattr(self, name)

    def set_wrapper_attr(self, name: str, value: object, *, force: bool = True) -> bool:
        """Set the attribute where it already exists, else here when `force`; returns whether it was set."""
        if force or hasattr(self, name):
            setattr(self, name, value)
            return True
        return False

    def __or__(self, wrapper: Callable[[Self], WrappedT]) -> WrappedT:
        """`env | X.using(…)`: the environment with a wrapper around it; any function of an environment will do."""
        return wrapper(self) if callable(wrapper) else NotImplemented  # pyright: ignore[reportUnnecessaryComparison]

    # --- with-statement and text ---

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def __str__(self) -> str:
        return f"<{type(self).__name__} instance>" if self.spec is None else f"<{type(self).__name__}<{self.spec.id}>>"


AnyEnv = Env[Any, Any]
"""An environment of whatever observations and actions. One that is only looked at is an `Env[object, Any]`."""


def is_env(value: object) -> TypeGuard[AnyEnv]:
    """Whether it is an environment, of any observations and actions, in a form that type checkers follow."""
    return isinstance(value, Env)
