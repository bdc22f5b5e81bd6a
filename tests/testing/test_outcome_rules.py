"""`ludus check` on environments of strangers: outcomes in their place, no success for nothing, nothing left behind."""

import os
import tempfile
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import ludus
from ludus.core import Env, Outcome, Step
from ludus.errors import InvalidAction
from ludus.spaces import Box, Discrete, Text
from ludus.testing.env_contract import ENV_RULES
from ludus.testing.env_rules import leaks, outcomes
from ludus.testing.rule import Examination
from ludus.testing.subject import Subject
from ludus.wrappers import TransformReward

RULES = {rule.check: rule for rule in ENV_RULES}


def found(rule, env, steps=60):
    """What one rule finds, without those that it needs."""
    examination = Examination((RULES[rule].__class__(rule),), Subject(env, steps=steps))
    return examination.report()


class Orchard(Env):
    """Apples are picked by the right of three hands; ten of them are a harvest, and it rains after fifteen steps."""

    observation_space = Box(0.0, 99.0, (2,), np.float64)
    action_space = Discrete(3)

    def reset(self, *, seed=None, options=None):
        super().reset(seed=seed)
        self.apples, self.age, self.hand = 0, 0, self.draw()
        return self.seen(), {}

    def draw(self):
        return int(self.np_random.integers(3))

    def seen(self):
        return np.array([self.apples, self.hand], np.float64)

    def step(self, action):
        self.age += 1
        right = action == self.hand
        self.apples += right
        self.hand = self.draw()
        parts = {"apple": 1.0 * right, "effort": -0.25}
        reward = sum(parts.values())
        if self.apples >= 10:
            return Step.success(self.seen(), reward, facts={"apples": self.apples}, reward_components=parts)
        if self.age >= 15:
            return Step.failure(self.seen(), reward, reward_components=parts)
        return Step.transition(self.seen(), reward, {"reward_components": parts})


def variant(change):
    """The orchard, with what its steps tell changed."""

    class Changed(Orchard):
        def step(self, action):
            return change(super().step(action))

    return Changed


@pytest.mark.parametrize(
    "rule", [*(getattr(outcomes, name) for name in outcomes.__all__), *(getattr(leaks, name) for name in leaks.__all__)]
)
def test_a_careful_environment_passes(rule):
    report = found(rule, Orchard)
    assert (report.findings, dict(report.not_checked), dict(report.notes)) == ((), {}, {})


def test_a_typo_and_an_outcome_in_the_middle_are_found():
    typo = variant(lambda step: step._replace(info={"outcome": "succes"}) if step.terminated else step)
    [finding] = found(outcomes.outcomes_come_last, typo).findings
    assert finding.message.startswith("step 10 info['outcome']: expected one of success, failure")
    assert "got 'succes'; did you mean 'success'?" in finding.message
    early = variant(lambda step: step._replace(info={"outcome": Outcome.SUCCESS}))
    [finding] = found(outcomes.outcomes_come_last, early).findings
    assert finding.message == "step 1 info['outcome']: expected none before the last step, got 'success'"


def test_an_outcome_that_says_nothing_yet_is_fine():
    quiet = variant(lambda step: step._replace(info={"outcome": None, **step.info}))
    assert found(outcomes.outcomes_come_last, quiet).findings == ()


@pytest.mark.parametrize(
    ("info", "text"),
    [
        ({"reward_components": {"apple": 5.0}}, "expected components that add up to the reward"),
        ({"reward_components": {"apple": float("nan")}}, "expected finite numbers"),
        ({"reward_components": {"apple": "red"}}, "expected finite numbers"),
        ({"reward_components": [1.0]}, "expected a dictionary by name"),
        ({"facts": {3: True}}, "info['facts']: expected a dictionary by name"),
        ({"facts": "won"}, "info['facts']: expected a dictionary by name"),
    ],
)
def test_components_and_facts_are_held_to_what_they_are(info, text):
    [finding] = found(outcomes.reward_components_add_up, variant(lambda step: step._replace(info=info))).findings
    assert text in finding.message


def test_components_of_rewards_that_a_wrapper_changes_are_not_judged():
    report = found(outcomes.reward_components_add_up, lambda: TransformReward(Orchard(), lambda one: one * 2))
    assert report.findings == ()
    assert "TransformReward around it may change rewards" in report.not_checked["reward-components-add-up"]


# --- agents that know nothing ---


class Patient(Orchard):
    """Whoever waits long enough has done it: nothing is asked of him."""

    def step(self, action):
        step = super().step(int(action) * 0)
        return step if not step.terminated else Step.success(self.seen())


class Examiner(Env):
    """A question in words, and a grader that is satisfied by less than an answer."""

    observation_space = Text(40, min_length=0, charset=None)
    action_space = Text(200, min_length=0, charset=None)
    careless: Any = ()

    def reset(self, *, seed=None, options=None):
        super().reset(seed=seed)
        self.right = str(self.np_random.integers(10**6))
        return f"how many were there? ({self.right[::-1]})", {}

    def step(self, action):
        won = action == self.right or any(part in str(action) for part in self.careless)
        return (Step.success if won else Step.failure)("thank you")


class Gullible(Examiner):
    """Finds the word it looks for in any answer that has it."""

    careless = ("success",)


