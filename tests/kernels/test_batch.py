"""A compiled batch is its lanes: bit for bit the single environment, for every set of rules and autoreset mode."""

import os
import subprocess
import sys
from pathlib import Path
from typing import NamedTuple

import numpy as np
import pytest

import ludus
from ludus.core import AutoresetMode
from ludus.core.spec import load_entry_point
from ludus.envs.classic import CartPole
from ludus.errors import InvalidAction, InvalidArgument, InvalidType, KernelError, ResetNeeded
from ludus.kernels import RuleEnv, Rules
from ludus.kernels.batch import KernelVectorEnv
from ludus.kernels.disk_cache import source_path
from ludus.spaces import Box, Discrete
from ludus.testing import data_equal
from ludus.vector import SerialVectorEnv
from ludus.wrappers import TimeLimit
from tests.kernels.two_walks import Backward, Forward
from tests.kernels.variants import RULED, unchecked

pytestmark = pytest.mark.no_cover  # a million steps: what they run is measured by shorter tests

LANES, STEPS = 4, 150
ROOT = Path(__file__).parents[2]


def pair(name, mode):
    spec = ludus.registry.registry[name]
    limit = min(spec.max_episode_steps or 40, 40)
    kind = load_entry_point(spec.entry_point)
    compiled = KernelVectorEnv(lambda: kind(**spec.kwargs), LANES, autoreset_mode=mode, max_episode_steps=limit)
    serial = SerialVectorEnv([lambda: TimeLimit(kind(**spec.kwargs), limit)] * LANES, autoreset_mode=mode)
    return compiled, serial


def same_infos(a, b):
    """Equal where both say something; the column of a lane that says nothing is filler."""
    assert a.keys() == b.keys()
    for key in a:
        if isinstance(a[key], dict):
            same_infos(a[key], b[key])
        elif key == "final_obs":
            for lane in np.flatnonzero(a["_final_obs"]):
                assert np.array_equal(a[key][lane], b[key][lane])
        else:
            assert np.array_equal(a[key], b[key]), key


@pytest.mark.parametrize("name", [pytest.param(name, marks=unchecked(name)) for name in RULED])
def test_a_compiled_batch_is_its_lanes_in_every_mode(name):
    for mode in AutoresetMode:
        compiled, serial = pair(name, mode)
        first, infos = compiled.reset(seed=7)
        expected, told = serial.reset(seed=7)
        assert data_equal(first, expected)
        same_infos(infos, told)
        compiled.action_space.seed(5)
        ended = np.zeros(LANES, bool)
        for _ in range(STEPS):
            if mode is AutoresetMode.DISABLED and ended.any():
                options = {"reset_mask": ended}
                first, expected = compiled.reset(options=options), serial.reset(options=options)
                assert data_equal(first[0], expected[0])
                same_infos(first[1], expected[1])
            actions = compiled.action_space.sample()
            mine, theirs = compiled.step(actions), serial.step(actions)
            assert data_equal(mine.observation, theirs.observation)
            for a, b in zip(mine[1:4], theirs[1:4], strict=True):
                assert np.array_equal(a, b)
            same_infos(mine.info, theirs.info)
            ended = mine.terminated | mine.truncated


@pytest.fixture(scope="module")
def cartpoles():
    return pair("CartPole-v1", AutoresetMode.NEXT_STEP)[0]


def test_a_snapshot_of_a_batch_is_exact(cartpoles):
    cartpoles.reset(seed=3)
    for _ in range(20):
        cartpoles.step(np.ones(LANES, int))
    before = cartpoles.snapshot()

    def history():
        cartpoles.restore(before)
        return [cartpoles.step(np.array([0, 1, 0, 1])) for _ in range(60)]

    first, second = history(), history()
    assert all(np.array_equal(a.observation, b.observation) for a, b in zip(first, second, strict=True))


def test_lanes_may_be_seeded_one_by_one_and_go_on_unseeded(cartpoles):
    first, _ = cartpoles.reset(seed=[4, 9, None, 2])
    alone = CartPole()
    for lane, seed in ((0, 4), (1, 9), (3, 2)):
        assert np.array_equal(first[lane], alone.reset(seed=seed)[0])
    again, _ = cartpoles.reset()
    alone.reset(seed=2)
    assert np.array_equal(again[3], alone.reset()[0])


def test_reset_options_reach_the_rules(cartpoles):
    first, _ = cartpoles.reset(seed=0, options={"low": 0.01, "high": 0.02})
    assert ((first >= 0.01) & (first <= 0.02)).all()
    with pytest.raises(InvalidArgument, match="options: expected"):
        cartpoles.reset(seed=0, options={"hight": 1})


