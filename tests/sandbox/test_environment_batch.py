"""Batches in sandboxes: the lanes of several processes are those of one, in every autoreset mode."""

from functools import partial

import numpy as np
import pytest

import ludus
from ludus import AutoresetMode
from ludus.core import Episode
from ludus.errors import (
    ChannelError,
    ClosedEnvironment,
    ContractViolation,
    EnvError,
    InvalidAction,
    InvalidArgument,
    InvalidSpace,
    ResetNeeded,
    SnapshotError,
)
from ludus.sandbox import Deadlines
from ludus.sandbox.environment import SandboxedVectorEnv, isolate_vec
from ludus.sandbox.environment.blueprint import Blueprint
from ludus.sandbox.environment.process_link import ProcessLink
from ludus.testing.history import HistoryEvent, first_difference, play
from ludus.vector import SerialVectorEnv
from ludus.wire.messages import (
    PROTOCOL,
    BatchReply,
    BatchStepReply,
    MakeReply,
    ValueReply,
)
from tests.sandbox.neighbours import DWELLER, FOLDER, SPACES, ThreadEnvProcess, packed, saying, served
from tests.spaces.values import same

MODES = list(AutoresetMode)
IDS = ["CartPole-v1", "Blackjack-v1", "Copy-v0", "Pendulum-v1", "GridWorld-v0", "Taxi-v4"]


def batch(make, sizes, mode, episodes=None):
    """A batch in as many threads as there are sizes."""

    def link(size):
        request = Blueprint.of("Neighbour", {}).request(size, mode.value, planned=episodes is not None)
        return ProcessLink(lambda: ThreadEnvProcess(served(lambda _: make())), request, Deadlines())

    return SandboxedVectorEnv(link, sizes, autoreset_mode=mode, episodes=episodes)


def plain(events: list[HistoryEvent]) -> list[HistoryEvent]:
    """Histories as they are, but for objects in columns, which are compared one by one."""
    return [one._replace(info={key: listed(value) for key, value in one.info.items()}) for one in events]


def listed(value):
    if isinstance(value, dict):
        return {key: listed(one) for key, one in value.items()}
    return list(value) if isinstance(value, np.ndarray) and value.dtype == object else value


@pytest.mark.in_turns("sizes")
@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("sizes", [[3], [1, 2]])
@pytest.mark.parametrize("name", IDS)
def test_the_history_is_that_of_one_process(name, sizes, mode):
    make = partial(ludus.make, name, max_episode_steps=9)
    process, serial = batch(make, sizes, mode), SerialVectorEnv([make] * 3, autoreset_mode=mode)
    found, expected = (play(envs, seed=5, steps=40) for envs in (process, serial))
    assert first_difference(plain(expected), plain(found)) is None
    assert [list(one.info) for one in found] == [list(one.info) for one in expected]
    process.close()


@pytest.mark.parametrize("mode", MODES)
def test_planned_episodes_are_those_of_one_process(mode):
    def plan(lane, number):
        return Episode(100 * lane + number)

    make = partial(ludus.make, "GridWorld-v0", max_episode_steps=4)
    process = batch(make, [2, 1], mode, plan)
    serial = SerialVectorEnv([make] * 3, autoreset_mode=mode, episodes=plan)
    found, expected = (play(envs, seed=5, steps=30) for envs in (process, serial))
    assert first_difference(plain(expected), plain(found)) is None
    process.close()


def test_processes_of_their_own_give_the_same():
    with isolate_vec("CartPole-v1", sandbox="process", num_envs=5, workers=2) as process:
        serial = ludus.make_vec("CartPole-v1", 5)
        found, expected = (play(envs, seed=5, steps=60) for envs in (process, serial))
        assert first_difference(plain(expected), plain(found)) is None
        assert process.guarantees.backend == "process"
        assert len(process.usage()) == 2
        assert process.num_envs == 5
        assert process.autoreset_mode is AutoresetMode.NEXT_STEP
        assert process.single_action_space == serial.single_action_space


