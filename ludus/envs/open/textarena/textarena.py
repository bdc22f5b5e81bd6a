"""TextArena: eight text games of our own, and those of the package, behind one environment, in OpenEnv's words."""

import os
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import partial
from typing import Annotated, Any

import numpy as np

from ludus.core import Env, Info, Outcome, Step
from ludus.core.options import Options
from ludus.envs.open.textarena.chess import Chess
from ludus.envs.open.textarena.countdown import Countdown
from ludus.envs.open.textarena.game import Game, Turn, bracketed
from ludus.envs.open.textarena.guess_the_number import GuessTheNumber, OriginalGuessTheNumber
from ludus.envs.open.textarena.hangman import Hangman
from ludus.envs.open.textarena.mastermind import Mastermind
from ludus.envs.open.textarena.minesweeper import Minesweeper
from ludus.envs.open.textarena.openenv_rules import OpenEnvRules
from ludus.envs.open.textarena.package_game import PackageGame, package_game
from ludus.envs.open.textarena.package_games import PLAYERS
from ludus.envs.open.textarena.picture import textarena_picture
from ludus.envs.open.textarena.sudoku import OriginalSudoku, Sudoku
from ludus.envs.open.textarena.wordle import OriginalWordle, Wordle
from ludus.errors import InvalidAction, InvalidArgument, ResetNeeded, did_you_mean, shorten
from ludus.rendering import Canvas, Choice, Drawn, choice
from ludus.seeding import Seed
from ludus.spaces import Record, Text

__all__ = ["GAMES", "TextArena", "TextArenaAction", "TextArenaMessage", "TextArenaObservation", "TextArenaState"]

GAMES: dict[str, type[Game]] = {
    kind.__name__: kind for kind in (Wordle, GuessTheNumber, Hangman, Mastermind, Sudoku, Minesweeper, Countdown, Chess)
}
"""By name."""
ORIGINALS: dict[str, type[Game]] = {
    "GuessTheNumber": OriginalGuessTheNumber,
    "Sudoku": OriginalSudoku,
    "Wordle": OriginalWordle,
}
"""What OpenEnv's clients get instead: the rules of the package's game of that name, and of two its words."""
THE_GAME = -1
"""Who sends what no player said."""
MAX_MESSAGE_CHARS = 8192
PREFIX = "TEXTARENA_KW_"
VARIABLES = {"num_players": "TEXTARENA_NUM_PLAYERS", "max_turns": "TEXTARENA_MAX_TURNS"}
"""Of games of the package."""
FILES = ("_path", "_file")
"""How settings end that name a file, which the package opens and shows."""


@dataclass
class TextArenaAction:
    """What the player to move says; the move is in square brackets."""

    message: Annotated[str, Text(MAX_MESSAGE_CHARS, min_length=0, charset=None)]


@dataclass
class TextArenaMessage:
    """Something that was said, by a player or by the game."""

    sender_id: int
    content: str
    category: str
    """PROMPT, PLAYER_ACTION, GAME_MESSAGE or GAME_BOARD; MESSAGE of a transcript."""


@dataclass
class TextArenaObservation:
    """The rules, and what was said since the last observation."""

    prompt: str
    messages: list[TextArenaMessage] = field(default_factory=list[TextArenaMessage])
    current_player_id: int = 0
    legal_players: list[int] = field(default_factory=list[int])
    info: dict[str, Any] = field(default_factory=dict[str, Any])


@dataclass
class TextArenaState:
    """What is shown of the game; what a player may not know is not in it."""

    env_id: str
    num_players: int
    turn: int = 0
    last_reward: float = 0.0
    raw_state: dict[str, Any] = field(default_factory=dict[str, Any])


