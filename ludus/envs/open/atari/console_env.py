"""`ConsoleEnv`: a console with a game: frames, sticky actions, snapshots, keys; subclasses say what is seen of it."""

from collections.abc import Mapping
from typing import TYPE_CHECKING, ClassVar

import numpy as np
import numpy.typing as npt

from ludus.core import Env, Info, Step
from ludus.core.env import ActT, ObsT
from ludus.core.options import Options
from ludus.core.snapshot import Memo
from ludus.envs.open.atari.engine import console
from ludus.envs.open.atari.settings import Settings, settings_of
from ludus.errors import InvalidArgument, ResetNeeded, shorten
from ludus.rendering import Canvas, Drawn
from ludus.seeding import Seed

if TYPE_CHECKING:
    import ale_py

__all__ = ["ConsoleEnv"]

Screen = npt.NDArray[np.uint8]
NOOP = 0
WIDE, TALL = 3, 2
"""How much larger a picture is: the console's pixels are wider than they are tall."""


class ConsoleEnv(Drawn, Env[ObsT, ActT]):
    """A game of the Atari 2600: every draw is of our own stream, so that a seed and the actions are an episode."""

    metadata = Drawn.metadata | {"render_fps": 15}
    snapshot_shared: ClassVar[tuple[str, ...]] = (*Drawn.snapshot_shared, "_ale", "_actions", "_switched_on")

    def __init__(self, settings: Mapping[str, object], render_mode: str | None = None) -> None:
        self.settings: Settings = settings_of(settings)
        ale = self._ale = console(self.settings.game)
        for name, value, known in (
            ("mode", self.settings.mode, ale.getAvailableModes()),
            ("difficulty", self.settings.difficulty, ale.getAvailableDifficulties()),
        ):
            if value is not None and value not in known:
                raise InvalidArgument(
                    f"Atari {name}: expected one of {sorted(map(int, known))}, those of {self.settings.game}, "
                    f"got {shorten(value)}"
                )
        if self.settings.mode is not None:
            ale.setMode(self.settings.mode)
        if self.settings.difficulty is not None:
            ale.setDifficulty(self.settings.difficulty)
        ale.reset_game()
        self._switched_on = ale.cloneState(include_rng=True)
        """Where each episode begins: so that counts of frames, too, are the same for the same seed."""
        self._actions = list(ale.getLegalActionSet() if self.settings.full_action_space else ale.getMinimalActionSet())
        self.metadata = self.metadata | {"action_names": self.get_action_meanings()}
        self.render_mode = render_mode
        self._held = NOOP
        self._over: bool | None = None
        self._kept: Screen | None = None

    # --- what is seen ---

    @property
    def shape(self) -> tuple[int, ...]:
        """Of an observation: rows, columns and colors; rows and columns; or cells of memory."""
        if self.settings.obs_type == "ram":
            return (int(self._ale.getRAMSize()),)
        rows, columns = self._ale.getScreenDims()
        return (int(rows), int(columns), 3) if self.settings.obs_type == "rgb" else (int(rows), int(columns))

    def screen(self) -> Screen:
        """What there is to see now, a new array."""
        if self.settings.obs_type == "ram":
            return np.array(self._ale.getRAM(), np.uint8)
        if self.settings.obs_type == "grayscale":
            return np.array(self._ale.getScreenGrayscale(), np.uint8).reshape(self.shape)
        return np.array(self._ale.getScreenRGB(), np.uint8)

    def seen(self) -> ObsT:
        """The observation of now."""
        raise NotImplementedError(f"{type(self).__name__} defines no seen()")

    # --- the episode ---

    def reset(self, *, seed: Seed | None = None, options: Options | None = None) -> tuple[ObsT, Info]:
        """Switch the console on, and let some frames pass, as many as the seed says."""
        if options:
            name = type(self).__name__
            raise InvalidArgument(f"options: expected none, since {name} has no reset options, got {shorten(options)}")
        super().reset(seed=seed)
        self._ale.restoreState(self._switched_on)
        self._ale.reset_game()
        self._held, self._over, self._kept = NOOP, False, None
        for _ in range(int(self.np_random.integers(self.settings.noop_max + 1))):
            self._ale.act(NOOP)
            if self._ale.game_over():
                self._ale.reset_game()
        return self.seen(), self._info(False)

    def _pressed(self, action: int) -> Step[ObsT]:
        """Hold an action for as many frames as are skipped."""
        self._kept = None
        lives, reward = self._ale.lives(), 0.0
        chance = self.settings.repeat_action_probability
        for _ in range(self._skipped()):
            if not chance or self.np_random.random() >= chance:
                self._held = int(self._actions[action].value)
            reward += float(self._ale.act(self._held))
            if self._ale.game_over():
                break
        lost = self._ale.lives() < lives
        self._over = bool(self._ale.game_over()) or (lost and self.settings.terminal_on_life_loss)
        info = self._info(lost)
        info["reward_components"] = {"score": reward}
        return Step(self.seen(), reward, self._over, False, info)

    def _skipped(self) -> int:
        skip = self.settings.frameskip
        return skip if isinstance(skip, int) else int(self.np_random.integers(skip[0], skip[1] + 1))

    def _info(self, lost: bool) -> Info:
        return {"lives": int(self._ale.lives()), "facts": {"life_lost": lost, "illegal_move": False}}

    def check_begun(self) -> None:
        """Raise ResetNeeded unless an episode is under way."""
        if self._over is not False:
            got = "no episode under way" if self._over is None else "an episode that has ended"
            raise ResetNeeded(f"step: expected reset() first, got {got}")

    # --- snapshots: the console's own state, with the picture that it does not keep ---

    def _capture(self, memo: Memo) -> object:
        return super()._capture(memo), self._ale.cloneState(include_rng=True), self.frame()

    def _reinstate(self, state: "tuple[object, ale_py.ALEState, Screen]", memo: Memo) -> None:
        attributes, console_state, kept = state
        super()._reinstate(attributes, memo)
        self._ale.restoreState(console_state)
        self._kept = kept.copy()

    # --- for people ---

    def get_action_meanings(self) -> list[str]:
        """What each number of an action is called."""
        return [str(one.name) for one in self._actions]

    def keys(self) -> dict[str | tuple[str, ...], int]:
        """Arrows and space, alone and together; nothing pressed does nothing."""
        found: dict[str | tuple[str, ...], int] = {}
        for action, name in enumerate(self.get_action_meanings()):
            held = tuple(key for direction, key in KEYS.items() if direction in name)
            found[held or ""] = action
        return found

    def frame(self) -> Screen:
        """The picture on the screen, rows × columns × colors, whatever is observed."""
        return np.array(self._ale.getScreenRGB(), np.uint8) if self._kept is None else self._kept

    def draw(self) -> Canvas:
        """The picture, as large as a television makes it."""
        frame = self.frame()
        rows, columns = frame.shape[:2]
        canvas = Canvas(columns * WIDE, rows * TALL, background="black")
        canvas.image(0, 0, frame, width=columns * WIDE, height=rows * TALL, smooth=False)
        return canvas

    def render(self) -> object:
        """As every picture, but "rgb_array" is the console's own."""
        if self.render_mode == "rgb_array":
            if self._over is None:
                raise ResetNeeded("render: expected reset() first, got an environment that has not begun")
            return self.frame().copy()
        return super().render()


KEYS = {"UP": "up", "DOWN": "down", "LEFT": "left", "RIGHT": "right", "FIRE": "space"}
