"""A contestant's process: requests and answers, and what becomes of one that fails."""

import sys
from dataclasses import replace

import pytest

from ludus.benchmarks import Contestant, ContestantFailed, ContestantProcess

WORK = {"id": "Sum-v0", "lanes": 3, "warm": 0.0}


def prepared(process, mood):
    return process.ask("prepare", {**WORK, "mood": mood})


def test_a_contestant_prepares_runs_and_is_released(tiny):
    with ContestantProcess(tiny()) as process:
        assert prepared(process, "good") == {"about": {"tiny": "1.0"}}
        found = process.ask("run", 0.01)
        assert found["seconds"] >= 0.01
        assert found["steps"] > 0
        assert found["steps"] % (3 * 2) == 0  # three lanes, two turns a call
        assert 0.0 < found["median"] <= found["p99"]
        assert process.ask("release", True) == {}
        with pytest.raises(ContestantFailed, match="RuntimeError: run: expected a prepared batch, got none"):
            process.ask("run", 0.01)


def test_what_a_contestant_prints_is_no_answer(tiny):
    with ContestantProcess(tiny()) as process:
        for _ in range(3):
            assert "about" in prepared(process, "good")


def test_one_that_refuses_says_why_and_can_be_asked_again(tiny):
    with ContestantProcess(tiny()) as process:
        with pytest.raises(ContestantFailed, match=r"^there is no Sum-v0 here$"):
            prepared(process, "refuses")
        assert process.alive
        assert "about" in prepared(process, "good")


def test_an_error_is_one_line(tiny):
    with (
        ContestantProcess(tiny()) as process,
        pytest.raises(ContestantFailed, match=r"^ValueError: broken: two lines$"),
    ):
        prepared(process, "breaks")


def test_one_that_leaves_is_reported_with_its_exit_code_and_last_words(tiny):
    with ContestantProcess(tiny()) as process:
        with pytest.raises(ContestantFailed, match=r"^ended with exit code 3: no more of this$"):
            prepared(process, "leaves")
        assert not process.alive
        with pytest.raises(ContestantFailed, match="ended with exit code 3"):
            process.ask("run", 0.01)
    with pytest.raises(ContestantFailed, match="it was closed"):
        process.ask("run", 0.01)


def test_one_that_never_answers_is_ended(tiny):
    with ContestantProcess(tiny(), patience=0.5) as process:
        with pytest.raises(ContestantFailed, match=r"^no answer within 0.5 seconds$"):
            prepared(process, "sleeps")
        assert not process.alive


def test_a_program_that_cannot_be_loaded_is_reported(tmp_path):
    program = tmp_path / "wrong.py"
    program.write_text("import no_such_module", encoding="utf8")
    expected = r"ended with exit code 1: ModuleNotFoundError: .*no_such_module"
    with (
        ContestantProcess(Contestant("wrong", str(program))) as process,
        pytest.raises(ContestantFailed, match=expected),
    ):
        prepared(process, "good")


def test_an_interpreter_that_is_not_there_is_reported(tiny, tmp_path):
    with pytest.raises(ContestantFailed, match=r"^python9: No such file or directory$"):
        ContestantProcess(replace(tiny(), python=str(tmp_path / "python9")))


@pytest.mark.skipif(sys.platform != "linux", reason="memory is read from /proc")
def test_memory_is_that_of_each_lane_without_its_actions(tiny):
    with ContestantProcess(tiny()) as process:
        size = process.ask("memory", {"id": "Sum-v0", "lanes": [1, 20_000]})["bytes_per_lane"]
    assert size == pytest.approx(1000, rel=0.05)
