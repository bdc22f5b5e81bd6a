"""`VectorEnv`: many environments behind one; an `Env` whose every value carries a leading lane axis."""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from ludus.core.autoreset import AutoresetMode
from ludus.core.env import ActT, Env, Metadata, ObsT_co
from ludus.core.episode import EpisodePlan
from ludus.core.fork import Lanes
from ludus.core.lane_options import check_each
from ludus.core.options import Options
from ludus.core.outcome import OUTCOME, read_outcome
from ludus.core.step import Info, Step
from ludus.errors import ContractViolation, InvalidArgument, InvalidType, shorten
from ludus.seeding import Seed
from ludus.spaces import Space
from ludus.spaces.array_space import Array
from ludus.spaces.kinds import is_array

__all__ = ["AnyVectorEnv", "IntegerActions", "Integers", "VectorEnv"]

Mask = npt.NDArray[np.bool_]
Integers = npt.NDArray[np.int64]
"""What the lanes of a batch show, whose observations are integers each."""
IntegerActions = npt.NDArray[np.integer] | Sequence[int]
"""What a batch takes, whose actions are integers each: an array of any width, or a list."""


class _AnyBatch(type):
    """Makes a wrapper around a batch count as a `VectorEnv`: what differs is `batch_shape`, not a second hierarchy."""

    def __instancecheck__(cls, instance: object) -> bool:
        return super().__instancecheck__(instance) or (
            cls is VectorEnv and isinstance(instance, Env) and bool(instance.batch_shape)
        )


