"""OpenSpiel: every game by one adapter, whoever plays, whatever is drawn, and nothing that ends the process."""

import json
import pickle
from pathlib import Path

import numpy as np
import pytest

import ludus
from ludus.core import Outcome
from ludus.envs.open.openspiel import OpenSpiel, OpenSpielAction, OpenSpielArrays, match, opponents
from ludus.envs.open.openspiel.boards import LAYOUTS, board_of
from ludus.envs.open.openspiel.engine import engine, game_names
from ludus.envs.open.openspiel.match import PUBLIC
from ludus.envs.open.openspiel.places import _changed
from ludus.envs.open.openspiel.policies import POLICIES
from ludus.envs.open.openspiel.position import Position
from ludus.errors import ContractViolation, EnvError, InvalidAction, InvalidArgument, ResetNeeded
from ludus.interop.pettingzoo import InTurn, Together
from ludus.testing import data_equal
from tests.envs.open_play import mean_returns

CATALOG = Path(ludus.__file__).parent / "envs" / "open" / "openspiel" / "games.json"
GAMES = [one["kwargs"]["game"] for one in json.loads(CATALOG.read_text(encoding="utf8"))["envs"].values()]
SAMPLE = [
    "catch", "tic_tac_toe", "kuhn_poker", "goofspiel", "mfg_crowd_modelling", "mfg_dynamic_routing", "tarok",
    "negotiation",
    "stones_and_gems", "matching_pennies_3p", "coin_game", "leduc_poker", "backgammon", "snake", "hanabi",
]  # fmt: skip
"""Of every kind: in turn, at once, of a population, with chance that the engine draws, without numbers to observe."""
every_game = pytest.mark.parametrize(
    "game", [pytest.param(one, marks=[] if one in SAMPLE else [pytest.mark.full]) for one in GAMES]
)


def history(env, seed, most=12, *, rng_seed=0):
    rng = np.random.default_rng(rng_seed)
    observation, info = env.reset(seed=seed)
    told = [(observation, info)]
    while len(told) <= most and observation.legal_actions:
        step = env.step(OpenSpielAction(int(rng.choice(observation.legal_actions))))
        observation = step.observation
        told.append(tuple(step))
    return told


# --- the list of games ---


def test_every_game_that_loads_has_an_id():
    loads = [one for one in engine().registered_games() if one.default_loadable and not one.action_structs_only]
    assert [one.short_name for one in loads] == GAMES
    assert len(GAMES) >= 112
    assert {one.id for one in ludus.list_envs(family="openspiel")} == {f"open/OpenSpiel-{one}-v0" for one in GAMES}
    assert set(LAYOUTS) <= set(game_names())


@every_game
def test_a_game_is_played_to_the_letter_of_its_seed(game):
    for opponent in ("random", "none"):
        first = history(OpenSpiel(game, opponent=opponent), 3)
        assert data_equal(history(OpenSpiel(game, opponent=opponent), 3), first)
        space = OpenSpiel(game).observation_space
        for told in first:
            space.check(told[0])


@every_game
def test_a_snapshot_of_a_game_goes_on_alike(game):
    env = OpenSpiel(game, opponent="none")
    observation, _ = env.reset(seed=5)
    env.step(OpenSpielAction(observation.legal_actions[-1]))
    if env._match.over:
        env.reset()
    kept = env.snapshot()

    def rest():
        rng, told = np.random.default_rng(1), []
        while len(told) < 4 and not env._match.over:
            legal = env._match.legal
            told.append(tuple(env.step(OpenSpielAction(int(rng.choice(legal))))))
        return told

    first = rest()
    env.restore(kept)
    assert data_equal(rest(), first)
    env.restore(pickle.loads(pickle.dumps(kept)))
    assert data_equal(rest(), first)


@every_game
def test_a_game_can_be_seen(game):
    env = OpenSpiel(game, render_mode="svg")
    env.reset(seed=1)
    assert env.render().startswith("<svg")


