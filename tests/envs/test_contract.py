"""Every built-in environment keeps the published contract, and a snapshot of it is exact."""

import inspect
import pickle
import random

import pytest

import ludus
import ludus.trajectory
from ludus.core.spec import load_entry_point
from ludus.testing import check_env, data_equal
from ludus.testing.env_contract import ENV_RULES
from ludus.testing.env_rules import compiled
from ludus.testing.rule import Examination
from ludus.testing.subject import Subject
from tests.engines import engines_in_full, has_turn, in_small, siblings_in_turns
from tests.kernels.variants import CHECKED, RULED
from tests.sampling import SEED

FAMILIES = {"classic", "toy_text", "algorithmic", "teaching", "open"}
IDS = [spec.id for spec in ludus.list_envs() if spec.family in FAMILIES]
COMPILED = (compiled.rules_can_be_compiled, compiled.a_compiled_batch_is_its_lanes)
INTERPRETED = tuple(rule for rule in ENV_RULES if rule.check not in COMPILED)
"""Without what compiles: of ids whose rules each run compiles in tests/kernels/test_batch.py, or by another id."""
ENGINES = sorted(name for name in IDS if name.startswith("open/") and has_turn(name) and name not in RULED)
HALF = set(random.Random(SEED).sample(ENGINES, (len(ENGINES) + 1) // 2))
"""Of environments with an engine or texts, which take seconds each, those whose contract this run examines; all have
their histories, snapshots, places and policies tried by tests of their own in each run."""


def test_all_families_are_there():
    assert {spec.family for spec in ludus.list_envs()} >= FAMILIES
    assert len(IDS) >= 21


def test_no_environment_takes_an_argument_that_make_vec_would():
    """Or nobody could say `make_vec(id, 2, executor="serial")` of it without saying for whom that is."""
    taken = {*inspect.signature(ludus.make).parameters, *inspect.signature(ludus.make_vec).parameters}
    taken -= {"id", "kwargs", "env_kwargs"}
    made_by = {name: load_entry_point(ludus.registry.registry[name].entry_point) for name in IDS}
    found = {name: taken & {*inspect.signature(one).parameters} for name, one in made_by.items()}
    assert {name: shadowed for name, shadowed in found.items() if shadowed} == {}


@pytest.mark.filterwarnings("ignore:CartPole-v0 is not the newest")
@pytest.mark.parametrize("steps", [20, pytest.param(100, marks=pytest.mark.full)])
@pytest.mark.parametrize("name", siblings_in_turns(IDS, also=lambda name: name not in ENGINES or name in HALF))
def test_an_environment_keeps_the_contract(name, steps):
    spec = in_small(ludus.registry.registry[name])
    if name not in CHECKED and steps < 100:
        report = Examination(INTERPRETED, Subject(spec, steps=steps)).report()
    else:
        report = check_env(spec, steps=steps)
    assert report.ok, str(report)
    # A walk along a cliff that is not slippery is the same for every seed, and so is Wordle without a guess: one of a
    # hundred texts drawn at random happens to be a word of five letters.
    alike = name == "CliffWalking-v1" or (name == "open/TextArena-v0" and steps < 100)
    expected = ["another-seed-another-history"] if alike else []
    if name == "open/Chat-v0":  # tokens and log-probabilities have no bounds
        expected = ["boxes-make-sense"] * 2
    assert [finding.rule for finding in report.findings] == expected


@pytest.mark.parametrize("name", engines_in_full(name for name in IDS if name != "CartPole-v0"))
def test_a_snapshot_leads_to_the_same_history_again(name):
    with ludus.make(name) as env:
        env.reset(seed=11)
        env.action_space.seed(11)
        before = env.snapshot()

        def history():
            told = []
            for _ in range(60):
                step = env.step(env.action_space.sample())
                told.append(tuple(step))
                if step.done:
                    told.append(env.reset())
            return told

        first = history()
        env.restore(before)
        assert data_equal(history(), first)
        env.restore(pickle.loads(pickle.dumps(before)))
        assert data_equal(history(), first)


@pytest.mark.filterwarnings("ignore:CartPole-v0 is not the newest")
@pytest.mark.parametrize("name", siblings_in_turns(IDS))
def test_a_full_recording_is_seen_again(name, tmp_path):
    """Typed observations, texts and pictures are compared row by row with what is executed again."""
    spec = in_small(ludus.registry.registry[name])
    with ludus.trajectory.Recorder(spec.make(), tmp_path / "run.ludus", "full") as env:
        env.reset(seed=3)
        env.action_space.seed(3)
        for _ in range(8):
            if env.step(env.action_space.sample()).done:
                env.reset()
    found = ludus.trajectory.replay(tmp_path / "run.ludus")
    assert found, str(found.difference or found.stopped)
    assert found.replayed >= 9