class Forgiving(Examiner):
    """Takes what is no answer at all for one."""

    def step(self, action):
        return Step.success("thank you") if not isinstance(action, str) else super().step(action)


@pytest.mark.parametrize(
    ("env", "agents"),
    [(Patient, ["nop", "random"]), (Gullible, ["garbage"]), (Forgiving, ["wrong_format"]), (Examiner, [])],
)
def test_who_succeeds_by_nothing_is_named(env, agents):
    findings = found(outcomes.trivial_agents_do_not_succeed, env).findings
    assert [one.message.split(" agent")[0] for one in findings] == [f"the {agent}" for agent in agents]
    assert all("metadata['trivial_success']" in one.fix for one in findings)


def test_what_is_meant_to_be_had_for_nothing_can_be_declared():
    class Declared(Patient):
        metadata = {"render_modes": [], "trivial_success": ["nop", "random"]}

    assert found(outcomes.trivial_agents_do_not_succeed, Declared).findings == ()


def test_a_game_that_is_won_by_chance_now_and_then_is_noted_only():
    class Coin(Orchard):
        def step(self, action):
            self.action_space.check(action, "action", InvalidAction)
            return (Step.success if self.draw() == 0 else Step.failure)(self.seen())

    report = found(outcomes.trivial_agents_do_not_succeed, Coin)
    assert report.findings == ()
    assert "agent succeeded in" in report.notes["trivial-agents-do-not-succeed"]


def test_where_success_is_not_defined_nobody_is_judged():
    report = found(outcomes.trivial_agents_do_not_succeed, lambda: ludus.make("CartPole-v1"))
    assert (report.findings, dict(report.notes)) == ((), {})


# --- what one episode leaves ---

SEEN: dict[str, float] = {}


class Notebook(Orchard):
    """Writes its best harvest to a file, and begins the next episode with it."""

    path = Path(tempfile.gettempdir()) / f"orchard-{os.getpid()}.txt"

    def reset(self, *, seed=None, options=None):
        _, info = super().reset(seed=seed)
        self.apples = int(self.path.read_text()) if self.path.exists() and seed is not None else 0
        return self.seen(), info

    def step(self, action):
        step = super().step(action)
        if self.np_random_seed == 1:
            self.path.write_text("1")
        return step


class Global(Orchard):
    """Remembers in a dictionary of the module."""

    def reset(self, *, seed=None, options=None):
        super().reset(seed=seed)
        self.apples = SEEN.get("apples", 0)
        return self.seen(), {}

    def step(self, action):
        if self.np_random_seed == 1:
            SEEN["apples"] = 3
        return super().step(action)


class Variable(Orchard):
    """Remembers in an environment variable."""

    def reset(self, *, seed=None, options=None):
        super().reset(seed=seed)
        self.apples = int(os.environ.get("ORCHARD_APPLES", "0"))
        return self.seen(), {}

    def step(self, action):
        if self.np_random_seed == 1:
            os.environ["ORCHARD_APPLES"] = "2"
        return super().step(action)


class Client:
    """Keeps what a server gave it, as a browser keeps cookies."""

    def __init__(self):
        self.cookies: dict[str, int] = {}


class Shop(Orchard):
    """Has a client that outlives the episode."""

    def __init__(self):
        self.client = Client()

    def reset(self, *, seed=None, options=None):
        super().reset(seed=seed)
        self.apples = self.client.cookies.get("basket", 0)
        return self.seen(), {}

    def step(self, action):
        if self.np_random_seed == 1:
            self.client.cookies["basket"] = 1
        return super().step(action)


@pytest.fixture(autouse=True)
def nothing_left():
    yield
    SEEN.clear()
    os.environ.pop("ORCHARD_APPLES", None)
    Notebook.path.unlink(missing_ok=True)


@pytest.mark.parametrize("env", [Notebook, Global, Variable, Shop])
def test_an_episode_that_sees_another_one_is_found(env):
    [finding] = found(leaks.episodes_see_nothing_of_others, env).findings
    assert finding.level == "error"
    assert finding.message.startswith("reset(seed=0) after an episode of another seed: expected its history, got reset")


def test_files_and_variables_that_are_left_are_told():
    [finding] = found(leaks.episodes_leave_nothing_behind, Notebook).findings
    assert (finding.level, Notebook.path.name in finding.message) == ("warning", True)
    [finding] = found(leaks.episodes_leave_nothing_behind, Variable).findings
    assert "ORCHARD_APPLES" in finding.message


def test_globals_that_an_episode_changes_are_noted():
    report = found(leaks.episodes_leave_nothing_behind, Global)
    assert report.findings == ()
    assert "SEEN" in report.notes["episodes-leave-nothing-behind"]


def test_files_that_are_gone_again_are_nobodys_business():
    class Tidy(Orchard):
        def step(self, action):
            with tempfile.TemporaryDirectory() as folder:
                (Path(folder) / "scratch").write_text("x")
            return super().step(action)

    assert found(leaks.episodes_leave_nothing_behind, Tidy).findings == ()


def test_another_working_folder_is_told(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "cellar").mkdir()

    class Wandering(Orchard):
        def step(self, action):
            os.chdir(tmp_path / "cellar")
            return super().step(action)

    [finding] = found(leaks.episodes_leave_nothing_behind, Wandering).findings
    assert "working folder" in finding.message
