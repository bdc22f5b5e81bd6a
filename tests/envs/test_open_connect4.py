"""Connect Four: its rules against a plain board, its opponents, typed moves, and the view of two players."""

import numpy as np
import pytest

import ludus
from ludus.core import Outcome
from ludus.envs.open.connect4 import Connect4, Connect4Action, Connect4Board, Connect4Players
from ludus.envs.open.connect4.policies import POLICIES
from ludus.envs.open.connect4.rules import best_column
from ludus.errors import InvalidAction, InvalidArgument, ResetNeeded
from ludus.testing import data_equal
from tests.envs.open_play import mean_returns


def lines_of_four(board):
    """Whether anybody has four in a line, counted cell by cell."""
    for row in range(6):
        for column in range(7):
            for down, right in ((0, 1), (1, 0), (1, 1), (1, -1)):
                cells = [(row + down * i, column + right * i) for i in range(4)]
                if all(0 <= r < 6 and 0 <= c < 7 for r, c in cells) and abs(sum(board[r][c] for r, c in cells)) == 4:
                    return True
    return False


@pytest.mark.parametrize("seed", range(20))
def test_a_game_is_that_of_a_board_counted_cell_by_cell(seed):
    rng = np.random.default_rng(seed)
    env, board, player = Connect4(opponent="none"), np.zeros((6, 7), int), 1
    observation, _ = env.reset(seed=seed)
    while True:
        assert observation.board == board.tolist()
        assert observation.legal_actions == [c for c in range(7) if board[0, c] == 0]
        assert env.state.next_player == player
        column = int(rng.choice(observation.legal_actions))
        board[max(row for row in range(6) if board[row, column] == 0), column] = player
        observation, reward, terminated, truncated, info = env.step(Connect4Action(column))
        won = lines_of_four(board)
        assert (terminated, truncated) == (won or (board != 0).all(), False)
        assert reward == float(won)
        assert info["facts"].get("winner") == (player if won else None)
        player = -player
        if terminated:
            break


@pytest.mark.parametrize("opponent", ["minimax", "random"])
@pytest.mark.parametrize("first", ["agent", "opponent", "random"])
def test_a_seed_is_a_game(opponent, first):
    def game(seed):
        env = Connect4(opponent=opponent, depth=2, first=first)
        told = [env.reset(seed=seed)]
        while len(told) < 2 or not told[-1].done:
            told.append(env.step(Connect4Action(told[-1][0].legal_actions[0])))
        return told

    assert data_equal(game(3), game(3))
    assert not all(data_equal(game(3), game(seed)) for seed in range(4, 9))


def test_a_full_column_is_no_move_and_the_game_goes_on():
    env = Connect4(opponent="none")
    env.reset(seed=0)
    for column in (0, 0, 0, 0, 0, 0):
        env.step(Connect4Action(column))
    before = env.state
    observation, reward, terminated, _, info = env.step(Connect4Action(0))
    assert (reward, terminated, info["facts"]["illegal_move"]) == (-1.0, False, True)
    assert info["reward_components"] == {"win": 0.0, "illegal_move": -1.0}
    assert "outcome" not in info
    assert env.state == before
    assert observation.legal_actions == [1, 2, 3, 4, 5, 6]
    assert not env.step(Connect4Action(1)).info["facts"]["illegal_move"]


def test_a_full_column_ends_the_game_where_that_was_asked_for():
    env = Connect4(opponent="none", illegal_ends=True)
    env.reset(seed=0)
    step = [env.step(Connect4Action(0)) for _ in range(7)][-1]
    assert step.terminated
    assert Outcome.told(step.info["outcome"]) is Outcome.INVALID_ACTION


@pytest.mark.parametrize("action", [Connect4Action(7), Connect4Action(-1), Connect4Action("3"), None, 3])
def test_what_is_no_column_is_refused_and_changes_nothing(action):
    env = ludus.make("open/Connect4-v0")
    env.reset(seed=0)
    with pytest.raises(InvalidAction, match=r"action"):
        env.step(action)
    assert env.unwrapped.state.board == [[0] * 7] * 6
    assert not env.step({"column": 3}).done


