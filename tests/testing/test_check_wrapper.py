"""The contract of wrappers: the built-in ones keep it, broken ones are told."""

import pytest

import ludus
from ludus.envs.teaching import GridWorld
from ludus.testing import WRAPPER_RULES, WrapperContract, check_wrapper
from ludus.wrappers import OrderEnforcing, PassiveEnvChecker, TimeLimit

GOOD = {
    "order-enforcing": lambda: OrderEnforcing(GridWorld()),
    "passive-checker": lambda: PassiveEnvChecker(GridWorld()),
    "time-limit": lambda: TimeLimit(GridWorld(), max_episode_steps=10),
    "made": lambda: ludus.make("GridWorld-v0"),
    "made-with-another-limit": lambda: ludus.make("GridWorld-v0", max_episode_steps=7),
    "stack": lambda: TimeLimit(OrderEnforcing(GridWorld()), 10),
}


@pytest.mark.parametrize("name", GOOD)
def test_built_in_wrappers_keep_the_contract(name):
    report = check_wrapper(GOOD[name])
    assert report.findings == (), str(report)


class TestTimeLimit(WrapperContract):
    make = lambda: TimeLimit(ludus.make("GridWorld-v0", max_episode_steps=-1), 10)  # noqa: E731


class NoisyReward(ludus.Wrapper):
    """Draws from the environment's own stream."""

    def step(self, action):
        step = self.env.step(action)
        return step._replace(reward=step.reward + float(self.np_random.random()))


class OwnStream(ludus.Wrapper):
    def step(self, action):
        step = self.env.step(action)
        return step._replace(reward=step.reward + float(self.stream("reward").random()))


class DropsTheSeed(ludus.Wrapper):
    def reset(self, *, seed=None, options=None):
        return self.env.reset(options=options)


class KeepsItOpen(ludus.Wrapper):
    def close(self):
        pass


class Unnamed(ludus.Wrapper):
    def __init__(self, env, *factors):
        super().__init__(env)
        self.factors = factors


class Unwrapped(ludus.Wrapper):
    def __init__(self, env):
        self._hidden = env


BROKEN = {
    NoisyReward: ("bottom-stream-untouched", "expected it where the bare environment leaves it", "self.stream("),
    DropsTheSeed: (
        "reset-seeds-np-random",
        "np_random_seed after reset(seed=0): expected 0",
        "super().reset(seed=seed)",
    ),
    KeepsItOpen: ("close-reaches-the-bottom", "expected the environment at the bottom to be closed", "super().close()"),
}


@pytest.mark.parametrize("wrapper", BROKEN, ids=[wrapper.__name__ for wrapper in BROKEN])
def test_a_broken_wrapper_gets_the_finding_of_its_rule_and_no_other(wrapper):
    rule, message, fix = BROKEN[wrapper]
    report = check_wrapper(lambda: wrapper(GridWorld()))
    assert [one.rule for one in report.findings] == [rule], str(report)
    assert message in report.findings[0].message
    assert fix in report.findings[0].fix


def test_arguments_without_names_cannot_be_recorded():
    report = check_wrapper(lambda: Unnamed(GridWorld(), 1, 2))
    assert [one.rule for one in report.findings] == ["arguments-make-it-again"], str(report)
    assert "only arguments with names can be recorded" in report.findings[0].fix


def test_a_wrapper_that_draws_from_a_stream_of_its_own_passes():
    assert check_wrapper(lambda: OwnStream(GridWorld())).findings == ()


def test_what_is_no_wrapper_is_told():
    report = check_wrapper(GridWorld)
    assert [one.rule for one in report.findings] == ["is-a-wrapper"]
    assert report.not_checked["close-reaches-the-bottom"] == "is-a-wrapper has to hold first"


def test_there_is_one_test_for_each_rule():
    names = {name for name in dir(WrapperContract) if name.startswith("test_")}
    assert names == {f"test_{rule.name.replace('-', '_')}" for rule in WRAPPER_RULES}
