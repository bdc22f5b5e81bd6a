"""TextArena: each game by its own rules, moves in brackets, and who won."""

import numpy as np
import pytest

import ludus
from ludus.core import Outcome
from ludus.envs.open.textarena import GAMES, TextArena, TextArenaAction
from ludus.envs.open.textarena.chess import Chess
from ludus.envs.open.textarena.chess_rules import START, ChessPosition, perft
from ludus.envs.open.textarena.countdown import Countdown, value_of
from ludus.envs.open.textarena.game import move_in
from ludus.envs.open.textarena.hangman import Hangman
from ludus.envs.open.textarena.mastermind import Mastermind, pegs_of
from ludus.envs.open.textarena.minesweeper import Minesweeper
from ludus.envs.open.textarena.policies import POLICIES
from ludus.envs.open.textarena.sudoku import Sudoku, count_solutions
from ludus.envs.open.textarena.wordle import Wordle, marks_of
from ludus.envs.open.textarena.words import FIVE, LONG
from ludus.errors import InvalidAction, InvalidArgument, ResetNeeded
from tests.envs.open_play import mean_returns

QUICK = [name for name in GAMES if name != "Chess"]
every_game = pytest.mark.parametrize("name", GAMES)


def rng(seed=0):
    return np.random.default_rng(seed)


# --- what all games have ---


@every_game
def test_a_seed_is_a_game(name):
    def history(seed):
        env, draws = TextArena(game=name), rng(seed)
        told = [env.reset(seed=seed)]
        while len(told) < 8 and not (len(told) > 1 and told[-1].done):
            told.append(env.step(POLICIES["random"](env, None, draws)))
        return told

    assert history(3) == history(3)
    assert history(3) != history(4)


@pytest.mark.parametrize("name", QUICK)
def test_who_knows_everything_wins_and_nonsense_never_does(name):
    means, winners = mean_returns(lambda: TextArena(game=name), POLICIES, most=60)
    assert means["oracle"] == 1.0 > means["random"] >= means["nop"]
    assert "oracle" in winners
    assert not winners & {"nop", "garbage"}


@pytest.mark.parametrize("seeds", [2, pytest.param(20, marks=pytest.mark.full)])
def test_who_takes_what_is_there_wins_at_chess(seeds):
    means, winners = mean_returns(lambda: TextArena(game="Chess"), POLICIES, range(seeds), most=110)
    assert means["oracle"] > means["random"] >= means["nop"]
    assert not winners & {"nop", "garbage"}


@every_game
@pytest.mark.parametrize(
    "message", ["", "hello, what is this?", "[", "[]", "[[[[", "é☃", "x" * 8192, "[9999 9999 9999 9999]"]
)
def test_a_message_without_a_move_changes_nothing_but_the_reward(name, message):
    env = TextArena(game=name)
    env.reset(seed=1)
    before = env._game.board()
    step = env.step(TextArenaAction(message))
    facts = step.info["facts"]
    assert facts["invalid_format"] or facts["illegal_move"]
    assert (step.reward, step.done) == (-0.05, False)
    assert env._game.board() == before


@every_game
def test_the_rules_are_told_with_the_first_observation(name):
    observation, _ = TextArena(game=name).reset(seed=1)
    assert [one.category for one in observation.messages] == ["PROMPT", "GAME_BOARD"]
    assert observation.prompt == observation.messages[0].content
    assert "square brackets" in observation.prompt
    assert observation.legal_players == ([0, 1] if name == "Chess" else [0])


@every_game
def test_a_snapshot_goes_on_alike(name):
    env = TextArena(game=name)
    env.reset(seed=5)
    env.step(POLICIES["random"](env, None, rng(1)))
    before = env.snapshot()

    def rest():
        draws = rng(2)
        return [env.step(POLICIES["random"](env, None, draws)) for _ in range(1 if env._over else 2) if not env._over]

    first = rest()
    env.restore(before)
    assert rest() == first


@every_game
def test_a_game_is_drawn(name):
    env = TextArena(game=name, render_mode="svg")
    env.reset(seed=1)
    before = env.render()
    for _ in range(3):
        env.step(POLICIES["random"](env, None, rng(3)))
        if env._over:
            break
    assert env.render().startswith("<svg")
    assert env.render() != before or name == "Sudoku"