@pytest.mark.parametrize("wrong", [{"opponent": "grandmaster"}, {"depth": 0}, {"depth": 13}, {"first": "me"}])
def test_a_wrong_argument_names_itself(wrong):
    with pytest.raises(InvalidArgument, match=f"Connect4 {next(iter(wrong))}: expected"):
        Connect4(**wrong)


def test_a_reset_is_needed_and_takes_no_options():
    env = Connect4()
    with pytest.raises(ResetNeeded):
        env.step(Connect4Action(0))
    with pytest.raises(InvalidArgument, match="has no reset options"):
        env.reset(options={"board": []})


@pytest.mark.parametrize("depth", [2, 4])
def test_an_opponent_that_looks_ahead_takes_a_win_and_stops_one(depth):
    rng = np.random.default_rng(0)
    three = (1 << 7) | (1 << 14) | (1 << 21)  # the bottom of columns 1, 2 and 3
    assert best_column(three, 1 << 0, depth, rng) == 4
    assert best_column(1 << 0, three, depth, rng) == 4
    upright = 0b111
    assert best_column(upright, 1 << 7, depth, rng) == 0
    assert best_column(1 << 7, upright, depth, rng) == 0


def test_the_best_policy_wins_and_nonsense_never_does():
    means, winners = mean_returns(lambda: ludus.make("open/Connect4-v0"), POLICIES, most=60)
    assert means["oracle"] > means["random"] >= means["nop"]
    assert "oracle" in winners
    assert "garbage" not in winners


def test_the_best_policy_beats_one_that_draws():
    oracle = {"oracle": POLICIES["oracle"]}
    means, _ = mean_returns(lambda: ludus.make("open/Connect4-v0", opponent="random"), oracle, range(6))
    assert means["oracle"] > 0.5


def test_arrays_and_typed_moves_are_one_game():
    typed, arrays = Connect4(depth=2), Connect4Board(depth=2)
    observation, told = typed.reset(seed=5)
    board, info = arrays.reset(seed=5)
    while True:
        assert told["action_mask"].tolist() == info["action_mask"].tolist()
        assert board.tolist() == observation.board
        assert np.flatnonzero(info["action_mask"]).tolist() == observation.legal_actions
        column = observation.legal_actions[-1]
        step = typed.step(Connect4Action(column))
        board, reward, terminated, _, info = arrays.step(column)
        observation, told = step.observation, step.info
        assert (reward, terminated) == (step.reward, step.terminated)
        if terminated:
            assert Outcome.told(info["outcome"]) is step.info["outcome"]
            break


def test_a_batch_is_compiled_and_each_lane_is_the_environment_of_its_seed():
    envs = ludus.make_vec("open/Connect4Board-v0", 4)
    assert envs.executor == "kernel"
    boards, infos = envs.reset(seed=9)
    alone = Connect4Board()
    board, info = alone.reset(seed=11)
    for _ in range(40):
        assert (boards[2] == board).all()
        legal = [int(np.argmax(mask)) for mask in infos["action_mask"]]
        boards, rewards, terminated, _, infos = envs.step(np.array(legal))
        board, reward, over, _, info = alone.step(int(np.argmax(info["action_mask"])))
        assert (rewards[2], terminated[2]) == (reward, over)
        if over:
            assert Outcome.told(infos["outcome"][2]) is Outcome.told(info["outcome"]) is not None
            break


def test_two_agents_play_in_pettingzoos_view():
    from ludus.interop.pettingzoo import InTurn

    game = InTurn(Connect4Players())
    game.reset(seed=0)
    for column in (3, 0, 3, 0, 3, 0, 3):
        game.step(column)
    assert game.terminations == {"player_0": True, "player_1": True}
    assert game.rewards == {"player_0": 1.0, "player_1": -1.0}
    assert game.observe("player_0")[5, 3] == 1
    assert game.observe("player_1")[5, 3] == -1


def test_four_that_won_are_ringed():
    env = ludus.make("open/Connect4-v0", opponent="none", render_mode="svg")
    env.reset(seed=0)
    for column in (0, 1, 0, 1, 0, 1):
        env.step({"column": column})
    before = env.render()
    env.step({"column": 0})
    assert env.render().count('stroke-width="4"') == before.count('stroke-width="4"') + 4
