"""SUMO-RL: real simulations that a seed decides, phases as sumo-rl keeps them, and processes that are few."""

from pathlib import Path

import numpy as np
import pytest

import ludus
from ludus.core import Outcome
from ludus.envs.open.sumo import SumoAction, SumoRL, SumoRLSignals, simulation
from ludus.envs.open.sumo.network import NETWORKS, demand_of, read_network
from ludus.envs.open.sumo.policies import POLICIES
from ludus.envs.open.sumo.simulation import LIVE, Measures
from ludus.envs.open.sumo.traffic import SumoConfig, Traffic
from ludus.errors import InvalidAction, InvalidArgument, MissingExtra, ResetNeeded, WorkerFailure
from ludus.interop.pettingzoo import Together
from tests.envs.open_play import mean_returns, play

SHORT = {"num_seconds": 60}


def history(env, seed, policy="random", most=12):
    rng = np.random.default_rng(seed)
    told = [env.reset(seed=seed)]
    for _ in range(most):
        told.append(env.step(POLICIES[policy](env, told[-1][0], rng)))
        if told[-1].done:
            break
    return told


@pytest.mark.parametrize("net", NETWORKS)
def test_a_seed_is_a_simulation(net):
    with SumoRL(net, **SHORT) as one, SumoRL(net, **SHORT) as other:
        first = history(one, 3)
        assert history(other, 3) == first == history(one, 3)
        assert history(other, 4) != first


def test_the_next_episode_knows_nothing_of_the_last():
    with SumoRL(**SHORT) as env, SumoRL(**SHORT) as fresh:
        history(env, 4, "nop")
        assert env.state.total_vehicles
        assert history(env, 3) == history(fresh, 3)  # whatever drove, waited and was switched before
        assert vars(env.state) == vars(fresh.state)


def test_an_episode_ends_by_time_and_tells_what_waiting_was():
    with SumoRL(num_seconds=100) as env:
        told = history(env, 1, "nop", most=50)
        assert len(told) == 21
        last = told[-1]
        assert (last.terminated, last.truncated) == (False, True)
        assert last.info["outcome"] is Outcome.TIME_LIMIT
        assert env.state.sim_time == 100.0
        assert env.state.total_waiting_time > 0
        assert sum(step.reward for step in told[1:]) == pytest.approx(-env._traffic.waited[0])
        with pytest.raises(ResetNeeded):
            env.step(SumoAction(0))


@pytest.mark.parametrize("seeds", [2, pytest.param(20, marks=pytest.mark.full)])
def test_who_looks_at_queues_waits_less_and_nonsense_is_refused(seeds):
    for net in ("single",) if seeds == 2 else tuple(NETWORKS):
        means, winners = mean_returns(
            lambda net=net: SumoRL(net, num_seconds=400, reward_fn="queue"), POLICIES, range(seeds), most=400
        )
        assert means["oracle"] > means["random"] >= means["nop"]
        assert means["garbage"] == 0.0
        assert not winners
    with SumoRL(**SHORT) as env:
        assert play(env, POLICIES["garbage"], 0, most=30)[2] == 30


def test_phases_keep_yellow_and_green_times_as_sumo_rl_does():
    network = read_network("single")
    traffic = Traffic(network, SumoConfig(delta_time=5, yellow_time=2, min_green=5), "queue")
    first, second = network.lights[0].phases
    plan = traffic.plan([1])[-1]
    assert plan == (5, ((0, "A0", first),))  # too early: it was green for no time
    assert traffic.vector(0)[:3] == [1.0, 0.0, 0.0]
    traffic.plan([0])
    assert traffic.vector(0)[:3] == [1.0, 0.0, 1.0]
    plan = traffic.plan([1])[-1]
    yellow = "".join("y" if one in "Gg" else one for one in first)
    assert plan == (5, ((0, "A0", yellow), (2, "A0", second)))
    assert (traffic.phases, traffic.since) == ([1], [5])


def test_a_phase_ends_of_its_own_where_that_was_asked_for():
    traffic = Traffic(read_network("single"), SumoConfig(max_green=20, enforce_max_green=True), "queue")
    for _ in range(5):
        traffic.plan([0])
    assert traffic.phases == [1]


