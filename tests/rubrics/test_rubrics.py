"""Rewards made of parts: each part is told, the parts add up, and OpenEnv's own rubrics give the same."""

import asyncio
import json
import subprocess
from contextlib import closing
from copy import deepcopy
from math import isclose, nan
from pathlib import Path
from threading import Lock

import pytest

import ludus
from ludus.errors import ContractViolation, EnvError, InvalidArgument, InvalidType
from ludus.rubrics import (
    EpisodeRubric,
    Function,
    Gate,
    Judge,
    Rubric,
    RubricReward,
    Sequential,
    Transition,
    WeightedSum,
)
from tests.server.openenv_peers import VERSIONS, python_of

ACTIONS = ["", "7", "12345", "hello", "0123456789012", "a longer text than ten", "42"]
STEPS = [Transition(one, None, terminated=number == len(ACTIONS) - 1) for number, one in enumerate(ACTIONS)]


def length(action):
    return min(len(action) / 10, 1.0)


def digits(action):
    return float(action.isdigit())


async def answered(prompt):
    return f"The score is {len(prompt) / 100}, or 3."


@pytest.mark.xdist_group("openenv")
def test_scores_are_those_of_openenvs_own_rubrics():
    script = Path(__file__).with_name("openenv_scores.py")
    words = [python_of(VERSIONS[0]), script]
    told = subprocess.run(words, input=json.dumps(ACTIONS), capture_output=True, text=True, timeout=600, check=True)
    theirs = json.loads(told.stdout)
    ours = {
        "gate": Gate(length, threshold=0.4),
        "weighted_sum": WeightedSum([length, digits], [0.7, 0.3]),
        "sequence": Sequential(Gate(digits), length),
        "nested": WeightedSum([Sequential(digits, Gate(length, 0.3)), length], [0.25, 0.75]),
        "judge": Judge("Rate {action}", answered),
        "episode": EpisodeRubric(lambda steps: len(steps[-1].action) / 20, discount=0.9),
    }
    found = {name: [rubric(step) for step in STEPS] for name, rubric in ours.items()}
    found["step_rewards"] = ours["episode"].step_rewards()
    ours["judge"].close()
    assert found == theirs


@pytest.mark.parametrize(
    "rubric",
    [
        Gate(length, 0.4),
        WeightedSum({"long": length, "digits": digits}, {"long": 2, "digits": -0.5}),
        WeightedSum({"inner": WeightedSum([length, digits]), "gate": Gate(digits)}, [0.3, 0.7]),
        Sequential(Gate(digits), WeightedSum([length, digits])),
        Sequential(),
        Function(length),
    ],
    ids=["gate", "penalty", "sums", "sequence", "nothing", "function"],
)
def test_components_add_up_to_the_reward_whatever_the_shape(rubric):
    for step in STEPS:
        graded = rubric.grade(step)
        assert isclose(sum(graded.components.values()), graded.reward, abs_tol=1e-12)
        assert graded.reward == graded.scores[rubric.name]


def test_parts_have_paths_and_one_that_was_not_asked_is_left_out():
    rubric = Sequential({"parses": Gate(digits), "quality": WeightedSum({"long": length})})
    assert rubric.grade(Transition("x", None)).scores == {
        "sequential": 0.0,
        "sequential.parses": 0.0,
        "sequential.parses.digits": 0.0,
    }
    assert rubric.grade(Transition("12345", None)).scores["sequential.quality.long"] == 0.5


def test_parts_of_the_same_name_are_counted():
    assert list(WeightedSum([length, length, digits]).parts) == ["length", "length_2", "digits"]


def test_an_episode_is_forgotten_with_the_next_one():
    rubric = WeightedSum({"won": EpisodeRubric(lambda steps: float(len(steps)))})
    for _ in range(2):
        rubric.reset()
        assert [rubric(step) for step in STEPS][-1] == len(STEPS)


def test_a_subclass_scores_an_episode_and_one_that_cannot_is_refused():
    class Last(EpisodeRubric):
        def score_episode(self, transitions):
            return transitions[-1].reward

    rubric = Last(intermediate=-0.1)
    assert rubric.step_rewards() == []
    assert [rubric(one) for one in (Transition(0, 0), Transition(0, 0, 1.0, truncated=True))] == [-0.1, 1.0]
    assert rubric.step_rewards() == [0.0, 1.0]
    with pytest.raises(InvalidArgument, match="got neither"):
        EpisodeRubric()
    with pytest.raises(InvalidArgument, match="from 0 to 1, got 2"):
        EpisodeRubric(len, discount=2)


