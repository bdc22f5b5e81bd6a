"""Views of several players in PettingZoo's two shapes; its own checks run where it is installed."""

import importlib.util
import warnings
from typing import NamedTuple

import numpy as np
import pytest

from ludus.envs.classic import CartPole
from ludus.errors import InvalidAction, InvalidArgument, InvalidType, MissingExtra, ResetNeeded
from ludus.interop import pettingzoo as views
from ludus.interop.pettingzoo import InTurn, Together
from ludus.wrappers import TimeLimit
from tests.kernels.strange_games import Duel, Nim, NimAgainst, duel_reset, nim_reset

INSTALLED = importlib.util.find_spec("pettingzoo") is not None


class Asked(NamedTuple):
    """PettingZoo's own check resets with an option of this name."""

    options: int = 0


def nim_begin(rng, params, options):
    return nim_reset(rng, params)


def duel_begin(rng, params, options):
    return duel_reset(rng, params)


class OpenNim(Nim):
    rules = Nim.rules._replace(reset=nim_begin, options=Asked)


class OpenDuel(Duel):
    rules = Duel.rules._replace(reset=duel_begin, options=Asked)


def test_agents_move_in_turn_and_leave_when_the_game_is_over():
    game = InTurn(Nim())
    game.reset(seed=0)
    assert game.possible_agents == ["player_0", "player_1"] == game.agents
    total = dict.fromkeys(game.agents, 0.0)
    while game.agents:
        agent = game.agent_selection
        seen, reward, terminated, truncated, info = game.last()
        total[agent] += reward
        assert seen in game.observation_space(agent)
        over = terminated or truncated
        game.step(None if over else game.action_space(agent).sample(info["action_mask"]))
    assert sorted(total.values()) == [-1.0, 1.0]


def test_every_agent_sees_the_game_from_its_own_side():
    game = InTurn(Nim())
    game.reset(seed=3)
    mover = game.agent_selection
    other = next(agent for agent in game.agents if agent != mover)
    assert game.observe(mover)[3] == 1
    assert game.observe(other)[3] == 0


def test_agents_that_move_at_once_get_a_dictionary_of_everything():
    game = Together(TimeLimit(Duel(), 50))
    observations, _ = game.reset(seed=0)
    assert observations.keys() == {"player_0", "player_1"}
    steps = 0
    while game.agents:
        actions = {agent: game.action_space(agent).sample() for agent in game.agents}
        observations, rewards, terminations, truncations, infos = game.step(actions)
        steps += 1
        assert observations["player_1"] in game.observation_space("player_1")
        assert rewards.keys() == terminations.keys() == truncations.keys() == infos.keys()
    assert steps > 2


def test_a_whole_time_limit_ends_the_game_of_every_agent():
    game = InTurn(TimeLimit(Nim(), 1))
    game.reset(seed=1)
    game.step(int(np.flatnonzero(game.last()[4]["action_mask"])[0]))
    assert set(game.truncations.values()) == {True}


@pytest.mark.parametrize(("view", "env"), [(InTurn, Nim), (Together, Duel)])
def test_options_that_no_game_knows_are_left_out_with_a_warning(view, env):
    game, same = view(env()), view(env())
    with pytest.warns(UserWarning, match=f"options of {env.__name__}: expected none, got options, left out"):
        game.reset(seed=3, options={"options": 1})
    same.reset(seed=3)
    assert repr(game.env.unwrapped.state) == repr(same.env.unwrapped.state)


def test_options_that_a_game_takes_are_its_own():
    game = InTurn(OpenNim())
    game.reset(seed=3, options={"options": 1})
    with pytest.warns(UserWarning, match="expected one of options, got other, left out"):
        game.reset(seed=3, options={"options": 1, "other": 2})
    with pytest.raises(InvalidType, match="options"):
        game.reset(seed=3, options={"options": "many"})


def test_agents_that_move_at_once_all_move_and_only_they():
    game = Together(TimeLimit(Duel(), 1))
    with pytest.raises(ResetNeeded, match="expected reset"):
        game.step({})
    game.reset(seed=0)
    actions = {agent: game.action_space(agent).sample() for agent in game.agents}
    for wrong in ({}, {"player_0": actions["player_0"]}, {**actions, "player_7": 0}):
        with pytest.raises(InvalidAction, match="expected an action of each of player_0, player_1, got"):
            game.step(wrong)
    game.step(actions)
    with pytest.raises(ResetNeeded, match="over"):
        game.step(actions)


@pytest.mark.parametrize(
    ("view", "env", "error"),
    [
        (InTurn, CartPole, InvalidArgument),
        (InTurn, NimAgainst, InvalidArgument),
        (InTurn, Duel, InvalidArgument),
        (Together, Nim, InvalidArgument),
    ],
)
def test_a_view_of_another_game_is_refused(view, env, error):
    with pytest.raises((error, InvalidType), match="expected"):
        view(env())


def test_a_view_for_pettingzoo_is_one_or_says_what_to_install():
    if not INSTALLED:
        with pytest.raises(MissingExtra, match=r"pip install \"ludus-rl\[pettingzoo\]\""):
            views.to_aec(Nim())
        return
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # its checks warn of their own imports, and of spaces other than Box
        checks = importlib.import_module("pettingzoo.test")
        for turns, at_once in ((Nim, Duel), (OpenNim, OpenDuel)):
            checks.api_test(views.to_aec(turns()), num_cycles=200)
            checks.parallel_api_test(views.to_parallel(at_once()), num_cycles=200)
        checks.seed_test(lambda: views.to_aec(OpenNim()), num_cycles=50)
        checks.parallel_seed_test(lambda: views.to_parallel(OpenDuel()), num_cycles=50)