def test_blackjack_is_a_table_on_which_the_hidden_card_lies_face_down():
    env = OpenSpiel("blackjack", render_mode="svg")
    env.reset(seed=0)
    hidden = env.render()
    assert ("#364fc7" in hidden, hidden.count("#fdfdf8")) == (True, 3)
    env.step(OpenSpielAction(1))
    assert "#364fc7" not in env.render()


@pytest.mark.parametrize("game", sorted(LAYOUTS))
def test_a_board_is_drawn_as_a_board_and_clicked_where_its_actions_are(game):
    env = OpenSpiel(game)
    env.reset(seed=0)
    assert board_of(game, env.observation_of(0).text) is not None
    assert env.draw().to_svg().count("<text") <= 4  # the tiles of 2048
    choices = env.get_choices()
    assert [one["action"]["action_id"] for one in choices] == env.observation_of(0).legal_actions
    assert any("places" in one for one in choices) == (game not in ("2048", "cliff_walking"))
    for x, y, width, height in (place for one in choices for place in one.get("places", [])):
        assert min(x, y, width, height) >= 0
        assert max(x + width, y + height) <= 1 + 1e-9


@pytest.mark.parametrize("game", ["chess", "antichess", "breakthrough", "checkers", "clobber", "lines_of_action"])
@pytest.mark.parametrize("seat", [0, 1])
def test_a_move_is_a_click_on_one_of_ones_pieces_and_one_on_where_it_goes(game, seat):
    env, rng = OpenSpiel(game, agent_player=seat), np.random.default_rng(0)
    observation, _ = env.reset(seed=3)
    for _ in range(30):
        board = env._board(observation.text)
        choices = env.get_choices()
        for one in choices:
            (x, y, *_), (to_x, to_y, *_) = one["places"]
            piece = board.cells[round(y * 8 if game != "clobber" else y * 5)][round(x * len(board.cells[0]))]
            assert piece != "."
            assert belongs(piece, game, seat), (one, board.cells)
            assert (x, y) != (to_x, to_y)
        assert len({str(one["places"]) for one in choices}) == len(choices) or game in ("chess", "antichess")
        step = env.step(choices[int(rng.integers(len(choices)))]["action"])
        observation = step.observation
        if step.terminated:
            break


def belongs(piece, game, seat):
    if "chess" in game:
        return piece.isupper() == bool(seat)
    own = {"breakthrough": "bw", "checkers": ("o8", "+*"), "clobber": "ox", "lines_of_action": "xo"}
    return piece in own[game][seat]


def test_castling_is_a_click_on_the_king_and_a_piece_is_chosen_where_a_pawn_becomes_one():
    assert moved("4k2r/8/8/8/8/8/8/4K3", "4rk2/8/8/8/8/8/8/4K3".replace("4rk2", "5rk1")) == [(0, 4), (0, 6)]
    assert moved("8/P7/8/8/8/8/8/8", "Q7/8/8/8/8/8/8/8") == [(1, 0), (0, 0)]
    assert moved("8/8/8/3pP3/8/8/8/8", "8/8/3P4/8/8/8/8/8") == [(3, 4), (2, 3)]


def moved(before, after):
    return _changed(*(board_of("chess", f"{one} w - - 0 1").cells for one in (before, after)))


# --- what the games themselves say ---


def test_a_game_is_that_of_pyspiel():
    spiel = engine()
    env, rng = OpenSpiel("connect_four", opponent="none"), np.random.default_rng(2)
    state = spiel.load_game("connect_four").new_initial_state()
    observation, info = env.reset(seed=0)
    while not state.is_terminal():
        assert observation.legal_actions == state.legal_actions() == np.flatnonzero(info["action_mask"]).tolist()
        assert observation.info_state.tolist() == state.observation_tensor(state.current_player())
        assert observation.text == str(state)
        assert observation.current_player_id == state.current_player()
        action = int(rng.choice(state.legal_actions()))
        state.apply_action(action)
        observation, _, terminated, _, info = env.step(OpenSpielAction(action))
    assert terminated
    assert info["rewards"].tolist() == state.returns()
    assert observation.game_phase == "terminal"


