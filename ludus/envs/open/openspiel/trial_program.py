"""Load a game with parameters and play it at random: a program that may die of it, in place of the one that asks.

It imports nothing of Ludus, so that it starts quickly, and prints what is wrong; nothing where nothing is.
"""

import json
import random
import resource
import sys

import pyspiel

MAX_MEMORY = 4 << 30
MAX_CPU_SECONDS = 30
GAMES, MOVES = 5, 1000


def play(game: pyspiel.Game, rng: random.Random, moves: int) -> int:
    """One game, or the beginning of it; returns how many moves are left."""
    state = game.new_initial_state()
    while not state.is_terminal() and moves > 0:
        moves -= 1
        if state.is_chance_node():
            actions, weights = zip(*state.chance_outcomes(), strict=True)
            state.apply_action(rng.choices(actions, weights)[0])
        elif state.is_simultaneous_node():
            state.apply_actions([rng.choice(state.legal_actions(one) or [0]) for one in range(game.num_players())])
        elif state.is_mean_field_node():
            support = state.distribution_support()
            state.update_distribution([1.0 / len(support)] * len(support) if support else [])
        else:
            state.apply_action(rng.choice(state.legal_actions()))
        look(game, state)
    return moves


def look(game: pyspiel.Game, state: pyspiel.State) -> None:
    """Everything that the environment asks of a state."""
    str(state)
    state.returns()
    kind = game.get_type()
    for one in range(0 if state.is_chance_node() else game.num_players()):
        for view in (
            "information_state_tensor",
            "observation_tensor",
            "information_state_string",
            "observation_string",
        ):
            if getattr(kind, f"provides_{view}"):
                getattr(state, view)(one)


def main() -> None:
    """Try what the arguments say."""
    name, parameters = sys.argv[1], json.loads(sys.argv[2])
    resource.setrlimit(resource.RLIMIT_AS, (MAX_MEMORY, MAX_MEMORY))
    resource.setrlimit(resource.RLIMIT_CPU, (MAX_CPU_SECONDS, MAX_CPU_SECONDS))
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    try:
        game = pyspiel.load_game(name, parameters)
        left, rng = MOVES, random.Random(0)
        for _ in range(GAMES):
            left = play(game, rng, left)
    except (pyspiel.SpielError, MemoryError, ValueError, IndexError, RuntimeError, TypeError) as error:
        lines = str(error).splitlines() or [type(error).__name__]
        sys.stdout.write(lines[0][:200])


if __name__ == "__main__":
    main()
