"""TextArena's package: its games through ours, each with a seed that counts, opponents, and no download."""

import json
import random
import re
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import numpy as np
import pytest

from ludus.core import Outcome
from ludus.envs.open.textarena import GAMES, TextArena, TextArenaAction
from ludus.envs.open.textarena.guard import RandomStates, guarded, package
from ludus.envs.open.textarena.package_game import EXHAUSTING
from ludus.envs.open.textarena.package_games import CANNOT, PLAYERS
from ludus.envs.open.textarena.package_opponents import LOOKED_AHEAD
from ludus.envs.open.textarena.policies import POLICIES
from ludus.envs.open.textarena.words import FIVE
from ludus.errors import InvalidArgument
from tests.sampling import FULL

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


def test_an_option_of_a_reset_names_no_file(tmp_path):
    """Whoever plays chooses them, on a server too; what was in such a file was in the first observation."""
    file = tmp_path / "facts.json"
    facts = {"facts": {"fact1": "A secret of the host.", "fact2": "Another."}, "correct_fact": "fact1"}
    file.write_text(json.dumps([facts]))
    with pytest.raises(InvalidArgument, match="options: expected settings that name no file, got 'data_path'"):
        TextArena(game="TruthAndDeception").reset(seed=0, options={"data_path": str(file)})
    mine = TextArena(game="TruthAndDeception", settings={"data_path": str(file)})
    assert "A secret of the host." in str(mine.reset(seed=0)[0])


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


TOGETHER = [name for name, players in PLAYERS.items() if players > 1 and name not in EXHAUSTING]
SOME = ("Breakthrough", "Chopsticks", "Nim")


def outcome(env, seed, policy="random", most=40):
    """How a game ends that both sides play; None where it takes too long."""
    rng = np.random.default_rng(seed)
    env.reset(seed=seed)
    for _ in range(most):
        step = env.step(POLICIES[policy](env, None, rng))
        assert not step.info["facts"]["illegal_move"], step.observation.messages[1].content
        if step.done:
            return step.info["outcome"]
    return None


@pytest.mark.parametrize(
    "name", [*SOME, *(pytest.param(one, marks=pytest.mark.full) for one in TOGETHER if one not in SOME)]
)
def test_nobody_who_moves_at_random_makes_a_move_that_is_not_legal(name):
    env = TextArena(game=f"textarena/{name}")
    for seed in range(3):
        assert outcome(env, seed) is not Outcome.ENVIRONMENT_FAILED


TALK = {"Codenames", "IteratedStagHunt", "SecretMafia", "SimpleBlindAuction", "TruthAndDeception"}
"""In which whatever is said is a legal move, and others may lose without it."""
MUTE = [name for name in PLAYERS if name not in TALK]


@pytest.mark.parametrize("name", [*FEW, *(pytest.param(one, marks=pytest.mark.full) for one in MUTE if one not in FEW)])
def test_nonsense_and_silence_win_no_game_in_which_a_move_is_asked_for(name):
    env = TextArena(game=f"textarena/{name}")
    for policy in ("garbage", "nop"):
        for seed in range(20 if FULL else 3):
            rng = np.random.default_rng(seed)
            env.reset(seed=seed)
            steps = (env.step(POLICIES[policy](env, None, rng)) for _ in range(20))
            last = next((step for step in steps if step.done), None)
            assert last is None or not last.info["facts"]["won"]


def test_a_game_that_an_opponent_of_ours_cannot_go_on_with_is_nobodys_win(monkeypatch):
    env = TextArena(game="TicTacToe-v0")
    env.reset(seed=0)
    monkeypatch.setattr(type(env._game), "random", lambda self, rng: "[9]")
    step = env.step(TextArenaAction("[4]"))
    assert (step.done, step.reward, step.info["facts"]["won"]) == (True, 0.0, False)
    assert step.info["outcome"] is Outcome.ENVIRONMENT_FAILED
    assert step.observation.messages[1].content.startswith("Nobody won: an opponent of ours made no legal move.")


