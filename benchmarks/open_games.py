"""Moves a second of the processor's time of `open/OpenSpiel-v0`, beside OpenEnv's own environment where it can be run.

    python benchmarks/open_games.py [FOLDER]

FOLDER is `envs` of a copy of OpenEnv's repository: its `OpenSpielEnvironment` is then played by the interpreter that
OpenEnv is installed in (build/peers, see scripts/peers.sh), which gets open_spiel of this one. Best of five runs in
turn, resets and a random opponent's answers included, always the legal action whose turn it is.
"""

import json
import subprocess
import sys
import time
from pathlib import Path
from sysconfig import get_path
from typing import Any

GAMES = {"catch": 2000, "tic_tac_toe": 2000, "kuhn_poker": 2000, "connect_four": 2000, "blackjack": 2000,
         "2048": 2000, "chess": 400}  # fmt: skip
RUNS = 5
OPENENV = Path(__file__).parents[1] / "build" / "peers" / "openenv-0.10.0" / "bin" / "python"


def theirs(game: str, moves: int) -> float:
    """OpenEnv's environment, in its own process."""
    from openspiel_env.models import OpenSpielAction  # type: ignore[import-not-found]
    from openspiel_env.server.openspiel_environment import OpenSpielEnvironment  # type: ignore[import-not-found]

    env: Any = OpenSpielEnvironment(game_name=game)
    observation = env.reset()
    begun = time.process_time()
    for number in range(moves):
        legal = observation.legal_actions
        observation = env.step(OpenSpielAction(action_id=legal[number % len(legal)], game_name=game))
        if observation.done:
            observation = env.reset()
    return moves / (time.process_time() - begun)


def ours(game: str, moves: int) -> float:
    """Ours, as long."""
    from ludus.envs.open.openspiel import OpenSpiel, OpenSpielAction  # not in the process of OpenEnv's

    env = OpenSpiel(game)
    observation, _ = env.reset(seed=0)
    begun = time.process_time()
    for number in range(moves):
        legal = observation.legal_actions
        step = env.step(OpenSpielAction(legal[number % len(legal)]))
        observation = step.observation
        if step.done:
            observation, _ = env.reset()
    return moves / (time.process_time() - begun)


def by_openenv(folder: str, game: str, moves: int) -> float:
    """One run of theirs in the interpreter of OpenEnv."""
    code = (
        f"import sys; sys.path[:0] = [{folder!r}, {str(Path(__file__).parent)!r}]; "
        f"sys.path.append({get_path('platlib')!r}); import open_games; print(open_games.theirs({game!r}, {moves}))"
    )
    done = subprocess.run([str(OPENENV), "-c", code], check=True, capture_output=True, text=True)
    return float(json.loads(done.stdout.strip().splitlines()[-1]))


def main() -> None:
    """The table."""
    folder = sys.argv[1] if len(sys.argv) > 1 else None
    print("| | `open/OpenSpiel-v0` | OpenEnv's `OpenSpielEnvironment` | |\n|---|---|---|---|")
    for game, moves in GAMES.items():
        runs = [(ours(game, moves), by_openenv(folder, game, moves) if folder else 0.0) for _ in range(RUNS)]
        own, other = (max(column) for column in zip(*runs, strict=True))
        print(f"| `{game}` | {own:,.0f} |" + (f" {other:,.0f} | {own / other:.2f}× |" if other else " | |"), flush=True)


if __name__ == "__main__":
    main()
