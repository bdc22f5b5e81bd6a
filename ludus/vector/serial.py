"""The serial executor: lanes stepped one after another in this process."""

from collections.abc import Callable, Sequence
from copy import deepcopy
from functools import partial
from typing import Any

import numpy as np
import numpy.typing as npt

from ludus.core import AutoresetMode, Env, EpisodePlan, Info, Step, VectorEnv
from ludus.core.episode import planned
from ludus.errors import ClosedEnvironment, InvalidAction, InvalidArgument, InvalidSpace, ResetNeeded, shorten
from ludus.seeding import Seed, lane_seeds
from ludus.spaces import Discrete, MultiBinary, MultiDiscrete

__all__ = ["SerialVectorEnv"]


class SerialVectorEnv(VectorEnv[Any, Any]):
    """A batch of environments of this process, the reference that every other executor agrees with.

    >>> from ludus.envs.teaching.grid_world import GridWorld
    >>> envs = SerialVectorEnv([GridWorld, GridWorld, GridWorld])
    >>> observations, infos = envs.reset(seed=0)
    >>> envs.step([1, 3, 0]).observation
    array([[1, 0],
           [0, 1],
           [0, 0]])
    """

    executor = "serial"

    def __init__(
        self,
        env_fns: Sequence[Callable[[], Env[Any, Any]]],
        *,
        autoreset_mode: AutoresetMode | str = AutoresetMode.NEXT_STEP,
        copy: bool = True,
        episodes: EpisodePlan | None = None,
    ) -> None:
        if not env_fns:
            raise InvalidArgument("SerialVectorEnv: expected at least one environment, got none")
        mode = AutoresetMode.of(autoreset_mode)
        self.copy, self._mode, self.episodes, self._makers = copy, mode, episodes, list(env_fns)
        self._open(_all_or_none(env_fns))

    def _open(self, envs: list[Env[Any, Any]]) -> None:
        """Take these lanes, and make spaces and buffers for them."""
        self.envs, self.num_envs, first = envs, len(envs), envs[0]
        self.metadata = {**first.metadata, "autoreset_mode": self._mode}
        self.render_mode = first.render_mode
        self.single_observation_space, self.single_action_space = first.observation_space, first.action_space
        self._require_equal_spaces()
        self.observation_space = self.single_observation_space.batch(self.num_envs)
        self.action_space = self.single_action_space.batch(self.num_envs)
        self._chooses = isinstance(self.single_action_space, Discrete | MultiDiscrete | MultiBinary)
        self._lanes: list[Any] = [None] * self.num_envs
        self._observations = self.single_observation_space.empty(self.num_envs)
        self._rewards = np.zeros(self.num_envs)
        self._terminated = np.zeros(self.num_envs, dtype=np.bool_)
        self._truncated = np.zeros(self.num_envs, dtype=np.bool_)
        self._ended = np.ones(self.num_envs, dtype=np.bool_)
        self._begun = np.zeros(self.num_envs, dtype=np.bool_)
        self._numbers = np.zeros(self.num_envs, dtype=np.int64)

    def _require_equal_spaces(self) -> None:
        for lane, env in enumerate(self.envs):
            for name in ("observation_space", "action_space"):
                expected, found = getattr(self, f"single_{name}"), getattr(env, name)
                if expected != found:
                    raise InvalidSpace(f"lane {lane}: expected the {name} of lane 0, {expected!r}, got {found!r}")

    # --- the episode ---

    def reset(
        self, *, seed: Seed | Sequence[Seed | None] | None = None, options: dict[str, Any] | None = None
    ) -> tuple[Any, Info]:
        """Reset every lane, or those of `options["reset_mask"]`; lane `i` is seeded with `seed + i`."""
        self._check_open("reset")
        mask, rest = self.reset_mask(options)
        infos: Info = {}
        for lane, (env, one) in enumerate(zip(self.envs, lane_seeds(seed, self.num_envs), strict=True)):
            if mask[lane]:
                self._lanes[lane], info = env.reset(seed=one, options=rest)
                self._add_info(infos, info, lane)
        self._terminated[mask] = self._truncated[mask] = self._ended[mask] = False
        self._begun |= mask
        self._numbers[mask] = 0
        if not self._begun.all():
            raise ResetNeeded(
                "reset: expected every lane to have been reset once, "
                f"got none for lanes {[int(one) for one in np.flatnonzero(~self._begun)]}"
            )
        return self._stacked(), infos

    def step(self, action: Any) -> Step[Any]:
        """Advance every lane; ended lanes are reset as the autoreset mode says."""
        self._check_open("step")
        if not self._begun.all():
            raise ResetNeeded("step: expected reset() first, got no reset yet")
        if self._mode is AutoresetMode.DISABLED and self._ended.any():
            raise ResetNeeded(
                f"step: expected lanes under way, got ended lanes {[int(one) for one in np.flatnonzero(self._ended)]}; "
                "reset them with options={'reset_mask': mask}"
            )
        actions = list(self._actions(action))
        infos: Info = {}
        for lane, one in enumerate(actions):
            self._add_info(infos, self._step_lane(lane, one, infos), lane)
        self._ended = self._terminated | self._truncated
        if self._mode is AutoresetMode.SAME_STEP:
            self._ended = np.zeros_like(self._ended)
        return Step(self._stacked(), self._rewards.copy(), self._terminated.copy(), self._truncated.copy(), infos)

    def _actions(self, action: Any) -> list[Any]:
        try:
            actions = list(self.action_space.iterate(action))
        except (TypeError, KeyError, ValueError, IndexError) as error:
            raise InvalidArgument(
                f"action: expected a batch of {self.action_space!r}, got {shorten(action)}"
            ) from error
        if len(actions) != self.num_envs:
            raise InvalidArgument(f"action: expected one for each of {self.num_envs} lanes, got {len(actions)}")
        # A choice that is none stops the batch before any lane moves. What a Box's bounds mean is for each lane to say:
        # some clip.
        if self._chooses:
            self.action_space.check(action, "action", InvalidAction)
        return actions

    def _step_lane(self, lane: int, action: Any, infos: Info) -> Info:
        env = self.envs[lane]
        if self._ended[lane]:  # NEXT_STEP
            self._lanes[lane], info = self._begin_lane(lane)
            self._rewards[lane], self._terminated[lane], self._truncated[lane] = 0.0, False, False
            return info
        observation, self._rewards[lane], self._terminated[lane], self._truncated[lane], info = env.step(action)
        if self._mode is AutoresetMode.SAME_STEP and (self._terminated[lane] or self._truncated[lane]):
            self._add_info(infos, {"final_obs": observation, "final_info": info}, lane)
            observation, info = self._begin_lane(lane)
        self._lanes[lane] = observation
        return info

    def _begin_lane(self, lane: int) -> tuple[Any, Info]:
        """The next episode of a lane, as planned."""
        self._numbers[lane] += 1
        episode = planned(self.episodes, lane, int(self._numbers[lane]))
        return self.envs[lane].reset(seed=episode.seed, options=episode.options)

    def _check_open(self, what: str) -> None:
        if self.closed:
            raise ClosedEnvironment(f"{what}: expected an open batch, got one that was closed; make a new one")

    def _stacked(self) -> Any:
        self._observations = self.single_observation_space.concatenate(self._lanes, self._observations)
        return deepcopy(self._observations) if self.copy else self._observations

    def render(self) -> tuple[Any, ...]:
        """The picture of each lane."""
        return tuple(env.render() for env in self.envs)

    def close_extras(self, **kwargs: Any) -> None:
        """Close every lane."""
        del kwargs
        for env in self.envs:
            env.close()

    # --- lanes from outside ---

    def call(self, name: str, *args: Any, **kwargs: Any) -> tuple[Any, ...]:
        """The attribute `name` of each lane, called with these arguments if it can be."""
        found = [env.get_wrapper_attr(name) for env in self.envs]
        return tuple(one(*args, **kwargs) if callable(one) else one for one in found)

    def get_attr(self, name: str) -> tuple[Any, ...]:
        """The attribute `name` of each lane."""
        return self.call(name)

    def set_attr(self, name: str, values: Any) -> None:
        """Set the attribute on each lane: one value for all, or a list or tuple with one for each."""
        each = values if isinstance(values, list | tuple) else [values] * self.num_envs
        if len(each) != self.num_envs:
            raise InvalidArgument(f"set_attr {name}: expected {self.num_envs} values, got {len(each)}")
        for env, value in zip(self.envs, each, strict=True):
            env.set_wrapper_attr(name, value)

    def wrap_lanes(self, wrapper: Any) -> None:
        """Wrap every lane; spaces and buffers follow. Lanes have to be reset again."""
        self._makers = [partial(_wrapped, wrapper, make) for make in self._makers]
        self._open([wrapper(env) for env in self.envs])

    def stream(self, name: str) -> Any:
        """The stream `name` of each lane."""
        return self.call("stream", name)

    @property
    def np_random(self) -> Any:
        """The stream of each lane; a list or tuple with one for each sets them."""
        return self.get_attr("np_random")

    @np_random.setter
    def np_random(self, value: Any) -> None:
        self.set_attr("np_random", value)

    @property
    def np_random_seed(self) -> Any:
        """The seed of each lane."""
        return self.get_attr("np_random_seed")

    # --- snapshots: lane by lane, so that each lane's own rules hold ---

    def _capture(self, memo: dict[int, Any]) -> Any:
        del memo
        spaces = (self.observation_space, self.action_space)
        return [env.snapshot() for env in self.envs], deepcopy(self._buffers()), deepcopy(spaces)

    def _reinstate(self, state: Any, memo: dict[int, Any]) -> None:
        del memo
        snapshots, buffers, spaces = state
        for env, snapshot in zip(self.envs, snapshots, strict=True):
            env.restore(snapshot)
        self._take(deepcopy(buffers))
        self.observation_space.adopt_random(spaces[0])
        self.action_space.adopt_random(spaces[1])

    def _buffers(self) -> tuple[Any, ...]:
        columns = (self._rewards, self._terminated, self._truncated, self._ended, self._begun, self._numbers)
        return self._lanes, *columns

    def _take(self, buffers: Any) -> None:
        self._lanes, self._rewards, self._terminated, self._truncated, self._ended, self._begun, self._numbers = buffers

    def fork(self, lanes: Sequence[int] | npt.NDArray[Any]) -> "SerialVectorEnv":
        """A new batch whose lane `j` goes on from where lane `lanes[j]` is; each lane is made anew and restored."""
        self._check_open("fork")
        chosen = [int(lane) for lane in self._forked_lanes(lanes)]
        twin = SerialVectorEnv(
            [self._makers[lane] for lane in chosen],
            autoreset_mode=self._mode,
            copy=self.copy,
            episodes=self.episodes,
        )
        for lane, env in zip(chosen, twin.envs, strict=True):
            env.restore(self.envs[lane].snapshot())
        own, *columns = self._buffers()
        twin._take(([deepcopy(own[lane]) for lane in chosen], *(column[chosen] for column in columns)))
        twin.spec = self.spec
        return twin


def _wrapped(wrapper: Any, make: Callable[[], Env[Any, Any]]) -> Env[Any, Any]:
    return wrapper(make())


def _all_or_none(env_fns: Sequence[Callable[[], Env[Any, Any]]]) -> list[Env[Any, Any]]:
    """An environment of each; where one fails, those before it are closed."""
    made: list[Env[Any, Any]] = []
    try:
        for make in env_fns:
            made.append(make())  # noqa: PERF401  (a list that is cut short has to be known)
    except BaseException:
        for env in made:
            env.close()
        raise
    return made