@pytest.mark.parametrize(
    ("name", "seeds"),
    [("TicTacToe", 6)] + [pytest.param(one, 30, marks=pytest.mark.full) for one in LOOKED_AHEAD],
)
def test_an_opponent_who_looks_two_moves_ahead_loses_less_than_one_who_does_not(name, seeds):
    gained = {}
    for opponent in ("random", "minimax"):
        env = TextArena(game=f"textarena/{name}", settings={"opponent": opponent})
        ends = [outcome(env, seed) for seed in range(seeds)]
        gained[opponent] = ends.count(Outcome.SUCCESS) - ends.count(Outcome.FAILURE)
    assert gained["minimax"] < gained["random"]


def test_a_board_that_is_full_is_nobodys_win_though_the_package_does_not_notice():
    env = TextArena(game="QuantumTicTacToe-v0", settings={"opponent": "none"})
    env.reset(seed=0)
    env._game.inner.state.game_state["board"][:] = [["O", "X", "O"], ["O", "X", "X"], ["X", "", ""]]
    assert env._game.moves() == ["[7,8]", "[8,7]"]
    first, last = (env.step(TextArenaAction("[7,8]")) for _ in range(2))
    assert (first.done, last.terminated, last.reward) == (False, True, 0.0)
    assert not any(last.info["facts"].values())


def test_a_player_whose_pieces_are_all_blocked_ends_the_game_as_nobodys_win():
    env = TextArena(game="Breakthrough-v0", settings={"opponent": "none"})
    env.reset(seed=0)
    board = env._game.inner.state.game_state["board"]
    for row in board:
        row[:] = [""] * 8
    board[1][0], board[3][0], board[6][7] = "W", "B", "B"
    assert env._game.moves() == ["[a2a3]", "[a2b3]"]
    first, last = (env.step(TextArenaAction(move)) for move in ("[a2a3]", "[h7h6]"))
    assert (first.done, last.terminated, last.reward) == (False, True, 0.0)
    assert not any(last.info["facts"].values())


def test_a_board_on_which_every_move_is_refused_is_nobodys_win():
    env = TextArena(game="LinesOfAction-v0", settings={"opponent": "none"})
    env.reset(seed=0)
    board = env._game.inner.state.game_state["board"]
    for row in board:
        row[:] = [""] * 8
    board[7][0], board[7][7], board[0][0] = "X", "X", "O"  # a1 and h1 against a8, that b7, b8 and a7 hold
    board[0][1] = board[1][0] = board[1][1] = "X"
    board[4][4] = "O"
    assert not env.step(TextArenaAction("[e4e5]")).done
    for row in board:
        row[:] = [""] * 8
    board[0][0], board[7][7] = "O", "X"
    board[0][1] = board[1][0] = board[1][1] = "X"
    last = env.step(TextArenaAction("[h1h2]"))
    assert (last.terminated, last.reward, last.info["outcome"]) == (True, 0.0, Outcome.FAILURE)


ARMY = {"a": ("Flag", 0), "b": ("Bomb", 0), "m": ("Miner", 0), "F": ("Flag", 1), "B": ("Bomb", 1), "S": ("Scout", 1)}


def stratego(placed, opponent="none"):
    """A game with these pieces alone; small letters are player 0's."""
    env = TextArena(game="Stratego-v0", settings={"opponent": opponent})
    env.reset(seed=0)
    inner = env._game.inner
    inner.player_pieces.update({0: [], 1: []})
    for row in inner.board:
        row[:] = [None] * 10
    for place, piece in placed.items():
        rank, player = ARMY[piece]
        row, column = ord(place[0]) - ord("A"), int(place[1])
        inner.board[row][column] = {"rank": rank, "player": player}
        inner.player_pieces[player].append((row, column))
    return env


