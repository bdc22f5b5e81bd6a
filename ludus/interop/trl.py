"""TRL: any environment with typed actions or tools as what its trainers take as `environment_factory`.

TRL itself is not needed here: its contract is a class whose `reset` tells the first observation, whose other public
methods are tools, found by their signatures and docstrings, and whose `get_reward` tells what the episode was worth.
"""

import inspect
from collections.abc import Callable, Mapping, Sequence
from functools import partial, reduce
from typing import Any, Literal

import numpy as np
import numpy.typing as npt

from ludus.client.connection import connect
from ludus.core import Info, Outcome
from ludus.core.env import AnyEnv
from ludus.errors import InvalidArgument, InvalidType, MissingExtra, ResetNeeded, shorten
from ludus.registry import make
from ludus.tools import Call, Tool, action_of, action_tools
from ludus.tools.actions import alternatives, described
from ludus.tools.text import ObservationText

__all__ = ["TrainerEnv", "dataset_rows", "environment_factory"]

Maker = Callable[[], AnyEnv]
Shown = str | list[dict[str, object]]
"""Text, or with images the parts of a message."""
RETURNS = "What is observed, and how the episode ended where it did."
SCALARS: dict[str, object] = {
    "integer": int,
    "number": float,
    "string": str,
    "boolean": bool,
    "object": dict,
    "null": None,
}
USE = "Act by calling the tools, one call at a time, until you are told that the episode is over."


class TrainerEnv:
    """One environment as trainers use it; `environment_factory` makes a class of these for an environment.

    Everything public beside the attributes is a tool, but `reset` and `get_reward`: a trainer finds tools that way.
    """

    _tools: Mapping[str, Tool]
    _maker: Maker
    _fields: Sequence[str]
    _images: bool

    def __init__(self) -> None:
        self._env = self._maker()
        self._text = ObservationText(self._env.observation_space, self._fields)
        self.reward = 0.0
        """The sum of the rewards since the reset."""
        self.steps = 0
        self.done = True
        self.outcome: Outcome | None = None
        """How the episode ended, where the environment tells."""
        self.info: Info = {}
        """That of the last step."""

    def __del__(self) -> None:
        env = getattr(self, "_env", None)
        if env is not None:
            env.close()

    def reset(self, **columns: Any) -> Any:
        """Begin an episode; of a dataset's columns, `seed` and `options` are the environment's, the others not.

        Rows that are repeated, as the group of one prompt is, begin the same episode where they have a seed.
        """
        observation, self.info = self._env.reset(seed=_whole(columns.get("seed")), options=columns.get("options"))
        self.reward, self.steps, self.done, self.outcome = 0.0, 0, False, None
        self._text.begin()
        return self._shown(self._text(observation))

    def get_reward(self) -> float | None:
        """What the episode was worth so far; None where a fault ended it, which trainers leave out."""
        return None if self.outcome is not None and self.outcome.masked else self.reward

    def _act(self, tool: str, arguments: Mapping[str, object]) -> Shown:
        if self.done:
            raise ResetNeeded(f"{tool}: the episode is over{self._ending()}; no more tools can be called")
        action = action_of(self._env.action_space, self._tools, Call(tool, dict(arguments)))
        try:
            step = self._env.step(action)
        except Exception as error:  # a trainer tells the model, and goes on: that it was no fault of its own is kept
            if Outcome.after(error).masked:
                self.done, self.outcome = True, Outcome.after(error)
            raise
        self.info, self.done = step.info, step.done
        self.reward, self.steps = self.reward + float(step.reward), self.steps + 1
        self.outcome = Outcome.told(step.info.get("outcome")) if step.done else None
        text = self._text(step.observation)
        return self._shown(f"{text}\nThe episode is over{self._ending()}." if step.done else text)

    def _ending(self) -> str:
        return "" if self.outcome is None else f": {self.outcome.value}"

    def _shown(self, text: str) -> Shown:
        if not self._images:
            return text
        return [{"type": "image", "image": _picture(self._env.render())}, {"type": "text", "text": text}]


def environment_factory(
    env: str | Maker,
    *,
    fields: Sequence[str] = (),
    images: bool = False,
    kwargs: Mapping[str, object] | None = None,
) -> type[TrainerEnv]:
    """A class to give to a trainer: `GRPOTrainer(…, environment_factory=environment_factory("open/Git-v0"))`.

    `env` is an id, for `make` with `kwargs`; the address of a server, for `connect` with `kwargs`; or whatever makes
    the environment. Each kind of action is a method with a signature and a docstring. `fields` are those of the
    observation that the model is told, all where none are named. With `images`, each observation begins with what the
    environment draws, for models that see.

    >>> Connect4 = environment_factory("open/Connect4-v0")
    >>> game = Connect4()
    >>> print(game.reset(seed=0).splitlines()[0])
    board:
    >>> "board" in game.connect4(column=3), game.done, game.get_reward()
    (True, False, 0.0)
    """
    maker, name = _maker_of(env, dict(kwargs or {}), images=images)
    with maker() as probe:
        tools = action_tools(probe.action_space)
        doc = _about(probe)
        if not tools:
            raise InvalidType(
                f"environment_factory: expected an environment with typed actions or tools, got {name} with "
                f"{shorten(probe.action_space)}; give it a Record as its action space, or make it a ToolEnv"
            )
        ObservationText(probe.observation_space, fields)
    body: dict[str, object] = {one.name: _method(one) for one in tools.values()}
    for reserved in ("get_reward", *TrainerEnv.__annotations__):
        if reserved in body:
            raise InvalidArgument(f"environment_factory: expected no tool of the name {reserved!r}, got one of {name}")
    own = {"_maker": staticmethod(maker), "_tools": tools, "_fields": tuple(fields), "_images": images}
    return type(_class_name(name), (TrainerEnv,), {"__doc__": doc, "__module__": __name__, **own, **body})


