"""Executors as values: frozen, equal by what they say, and wrong ones refused before anything is started."""

import numpy as np
import pytest

from ludus.errors import InvalidArgument
from ludus.vector import Kernel, Process, Serial, Thread
from ludus.vector.executor import executor_of
from tests.core.wording import says

WRONG = [
    (Serial, {"copy": 1}, "Serial.copy: expected True or False, got 1"),
    (Thread, {"threads": 0}, "Thread.threads: expected an integer of at least 1, got 0"),
    (Thread, {"threads": True}, "Thread.threads: expected an integer of at least 1, got True"),
    (Thread, {"copy": None}, "Thread.copy: expected True or False, got None"),
    (Process, {"workers": 0}, "Process.workers: expected an integer of at least 1, got 0"),
    (Process, {"workers": 2.0}, "Process.workers: expected an integer of at least 1, got 2.0"),
    (Process, {"workers": "2"}, "Process.workers: expected an integer of at least 1, got '2'"),
    (Process, {"timeout": 0}, "Process.timeout: expected seconds, or None for no limit, got 0"),
    (Process, {"timeout": "9"}, "Process.timeout: expected seconds, or None for no limit, got '9'"),
    (Process, {"timeout": float("nan")}, "Process.timeout: expected seconds, or None for no limit, got nan"),
    (Process, {"batch_size": -1}, "Process.batch_size: expected an integer of at least 1, got -1"),
    (Process, {"copy": "no"}, "Process.copy: expected True or False, got 'no'"),
    (Process, {"max_restarts": -1}, "Process.max_restarts: expected an integer of at least 0, got -1"),
    (Process, {"on_failure": "hope"}, "Process.on_failure: expected 'raise' or 'restart', got 'hope'"),
    (Kernel, {"threads": 0}, "Kernel.threads: expected an integer of at least 1, got 0"),
    (Kernel, {"statistics": 1}, "Kernel.statistics: expected True or False, got 1"),
]


@pytest.mark.parametrize(("kind", "options", "text"), WRONG)
def test_a_wrong_option_says_what_was_expected(kind, options, text):
    with says(InvalidArgument, text):
        kind(**options)


def test_a_way_to_start_processes_is_one_that_there_is():
    with pytest.raises(InvalidArgument, match=r"^Process\.context: expected one of fork, spawn, .*, got 'magic'$"):
        Process(context="magic")
    assert Process(context="spawn").context == "spawn"


def test_values_are_frozen_and_equal_by_what_they_say():
    assert Process(workers=4) == Process(workers=np.int64(4)) != Process()
    assert type(Process(workers=np.int64(4)).workers) is int
    assert hash(Serial()) == hash(Serial())
    assert repr(Process(workers=4)) == "Process(workers=4)"
    with pytest.raises(AttributeError):
        Process().workers = 3
    with pytest.raises(TypeError):
        Process(4)


@pytest.mark.parametrize("value", [Serial(), Thread(), Process(), Kernel()])
def test_a_name_is_the_value_without_options(value):
    assert executor_of(value.name) == value
    assert executor_of(value) is value


@pytest.mark.parametrize(
    ("given", "got"),
    [
        ("Process", "'Process'; did you mean 'process'?"),
        ("quick", "'quick'"),
        (3, "3"),
        (Process, "<class 'ludus.vector.executor.Process'>; call it: Process()"),
        ({"workers": 2}, "{'workers': 2}"),
    ],
)
def test_what_is_no_executor_names_those_there_are(given, got):
    with says(
        InvalidArgument,
        f"executor: expected one of serial, thread, process, kernel, or a value as Process(workers=4), got {got}",
    ):
        executor_of(given)