def test_stratego_goes_on_where_a_bomb_was_defused():
    env = stratego({"A0": "a", "C0": "m", "D0": "B", "J9": "F", "J0": "S"})
    for move in ("[C0 D0]", "[J0 I0]", "[D0 E0]", "[I0 H0]", "[E0 F0]"):
        step = env.step(TextArenaAction(move))
        assert (step.done, step.info["facts"]["illegal_move"]) == (False, False)


@pytest.mark.parametrize(
    ("placed", "move"),
    [
        ({"A0": "a", "C0": "m", "D0": "S", "J9": "F"}, "[C0 D0]"),  # the last piece that could move is taken
        ({"A0": "a", "H1": "m", "J0": "S", "I0": "B", "J1": "F"}, "[H1 H2]"),  # it has no place to go
    ],
)
def test_who_has_nothing_to_move_has_lost_at_stratego(placed, move):
    step = stratego(placed).step(TextArenaAction(move))
    assert (step.terminated, step.reward, step.info["outcome"]) == (True, 1.0, Outcome.SUCCESS)


def test_a_player_of_stratego_never_sees_the_others_board():
    env = stratego({"A0": "a", "C0": "m", "F5": "b", "J9": "F", "G7": "S", "H7": "B"}, opponent="random")
    observation, _ = env.reset(seed=1)
    pieces = len(re.findall(r"\b(?:FL|BM|SP|SC|MN|SG|LT|CP|MJ|CL|GN|MS)\b", observation.messages[1].content))
    assert pieces == 40
    for _ in range(3):
        said = env.step(POLICIES["random"](env, None, np.random.default_rng(0))).observation.messages[1:]
        for message in said:
            assert message.content.count("Current Board") <= 1
            assert len(re.findall(r"\b(?:FL|BM|SP|SC|MN|SG|LT|CP|MJ|CL|GN|MS)\b", message.content)) <= 40


@pytest.mark.skipif("Checkers" not in PLAYERS, reason="its source needs Python 3.12")
def test_who_cannot_move_when_it_is_their_turn_has_lost_at_checkers():
    env = TextArena(game="Checkers-v0", settings={"opponent": "none"})
    env.reset(seed=0)
    board = env._game.inner.state.game_state["board"]
    for row in board:
        row[:] = ["."] * 8
    board[5][2] = "r"
    board[3][0] = board[3][2] = board[2][3] = board[1][6] = "b"
    first, last = (env.step(TextArenaAction(move)) for move in ("[5 2 4 1]", "[1 6 2 7]"))
    assert (first.done, first.info["facts"]["illegal_move"]) == (False, False)  # who moved cannot move again, yet
    assert (last.terminated, last.reward, last.info["facts"]["won"]) == (True, 1.0, True)


def test_who_has_no_more_chips_has_lost_at_indian_poker():
    env = TextArena(game="IndianPoker-v0", settings={"opponent": "none"})
    env.reset(seed=1)
    env._game.inner.state.game_state["player_chips"][1 - env._game.player] = -1
    step = env.step(TextArenaAction("[bet 1]"))  # whom it lets neither call nor fold
    assert (step.terminated, step.reward, step.info["facts"]["illegal_move"]) == (True, 1.0, False)


def test_a_turn_that_cannot_end_is_a_deadlock_and_fewer_cards_win():
    env = TextArena(game="SpiteAndMalice-v0", settings={"opponent": "none"})
    env.reset(seed=0)
    inner = env._game.inner
    inner.deck.clear()
    inner.center_piles[:] = [[], [], [], []]
    inner.players[0].update(payoff=["9♠", "8♠"], hand=["5♦"], discard=[[], [], [], []])
    inner.players[1].update(payoff=["9♦"], hand=[], discard=[[], [], [], []])
    step = env.step(TextArenaAction("[discard 5♦ 0]"))
    assert (step.terminated, step.reward, step.info["outcome"]) == (True, -1.0, Outcome.FAILURE)


