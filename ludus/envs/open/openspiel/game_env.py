"""`GameEnv`: what the typed environment and that of arrays have in common: all but how a seat is shown a game."""

import re
from collections.abc import Mapping
from typing import ClassVar

import numpy as np
import numpy.typing as npt

from ludus.core import Env, Info, Outcome, Step
from ludus.core.env import ActT, ObsT
from ludus.core.options import Options
from ludus.envs.open.openspiel.boards import Board, board_of, sits_above
from ludus.envs.open.openspiel.match import Match, Table
from ludus.envs.open.openspiel.opponents import Opponent, SearchTimeout
from ludus.envs.open.openspiel.picture import openspiel_picture
from ludus.envs.open.openspiel.places import places_of
from ludus.envs.open.openspiel.settings import beginning_of, table_of
from ludus.envs.open.openspiel.verdict import winner_of, won_by
from ludus.errors import InvalidArgument, ResetNeeded, shorten
from ludus.rendering import Canvas, Choice, Drawn, choice
from ludus.seeding import Seed

__all__ = ["GameEnv"]

NUMBERED = re.compile(r"^\d+ - ")
"""How backgammon begins the words of a move."""
ILLEGAL = -1.0
"""What an action that is not legal costs."""


class GameEnv(Drawn, Env[ObsT, ActT]):
    """A game of OpenSpiel: episodes, rewards, facts and pictures; subclasses say what a seat sees."""

    # A game may be won by luck: any agent wins some of them.
    metadata = Drawn.metadata | {"render_fps": 2, "trivial_success": ["garbage", "nop", "random"]}
    snapshot_shared: ClassVar[tuple[str, ...]] = (*Drawn.snapshot_shared, "_beginning", "_table")

    def __init__(
        self,
        game: str | None = None,
        game_params: Mapping[str, object] | None = None,
        *,
        opponent: Opponent | None = None,
        agent_player: int | None = None,
        simulations: int = 100,
        render_mode: str | None = None,
        **parameters: object,
    ) -> None:
        beginning = self._beginning = beginning_of(game, game_params, parameters)
        self._table: Table = table_of(beginning, agent_player, opponent, simulations, self.observation_of)
        self.render_mode = render_mode
        self._match: Match | None = None
        self._phase = "initial"

    @property
    def num_players(self) -> int:
        """How many seats there are."""
        return int(self._beginning.game.num_players())

    @property
    def moves_at_once(self) -> bool:
        """Whether players move all at once: then PettingZoo's view is the parallel one."""
        return self._beginning.kind.dynamics.name == "SIMULTANEOUS"

    @property
    def plays_all_seats(self) -> bool:
        """Whether every seat is the caller's."""
        return self._table.opponent == "none"

    @property
    def waits_for_others(self) -> bool:
        """Whether moves were taken that are made together with those of seats still to be asked."""
        return self._match is not None and self._match.waits_for_others

    def mask_of(self, seat: int) -> npt.NDArray[np.int8]:
        """What a seat may do now: a 1 for each legal action."""
        mask = bytearray(self._beginning.actions)
        for action in () if self._match is None else self._match.position.legal(seat):
            mask[action] = 1
        return np.frombuffer(mask, np.int8)  # writable, since its buffer is; a list as an index takes twice as long

    def observation_of(self, seat: int) -> ObsT:
        """What a seat sees now, whether it is its turn or not."""
        raise NotImplementedError(f"{type(self).__name__} defines no observation_of(seat)")

    def reset(self, *, seed: Seed | None = None, options: Options | None = None) -> tuple[ObsT, Info]:
        """Begin a game, and play it until the agent is to move."""
        if options:
            name = type(self).__name__
            raise InvalidArgument(f"options: expected none, since {name} has no reset options, got {shorten(options)}")
        super().reset(seed=seed)
        match = self._match = Match(self._beginning, self._table, self.np_random)
        self._phase = "initial"
        match.play_on(self._table, self.np_random)
        return self.observation_of(match.turn), self._info(match, match.turn)

    def match(self) -> Match:
        """The episode under way; raises ResetNeeded where there is none."""
        if self._match is None or self._match.over or self._match.given_up:
            got = "no episode under way" if self._match is None else "an episode that has ended"
            raise ResetNeeded(f"step: expected reset() first, got {got}")
        return self._match

    def _moved(self, match: Match, action: int) -> Step[ObsT]:
        seat, before = match.turn, match.position.returns()
        legal = action in match.legal
        if legal:
            try:
                match.move(action, self._table, self.np_random)
            except SearchTimeout as error:
                return self._given_up(match, str(error))
            self._phase = "playing"
        rewards = [now - then for now, then in zip(match.position.returns(), before, strict=True)]
        info = self._info(match, seat, illegal=not legal)
        info["reward_components"] = {"game": rewards[seat], "illegal_move": 0.0 if legal else ILLEGAL}
        if not legal:
            rewards[seat] += ILLEGAL
        info["rewards"] = np.array(rewards)
        return Step(self.observation_of(match.turn), rewards[seat], match.over, False, info)

    def _given_up(self, match: Match, reason: str) -> Step[ObsT]:
        """An opponent who does not come to an end ends the episode, and that is nobody's defeat."""
        match.given_up = True
        zero = np.zeros(self.num_players)
        info: Info = {
            "action_mask": np.zeros(self._beginning.actions, np.int8), "turn": self._table.agent, "rewards": zero,
            "facts": {"won": False, "illegal_move": False}, "reward_components": {"game": 0.0, "illegal_move": 0.0},
            "outcome": Outcome.ENVIRONMENT_FAILED, "limit": "time", "error": reason,
        }  # fmt: skip
        return Step(self.observation_of(self._table.agent), 0.0, False, True, info)

    def _info(self, match: Match, seat: int, *, illegal: bool = False) -> Info:
        facts: dict[str, object] = {"won": False, "illegal_move": illegal}
        info: Info = {"action_mask": self.mask_of(match.turn), "turn": match.turn, "facts": facts}
        if not match.over:
            return info
        won, winner = won_by(match, seat), winner_of(match)
        if won is None:
            del facts["won"]
            return info
        facts["won"] = won
        if winner is not None:
            facts["winner"] = winner
        info["outcome"] = Outcome.SUCCESS if won else Outcome.FAILURE
        return info

    def action_name(self, action: int) -> str:
        """How the game writes an action of the seat to move; for prompts."""
        match = self.match()
        if action not in match.legal:
            raise InvalidArgument(f"action_name: expected one of {shorten(match.legal)}, got {shorten(action)}")
        return match.action_name(action)

    # --- for people ---

    def get_choices(self) -> list[Choice]:
        """The legal moves of the seat to move, as the game writes them, and where on the board one clicks for each."""
        match = self._match
        if match is None or match.over or match.given_up:
            return []
        board = self._board(match.text(match.turn)) if self._beginning.open else None
        return [self._choice(match, board, action) for action in match.legal]

    def _choice(self, match: Match, board: Board | None, action: int) -> Choice:
        label = NUMBERED.sub("", match.action_name(action))
        if board is None:
            return choice(label, self.written(action))
        places = places_of(self._beginning.name, board, action, label, lambda: match.text_after(action))
        return choice(label, self.written(action), places=places)

    def written(self, action: int) -> object:
        """An action by its number, as JSON has it."""
        return action

    def _board(self, text: str) -> Board | None:
        name = self._beginning.name
        return board_of(name, text, turned=not self.plays_all_seats and sits_above(name, self._table.agent))

    def draw(self) -> Canvas:
        """The board, or what the seat to move knows as text."""
        match = self._match
        text = "" if match is None else match.text(match.turn)
        return openspiel_picture(self._beginning.name, text, self._board(text))