def test_rewards_are_those_of_their_names_or_ones_own():
    network = read_network("single")
    light = network.lights[0]
    lanes = {lane: [4.0, 2.0, 5.0, 30.0, 2.0] for lane in light.lanes}
    lanes |= {lane: [1.0, 0.0, 5.0, 0.0, 1.0] for lane in light.out_lanes}
    found = {}
    for name in ("queue", "pressure", "average-speed", "diff-waiting-time", lambda view: view.queued * 10 + view.phase):
        traffic = Traffic(network, SumoConfig(), name)
        found[name if isinstance(name, str) else "own"] = traffic.observe(Measures(time=5.0, lanes=lanes))[0]
    count = len(light.lanes)
    assert found == {
        "queue": -2.0 * count,
        "pressure": len(light.out_lanes) - 4.0 * count,
        "average-speed": 0.5,
        "diff-waiting-time": -0.3 * count,
        "own": 20.0 * count,
    }
    room = network.lanes[light.lanes[0]].length / 7.5
    assert traffic.vector(0)[3] == pytest.approx(4 / room)


def test_lights_are_asked_in_turn_and_time_passes_with_the_last():
    with SumoRL("grid", **SHORT) as env:
        observation, info = env.reset(seed=0)
        assert info["lights"] == ["A0", "A1", "B0", "B1"]
        asked = []
        for _ in range(4):
            asked.append((observation.ts_id, observation.sim_time))
            observation = env.step(SumoAction(1)).observation
        assert asked == [("A0", 0.0), ("A1", 0.0), ("B0", 0.0), ("B1", 0.0)]
        assert (observation.ts_id, observation.sim_time) == ("A0", 5.0)
        step = env.step(SumoAction(1, "B1"))
        assert step.info["facts"]["waiting_for"] == ["A0", "A1", "B0"]
        with pytest.raises(InvalidAction, match=r"action.ts_id: expected one of"):
            env.step(SumoAction(0, "C9"))


@pytest.mark.parametrize("action", [{"phase_id": 2}, {"phase_id": -1}, {"phase_id": "red"}, {}, None])
def test_what_is_no_phase_is_refused_and_the_episode_goes_on(action):
    with ludus.make("open/SumoRL-v0", **SHORT) as env:
        env.reset(seed=0)
        with pytest.raises(InvalidAction, match="action"):
            env.step(action)
        assert env.step({"phase_id": 1}).observation.sim_time == 5.0


def test_a_snapshot_is_played_again_and_a_fork_goes_its_own_way():
    with SumoRL(**SHORT) as env, SumoRL(**SHORT) as fork:
        history(env, 5, most=4)
        before = env.snapshot()
        first = [env.step(SumoAction(1)) for _ in range(3)]
        env.restore(before)
        assert [env.step(SumoAction(1)) for _ in range(3)] == first
        fork.restore(before)
        assert [fork.step(SumoAction(1)) for _ in range(3)] == first


def test_a_step_that_is_taken_back_and_taken_again_is_the_same_step():
    with SumoRL(**SHORT) as env:
        history(env, 5, most=4)
        before = env.snapshot()
        first = env.step(SumoAction(1))
        assert first.info["system"]["total_vehicles"]
        env.restore(before)
        assert env.step(SumoAction(1)) == first
        again = [env.reset(seed=3) and env.step(SumoAction(0)) for _ in range(2)]
        assert again[0] == again[1]


def test_processes_are_few_and_who_lost_his_goes_on(monkeypatch):
    monkeypatch.setenv("LUDUS_SUMO_PROCESSES", "2")
    envs = [SumoRL(**SHORT) for _ in range(4)]
    try:
        alone = history(envs[0], 2, most=3)
        rngs, told = [np.random.default_rng(2) for _ in envs], [[env.reset(seed=2)] for env in envs]
        for _ in range(3):
            for env, rng, heard in zip(envs, rngs, told, strict=True):
                heard.append(env.step(POLICIES["random"](env, heard[-1][0], rng)))
                assert len(LIVE) <= 2
        assert all(heard == alone for heard in told)
    finally:
        for env in envs:
            env.close()
    assert not LIVE


def test_a_process_that_is_gone_is_a_failure_of_the_environment_and_a_reset_mends_it():
    with SumoRL(**SHORT) as env:
        history(env, 1, most=2)
        env._simulation._process._talk.process.kill()
        with pytest.raises(WorkerFailure, match="SUMO: expected an answer"):
            env.step(SumoAction(0))
        with pytest.raises(ResetNeeded, match="simulation failed"):
            env.step(SumoAction(0))
        assert len(history(env, 1, most=2)) == 3


