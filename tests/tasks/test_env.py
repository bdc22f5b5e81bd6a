"""A task as an environment: the loop, rewards, ends, budgets and snapshots."""

import re
import tempfile

import pytest

import ludus
from ludus.errors import ContractViolation, EnvError, InvalidAction, RegistrationError, ResetNeeded
from ludus.tasks import BaseTask, TaskEnv, register_task
from ludus.tasks.agents import nop_agent, play_episode, solution_agent
from ludus.tasks.agents.events import step_events
from ludus.tasks.journal import Journal
from ludus.tools import Call
from tests.tasks.conftest import SOLVE, TASK, shell, write_folder


def test_reset_tells_what_is_asked_and_what_is_there(parity):
    with TaskEnv(parity) as env:
        observation, info = env.reset(seed=1)
    assert "Say whether numbers are even" in observation.result
    assert "data/numbers.json (read-only)" in observation.result
    assert info["budget"] == {"steps": 12, "validations": 2, "forfeits": 3}
    assert info["guarantees"]["boundary"] is True


def test_the_state_shows_what_the_last_step_changed(env):
    env.call("write", path="notes.txt", content="one\n")
    assert "+one" in env.state.diff
    env.step("budget")
    assert env.state.diff == ""


def test_the_return_is_the_normalised_score(env):
    half = f"{SOLVE[:-2]})".replace("n % 2 == 0", "n % 2 == 0 if n % 4 else None")
    shell(env, f'python3 -c "{half}" > answer.json')
    first = env.step(Call("validate"))
    shell(env, f'python3 -c "{SOLVE}" > answer.json')
    last = env.step("submit")
    assert (last.terminated, last.truncated, last.info["outcome"]) == (True, False, "success")
    assert first.reward + last.reward == pytest.approx(1.0)
    assert last.info["score"]["value"] == 1.0
    with pytest.raises(ResetNeeded):
        env.step("budget")


def test_data_are_of_the_seed_and_the_same_again(parity):
    seen = []
    with TaskEnv(parity) as env:
        for seed in (5, 6, 5):
            _, info = env.reset(seed=seed)
            seen.append((info["data"], shell(env, "cat data/numbers.json").observation.result))
    assert seen[0] == seen[2] != seen[1]


def test_validation_is_coarse_and_budgeted(env):
    shell(env, f'python3 -c "{SOLVE}" > answer.json')
    assert "valid, better than before: 1.00" in env.step("validate").observation.result
    second = env.step("validate")
    assert "no step better" in second.observation.result
    assert second.reward == 0.0
    assert "expected at most 2 validations" in env.step("validate").observation.error


def test_steps_truncate_and_what_is_there_is_scored(env):
    shell(env, f'python3 -c "{SOLVE}" > answer.json')
    for _ in range(11):
        step = env.step("budget")
    assert (step.terminated, step.truncated, step.info["outcome"]) == (False, True, "time_limit")
    assert step.info["score"]["value"] == 1.0
    assert step.reward == 1.0


def test_actions_that_are_none_cost_forfeits_and_end_the_episode(env):
    words = ["what shall I do?", "```\nls\n```\n```\npwd\n```", '{"tool": "fly"}']
    steps = [env.step(one) for one in words]
    assert [one.info["budget"]["forfeits"] for one in steps] == [2, 1, 0]
    assert steps[-1].truncated
    assert steps[-1].info["outcome"] == "budget"
    assert "expected one code block, got 2" in steps[1].observation.error


def test_an_action_of_another_kind_is_refused(env):
    with pytest.raises(InvalidAction, match=r"action\.tool: expected one of"):
        env.step(Call("fly"))


def test_time_runs_out(parity):
    parity.joinpath("task.yaml").write_text(TASK.replace("total: 300", "total: 3"))
    with TaskEnv(parity) as env:
        env.reset(seed=0)
        step = shell(env, "sleep 600")
    assert step.truncated
    assert step.info["outcome"] == "time_limit"
    assert step.info["command"]["timed_out"]


def test_costs_are_deducted(parity):
    parity.joinpath("task.yaml").write_text(TASK + "cost: 0.25\n")
    with TaskEnv(parity) as env:
        env.reset(seed=0)
        assert env.step("budget").reward == -0.25


def test_a_gpu_is_refused_clearly(parity):
    parity.joinpath("task.yaml").write_text(TASK.replace("memory: 256M", "gpu: 1, memory: 256M"))
    with TaskEnv(parity) as env, pytest.raises(EnvError, match=r"resources\.gpu: expected 0, .* got 1"):
        env.reset(seed=0)


def test_the_agents_files_cannot_be_more_than_its_disk(env):
    step = shell(env, "for i in 1 2 3; do head -c 4000000 /dev/zero > big$i; done")
    assert "beyond its limits" in step.observation.error
    assert "snapshot" not in step.info
    assert "snapshot" in shell(env, "rm big*").info


def test_what_is_read_only_stays(env):
    shell(env, "chmod 777 rules.txt data; echo new > rules.txt; mv rules.txt x; rm -rf data; ln -sf /etc data/x")
    assert shell(env, "cat rules.txt; ls data").observation.result == "no rules\nnumbers.json\n"


