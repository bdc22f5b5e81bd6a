"""Environments that break one rule get that rule's finding, with its fix, and no other."""

import numpy as np
import pytest

from ludus.testing import check_env
from tests.testing import broken

# environment: level, rule, part of the message, part of the fix
CASES = {
    broken.NeedsAnArgument: ("error", "makes-an-env", "missing 1 required positional argument: 'size'", "a default"),
    broken.NotAnEnv: ("error", "makes-an-env", "expected a ludus.Env, got <tests.testing.broken.NotAnEnv", "ludus.Env"),
    broken.ResetWithoutSeed: (
        "error",
        "reset-takes-seed-and-options",
        "reset: expected the keywords seed and options, got no seed and no options",
        "def reset(self, *, seed=None, options=None)",
    ),
    broken.ResetWithoutInfo: (
        "error",
        "reset-returns-a-pair",
        "reset(seed=0): expected a pair (observation, info dictionary), got array([0.6369617 , 0.26978672]",
        "return observation, {}",
    ),
    broken.ResetRaises: (
        "error",
        "reset-returns-a-pair",
        "RuntimeError: no level today (broken.py:",
        "let reset run to its end",
    ),
    broken.FourValues: (
        "error",
        "step-returns-five",
        "step 1: expected five values (observation, reward, terminated, truncated, info), got a tuple of 4",
        "ludus.core.from_legacy",
    ),
    broken.InfoIsNone: ("error", "step-returns-five", "step 1 info: expected a dictionary, got None", "return Step("),
    broken.StepRefusesAnAction: (
        "error",
        "step-returns-five",
        "ValueError: 2 is not a move (broken.py:",
        "every action of action_space",
    ),
    broken.StepRaisesLater: (
        "error",
        "episodes-run",
        "step 6 with action np.int64(0) raised ZeroDivisionError: division by zero (broken.py:",
        "let every step run to its end",
    ),
    broken.StepsWithoutReset: (
        "error",
        "step-before-reset-fails",
        "step before reset: expected an exception, got Step(",
        "raise ludus.errors.ResetNeeded from step until reset was called",
    ),
    broken.FlagsAreIntegers: (
        "error",
        "flags-are-bool",
        "step 1 terminated: expected a bool, got 0 (int)",
        "return `bool(terminated)`",
    ),
    broken.CrashesOnOptions: (
        "warning",
        "options-are-handled",
        "reset(options={}): expected an episode, got KeyError: 'level'",
        "(options or {}).get(name)",
    ),
    broken.RenderModesAsText: (
        "error",
        "metadata-lists-render-modes",
        """metadata["render_modes"]: expected a list of names, got 'rgb_array'""",
        'metadata = {"render_modes"',
    ),
    broken.SpecIsText: (
        "error",
        "spec-is-an-env-spec",
        "expected a ludus EnvSpec or None, got 'Walk-v0'",
        "ludus.make",
    ),
    broken.SpaceIsMissing: (
        "error",
        "spaces-are-spaces",
        "observation_space: expected a ludus Space, got none",
        "set `self.observation_space`",
    ),
    broken.SpaceChanges: (
        "error",
        "spaces-stay-equal",
        "observation_space after reset: expected Box(0.0, 1.0, (2,), float32) as before, got Box(0.0, 2.0",
        "in __init__",
    ),
    broken.ObservationOutside: (
        "error",
        "observations-in-space",
        "reset(seed=0) observation[0]: expected 0.0 to 1.0, got 2.636961",
        "widen the bounds of observation_space, or clip",
    ),
    broken.ObservationOfWrongDtype: (
        "error",
        "observations-in-space",
        "reset(seed=0) observation: expected dtype float32 or one that casts to it safely, got dtype float64",
        "cast it: `observation.astype(np.float32)`",
    ),
    broken.ObservationOfWrongShape: (
        "error",
        "observations-in-space",
        "observation: expected shape (2,), got shape (1,)",
        "return an array of shape (2,), or give the space the shape (1,)",
    ),
    broken.ObservationNarrower: (
        "warning",
        "observations-have-the-dtype",
        "reset(seed=0) observation: expected an array of dtype float64, got dtype float32",
        "dtype=np.float64",
    ),
    broken.UnboundedActions: (
        "warning",
        "boxes-make-sense",
        "action_space: expected finite bounds, got Box(-inf, inf, (1,), float32)",
        "bound the actions",
    ),
    broken.RewardIsAnArray: (
        "error",
        "rewards-are-numbers",
        "step 1 reward: expected an int or float, got array([",
        "return `float(reward)`",
    ),
    broken.RewardIsNone: (
        "error",
        "rewards-are-numbers",
        "step 1 reward: expected an int or float, got None (NoneType)",
        "return `float(reward)`",
    ),
    broken.RewardIsNaN: (
        "error",
        "rewards-are-finite",
        "step 3 reward: expected a finite number, got nan",
        "look for a division by zero",
    ),
    broken.SuperResetMissing: (
        "error",
        "reset-seeds-np-random",
        "np_random_seed after reset(seed=0): expected 0, got ",
        "begin reset with `super().reset(seed=seed)`",
    ),
    broken.OwnGenerator: (
        "error",
        "same-seed-same-history",
        "reset(seed=0) twice, same actions: expected the same history, got step 1 observation[0]: ",
        "`self.rng` is a generator that reset(seed=…) does not seed: use self.np_random in its place",
    ),
    broken.StateSurvivesReset: (
        "error",
        "same-seed-same-history",
        'expected the same history, got step 1 info["total"]: 1 first, 101 then',
        "set all state anew in reset",
    ),
    broken.LuckyInstance: (
        "error",
        "fresh-instance-same-history",
        "reset(seed=0) on two instances, same actions: expected the same history, got step 1 reward: ",
        "draw nothing in __init__",
    ),
    broken.ConstantGenerator: (
        "error",
        "another-seed-another-history",
        "the seeds 0 to 4, same actions: expected differing histories, got one and the same",
        "`self.rng` is a generator",
    ),
    broken.AlwaysTheSameEpisode: (
        "error",
        "reset-continues-the-stream",
        "expected new episodes of one stream, got the same start each time",
        "pass the seed on as it came, None included",
    ),
    broken.RefusesNumPySeeds: (
        "error",
        "numpy-seeds-are-accepted",
        "raised TypeError: seed must be an int",
        "`int(seed)` to other libraries",
    ),
    broken.GlobalNumPyRandom: (
        "error",
        "global-random-untouched",
        "expected draws from self.np_random only, got some from the global np.random, on which the history depends",
        "use self.np_random in place of np.random and random",
    ),
    broken.GlobalRandomModule: (
        "error",
        "global-random-untouched",
        "got some from the global random",
        "use self.np_random",
    ),
    broken.DrawsFromActionSpace: (
        "warning",
        "action-space-untouched",
        "expected the samples it would have given before, got others",
        "to the agent",
    ),
    broken.StateInTheClass: (
        "error",
        "instances-are-independent",
        'beside a second instance: expected the history it has alone, got step 2 info["steps"]: 2 first, 3 then',
        "not in the class",
    ),
    broken.ReusedBuffer: (
        "error",
        "observations-are-the-callers",
        "the observation of reset(seed=0): expected it to stay as it was, got observation[0] 0.636",
        "return self.state.copy()",
    ),
    broken.SharedMemory: (
        "error",
        "observations-are-the-callers",
        "the observation of step 1: expected a new array, got observation in the memory of that of reset(seed=0)",
        "return a copy",
    ),
    broken.StateGivenAway: (
        "error",
        "observations-are-the-callers",
        "writing into the observation it returned: expected no effect on the environment, got step 1 observation[0]",
        "return a copy",
    ),
    broken.ReusedInfo: (
        "error",
        "infos-are-the-callers",
        'the info of reset(seed=0): expected it to stay as it was, got info["steps"] 0 when returned, 17 later',
        "new dictionary each time",
    ),
    broken.ArrayInInfo: (
        "warning",
        "infos-are-the-callers",
        'the info of step 2: expected a new array, got info["goal"] in the memory',
        "copies of the arrays",
    ),
    broken.HoldsALock: (
        "warning",
        "snapshot-can-be-taken",
        "expected attributes that can be copied, got HoldsALock.lock = <unlocked",
        "snapshot_shared",
    ),
    broken.HoldsAFunctionOfItsOwn: (
        "warning",
        "snapshot-can-be-pickled",
        "pickle.dumps(snapshot()): expected the bytes of a pickle, got AttributeError: Can't pickle local object",
        "at the top of a module",
    ),
    broken.SharesItsEngine: (
        "error",
        "snapshot-is-exact",
        'restore after one step, then the same action: expected the same future, got step 51 info["ticks"]',
        "override `_capture` and `_reinstate`",
    ),
    broken.MeasuresOnlyNewSteps: (
        "error",
        "snapshot-is-exact",
        "restore after one step, then the same action: expected the same future, got step",
        "override `_capture` and `_reinstate`",
    ),
    broken.ForgetsTheTime: (
        "error",
        "snapshot-fits-a-fresh-instance",
        'restore into a fresh instance: expected the same future, got step 51 info["scale"]: 2.0 first, 1.0 then',
        "_capture",
    ),
    broken.ForgetsItsRenderMode: (
        "error",
        "render-mode-is-an-argument",
        "made with render_mode='rgb_array': expected it as env.render_mode, got None",
        "self.render_mode = render_mode",
    ),
    broken.TakesNoRenderMode: (
        "warning",
        "render-mode-is-an-argument",
        "expected an argument render_mode, got none",
        "take `render_mode=None` in __init__",
    ),
    broken.RendersFloats: (
        "error",
        "render-gives-what-its-mode-says",
        "expected a uint8 array of shape (height, width, 3), got an array of shape (4, 6, 3), dtype float64",
        "frame.astype(np.uint8)",
    ),
    broken.RendersNothing: (
        "error",
        "render-gives-what-its-mode-says",
        "in mode 'ansi': expected text, got None",
        "return a str",
    ),
    broken.RendersNoList: (
        "error",
        "render-gives-what-its-mode-says",
        "in mode 'rgb_array_list': expected a list, got an array of shape (4, 6, 3)",
        "a list of",
    ),
    broken.RenderRaises: (
        "error",
        "render-gives-what-its-mode-says",
        "expected a picture, got KeyError: 'font'",
        "let render run to its end in this mode",
    ),
    broken.RenderMoves: (
        "error",
        "rendering-changes-nothing",
        "render() in mode 'rgb_array': expected the history that there is without it, got step 1 observation[0]",
        "self.stream('render')",
    ),
    broken.CloseRaises: (
        "error",
        "close-runs",
        "close() after an episode: expected no exception, got OSError: no window to close (broken.py:",
        "release in close only what there is",
    ),
    broken.CloseNeedsReset: (
        "error",
        "close-runs",
        "close() before the first reset: expected no exception, got AttributeError",
        "in __init__",
    ),
    broken.CloseOnce: (
        "error",
        "close-twice-is-harmless",
        "close() a second time: expected no exception, got RuntimeError: already closed",
        "None",
    ),
    broken.SpaceCannotBeWritten: (
        "error",
        "spaces-can-be-described",
        "action_space: Unwritable: expected an attribute 'secret'",
        "set `self.secret` or override `arguments`",
    ),
    broken.ValuesGetLost: (
        "error",
        "values-travel-without-pickle",
        "action as json: expected the same value back, got action: 2 and 0",
        "`encode` and `decode`",
    ),
}