def test_a_win_is_told_and_ends_the_game():
    env = ludus.make("open/TextArena-v0")
    env.reset(seed=1)
    step = env.step(POLICIES["oracle"](env.unwrapped, None, rng()))
    assert (step.reward, step.terminated) == (1.0, True)
    assert step.info["facts"] == {"won": True, "illegal_move": False, "invalid_format": False}
    assert step.info["reward_components"] == {"win": 1.0}
    assert step.info["outcome"] is Outcome.SUCCESS
    with pytest.raises(ResetNeeded):
        env.step(TextArenaAction("[crane]"))


def test_variables_of_the_original_are_read(monkeypatch):
    monkeypatch.setenv("TEXTARENA_ENV_ID", "GuessTheNumber-v0")
    monkeypatch.setenv("TEXTARENA_KW_MAX_NUMBER", "3")
    env = TextArena()
    assert "between 1 and 3" in env.reset(seed=0)[0].prompt
    assert env.state_data()["env_id"] == "GuessTheNumber-v0"


@pytest.mark.parametrize(
    ("arguments", "match"),
    [
        ({"game": "Wordl"}, "did you mean 'Wordle'"),
        ({"settings": {"num_gueses": 3}}, "did you mean 'num_guesses'"),
        ({"settings": {"num_guesses": "many"}}, "expected int, got 'many'"),
        ({"game": "Mastermind", "settings": {"code_length": 9}}, "Mastermind: expected a code"),
        ({"game": "Sudoku", "settings": {"clues": 5}}, "Sudoku clues: expected"),
        ({"game": "Minesweeper", "settings": {"num_mines": 60}}, "Minesweeper: expected"),
        ({"game": "Chess", "settings": {"opponent": "stockfish"}}, "Chess opponent: expected one of"),
        ({"game": "Chess", "settings": {"fen": "nonsense"}}, "Chess fen: expected a position"),
        ({"game": "Countdown", "settings": {"large": 9}}, "Countdown large: expected"),
    ],
)
def test_a_wrong_argument_is_told(arguments, match):
    with pytest.raises(InvalidArgument, match=match):
        TextArena(**arguments)


def test_what_is_no_message_is_refused():
    env = TextArena()
    env.reset(seed=0)
    for wrong in (TextArenaAction(3), TextArenaAction("x" * 8193), None):
        with pytest.raises(InvalidAction, match="action"):
            env.step(wrong)


def test_the_last_brackets_are_the_move():
    assert move_in("not [a] but [ b ]") == "b"
    assert move_in("bare") == "bare"
    assert move_in("two\nlines") is None
    assert move_in("") is None


# --- each game ---


@pytest.mark.parametrize(
    ("secret", "guess", "marks"),
    [
        ("crane", "crane", "GGGGG"),
        ("crane", "eerie", "XXYXG"),
        ("abbey", "babes", "YYGGX"),
        ("sheep", "eerie", "YYXXX"),
    ],
)
def test_wordle_counts_repeated_letters(secret, guess, marks):
    assert marks_of(secret, guess) == marks


def test_wordle_ends_after_six_guesses_and_tells_the_word_only_then():
    game = Wordle(rng(1))
    wrong = [word for word in FIVE if word != game.secret][:6]
    turns = [game.play(f"[{word}]") for word in wrong]
    assert [turn.over for turn in turns] == [False] * 5 + [True]
    assert not any(game.secret.upper() in turn.message for turn in turns[:-1])
    assert game.secret.upper() in turns[-1].message
    assert game.play(f"[{wrong[0]}]").illegal_move


def test_words_are_of_their_length_and_written_once():
    assert len(FIVE) == len(set(FIVE)) >= 600
    assert {len(word) for word in FIVE} == {5}
    assert len(LONG) == len(set(LONG)) > 100
    assert all(word.isascii() and word.isalpha() and word.islower() for word in FIVE + LONG)


def test_hangman_shows_letters_and_counts_wrong_ones():
    game = Hangman(rng(2), tries=2)
    letter = game.secret[0]
    assert "in the word" in game.play(f"[{letter.upper()}]").message
    assert letter.upper() in game.board()
    missing = [one for one in "abcdefghijklmnopqrstuvwxyz" if one not in game.secret]
    assert not game.play(f"[{missing[0]}]").over
    assert game.play(f"[{missing[1]}]").over


