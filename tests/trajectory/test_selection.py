"""Runs made of runs, differences between them, and what others read."""

import json
import sys
from types import SimpleNamespace

import numpy as np
import pytest

import ludus
from ludus.core import Outcome
from ludus.errors import InvalidArgument, MissingExtra, TrajectoryError
from ludus.trajectory import (
    Message,
    ModelUsage,
    Note,
    Reasoning,
    Recorder,
    Run,
    StepDataset,
    ToolCall,
    ToolResult,
    diff,
    flat_columns,
    from_atif,
    merge,
    messages_of,
    replay,
    select,
    split,
    to_arrow,
    to_atif,
    to_jsonl,
    to_pandas,
)
from tests.trajectory.conftest import Workshop, batch, record


def same(a, b):
    if isinstance(a, dict):
        return all(same(a[key], b[key]) for key in a)
    if isinstance(a, tuple):
        return all(map(same, a, b))
    return np.array_equal(a, b) if isinstance(a, np.ndarray) else a == b


@pytest.mark.parametrize("mode", ["NextStep", "SameStep"])
def test_episodes_of_a_batch_are_selected_with_all_their_values(path, tmp_path, mode):
    record(batch("kernel", mode), path, "full", 120)
    run = Run.open(path)
    long = [episode for episode in run if episode.length > 20]
    assert select(long, tmp_path / "b.ludus") == len(long) > 2
    chosen = Run.open(tmp_path / "b.ludus")
    for episode, original in zip(chosen, long, strict=True):
        assert episode.outcome is original.outcome
        assert episode.total_reward == original.total_reward
        for name in ("observations", "actions", "rewards"):
            assert np.array_equal(getattr(episode, name), getattr(original, name))
    assert diff(chosen, chosen) is None


def test_strange_values_events_and_blobs_survive_selection_and_merging(tmp_path):
    for name in "ab":
        with Recorder(Workshop(), tmp_path / name, "full") as env:
            env.reset(seed=1)
            env.record(Note("first", env.add_blob(name.encode())))
            env.action_space.seed(0)
            while not env.step(env.action_space.sample()).done:
                pass
    runs = [Run.open(tmp_path / name) for name in "ab"]
    assert merge(runs, tmp_path / "c") == 2
    merged = Run.open(tmp_path / "c")
    assert [merged.blob(event.value.value) for event in merged.events("note")] == [b"a", b"b"]
    assert [event.episode for event in merged.events()] == [0, 1]
    for episode, run in zip(merged, runs, strict=True):
        assert same(episode.observations, run[0].observations)
        assert episode.actions["move"] == run[0].actions["move"]
        assert episode.infos == run[0].infos


def test_seeded_episodes_can_still_be_replayed_and_others_say_why_not(path, tmp_path):
    with Recorder(ludus.make("CartPole-v1"), path) as env:
        for seed in (5, 6, None):
            env.reset(seed=seed)
            while not env.step(env.action_space.sample()).done:
                pass
    run = Run.open(path)
    select([run[1]], tmp_path / "b")
    assert replay(tmp_path / "b")
    select([run[2]], tmp_path / "c")
    assert "snapshot" in replay(tmp_path / "c").stopped


def test_a_split_is_drawn_by_its_seed_and_leaves_nothing_out(path, tmp_path):
    record(batch(), path, "steps", 80)
    run = Run.open(path)
    counts = split(run, tmp_path / "a", tmp_path / "b", share=0.75, seed=3)
    assert counts[0] == round(0.75 * len(run))
    assert sum(counts) == len(run)
    lengths = [episode.length for name in "ab" for episode in Run.open(tmp_path / name)]
    assert sorted(lengths) == sorted(episode.length for episode in run)
    with pytest.raises(InvalidArgument, match="share: expected at least one of"):
        split(run, tmp_path / "c", tmp_path / "d", share=1.0)


def test_runs_with_other_spaces_are_not_merged(path, tmp_path):
    record(batch(), path, "seeds", 20)
    record(ludus.make("FrozenLake-v1"), tmp_path / "b", "seeds", 20)
    with pytest.raises(TrajectoryError, match="expected runs with the same spaces"):
        merge([path, tmp_path / "b"], tmp_path / "c")
    with pytest.raises(InvalidArgument, match="expected at least one, got none"):
        select([], tmp_path / "d")


def test_diff_names_the_first_step_that_differs(tmp_path):
    def played(name, change):
        with Recorder(ludus.make("CartPole-v1"), tmp_path / name, "full") as env:
            env.reset(seed=3)
            for place in range(8):
                env.step(place % 2 if place != change else 1 - place % 2)
        return Run.open(tmp_path / name)

    found = diff(played("a", None), played("b", 5))
    assert (found.episode, found.step, found.field) == (0, 6, "action")
    assert str(found) == "episode 0, step 6: action: recorded np.int64(1), replayed np.int64(0)"


def test_steps_are_had_by_number_as_a_data_loader_asks(path):
    record(batch(), path, "full", 60)
    run = Run.open(path)
    steps = StepDataset(run)
    kept = [episode for episode in run if not episode.masked]
    assert len(steps) == sum(episode.length for episode in kept)
    rows = [step for episode in kept for step in episode]
    for number in (0, 5, len(steps) - 1, -1):
        assert np.array_equal(steps[number]["observation"], rows[number].observation)
        assert np.array_equal(steps[number]["next_observation"], rows[number].next_observation)
        assert steps[number]["action"] == rows[number].action
        assert bool(steps[number]["terminated"]) == rows[number].terminated
    with pytest.raises(IndexError, match="step: expected"):
        steps[len(steps)]


