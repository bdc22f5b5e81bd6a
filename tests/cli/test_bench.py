"""`ludus bench`, as users start it."""

from xml.etree import ElementTree as ET

import pytest

QUICK = ("--seconds", 0.02, "--rounds", 2)


def test_json_is_the_whole_report_and_nobody_is_silently_missing(program, read):
    done = program("bench", "GridWorld-v0", "--sizes", "1,4", *QUICK, "--json")
    assert done.returncode == 0, done.stderr
    report = read(done.stdout)
    assert (report["id"], report["rounds"], report["seconds"]) == ("GridWorld-v0", 2, 0.02)
    figures = {(one["contestant"], one["lanes"]): one for one in report["figures"]}
    assert {("ludus serial", 1), ("ludus serial", 4)} <= set(figures)
    one = figures["ludus serial", 4]
    assert one["steps_per_second"] > 0
    assert 0 < one["microseconds"] <= one["microseconds_p99"]
    assert one["bytes_per_lane"] is None or one["bytes_per_lane"] > 0
    assert one["about"]["ludus"]
    reasons = {one["contestant"]: one["reason"] for one in report["skipped"]}
    assert "expected an environment made of rules" in reasons["ludus kernel"]
    assert {"gymnasium sync", "envpool", "gymnax"} <= set(reasons)
    assert report["machine"]["cores"]


def test_a_table_bars_and_a_plot_of_an_environment_of_the_current_folder(program, folder):
    arguments = ("--executors", "serial", "--alone", "--no-memory", "--plot", "figures.svg")
    done = program("bench", "my_module:Corridor", "--sizes", "2", *QUICK, *arguments)
    assert done.returncode == 0, done.stderr
    assert "Corridor, best of 2 rounds of 0.02 s, in turns" in done.stdout
    assert "│ ludus serial │     2 │" in done.stdout
    assert "steps/s with 2 lanes" in done.stdout
    assert "█" in done.stdout
    assert "hello from the environment" not in done.stdout
    assert max(map(len, done.stdout.splitlines())) <= 80
    assert ET.parse(folder / "figures.svg").getroot().tag.endswith("svg")


def test_when_nobody_can_be_measured_the_reasons_are_told_and_the_exit_code_is_1(ludus):
    done = ludus("bench", "GridWorld-v0", "--executors", "kernel", "--alone", "--sizes", "2,3", *QUICK)
    assert done.exit_code == 1
    assert "not measured: ludus kernel: executor='kernel': expected an environment made of rules" in done.stderr


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("GridWrld-v0",), "did you mean 'GridWorld-v0'?"),
        (("GridWorld-v0", "--sizes", "1,many"), "--sizes: expected numbers of lanes, as in 1,64,4096, got '1,many'"),
        (("GridWorld-v0", "--sizes", "0"), "sizes: expected numbers of lanes from 1 to"),
        (("GridWorld-v0", "--executors", "cereal"), "executors: expected some of serial"),
        (("GridWorld-v0", "--peers", "no-such-python"), "peers: expected a Python interpreter, got 'no-such-python'"),
        (("GridWorld-v0", "--plot", "figures.pdf"), "--plot: expected a .svg or .png file in a folder that exists"),
        (("GridWorld-v0", "--plot", "nowhere/figures.svg"), "--plot: expected a .svg or .png file in a folder"),
    ],
)
def test_wrong_arguments_are_one_line_and_exit_code_2(ludus, arguments, message):
    done = ludus("bench", *arguments)
    assert done.exit_code == 2
    assert done.stdout == ""
    assert message in done.stderr


@pytest.mark.parametrize("arguments", [("--seconds", 0), ("--rounds", 0)])
def test_a_pace_that_makes_no_sense_is_refused(ludus, arguments):
    assert ludus("bench", "GridWorld-v0", *arguments).exit_code == 2