class TextArena(Drawn, Env[TextArenaObservation, TextArenaAction]):
    """Play a text game by messages with a move in square brackets; a win is worth 1, and nothing else is.

    >>> env = TextArena(game="GuessTheNumber")
    >>> observation, info = env.reset(seed=1)
    >>> step = env.step(TextArenaAction("I try the middle: [10]"))
    >>> step.observation.messages[1].content
    'The number is higher than 10.'
    """

    metadata = Drawn.metadata | {"render_fps": 2, "openenv_arguments": {"as_openenv": True}}

    def __init__(
        self,
        game: str | None = None,
        settings: Mapping[str, object] | None = None,
        render_mode: str | None = None,
        *,
        as_openenv: bool = False,
    ) -> None:
        self.as_openenv = as_openenv
        self._rules: OpenEnvRules | None = None
        name = game or os.environ.get("TEXTARENA_ENV_ID", "Wordle")
        self.game, self._kind = _found(name, as_openenv=as_openenv)
        variables = {key[len(PREFIX) :].lower(): one for key, one in os.environ.items() if key.startswith(PREFIX)}
        if self.game not in GAMES:
            variables |= {name: os.environ[key] for name, key in VARIABLES.items() if key in os.environ}
        self.settings = variables | dict(settings or {})
        self._kind(np.random.default_rng(0), **self.settings)  # wrong settings are an error at once
        self.action_space, self.observation_space = Record(TextArenaAction), Record(TextArenaObservation)
        self.render_mode = render_mode
        self.state: TextArenaState | None = None
        self._game: Game | None = None
        self._over = False

    def reset(self, *, seed: Seed | None = None, options: Options | None = None) -> tuple[TextArenaObservation, Info]:
        """Begin a game; options are other settings of it, but for files, which are whose environment it is to name."""
        files = [name for name in options or {} if name.endswith(FILES)]
        if files:
            raise InvalidArgument(
                f"options: expected settings that name no file, got {files[0]!r}; give it as one of the `settings` "
                "that the environment is made with"
            )
        super().reset(seed=seed)
        game = self._kind(np.random.default_rng(self.np_random.integers(1 << 62)), **(self.settings | (options or {})))
        self._game, self._over = game, False
        self._rules = OpenEnvRules() if self.as_openenv else None
        self.state = TextArenaState(
            self.game if "-v0" in self.game else f"{self.game}-v0", game.players, raw_state={"board": game.board()}
        )
        messages = [TextArenaMessage(THE_GAME, game.prompt(), "PROMPT"), _board(game)]
        return self._seen(game, messages, {}), {}

    def step(self, action: TextArenaAction) -> Step[TextArenaObservation]:
        """Take the move in a message; one that cannot be read, or is not legal, changes nothing but the reward."""
        game, state = self._game, self.state
        if game is None or state is None or self._over:
            got = "an episode that has ended" if self._over else "no episode under way"
            raise ResetNeeded(f"step: expected reset() first, got {got}")
        self.action_space.check(action, "action", InvalidAction)
        player = game.player
        turn = game.play(action.message)
        turn = turn if self._rules is None else self._rules.judge(game, turn)
        messages = [
            TextArenaMessage(player, action.message, "PLAYER_ACTION"),
            TextArenaMessage(THE_GAME, turn.message, "GAME_MESSAGE"),
            _board(game),
        ]
        reward = float(sum(turn.components.values()))
        self._over = turn.over
        state.turn, state.last_reward = state.turn + 1, reward
        state.raw_state = {"board": game.board()}
        observed: dict[str, object] = {"reward_signals": turn.signals} if turn.signals else {}
        return Step(self._seen(game, messages, observed), reward, turn.over, False, _info_of(turn))

    def _seen(self, game: Game, messages: list[TextArenaMessage], info: dict[str, object]) -> TextArenaObservation:
        if self._rules is not None:
            transcript = game.transcript if isinstance(game, PackageGame) else _transcript(self._rules, messages, game)
            messages = [TextArenaMessage(THE_GAME, transcript, "MESSAGE")]
        return TextArenaObservation(game.prompt(), messages, game.player, list(range(game.players)), info)

    def get_choices(self) -> list[Choice]:
        """A line to write a move in; boards are clicked, and moves that are few have buttons."""
        game = self._game
        if game is None or self._over:
            return []
        return [*game.choices(), choice("Play", {"message": "[{text}]"}, ask="A move, as it stands in the brackets")]

    def draw(self) -> Canvas:
        """The board."""
        game = self._game
        if game is None:
            return textarena_picture([], "")
        return textarena_picture(game.cells(), game.board(), chessmen=game.chessmen)


def _found(requested: str, *, as_openenv: bool) -> tuple[str, Callable[..., Game]]:
    """A game of our own, else one of the package by its id; those of one name are the package's after `textarena/`."""
    name = requested.removesuffix("-v0")
    if name in GAMES:
        return name, ORIGINALS.get(name, GAMES[name]) if as_openenv else GAMES[name]
    found = package_game(requested)
    if found is None:
        every = [*GAMES, *PLAYERS]
        meant = did_you_mean(name, every)
        raise InvalidArgument(f"TextArena game: expected one of {every}, got {shorten(requested)}{meant}")
    return found[0], partial(PackageGame, env_id=found[0], base=found[1])


def _board(game: Game) -> TextArenaMessage:
    return TextArenaMessage(THE_GAME, game.board(), "GAME_BOARD")


def _transcript(rules: OpenEnvRules, messages: list[TextArenaMessage], game: Game) -> str:
    """All that was said so far; boards, too, but in games that tell all in words of the package's."""
    for one in messages:
        if one.category == "GAME_BOARD":
            rules.show("" if game.voice is not None else one.content)
        elif one.category == "PLAYER_ACTION" and game.voice is not None:
            rules.move(game.voice, bracketed(one.content))
        else:
            player = "Player" if game.players == 1 else f"Player {one.sender_id}"
            rules.say("GAME" if one.sender_id == THE_GAME else player, one.content)
    return rules.transcript


def _info_of(turn: Turn) -> Info:
    facts = {"won": turn.won, "illegal_move": turn.illegal_move, "invalid_format": turn.invalid_format}
    info: Info = {"facts": facts, "reward_components": dict(turn.components)}
    if turn.over:
        info["outcome"] = Outcome.SUCCESS if turn.won else Outcome.FAILURE
    if turn.opponent_failed:
        info["outcome"] = Outcome.ENVIRONMENT_FAILED
    return info
