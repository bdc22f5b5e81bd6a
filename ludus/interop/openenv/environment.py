"""`FromOpenEnv`: an `Environment` of OpenEnv as an `Env`, whatever version it was written for."""

import inspect
from collections.abc import Callable, Mapping
from contextlib import suppress
from copy import copy
from math import isfinite
from typing import Any, ClassVar

import msgspec

from ludus.core import Env, Info, Step
from ludus.core.info import UNANNOUNCED
from ludus.core.state import state_data
from ludus.errors import CodecError, ContractViolation, InvalidArgument, InvalidValue, ResetNeeded, listing, shorten
from ludus.interop.openenv.models import Models, data_of, instance_of, schema_of, space_of_model
from ludus.remote.host import OWN_EPISODES
from ludus.spaces import Record, Space
from ludus.spaces.json import Json
from ludus.spaces.kinds import class_of, is_dict, is_mapping
from ludus.spaces.models import field_names
from ludus.tools.loop import Loop

__all__ = ["FromOpenEnv"]

OWN = ("seed", "episode_id")
REWARD = "reward"
WRAPPED = "StepResult"
"""The class of OpenEnv's clients, which some of its environments give, too: its own server cannot read that."""
TASKS = ("list_splits", "list_tasks", "num_tasks", "get_task", "get_task_range")


class FromOpenEnv(Env[Any, Any]):
    """The environment that `openenv_env` is. Observations are the author's own instances.

    `done` is `terminated`: OpenEnv has no word for truncation. A reward of None is 0, and `info["reward"]` says so.
    `info` is the observation's metadata; a rubric's scores stand there as `rubric`, by name. Reset options are the
    keywords of the author's `reset`; one that it does not take is an error, a seed that it does not take is told as
    `info["seed"]`. Whatever the class has as coroutines runs in an event loop of its own.

    >>> class Doubling:
    ...     def reset(self, seed=None): ...
    """

    snapshot_shared: ClassVar[tuple[str, ...]] = ("_loop",)

    def __init__(self, openenv_env: Any, models: Models) -> None:
        self.openenv_env, self.models = openenv_env, models
        self._loop: Loop | None = None
        self._enter()
        self.action_space, self.observation_space = self._spaces()
        self.metadata = {"render_modes": [], "openenv_schemas": self._schemas(), OWN_EPISODES: True}
        self._begun = False
        self._reread: tuple[Any, Any] | None = None
        fields = self.observation_space.fields if isinstance(self.observation_space, Record) else {}
        self._open_fields = {name: one.space for name, one in fields.items() if _is_open(one.space)}

    def _enter(self) -> None:
        """What has to be there before anything is asked of it."""

    # --- what it is ---

    def _spaces(self) -> tuple[Space[Any], Space[Any]]:
        first, observed = self.models.reset_observation, self.models.observation
        if observed is not None and first is not None and not issubclass(first, observed):
            observed = None  # resets give something else than steps
        bare = observed is not None and set(getattr(observed, "model_fields", ("",))) <= {"done", REWARD, "metadata"}
        return space_of_model(self.models.action), space_of_model(None if bare else observed, observed=True)

    def _schemas(self) -> dict[str, Any]:
        models = self.models
        first = models.reset_observation or models.observation
        told = {"action": models.action, "observation": models.observation, "state": models.state}
        return {name: schema_of(one) for name, one in (told | {"reset_observation": first}).items() if one is not None}

    def state_data(self, *, private: bool = False) -> dict[str, Any]:
        """The author's state, with its own `episode_id` and `step_count`; what may be added to it included."""
        state: Any = self.openenv_env.state
        shown = state_data(state, private=private)
        return {**(getattr(state, "model_extra", None) or {}), **shown}

    # --- the episode ---

    def reset(self, *, seed: Any = None, options: dict[str, Any] | None = None) -> tuple[Any, Info]:
        """Begin an episode."""
        super().reset(seed=seed)
        given = dict(options or {})
        call: Callable[..., Any] = self._call("reset")
        taken, whatever = _keywords(self.reset_parameters)
        unknown = [name for name in given if not whatever and name not in taken and name not in OWN]
        if unknown:
            raise InvalidArgument(f"options: expected keywords of reset ({listing(taken)}), got {listing(unknown)}")
        asked = given if seed is None else {"seed": seed, **given}
        known = {name: one for name, one in asked.items() if whatever or name in taken}
        observation = self._run(call, **known)
        self._begun = True
        info = self._info(observation)
        if getattr(observation, REWARD, None) is not None:
            info[REWARD] = observation.reward
        if seed is not None and "seed" not in known:
            info["seed"] = "not taken by the environment"
        return self._observed(observation), info

    @property
    def reset_parameters(self) -> list[inspect.Parameter]:
        """What the author's `reset` takes, which are the options here."""
        return list(inspect.signature(self._call("reset")).parameters.values())

    def step(self, action: Any) -> Step[Any]:
        """Advance the episode."""
        if not self._begun:
            raise ResetNeeded("step: expected reset() first, got no episode under way")
        told = self._run(self._call("step"), self._instance(action))
        observation = told.observation if type(told).__name__ == WRAPPED else told
        info = self._info(observation)
        reward = getattr(told, REWARD, None)
        if reward is None:
            info[REWARD] = None
        elif not isinstance(reward, bool | int | float) or not isfinite(reward):
            raise ContractViolation(f"reward: expected a finite number or None, got {shorten(reward)}")
        done = bool(getattr(told, "done", False))
        return Step(self._observed(observation), float(reward or 0.0), done, False, info)

    def _observed(self, observation: Any) -> Any:
        if isinstance(self.observation_space, Record):
            return _plain(observation, self._open_fields)
        return observation if is_dict(observation) else data_of(observation)

    def _unannounced(self, observation: Any) -> dict[str, Any]:
        """Nothing that an observation holds is left behind: a subclass may have more fields than was said."""
        model, kind = self.models.observation, class_of(observation)
        if model is None or kind is model or not isinstance(self.observation_space, Record):
            return {}
        known = field_names(model) or ()
        return {name: one for name, one in data_of(observation).items() if name not in known}

    def _info(self, observation: Any) -> Info:
        told: Any = getattr(observation, "metadata", None)
        info: Info = dict(told) if is_mapping(told) else {}
        more = self._unannounced(observation)
        if more:
            info[UNANNOUNCED] = more
        rubric: Any = getattr(self.openenv_env, "rubric", None)
        if rubric is not None and hasattr(rubric, "named_rubrics"):
            scores = {name or "rubric": one.last_score for name, one in rubric.named_rubrics()}
            if scores:
                info["rubric"] = scores
        return info

    def read_action(self, data: dict[str, Any]) -> Any:
        """An action as its own model reads it, in the form of the space: aliases, numbers in text, validators.

        OpenEnv's server leaves all of that to the model, which this process has and the server's need not have.
        """
        read = instance_of(self.models.action, data)
        form = self.action_space.encode(read, binary=False)
        with suppress(CodecError, InvalidValue):  # which whoever reads the form meets again, and tells
            self._reread = (self.action_space.decode(form), read)
        return form

    def _instance(self, action: Any) -> Any:
        """The author's own: where `read_action` gave the action, the model's first reading, not that of its reading.

        A validator need not leave alone what it has made, and OpenEnv's server asks it once.
        """
        reread, self._reread = self._reread, None
        if reread is not None and action == reread[0]:
            return reread[1]
        return instance_of(self.models.action, action)

    # --- how it is called ---

    def _call(self, name: str) -> Callable[..., Any]:
        """The author's method: the async one where it is the author's own."""
        own: Any = getattr(class_of(self.openenv_env), f"{name}_async", None)
        if own is not None and not getattr(own, "__module__", "").endswith("env_server.interfaces"):
            return getattr(self.openenv_env, f"{name}_async")
        return getattr(self.openenv_env, name)

    def _run(self, call: Callable[..., Any], *arguments: Any, **named: Any) -> Any:
        found = call(*arguments, **named)
        return self._awaited(found) if inspect.iscoroutine(found) else found

    def _awaited(self, coroutine: Any) -> Any:
        if self._loop is None:
            self._loop = Loop()
        return self._loop.run(coroutine, None)

    def __getattr__(self, name: str) -> Any:
        """The routes of tasks ask the environment for these, where its class has them."""
        if name in TASKS and "openenv_env" in vars(self):
            method = getattr(self.openenv_env, name)

            def asked(*arguments: Any) -> Any:
                return self._run(method, *arguments)

            return asked
        raise AttributeError(f"{type(self).__name__} has no attribute {name!r}")

    def close(self) -> None:
        """Close it, and the loop that its coroutines ran in; harmless twice."""
        close = getattr(self.openenv_env, "close", None)
        if close is not None:
            self._run(close)
        loop, self._loop = self._loop, None
        if loop is not None:
            loop.close()
        super().close()


