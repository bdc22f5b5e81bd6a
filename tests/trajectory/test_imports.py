"""What comes from other formats, as far as it needs none of their packages; `test_peers.py` has the rest."""

import json
import os
import random
import shutil
import sys
import zipfile
from pathlib import Path

import numpy as np
import pytest

from ludus.core import Outcome
from ludus.errors import MissingExtra, TrajectoryError
from ludus.spaces import Box, Discrete
from ludus.trajectory import (
    Run,
    from_inspect,
    from_minari,
    from_parquet,
    messages_of,
    replay,
    to_minari,
    to_parquet,
)
from ludus.trajectory.imported_episode import ImportedEpisode, imported_header, write_imported
from tests.trajectory.conftest import batch, record

LOG = Path(__file__).parent / "peers/lifting.eval"
"""Written by Inspect 0.3.285 and `peers/inspect_log.py`."""


def test_a_log_of_inspect_is_a_run_of_episodes_with_messages_calls_and_scores(path):
    assert from_inspect(LOG, path) == 2
    run = Run.open(path)
    assert [episode.outcome for episode in run] == [Outcome.SUCCESS, Outcome.FAILURE]
    assert run[0].actions == ["I try.", "done"]
    assert run[0].rewards.tolist() == [0.0, 1.0]
    assert [event.kind for event in run[0].events] == [
        *("message", "message", "message", "tool_call", "tool_result", "message", "model_usage", "score"),
    ]
    assert [message["role"] for message in messages_of(run[1])] == ["system", "user", "assistant", "tool", "assistant"]
    assert run.header.metadata["model"] == "mockllm/model"
    with pytest.raises(TrajectoryError, match="names no environment"):
        replay(run)


def written(path, samples, **header):
    """A log as older versions wrote it: deflated, and with what a caller likes."""
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as file:
        file.writestr("header.json", json.dumps({"version": 2, "status": "success", "eval": {"task": "t"}, **header}))
        for place, sample in enumerate(samples):
            file.writestr(f"samples/{place}_epoch_1.json", json.dumps(sample))
    return path


def said(text):
    return {"role": "assistant", "content": text}


@pytest.mark.parametrize(
    ("more", "outcome", "reward"),
    [
        ({"scores": {"a": {"value": "C"}}}, Outcome.SUCCESS, 1.0),
        ({"scores": {"a": {"value": "P"}}}, None, 0.5),
        ({"scores": {"a": {"value": False}}}, Outcome.FAILURE, 0.0),
        ({}, None, 0.0),
        ({"limit": {"type": "token", "limit": 100}}, Outcome.BUDGET, 0.0),
        ({"limit": {"type": "time", "limit": 9}, "scores": {"a": {"value": 1}}}, Outcome.TIME_LIMIT, 1.0),
        ({"error": {"message": "no container"}, "scores": {}}, Outcome.ENVIRONMENT_FAILED, 0.0),
    ],
)
def test_a_sample_that_failed_is_no_result_and_one_that_met_a_limit_says_which(path, tmp_path, more, outcome, reward):
    log = written(tmp_path / "a.eval", [{"id": 1, "messages": [said("x"), said("y")], **more}])
    from_inspect(log, path)
    episode = Run.open(path)[0]
    assert (episode.outcome, episode.total_reward, episode.length) == (outcome, reward, 2)


def test_a_sample_without_a_word_of_the_model_is_kept_and_attachments_are_put_in(path, tmp_path):
    parts = [{"type": "reasoning", "reasoning": "attachment://k"}, {"type": "text", "text": "attachment://k"}]
    samples = [
        {"id": 1, "messages": [], "error": {"message": "died"}},
        {"id": 2, "messages": [said(parts)], "attachments": {"k": "long"}, "scores": {"b": {"value": 3}}},
    ]
    from_inspect(written(tmp_path / "a.eval", samples), path, score="b")
    run = Run.open(path)
    assert [(episode.length, episode.masked) for episode in run] == [(1, True), (1, False)]
    assert (run[1].actions, run[1].total_reward) == (["long"], 3.0)
    assert [event.kind for event in run[1].events] == ["reasoning", "message", "score"]


