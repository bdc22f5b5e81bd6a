"""What a Recorder writes is what happened, whatever is recorded, and the steps are the same as without it."""

import numpy as np
import pytest

import ludus
import ludus.trajectory
from ludus.core import Outcome, Step
from ludus.errors import InvalidArgument, InvalidType, TrajectoryError
from ludus.trajectory import Message, Note, Recorder, Run, ToolCall, Unknown
from ludus.wrappers import TimeLimit
from tests.trajectory.conftest import Move, Workshop, batch, play, random_actions, record

LEVELS = ("seeds", "steps", "full")
MODES = ("NextStep", "SameStep", "Disabled")


def equal(a, b) -> bool:
    if isinstance(a, dict):
        return a.keys() == b.keys() and all(equal(a[key], b[key]) for key in a)
    if isinstance(a, tuple | list):
        return len(a) == len(b) and all(map(equal, a, b))
    return bool(np.array_equal(a, b)) if isinstance(a, np.ndarray) else a == b


@pytest.mark.parametrize("level", LEVELS)
def test_a_recorded_environment_gives_the_same_steps(path, level):
    assert equal(record(Workshop(), path, level), play(Workshop(), 60))


@pytest.mark.parametrize("level", LEVELS)
def test_a_recorded_batch_gives_the_same_steps(path, level):
    assert equal(record(batch(), path, level), play(batch(), 60))


def test_level_full_of_a_strange_environment_is_read_back_to_the_last_bit(path):
    history = record(Workshop(), path, "full")
    run = Run.open(path)
    rows = [(step, action) for step, action in history if action is not None]
    transitions = list(run.steps())
    assert len(transitions) == len(rows)
    assert run.missing == ""
    for transition, (step, action) in zip(transitions, rows, strict=True):
        assert equal(transition.next_observation, step.observation)
        assert isinstance(transition.action["move"], Move)
        assert equal(transition.action["move"], action["move"])
        assert transition.action["aim"].tobytes() == action["aim"].tobytes()
        assert (transition.reward, transition.terminated, transition.truncated) == step[1:4]
        assert transition.info == step.info
    firsts = [episode.observations["word"][0] for episode in run]
    assert firsts == [result[0]["word"] for result, action in history if action is None][: len(firsts)]


def test_outcomes_are_those_of_infos_and_else_what_flags_say(path):
    record(Workshop(), path, "seeds", 7 * 6 + 3)
    run = Run.open(path)
    # Episodes count from 1: 1 % 3 is a failure, 2 % 3 ends by truncation and tells nothing, 0 is a success.
    names = [None if outcome is None else outcome.value for outcome in run.table.outcomes()]
    assert names == ["failure", "time_limit", "success"] * 2 + ["aborted"]
    assert run.table.masked.tolist() == [False] * 6 + [True]
    assert [run[-1].masked, run[0].masked] == [True, False]


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("executor", ["kernel", "serial"])
def test_episodes_of_a_batch_are_the_lanes_own_histories(path, executor, mode):
    envs = Recorder(batch(executor, mode), path, "full")
    observation, _ = envs.reset(seed=3)
    lanes = [[row] for row in observation]
    episodes = []
    for action in random_actions(envs, 80):
        step = envs.step(action)
        for lane in range(5):
            began = mode == "NextStep" and lanes[lane] is None
            ended = step.terminated[lane] or step.truncated[lane]
            last = step.info["final_obs"][lane] if mode == "SameStep" and ended else step.observation[lane]
            lanes[lane] = [last] if began else [*lanes[lane], last]
            if ended:
                episodes.append((lane, np.stack(lanes[lane])))
                lanes[lane] = [step.observation[lane]] if mode == "SameStep" else None
        if mode == "Disabled" and step.done.any():
            observation, _ = envs.reset(options={"reset_mask": step.done})
            for lane in np.flatnonzero(step.done):
                lanes[lane] = [observation[lane]]
    envs.close()
    run = Run.open(path)
    finished = [episode for episode in run if episode.terminated or episode.truncated]
    assert len(finished) == len(episodes) > 5
    for episode, (lane, observations) in zip(finished, episodes, strict=True):
        assert episode.lane == lane
        assert episode.observations.tobytes() == observations.tobytes()
        assert episode.length == len(episode.actions) == len(observations) - 1 == episode.total_reward
        assert len(episode.rewards) == episode.length
    assert all(episode.outcome is Outcome.ABORTED for episode in run if not (episode.terminated or episode.truncated))