def test_an_episode_rubric_of_ones_own_that_leaves_the_score_to_a_function_says_that_there_is_none():
    class Mine(EpisodeRubric):
        def score_episode(self, transitions):
            return super().score_episode(transitions)

    with pytest.raises(InvalidArgument, match="got neither"):
        Mine()(Transition("a", "b", terminated=True))


class Manners(Rubric):
    """As an author of OpenEnv's writes it: what it asks are attributes."""

    def __init__(self):
        self.long = Function(length)
        self._won = EpisodeRubric(lambda steps: float(len(steps)))
        self.more = {"digits": Gate(digits)}
        self.rest = [Function(lambda: 0.5), "no rubric"]

    def score(self, transition):
        asked = (self.long, self._won, self.more["digits"], self.rest[0])
        return sum(one(transition) for one in asked)


def test_attributes_of_a_subclass_are_its_parts_and_begin_each_episode_with_it():
    rubric = WeightedSum({"manners": Manners()})
    for _ in range(2):
        rubric.reset()
        told = [rubric.grade(step) for step in STEPS][-1]
        assert told.scores == {
            "weighted_sum": 0.2 + len(STEPS) + 1.0 + 0.5,
            "weighted_sum.manners": 0.2 + len(STEPS) + 1.0 + 0.5,
            "weighted_sum.manners.long": 0.2,
            "weighted_sum.manners.won": float(len(STEPS)),
            "weighted_sum.manners.more.digits": 1.0,
            "weighted_sum.manners.more.digits.digits": 1.0,
            "weighted_sum.manners.rest.0": 0.5,
        }
        assert told.components == {"manners": told.reward}


@pytest.mark.parametrize("score", [nan, None, "much"])
def test_what_is_no_score_is_an_error_and_no_reward_of_0(score):
    with pytest.raises(ContractViolation, match="rather"):
        Function(lambda: score, name="rather")(STEPS[0])


def test_a_judge_that_says_no_number_is_an_error_unless_told_what_that_means():
    with pytest.raises(EnvError, match="expected an answer with a number, got 'no idea'"):
        Judge("{action}", lambda _: "no idea")(STEPS[0])
    assert Judge("{action}", lambda _: "no idea", default=0.25)(STEPS[0]) == 0.25
    assert (
        Judge(lambda one: one.action, lambda text: f"<s>{len(text)}</s> 9", pattern="<s>(.*)</s>", bounds=(0, 4))(
            STEPS[2]
        )
        == 4
    )
    assert Judge("{action}", lambda _: "-3", bounds=None)(STEPS[0]) == -3.0


def test_mistakes_are_told_where_they_are_made():
    with pytest.raises(InvalidArgument, match="got one of reply"):
        Function(lambda reply: 1.0)
    with pytest.raises(InvalidArgument, match="expected one for each of length, got long"):
        WeightedSum([length], {"long": 1.0})
    with pytest.raises(InvalidArgument, match="expected 1, one for each rubric, got 2"):
        WeightedSum([length], [1.0, 2.0])
    with pytest.raises(InvalidArgument, match="threshold: expected a finite number"):
        Gate(length, nan)
    with pytest.raises(InvalidType, match="expected a Rubric or a function, got 3"):
        Gate(3)
    assert issubclass(Judge, Rubric)


EPISODE = [Transition("a", 0), Transition("b", 0), Transition("c", 0, 1.0, terminated=True)]


def told_of(rubric):
    """What is told with the last step of an episode."""
    return [rubric.grade(one) for one in EPISODE][-1].info.get("step_rewards")


def test_what_each_step_deserves_is_told_wherever_the_episodes_rubric_stands():
    def won():
        return EpisodeRubric(lambda steps: steps[-1].reward, discount=0.5)

    assert told_of(won()) == [0.25, 0.5, 1.0]
    assert told_of(WeightedSum({"won": won(), "long": length}, {"won": 2.0, "long": 1.0})) == [0.5, 1.0, 2.0]
    assert told_of(WeightedSum([won(), WeightedSum([won()])])) == [0.25, 0.5, 1.0]
    assert told_of(Sequential(length, won())) == [0.25, 0.5, 1.0]
    assert told_of(Gate(won())) == [0.25, 0.5, 1.0]
    assert told_of(Gate(won(), threshold=2.0)) == [0.0, 0.0, 0.0]
    assert told_of(Sequential(lambda: 0.0, won())) is None
    assert told_of(WeightedSum([length])) is None


