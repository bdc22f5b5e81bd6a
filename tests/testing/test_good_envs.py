"""Environments that keep the contract have no findings, in whichever way they are given."""

import tempfile
from pathlib import Path

import numpy as np
import pytest

import ludus
from ludus.core import Outcome, from_legacy
from ludus.envs.teaching import Bandit, GridWorld
from ludus.spaces import Box, Dict, Discrete, MultiBinary, Text
from ludus.testing import ENV_RULES, check_env, subject
from ludus.testing.rule import Examination
from ludus.tools import ToolEnv, tool
from ludus.vector import SerialVectorEnv
from ludus.wrappers import TimeLimit
from tests.testing.broken import HoldsALock, Walk

TWENTY_FIVE_LINES = '''
import ludus
from ludus.spaces import Box, Discrete


class Thermostat(ludus.Env):
    """Keep a room near 20 degrees."""

    def __init__(self, draught=0.5):
        self.draught = draught
        self.observation_space = Box(-50, 100, dtype="float64")
        self.action_space = Discrete(2)

    def reset(self, *, seed=None, options=None):
        super().reset(seed=seed)
        self.degrees = self.np_random.uniform(10, 30, 1)
        return self.degrees.copy(), {}

    def step(self, action):
        self.degrees = self.degrees + (1 if action else -1) + self.np_random.normal(0, self.draught, 1)
        comfort = -abs(float(self.degrees[0]) - 20)
        return ludus.Step(self.degrees.copy(), comfort, abs(comfort) > 20, False, {})
'''


def test_a_new_environment_of_25_lines_registers_makes_steps_and_passes():
    assert len(TWENTY_FIVE_LINES.strip().splitlines()) <= 25
    module = {"__name__": "thermostat"}
    exec(TWENTY_FIVE_LINES, module)
    ludus.register("Thermostat-v0", module["Thermostat"], max_episode_steps=50)
    try:
        env = ludus.make("Thermostat-v0", draught=0.1)
        env.reset(seed=0)
        assert env.step(1).reward <= 0
        for target in ("Thermostat-v0", env, module["Thermostat"]):
            report = check_env(target)
            assert report.findings == (), str(report)
            assert report.not_checked == {}, str(report)
    finally:
        del ludus.registry.registry["Thermostat-v0"]


@pytest.mark.parametrize("steps", [20, pytest.param(100, marks=pytest.mark.full)])
@pytest.mark.parametrize("env", [GridWorld, Bandit])
def test_the_teaching_environments_pass(env, steps):
    report = check_env(env, steps=steps)
    assert report.findings == (), str(report)
    # What draws has a mode that opens a window, which is not checked.
    assert report.not_checked.keys() <= {"render-gives-what-its-mode-says"}


@pytest.mark.parametrize("mode", ["NextStep", "SameStep", "Disabled"])
def test_a_batch_keeps_the_same_contract(mode):
    report = check_env(lambda: SerialVectorEnv([GridWorld] * 3, autoreset_mode=mode))
    assert report.findings == (), str(report)


def test_a_batch_with_wrong_rewards_and_flags_is_told_their_shape():
    class Wrong(SerialVectorEnv):
        def step(self, action):
            step = super().step(action)
            return step._replace(reward=step.reward[:1], terminated=step.terminated.astype(int))

    report = check_env(lambda: Wrong([GridWorld] * 3))
    assert {one.rule: one.message for one in report.findings} == {
        "flags-are-bool": "step 1 terminated: expected a bool array of shape (3,), got array([0, 0, 0]) (ndarray)",
        "rewards-are-numbers": "step 1 reward: expected a float array of shape (3,), got array([0.]) (ndarray)",
    }


class Foraging(ludus.Env):
    """Nested observations, text, masks in info, truncation."""

    def __init__(self):
        self.observation_space = Dict(
            seen=Box(0, 255, (8, 8, 3), np.uint8), inner=Dict(hungry=MultiBinary(2), said=Text(4, min_length=0))
        )
        self.action_space = Discrete(4)

    def observe(self):
        seen = self.np_random.integers(0, 256, (8, 8, 3), dtype=np.uint8)
        return {"seen": seen, "inner": {"hungry": np.array([0, 1], np.int8), "said": "ab"[: self.time % 3]}}

    def reset(self, *, seed=None, options=None):
        super().reset(seed=seed)
        self.time = 0
        return self.observe(), {"action_mask": np.array([1, 1, 0, 1], np.int8)}

    def step(self, action):
        if action == 2:
            raise ludus.errors.InvalidAction("action: expected 0, 1 or 3, got 2")
        self.time += 1
        mask = np.array([1, 1, 0, 1], np.int8)
        return ludus.Step(self.observe(), 0.5, False, self.time == 30, {"action_mask": mask})