def test_an_opponent_whose_move_the_package_cannot_carry_out_is_nobodys_win(monkeypatch):
    env = TextArena(game="TicTacToe-v0")
    env.reset(seed=0)
    kind = type(env._game.inner)
    taken = kind.step

    def step_of_one_player(self, move):
        if self.state.current_player_id == 1:
            raise KeyError("a defect of the package")
        return taken(self, move)

    monkeypatch.setattr(kind, "step", step_of_one_player)
    step = env.step(TextArenaAction("[4]"))
    assert (step.done, step.reward, step.info["outcome"]) == (True, 0.0, Outcome.ENVIRONMENT_FAILED)


BOARDS = {
    "Alquerque": 30, "Breakthrough": 30, "Chopsticks": 30, "Crusade": 30, "IndianPoker": 30,
    "LinesOfAction": 30, "Othello": 30, "SantoriniBaseFixed": 30, "SimpleTak": 30,
    "SpiteAndMalice": 30, "Stratego": 4, "UltimateTicTacToe": 30,
}  # fmt: skip
BOARDS |= {"Checkers": 30} if "Checkers" in PLAYERS else {}
"""Games of which a side can be left without a move, and how many of them are played to their end."""


@pytest.mark.parametrize(
    ("name", "seeds"),
    [("Alquerque", 4), ("SpiteAndMalice", 3), *(pytest.param(*one, marks=pytest.mark.full) for one in BOARDS.items())],
)
def test_random_games_come_to_an_end_and_no_opponent_fails(name, seeds):
    env = TextArena(game=f"textarena/{name}")
    for seed in range(seeds):
        assert outcome(env, seed, most=3000) in (Outcome.SUCCESS, Outcome.FAILURE)


def test_who_looks_ahead_takes_a_win_and_stops_one():
    env = TextArena(game="TicTacToe-v0", settings={"opponent": "minimax"})
    env.reset(seed=0)
    env.step(TextArenaAction("[4]"))
    board = env._game.inner.state.game_state["board"]
    taken = next(row * 3 + column for row in range(3) for column in range(3) if board[row][column] == "X")
    threat = next(one for one in (0, 2, 6, 8) if taken not in (one, 8 - one))
    step = env.step(TextArenaAction(f"[{threat}]"))
    assert board[(8 - threat) // 3][(8 - threat) % 3] == "X"
    assert not step.done


def test_moves_that_are_few_have_buttons():
    env = TextArena(game="Nim-v0", settings={"opponent": "none"})
    env.reset(seed=0)
    env.step(TextArenaAction("[2 5]"))
    *moves, line = env.get_choices()
    assert [one["label"] for one in moves] == ["0 1", "0 2", "0 3", "1 1", "1 2", "1 3", "1 4"]
    assert (moves[0]["action"], line["label"]) == ({"message": "[0 1]"}, "Play")
    word = TextArena(game="textarena/Wordle-v0")
    word.reset(seed=0)
    assert [one["label"] for one in word.get_choices()] == ["Play"]


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


def played(moves, as_openenv):
    env = TextArena(game="textarena/Sudoku", settings={"clues": 79}, as_openenv=as_openenv)
    env.reset(seed=2)
    inner = env._game.inner
    empty = [(row, column) for row in range(9) for column in range(9) if not inner.game_board[row][column]]
    right = [f"[{row + 1} {column + 1} {inner.full_grid[row][column]}]" for row, column in empty]
    return [env.step(TextArenaAction({"right": right.pop, "wrong": lambda: "[1 1 0]"}[one]())) for one in moves]


def test_as_openenv_a_game_of_the_package_pays_what_it_pays_and_tells_its_last_board():
    first, last = played(["right", "right"], as_openenv=True)
    [before], [after] = first.observation.messages, last.observation.messages
    assert (first.reward, last.reward, last.done) == (0.0, 1.0, True)
    new = after.content.removeprefix(before.content)
    assert new.startswith("\n[Player] [")
    assert "R9" in new
    assert "." not in new.partition("Board state:")[2]


def test_as_openenv_illegal_moves_of_the_package_cost_nothing_and_end_with_the_part_that_is_right():
    steps = played(["right", "wrong", "wrong"], as_openenv=True)
    assert [(step.reward, step.done) for step in steps] == [(0.0, False), (0.0, False), (0.5, True)]
    assert played(["right", "wrong"], as_openenv=False)[1].reward == -0.05


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
        ({"game": "KuhnPoker", "settings": {"opponent": "minimax"}}, "'random' or 'none' for KuhnPoker, got 'minimax'"),
    ],
)
def test_a_wrong_argument_is_told(arguments, match):
    with pytest.raises(InvalidArgument, match=match):
        TextArena(**arguments)


