"""`play`: a person plays an environment, in the terminal or in a window."""

import time
from collections.abc import Mapping
from contextlib import ExitStack, suppress
from pathlib import Path
from typing import TypeVar

from ludus.core.env import AnyEnv
from ludus.errors import InvalidType, RenderError
from ludus.rendering.drawing import Drawing
from ludus.rendering.drawn import Drawn
from ludus.rendering.key_map import QUIT, RESTART, KeyMap
from ludus.rendering.pace import as_fps
from ludus.rendering.pixels import to_pixels
from ludus.rendering.screen import Picture, Screen
from ludus.rendering.terminal_screen import TerminalScreen
from ludus.rendering.video import VideoWriter
from ludus.seeding import Seed
from ludus.spaces.kinds import is_array

__all__ = ["play"]

KeyT = TypeVar("KeyT")
DEFAULT_FPS = 30.0
SLOWEST_FPS = 15.0
"""Environments meant for fewer pictures a second wait for the player instead of the clock."""


def play(
    env: AnyEnv,
    keys_to_action: Mapping[KeyT, object] | None = None,
    *,
    screen: Screen | None = None,
    fps: float | None = None,
    seed: Seed | None = None,
    record: str | Path | None = None,
    turns: bool | None = None,
) -> list[float]:
    """Let a person play until they quit; returns the score of each episode that was begun.

    `screen` is the terminal unless given. With `turns` each key is one step; without, the environment steps `fps` times
    a second under the key that is held, or was pressed last. Which one is better follows from the environment's own
    `render_fps`. `record` names a `.mp4` or `.gif`.
    """
    if env.batch_shape:
        raise InvalidType(f"play: expected one environment, got a batch of {env.batch_shape}")
    own = env.metadata.get("render_fps")
    speed = as_fps(fps if fps is not None else own if own is not None else DEFAULT_FPS)
    in_turns = turns if turns is not None else own is None or own < SLOWEST_FPS
    game = PlayedGame(env, KeyMap.of(env, keys_to_action), None if record is None else VideoWriter(record, speed))
    with ExitStack() as stack:
        if game.video is not None:
            stack.callback(game.video.close)
        shown = stack.enter_context(screen if screen is not None else TerminalScreen())
        game.restart(seed)
        stack.enter_context(suppress(KeyboardInterrupt))  # the other way to quit
        _take_turns(game, shown) if in_turns else _run(game, shown, speed)
    return game.scores


class PlayedGame:
    """One environment, its score, and what the player is told."""

    def __init__(self, env: AnyEnv, keys: KeyMap, video: VideoWriter | None) -> None:
        self.env, self.keys, self.video = env, keys, video
        self.scores: list[float] = []
        self.steps = 0
        self.ended = ""
        self.picture: Picture = ""

    def restart(self, seed: Seed | None = None) -> None:
        """Begin an episode; only the first one takes the seed, the others go on from it."""
        self.env.reset(seed=seed)
        self.scores.append(0.0)
        self.steps, self.ended = 0, ""
        self._look()

    def act(self, action: object) -> None:
        """One step."""
        _, reward, terminated, truncated, _ = self.env.step(action)
        self.scores[-1] += float(reward)
        self.steps += 1
        self.ended = "the episode is over" if terminated else "time is up" if truncated else ""
        self._look()

    def _look(self) -> None:
        below = self.env.unwrapped
        # The drawing itself where there is one: small text then stays text in the terminal.
        picture: object = below.draw() if isinstance(below, Drawn) else self.env.render()
        if not isinstance(picture, Drawing | str) and not is_array(picture):
            raise RenderError(
                f"play: expected an environment that draws, or render_mode 'rgb_array' or 'ansi', "
                f"got {type(picture).__name__} from render()"
            )
        self.picture = picture
        if self.video is not None:
            if isinstance(self.picture, str):
                raise RenderError(
                    "record: expected pixels, got text; make the environment with render_mode='rgb_array'"
                )
            self.video.append(to_pixels(self.picture) if isinstance(self.picture, Drawing) else self.picture)

    def lines(self) -> list[str]:
        """Score, state and keys, entries three blanks apart."""
        name = self.env.spec.id if self.env.spec is not None else type(self.env.unwrapped).__name__
        score = [name, f"score {self.scores[-1]:g}", f"step {self.steps}", f"episode {len(self.scores)}"]
        best = [f"best {max(self.scores[:-1]):g}"] if len(self.scores) > 1 else []
        keys = (
            [f"{self.ended}: r plays again", "q quits"] if self.ended else [*self.keys.legend(), "r restart", "q quit"]
        )
        return ["   ".join(score + best), "   ".join(keys)]


def _take_turns(game: PlayedGame, screen: Screen) -> None:
    while not screen.gone:
        screen.show(game.picture, game.lines())
        for key in screen.keys(None):
            if key in QUIT:
                return
            if key in RESTART:
                game.restart()
                continue
            action = game.keys.choose({key})
            if action is not None and not game.ended:
                game.act(action)


def _run(game: PlayedGame, screen: Screen, fps: float) -> None:
    """Step by the clock. Before the first key the environment waits, unless it has an action for no key."""
    action: object = None
    due = time.monotonic()
    while not screen.gone:
        screen.show(game.picture, game.lines())
        due = max(due + 1.0 / fps, time.monotonic())
        pressed = _keys_until(screen, due, patient=game.ended != "" or (action is None and not game.keys.has_idle))
        if any(key in QUIT for key in pressed):
            return
        if any(key in RESTART for key in pressed):
            game.restart()
            action = None
            continue
        chosen = game.keys.choose(screen.held() | set(pressed))
        action = chosen if chosen is not None else action
        if action is not None and not game.ended:
            game.act(action)


def _keys_until(screen: Screen, due: float, patient: bool) -> list[str]:
    """The keys up to the next step; a patient game has nothing else to do and waits for one."""
    if patient:
        return screen.keys(None)
    pressed: list[str] = []
    while (left := due - time.monotonic()) > 0.0 and not screen.gone:
        pressed += screen.keys(left)
    return pressed or screen.keys(0.0)