def test_chance_is_drawn_as_often_as_it_should_be():
    env, seen = OpenSpiel("kuhn_poker", opponent="none"), {}
    for seed in range(300):
        text = env.reset(seed=seed)[0].text
        seen[text] = seen.get(text, 0) + 1
    assert set(seen) == {"0", "1", "2"}
    assert all(70 <= one <= 130 for one in seen.values())


def test_rewards_before_the_end_are_counted_once():
    env = OpenSpiel("2048")
    observation, _ = env.reset(seed=0)
    total = 0.0
    while observation.legal_actions:
        step = env.step(OpenSpielAction(observation.legal_actions[0]))
        observation, total = step.observation, total + step.reward
    assert total == env._match.position.returns()[0] > 0
    assert not step.info["facts"]["won"]


def test_moves_at_once_are_made_when_every_seat_has_one():
    env = OpenSpiel("matrix_rps", opponent="none")
    observation, info = env.reset(seed=0)
    assert (observation.current_player_id, info["turn"]) == (0, 0)
    first = env.step(OpenSpielAction(1))
    assert (first.reward, first.terminated, first.info["turn"]) == (0.0, False, 1)
    assert first.observation.text == observation.text  # nobody sees what waits
    second = env.step(OpenSpielAction(0))
    assert second.terminated
    assert second.info["rewards"].tolist() == [1.0, -1.0]
    assert second.info["facts"] == {"won": False, "illegal_move": False, "winner": 0}


def test_a_population_is_spread_as_its_rule_says():
    env = OpenSpiel("mfg_crowd_modelling", opponent="first", size=5, horizon=3)
    env.reset(seed=0)
    while not env._match.over:
        step = env.step(OpenSpielAction(0))
    spread = [one for one in env._match.position.moves if isinstance(one, list)]
    assert spread
    assert all(sum(one) == pytest.approx(1.0) for one in spread)
    assert "won" not in step.info["facts"]
    assert "outcome" not in step.info


@pytest.mark.parametrize(("seat", "first"), [(0, 0), (1, 1)])
def test_an_agent_may_have_any_seat(seat, first):
    env = OpenSpiel("tic_tac_toe", agent_player=seat, opponent="first")
    observation, info = env.reset(seed=0)
    assert info["turn"] == observation.current_player_id == seat
    assert observation.text.count("x") == first
    assert observation.opponent_last_action == (0 if first else None)
    assert env.state_data() == {
        "game_name": "tic_tac_toe",
        "agent_player": seat,
        "opponent_policy": "first",
        "game_params": {},
        "num_players": 2,
    }


# --- opponents ---


@pytest.mark.parametrize(("opponent", "cell"), [("first", 0), ("last", 8), ("middle", 5)])
def test_an_opponent_by_a_rule_does_what_its_name_says(opponent, cell):
    env = OpenSpiel("tic_tac_toe", opponent=opponent)
    env.reset(seed=0)
    assert env.step(OpenSpielAction(4)).observation.opponent_last_action == cell


def test_an_opponent_that_searches_is_seeded_and_hard_to_beat():
    def play(seed):
        env = OpenSpiel("tic_tac_toe", opponent="mcts", simulations=500)
        return history(env, seed, rng_seed=seed)

    assert data_equal(play(1), play(1))
    assert sum(play(seed)[-1][1] for seed in range(10)) <= -5


def test_a_policy_may_be_the_opponent_and_sees_its_own_seat():
    def copy_cat(observation, rng):
        seen.append((observation.current_player_id, observation.text))
        return observation.legal_actions[0]

    seen = []
    env = OpenSpiel("kuhn_poker", opponent=copy_cat)
    env.reset(seed=0)
    env.step(OpenSpielAction(1))
    [(player, text)] = seen
    assert player == 1
    assert text[0] != env.observation_of(0).text[0]  # another card
    assert env.state_data()["opponent_policy"] == "custom"
    snapshot = pickle.dumps(env.snapshot())
    env.restore(pickle.loads(snapshot))


