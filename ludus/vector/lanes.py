"""`LaneVectorEnv`: what batches of separate environments share, wherever the lanes run."""

from collections.abc import Mapping, Sequence
from copy import deepcopy
from typing import Any

import numpy as np
import numpy.typing as npt

from ludus.core import AutoresetMode, EpisodePlan, Info, VectorEnv
from ludus.core.env import ActT, ObsT_co
from ludus.core.fork import Lanes
from ludus.errors import ClosedEnvironment, InvalidAction, InvalidArgument, ResetNeeded, shorten
from ludus.spaces import Discrete, Space
from ludus.spaces.array_space import Array
from ludus.spaces.kinds import is_list_or_tuple
from ludus.vector.actions import check_choices, is_choice
from ludus.vector.lane import Maker

__all__ = ["LaneVectorEnv"]

Mask = npt.NDArray[np.bool_]


class LaneVectorEnv(VectorEnv[ObsT_co, ActT]):
    """A batch whose lanes are environments of their own: what is refused, and what is asked of every lane.

    >>> from ludus.vector import SerialVectorEnv
    >>> issubclass(SerialVectorEnv, LaneVectorEnv)
    True
    """

    _mode: AutoresetMode
    _begun: Mask
    checks_actions: bool = True
    """Whether actions are held to their space before any lane moves; False where the caller has done so."""
    _interrupted: bool = False
    """Whether the last call was cut short: which lanes have moved is not known then, until they are reset."""

    def _accept(
        self, makers: Sequence[Maker], mode: AutoresetMode | str, copy: bool, episodes: EpisodePlan | None
    ) -> None:
        """Take what every executor is made with."""
        if not makers:
            raise InvalidArgument(f"{type(self).__name__}: expected at least one environment, got none")
        self._mode = AutoresetMode.of(mode)
        self.copy, self.episodes, self._makers = copy, episodes, list(makers)

    def _describe(
        self, metadata: Mapping[str, object], render_mode: str | None, spaces: Sequence[Space[object]]
    ) -> None:
        """Be a batch of lanes like the first one."""
        self.metadata = {**metadata, "autoreset_mode": self._mode}
        self.render_mode = render_mode
        self.single_observation_space, self.single_action_space = spaces
        self.observation_space = self.single_observation_space.batch(self.num_envs)
        self.action_space = self.single_action_space.batch(self.num_envs)
        one = self.single_action_space
        self._chooses, self._typed = is_choice(one), one.typed
        if isinstance(one, Discrete):
            self._shift, self._choices, self._unsigned = int(one.start), int(one.n), np.dtype(f"u{one.dtype.itemsize}")

    # --- what is refused ---

    def _check_open(self, call: str) -> None:
        if self.closed:
            raise ClosedEnvironment(f"{call}: expected an open batch, got one that was closed; make a new one")

    def _check_begun(self, call: str, lanes: Lanes | None = None) -> None:
        """Only lanes that were reset may be asked to step."""
        begun = self._begun if lanes is None else self._begun[lanes]
        if not begun.all():
            reason = "a call that was interrupted" if self._interrupted else "no reset yet"
            raise ResetNeeded(f"{call}: expected reset() first, got {reason}")

    def _check_under_way(self, call: str, ended: npt.NDArray[np.intp]) -> None:
        """With autoreset disabled, only lanes under way may be asked to step; `ended` are the others."""
        if self._mode is AutoresetMode.DISABLED and len(ended):
            raise ResetNeeded(
                f"{call}: expected lanes under way, got ended lanes {[int(one) for one in ended]}; "
                "reset them with options={'reset_mask': mask}"
            )

    def _check_all_begun(self) -> None:
        self._check_each_begun(self._begun)
        self._interrupted = False

    def _check_each_begun(self, begun: Mask) -> None:
        if not begun.all():
            raise ResetNeeded(
                "reset: expected every lane to have been reset once, "
                f"got none for lanes {[int(one) for one in np.flatnonzero(~begun)]}"
            )

    def _actions(self, action: object, space: Space[object] | None = None, count: int | None = None) -> list[object]:
        """The action of each of `count` lanes, all of them if nothing else is said; held to the space, if that is due.

        Typed ones are made what their author expects. A wrong one stops the batch before any lane moves.
        """
        space = space or self.action_space
        actions = self._split(action, space, count or self.num_envs)
        if not self.checks_actions:
            return actions
        if self._typed:
            return list(self._coerced(dict(enumerate(actions))).values())
        self._check_choices(action, space)
        return actions

    def _masked_actions(self, action: object, mask: Mask) -> dict[int, object]:
        """The actions of the lanes of a mask; those of the others are not looked at."""
        actions, lanes = self._split(action, self.action_space, self.num_envs), np.flatnonzero(mask).tolist()
        chosen: dict[int, object] = {lane: actions[lane] for lane in lanes}
        if not self.checks_actions:
            return chosen
        if self._typed:
            return self._coerced(chosen)
        if self._chooses and not self._plainly_chosen(action):
            one = self.single_action_space
            for lane, given in chosen.items():
                check_choices(one, one, given, f"action[{lane}]")
        return chosen

    def _split(self, action: object, space: Space[object], count: int) -> list[object]:
        """The action of each of `count` lanes, as it was given."""
        try:
            actions = list(space.iterate(action))
        except (TypeError, KeyError, ValueError, IndexError) as error:
            raise InvalidArgument(f"action: expected a batch of {space!r}, got {shorten(action)}") from error
        if len(actions) != count:
            raise InvalidArgument(f"action: expected one for each of {count} lanes, got {len(actions)}")
        return actions

    def _coerced(self, actions: dict[int, object]) -> dict[int, object]:
        """Typed actions as their author's; InvalidAction names the lane of one that is none."""
        coerce = self.single_action_space.coerce
        return {lane: coerce(one, f"action[{lane}]", InvalidAction) for lane, one in actions.items()}

    def _check_choices(self, action: object, space: Space[object]) -> None:
        if self._chooses and self.checks_actions and not self._plainly_chosen(action):
            check_choices(self.single_action_space, space, action, "action")

    def _plainly_chosen(self, action: object) -> bool:
        """A quick yes for what batches are mostly given, an array of choices in the dtype of the space."""
        one = self.single_action_space
        if type(one) is not Discrete or type(action) is not np.ndarray or action.dtype != one.dtype:
            return False
        shifted: Array = action - one.start if self._shift else action
        # Below the first, as an unsigned number, is far beyond the last.
        return int(np.maximum.reduce(shifted.view(self._unsigned), axis=None, initial=0)) < self._choices

    # --- lanes from outside ---

    def call(self, name: str, /, *args: object, **kwargs: object) -> tuple[Any, ...]:
        """The attribute `name` of each lane, called with these arguments if it can be."""
        raise NotImplementedError

    def get_attr(self, name: str) -> tuple[Any, ...]:
        """The attribute `name` of each lane."""
        return self.call(name)

    def state_data(self, *, private: bool = False) -> Info:
        """What each lane shows of its episode."""
        return {"lanes": list(self.call("state_data", private=private))}

    def set_attr(self, name: str, values: object) -> None:
        """Set the attribute on each lane: one value for all, or a list or tuple with one for each."""
        raise NotImplementedError

    def _one_for_each(self, name: str, values: object) -> list[object]:
        each = list(values) if is_list_or_tuple(values) else [values] * self.num_envs
        if len(each) != self.num_envs:
            raise InvalidArgument(f"set_attr {name}: expected {self.num_envs} values, got {len(each)}")
        return each

    def stream(self, name: str) -> Any:
        """The stream `name` of each lane."""
        return self.call("stream", name)

    @property
    def np_random(self) -> Any:
        """The stream of each lane; a list or tuple with one for each sets them."""
        return self.get_attr("np_random")

    @np_random.setter
    def np_random(self, value: object) -> None:
        self.set_attr("np_random", value)

    @property
    def np_random_seed(self) -> Any:
        """The seed of each lane."""
        return self.get_attr("np_random_seed")

    # --- the spaces' part of a snapshot ---

    def _space_state(self) -> tuple[Space[object], Space[object]]:
        return deepcopy((self.observation_space, self.action_space))

    def _take_spaces(self, spaces: tuple[Space[object], Space[object]]) -> None:
        self.observation_space.copy_rng_from(spaces[0])
        self.action_space.copy_rng_from(spaces[1])