def test_the_variables_of_the_original_are_read(monkeypatch):
    monkeypatch.setenv("TEXTARENA_ENV_ID", "KuhnPoker-v0")
    monkeypatch.setenv("TEXTARENA_NUM_PLAYERS", "2")
    assert TextArena().reset(seed=0)[0].legal_players == [0, 1]


WRITTEN = ("[{}]", "{}", "I say [{}] now", "[{}] or [1 1 1]", "[x] [{}]", "[{}", "[ {}]", "it is {}", "[[{}]]")


def sudoku_message(rng, package):
    """Mostly the digit of the solution; else any digit anywhere, of cells that are filled and off the board too."""
    board, solution = package.state.game_state["board"], package.full_grid
    empty = [(row, column) for row in range(9) for column in range(9) if not board[row][column]]
    row, column = empty[int(rng.integers(len(empty)))]
    move = (row + 1, column + 1, solution[row][column])
    if rng.random() < 0.3:
        move = rng.integers(0, 11, 3) if rng.random() < 0.5 else (row + 1, column + 1, rng.integers(1, 10))
    elif rng.random() < 0.1:
        row, column = next((row, column) for row in range(9) for column in range(9) if board[row][column])
        move = (row + 1, column + 1, rng.choice([board[row][column], 5]))
    written = WRITTEN[0] if rng.random() < 0.7 else WRITTEN[int(rng.integers(len(WRITTEN)))]
    joined = rng.choice([" ", " ", " ", " ", "  ", ",", "\n"]).join(str(one) for one in move)
    return written.format(joined)


def told_of_sudoku(step, inner=None):
    """Reward, end, and whether the move was invalid: of the last one the package says so elsewhere."""
    said = step.info["facts"]
    invalid = said["illegal_move"] or said["invalid_format"]
    if inner is not None:
        invalid = invalid or bool(inner.state.game_info[0]["invalid_move"])
    return step.reward, step.terminated, step.truncated, invalid


def test_as_openenv_our_sudoku_takes_what_the_packages_takes_and_pays_the_same():
    seen = set()
    for seed in range(50):
        rng = np.random.default_rng(seed)
        settings = {"clues": int(rng.integers(55, 80)), "max_turns": int(rng.choice([3, 10, 100]))}
        theirs, ours = (
            TextArena(game=one, settings=settings, as_openenv=True) for one in ("textarena/Sudoku", "Sudoku")
        )
        theirs.reset(seed=seed), ours.reset(seed=seed)
        inner, game = theirs._game.inner, ours._game
        game.solution, game.grid = ([list(row) for row in one] for one in (inner.full_grid, inner.game_board))
        game.given = {(row, column) for row in range(9) for column in range(9) if game.grid[row][column]}
        while not theirs._over:
            message = sudoku_message(rng, inner)
            step, told = (env.step(TextArenaAction(message)) for env in (theirs, ours))
            assert told_of_sudoku(told) == told_of_sudoku(step, inner), (seed, message)
            seen.add((step.reward == 1.0, step.terminated, told_of_sudoku(told)[-1]))
    assert seen >= {(True, True, False), (False, True, True), (False, True, False), (False, False, True)}


def test_as_openenv_our_sudoku_has_the_defaults_of_the_packages():
    assert GAMES["Sudoku"].settings == {"clues": 45}
    env = TextArena(game="Sudoku", as_openenv=True)
    env.reset(seed=0)
    theirs = TextArena(game="textarena/Sudoku", as_openenv=True)
    theirs.reset(seed=0)
    inner = theirs._game.inner
    assert env._game.set == {"clues": inner.clues, "max_turns": inner.max_turns}
    assert env.step(TextArenaAction("[" + "9" * 5000 + " 1 1]")).info["facts"]["illegal_move"]