def test_flat_columns_are_tables_for_pandas_and_arrow_which_are_imported_when_used(path, monkeypatch):
    record(Workshop(), path, "full", 20)
    run = Run.open(path)
    columns = flat_columns(run)
    assert {len(column) for column in columns.values()} == {20}
    assert columns["step"].tolist()[:9] == [0, 1, 2, 3, 4, 5, 6, 0, 1]
    assert columns["observation.0"].shape == (20, 2, 3) or columns["observation.1"].shape == (20, 2, 3)
    monkeypatch.setitem(sys.modules, "pandas", SimpleNamespace(DataFrame=dict))
    assert [len(cell) for cell in to_pandas(run)["action.0"][:2]] == [2, 2]
    monkeypatch.setitem(sys.modules, "pyarrow", SimpleNamespace(table=dict))
    assert to_arrow(run)["reward"].tolist() == [step.reward for step in run.steps()]
    monkeypatch.setitem(sys.modules, "pandas", None)
    monkeypatch.setitem(sys.modules, "pyarrow", None)
    with pytest.raises(MissingExtra, match=r"ludus-rl\[pandas\]"):
        to_pandas(run)
    with pytest.raises(MissingExtra, match=r"ludus-rl\[parquet\]"):
        to_arrow(run)


@pytest.fixture
def talk(path):
    env = Recorder(Workshop(), path, "steps")
    env.reset(seed=0)
    env.record(Message("system", "You are a carpenter."))
    env.record(Message("user", "Make a table."))
    env.action_space.seed(0)
    env.step(env.action_space.sample())
    env.record(Reasoning("I need wood."))
    env.record(ModelUsage("wood-1", 100, 7, cost_usd=0.5))
    env.record(Message("assistant", "Fetching."))
    env.record(ToolCall("c1", "fetch", {"what": "wood", "sizes": (1, 2)}))
    env.record(ToolResult("c1", "a plank"))
    while not env.step(env.action_space.sample()).done:
        pass
    env.record(Message("assistant", "Done."))
    env.close()
    return Run.open(path)


def test_messages_are_those_of_chat_formats(talk, tmp_path):
    messages = messages_of(talk[0])
    assert [message["role"] for message in messages] == ["system", "user", "assistant", "tool", "assistant"]
    assert messages[2]["reasoning_content"] == "I need wood."
    assert json.loads(messages[2]["tool_calls"][0]["function"]["arguments"]) == {"what": "wood", "sizes": [1, 2]}
    assert messages[3] == {"role": "tool", "tool_call_id": "c1", "content": "a plank"}
    assert to_jsonl(talk, tmp_path / "chat.jsonl") == 1
    line = json.loads((tmp_path / "chat.jsonl").read_text(encoding="utf8"))
    assert (line["messages"], line["outcome"]) == (messages, "failure")


def test_masked_episodes_are_no_examples_to_learn_from(path, tmp_path):
    with Recorder(Workshop(), path) as env:
        env.reset(seed=0)
        env.record(Message("user", "x"))
        env.step(env.action_space.sample())
    assert to_jsonl(Run.open(path), tmp_path / "a.jsonl") == 0
    assert to_jsonl(Run.open(path), tmp_path / "b.jsonl", masked=True) == 1


def test_atif_has_numbered_steps_and_everything_else_under_extra(talk):
    document = to_atif(talk[0], agent="carver", version="2")
    assert document["schema_version"] == "ATIF-v1.8"
    assert [step["step_id"] for step in document["steps"]] == [1, 2, 3, 4]
    assert [step["source"] for step in document["steps"]] == ["system", "user", "agent", "agent"]
    step = document["steps"][2]
    assert (step["message"], step["reasoning_content"], step["model_name"]) == ("Fetching.", "I need wood.", "wood-1")
    assert step["tool_calls"][0]["arguments"] == {"what": "wood", "sizes": [1, 2]}
    assert step["observation"]["results"] == [{"source_call_id": "c1", "content": "a plank"}]
    assert step["extra"]["ludus"] == {"step": 1, "reward": talk[0].rewards[0]}
    assert document["final_metrics"]["total_cost_usd"] == 0.5
    about = document["extra"]["ludus"]
    assert (about["outcome"], about["seed"], about["length"]) == ("failure", 0, 7)
    assert set(document) == {"schema_version", "session_id", "agent", "steps", "final_metrics", "extra"}
    known = {
        "step_id",
        "source",
        "message",
        "extra",
        "reasoning_content",
        "model_name",
        "tool_calls",
        "observation",
        "metrics",
    }
    assert set().union(*document["steps"]) <= known


def test_atif_comes_back_with_its_messages_rewards_and_outcome(talk, tmp_path):
    document = to_atif(talk[0])
    from_atif(json.dumps(document), tmp_path / "b.ludus")
    run = Run.open(tmp_path / "b.ludus")
    assert [episode.outcome for episode in run] == [Outcome.FAILURE]
    assert run[0].actions == ["Fetching.", "Done."]
    assert run[0].total_reward == talk[0].total_reward
    again = to_atif(run[0])
    for one, two in zip(document["steps"], again["steps"], strict=True):
        assert {**one, "extra": None} == {**two, "extra": None}
    assert messages_of(run[0]) == messages_of(talk[0])


@pytest.mark.parametrize(
    "document", [b"{", {}, {"schema_version": "ATIF-v9", "agent": {}, "steps": []}, {"steps": 3}, b"[" * 5000]
)
def test_what_is_no_atif_is_refused(document, path):
    with pytest.raises(TrajectoryError, match="ATIF: expected"):
        from_atif(document, path)
    assert not path.exists()
