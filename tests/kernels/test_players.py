"""Several players: turns, rewards and observations for each, simultaneous moves, opponents inside a batch."""

import numpy as np
import pytest

from ludus.core import AutoresetMode
from ludus.errors import InvalidArgument
from ludus.kernels import RuleEnv
from ludus.kernels.batch import KernelVectorEnv
from ludus.spaces import Discrete
from ludus.vector import SerialVectorEnv
from tests.kernels.strange_games import NIM, PLAYED, Duel, Nim, NimAgainst, NimTable, nim_opponent, nim_table
from tests.kernels.test_shapes import LANES, pair, same


def actions_of(batch, info):
    if "action_mask" in info:
        mask = np.array(info["action_mask"])
        mask[mask.sum(axis=1) == 0, 0] = 1  # a lane that has ended has nothing to choose from
        return batch.action_space.sample(mask=tuple(mask))
    return batch.action_space.sample()


@pytest.mark.in_turns("kind")
@pytest.mark.parametrize("kind", PLAYED)
def test_a_batch_of_several_players_is_its_lanes_in_every_mode(kind):
    for mode in AutoresetMode:  # in one test: whoever compiled the rules has them for every mode
        played_beside(kind, mode)


def played_beside(kind, mode):
    batches = compiled, _ = pair(kind, mode)
    found, expected = (one.reset(seed=7) for one in batches)
    same(found, expected)
    info = found[1]
    compiled.action_space.seed(2)
    for _ in range(80):
        actions = actions_of(compiled, info)
        step, expected = (one.step(actions) for one in batches)
        same(step, expected)
        info = step.info
        if mode is AutoresetMode.DISABLED and step.done.any():
            found, expected = (one.reset(options={"reset_mask": step.done}) for one in batches)
            same(found, expected)
            for key in ("action_mask",) if "action_mask" in info else ():
                info[key][step.done] = found[1][key][step.done]


def test_the_player_to_move_sees_and_is_rewarded():
    env = Nim()
    observation, info = env.reset(seed=0)
    moved: list[int] = []
    while True:
        assert observation[3] == 1  # it is his turn who looks
        moved.append(info["turn"])
        step = env.step(env.action_space.sample(mask=info["action_mask"]))
        observation, info = step.observation, step.info
        assert step.reward == info["rewards"][moved[-1]]
        if step.terminated:
            break
    assert moved == [(moved[0] + number) % 2 for number in range(len(moved))]
    assert info["rewards"].tolist() == ([1.0, -1.0] if moved[-1] == 0 else [-1.0, 1.0])


def test_an_opponent_moves_until_it_is_the_first_players_turn():
    env = NimAgainst(careless=0.0)
    for seed in range(6):
        _, info = env.reset(seed=seed)
        while True:
            assert "turn" not in info
            step = env.step(env.action_space.sample(mask=info["action_mask"]))
            info = step.info
            if step.terminated:
                break
            assert env.state.player == 0
        assert step.reward in (-1.0, 1.0)


def test_a_table_may_be_the_opponent():
    table = nim_table()
    batch, serial = (
        KernelVectorEnv(lambda: NimTable(table=table), LANES),
        SerialVectorEnv([lambda: NimTable(table=table)] * LANES),
    )
    found, expected = batch.reset(seed=5), serial.reset(seed=5)
    same(found, expected)
    info = found[1]
    for _ in range(30):
        actions = actions_of(batch, info)
        step = batch.step(actions)
        same(step, serial.step(actions))
        info = step.info


def test_all_players_move_at_once_where_there_are_no_turns():
    env = Duel()
    observation, _ = env.reset(seed=0)
    assert [one["mine"] for one in observation] == [3, 3]
    step = env.step((0, 1))
    assert step.reward == step.info["rewards"].sum()
    assert step.info["rewards"].shape == (2,)


@pytest.mark.parametrize(
    ("change", "text"),
    [
        ({"players": 1}, "expected players=2 or more"),
        ({"turn": None, "opponent": nim_opponent}, "opponent: expected rules with `turn`, got none"),
    ],
)
def test_rules_of_players_that_make_no_sense_are_refused(change, text):
    with pytest.raises(InvalidArgument, match=text):

        class Odd(RuleEnv):
            rules = NIM._replace(**change)
            observation_space = action_space = Discrete(15)


def test_lanes_whose_turn_it_is_can_be_moved_by_a_policy():
    batch, _ = pair(Nim, AutoresetMode.NEXT_STEP)
    _, info = batch.reset(seed=0)
    batch.action_space.seed(0)
    for player in (0, 1):
        mine = info["turn"] == player
        step = batch.step_masked(actions_of(batch, info), mine)
        assert (step.reward[~mine] == 0).all()
        info = {"turn": np.where(mine, step.info["turn"], info["turn"]), "action_mask": step.info["action_mask"]}
        info["action_mask"][~mine] = batch._columns["i_mask"][~mine]
    assert len(batch.get_attr("state")) == LANES