def test_steps_level_keeps_rewards_flags_and_the_infos_that_were_asked_for(path):
    history = record(Workshop(), path, "steps", info=["power"])
    episode = Run.open(path)[0]
    steps = [step for step, action in history if action is not None][:7]
    assert episode.rewards.tolist() == [step.reward for step in steps]
    assert episode.info("power").tolist() == [0.0] + [step.info["power"] for step in steps]
    with pytest.raises(TrajectoryError, match="expected level 'full' for observations, got 'steps'"):
        _ = episode.observations


def test_the_seed_of_each_episode_is_there_even_where_the_caller_gave_none(path):
    env = Recorder(ludus.make("GridWorld-v0"), path)
    env.reset()
    env.step(0)
    env.reset(seed=2**100)
    env.step(0)
    env.reset()
    env.step(1)
    env.close()
    run = Run.open(path)
    assert [type(episode.seed) for episode in run] == [int, int, type(None)]
    assert run[1].seed == 2**100


def test_events_belong_to_the_step_that_was_made_last_and_unknown_kinds_survive(path):
    env = Recorder(ludus.make("GridWorld-v0"), path)
    env.reset(seed=1)
    env.record(Message("user", "go"))
    env.step(0)
    env.record(ToolCall("1", "look", {"far": (1, 2)}))
    env.step(1)
    env.reset(seed=2)
    env.step(1)
    blob = env.add_blob(b"picture")
    env.record(Note("seen", blob))
    env.record(Unknown("thermal", {"celsius": 61}))
    env.close()
    run = Run.open(path)
    assert [(event.episode, event.step, event.kind) for event in run.events()] == [
        (0, 0, "message"),
        (0, 1, "tool_call"),
        (1, 1, "note"),
        (1, 1, "thermal"),
    ]
    assert next(run.events("tool_call")).value.arguments == {"far": (1, 2)}
    assert run.blob(next(run.events("note")).value.value) == b"picture"
    assert run[1].events[1].value == Unknown("thermal", {"celsius": 61})


def test_an_environment_that_raises_leaves_an_outcome_that_is_masked(path):
    class Breaking(Workshop):
        def step(self, action):
            if self.steps == 4:
                raise RuntimeError("the saw is blunt")
            return super().step(action)

    env = Recorder(Breaking(), path)
    env.reset(seed=0)
    actions = random_actions(env, 9)
    for action in actions[:4]:
        env.step(action)
    with pytest.raises(RuntimeError, match="blunt"):
        env.step(actions[4])
    env.reset()
    env.close()
    run = Run.open(path)
    assert [episode.outcome for episode in run] == [Outcome.ENVIRONMENT_FAILED]
    assert [event.value.message for event in run.events("failure")] == ["the saw is blunt"]


def test_what_is_changed_after_a_step_is_not_changed_in_the_file(path):
    envs = Recorder(batch(), path, "full")
    observation, _ = envs.reset(seed=0)
    kept = observation.copy()
    observation[:] = 7
    action = np.ones(5, np.int64)
    step = envs.step(action)
    step.reward[:] = 9
    action[:] = 0
    envs.close()
    run = Run.open(path)
    assert np.array_equal(np.stack([episode.observations[0] for episode in run]), kept)
    assert [episode.rewards.tolist() for episode in run] == [[1.0]] * 5
    assert [episode.actions.tolist() for episode in run] == [[1]] * 5