def test_nested_observations_and_masked_actions_are_understood():
    report = check_env(Foraging)
    assert report.findings == (), str(report)


def test_an_environment_without_randomness_is_not_blamed_for_it():
    class Counter(ludus.Env):
        observation_space, action_space = Discrete(1000), Discrete(2)

        def reset(self, *, seed=None, options=None):
            super().reset(seed=seed)
            self.count = 0
            return self.count, {}

        def step(self, action):
            self.count += int(action)
            return ludus.Step.transition(self.count)

    assert check_env(Counter).findings == ()


def test_draws_that_never_show_are_a_warning():
    class Hidden(ludus.Env):
        observation_space, action_space = Discrete(1), Discrete(2)

        def reset(self, *, seed=None, options=None):
            super().reset(seed=seed)
            self.secret = self.np_random.random()
            return 0, {}

        def step(self, action):
            return ludus.Step.transition(0, float(self.secret > 2))

    [finding] = check_env(Hidden).findings
    assert (finding.level, finding.rule) == ("warning", "another-seed-another-history")
    assert "although np_random was drawn from" in finding.message
    assert "check with more steps" in finding.fix


def test_an_environment_of_the_old_api_passes_through_the_legacy_api():
    class Old:
        metadata = {"render.modes": []}
        observation_space, action_space = Discrete(1000), Discrete(2)

        def seed(self, seed):
            self.rng = np.random.default_rng(seed)

        def reset(self):
            self.rng = getattr(self, "rng", None) or np.random.default_rng()
            self.count = 0
            return int(self.rng.integers(1000))

        def step(self, action):
            self.count += 1
            return int(self.rng.integers(1000)), 0.0, self.count == 10, {}

    report = check_env(lambda: from_legacy(Old()))
    assert report.errors == (), str(report)


def test_one_instance_is_checked_as_far_as_one_goes_and_left_open():
    class Door(Walk):
        closed = False

        def close(self):
            self.closed = True

    env = Door()
    report = check_env(env)
    assert report.findings == ()
    assert not env.closed
    assert set(report.not_checked) == {
        "step-before-reset-fails",
        "spaces-stay-equal",
        "fresh-instance-same-history",
        "instances-are-independent",
        "snapshot-fits-a-fresh-instance",
        "close-runs",
        "close-twice-is-harmless",
        "render-gives-what-its-mode-says",
        "rendering-changes-nothing",
    }
    assert report.not_checked["close-runs"] == (
        "only one instance was given: pass the class, a function that makes it, or its id"
    )


def test_one_instance_with_a_render_mode_is_rendered():
    report = check_env(Walk(render_mode="rgb_array"))
    assert "rendering-changes-nothing" in report.rules


def test_an_instance_that_its_spec_can_make_again_is_checked_in_full():
    report = check_env(ludus.make("GridWorld-v0"))
    assert (report.name, report.findings, report.not_checked) == ("GridWorld-v0", (), {})


def test_an_instance_that_its_spec_cannot_make_again_is_checked_alone():
    class Local(TimeLimit):
        """Cannot be found by name."""

    report = check_env(Local(ludus.make("GridWorld-v0"), 7))
    assert report.findings == (), str(report)
    assert "close-runs" in report.not_checked


def test_an_id_is_checked_as_make_gives_it_and_a_class_as_it_is():
    ludus.register("Hasty-v0", "tests.testing.test_good_envs:Hasty", max_episode_steps=20)
    try:
        assert check_env("Hasty-v0").findings == ()
        [finding] = check_env("tests.testing.test_good_envs:Hasty").findings
        assert finding.rule == "step-before-reset-fails"
    finally:
        del ludus.registry.registry["Hasty-v0"]


class Hasty(Walk):
    def __init__(self, render_mode=None):
        super().__init__(render_mode)
        self.state, self.steps = np.zeros(2), 0


def test_a_nondeterministic_spec_is_not_asked_for_equal_histories():
    class Radio(Walk):
        def step(self, action):
            return super().step(action)._replace(info={"noise": float(np.random.default_rng().random())})

    ludus.register("Radio-v0", Radio, nondeterministic=True)
    try:
        report = check_env("Radio-v0")
        assert report.findings == (), str(report)
        assert report.not_checked["same-seed-same-history"] == "its spec declares it nondeterministic"
        assert report.not_checked["snapshot-is-exact"] == "its spec declares it nondeterministic"
    finally:
        del ludus.registry.registry["Radio-v0"]


def test_human_rendering_is_not_checked_and_the_report_says_so():
    class Window(Walk):
        metadata = {"render_modes": ["human", "rgb_array"]}

    report = check_env(Window)
    assert report.findings == ()
    assert report.not_checked == {"render-gives-what-its-mode-says": "the render mode human opens a window"}
    assert "render-gives-what-its-mode-says" in report.rules