@pytest.mark.parametrize(
    ("secret", "guess", "pegs"),
    [([1, 2, 3, 4], [4, 3, 2, 1], (0, 4)), ([1, 1, 2, 2], [1, 2, 1, 1], (1, 2)), ([1, 2, 3, 4], [5, 6, 5, 6], (0, 0))],
)
def test_mastermind_counts_pegs(secret, guess, pegs):
    assert pegs_of(secret, guess) == pegs


def test_mastermind_refuses_numbers_twice_unless_they_may_be():
    assert Mastermind(rng()).play("[1 1 2 3]").illegal_move
    assert not Mastermind(rng(), duplicate_numbers=True).play("[1 1 2 3]").illegal_move


def test_a_sudoku_has_one_solution_and_refuses_what_breaks_it():
    game = Sudoku(rng(4), clues=32)
    assert count_solutions(game.grid) == 1
    assert sum(1 for row in game.grid for digit in row if digit) == 32
    for digits in (*game.solution, *zip(*game.solution, strict=True)):
        assert sorted(digits) == list(range(1, 10))
    row, column = next(iter(game.given))
    assert game.play(f"[{row + 1} {column + 1} 5]").message == "This cell was given."
    row, column = next((y, x) for y in range(9) for x in range(9) if not game.grid[y][x])
    seen = next(digit for digit in game.grid[row] if digit)
    assert game.play(f"[{row + 1} {column + 1} {seen}]").illegal_move


def test_the_first_cell_of_minesweeper_has_no_mine_around_it():
    for seed in range(20):
        game = Minesweeper(rng(seed))
        assert not game.play("[3 3]").over
        assert not game.mines & {(y, x) for y in (2, 3, 4) for x in (2, 3, 4)}
        assert len(game.mines) == 10
        mine = next(iter(game.mines))
        assert game.play(f"[flag {mine[0]} {mine[1]}]").message == "Marked."
        turn = game.play(f"[{mine[0]} {mine[1]}]")
        assert (turn.over, turn.won) == (True, False)


@pytest.mark.parametrize(
    ("formula", "value"),
    [("1+2*3", 7), ("(1+2)*3", 9), ("100/4/5", 5), ("10 - 4 - 3", 3), ("2 × 3 ÷ 6", 1), ("((7))", 7)],
)
def test_countdown_reads_formulas(formula, value):
    assert value_of(formula)[0] == value


@pytest.mark.parametrize(
    "formula", ["", "1+", "+1", "(1", "1)", "1 2", "2**3", "7/2", "1/0", "a+b", "__import__('os')", "()"]
)
def test_countdown_refuses_what_is_no_formula(formula):
    assert value_of(formula) is None


def test_countdown_uses_numbers_once():
    for seed in range(20):
        game = Countdown(rng(seed))
        value, used = value_of(game.solution)
        assert value == game.target
        assert all(used.count(one) <= game.numbers.count(one) for one in used)
    one = game.numbers[0]
    assert game.play(f"[{one} + {one} + {one} + {one} + {one} + {one} + {one}]").illegal_move


# --- chess ---


@pytest.mark.parametrize(
    ("fen", "depth", "games"),
    [
        (START, 2, 400),
        ("r3k2r/p1ppqpb1/bn2pnp1/3PN3/1p2P3/2N2Q1p/PPPBBPPP/R3K2R w KQkq - 0 1", 2, 2039),
        ("8/2p5/3p4/KP5r/1R3p1k/8/4P1P1/8 w - - 0 1", 3, 2812),
        ("r3k2r/Pppp1ppp/1b3nbN/nP6/BBP1P3/q4N2/Pp1P2PP/R2Q1RK1 w kq - 0 1", 2, 264),
        ("rnbq1k1r/pp1Pbppp/2p5/8/2B5/8/PPP1NnPP/RNBQK2R w KQ - 1 8", 2, 1486),
        pytest.param(START, 4, 197_281, marks=pytest.mark.full),
    ],
)
def test_chess_has_as_many_games_as_everybody_counts(fen, depth, games):
    position = ChessPosition.of(fen)
    assert position.fen() == fen
    assert perft(position, depth) == games