def test_actions_keep_the_dtype_they_came_in(path):
    class Push(Workshop):
        action_space = ludus.spaces.Box(-1, 1, (2,), np.float32)

        def step(self, action):
            return Step.transition(self._seen(), float(action[0]))

    env = Recorder(Push(), path)
    env.reset(seed=0)
    given = [np.array([0.1, 0.2]), np.array([0.3, 0.4]), np.array([0.1, 0.2], np.float32)]
    for action in given:
        env.step(action)
    env.close()
    episode = Run.open(path)[0]
    assert episode.actions.dtype == np.float64
    assert episode.total_reward == sum(float(action[0]) for action in given)
    assert episode.actions.tolist() == [action.tolist() for action in given]


def test_masked_steps_are_those_of_the_lanes_that_made_them(path):
    envs = Recorder(batch("serial"), path, "full")
    envs.reset(seed=0)
    mask = np.array([True, False, True, False, False])
    for _ in range(4):
        envs.step_masked(np.ones(5, np.int64), mask)
    envs.step(np.zeros(5, np.int64))
    envs.close()
    run = Run.open(path)
    assert sorted((episode.lane, episode.length) for episode in run) == [(0, 5), (1, 1), (2, 5), (3, 1), (4, 1)]
    assert {episode.lane: episode.actions.tolist() for episode in run}[2] == [1, 1, 1, 1, 0]
    assert {episode.lane: episode.actions.tolist() for episode in run}[3] == [0]


def test_a_recorder_is_no_part_of_the_spec_and_stays_inside_other_wrappers(path):
    env = TimeLimit(Recorder(ludus.make("GridWorld-v0"), path), 3)
    assert "Recorder" not in env.spec.to_json()
    env.reset(seed=0)
    for _ in range(3):
        env.step(0)
    env.close()
    assert Run.open(path)[0].length == 3


def test_snapshots_work_and_the_run_says_where_the_state_was_put_back(path):
    env = Recorder(ludus.make("GridWorld-v0"), path)
    env.reset(seed=0)
    before = env.snapshot()
    first = env.step(1)
    env.restore(before)
    assert np.array_equal(env.step(1).observation, first.observation)
    env.close()
    run = Run.open(path)
    assert [episode.length for episode in run] == [1, 1]
    assert "snapshot" in ludus.trajectory.replay(run).stopped


def test_a_file_that_is_there_is_never_written_over(path):
    path.write_bytes(b"mine")
    with pytest.raises(TrajectoryError, match="expected a path for a new file"):
        Recorder(ludus.make("GridWorld-v0"), path)
    assert path.read_bytes() == b"mine"


def test_wrong_arguments_are_refused_with_what_to_do(path):
    env = ludus.make("GridWorld-v0")
    with pytest.raises(InvalidArgument, match="level: expected one of seeds, steps, full, got 'all'"):
        Recorder(env, path, "all")
    with pytest.raises(InvalidArgument, match="'seeds', which keeps no infos"):
        Recorder(env, path, info=["x"])
    recorder = Recorder(env, path)
    with pytest.raises(TrajectoryError, match="expected a reset first"):
        recorder.record(Note("early"))
    recorder.reset(seed=0)
    with pytest.raises(InvalidType, match="expected a Message, ToolCall, Note"):
        recorder.record("hello")
    with pytest.raises(InvalidArgument, match="lane: expected 0 to 0, got 3"):
        recorder.record(Note("x"), lane=3)
    with pytest.raises(InvalidType, match="fork: expected a batch that is not recorded"):
        recorder.fork([0])
    recorder.close()
    with pytest.raises(TrajectoryError, match="got one that was closed"):
        recorder.reset()


def test_an_info_that_is_no_data_names_its_key_and_the_way_out(path):
    class Handle(Workshop):
        def reset(self, *, seed=None, options=None):
            observation, _ = super().reset(seed=seed)
            return observation, {"window": object()}

    env = Recorder(Handle(), path, "full")
    with pytest.raises(TrajectoryError, match=r"window.*Recorder\(…, info="):
        env.reset(seed=0)