def test_a_policy_that_cheats_is_told_so():
    env = OpenSpiel("tic_tac_toe", opponent=lambda observation, rng: 4)
    env.reset(seed=0)
    with pytest.raises(ContractViolation, match="expected a legal action"):
        env.step(OpenSpielAction(4))


def test_who_searches_wins_and_nonsense_never_does():
    for game in ("catch", "tic_tac_toe"):
        means, winners = mean_returns(lambda game=game: ludus.make("open/OpenSpiel-v0", game=game), POLICIES, most=60)
        assert means["oracle"] > means["random"] >= means["nop"]
        assert "oracle" in winners
        assert "garbage" not in winners


# --- what is wrong ---


def test_an_illegal_action_costs_and_the_game_goes_on():
    env = ludus.make("open/OpenSpiel-tic_tac_toe-v0", opponent="first")
    env.reset(seed=0)
    env.step({"action_id": 4})
    step = env.step({"action_id": 4})
    assert (step.reward, step.done) == (-1.0, False)
    assert step.info["facts"] == {"won": False, "illegal_move": True}
    assert step.info["reward_components"] == {"game": 0.0, "illegal_move": -1.0}
    assert step.observation.text == "o..\n.x.\n..."
    assert not env.step({"action_id": 2}).info["facts"]["illegal_move"]


@pytest.mark.parametrize(
    "action",
    [OpenSpielAction(9), OpenSpielAction(-1), OpenSpielAction("4"), OpenSpielAction(4, game_name="chess"), None, 4,
     OpenSpielAction(4, game_params={"rows": 3})],
)  # fmt: skip
def test_what_is_no_action_is_refused_and_changes_nothing(action):
    env = OpenSpiel("tic_tac_toe")
    before, _ = env.reset(seed=0)
    with pytest.raises(InvalidAction, match="action"):
        env.step(action)
    assert env.observation_of(0).text == before.text
    assert not env.step(OpenSpielAction(4, game_name="tic_tac_toe")).done


@pytest.mark.parametrize(
    ("arguments", "match"),
    [
        ({"game": "tic_tac_to"}, "did you mean 'tic_tac_toe'"),
        ({"game": "go(board_size=9"}, "expected a name like"),
        ({"game": 3}, "expected a name like"),
        ({"game": "crossword"}, "whose moves are only structures"),
        ({"game": "misere"}, r"misere: expected some of its parameters \['game'\], got none"),
        ({"game": "misere", "game_params": {"game": "kun_poker"}}, "did you mean 'kuhn_poker'"),
        ({"game": "misere", "game_params": {"game": 5}}, "expected a game like 'kuhn_poker', got 5"),
        ({"game": "go", "board_sise": 9}, "did you mean 'board_size'"),
        ({"game": "go", "board_size": "9"}, "go board_size: expected int, like 19, got '9'"),
        ({"game": "go", "board_size": 2**40}, "expected int"),
        ({"game": "go", "game_params": 3}, "game_params: expected a dictionary"),
        ({"game": "tic_tac_toe", "agent_player": 2}, r"agent_player: expected one of \[0, 1\]"),
        ({"game": "tic_tac_toe", "opponent": "stockfish"}, "opponent: expected one of"),
        ({"game": "tic_tac_toe", "opponent": "mcts", "simulations": 0}, "simulations: expected 1 to"),
        ({"game": "kuhn_poker", "opponent": "mcts"}, "got something hidden"),
        ({"game": "goofspiel", "opponent": "mcts"}, "got players who move at once"),
    ],
)
def test_a_wrong_argument_is_told(arguments, match):
    with pytest.raises(InvalidArgument, match=match):
        OpenSpiel(**arguments)


