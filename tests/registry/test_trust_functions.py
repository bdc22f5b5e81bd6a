"""Every public function that takes an id, a spec, a file or an address: none of a stranger's code runs for it here.

The functions are those that the packages list: a new one that is in neither list here fails, and so does a new name of
a parameter that nobody has called harmless.
"""

import json
import signal
import subprocess
import sys

import pytest

from tests.registry.public_functions import public
from tests.registry.test_trust_commands import TRUST, place  # noqa: F401  (a fixture)
from tests.registry.test_trust_everywhere import MARKED

WALKED = {
    "benchmarks.bench.bench": "bench(target, [1], executors=['serial'], peers=[], pace=RacePace(0.01, 1), memory=0)",
    "benchmarks.lineup.lineup": "lineup(target, ['serial'], [])",
    "client.connection.connect": "used(connect(url, timeout=60))",
    "client.connection.aconnect": "asyncio.run(awaited(aconnect(url, timeout=60)))",
    "client.env_client.EnvClient.from_url": "GenericEnvClient.from_url(url).sync().reset()",
    "client.env_client.GenericEnvClient": "GenericEnvClient(base_url=url).sync().reset()",
    "client.typed_client.TypedClient": "TypedClient(url, timeout=60).reset()",
    "core.spec.EnvSpec.from_json": "used(EnvSpec.from_json(spec_json).of_file().make())",
    "core.spec.EnvSpec.make_named": "used(EnvSpec.make_named(target))",
    "evaluate.agent_names.as_agent": "as_agent(agent)",
    "evaluate.file_agent.FileAgent": "evaluate('CartPole-v1', FileAgent(f'{weights}:{agent}'), episodes=1)",
    "evaluate.leaderboard.leaderboard": "leaderboard(results)",
    "evaluate.result.open_result": "open_result(result)",
    "evaluate.result.read_evaluation": "read_evaluation(result)",
    "evaluate.runner.evaluate": "evaluate(target, 'random', episodes=2); evaluate('CartPole-v1', agent, episodes=1)",
    "evaluate.suite_run.evaluate_suite": "evaluate_suite('toy-text', agent, new)",
    "evaluate.verification.verify": "verify(result); verify(result, target); verify(result, agent=agent)",
    "interop.as_gymnasium.registration.load_env_creator": "load_env_creator(agent)",
    "interop.as_gymnasium.registration.make_vec": "used(gym_make_vec(target, 2)); used(gym_make_vec(batch_spec, 2))",
    "interop.as_gymnasium.registration.register": "gym_register('mine/Own-v1', target); used(make('mine/Own-v1'))",
    "interop.openenv.export.to_openenv": "to_openenv(target)",
    "interop.trl.environment_factory": "environment_factory(target)().reset(); environment_factory(url)().reset()",
    "registry.audit.run.audit": "audit(['marked-mazes'])",
    "registry.make.make": "used(make(target)); used(make(spec))",
    "registry.make_vec.make_vec": "used(make_vec(target, 2, executor='serial')); used(make_vec(batch_spec, 2))",
    "registry.shared.register": "register('mine/Own-v2', target); used(make('mine/Own-v2'))",
    "registry.shared.spec": "ludus.spec(target)",
    "registry.table.Registry.isolated": "Registry.isolated(target)",
    "sandbox.environment.fork_server.ForkServer": "ForkServer(target).close()",
    "sandbox.environment.isolation.isolate": "used(isolate(target)); used(isolate(spec))",
    "sandbox.environment.isolation.isolate_vec": "used(isolate_vec(target, num_envs=2))",
    "server.app.create_app": "create_app(target)",
    "server.run.serve": "serve(target, port=0, block=False).close()",
    "server.served_env.ServedEnv": "used(ServedEnv(target).make())",
    "spaces.codec.loads": "loads(Discrete(3), odd_space)",
    "spaces.description.from_description": "from_description(json.loads(odd_space))",
    "spaces.description.from_json": "from_json(odd_space)",
    "tasks.agents.replay.fork_run": "fork_run(Path(begun), 1, Path(new + '-fork'))",
    "tasks.agents.replay.replay_run": "replay_run(find_task(task), Path(begun))",
    "tasks.audit.audit.audit_task": "audit_task(task, cheats=[])",
    "tasks.conversion.source.import_task": "import_task(Path(harbor), Path(new + '-imported'))",
    "tasks.env.TaskEnv": "used(TaskEnv(task))",
    "tasks.folder.find_task": "find_task(task)",
    "tasks.grading.data.make_data": "make_data(find_task(task).spec, Path(task), Path(new + '-data'), seed=0)",
    "tasks.grading.grader.Grader": "Grader(find_task(task).spec, Path(task), made_data()).grade(Path(task), 'public')",
    "tasks.registration.BaseTask": "used(BaseTask(task))",
    "tasks.registration.register_task": "register_task('mine/Task-v0', folder=task); used(make('mine/Task-v0'))",
    "tasks.task_file.read_task": "read_task(Path(task) / 'task.yaml')",
    "tasks.task_file.read_task_text": "read_task_text((Path(task) / 'task.yaml').read_text())",
    "testing.env_contract.check_env": "check_env(target, steps=5, seconds=20)",
    "testing.service.checks.check_folder": "check_folder(folder, steps=5, serve=False)",
    "testing.service.checks.check_url": "check_url(url, steps=5)",
    "trajectory.atif.from_atif": "from_atif(json.dumps({'agent': {'name': agent}, 'steps': []}), new + '.ludus')",
    "trajectory.inspect_log.from_inspect": "from_inspect(run, new + '.ludus')",
    "trajectory.minari.from_minari": "to_minari(Run.open(run), new, 'a/b-v0'); from_minari(new, new + '.ludus')",
    "trajectory.parquet.from_parquet": "to_parquet(Run.open(run), new); from_parquet(new, new + '.ludus')",
    "trajectory.replay.recompute": "recompute(run, new + '.ludus')",
    "trajectory.replay.replay": "replay(run)",
    "trajectory.run.Run.open": "list(episode_frames(Run.open(run), 0))",
    "trajectory.selection.merge": "merge([run, run], new + '.ludus')",
    "web.view.service.show_runs": "show_runs([run], block=False).close()",
    "web.view.viewer.Viewer": "write_document(Viewer([run]), new + '.html')",
    "wire.description.read_space": "read_space(json.loads(odd_space))",
    "wrappers.wrapper_list.wrap": "wrap(make('CartPole-v1'), 'marked_mazes:Maze')",
    "wrappers.wrapper_list.wrapper_of": "wrapper_of('marked_mazes:Maze')",
}
"""What is called, and how; `ludus.` is before each name."""
ENTRY_POINTS = {
    "interop.openenv.folder.create_folder",
    "interop.openenv.source.create",
}
"""What specs of others' environments name: `make` calls them where it has decided that they run."""
NO_CODE = {
    *("benchmarks.bench.compare", "client.env_client.EnvClient", "client.remote_env.RemoteEnv"),
    *("client.env_client.EnvClient.from_docker_image", "client.env_client.EnvClient.from_image"),  # in a container
    *("client.remote_vector_env.RemoteVectorEnv", "core.id.EnvId.parse", "core.legacy.from_legacy"),
    *("evaluate.http_agent.HttpAgent", "evaluate.reference.normal_score", "evaluate.seeds.derived_seed"),
    *("evaluate.seeds.derived_seeds", "evaluate.suite.suite_named", "interop.as_gymnasium.finder.Mirror"),
    *("interop.as_gymnasium.finder.VirtualModule", "interop.as_gymnasium.finder.virtual_module"),
    *("interop.as_gymnasium.playback.save_video", "interop.as_gymnasium.registration.find_highest_version"),
    *("interop.as_gymnasium.registration.get_env_id", "interop.as_gymnasium.registration.parse_env_id"),
    *("interop.gymnasium.from_gymnasium", "interop.gymnasium_batch.BatchFromGymnasium"),  # an object that is here
    *("interop.gymnasium_single.FromGymnasium", "interop.gymnasium_specs.id_for_gymnasium"),
    *("interop.gymnasium_specs.id_from_gymnasium", "interop.gymnasium_specs.spec_from_gymnasium"),
    *("interop.gymnasium_specs.spec_to_gymnasium", "interop.openenv.environment.FromOpenEnv"),
    *("interop.openenv.core.env_server.http_server.create_fastapi_app", "interop.openenv.source.from_openenv"),
    *("interop.openenv.tool_environment.FromOpenEnvTools", "packaging.scaffold.scaffold", "registry.shared.namespace"),
    *("rendering.font.text_width", "rendering.video.VideoWriter", "rendering.video.write_video"),
    *("rubrics.rubric.Function", "sandbox.containers.docker.Docker", "sandbox.containers.gvisor.Gvisor"),
    *("sandbox.containers.podman.Podman", "sandbox.environment.sandboxed_env.SandboxedEnv", "sandbox.sandbox.Sandbox"),
    *("sandbox.environment.sandboxed_vector_env.SandboxedVectorEnv", "sandbox.user.give", "server.run.RunningServer"),
    *("sandbox.workspace.store.Store", "sandbox.workspace.workspace.Workspace", "tasks.agents.agent.ScriptedTaskAgent"),
    *("tasks.grading.data.checksum_of", "tasks.grading.submission.copy_submission", "tools.tool.Tool"),
    *("tools.tool.tool", "trajectory.atif.to_atif", "trajectory.messages.to_jsonl", "trajectory.minari.to_minari"),
    *("trajectory.parquet.to_parquet", "trajectory.selection.select", "trajectory.selection.split"),
    *("web.view.document.write_document", "wire.space_codec.SpaceCodec", "interop.gymnasium.resolve"),
}
"""A name that is a word, an address that is asked for data, a place that is written to, an object that is here."""
CLIENTS = "interop.openenv.envs.", "interop.openenv.core.http_env_client."
"""OpenEnv's names for `GenericEnvClient`."""
NAMING = {
    *("agent", "app", "base_url", "data", "document", "entry_point", "env", "env_id", "files", "first", "folder"),
    *("folders", "given", "id", "image", "log", "modules", "name", "openenv_env", "packages", "parent", "path"),
    *("paths", "peers", "run", "runs", "second", "source", "spec", "suite", "target", "targets", "task", "text"),
    *("url", "vector_entry_point", "video_folder", "work", "wrappers"),
}
"""Parameters that name something: who has one is in a list above."""
PLAIN = {
    *("a", "across", "action", "args", "arguments", "ask", "autoreset_mode", "b", "backend", "background", "calls"),
    *("charset", "check_box_space_fn", "color", "columns", "command", "complete", "context", "curves"),
    *("data_1", "data_2", "description", "device", "dtype", "each", "env_kwargs", "environment", "exclude_namespaces"),
    *("executor", "executors", "extras", "family", "fields", "fn", "frame", "function", "groups", "headers", "hide"),
    *("host", "hosts", "info", "info_comparison", "infos", "interpreters", "isolation", "items", "key", "kind"),
    *("kinds", "kwargs", "label", "lowest", "memory", "message", "metadata", "method_name", "mode", "models"),
    *("more", "msg", "name_prefix", "names", "namespace", "network", "new_max", "new_min", "noop", "ns", "obs"),
    *("observation_mode", "options", "other", "out", "outcome", "params", "parts", "pattern"),
    *("print_registry", "prompt", "purpose", "python", "query", "ready", "record", "reference"),
    *("render_mode", "request", "sandbox", "save_logger", "say", "score", "scores", "session"),
    *("shared_memory", "shell", "shown", "signed_by", "space", "space_type", "store", "string", "tags", "title"),
    *("token", "tokens", "tools", "transform", "value", "vector_kwargs", "vectorization_mode", "version", "weights"),
    *("where", "who", "x"),
}
"""Parameters that are texts, or anything, and name no code by themselves."""
DRIVER = """
import asyncio, contextlib, json, pathlib, sys
from pathlib import Path
import ludus
from ludus import EnvSpec, connect, create_app, make, make_vec, register, serve, wrap
from ludus.benchmarks import RacePace, bench, lineup
from ludus.client import GenericEnvClient, TypedClient, aconnect
from ludus.errors import LudusError
from ludus.evaluate import (FileAgent, as_agent, evaluate, evaluate_suite, leaderboard, open_result, read_evaluation,
                            verify)
from ludus.interop.as_gymnasium.registration import load_env_creator, make_vec as gym_make_vec
from ludus.interop.as_gymnasium.registration import register as gym_register
from ludus.interop.openenv import to_openenv
from ludus.interop.trl import environment_factory
from ludus.registry import Registry
from ludus.registry.audit import audit
from ludus.sandbox.environment import ForkServer, isolate, isolate_vec
from ludus.server import ServedEnv
from ludus.spaces import Discrete, from_description, from_json, loads
from ludus.tasks import BaseTask, TaskEnv, find_task, read_task, read_task_text, register_task
from ludus.tasks.agents import fork_run, replay_run
from ludus.tasks.audit import audit_task
from ludus.tasks.conversion import import_task
from ludus.tasks.grading import Grader, make_data
from ludus.testing import check_env
from ludus.testing.service import check_folder, check_url
from ludus.trajectory import (Run, episode_frames, from_atif, from_inspect, from_minari, from_parquet, merge, recompute,
                              replay, to_minari, to_parquet)
from ludus.web.view import Viewer, show_runs, write_document
from ludus.wire import read_space
from ludus.wrappers import wrapper_of

marker, given, told = Path(sys.argv[1]), json.loads(sys.argv[2]), []
spec = EnvSpec("Maze-v0", "marked_mazes:Maze")
batch_spec = EnvSpec("Mazes-v0", "marked_mazes:Maze", vector_entry_point="marked_mazes:Maze")
spec_json, agent, weights = spec.to_json(), "marked_mazes:Left", "weights.safetensors"
odd_space = json.dumps({"type": "marked_mazes:Maze", "kind": "marked_mazes:Maze", "model": "marked_mazes:Maze"})
Path(weights).write_bytes(b"\\x02\\0\\0\\0\\0\\0\\0\\0{}")

def used(env):
    with env:
        env.reset(seed=0)

async def awaited(coming):
    env = await coming
    await env.reset(seed=0)
    await env.close()

def made_data():
    return make_data(find_task(given["task"]).spec, Path(given["task"]), Path(given["new"] + "-data"), seed=0)

for number, line in enumerate(given["lines"]):
    names = {**globals(), **given, "new": given["new"] + str(number)}
    for one in line.split("; "):
        problem = ""
        try:
            exec(one, names)
        except LudusError as error:
            problem = f"{type(error).__name__}: {error}"
        except Exception as error:
            problem = f"foreign {type(error).__name__}: {error}"
        told.append([one, marker.exists() or "marked_mazes" in sys.modules, problem])
        marker.unlink(missing_ok=True)
        sys.modules.pop("marked_mazes", None)
print("\\n" + json.dumps(told))
"""