class VectorEnv(Env[ObsT_co, ActT], metaclass=_AnyBatch):
    """A batch of `num_envs` lanes. Lane `i` of `reset(seed=s)` is the single environment of `reset(seed=s + i)`.

    Rewards are float64, flags bool. `info[key]` holds an array, and `info["_" + key]` says which lanes set it.

    >>> from ludus.envs.teaching.grid_world import GridWorld
    >>> from ludus.vector import SerialVectorEnv
    >>> envs = SerialVectorEnv([GridWorld, GridWorld])
    >>> envs.batch_shape, envs.single_action_space, envs.action_space
    ((2,), Discrete(4), MultiDiscrete([4 4]))
    """

    metadata: Metadata = {}  # noqa: RUF012
    num_envs: int
    single_observation_space: Space[Any]
    single_action_space: Space[Any]
    executor: str = "custom"
    """Where the lanes run: "serial", "thread", "process", "kernel", or a batch of its own kind."""
    episodes: EpisodePlan | None = None
    """What says how each episode begun by autoreset is seeded, and with which options."""
    closed: bool = False

    if TYPE_CHECKING:  # what runs is a batch's own, which reads them by `lane_seeds`

        def reset(
            self, *, seed: Seed | Sequence[Seed | None] | None = None, options: Options | None = None
        ) -> tuple[ObsT_co, Info]:
            """Begin an episode in each lane: of `seed + i` in lane i, or of the seed that a list has for it."""
            ...

    @property
    def batch_shape(self) -> tuple[int, ...]:
        """`(num_envs,)`."""
        return (self.num_envs,)

    @property
    def autoreset_mode(self) -> AutoresetMode:
        """When ended lanes are reset."""
        return AutoresetMode.of(self.metadata.get("autoreset_mode", AutoresetMode.NEXT_STEP))

    def state_data(self, *, private: bool = False) -> Info:
        """What each lane shows of its episode, as `lanes`; nothing where lanes are no environments of their own."""
        del private
        return {}

    def close(self, **kwargs: object) -> None:
        """Close every lane, once; `kwargs` go to `close_extras`."""
        if not self.closed:
            self.close_extras(**kwargs)
            self.closed = True

    def close_extras(self, **kwargs: Any) -> None:
        """What a subclass has to release."""

    def reset_mask(self, options: Options | None) -> tuple[Mask, Options | None]:
        """Which lanes `reset(options=…)` is to reset, and the options without the mask, in a new dictionary.

        `options["each"]` stays, checked to have a value for every lane; `lane_options` gives a lane its own.
        """
        check_each(options, self.num_envs)
        if options is None or "reset_mask" not in options:
            return np.ones(self.num_envs, dtype=np.bool_), options
        mask: object = options["reset_mask"]
        if not is_array(mask) or mask.dtype != np.bool_:
            raise InvalidType(f"options['reset_mask']: expected an array of bool, got {shorten(mask)}")
        if mask.shape != (self.num_envs,) or not mask.any():
            raise InvalidArgument(
                f"options['reset_mask']: expected shape ({self.num_envs},) with at least one True, got {shorten(mask)}"
            )
        return mask, {key: value for key, value in options.items() if key != "reset_mask"}

    # --- some lanes at a time: what wrappers steer single lanes with ---

    def step_masked(self, action: ActT, mask: Mask) -> Step[ObsT_co]:
        """Advance the lanes of `mask`, an array of bool; a mask of all lanes is `step`.

        The others stay exactly as they are: their streams do not move, and what has ended stays ended. Their entries
        are the last observation, reward 0, flags False and no info; their actions are not looked at.
        """
        del action, mask
        raise self._cannot("step_masked(action, mask)", "advances some of its lanes")

    def autoreset(self, mask: Mask) -> tuple[ObsT_co, Info]:
        """Begin the next episode in the lanes of `mask`, ended or not, as autoreset begins it.

        That is by `episodes` if there is a plan, and without a seed otherwise. Gives the observations of all lanes, the
        last ones of the others, and the infos of the lanes begun.
        """
        del mask
        raise self._cannot("autoreset(mask)", "begins episodes in some of its lanes")

    def _cannot(self, method: str, does: str) -> InvalidType:
        return InvalidType(
            f"{method}: expected a batch that {does}, got {type(self).__name__}, which defines no such method; "
            f"define {method}, or wrap each lane, by make_vec(wrappers=[…])"
        )

    def lane_mask(self, mask: object, name: str = "mask") -> Mask:
        """`mask` if it is an array of bool with one for each lane; raises InvalidType and InvalidArgument."""
        if not is_array(mask) or mask.dtype != np.bool_:
            raise InvalidType(f"{name}: expected an array of bool, got {shorten(mask)}")
        if mask.shape != (self.num_envs,):
            raise InvalidArgument(f"{name}: expected shape ({self.num_envs},), got {shorten(mask)}")
        return mask

    def fork(self, lanes: Lanes) -> "VectorEnv[ObsT_co, ActT]":
        """A new batch whose lane `j` goes on from where lane `lanes[j]` is; both then go their own ways."""
        raise InvalidType(f"fork: expected an executor that can copy lanes, got {type(self).__name__}")

    def _forked_lanes(self, lanes: object) -> npt.NDArray[np.intp]:
        """`lanes` as indices, each of which is there."""
        found = np.asarray(lanes)
        if found.ndim != 1 or not len(found) or found.dtype.kind not in "iu":
            raise InvalidArgument(f"fork: expected a sequence of lanes, got {shorten(lanes)}")
        if found.min() < 0 or found.max() >= self.num_envs:
            raise InvalidArgument(f"fork: expected lanes from 0 to {self.num_envs - 1}, got {shorten(lanes)}")
        return found.astype(np.intp)

    def _add_info(self, vector_infos: Info, env_info: Info, env_num: int) -> Info:
        """Enter the info of lane `env_num` into the batch's."""
        return self._add_entries(vector_infos, env_info, env_num, whole=True)

    def _add_entries(self, vector_infos: Info, env_info: Info, env_num: int, *, whole: bool) -> Info:
        """The same for an info as a `whole`, whose outcome is one, or for a dictionary inside it."""
        for key, given in env_info.items():
            value: object = given
            if key == OUTCOME and whole:
                outcome = read_outcome(value, f"lane {env_num} info['outcome']")
                if outcome is None:
                    continue
                value = np.int8(outcome.code)
            column = vector_infos.get(key)
            held: object = value
            nested = isinstance(held, dict) and key != "final_obs"
            had: object = column
            if had is not None and isinstance(had, dict) is not nested:
                raise ContractViolation(
                    f"lane {env_num} info[{key!r}]: expected a dictionary in all lanes or in none, got {shorten(value)}"
                )
            mask = vector_infos.setdefault(f"_{key}", np.zeros(self.num_envs, dtype=np.bool_))
            if nested:
                inner: Info = {} if column is None else column
                column = self._add_entries(inner, given, env_num, whole=whole and key == "final_info")
            else:
                if column is None:
                    column = self._column(None if key == "final_obs" else value)
                elif not _holds(column, value):
                    column = self._widened(column, value, mask)
                column[env_num] = value
            mask[env_num] = True
            vector_infos[key] = column
        return vector_infos

    def _column(self, value: object) -> Array:
        """An empty column for values like `value`: typed for numbers and arrays, of objects otherwise."""
        if _is_number(value):
            return np.zeros(self.num_envs, dtype=type(value))
        if is_array(value):
            return np.zeros((self.num_envs, *value.shape), dtype=value.dtype)
        return np.full(self.num_envs, None, dtype=object)

    def _widened(self, column: Array, value: object, mask: Mask) -> Array:
        """The column in a dtype that holds `value` too: of numbers if it can be, of objects otherwise."""
        like: object = np.asarray(value) if _is_number(value) else value
        if is_array(like) and column.shape[1:] == like.shape and _akin(column.dtype, like.dtype):
            return column.astype(np.result_type(column.dtype, like.dtype))
        objects = np.full(self.num_envs, None, dtype=object)
        for lane in np.flatnonzero(mask):
            objects[lane] = column[lane]
        return objects

    def __repr__(self) -> str:
        name = "" if self.spec is None else f"{self.spec.id}, "
        return f"{type(self).__name__}({name}num_envs={self.num_envs})"

    def __str__(self) -> str:
        return repr(self)


AnyVectorEnv = VectorEnv[Any, Any]
"""A batch whose observations and actions are of whatever type."""


def _is_number(value: object) -> bool:
    """A number that a NumPy dtype holds: not a Python integer beyond 64 bits."""
    if type(value) is int:
        return -(2**63) <= value < 2**63
    return type(value) in (float, bool) or isinstance(value, np.number)


def _akin(a: np.dtype[np.generic], b: np.dtype[np.generic]) -> bool:
    return a.kind == b.kind or {a.kind, b.kind} <= set("biufc")


def _holds(column: Array, value: object) -> bool:
    """Whether `value` enters the column unchanged."""
    if column.dtype == object:
        return True
    if is_array(value):
        return column.shape[1:] == value.shape and np.can_cast(value.dtype, column.dtype)
    return column.ndim == 1 and _is_number(value) and np.can_cast(type(value), column.dtype)