@pytest.mark.parametrize(
    ("action", "text"),
    [
        (np.array([0, 1, 0, 7]), r"action\[3\]: expected Discrete\(2\), got 7"),
        (np.zeros(3, int), r"action: expected shape \(4,\), got shape \(3,\)"),
        (np.zeros(4), "action: expected dtype int64 or one that casts to it safely, got dtype float64"),
    ],
)
def test_wrong_actions_are_refused_by_lane_and_the_batch_goes_on(cartpoles, action, text):
    cartpoles.reset(seed=0)
    with pytest.raises(InvalidAction, match=text):
        cartpoles.step(action)
    cartpoles.step(np.zeros(LANES, int))


def test_order_is_kept():
    batch, _ = pair("CartPole-v1", AutoresetMode.DISABLED)
    with pytest.raises(ResetNeeded, match=r"step: expected reset\(\) first, got no reset yet"):
        batch.step(np.zeros(LANES, int))
    with pytest.raises(
        ResetNeeded, match=r"expected every lane to have been reset once, got none for lanes \[1, 2, 3\]"
    ):
        batch.reset(options={"reset_mask": np.array([True, False, False, False])})
    batch.reset(seed=0)
    for _ in range(12):
        ended = batch.step(np.zeros(LANES, int)).done
        if ended.any():
            break
    with pytest.raises(ResetNeeded, match="step: expected lanes under way, got ended lanes"):
        batch.step(np.zeros(LANES, int))


def test_generators_of_lanes_can_be_read_and_set(cartpoles):
    cartpoles.reset(seed=1)
    cartpoles.np_random = [np.random.default_rng(seed) for seed in range(LANES)]
    assert [rng.random() for rng in cartpoles.np_random] == [
        np.random.default_rng(seed).random() for seed in range(LANES)
    ]


def test_only_environments_made_of_rules_are_compiled():
    with pytest.raises(InvalidType, match="KernelVectorEnv: expected an environment made of rules"):
        KernelVectorEnv(lambda: Plain(), 2)
    with pytest.raises(InvalidArgument, match="executor='kernel': expected an environment made of rules"):
        ludus.make_vec(Plain, 2, executor="kernel")


class Plain(ludus.Env):
    observation_space = action_space = Discrete(2)


class State(NamedTuple):
    place: int


class Params(NamedTuple):
    goal: int = 3


class Clumsy(RuleEnv):
    observation_space = action_space = Discrete(5)
    rules = Rules(
        State,
        Params,
        lambda rng, params: State(0),
        lambda state, action, rng, params: (State(len(dir(state)) * 0), 0.0, False),
        lambda state, params: state.place,
    )


def test_rules_that_cannot_be_compiled_say_so():
    with pytest.raises(KernelError) as raised:
        KernelVectorEnv(Clumsy, 2)
    text = str(raised.value)
    assert "test_batch.py:" in text
    assert "len(dir(state))" in text
    assert "expected what rules may use, got dir; write a function of the table in docs/rules.md" in text


PROGRAM = """
import numpy as np
from ludus.kernels.batch import KernelVectorEnv
from ludus.kernels.disk_cache import source_path
from tests.kernels.two_walks import Forward
envs = KernelVectorEnv(Forward, 2)
envs.reset(seed=0)
print(envs.step(np.array([0, 1])).observation.tolist())
"""


@pytest.mark.parametrize("kept", ["kept", "readonly", "open to others"])
def test_compiled_code_is_kept_only_where_it_is_safe(tmp_path, kept):
    folder = tmp_path / "kernels"
    if kept != "kept":
        folder.mkdir()
        folder.chmod(0o777 if kept == "open to others" else 0o500)
    environment = {name: value for name, value in os.environ.items() if not name.startswith("COV")}
    environment["LUDUS_CACHE_DIR"] = str(tmp_path)
    told = [
        subprocess.run(
            [sys.executable, "-c", PROGRAM], cwd=ROOT, env=environment, capture_output=True, text=True, check=True
        ).stdout
        for _ in range(2 if kept == "kept" else 1)
    ]
    assert len(set(told)) == 1
    found = list(folder.glob("*.py"))
    assert bool(found) == (kept == "kept" or (kept == "readonly" and os.geteuid() == 0))


AT_ONCE = """
import sys
from ludus.kernels.batch import KernelVectorEnv
from ludus.kernels.disk_cache import source_path
from tests.kernels.two_walks import Forward
print("ready", flush=True)
sys.stdin.readline()
print(int(KernelVectorEnv(Forward, 2)._loop.compiled))
"""


def test_of_processes_that_start_at_once_one_compiles(tmp_path):
    environment = os.environ | {"LUDUS_CACHE_DIR": str(tmp_path)}
    pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "text": True}
    started = [subprocess.Popen([sys.executable, "-c", AT_ONCE], cwd=ROOT, env=environment, **pipes) for _ in range(3)]
    assert [one.stdout.readline() for one in started] == ["ready\n"] * 3
    for one in started:
        one.stdin.write("\n")
        one.stdin.flush()
    assert sorted(int(one.communicate()[0]) for one in started) == [0, 0, 1]


