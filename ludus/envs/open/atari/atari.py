"""Atari games with typed actions, in OpenEnv's words."""

from dataclasses import dataclass, field
from typing import Annotated

import numpy as np
import numpy.typing as npt

from ludus.core import Info, Step
from ludus.core.options import Options
from ludus.envs.open.atari.console_env import ConsoleEnv
from ludus.envs.open.atari.engine import game_names
from ludus.errors import InvalidAction, shorten
from ludus.rendering import Choice, choice
from ludus.seeding import Seed
from ludus.spaces import Box, Discrete, Record

__all__ = ["Atari", "AtariAction", "AtariObservation", "AtariState"]

OBS_TYPES = ("rgb", "grayscale", "ram")
ANY = ("pong", "rgb")
"""What OpenEnv's clients send unless they are set otherwise: it asks for nothing."""


@dataclass
class AtariAction:
    """The number of an action; who names a game or a kind of observation has to name what is played."""

    action_id: Annotated[int, Discrete(18)]
    game_name: str = "pong"
    obs_type: str = "rgb"
    full_action_space: bool = False


@dataclass
class AtariObservation:
    """The screen, or the console's memory, flat, with its shape; bytes on our wire, a list of numbers on OpenEnv's."""

    screen: Annotated[npt.NDArray[np.uint8], Box(0, 255, (0,), np.uint8)]
    screen_shape: list[int] = field(default_factory=list[int])
    legal_actions: list[int] = field(default_factory=list[int])
    lives: int = 0
    episode_frame_number: int = 0
    frame_number: int = 0


@dataclass
class AtariState:
    """What is played, and how."""

    game_name: str = "pong"
    obs_type: str = "rgb"
    full_action_space: bool = False
    mode: int | None = None
    difficulty: int | None = None
    repeat_action_probability: float = 0.0
    frameskip: int | list[int] = 4


class Atari(ConsoleEnv[AtariObservation, AtariAction]):
    """A game of the Atari 2600 by ALE: pixels, grey or memory; frame skip, sticky actions, modes, difficulties.

    Settings are arguments (`obs_type`, `frameskip`, `repeat_action_probability`, `mode`, `difficulty`,
    `full_action_space`, `noop_max`, `terminal_on_life_loss`), and variables of OpenEnv's server are read.

    >>> env = Atari("breakout", obs_type="ram")
    >>> observation, info = env.reset(seed=0)
    >>> observation.screen.shape, observation.lives, env.get_action_meanings()
    ((128,), 5, ['NOOP', 'FIRE', 'RIGHT', 'LEFT'])
    """

    def __init__(self, game: str | None = None, *, render_mode: str | None = None, **settings: object) -> None:
        super().__init__({"game": game, **settings}, render_mode)
        actions = len(self._actions)
        size = int(np.prod(self.shape))
        self.action_space = Record(AtariAction, spaces={"action_id": Discrete(actions)})
        self.observation_space = Record(AtariObservation, spaces={"screen": Box(0, 255, (size,), np.uint8)})
        self.state: AtariState | None = None

    def reset(self, *, seed: Seed | None = None, options: Options | None = None) -> tuple[AtariObservation, Info]:
        """Switch the console on."""
        begun = super().reset(seed=seed, options=options)
        one = self.settings
        skip = one.frameskip if isinstance(one.frameskip, int) else list(one.frameskip)
        self.state = AtariState(one.game, one.obs_type, one.full_action_space, one.mode, one.difficulty,
                                float(one.repeat_action_probability), skip)  # fmt: skip
        return begun

    def step(self, action: AtariAction) -> Step[AtariObservation]:
        """Hold an action for as many frames as are skipped."""
        self.check_begun()
        read = self.action_space.coerce(action, "action", InvalidAction)
        for name, value, own, known in (
            ("game_name", read.game_name, self.settings.game, game_names()),
            ("obs_type", read.obs_type, self.settings.obs_type, OBS_TYPES),
        ):
            if value in known and value != own and value not in ANY:
                raise InvalidAction(
                    f"action.{name}: expected {own!r}, as this environment was made, got {shorten(value)}; "
                    "make one with the other"
                )
        return self._pressed(read.action_id)

    def seen(self) -> AtariObservation:
        """The screen with its shape, and what the console counts."""
        ale = self._ale
        return AtariObservation(
            self.screen().reshape(-1),
            list(self.shape),
            list(range(len(self._actions))),
            int(ale.lives()),
            int(ale.getEpisodeFrameNumber()),
            int(ale.getFrameNumber()),
        )

    def get_keys_to_action(self) -> dict[str | tuple[str, ...], AtariAction]:
        """Arrows and space."""
        return {keys: AtariAction(action) for keys, action in self.keys().items()}

    def get_choices(self) -> list[Choice]:
        """The buttons and directions of the joystick, by name."""
        names = (name.lower().replace("fire", " fire").strip() for name in self.get_action_meanings())
        return [choice(name, {"action_id": action}) for action, name in enumerate(names)]