@pytest.mark.parametrize(
    ("fen", "ending"),
    [
        ("rnb1kbnr/pppp1ppp/8/4p3/6Pq/5P2/PPPPP2P/RNBQKBNR w KQkq - 1 3", "checkmate"),
        ("7k/5Q2/6K1/8/8/8/8/8 b - - 0 1", "stalemate"),
        ("7k/8/6K1/8/8/8/8/7N w - - 0 1", "too few pieces to win"),
        ("7k/8/6K1/8/8/8/8/7R w - - 100 90", "fifty moves without a pawn's move or a capture"),
        (START, ""),
    ],
)
def test_chess_ends_by_its_rules(fen, ending):
    assert ChessPosition.of(fen).ending() == ending


def test_chess_ends_when_a_position_is_there_three_times():
    game = Chess(rng(), opponent="none")
    turns = [game.play(f"[{move}]") for move in ("g1f3", "g8f6", "f3g1", "f6g8") * 2]
    assert [turn.over for turn in turns] == [False] * 7 + [True]
    assert "three times" in turns[-1].message


def test_both_sides_of_chess_may_be_the_callers():
    env = TextArena(game="Chess", settings={"opponent": "none"})
    env.reset(seed=0)
    players = []
    for move in ("f2f3", "e7e5", "g2g4", "d8h4"):
        players.append(env._game.player)
        step = env.step(TextArenaAction(f"[{move}]"))
    assert players == [0, 1, 0, 1]
    assert step.info["facts"]["won"]
    assert step.reward == 1.0


def test_a_greedy_opponent_takes_what_hangs_and_mates():
    game = Chess(rng(), opponent="greedy", fen="7k/8/8/3q4/8/8/P2Q4/K7 w - - 0 1")
    game.play("[a2a3]")
    assert game.last == "d5d2"
    game = Chess(rng(), opponent="greedy", fen="4r2k/8/8/8/8/8/P4PPP/7K w - - 0 1")
    turn = game.play("[a2a3]")
    assert (turn.over, turn.won, turn.components) == (True, False, {"win": -1.0})
    assert game.last == "e8e1"


def test_a_board_of_mines_can_be_clicked():
    env = TextArena(game="Minesweeper", settings={"rows": 4, "cols": 6, "num_mines": 3})
    assert env.get_choices() == []
    env.reset(seed=0)
    *cells, line = env.get_choices()
    assert len(cells) == 24
    assert (cells[7]["action"], cells[7]["places"]) == ({"message": "[1 1]"}, [[1 / 6, 1 / 4, 1 / 6, 1 / 4]])
    assert line["action"] == {"message": "[{text}]"}


def test_letters_of_hangman_are_clicked_and_lost_tries_are_seen():
    env = TextArena(game="Hangman")
    env.reset(seed=0)
    game = env._game
    wrong = next(one for one in "abcdefghijklmnopqrstuvwxyz" if one not in game.secret)
    before = {one["label"]: one for one in env.get_choices()}
    assert before["B"]["places"] == [[1 / 10, 3 / 6, 1 / 10, 1 / 6]]
    for letter in (wrong, game.secret[0]):
        env.step(TextArenaAction(**before[letter.upper()]["action"]))
    word, _, tries, *letters = game.cells()
    shown = [one.upper() if one == game.secret[0] else "" for one in game.secret]
    assert [one[0] for one in word[: len(shown)]] == shown
    assert [one[0] for one in tries[:6]] == ["x", "", "", "", "", ""]
    assert {wrong.upper(), game.secret[0].upper()}.isdisjoint(one["label"] for one in env.get_choices())
    assert sum(bool(sign) for row in letters for sign, _, _ in row) == 26


def test_numbers_are_clicked_and_those_that_hints_leave_out_are_grey():
    env = TextArena(game="GuessTheNumber")
    env.reset(seed=0)
    env._game.secret = 12
    for guess in (8, 15):
        [clicked] = [one for one in env.get_choices() if one["label"] == str(guess)]
        env.step(TextArenaAction(**clicked["action"]))
    fields = {int(sign): field for row in env._game.cells() for sign, field, _ in row}
    white = {number for number, field in fields.items() if field == "#ffffff"}
    assert (white, fields[8], fields[1]) == (set(range(9, 15)), "#e8590c", "#ced4da")
    assert clicked["places"] == [[4 / 10, 1 / 2, 1 / 10, 1 / 2]]
    large = TextArena(game="GuessTheNumber", settings={"max_number": 1000})
    large.reset(seed=0)
    assert (large._game.cells(), len(large.get_choices())) == ([], 1)


