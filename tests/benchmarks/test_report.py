"""Reports and what is made of them: ratios, JSON, bars of blocks, the plot."""

import json
import platform
from itertools import pairwise
from xml.etree import ElementTree as ET

import pytest

from ludus.benchmarks import SkippedContestant, bars, plot
from ludus.benchmarks.report import amount, describe_machine
from ludus.errors import InvalidArgument

NAMES = ("ludus kernel", "ludus serial", "gymnasium sync", "gymnasium async", "envpool", "gymnax", "C loop")


@pytest.fixture
def full(figure, report):
    speeds = dict(zip(NAMES, (3e7, 3e5, 1e5, 1.5e4, 1e6, 1.2e7, 4e7), strict=True))
    lanes = (1, 64, 4096)
    found = [figure(name, n, speed * (1 - 1 / (n + 1)), 200.0) for name, speed in speeds.items() for n in lanes]
    return report(*(one for one in found if one.contestant != "gymnasium async" or one.lanes <= 64))


def test_ratios_are_of_steps_per_second_at_one_size(figure, report):
    found = report(figure("a", 4, 600.0), figure("b", 4, 200.0), figure("a", 8, 100.0))
    assert found.ratio("a", "b", 4) == 3.0
    assert found.ratio("b", "a", 4) == pytest.approx(1 / 3)
    assert found.ratio("a", "b", 8) is None
    assert found.figure("a", 8).seconds_per_lane == 0.01


def test_everybody_is_compared_with_gymnasium_or_else_with_the_slowest(figure, report):
    found = report(
        figure("a", 4, 600.0), figure("gymnasium sync", 4, 200.0), figure("c", 4, 50.0), figure("a", 8, 80.0)
    )
    assert [found.compared(one) for one in found.figures] == [3.0, 1.0, 0.25, 1.0]


def test_a_missing_figure_has_a_reason(figure, report):
    found = report(
        figure("a", 4, 600.0), skipped=[SkippedContestant("b", 0, "not here"), SkippedContestant("c", 8, "too many")]
    )
    assert [found.reason("b", 4), found.reason("c", 8)] == ["not here", "too many"]
    assert found.reason("c", 4) == "it did not take part"


def test_json_is_the_whole_report(full):
    data = json.loads(full.to_json())
    assert set(data) == {"id", "seconds", "rounds", "figures", "skipped", "machine"}
    assert set(data["figures"][0]) == {
        "contestant", "lanes", "steps_per_second", "microseconds", "microseconds_p99", "rounds", "spread",
        "bytes_per_lane", "about", "ratio",
    }  # fmt: skip
    assert len(data["figures"]) == len(full.figures)


def test_bars_are_as_long_as_they_should_be_and_never_empty(full):
    found = {name: bar for name, bar, _ in bars(full, 4096, width=40)}
    assert list(found) == ["C loop", "ludus kernel", "gymnax", "envpool", "ludus serial", "gymnasium sync"]
    assert found["C loop"] == "█" * 40
    assert found["ludus kernel"] == "█" * 30
    assert found["gymnasium sync"] == "▏"
    assert bars(full, 5) == []


def test_the_plot_is_a_picture_that_names_everybody(full):
    root = ET.fromstring(plot(full).to_svg())
    labels = [one.get("aria-label") for one in root.iter() if one.get("aria-label")]
    assert set(NAMES) <= set(labels)
    assert "CartPole-v1: steps per second" in labels
    assert {"1", "64", "4,096", "lanes in a batch"} <= set(labels)
    assert any("14.8 k at 64" in label for label in labels)  # whose line ends early says where


def test_a_plot_of_one_point_is_a_plot(figure, report):
    assert plot(report(figure("ludus serial", 4, 1e5))).to_rgb().std() > 0


def test_labels_stay_apart_and_on_the_paper(figure, report):
    found = report(*(figure(f"number {k}", n, 1e6 + k) for k in range(12) for n in (1, 8)))
    root = ET.fromstring(plot(found).to_svg())
    names = [one for one in root.iter() if (one.get("aria-label") or "").startswith("number")]
    heights = sorted(float(one.get("transform").split()[5].rstrip(")")) for one in names)
    assert len(heights) == 12
    assert min(b - a for a, b in pairwise(heights)) > 20
    assert heights[0] > 0
    assert heights[-1] < 500


def test_no_figures_make_no_plot(report):
    with pytest.raises(InvalidArgument, match="plot: expected a report with figures, got none for CartPole-v1"):
        plot(report())


@pytest.mark.parametrize(
    ("number", "text"),
    [(0, "0.000"), (0.06543, "0.065"), (9.9961, "10.0"), (99.96, "100"), (999.7, "1.00 k"), (2.5e10, "25.0 G")],
)
def test_amounts_have_three_figures(number, text):
    assert amount(number) == text


def test_a_machine_is_described_without_names_or_paths():
    described = " ".join(describe_machine().values())
    assert platform.node() not in described
    assert "/" not in described.replace("AMD64", "")
