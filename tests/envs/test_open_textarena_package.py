"""TextArena's package: its games through ours, each with a seed that counts, opponents, and no download."""

import random
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import numpy as np
import pytest

from ludus.envs.open.textarena import GAMES, TextArena, TextArenaAction
from ludus.envs.open.textarena.guard import RandomStates, guarded, package
from ludus.envs.open.textarena.package_games import CANNOT, PLAYERS
from ludus.envs.open.textarena.policies import POLICIES
from ludus.errors import InvalidArgument

FEW = ("TicTacToe", "Blackjack", "KuhnPoker", "FrozenLake", "IteratedRockPaperScissors", "Hangman", "Othello")


def history(name, seed, most=8, **settings):
    env, rng = TextArena(game=name, settings=settings), np.random.default_rng(seed)
    told = [env.reset(seed=seed)[0]]
    for _ in range(most):
        step = env.step(POLICIES["random"](env, None, rng))
        told.append((step.observation, step.reward, step.terminated, step.info))
        if step.done:
            break
    return told


def test_every_game_of_the_package_is_in_one_table():
    package()
    from textarena.envs.registration import ENV_REGISTRY

    bases = {name.partition("-v0")[0] for name in ENV_REGISTRY}
    assert bases == set(PLAYERS) | set(CANNOT) | {"Chess"}
    assert not set(PLAYERS) & set(CANNOT)


def test_the_page_names_every_game():
    page = Path(__file__).resolve().parents[2].joinpath("docs", "envs", "textarena.md").read_text(encoding="utf8")
    assert [name for name, why in CANNOT.items() if f"| `{name}` | {why} |" not in page] == []
    assert [name for name in PLAYERS if name not in page] == []


@pytest.mark.parametrize("name", CANNOT)
def test_a_game_that_cannot_run_here_says_why(name):
    with pytest.raises(InvalidArgument, match="expected one that runs here"):
        TextArena(game=f"{name}-v0")


@pytest.mark.parametrize(
    "name", [*FEW, *(pytest.param(one, marks=pytest.mark.full) for one in PLAYERS if one not in FEW)]
)
def test_a_seed_is_a_game_whatever_others_draw(name):
    asked = f"textarena/{name}"
    random.seed(5)
    first = history(asked, 3)
    random.seed(6)
    np.random.seed(7)
    expected = random.getstate()
    assert history(asked, 3) == first
    assert random.getstate() == expected  # nobody else's draws were touched
    assert first[0].prompt


def test_sessions_of_one_process_do_not_disturb_each_other():
    alone = [history("TicTacToe", seed) for seed in range(4)]
    with ThreadPoolExecutor(8) as threads:
        together = list(threads.map(lambda seed: history("TicTacToe", seed), [0, 1, 2, 3] * 4))
    assert together == alone * 4


def test_opponents_move_and_both_sides_may_be_the_callers():
    env = TextArena(game="TicTacToe-v0")
    observation, _ = env.reset(seed=0)
    assert observation.legal_players == [0, 1]
    assert env.step(TextArenaAction("[4]")).observation.current_player_id == 0
    env = TextArena(game="TicTacToe-v0", settings={"opponent": "none"})
    env.reset(seed=0)
    players = []
    for move in ("[0]", "[3]", "[1]", "[4]", "[2]"):
        players.append(env._game.player)
        step = env.step(TextArenaAction(move))
    assert players == [0, 1, 0, 1, 0]
    assert (step.terminated, step.reward, step.info["facts"]["won"]) == (True, 1.0, True)


def test_illegal_moves_are_told_and_never_won():
    env = TextArena(game="FrozenLake-v0")
    env.reset(seed=0)
    rewards = []
    while not env._over:
        step = env.step(TextArenaAction("what?"))
        assert step.info["facts"]["illegal_move"]
        rewards.append(step.reward)
    assert max(rewards) <= 0.0
    assert not step.info["facts"]["won"]


def test_a_snapshot_goes_on_alike():
    env = TextArena(game="Blackjack-v0")
    env.reset(seed=5)
    before = env.snapshot()
    first = [env.step(TextArenaAction("[Hit]")) for _ in range(2)]
    env.restore(before)
    assert [env.step(TextArenaAction("[Hit]")) for _ in range(2)] == first


def test_names_of_our_own_games_are_ours_unless_the_packages_are_asked_for():
    assert type(TextArena(game="Mastermind")._kind(np.random.default_rng(0))).__name__ == "Mastermind"
    assert TextArena(game="textarena/Mastermind").game == "Mastermind-v0"
    assert set(GAMES) - {"Chess"} <= set(PLAYERS)


def test_nothing_is_downloaded_and_nltk_is_left_as_it_was():
    import nltk

    before = nltk.download
    with guarded(RandomStates(0)):
        assert nltk.download is not before
        assert nltk.download("words") is True
    assert nltk.download is before


@pytest.mark.parametrize(
    ("arguments", "match"),
    [
        ({"game": "TicTacTo"}, "did you mean 'TicTacToe'"),
        ({"game": "TicTacToe", "settings": {"num_players": 9}}, "settings that it takes"),
        ({"game": "TicTacToe", "settings": {"num_players": "x"}}, "num_players: expected a number"),
        ({"game": "TicTacToe", "settings": {"opponent": "stockfish"}}, "opponent: expected one of"),
        ({"game": "TicTacToe", "settings": {"board": 3}}, "settings that it takes"),
    ],
)
def test_a_wrong_argument_is_told(arguments, match):
    with pytest.raises(InvalidArgument, match=match):
        TextArena(**arguments)


def test_the_variables_of_the_original_are_read(monkeypatch):
    monkeypatch.setenv("TEXTARENA_ENV_ID", "KuhnPoker-v0")
    monkeypatch.setenv("TEXTARENA_NUM_PLAYERS", "2")
    assert TextArena().reset(seed=0)[0].legal_players == [0, 1]