LATE = (broken.StateSurvivesReset, broken.ReusedInfo, broken.SharesItsEngine, broken.ForgetsTheTime)
"""Whose finding names a step of the second half of a history."""

ALSO = {broken.StateInTheClass: ["snapshot-is-exact"]}
"""What breaks another law as well, where a step of it is taken back."""


def histories():
    """Each in short histories, and in those of the usual length what tells of their middle; in a full run, all."""
    for env in CASES:
        for steps in (20, 100):
            if steps == 100 or env not in LATE:
                marks = [pytest.mark.full] if steps == 100 and env not in LATE else []
                yield pytest.param(env, steps, marks=marks, id=f"{env.__name__}-{steps}")


@pytest.mark.parametrize(("env", "steps"), list(histories()))
def test_a_broken_environment_gets_the_finding_of_its_rule_and_no_other(env, steps):
    level, rule, message, fix = CASES[env]
    report = check_env(env, steps=steps)
    assert [one.rule for one in report.findings] in ([rule], [rule, *ALSO.get(env, ())]), str(report)
    finding = report.findings[0]
    assert finding.level == level
    assert message in finding.message
    assert fix in finding.fix


def test_the_good_environment_that_the_broken_ones_come_from_has_no_findings():
    report = check_env(broken.Walk)
    assert report.findings == ()
    assert report.not_checked == {}