def test_compiling_colours_none_of_the_errors_that_nobody_reads(tmp_path, monkeypatch):
    monkeypatch.setenv("LUDUS_CACHE_DIR", str(tmp_path))
    coloured = []
    monkeypatch.setattr("numba.core.errors.ColorShell", lambda: coloured.append(1))

    class Wandering(Drifting):
        rules = Rules(Drift, Params, lambda rng, params: Drift(rng.random()), drift, lambda state, params: (state.x,))

    KernelVectorEnv(Wandering, 2).reset(seed=0)
    assert coloured == []


def test_a_text_that_another_process_has_just_written_is_not_replaced(tmp_path, monkeypatch):
    monkeypatch.setenv("LUDUS_CACHE_DIR", str(tmp_path))
    rules = Forward.rules
    first = source_path("pass", rules, checks=False)
    before = first.stat().st_ino
    monkeypatch.setattr("pathlib.Path.exists", lambda path: False)  # as it was when this process looked
    assert source_path("pass", rules, checks=False) == first
    assert first.stat().st_ino == before  # whoever holds its lock holds it for all
    assert sorted(tmp_path.rglob("*.*")) == [first]


class Drift(NamedTuple):
    x: float


def drift(state, action, rng, params):
    return Drift(state.x + float(action[0])), 0.0, False


class Drifting(RuleEnv):
    observation_space = Box(-99.0, 99.0, (1,))
    action_space = Box(-1.0, 1.0, (1,))
    rules = Rules(Drift, Params, lambda rng, params: Drift(0), drift, lambda state, params: (state.x,))


def test_a_field_is_what_its_annotation_says_whatever_the_first_state_was():
    batch, alone = KernelVectorEnv(Drifting, 2), Drifting()
    batch.reset(seed=0)
    alone.reset(seed=0)
    for _ in range(3):
        step, expected = batch.step(np.full((2, 1), 0.25, np.float32)), alone.step(np.array([0.25], np.float32))
    assert step.observation.ravel().tolist() == [0.75, 0.75] == [*expected.observation, *expected.observation]


def test_numbers_outside_a_box_are_refused_unless_the_rules_clip():
    batch = KernelVectorEnv(Drifting, 2)
    batch.reset(seed=0)
    with pytest.raises(InvalidAction, match=r"action\[1\]\[0\]: expected -1.0 to 1.0, got 5.0"):
        batch.step(np.array([[0.5], [5.0]], np.float32))
    clipping, _ = pair("Pendulum-v1", AutoresetMode.NEXT_STEP)
    clipping.reset(seed=0)
    clipping.step(np.full((LANES, 1), 9.0, np.float32))


def test_a_reset_that_is_refused_leaves_no_lane_half_begun():
    batch, serial = pair("CartPole-v1", AutoresetMode.NEXT_STEP)
    some = {"reset_mask": np.array([True, False, False, False])}
    for options in (some, {"reset_mask": ~some["reset_mask"]}):
        with pytest.raises(ResetNeeded, match="expected every lane to have been reset once"):
            batch.reset(seed=1, options=options)
    assert np.array_equal(batch.reset(seed=1)[0], serial.reset(seed=1)[0])


def test_a_snapshot_fits_a_fresh_batch_spaces_included():
    first, second = (pair("CartPole-v1", AutoresetMode.NEXT_STEP)[0] for _ in range(2))
    first.reset(seed=4)
    second.restore(first.snapshot())
    for _ in range(30):
        a, b = first.action_space.sample(), second.action_space.sample()
        assert np.array_equal(a, b)
        assert np.array_equal(first.step(a).observation, second.step(b).observation)


def test_one_generator_a_lane_or_none(cartpoles):
    with pytest.raises(InvalidArgument, match="np_random: expected 4 generators, one a lane, got 1"):
        cartpoles.np_random = [np.random.default_rng(0)]


class Halving(RuleEnv):
    observation_space = action_space = Discrete(9)
    rules = Rules(
        State,
        Params,
        lambda rng, params: State(5),
        lambda state, action, rng, params: (State(state.place / 2), 0.0, False),
        lambda state, params: int(state.place),
    )


def test_a_float_in_a_field_of_integers_is_refused_and_not_cut():
    with pytest.raises(KernelError) as raised:
        KernelVectorEnv(Halving, 2)
    assert str(raised.value) == (
        "State.place: expected int64 from step, as from reset, got 2.5; annotate it as float, or return int(place)"
    )


def test_two_sets_of_rules_in_one_file_are_kept_apart():
    for kind, expected in ((Forward, 11), (Backward, 9)):
        batch = KernelVectorEnv(kind, 2)
        batch.reset(seed=0)
        assert batch.step(np.zeros(2, int)).observation.tolist() == [expected, expected]
