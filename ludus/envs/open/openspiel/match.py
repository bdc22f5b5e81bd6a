"""`Match`: a game between the agent and its opponents; chance, simultaneous and mean-field moves are seen to here."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from ludus.envs.open.openspiel.engine import CHANCE, MEAN_FIELD, SIMULTANEOUS, TERMINAL, draws_by_itself
from ludus.envs.open.openspiel.opponents import Opponent, chosen, mcts_move
from ludus.envs.open.openspiel.population import RULES, spread_of
from ludus.envs.open.openspiel.position import Position

if TYPE_CHECKING:
    import pyspiel

__all__ = ["PUBLIC", "Match", "Table", "is_seen"]

PUBLIC = frozenset({"kuhn_poker", "leduc_poker", "liars_dice", "universal_poker"})
"""Games with hidden cards or dice, in which all that players do is done openly: they need not be looked into."""
MAX_ALTERNATIVES = 128
"""Actions that are compared; where there are more, what was done is kept secret."""
SEEDS = 1 << 30
SHOWN = ("battleship", "blackjack", "solitaire")
"""Games whose information state is a row of moves, and whose observation is what a player would look at."""
NO_CHOICE = 0
"""What is given for a player who has nothing to choose while others have."""


@dataclass(frozen=True)
class Table:
    """Who plays which seat, and how a policy that plays one is shown the game."""

    agent: int
    opponent: Opponent
    simulations: int
    look: Callable[[int], object]

    def agents(self, players: int) -> tuple[int, ...]:
        """The seats that the caller plays."""
        return tuple(range(players)) if self.opponent == "none" else (self.agent,)


class Match:
    """One episode: `move` takes the agent's action and plays on until the agent is to act again, or the game is over.

    Where players move at once and the agent has every seat, it is asked for one of them after another; nothing happens,
    and nobody sees anything, before the last.
    """

    def __init__(self, beginning: Position, table: Table, rng: np.random.Generator) -> None:
        name, parameters = beginning.name, beginning.parameters
        drawn = int(rng.integers(SEEDS)) if draws_by_itself(name) else None
        self.position = beginning.again() if drawn is None else Position(name, parameters, drawn)
        self.players = int(beginning.game.num_players())
        self.last_opponent_action: int | None = None
        self.last_mover = table.agent
        self._agents = table.agents(self.players)
        self._chosen: dict[int, int] = {}
        self.given_up = False
        """Whether an opponent did not come to an end of its search."""

    # --- whose turn it is ---

    @property
    def over(self) -> bool:
        """Whether the game has ended."""
        return self.position.over

    @property
    def turn(self) -> int:
        """The seat that the caller is to act for; at the end, the one that acted last."""
        player = self.position.player
        if player == TERMINAL:
            return self.last_mover
        if player != SIMULTANEOUS:
            return player
        return next(seat for seat in self._agents if seat not in self._chosen)

    @property
    def legal(self) -> list[int]:
        """What the caller may do."""
        return self.position.legal(self.turn)

    @property
    def waits_for_others(self) -> bool:
        """Whether moves were taken that are made together with those of seats still to be asked."""
        return bool(self._chosen)

    # --- moves ---

    def move(self, action: int, table: Table, rng: np.random.Generator) -> None:
        """Make a legal move of the agent's, and everybody else's until it is the agent's turn."""
        seat = self.last_mover = self.turn
        if self.position.player == SIMULTANEOUS:
            self._chosen[seat] = action
        else:
            self.position.apply(action)
        self.play_on(table, rng)

    def play_on(self, table: Table, rng: np.random.Generator) -> None:
        """Everybody else's moves, and those of chance, until it is the agent's turn."""
        position = self.position
        while True:
            player = position.player
            if player == TERMINAL or player in self._agents:
                return
            if player == CHANCE:
                position.apply(_drawn(position.state.chance_outcomes(), rng))
            elif player == MEAN_FIELD:
                self._spread(table)
            elif player == SIMULTANEOUS:
                if not self._joined(table, rng):
                    return
            else:
                answer = self._answer(player, table, rng)
                self.last_opponent_action = answer if is_seen(position, answer, table.agent) else None
                position.apply(answer)

    def _joined(self, table: Table, rng: np.random.Generator) -> bool:
        """Make everybody's move once all of the agent's are there; whether they were."""
        for seat in self._agents:
            if seat not in self._chosen and not self.position.legal(seat):
                self._chosen[seat] = NO_CHOICE
        if len(self._chosen) < len(self._agents):
            return False
        others = {seat: self._answer(seat, table, rng) for seat in range(self.players) if seat not in self._chosen}
        moves = self._chosen | others
        self.last_opponent_action = next(reversed(others.values()), None) if self.position.open else None
        self._chosen = {}
        self.position.apply_all([moves[seat] for seat in range(self.players)])
        return True

    def _answer(self, seat: int, table: Table, rng: np.random.Generator) -> int:
        legal = self.position.legal(seat)
        if not legal:
            return NO_CHOICE
        if table.opponent == "mcts":
            return mcts_move(self.position, rng, table.simulations)
        return chosen(table.opponent, legal, rng, lambda: table.look(seat))

    def _spread(self, table: Table) -> None:
        position, rule = self.position, table.opponent
        support = position.state.distribution_support()
        rule = rule if isinstance(rule, str) and rule in RULES else "random"
        position.spread(spread_of(position.name, position.parameters, rule, support))

    # --- what a seat sees ---

    def tensor(self, seat: int) -> npt.NDArray[np.float32]:
        """The information state of a seat, or what it observes where the game has no such thing; else nothing."""
        position = self.position
        if not position.tensor_name:
            return np.zeros(0, np.float32)
        return np.array(getattr(position.state, position.tensor_name)(seat), np.float32)

    def text(self, seat: int) -> str:
        """The same as text: the board where nothing is hidden, else what the seat knows."""
        position = self.position
        if position.open:
            return str(position.state)
        name = "observation_string" if position.name in SHOWN else position.text_name
        return str(getattr(position.state, name)(seat)) if name else ""

    def text_after(self, action: int) -> str:
        """The board after a legal action of the seat to move."""
        after = self.position.state.clone()
        after.apply_action(action)
        return str(after)

    def action_name(self, action: int) -> str:
        """How the game writes an action of the seat to move."""
        return str(self.position.state.action_to_string(self.turn, action))


def _drawn(outcomes: list[tuple[int, float]], rng: np.random.Generator) -> int:
    """One of chance's outcomes, by one draw of ours."""
    if len(outcomes) == 1:
        return outcomes[0][0]
    left = rng.random()
    for action, chance in outcomes:
        left -= chance
        if left < 0:
            return action
    return outcomes[-1][0]


def is_seen(position: Position, action: int, seat: int) -> bool:
    """Whether `seat` knows that `action` is what the player to move does, and nothing else that they might do.

    >>> is_seen(Position("tic_tac_toe", {}), 4, 1), is_seen(Position("phantom_ttt", {}), 4, 1)
    (True, False)
    """
    if position.open or position.name in PUBLIC:
        return True
    state = position.state
    legal = state.legal_actions()
    if len(legal) > MAX_ALTERNATIVES:
        return False
    if not position.text_name:
        return False
    known = _known(state.child(action), position.text_name, seat)
    return all(_known(state.child(one), position.text_name, seat) != known for one in legal if one != action)


def _known(state: "pyspiel.State", name: str, seat: int) -> str:
    """What a seat knows, as the game itself writes it."""
    return getattr(state, name)(seat)
