"""Agents in YAML, tools in bundles, memory from run to run, and tasks of installed packages."""

import io

import msgspec
import pytest

from ludus.errors import InvalidArgument
from ludus.tasks import TaskEnv, find_task, known_tasks
from ludus.tasks.agents import ScriptedTaskAgent, play_episode
from ludus.tasks.agents.batch import PlannedRun
from ludus.tasks.agents.choice import chosen_agent
from ludus.tasks.agents.config import AgentConfig, ToolSet, shown_tools
from ludus.tasks.agents.human import HumanAgent
from ludus.tasks.agents.run import RunOptions, run_task
from ludus.tools import Call
from tests.tasks.conftest import SOLVE


def test_an_agent_is_read_from_a_file(parity, tmp_path):
    file = tmp_path / "careful.yaml"
    file.write_text("agent: reference\nname: careful\ntools: [files, shell]\n")
    agent = chosen_agent(str(file), find_task(parity))
    with TaskEnv(parity) as env:
        assert (agent.name, play_episode(env, agent, 1).outcome) == ("careful", "success")
    file.write_text("agent: model\nmodel: {url: 'http://127.0.0.1:1/v1', model: mine, temperature: 0.5}\n")
    assert chosen_agent(str(file), find_task(parity)).name == "mine"


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("agnt: nop", "unknown field `agnt`"),
        ("agent: other.yaml", "expected the name of an agent, got another file"),
        ("model: {url: 3}", r"Expected `str`, got `int` - at `\$.model.url`"),
        ("agent: nobody", "or a YAML file, got 'nobody'"),
        ("agent: scripted", "calls: expected them with `agent: scripted`, got 0 calls"),
        ("agent: nop\ncalls: [submit]", "calls: expected them with `agent: scripted`, got 1 calls"),
        ("agent: scripted\ncalls: [{tol: shell}]", r"missing required field `tool` - at `\$.calls\[0\]`"),
    ],
)
def test_a_mistake_in_an_agents_file_is_told(parity, tmp_path, text, words):
    (tmp_path / "agent.yaml").write_text(text)
    with pytest.raises(InvalidArgument, match=words):
        chosen_agent(str(tmp_path / "agent.yaml"), find_task(parity))


def test_a_script_is_read_from_a_file_and_a_run_is_done_again_by_its_folder(parity, tmp_path):
    file = tmp_path / "script.yaml"
    solve = {"tool": "shell", "arguments": {"command": f'python3 -c "{SOLVE}" > answer.json'}}
    file.write_bytes(msgspec.yaml.encode({"agent": "scripted", "name": "mine", "calls": [solve, "validate"]}))
    task = find_task(parity)
    first = run_task(task, chosen_agent(str(file), task), 1, options=RunOptions(folder=tmp_path / "run"))
    assert (first.agent, first.steps, first.outcome) == ("mine", 3, "success")
    again = chosen_agent(str(tmp_path / "run"), task)
    with TaskEnv(parity) as env:
        second = play_episode(env, again, 2)
    assert (second.agent, second.steps, second.outcome, second.seed) == ("replay", 3, "success", 2)
    assert PlannedRun(task, str(tmp_path / "run"), 5, tmp_path / "out").place == tmp_path / "out/Parity-v0/run/5"


def test_bundles_name_tools_and_a_tool_that_was_not_shown_is_none(parity):
    with TaskEnv(parity) as env:
        shown = shown_tools(AgentConfig(tools=("files", "mine"), bundles={"mine": ("shell",)}), env.tools)
        assert sorted(shown) == ["edit", "list", "read", "search", "shell", "submit", "text", "write"]
        with pytest.raises(InvalidArgument, match="got 'shel'; did you mean 'shell'"):
            shown_tools(AgentConfig(tools=("shel",)), env.tools)
        calls = [Call("shell", {"command": "echo > made"}), Call("write", {"path": "a", "content": "b"})]
        agent = ToolSet(ScriptedTaskAgent(calls), AgentConfig(tools=("files",)))
        play_episode(env, agent, 0)
        steps = [path for path in ("made", "a") if (env._placed().work / path).exists()]
    assert steps == ["a"]


def test_memory_lasts_from_run_to_run_and_takes_no_link(parity, tmp_path):
    file = tmp_path / "notes" / "memory.md"
    with TaskEnv(parity, memory=file) as env:
        first = ScriptedTaskAgent([Call("shell", {"command": "cat memory.md; echo even numbers >> memory.md"})])
        play_episode(env, first, 0)
        assert file.read_text().endswith("later runs.\neven numbers\n")
        env.reset(seed=1)
        assert "even numbers" in env.call("read", path="memory.md").observation.result
        env.call("shell", command="rm memory.md; ln -s /etc/passwd memory.md")
        env.step("submit")
        assert file.read_text().endswith("even numbers\n")
    file.write_bytes(b"x" * 70_000)
    with TaskEnv(parity, memory=file) as env, pytest.raises(InvalidArgument, match="expected at most 65536 bytes"):
        env.reset()


def test_tasks_of_installed_packages_are_found_without_importing_them(parity, tmp_path, monkeypatch):
    package = tmp_path / "site" / "colourful"
    (package / "tasks").mkdir(parents=True)
    (package / "__init__.py").write_text("raise RuntimeError('imported')\n")
    parity.rename(package / "tasks" / "parity")
    info = tmp_path / "site" / "colourful-1.0.dist-info"
    info.mkdir()
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: colourful\nVersion: 1.0\n")
    (info / "entry_points.txt").write_text("[ludus.tasks]\ncolourful = colourful:tasks\n")
    monkeypatch.syspath_prepend(str(tmp_path / "site"))
    assert known_tasks()["task/Parity-v0"] == package / "tasks" / "parity"
    assert find_task("Parity").spec.name == "Say whether numbers are even"


def test_a_person_writes_commands_of_several_lines_and_the_end_of_the_input_submits(parity):
    typed = "\nbudget\ncat > notes << END\none\ntwo\nEND\nfor i in 1 2\ndo echo $i\ndone\n"
    typed += "printf '\\033[2Jgone'\nread notes\n"
    shown = io.StringIO()
    seen = []
    with TaskEnv(parity) as env:
        agent = HumanAgent(io.StringIO(typed), shown)
        play_episode(env, agent, 0, watch=lambda call, step: seen.append((call, step.observation.result)))
    assert [call.tool for call, _ in seen] == ["budget", "shell", "shell", "shell", "read", "submit"]
    assert seen[1][0].arguments == {"command": "cat > notes << END\none\ntwo\nEND"}
    assert (seen[2][1], seen[4][1]) == ("1\n2\n", "notes, 2 lines\n     1  one\n     2  two\n")
    assert "[2Jgone" in shown.getvalue()
    assert "\x1b" not in shown.getvalue()


def test_a_tool_that_was_not_shown_is_none_however_its_call_is_spelt(parity):
    spelt = ['{"tool": "shell", "arguments": {"command": "echo > made"}}', "```bash\necho > made\n```"]
    calls = [spelt[0], Call("write", {"path": "a", "content": "b"}), spelt[1], Call("text", {"message": spelt[0]})]
    with TaskEnv(parity) as env:
        play_episode(env, ToolSet(ScriptedTaskAgent(calls), AgentConfig(tools=("files",))), 0)
        made = [path for path in ("made", "a") if (env._placed().work / path).exists()]
    assert made == ["a"]