@pytest.mark.parametrize(
    ("game", "parameters"),
    [
        ("catch", {"rows": 0}),
        ("connect_four", {"rows": 0}),
        ("hanabi", {"players": 1}),
        ("leduc_poker", {"starting_player": 10**9}),
        ("universal_poker", {"numRounds": 12}),
        ("bargaining", {"max_turns": -1}),
        ("y", {"board_size": -1}),
        ("mnk", {"m": -1}),
    ],
)
def test_parameters_that_end_the_engines_process_do_not_end_ours(game, parameters):
    with pytest.raises(InvalidArgument, match=rf"OpenSpiel {game}: expected parameters that it can be played with"):
        OpenSpiel(game, **parameters)


def test_games_are_made_of_parameters_and_of_games():
    assert OpenSpiel("breakthrough", rows=6, columns=6).reset(seed=0)[0].text.count("w") == 12
    assert OpenSpiel("breakthrough(rows=6,columns=6)").reset(seed=0)[0].text.count("w") == 12
    assert OpenSpiel("breakthrough", {"rows": 6, "columns": 6}).state is None
    env = OpenSpiel("misere", {"game": {"name": "kuhn_poker", "players": 3}})
    assert env.num_players == 3
    env.reset(seed=0)


def test_variables_of_the_original_are_read(monkeypatch):
    monkeypatch.setenv("OPENSPIEL_GAME", "tic_tac_toe")
    monkeypatch.setenv("OPENSPIEL_AGENT_PLAYER", "1")
    monkeypatch.setenv("OPENSPIEL_OPPONENT_POLICY", "last")
    observation, _ = OpenSpiel().reset(seed=0)
    assert observation.text == "...\n...\n..x"
    assert OpenSpiel("kuhn_poker", agent_player=0, opponent="random").num_players == 2
    monkeypatch.setenv("OPENSPIEL_AGENT_PLAYER", "first")
    with pytest.raises(InvalidArgument, match=r"agent_player: expected one of \[0, 1\].*got 'first'"):
        OpenSpiel()


def test_a_reset_is_needed_and_takes_no_options():
    env = OpenSpiel()
    for call in (lambda: env.step(OpenSpielAction(0)), lambda: env.observation_of(0)):
        with pytest.raises(ResetNeeded):
            call()
    with pytest.raises(InvalidArgument, match="has no reset options"):
        env.reset(options={"game": "chess"})
    assert env.get_choices() == []
    assert env.get_keys_to_action()["left"] == OpenSpielAction(0)


def test_what_others_did_is_told_only_where_the_game_shows_it():
    seen = {"kuhn_poker": True, "tic_tac_toe": True, "phantom_ttt": False, "dark_chess": False, "battleship": False}
    for game, open_to_all in seen.items():
        env = OpenSpiel(game, agent_player=0)
        observation, _ = env.reset(seed=1)
        step = env.step(OpenSpielAction(observation.legal_actions[0]))
        assert (step.observation.opponent_last_action is not None) == open_to_all, game


@pytest.mark.parametrize("game", sorted(PUBLIC))
def test_games_that_need_not_be_looked_into_show_all_that_is_done(game, monkeypatch):
    monkeypatch.setattr(match, "PUBLIC", frozenset())
    rng = np.random.default_rng(0)
    for _ in range(20):
        position = Position(game, {})
        while not position.over:
            chance = position.player < 0
            legal = [one for one, _ in position.state.chance_outcomes()] if chance else position.legal(position.player)
            action = legal[int(rng.integers(len(legal)))]
            assert chance or match.is_seen(position, action, (position.player + 1) % 2)
            position.apply(action)


def test_many_simulations_are_one_search_by_a_seed():
    histories = []
    for _ in range(2):
        env = OpenSpiel("tic_tac_toe", opponent="mcts", simulations=1100)
        env.reset(seed=5)
        histories.append([env.step(OpenSpielAction(action)).observation.text for action in (0, 8)])
    assert histories[0] == histories[1]
    assert histories[0][0].splitlines()[1] == ".o."  # the only answer to a corner that does not lose