def test_a_package_that_rendering_lacks_is_no_finding():
    class Pretty(Walk):
        metadata = {"render_modes": ["rgb_array"]}

        def render(self):
            raise ImportError("No module named 'pygame'")

    report = check_env(Pretty)
    assert report.findings == ()
    assert "needs a package: No module named 'pygame'" in report.not_checked["render-gives-what-its-mode-says"]


def test_a_lock_that_is_no_state_is_named_and_then_fine():
    class Locked(HoldsALock):
        snapshot_shared = ("lock",)

    assert check_env(Locked).findings == ()


@pytest.mark.parametrize("target", [3, None, [Walk]])
def test_what_cannot_be_an_environment_is_refused(target):
    with pytest.raises(ludus.errors.InvalidType, match="check_env: expected an environment, its class, a function"):
        check_env(target)


@pytest.mark.parametrize("target", ["NoSuch-v0", "no_such_module:Env", "ludus.envs.teaching.grid_world:Nothing"])
def test_a_name_that_leads_nowhere_is_an_error_of_the_registry(target):
    with pytest.raises(ludus.errors.RegistryError):
        check_env(target)


def test_histories_of_slow_environments_are_shorter_unless_all_is_asked_for(monkeypatch):
    monkeypatch.setattr(subject, "MAX_HISTORY_S", -1.0)
    for full, steps in ((False, 10), (True, 30)):
        checked = subject.Subject(GridWorld, steps=30, full=full)
        assert sum(event.label.startswith("step") for event in checked.history) == steps == checked.steps
    report = check_env(GridWorld, steps=30)
    assert report.ok
    assert [note for note in report.notes.values() if "histories have 10 of them, not 30" in note]


def test_rules_that_the_time_of_a_check_does_not_reach_are_named():
    report = check_env(GridWorld, seconds=0)
    assert (report.rules, report.findings) == ((), ())
    [reason] = report.reasons()
    assert reason.startswith("the 0 seconds of this check were over; --seconds allows more")
    assert len(report.not_checked) == len(ENV_RULES)


def test_a_history_is_played_once_for_all_that_only_look_at_it():
    resets = []

    class Counted(Walk):
        def reset(self, *, seed=None, options=None):
            resets.append(seed)
            return super().reset(seed=seed)

    examined = Examination(ENV_RULES, subject.Subject(Counted, steps=4))
    rules = {rule.name: rule for rule in ENV_RULES}
    assert examined.outcome(rules["episodes-run"]).passed
    before = len(resets)
    for name in ("flags-are-bool", "observations-in-space", "infos-are-the-callers", "actions-are-the-callers"):
        assert examined.outcome(rules[name]).passed
    assert len(resets) == before


def test_episodes_of_trivial_agents_are_fewer_where_they_are_slow(monkeypatch):
    monkeypatch.setattr(subject, "MAX_HISTORY_S", -1.0)

    class Hopeless(Walk):
        def step(self, action):
            step = super().step(action)
            return ludus.Step.ending(step.observation, Outcome.FAILURE, 0.0, {})

    rules = {rule.name: rule for rule in ENV_RULES}
    found = Examination(ENV_RULES, subject.Subject(Hopeless)).outcome(rules["trivial-agents-do-not-succeed"])
    told = "episodes are slow: not 8 of each trivial agent, but nop 3, random 3, wrong_format 3; --full has all"
    assert (found.findings, found.notes) == ((), (told,))


def test_files_of_an_episode_under_way_are_no_finding_if_close_removes_them(tmp_path):
    class Workshop(Walk):
        folder = None

        def reset(self, *, seed=None, options=None):
            self.close()
            self.folder = Path(tempfile.mkdtemp(dir=tmp_path))
            return super().reset(seed=seed)

        def close(self):
            if self.folder is not None:
                self.folder.rmdir()
            self.folder = None

    class Careless(Workshop):
        def close(self):
            self.folder = None

    rules = {rule.name: rule for rule in ENV_RULES}
    law = rules["episodes-leave-nothing-behind"]
    assert Examination(ENV_RULES, subject.Subject(Workshop, steps=4)).outcome(law).passed
    when = [one.message for one in Examination(ENV_RULES, subject.Subject(Careless, steps=4)).outcome(law).findings]
    assert [one.partition(":")[0] for one in when] == ["after an episode", "after close"]


def test_arguments_of_tools_need_no_bounds():
    class Desk(ToolEnv):
        @tool
        def add(self, number: float) -> float:
            """Add one.

            Args:
                number: To what.
            """
            return number + 1

    assert [one.message for one in check_env(Desk, steps=4).findings if one.rule == "boxes-make-sense"] == []
