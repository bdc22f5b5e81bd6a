"""`GameEnv`: what the typed environment and that of arrays have in common: all but how a seat is shown a game."""

from collections.abc import Mapping
from typing import Any, ClassVar

import numpy as np
import numpy.typing as npt

from ludus.core import Env, Info, Outcome, Step
from ludus.envs.open.openspiel.boards import board_of, regions_of
from ludus.envs.open.openspiel.match import Match, Table
from ludus.envs.open.openspiel.opponents import Opponent
from ludus.envs.open.openspiel.picture import openspiel_picture
from ludus.envs.open.openspiel.settings import beginning_of, table_of
from ludus.envs.open.openspiel.verdict import winner_of, won_by
from ludus.errors import InvalidArgument, ResetNeeded, shorten
from ludus.rendering import Canvas, Drawn
from ludus.seeding import Seed

__all__ = ["GameEnv"]

ILLEGAL = -1.0
"""What an action that is not legal costs."""


class GameEnv(Drawn, Env[Any, Any]):
    """A game of OpenSpiel: episodes, rewards, facts and pictures; subclasses say what a seat sees."""

    # A game may be won by luck: whoever moves at all wins some of them.
    metadata = Drawn.metadata | {"render_fps": 2, "trivial_success": ["garbage", "nop", "random"]}
    snapshot_shared: ClassVar[tuple[str, ...]] = (*Drawn.snapshot_shared, "_beginning", "_table")

    def __init__(
        self,
        game: str | None = None,
        game_params: Mapping[str, Any] | None = None,
        *,
        opponent: Opponent | None = None,
        agent_player: int | None = None,
        simulations: int = 100,
        render_mode: str | None = None,
        **parameters: Any,
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
        mask = np.zeros(self._beginning.actions, np.int8)
        if self._match is not None:
            mask[self._match.position.legal(seat)] = 1
        return mask

    def observation_of(self, seat: int) -> Any:
        """What a seat sees now, whether it is its turn or not."""
        raise NotImplementedError(f"{type(self).__name__} defines no observation_of(seat)")

    def reset(self, *, seed: Seed | None = None, options: dict[str, Any] | None = None) -> tuple[Any, Info]:
        """Begin a game, and play it until the agent is to move."""
        if options:
            name = type(self).__name__
            raise InvalidArgument(f"options: expected none, since {name} has no reset options, got {shorten(options)}")
        super().reset(seed=seed)
        match = self._match = Match(self._beginning, self._table, self.np_random)
        self._phase = "initial"
        match.play_on(self._table, self.np_random)
        return self.observation_of(match.turn), self._told(match, match.turn)

    def regions(self) -> list[dict[str, Any]]:
        """Where one clicks on the picture, and for which number of an action."""
        board = board_of(self._beginning.name, str(self._beginning.state)) if self._beginning.open else None
        return [] if board is None else regions_of(self._beginning.name, board.cells)

    def match(self) -> Match:
        """The episode under way; raises ResetNeeded where there is none."""
        if self._match is None or self._match.over:
            got = "no episode under way" if self._match is None else "an episode that has ended"
            raise ResetNeeded(f"step: expected reset() first, got {got}")
        return self._match

    def _moved(self, match: Match, action: int) -> Step[Any]:
        seat, before = match.turn, match.position.returns()
        legal = action in match.legal
        if legal:
            match.move(action, self._table, self.np_random)
            self._phase = "playing"
        rewards = np.asarray(match.position.returns()) - before
        info = self._told(match, seat, illegal=not legal)
        info["reward_components"] = {"game": float(rewards[seat]), "illegal_move": 0.0 if legal else ILLEGAL}
        rewards[seat] += 0.0 if legal else ILLEGAL
        info["rewards"] = rewards
        return Step(self.observation_of(match.turn), float(rewards[seat]), match.over, False, info)

    def _told(self, match: Match, seat: int, *, illegal: bool = False) -> Info:
        facts: dict[str, Any] = {"won": False, "illegal_move": illegal}
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

    def draw(self) -> Canvas:
        """The board, or what the seat to move knows as text."""
        match = self._match
        return openspiel_picture(self._beginning.name, "" if match is None else match.text(match.turn))