class Pictured(ludus.Env):
    """Composite spaces, and an info in which some lanes differ from others."""

    observation_space = ludus.spaces.Dict(a=ludus.spaces.Discrete(9), b=ludus.spaces.Text(4))
    action_space = ludus.spaces.Tuple((ludus.spaces.Discrete(3), ludus.spaces.Box(-1, 1, (2,))))
    metadata = {"render_modes": ["ansi"]}
    render_mode = "ansi"
    size = 1

    def reset(self, *, seed=None, options=None):
        super().reset(seed=seed)
        self.count = 0
        return self.observe(), {"options": options, "seen": int(self.np_random.integers(9))}

    def observe(self):
        return {"a": self.count, "b": "ab"[: 1 + self.count % 2]}

    def step(self, action):
        self.count += 1
        info = {"action": action[0], "move": action[1]} | ({"odd": (self.count,)} if self.count % 2 else {})
        return ludus.Step(self.observe(), float(action[1][0]), self.count == 5, False, info)

    def render(self):
        return f"count {self.count}"

    def grow(self, amount, *, by):
        self.size += amount + by
        return self.size


@pytest.mark.parametrize("mode", MODES)
def test_composite_spaces_and_uneven_infos_are_joined_alike(mode):
    process, serial = batch(Pictured, [1, 2], mode), SerialVectorEnv([Pictured] * 3, autoreset_mode=mode)
    found, expected = (play(envs, seed=5, steps=20) for envs in (process, serial))
    assert first_difference(plain(expected), plain(found)) is None
    assert process.render() == serial.render()
    process.close()


@pytest.fixture
def envs():
    found = batch(Pictured, [1, 2], AutoresetMode.DISABLED)
    yield found
    found.close()


def test_lanes_are_reset_by_mask(envs):
    mask = np.array([False, True, False])
    with pytest.raises(ResetNeeded, match=r"got none for lanes \[0, 2\]"):
        envs.reset(options={"reset_mask": mask})
    envs.reset(seed=[1, None, 3], options={"x": 1})
    actions = envs.action_space.sample()
    for _ in range(4):
        envs.step(actions)
    observations, infos = envs.reset(seed=9, options={"reset_mask": mask})
    assert observations["a"].tolist() == [4, 0, 4]
    assert infos["_seen"].tolist() == mask.tolist()
    step = envs.step(actions)
    assert step.terminated.tolist() == [True, False, True]
    with pytest.raises(ResetNeeded, match=r"ended lanes \[0, 2\]"):
        envs.step(actions)
    envs.reset(options={"reset_mask": ~mask})
    assert not envs.step(actions).done.any()


def test_attributes_seeds_and_streams_are_those_of_each_lane(envs):
    serial = SerialVectorEnv([Pictured] * 3)
    for one in (envs, serial):
        one.reset(seed=4)
        one.set_attr("size", [1, 2, 3])
        assert one.get_attr("size") == (1, 2, 3)
        assert one.call("size") == (1, 2, 3)
        assert one.np_random_seed == (4, 5, 6)
    assert [one.random() for one in envs.stream("a")] == [one.random() for one in serial.stream("a")]
    assert envs.stream("a") is envs.stream("a")
    assert envs.call("grow", 2, by=3) == serial.call("grow", 2, by=3) == (6, 7, 8)
    with pytest.raises(EnvError, match="TypeError"):
        envs.call("grow")
    with pytest.raises(InvalidArgument, match="grow argument 0: expected numbers"):
        envs.call("grow", print)
    with pytest.raises(EnvError, match="in another process"):
        _ = envs.np_random
    with pytest.raises(EnvError, match="cannot travel"):
        envs.np_random = ()
    with pytest.raises(InvalidArgument, match="expected 3 values"):
        envs.set_attr("size", [1])


def test_bad_actions_move_no_lane():
    envs = batch(lambda: ludus.make("CartPole-v1"), [1, 2], AutoresetMode.NEXT_STEP)
    with pytest.raises(ResetNeeded, match="expected reset"):
        envs.step([0, 0, 0])
    envs.reset(seed=0)
    for wrong, kind in (([0, 0], InvalidArgument), ([0, 0, 7], InvalidAction), (5, InvalidArgument)):
        with pytest.raises(kind):
            envs.step(wrong)
    twin = SerialVectorEnv([lambda: ludus.make("CartPole-v1")] * 3)
    twin.reset(seed=0)
    for action in ([0, 1, 0], np.array([1, 1, 0]), np.array([1, 1, 0], dtype=np.int8), (0, 0, 1)):
        assert np.array_equal(envs.step(action).observation, twin.step(action).observation)
    envs.close()
    with pytest.raises(ClosedEnvironment):
        envs.step([0, 0, 0])
    envs.close()


class Failing(Pictured):
    """Raises in the lanes whose action says so."""

    def step(self, action):
        if action[0] == 2:
            raise ValueError("two")
        return super().step(action)


