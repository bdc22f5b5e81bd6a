"""A task wherever environments run: in a batch, in processes, in every kind of isolation, and over every protocol."""

import asyncio
import json
import shutil

import pytest
from mcp.client.client import Client
from websockets.sync.client import connect

import ludus
from ludus.errors import SandboxUnavailable
from ludus.tasks import TaskEnv, known_tasks, register_task, workspace
from ludus.tasks.grading.data import TaskData, make_data
from ludus.tasks.sandboxes import keep_from_agent
from ludus.testing import ENV_RULES, check_env
from ludus.testing.rule import Examination
from ludus.testing.subject import Subject
from ludus.tools import Call
from tests.tasks.conftest import SOLVE, shell, write_folder

SOLVED = f'python3 -c "{SOLVE}" > answer.json; pwd'


@pytest.fixture(scope="module")
def task(tmp_path_factory):
    """The id of a small task."""
    spec = register_task(folder=write_folder(tmp_path_factory.mktemp("places") / "parity"))
    yield spec.id
    del ludus.registry.registry[spec.id]


@pytest.fixture(scope="module")
def url(task):
    """A server of it."""
    with ludus.serve(task, port=0, block=False) as server:
        yield server.url


@pytest.mark.parametrize("executor", [None, pytest.param("process", marks=pytest.mark.full)])
def test_a_batch_scores_each_lane_by_itself(task, executor):
    with ludus.make_vec(task, 2, **({} if executor is None else {"executor": executor})) as batch:
        batch.reset(seed=[1, 2])
        batch.step([Call("shell", {"command": SOLVED}), Call("budget")])
        step = batch.step([Call("submit"), Call("submit")])
    assert step.reward.tolist() == [1.0, 0.0]
    assert step.terminated.tolist() == [True, True]
    assert step.info["score"]["value"].tolist() == [1.0, None]


def test_a_client_works_in_a_task_of_a_server(url):
    with ludus.connect(url) as env:
        observation, _ = env.reset(seed=1)
        assert "Say whether numbers are even" in observation.result
        assert env.step(Call("shell", {"command": SOLVED})).observation.result == "/work\n"
        step = env.step("submit")
    assert (step.reward, step.info["outcome"], step.info["score"]["value"]) == (1.0, "success", 1.0)


def test_an_agent_works_in_a_task_by_mcp(task, url):
    async def talk():
        async with Client(f"{url}/env/{task}/mcp") as client:
            tools = {one.name for one in (await client.list_tools()).tools}
            said = await client.call_tool("shell", {"command": SOLVED})
            return tools, said.content[0].text, (await client.call_tool("submit", {})).meta

    tools, said, end = asyncio.run(talk())
    assert {"shell", "read", "write", "edit", "start", "poll", "kill", "validate", "budget", "submit"} <= tools
    assert said == "/work\n"
    assert (end["reward"], end["done"], end["outcome"]) == (1.0, True, "success")


def test_an_agent_works_in_a_task_by_openenvs_protocol(url):
    with connect(f"{url.replace('http', 'ws', 1)}/ws", proxy=None) as socket:

        def ask(kind, data):
            socket.send(json.dumps({"type": kind, "data": data}))
            return json.loads(socket.recv())["data"]

        assert "Say whether" in ask("reset", {"seed": 1})["observation"]["result"]
        said = ask("step", {"tool": "shell", "arguments": {"command": SOLVED}})
        end = ask("step", {"tool": "submit", "arguments": {}})
    assert said["observation"]["result"] == "/work\n"
    assert (end["reward"], end["done"]) == (1.0, True)


def test_a_task_is_done_and_taken_back_in_isolation(parity):
    """In containers: `test_containers.py`."""
    with TaskEnv(parity, backend="bubblewrap") as env:
        _, info = env.reset(seed=1)
        shell(env, SOLVED)
        kept = env.snapshot()
        shell(env, "rm answer.json")
        env.restore(kept)
        step = env.step("submit")
    assert info["guarantees"]["boundary"]
    assert step.info["score"]["value"] == 1.0, step.info["score"]["reason"]


@pytest.mark.parametrize("chosen", ["landlock", "process"])
def test_backends_without_a_file_system_of_their_own_are_refused_with_what_to_take(parity, chosen):
    with (
        TaskEnv(parity, backend=chosen) as env,
        pytest.raises(SandboxUnavailable, match="take the backend 'bubblewrap'"),
    ):
        env.reset(seed=1)


@pytest.mark.full
def test_a_task_keeps_every_law_of_the_contract(parity):
    report = check_env(lambda render_mode=None: TaskEnv(parity, render_mode=render_mode), steps=4)
    assert report.findings == (), str(report)
    assert set(report.reasons()) == {"the render mode human opens a window"}


@pytest.fixture
def data_made_twice(monkeypatch, tmp_path):
    """Data that a generator wrote twice alike are copied from then on: dozens of episodes of one seed show no more."""
    made = {}

    def make(spec, folder, target, *, seed, **options):
        known, kept = made.setdefault(seed, []), tmp_path / f"{seed}"
        if len(known) < 2 or known[0].checksum != known[1].checksum:
            known.append(make_data(spec, folder, target, seed=seed, **options))
            if len(known) == 2:
                for name in ("public", "hidden", "task"):
                    shutil.copytree(target / name, kept / name)
            return known[-1]
        for name in ("public", "hidden", "task"):
            shutil.copytree(kept / name, target / name, dirs_exist_ok=True)
        for name in ("hidden", "task"):
            keep_from_agent(target / name)
        return TaskData(target / "public", target / "hidden", known[0].seed, known[0].checksum)

    monkeypatch.setattr(workspace, "make_data", make)
    return made


@pytest.mark.full
@pytest.mark.parametrize("name", sorted(known_tasks()))
def test_shipped_tasks_keep_the_contract(name, data_made_twice):
    folder = known_tasks()[name]
    report = check_env(lambda render_mode=None: TaskEnv(folder, render_mode=render_mode), steps=4)
    assert report.findings == (), str(report)
    assert set(report.reasons()) == {"the render mode human opens a window"}
    assert max(len(one) for one in data_made_twice.values()) == 2, "a seed's data were not the same twice"


@pytest.mark.full
def test_the_contract_of_an_id_ends_and_says_that_commands_may_differ():
    report = check_env("task/SatHeuristic-v0", steps=4)
    assert report.findings == (), str(report)
    assert set(report.reasons()) == {"the render mode human opens a window", "its spec declares it nondeterministic"}


def test_a_task_keeps_the_laws_of_calls_spaces_files_and_snapshots(parity):
    named = ("episodes-run", "boxes-make-sense", "episodes-leave-nothing-behind", "snapshot-is-exact")
    held = Examination(ENV_RULES, Subject(lambda: TaskEnv(parity), steps=2))
    found = {rule.name: held.outcome(rule) for rule in ENV_RULES if rule.name in named}
    assert [(name, one.findings, one.not_checked) for name, one in found.items()] == [(name, (), ()) for name in named]