def test_pegs_of_mastermind_are_drawn_beside_a_guess():
    env = TextArena(game="Mastermind")
    env.reset(seed=0)
    env._game.secret = [1, 2, 3, 4]
    env.step(TextArenaAction("[1 3 5 6]"))
    first, *others = env._game.cells()
    assert [one[0] for one in first] == ["1", "3", "5", "6", "", "", "", "", ""]
    assert [one[1] for one in first[5:]] == ["#212529", "#ffffff", "#e9ecef", "#e9ecef"]
    assert len(others) == 11


def test_pieces_of_chess_are_clicked_and_then_where_they_go():
    env = TextArena(game="Chess")
    env.reset(seed=0)
    *moves, _ = env.get_choices()
    assert len(moves) == 20
    [king] = [one for one in moves if one["label"] == "e2e4"]
    assert (king["action"], king["places"]) == (
        {"message": "[e2e4]"},
        [[4 / 8, 6 / 8, 1 / 8, 1 / 8], [4 / 8, 4 / 8, 1 / 8, 1 / 8]],
    )
    assert env.step(TextArenaAction(**king["action"])).info["facts"]["illegal_move"] is False


def test_a_transcript_is_one_message_that_grows_as_openenvs_does():
    env = TextArena(game="GuessTheNumber", as_openenv=True)
    before = env.reset(seed=1)[0].messages
    assert [(one.sender_id, one.category) for one in before] == [(-1, "MESSAGE")]
    assert before[0].content.startswith("\n[GAME] ")
    [after] = env.step(TextArenaAction("[10]")).observation.messages
    new = after.content.removeprefix(before[0].content)
    assert new.startswith("\n[Player] [10]\n[GAME] The target number is higher.")
    assert env.reset(seed=1)[0].messages == before
    assert len(TextArena(game="GuessTheNumber").reset(seed=1)[0].messages) == 2


def test_as_openenv_an_illegal_move_costs_nothing_and_the_second_in_a_row_ends_the_game():
    env = TextArena(game="Wordle", as_openenv=True)
    env.reset(seed=1)
    secret = env._game.secret
    near = next(word for word in FIVE if word != secret and marks_of(secret, word).count("G") == 2)
    steps = [env.step(TextArenaAction(f"[{word}]")) for word in (near, near)]
    assert [(step.reward, step.done) for step in steps] == [(0.0, False)] * 2
    assert "[GAME] You attempted an invalid move. " in steps[1].observation.messages[0].content
    env.step(TextArenaAction(f"[{next(word for word in FIVE if not set(word) & set(secret))}]"))
    env.step(TextArenaAction(f"[{near}]"))
    last = env.step(TextArenaAction(f"[{near}]"))
    assert (last.done, last.reward, last.info["outcome"]) == (True, 0.0, Outcome.FAILURE)


def test_as_openenv_an_end_without_a_win_is_worth_how_far_one_came():
    env = TextArena(game="Wordle", settings={"num_guesses": 1}, as_openenv=True)
    env.reset(seed=1)
    secret = env._game.secret
    word = next(one for one in FIVE if one != secret and set(marks_of(secret, one)) == {"G", "Y", "X"})
    marks = marks_of(secret, word)
    step = env.step(TextArenaAction(f"[{word}]"))
    assert (step.done, step.reward) == (True, (marks.count("G") + marks.count("Y") / 2) / 5)
    assert step.info["reward_components"] == {"share": step.reward}


@pytest.mark.parametrize("name", ["GuessTheNumber", "Hangman", "Mastermind", "Sudoku", "Wordle"])
def test_how_far_one_came_grows_to_a_whole_win(name):
    game = GAMES[name](rng(3))
    shares = [game.share()]
    while not game.play(game.oracle(rng(0))).over:
        shares.append(game.share())
    assert shares[0] == 0.0
    assert shares == sorted(shares)
    assert name == "Hangman" or game.share() == 1.0


def test_rows_and_columns_of_sudoku_have_names():
    board = Sudoku(rng(4)).board().splitlines()
    assert board[0].split() == [f"C{at}" for at in range(1, 10)]
    rows = [line for line in board if line.startswith("R")]
    assert [line[:2] for line in rows] == [f"R{at}" for at in range(1, 10)]
    assert all(sum(sign == "." or sign.isdigit() for sign in line[2:]) == 9 for line in rows)