@pytest.mark.parametrize("prompt", ['Answer {"score": 0.5} for {action}', "{verdict}", "half a { brace", "{0}"])
def test_a_prompt_with_other_fields_is_refused_when_the_judge_is_made(prompt):
    with pytest.raises(InvalidArgument, match=r"write \{\{ and \}\} for braces"):
        Judge(prompt, lambda _: "1")


def test_copies_of_a_judge_ask_the_same_client():
    class Client:
        def __init__(self):
            self.lock, self.asked = Lock(), []

        def complete(self, prompt):
            self.asked.append(prompt)
            return "1"

    client = Client()
    judge = Judge('{{"score": 1}} {action} {observation!r}', client.complete)
    assert deepcopy(WeightedSum([judge]))(Transition("a", "b")) == 1.0
    assert client.asked == ["{\"score\": 1} a 'b'"]


# --- scores that are awaited ---


class Slow(Rubric):
    """Gives its score once it is awaited, and may wait for others to be asked."""

    def __init__(self, value, others=None):
        self.value, self.others = value, others

    async def score(self, transition):
        if self.others is not None:
            self.others.append(len(self.others))
            while len(self.others) < 2:
                await asyncio.sleep(0)
        await asyncio.sleep(0)
        if isinstance(self.value, Exception):
            raise self.value
        return self.value * transition.reward


class Asking(Rubric):
    """Asks its part as a coroutine does."""

    def __init__(self, part):
        self.part = part

    async def score(self, transition):
        return 1.0 - await self.part.ask(transition)


ASKED = []
PLAIN = Transition("a", "b", reward=0.5)


@pytest.mark.parametrize(
    ("make", "expected"),
    [
        (lambda slow: slow(0.8), 0.4),
        (lambda slow: Gate(slow(0.8), threshold=0.4), 0.4),
        (lambda slow: Gate(slow(0.8), threshold=0.5), 0.0),
        (lambda slow: WeightedSum({"a": slow(0.8), "b": lambda reward: reward}, {"a": 2.0, "b": -1.0}), 0.3),
        (lambda slow: Sequential(lambda: 1.0, slow(0.8), lambda: 0.25), 0.25),
        (lambda slow: Sequential(slow(0.0), lambda: ASKED.append("asked") or 1.0), 0.0),
    ],
)
def test_scores_that_are_awaited_combine_as_those_that_are_not(make, expected):
    told = []
    for part in (Slow, at_once):
        with closing(make(part)) as rubric:
            graded = rubric.grade(PLAIN)
            assert graded.reward == rubric(PLAIN) == pytest.approx(expected)
            told.append((graded.scores, graded.components))
    assert told[0] == told[1]
    assert ASKED == []


def at_once(value):
    return Function(lambda reward: value * reward, name="slow")


def test_what_is_awaited_is_asked_however_deep():
    with closing(WeightedSum([Gate(Slow(1.0), 0.1), Sequential(Slow(1.0), Slow(0.5)), Asking(Slow(1.0))])) as rubric:
        assert rubric(PLAIN) == pytest.approx(1.25 / 3)
        assert rubric.grade(PLAIN).scores["weighted_sum.asking.part"] == 0.5


def test_parts_of_a_sum_are_asked_side_by_side():
    others = []
    with closing(WeightedSum([Slow(1.0, others), Slow(1.0, others)])) as rubric:
        assert rubric(PLAIN) == 0.5
    assert len(others) == 2


def test_what_one_part_raises_is_raised_and_nobody_waits_for_the_others():
    never = Judge("{action}", lambda prompt: asyncio.Event().wait())
    with (
        closing(WeightedSum([never, Slow(ValueError("no score"))])) as rubric,
        pytest.raises(ValueError, match="no score"),
    ):
        rubric(PLAIN)
    with closing(WeightedSum([Slow(1.0), lambda: 1 / 0])) as rubric, pytest.raises(ZeroDivisionError):
        rubric(PLAIN)


def test_a_wrong_score_is_one_when_it_is_awaited_too():
    with closing(Slow(float("nan"))) as rubric, pytest.raises(ContractViolation, match="expected a finite score"):
        rubric(PLAIN)


def test_lanes_have_a_copy_of_what_is_awaited():
    class Awaited(Rubric):
        async def score(self, transition):
            return float(transition.action)

    first = Awaited()
    assert first(Transition(1.0, None)) == 1.0  # its loop runs
    envs = RubricReward(ludus.make_vec("CartPole-v1", num_envs=2), first)
    envs.reset(seed=0)
    assert envs.step([0, 1]).reward.tolist() == [0.0, 1.0]
    envs.close()
    first.close()