def dataset_rows(
    factory: type[TrainerEnv], number: int, *, seed: int = 0, prompt: str | None = None
) -> list[dict[str, object]]:
    """Rows of a dataset for a factory, each with a seed of its own: `datasets.Dataset.from_list(…)`.

    The first observation is appended to `prompt` by the trainer; by default it says what the environment is.

    >>> rows = dataset_rows(environment_factory("open/Connect4-v0"), 2)
    >>> rows[1]["seed"] != rows[0]["seed"], rows[0]["prompt"][0]["role"]
    (True, 'user')
    """
    text = f"{factory.__doc__}\n{USE}\n\n" if prompt is None else prompt
    seeds = np.random.default_rng(seed).choice(1 << 31, number, replace=False)
    return [{"prompt": [{"role": "user", "content": text}], "seed": int(one)} for one in seeds]


# --- where environments come from ---


def _maker_of(env: object, kwargs: dict[str, Any], *, images: bool) -> tuple[Maker, str]:
    drawn = {"render_mode": "rgb_array"} if images else {}
    if isinstance(env, str) and "://" in env:
        return partial(connect, env, **kwargs), str(kwargs.get("env") or "remote")
    if isinstance(env, str):
        return partial(make, env, **{**drawn, **kwargs}), env
    if callable(env):
        own: Any = env
        return partial(own, **kwargs), getattr(env, "__name__", "own")
    raise InvalidType(f"environment_factory: expected an id, an address or a function, got {shorten(env)}")


def _about(env: AnyEnv) -> str:
    doc = type(env.unwrapped).__doc__ or (env.spec.description if env.spec else "") or ""
    return " ".join(doc.split("\n\n")[0].split())


def _class_name(name: str) -> str:
    """What trainers log rewards under.

    >>> _class_name("open/Git-v0")
    'Git'
    """
    words = name.rpartition("/")[2].partition("-v")[0]
    return "".join(char for char in words.title() if char.isalnum()) if not words.isidentifier() else words


# --- tools as methods ---


def _method(tool: Tool) -> Callable[..., Shown]:
    """A method that trainers find, describe and call as if it were written by hand."""

    def method(self: TrainerEnv, **arguments: object) -> Shown:
        return self._act(tool.name, arguments)  # pyright: ignore[reportPrivateUsage]

    hints = {name: _hint(one.type.json_schema()) for name, one in tool.parameters.items()}
    kinds = inspect.Parameter
    taken = [
        kinds(name, kinds.KEYWORD_ONLY, default=kinds.empty if one.required else one.default, annotation=hints[name])
        for name, one in tool.parameters.items()
    ]
    own: Any = method
    own.__name__ = own.__qualname__ = tool.name
    own.__doc__ = _docstring(tool)
    own.__annotations__ = {**hints, "return": str}
    own.__signature__ = inspect.Signature([kinds("self", kinds.POSITIONAL_OR_KEYWORD), *taken], return_annotation=str)
    return method


def _docstring(tool: Tool) -> str:
    lines = [tool.description or tool.title]
    if tool.parameters:
        lines += ["", "Args:"]
        for name, one in tool.parameters.items():
            lines.append(f"    {name}: {one.description or described(one.type.json_schema())}")
    return "\n".join([*lines, "", "Returns:", f"    {RETURNS}"])


def _either(one: Any, other: Any) -> Any:
    return one | other


def _hint(schema: Mapping[str, Any]) -> object:
    """The annotation that says what a JSON schema says, as far as annotations can.

    >>> _hint({"type": "array", "items": {"type": "integer", "minimum": 0}})
    list[int]
    """
    if "enum" in schema:
        return Literal[tuple(schema["enum"])]
    if "anyOf" in schema:
        return reduce(_either, map(_hint, alternatives(schema)))
    kind = schema.get("type")
    if kind == "array":
        return list[_hint(schema["items"])] if schema.get("items") else list
    return SCALARS.get(str(kind), Any)


def _whole(seed: Any) -> int | None:
    return None if seed is None else int(seed)


def _picture(frame: npt.ArrayLike) -> object:
    # Lazy: pictures are for models that see, and Pillow is an extra.
    try:
        from PIL import Image
    except ImportError as error:
        raise MissingExtra('images: expected Pillow, got none; pip install "ludus-rl[video]"', name="PIL") from error
    return Image.fromarray(np.asarray(frame))