def test_files_of_ones_own_are_run_and_bad_ones_named(tmp_path):
    net = tmp_path / "mine.net.xml"
    net.write_bytes(Path(read_network("single").path).read_bytes())
    routes = tmp_path / "mine.rou.xml"
    routes.write_text(demand_of(read_network("single"), 60, np.random.default_rng(0)))
    with SumoRL(str(net), str(routes), **SHORT) as env:
        told = history(env, 0, most=8)
        assert told[-1].info["system"]["total_vehicles"] > 0
    routes.write_text('<routes><trip id="a" depart="0" from="nowhere" to="here"/></routes>')
    with SumoRL(str(net), str(routes), **SHORT) as env:
        env.reset(seed=0)
        with pytest.raises(WorkerFailure, match="routes that it can run"):
            env.step(SumoAction(0))
    net.write_text("<net/>")
    with pytest.raises(InvalidArgument, match="expected a light with two green phases"):
        SumoRL(str(net))


@pytest.mark.parametrize(
    ("arguments", "match"),
    [
        ({"net_file": "/nowhere.net.xml"}, "expected one of"),
        ({"route_file": "/nowhere.rou.xml"}, "route_file: expected a file"),
        ({"reward_fn": "presure"}, "did you mean 'pressure'"),
        ({"delta_time": 2}, "^SumoRL delta_time: expected more than yellow_time"),
        ({"min_green": 60}, "min_green: expected 0 to max_green"),
        ({"num_second": 3}, "did you mean 'num_seconds'"),
        ({"num_seconds": "many"}, "^SumoRL num_seconds: expected int, got 'many'$"),
        ({"enforce_max_green": "perhaps"}, "^SumoRL enforce_max_green: expected bool, got 'perhaps'$"),
        ({"demand": "much"}, "^SumoRL demand: expected float . null, got 'much'$"),
    ],
)
def test_a_wrong_argument_is_told(arguments, match):
    with pytest.raises(InvalidArgument, match=match):
        SumoRL(**arguments)


def test_the_variables_of_the_original_are_read(monkeypatch):
    for name, value in (("NET_FILE", "arterial"), ("NUM_SECONDS", "30"), ("DELTA_TIME", "10"), ("REWARD_FN", "queue")):
        monkeypatch.setenv(f"SUMO_{name}", value)
    monkeypatch.setenv("SUMO_SEED", "42")
    with SumoRL() as env, SumoRL() as other:
        assert env.reset()[0] == other.reset(seed=42)[0]
        assert env._run == other._run
        state = env.state
        assert (state.net_file, state.num_seconds, state.delta_time, state.reward_fn) == ("arterial", 30, 10, "queue")


def test_without_libsumo_the_error_is_the_line_to_type(monkeypatch):
    monkeypatch.setattr(simulation, "find_spec", lambda name: None)
    simulation._packages.cache_clear()
    try:
        env = SumoRL(**SHORT)
        env.reset(seed=0)
        with pytest.raises(MissingExtra, match=r'pip install "ludus-rl\[sumo\]"'):
            env.step(SumoAction(0))
    finally:
        simulation._packages.cache_clear()


def test_agents_of_pettingzoos_view_are_the_lights():
    game = Together(SumoRLSignals("grid", **SHORT))
    seen, _ = game.reset(seed=3)
    assert list(seen) == game.agents == ["A0", "A1", "B0", "B1"]
    for _ in range(12):
        assert game.agents
        actions = {agent: int(np.argmin(seen[agent][:2])) for agent in game.agents}
        seen, rewards, terminations, truncations, _ = game.step(actions)
    assert set(rewards) == set(seen)
    assert all(truncations.values())
    assert not any(terminations.values())
    assert not game.agents
    game.close()


def test_typed_lights_in_turn_and_arrays_at_once_are_one_simulation():
    with SumoRL("grid", **SHORT) as typed, SumoRLSignals("grid", **SHORT) as arrays:
        typed.reset(seed=9)
        arrays.reset(seed=9)
        for number in range(6):
            step = [typed.step(SumoAction((number // 2) % 2)) for _ in range(4)][-1]
            other = arrays.step(((number // 2) % 2,) * 4)
            assert step.info["rewards"] == other.info["rewards"]
            assert step.reward == other.reward
            assert np.float32(step.observation.observation).tolist() == other.observation[0].tolist()


def test_the_picture_has_every_vehicle():
    with SumoRL(render_mode="svg", **SHORT) as env:
        env.reset(seed=1)
        empty = env.render()
        for _ in range(6):
            env.step(SumoAction(0))
        assert env.render().count("<rect") - empty.count("<rect") == env.state.total_vehicles > 3


def test_a_process_ends_with_its_environment():
    env = SumoRL(**SHORT)
    history(env, 1, most=1)
    process = env._simulation._process._talk.process
    env.close()
    assert process.wait() is not None or process.usage() is not None
    assert not LIVE
