"""`ludus run`."""

import numpy as np
import pytest

from ludus.cli.episode import play
from ludus.envs.teaching.grid_world import GridWorld
from ludus.errors import InvalidType
from ludus.registry import make_vec


def test_it_prints_a_row_for_each_episode_and_the_mean(ludus):
    shown = ludus("run", "GridWorld-v0", "--episodes", 3).stdout
    assert shown.startswith("GridWorld-v0, random actions")
    assert "episode │ seed │ steps │ return │ ended by" in shown
    assert "mean" in shown
    assert "of 3 terminated" in shown


def test_a_seed_plays_the_same_episode_wherever_it_comes_in_the_table(ludus, read):
    three = read(ludus("run", "GridWorld-v0", "--episodes", 3, "--seed", 7, "--json").stdout)
    last = read(ludus("run", "GridWorld-v0", "--episodes", 1, "--seed", 9, "--json").stdout)
    assert three["id"] == "GridWorld-v0"
    assert [one["seed"] for one in three["episodes"]] == [7, 8, 9]
    assert three["episodes"][2:] == last["episodes"]


def test_an_episode_ends_by_termination_truncation_or_the_commands_own_limit(folder, monkeypatch, ludus, read):
    monkeypatch.syspath_prepend(str(folder))

    def ends(*arguments):
        return {one["ended_by"] for one in read(ludus("run", *arguments, "--json").stdout)["episodes"]}

    assert ends("my_module:Endless", "--max-steps", 12) == {"--max-steps"}
    assert "truncation" in ends("my_module:tests/Corridor-v0", "--episodes", 9)
    assert "termination" in ends("Bandit-v0")


def test_the_policy_does_not_draw_from_the_environments_stream():
    class Mirror(GridWorld):
        def step(self, action):
            actions.append(int(action))
            return super().step(action)

    actions: list[int] = []
    play(Mirror(), 0, 20)
    assert actions != np.random.Generator(np.random.PCG64(0)).integers(4, size=len(actions)).tolist()


def test_a_batch_is_not_played():
    with pytest.raises(InvalidType, match=r"expected one environment, got a batch of \(2,\)"):
        play(make_vec("GridWorld-v0", 2), 0, 5)


@pytest.mark.parametrize("arguments", [["--episodes", 0], ["--seed", -1], ["--max-steps", 0], ["--episodes", "many"]])
def test_wrong_numbers_are_refused(ludus, arguments):
    assert ludus("run", "GridWorld-v0", *arguments).exit_code == 2


def test_a_module_of_the_current_folder_is_played(program, read):
    done = program("run", "my_module:tests/Corridor-v0", "--episodes", 2, "--json")
    assert done.returncode == 0
    assert read(done.stdout)["id"] == "tests/Corridor-v0"
    assert "hello from the environment" in done.stderr


def test_a_missing_module_says_what_to_do(program):
    done = program("run", "your_module:Env")
    assert done.returncode == 2
    assert done.stderr == (
        "your_module:Env: expected a module 'your_module' that can be imported, got no module named 'your_module'; "
        "install its package, or run from the folder it is in\n"
    )


def test_brackets_in_an_error_are_text(ludus):
    assert "got 'X[bold]'" in ludus("run", "X[bold]").stderr


def test_isolation_changes_nothing_and_is_on_record(ludus, read):
    isolated = read(ludus("run", "GridWorld-v0", "--episodes", 2, "--isolation", "process", "--json").stdout)
    assert isolated.pop("isolation_record") == {"isolation": "process", "asked": "none", "backend": "process"}
    assert isolated == read(ludus("run", "GridWorld-v0", "--episodes", 2, "--json").stdout)
