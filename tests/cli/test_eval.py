"""`ludus eval`."""


def test_it_prints_statistics_with_intervals(ludus):
    shown = ludus("eval", "GridWorld-v0", "--agent", "random", "--episodes", 6).stdout
    assert shown.startswith("GridWorld-v0, random, 6 episodes of seed 0")
    for row in ("interquartile mean", "mean", "least, greatest", "length", "terminated"):
        assert row in shown


def test_the_same_command_gives_the_same_episodes_however_many_are_played_at_once(ludus, read):
    command = ("eval", "GridWorld-v0", "--agent", "random", "--episodes", 5, "--seed", 3, "--json")
    first = read(ludus(*command).stdout)
    assert first == read(ludus(*command, "--num-envs", 2, "--executor", "serial").stdout)
    assert [one["number"] for one in first["episodes"]] == list(range(5))
    assert (first["id"], first["agent"], first["seed"]) == ("GridWorld-v0", "random", 3)
    assert first["episodes"] != read(ludus(*command, "--seed", 4).stdout)["episodes"]


def test_an_agent_of_the_current_folder_plays(folder, program, read):
    (folder / "my_agent.py").write_text("def up(seen):\n    return 1\n")
    done = program("eval", "GridWorld-v0", "--agent", "my_agent:up", "--json", "--episodes", 2, "--max-steps", 5)
    assert done.returncode == 0, done.stderr
    assert all(one["length"] <= 5 for one in read(done.stdout)["episodes"])


def test_an_agent_that_is_not_there_is_one_line(ludus):
    found = ludus("eval", "GridWorld-v0", "--agent", "best")
    assert found.exit_code == 2
    assert "agent: expected random, nop, one-step, mcts, module:name, http://… or a file" in found.stderr
