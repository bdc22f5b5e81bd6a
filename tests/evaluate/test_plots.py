"""Pictures of scores."""

import numpy as np
import pytest

from ludus.errors import InvalidArgument
from ludus.evaluate import Band, plot_curves, plot_intervals, plot_profiles
from tests.core.wording import says

RUNS = {"ours": [0.9, 0.7, 0.8], "theirs <b>": [0.5, 0.4, 0.6]}


@pytest.mark.parametrize("draw", [plot_profiles, plot_intervals, lambda runs: plot_curves([0, 1, 2], runs)])
def test_every_agent_is_named_and_text_stays_text(draw, tmp_path):
    picture = draw(RUNS)
    svg = str(picture.to_svg())
    assert "ours" in svg
    assert "<b>" not in svg
    picture.save(tmp_path / "picture.png")
    assert (tmp_path / "picture.png").stat().st_size > 2_000
    assert svg == str(draw(RUNS).to_svg())


@pytest.mark.parametrize(
    "runs", [{"one": [0.5, 0.5]}, {"one": [0.0, 0.0]}, {"one": [-1e9, 1e9]}, {"one": [1e-9, 2e-9]}]
)
def test_a_single_value_and_any_size_of_values_still_make_a_picture(runs):
    for draw in (plot_profiles, plot_intervals):
        frame = draw(runs).to_rgb()
        assert len(np.unique(frame.reshape(-1, 3), axis=0)) > 10
    plot_curves([0.0, 0.0], runs)


def test_a_better_agents_line_is_higher():
    frame = plot_curves([0, 1], {"ours": [1.0, 1.0], "theirs": Band(*[np.zeros(2)] * 3)}).to_rgb()
    ours = np.argwhere((frame == (0x70, 0x48, 0xE8)).all(axis=-1))
    theirs = np.argwhere((frame == (0x0C, 0x85, 0x99)).all(axis=-1))
    inside = ours[ours[:, 1] < 600], theirs[theirs[:, 1] < 600]
    assert inside[0][:, 0].mean() < inside[1][:, 0].mean()


@pytest.mark.parametrize(
    ("call", "text"),
    [
        (lambda: plot_intervals({}), "plot: expected at least one agent, got none"),
        (
            lambda: plot_curves([0, 1, 2], {"a": [1.0, 2.0]}),
            "curves['a']: expected 3 finite numbers, two or more, as x has",
        ),
        (
            lambda: plot_curves([0, 1], {"a": [1.0, float("nan")]}),
            "curves['a']: expected 2 finite numbers, two or more, as x has",
        ),
    ],
)
def test_what_makes_no_sense_is_refused(call, text):
    with says(InvalidArgument, text):
        call()