def _is_open(space: Space[Any]) -> bool:
    """Whether anything that JSON carries may stand there, perhaps among other things."""
    return isinstance(space, Json) or any(map(_is_open, getattr(space, "spaces", ())))


def _plain(observation: Any, fields: Mapping[str, Space[Any]]) -> Any:
    """The observation with its open fields as JSON has them: tuples are lists, and no object is an empty one."""
    for name, space in fields.items():
        value = getattr(observation, name, None)
        if value is None and space == Json("object"):
            value = {}
            observation = _with(observation, name, value)
        if value is None or value == {}:
            continue
        try:
            plain = msgspec.json.decode(msgspec.json.encode(value))
        except (TypeError, ValueError):
            continue  # whoever checks it tells what is wrong with it
        if plain != value:
            observation = _with(observation, name, plain)
    return observation


def _with(observation: Any, name: str, value: Any) -> Any:
    """A copy with one field changed; the author's own is left as it is."""
    found = copy(observation)
    object.__setattr__(found, name, value)
    return found


def _keywords(parameters: list[inspect.Parameter]) -> tuple[list[str], bool]:
    """The names that a call takes, and whether it takes any other."""
    whatever = any(one.kind is one.VAR_KEYWORD for one in parameters)
    named = (inspect.Parameter.POSITIONAL_OR_KEYWORD, inspect.Parameter.KEYWORD_ONLY)
    return [one.name for one in parameters if one.kind in named], whatever