def test_an_error_in_one_process_leaves_no_reply_waiting_in_another():
    envs = batch(Failing, [1, 1, 1], AutoresetMode.NEXT_STEP)
    envs.reset(seed=0)
    move = np.zeros((3, 2), np.float32)
    with pytest.raises(EnvError, match="ValueError: two"):
        envs.step((np.array([0, 2, 0]), move))
    step = envs.step((np.array([0, 0, 0]), move))
    assert step.observation["a"].tolist() == [2, 1, 2]
    with pytest.raises(InvalidAction, match=r"action\[0\]\[0\]: expected Discrete\(3\), got <built-in function print>"):
        envs.step((np.array([print] * 3), move))
    envs.close()


def test_a_snapshot_holds_every_lane():
    envs = batch(lambda: ludus.make("CartPole-v1"), [1, 2], AutoresetMode.NEXT_STEP)
    envs.reset(seed=0)
    envs.action_space.seed(1)
    for _ in range(5):
        envs.step(envs.action_space.sample())
    snapshot = envs.snapshot()
    futures = []
    for _ in range(2):
        envs.restore(snapshot)
        futures.append([envs.step(envs.action_space.sample()) for _ in range(30)])
    assert all(same(tuple(one), tuple(other)) for one, other in zip(*futures, strict=True))
    other = batch(lambda: ludus.make("CartPole-v1"), [1, 2], AutoresetMode.NEXT_STEP)
    envs.restore(snapshot)
    other.restore(snapshot)
    actions = np.array([0, 1, 1])
    assert all(same(tuple(envs.step(actions)), tuple(other.step(actions))) for _ in range(30))
    envs.close()
    with pytest.raises(SnapshotError, match="stays with its process"):
        other.restore(snapshot)
    other.close()


# --- the end of a process ---


def dwellers(mode, deed="exit", **others):
    return isolate_vec(
        DWELLER,
        {"deed": deed},
        "process",
        num_envs=3,
        workers=2,
        autoreset_mode=mode,
        paths=[FOLDER],
        **others,
    )


def test_the_end_of_a_process_cuts_its_lanes_and_the_next_step_begins_them_anew():
    with dwellers("NextStep") as envs:
        first, _ = envs.reset(seed=0)
        step = envs.step([0, 0, 2])
        assert step.truncated.tolist() == [False, False, True]  # lanes 0 and 1 share the other process
        assert step.observation[2].tolist() == first[2].tolist()
        assert step.info["sandbox"]["code"].tolist() == [0, 0, 3]
        assert step.info["_sandbox"].tolist() == [False, False, True]
        step = envs.step([0, 0, 0])
        assert step.observation[:, 0].tolist() == [2, 2, 0]
        assert step.reward.tolist() == [1, 1, 0]
        assert not step.done.any()
        assert envs.step([0, 0, 0]).observation[:, 0].tolist() == [3, 3, 1]


def test_in_the_same_step_a_new_process_begins_at_once():
    found = []
    for _ in range(2):
        with dwellers("SameStep") as envs:
            first, _ = envs.reset(seed=0)
            step = envs.step([2, 0, 0])
            assert step.truncated.tolist() == [True, True, False]
            assert step.observation[:, 0].tolist() == [0, 0, 1]
            assert step.info["final_obs"][0].tolist() == first[0].tolist()
            assert step.info["final_info"]["sandbox"]["code"].tolist() == [3, 3, 0]
            found.append(step.info["draw"].tolist())
            assert not envs.step([0, 0, 0]).done.any()
    assert found[0] == found[1]


def test_without_autoreset_the_lanes_of_a_process_are_reset_together():
    with dwellers("Disabled", "hang", deadline=Deadlines(step=5.0)) as envs:
        envs.reset(seed=0)
        step = envs.step([2, 0, 0])
        assert step.truncated.tolist() == [True, True, False]
        assert list(step.info["sandbox"]["limit"]) == ["deadline", "deadline", None]
        with pytest.raises(ResetNeeded, match="expected lanes 0 to 1 together, since they share a process"):
            envs.reset(options={"reset_mask": np.array([True, False, False])})
        observations, _ = envs.reset(options={"reset_mask": np.array([True, True, False])})
        assert observations[:, 0].tolist() == [0, 0, 1]


