"""Where all players move at once, actions and observations are tuples: a space of one player's is refused."""

import pytest

from ludus.errors import InvalidArgument
from ludus.spaces import Discrete, Tuple
from tests.kernels.strange_games import Duel, Nim


@pytest.mark.parametrize("name", ["action_space", "observation_space"])
@pytest.mark.parametrize("space", [Discrete(2), Tuple((Discrete(2),) * 3)])
def test_a_space_of_another_number_of_players_is_refused(name, space):
    alone = type("Alone", (Duel,), {name: space})
    with pytest.raises(InvalidArgument, match=rf"Alone {name}: expected a Tuple of 2 spaces, .* got .*; write Tuple"):
        alone()


def test_who_takes_turns_has_the_space_of_one():
    assert Nim().action_space == Nim.action_space