def named() -> dict[str, tuple[str, ...]]:
    """Public functions without the name of the package, and without OpenEnv's other names for one client."""
    return {
        name.removeprefix("ludus."): taken
        for name, taken in public().items()
        if not name.removeprefix("ludus.").startswith(CLIENTS)
    }


def test_every_function_that_takes_a_name_is_walked_or_takes_no_code():
    found = named()
    assert len(found) > 150
    naming = {name for name, taken in found.items() if NAMING & set(taken)}
    assert naming == {*WALKED, *ENTRY_POINTS, *NO_CODE}
    assert not set(WALKED) & NO_CODE
    assert {one for taken in found.values() for one in taken} - NAMING == PLAIN


@pytest.fixture(scope="module")
def url(tmp_path_factory):
    """A server that has code of the same name, without the mark: what it names is not imported here."""
    theirs = tmp_path_factory.mktemp("theirs")
    (theirs / "marked_mazes.py").write_text(MARKED.format(marker=str(theirs / "elsewhere")))
    command = [sys.executable, "-m", "ludus", "serve", "marked_mazes:Maze", "--port", "0"]
    with subprocess.Popen(command, cwd=theirs, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True) as server:
        try:
            assert server.stdout is not None
            yield server.stdout.readline().partition(" ")[0].strip()
        finally:
            server.send_signal(signal.SIGINT)
            server.communicate(timeout=100)