def test_a_search_beyond_its_deadline_ends_the_episode_as_nobodys_defeat(monkeypatch):
    monkeypatch.setattr(opponents, "SEARCH_DEADLINE_S", -1.0)
    env = OpenSpiel("tic_tac_toe", opponent="mcts", simulations=1100)
    env.reset(seed=0)
    step = env.step(OpenSpielAction(4))
    assert (step.terminated, step.truncated, step.reward) == (False, True, 0.0)
    assert step.info["outcome"] is Outcome.ENVIRONMENT_FAILED
    assert "expected 1100 simulations" in step.info["error"]
    assert env.get_choices() == []
    with pytest.raises(ResetNeeded):
        env.step(OpenSpielAction(0))
    with pytest.raises(EnvError, match="ask for fewer"):
        OpenSpiel("tic_tac_toe", opponent="mcts", simulations=1100, agent_player=1).reset(seed=0)


# --- as arrays, and for several agents ---


def test_arrays_and_typed_moves_are_one_game():
    typed, arrays = OpenSpiel("leduc_poker"), OpenSpielArrays("leduc_poker")
    observation, _ = typed.reset(seed=5)
    numbers, info = arrays.reset(seed=5)
    while observation.legal_actions:
        assert numbers.tolist() == observation.info_state.tolist()
        assert np.flatnonzero(info["action_mask"]).tolist() == observation.legal_actions
        action = observation.legal_actions[-1]
        step = typed.step(OpenSpielAction(action))
        numbers, reward, terminated, _, info = arrays.step(action)
        observation = step.observation
        assert (reward, terminated) == (step.reward, step.terminated)
    assert info.get("outcome") is step.info.get("outcome") is not None
    assert Outcome.told(info["outcome"]) in (Outcome.SUCCESS, Outcome.FAILURE)


def test_a_batch_of_games_is_each_of_its_seed():
    envs = ludus.make_vec("open/OpenSpielArrays-v0", 3, game="connect_four")
    observations, infos = envs.reset(seed=4)
    alone = OpenSpielArrays("connect_four")
    seen, info = alone.reset(seed=5)
    for _ in range(4):
        assert (observations[1] == seen).all()
        actions = np.argmax(infos["action_mask"], axis=1)
        observations, _, _, _, infos = envs.step(actions)
        seen, _, _, _, info = alone.step(int(np.argmax(info["action_mask"])))
    assert (infos["action_mask"][1] == info["action_mask"]).all()


def test_agents_play_in_turn_in_pettingzoos_view():
    game = InTurn(OpenSpielArrays("tic_tac_toe", opponent="none"))
    game.reset(seed=0)
    for cell in (0, 3, 1, 4, 2):
        assert game.infos[game.agent_selection]["action_mask"][cell]
        game.step(cell)
    assert game.terminations == {"player_0": True, "player_1": True}
    assert game.rewards == {"player_0": 1.0, "player_1": -1.0}
    with pytest.raises(InvalidArgument, match='opponent="none"'):
        InTurn(OpenSpielArrays("tic_tac_toe"))
    with pytest.raises(InvalidArgument, match="see InTurn"):
        Together(OpenSpielArrays("tic_tac_toe", opponent="none"))


def test_agents_play_at_once_in_pettingzoos_view():
    game = Together(OpenSpielArrays("goofspiel", opponent="none", num_cards=4, points_order="descending"))
    observations, infos = game.reset(seed=0)
    assert set(observations) == {"player_0", "player_1"}
    rng, total = np.random.default_rng(0), {"player_0": 0.0, "player_1": 0.0}
    _, _, _, _, infos = game.step({"player_0": 0, "player_1": 1})
    with pytest.raises(InvalidAction, match="expected a legal action of player_1"):
        game.step({"player_0": 2, "player_1": 1})  # a card that was played
    while game.agents:
        actions = {one: int(rng.choice(np.flatnonzero(infos[one]["action_mask"]))) for one in game.agents}
        observations, rewards, terminations, _, infos = game.step(actions)
        total = {one: total[one] + rewards[one] for one in total}
    assert sum(total.values()) == 0
    assert all(terminations.values())