def test_a_snapshot_takes_everything_back_and_fits_another_environment(env, parity):
    shell(env, "mkdir sub; cd sub; export WORD=hello; echo one > file")
    kept = env.snapshot()
    shell(env, "echo two > file; cd /; unset WORD")
    env.restore(kept)
    assert shell(env, "echo $WORD $PWD $(cat file)").observation.result == "hello /work/sub one\n"
    with TaskEnv(parity) as other:
        other.reset(seed=9)
        other.restore(kept)
        step = shell(other, f'cat file; cd /work; python3 -c "{SOLVE}" > answer.json')
        assert step.observation.result == "one\n"
        assert step.info["budget"]["steps"] == 10
        assert other.step("submit").info["score"]["value"] == 1.0


def test_the_authors_solution_is_an_agent(parity):
    with TaskEnv(parity) as env:
        done = play_episode(env, solution_agent(env.task, "reference"), 2)
        nothing = play_episode(env, nop_agent(), 2)
    assert (done.outcome, done.total, nothing.outcome, nothing.total) == ("success", 1.0, "failure", 0.0)


class Strict(BaseTask):
    def get_reward(self, action, result):
        return -1.0 if result.error else 0.0

    def is_done(self):
        return self._budget.steps >= 2


def test_a_task_in_python_has_rewards_and_an_end_of_its_own(parity):
    spec = register_task(id="strict", entry_point="tests.tasks.test_env:Strict", kwargs={"task": str(parity)})
    assert spec.id == "task/strict-v0"
    with ludus.make("task/strict") as env:
        env.reset(seed=0)
        assert env.step("read nothing").reward == -1.0
        assert env.step("budget").terminated
    del ludus.registry.registry["task/strict-v0"]


def test_a_folder_is_registered_with_what_its_file_says(tmp_path):
    spec = register_task(folder=write_folder(tmp_path / "even"))
    with ludus.make(spec.id) as env:
        observation, _ = env.reset(seed=0)
        assert "Say whether" in observation.result
    del ludus.registry.registry[spec.id]


def test_the_state_is_drawn(parity):
    with TaskEnv(parity, render_mode="rgb_array") as env:
        env.reset(seed=0)
        env.step("validate")
        assert env.render().shape == (520, 760, 3)
        assert env.state_data()["step"] == 1


def test_what_a_page_of_play_offers_are_calls(env):
    offered = [one["action"] for one in env.get_choices()]
    assert [one["tool"] for one in offered] == ["shell", "validate", "budget", "submit"]
    assert all(env.action_space.coerce(one, "choice") in env.action_space for one in offered)


def test_a_snapshot_outlives_the_resets_after_it_and_nothing_outlives_the_environment(parity, tmp_path, monkeypatch):
    monkeypatch.setenv("TMPDIR", str(tmp_path))
    monkeypatch.setattr(tempfile, "tempdir", None)
    with TaskEnv(parity) as env:
        env.reset(seed=1)
        shell(env, f'python3 -c "{SOLVE}" > answer.json')
        kept = env.snapshot()
        env.reset(seed=2)
        env.restore(kept)
        assert env.step("submit").info["score"]["value"] == 1.0
        env.restore(kept)
        assert shell(env, "ls").observation.result == "answer.json\ndata\nrules.txt\n"
    assert list(tmp_path.glob("ludus-task*")) == []


WRONG = [
    ("get_reward", float("nan"), "budget", "get_reward: expected a finite number, got nan"),
    ("get_reward", "much", "budget", "get_reward: expected a finite number, got 'much'"),
    ("evaluate", 0.5, "submit", "evaluate: expected a TaskScore, got 0.5"),
]


def test_what_a_subclass_gives_is_looked_at(env, monkeypatch):
    for method, value, action, words in WRONG:
        with monkeypatch.context() as patched:
            patched.setattr(type(env), method, lambda *given, value=value: value)
            with pytest.raises(ContractViolation, match=words):
                env.step(action)
    monkeypatch.setattr(type(env), "describe", lambda *given: None)
    with pytest.raises(ContractViolation, match="describe: expected text, got None"):
        env.reset(seed=3)
    with pytest.raises(RegistrationError, match="expected a path as the folder, got 3"):
        register_task(folder=3)


def test_what_a_grader_measures_is_kept_and_is_in_no_info_reward_or_observation(parity, tmp_path):
    parity.joinpath("task.yaml").write_text(TASK.replace("metric: accuracy,", "metric: accuracy, measured: [seconds],"))
    timed = 'return {"accuracy": 1.0, "share": 0.5, "seconds": time.process_time()}'
    parity.joinpath("grader.py").write_text(f"import time\n\n\ndef grade(case):\n    {timed}\n")
    histories = []
    for name in ("one", "other"):
        with TaskEnv(parity, folder=tmp_path / name) as env:
            history = [env.reset(seed=3), shell(env, "echo [] > answer.json"), env.step("validate"), env.step("submit")]
        kept = Journal(tmp_path / name).read()[-1].scores
        assert [sorted(one["metrics"]) for one in kept] == [["accuracy", "seconds", "share"]] * 2
        [told] = [one for one in step_events(env.task.spec, env.last) if one.kind == "score"]
        assert re.fullmatch(r"normalised 1\.0000, seconds 0\.\d+ measured", told.explanation)
        histories.append(history)
    assert histories[0] == histories[1]
    assert histories[0][-1].info["score"]["metrics"] == {"accuracy": 1.0, "share": 0.5}