def test_a_plan_reaches_the_lanes_of_a_new_process():
    def plan(lane, number):
        return Episode(50 * lane + number, {"number": number})

    with dwellers("NextStep", episodes=plan) as envs:
        envs.reset(seed=0)
        envs.step([0, 0, 2])
        infos = envs.step([0, 0, 0]).info
        assert infos["options"]["number"][2] == 1
        assert envs.np_random_seed == (0, 1, 101)
        envs.step([0, 0, 2])
        assert envs.step([0, 0, 0]).info["options"]["number"][2] == 2


def test_a_reset_that_does_not_come_back_is_an_error():
    with dwellers("NextStep") as envs:
        with pytest.raises(ludus.errors.SandboxError, match="reset: expected an answer, got none: its process exited"):
            envs.reset(options={"deed": "exit"})
        envs.reset(seed=0)
        assert not envs.step([0, 0, 0]).done.any()


@pytest.mark.parametrize(("count", "workers"), [(0, 1), (2, 3), (2, 0), (True, 1), (1.5, 1)])
def test_lanes_and_workers_are_counted(count, workers):
    with pytest.raises(InvalidArgument, match=r"num_envs|workers"):
        isolate_vec("CartPole-v1", sandbox="process", num_envs=count, workers=workers)


# --- lies ---

GOOD = np.zeros((2, 2), np.float32).tobytes()
MADE = MakeReply(PROTOCOL, *SPACES, {"render_modes": []}, None, "Liar")
BEGUN = BatchReply(GOOD, {})


def liars(*frames, mode=AutoresetMode.SAME_STEP, made=(MADE,)):
    told = iter(made)

    def link(size):
        one = next(told)
        launch = lambda: ThreadEnvProcess(saying(packed(one), *map(packed, frames)))  # noqa: E731
        return ProcessLink(launch, Blueprint.of("Liar", {}).request(size, mode.value), Deadlines())

    return SandboxedVectorEnv(link, [2] * len(made), autoreset_mode=mode)


def reply(observations=GOOD, rewards=bytes(16), terminated=b"\0\0", truncated=b"\0\0", infos=None):
    return BatchStepReply(observations, rewards, terminated, truncated, infos or {})


EACH = {"$array": b"\1\1", "dtype": "bool", "shape": [2]}
ONE = {"$array": bytes(8), "dtype": "int64", "shape": [1]}


@pytest.mark.parametrize(
    ("frame", "kind"),
    [
        (reply(observations=GOOD[:8]), ContractViolation),
        (reply(observations=np.full((2, 2), 5, np.float32).tobytes()), ContractViolation),
        (reply(rewards=bytes(8)), ContractViolation),
        (reply(rewards=np.array([0, np.nan]).tobytes()), ContractViolation),
        (reply(terminated=b"\0"), ContractViolation),
        (reply(terminated=b"\0\2"), ContractViolation),
        (reply(truncated=b"\7\1"), ContractViolation),
        (reply(infos={"a": ONE, "_a": EACH}), ContractViolation),
        (reply(infos={"a": {"$objects": [None]}, "_a": EACH}), ContractViolation),
        (reply(infos={"sandbox": EACH, "_sandbox": EACH}), ContractViolation),
        (reply(infos={"final_info": {"sandbox": EACH, "_sandbox": EACH}, "_final_info": EACH}), ContractViolation),
        (reply(infos={"a": {"$x": 1}}), ContractViolation),
        (reply(infos={"final_obs": {"$objects": [[b"short"], None]}, "_final_obs": EACH}), ContractViolation),
        (reply(infos={"a": {"$objects": [[1, 2], None]}}), ContractViolation),
        (BEGUN, ChannelError),
    ],
)
def test_lies_about_lanes_are_found_out(frame, kind):
    envs = liars(BEGUN, frame)
    envs.reset(seed=0)
    with pytest.raises(kind):
        envs.step([0, 0])
    envs.close()


def test_processes_that_disagree_about_their_spaces_are_refused():
    other = MakeReply(PROTOCOL, SPACES[0], SPACES[0], {}, None, "Liar")
    with pytest.raises(InvalidSpace, match="process 1: expected the spaces of process 0"):
        liars(made=(MADE, other))


def test_values_of_lanes_are_counted():
    envs = liars(ValueReply([1]), ValueReply({"$x": 1}))
    with pytest.raises(ContractViolation, match="expected 2 values"):
        envs.get_attr("x")
    with pytest.raises(ContractViolation, match="tags"):
        envs.get_attr("x")
    envs.close()