def test_findings_do_not_depend_on_the_seed_or_the_number_of_steps():
    for seed, steps in ((1, 40), (12345, 7), (0, 1)):
        report = check_env(broken.Walk, seed=seed, steps=steps)
        assert report.findings == (), str(report)


def test_an_exception_where_no_rule_expects_one_becomes_a_finding_of_that_rule_and_the_others_are_judged():
    class Odd(broken.Walk):
        @property
        def np_random_seed(self):
            raise ArithmeticError("no seed here")

    report = check_env(Odd)
    assert [one.rule for one in report.findings] == ["reset-seeds-np-random"]
    assert "expected the rule to be checked to its end, got ArithmeticError: no seed here" in report.findings[0].message
    assert "`reset(seed=s)` seeds `np_random` with `s`." in report.findings[0].fix
    assert "close-twice-is-harmless" in report.rules


def test_several_breaches_are_all_reported_at_once():
    class Both(broken.RewardIsNaN, broken.ReusedBuffer, broken.CloseRaises):
        pass

    assert [one.rule for one in check_env(Both).findings] == [
        "rewards-are-finite",
        "observations-are-the-callers",
        "close-runs",
    ]


def test_what_depends_on_a_broken_rule_is_not_checked_and_the_report_says_which():
    report = check_env(broken.FourValues)
    assert report.not_checked["same-seed-same-history"] == "step-returns-five has to hold first"
    assert report.not_checked["snapshot-is-exact"] == "step-returns-five has to hold first"
    assert "close-runs" in report.rules


def test_checking_leaves_the_global_generators_where_they_were():
    np.random.seed(7)
    expected = np.random.RandomState(7).random(3)
    check_env(broken.GlobalNumPyRandom)
    assert np.array_equal(np.random.random(3), expected)