def test_logs_from_strangers_are_refused_with_a_reason_and_leave_no_file(path, tmp_path):
    rng, log, data = random.Random(3), tmp_path / "x.eval", LOG.read_bytes()
    refused = 0
    for _ in range(150):
        changed = bytearray(data)
        for _ in range(rng.randint(1, 6)):
            changed[rng.randrange(len(changed))] = rng.randrange(256)
        log.write_bytes(bytes(changed[: rng.randrange(1, len(changed))] if rng.random() < 0.3 else changed))
        try:
            from_inspect(log, path)
            path.unlink()
        except TrajectoryError as error:
            refused += bool(str(error))
            assert not path.exists()
    assert refused > 60


@pytest.mark.parametrize("sample", [[], {"messages": [3]}, {"messages": [{"content": [7]}]}, {"scores": {"a": 3}}])
def test_samples_of_another_form_are_refused(path, tmp_path, sample):
    with pytest.raises(TrajectoryError, match="expected"):
        from_inspect(written(tmp_path / "a.eval", [sample]), path)
    assert not path.exists()


def test_a_member_that_announces_more_than_is_allowed_is_not_unfolded(path, tmp_path, monkeypatch):
    monkeypatch.setattr("ludus.trajectory.inspect_log.MEMBER_LIMIT_BYTES", 1000)
    log = written(tmp_path / "a.eval", [{"id": 1, "messages": [said("x" * 2000)]}])
    with pytest.raises(TrajectoryError, match="expected at most 1000 bytes, got an announcement of"):
        from_inspect(log, path)


def test_what_is_missing_is_named_by_its_extra(path, tmp_path, monkeypatch):
    record(batch(), path, "full", 40)
    run = Run.open(path)
    for name in ("h5py", "pyarrow", "pyarrow.parquet"):
        monkeypatch.setitem(sys.modules, name, None)
    with pytest.raises(MissingExtra, match=r"ludus-rl\[minari\]"):
        to_minari(run, tmp_path / "a", "a-v0")
    with pytest.raises(MissingExtra, match=r"ludus-rl\[parquet\]"):
        to_parquet(run, tmp_path / "b")
    with pytest.raises(MissingExtra, match=r"ludus-rl\[parquet\]"):
        from_parquet(tmp_path / "b", tmp_path / "c")


def test_what_cannot_be_exported_is_refused_before_anything_is_written(path, tmp_path):
    record(batch(), path, "seeds", 40)
    run = Run.open(path)
    with pytest.raises(TrajectoryError, match="expected level 'full', got 'seeds'"):
        to_minari(run, tmp_path / "a", "a-v0")
    with pytest.raises(TrajectoryError, match="expected level 'steps' or 'full'"):
        to_parquet(run, tmp_path / "b")
    assert not (tmp_path / "a").exists()
    assert not (tmp_path / "b").exists()
    for data in (None, "{", "[]", '{"data_format": "hdf5"}', '{"observation_space": "{}"}'):
        shutil.rmtree(tmp_path / "d", ignore_errors=True)
        (tmp_path / "d").mkdir()
        if data is not None:
            (tmp_path / "d" / "metadata.json").write_text(data, encoding="utf8")
        with pytest.raises(TrajectoryError, match="expected a dataset of Minari"):
            from_minari(tmp_path / "d", tmp_path / "e")


def test_episodes_with_seeds_are_resets_and_others_states_from_elsewhere(path):
    header = imported_header(Box(0, 9, (), np.float32), Discrete(3), full=True, why="it is made up", metadata={})
    episodes = [
        ImportedEpisode([1, 2], [0.5, 1.5], [0.0, 1.0, 2.0], True, False, Outcome.SUCCESS, 5, {"hard": (1, 2)}),
        ImportedEpisode([0], [-0.0], [3.0, 4.0], False, True, None),
    ]
    assert write_imported(path, header, episodes) == 2
    run = Run.open(path)
    assert [(one.seed, one.options, one.outcome) for one in run] == [
        (5, {"hard": (1, 2)}, Outcome.SUCCESS),
        (None,) * 3,
    ]
    assert run[0].observations.tolist() == [0.0, 1.0, 2.0]
    assert np.signbit(run[1].rewards).tolist() == [True]


def test_what_is_no_file_is_no_log_and_is_not_waited_for(tmp_path):
    os.mkfifo(tmp_path / "pipe.eval")
    (tmp_path / "device.eval").symlink_to("/dev/zero")
    for name in ("pipe.eval", "device.eval"):
        with pytest.raises(TrajectoryError, match=r"expected a log of Inspect, got .*something else than a file"):
            from_inspect(tmp_path / name, tmp_path / "run.ludus")