def called(place, url, lines, target, trust):  # noqa: F811  (a fixture's value)
    root = place.folder.parent
    given = {
        "folder": root / "corridor", "run": root / "run.ludus", "results": root / "results", "task": root / "task",
        "result": root / "results" / "one.ludus", "harbor": root / "harbor", "new": root / "made", "target": target,
        "begun": root / "begun", "url": url,
    }  # fmt: skip
    given = {name: str(one) for name, one in given.items()} | {"lines": lines}
    done = place.run("-c", DRIVER, str(place.marker), json.dumps(given), trust=trust)
    assert done.returncode == 0, done.stderr
    place.marker.unlink(missing_ok=True)
    return json.loads(done.stdout.splitlines()[-1])


SHARES = 6


@pytest.mark.one_of(SHARES)
@pytest.mark.parametrize("share", range(SHARES))
@pytest.mark.parametrize("target", ["marked/Maze-v0", pytest.param("marked_mazes:Maze", marks=pytest.mark.full)])
def test_no_function_of_all_runs_it_here(place, url, share, target):  # noqa: F811
    told = called(place, url, list(WALKED.values())[share::SHARES], target, TRUST)
    assert [(line, problem) for line, ran, problem in told if ran] == []
    assert [(line, problem) for line, _, problem in told if problem.startswith("foreign")] == []


@pytest.mark.full
def test_the_same_functions_run_it_where_it_is_trusted(place, url):  # noqa: F811
    """So that it is known that the lines come to the code at all."""
    reached = {"make(target)", "make(spec)", "evaluate(target", "as_agent(agent)", "verify(result, target)",
               "to_openenv", "load_env_creator", "make_vec(target", "gym_make_vec(target", "ServedEnv(target)",
               "EnvSpec.make_named(target)", "check_env(target", "environment_factory(target)"}  # fmt: skip
    lines = [line for line in WALKED.values() if any(one in line for one in reached)]
    told = called(place, url, lines, "marked_mazes:Maze", "third-party=none,first-party=none")
    ran = [line for line, ran, _ in told if ran]
    assert [one for one in reached if not any(one in line for line in ran)] == []