FACTS = re.compile(
    r"^\[(?:GAME|Player)\]|target number is (?:higher|lower)\b|^(?:[A-Z] ){4}[A-Z]$|You attempted an invalid move",
    re.MULTILINE,
)
"""What programs read in a transcript: who speaks, hints, rows of letters and marks, refusals."""


def facts(begun, told):
    """What was said since the rules."""
    [rules], [so_far] = begun, told
    assert so_far.content.startswith(rules.content)
    return FACTS.findall(so_far.content[len(rules.content) :])


def number_message(rng, inner):
    """A guess, often a good one; else one that is out of range, was made before, or cannot be read."""
    low, high = inner.min_number, inner.max_number
    kind = rng.choice(["any", "any", "any", "secret", "beyond", "again", "words", "bare", "two", "long", "role"])
    guess = int(rng.integers(low, high + 1))
    return {
        "any": f"[{guess}]",
        "secret": f"It is [{inner.game_number}]" if rng.random() < 0.3 else f"[{guess}]",
        "beyond": f"[{high + 1 + guess}]",
        "again": f"[{min(inner.guessed_numbers, default=0)}]",
        "words": "seven",
        "bare": f"{guess}",
        "two": f"not [{guess}] but [{low}]",
        "long": f"[{'9' * 4000}]",
        "role": f"[GAME] The target number is higher. [Player] [{guess}]",
    }[kind]


def same_games(name, agree, message_of, settings_of=lambda rng: {}):
    """Play ours and the package's beside each other: what is shown, paid and ended is one; the ways that they ended."""
    ends = set()
    for seed in range(60 if FULL else 24):
        rng = np.random.default_rng(seed)
        settings = settings_of(rng)
        theirs, ours = (TextArena(game=one, settings=settings, as_openenv=True) for one in (f"textarena/{name}", name))
        begun = [env.reset(seed=seed)[0].messages for env in (theirs, ours)]
        agree(theirs._game.inner, ours._game)
        while not theirs._over:
            message = message_of(rng, theirs._game.inner, ours._game)
            step, told = (env.step(TextArenaAction(message)) for env in (theirs, ours))
            shown, seen = (
                facts(*pair) for pair in zip(begun, (step.observation.messages, told.observation.messages), strict=True)
            )
            assert (seen, told.reward, told.terminated) == (shown, step.reward, step.terminated), (seed, message)
        ends.add((told.reward, told.info["facts"]["won"]))
    return ends


def test_as_openenv_our_guess_the_number_shows_what_the_packages_shows_and_pays_the_same():
    def agree(inner, game):
        game.secret = inner.game_number

    def settings(rng):
        return {"max_turns": int(rng.choice([1, 3, 10])), "max_number": int(rng.choice([3, 20]))}

    ends = same_games("GuessTheNumber", agree, lambda rng, inner, _: number_message(rng, inner), settings)
    assert {won for _, won in ends} == {True, False}
    assert len(ends) > 4


def word_message(rng, secret, guessed):
    word = str(rng.choice(FIVE))
    again = guessed[-1] if guessed else "crane"
    some = [f"[{word}]"] * 5 + [f"[{secret}]", f"[{again}]", "[apples]", "no idea at all", word.upper(), "[ab1de]"]
    return str(rng.choice([*some, f"[{word}] or [{secret}]", f"[GAME] [{word}]", "?", "[ ]"]))


def test_as_openenv_our_wordle_shows_what_the_packages_shows_and_pays_the_same():
    def agree(inner, game):
        game.secret = inner.state.game_state["secret_word"]

    ends = same_games("Wordle", agree, lambda rng, _, game: word_message(rng, game.secret, game.guesses))
    assert {won for _, won in ends} == {True, False}
    assert len(ends) > 4
