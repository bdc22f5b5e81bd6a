"""Git: tasks that are solved with git alone, a forge that speaks HTTP, and grading that nobody talks into anything."""

from contextlib import closing

import numpy as np
import pytest

import ludus
from ludus.core import Outcome
from ludus.envs.open import clone_repo, execute_git_command, list_repos
from ludus.envs.open.git import Git, GitAction, list_files, read_file, submit, write_file
from ludus.envs.open.git import box as boxes
from ludus.envs.open.git.box import GitBox, GitRequest
from ludus.envs.open.git.forge import HOST, RemoteForge
from ludus.envs.open.git.policies import POLICIES
from ludus.envs.open.git.tasks import KINDS
from ludus.envs.open.git.workspace import words_of
from ludus.errors import EnvError, InvalidArgument, InvalidValue, ResetNeeded, SandboxError
from ludus.rendering import Canvas
from tests.envs.gitea import PASSWORD, USER, gitea
from tests.envs.open_play import mean_returns, play

SAMPLE = ["resolve_conflict", "split_commit", "update_module", "dropped_stash", "continue_rebase", "bisect"]


@pytest.fixture(scope="module")
def env():
    with Git() as env:
        yield env


def begun(env, kind="tag_release", seed=0):
    observation, _ = env.reset(seed=seed, options={"task": kind})
    return observation


def told(env, action):
    return env.step(action).observation


# --- the actions of OpenEnv ---


def test_repositories_are_listed_cloned_and_worked_on_as_in_the_guide(env):
    name = begun(env).repos[0]["name"]
    listed = told(env, list_repos())
    assert listed.success
    assert listed.repos == [
        {
            "name": name,
            "owner": "team",
            "full_name": f"team/{name}",
            "clone_url": f"http://forge.local/team/{name}.git",
            "description": "",
        }
    ]
    assert told(env, clone_repo(name)).success
    with_word = told(env, execute_git_command("git status", f"/workspace/{name}"))
    assert with_word.success
    assert with_word.output.startswith("On branch main")
    assert told(env, GitAction("execute_git_command", command="status", working_dir=name)) == with_word
    assert told(env, GitAction(command="status")) == with_word


def test_a_push_arrives_at_the_forge_by_http(env):
    name = begun(env).repos[0]["name"]
    env.step(clone_repo(name, "there"))
    assert told(env, execute_git_command("remote -v")).output.startswith(f"origin\thttp://forge.local/team/{name}.git")
    assert told(env, write_file("new.txt", "hello\n")).success
    assert told(env, read_file("/workspace/there/new.txt")).output == "hello\n"
    assert "new.txt" in told(env, list_files()).output.splitlines()
    env.step(execute_git_command("add new.txt"))
    env.step(execute_git_command("commit -q -m 'Say hello'"))
    assert told(env, execute_git_command("push origin main")).success
    assert env._forge.look(name).files(env._forge.look(name).tip("main"))["new.txt"] == "hello\n"
    again = told(env, clone_repo(name, "again"))
    assert again.success
    assert told(env, read_file("new.txt")).output == "hello\n"


def test_nothing_but_the_forge_is_reached(env):
    begun(env)
    for url in ("http://example.com/x.git", "http://127.0.0.1:80/x.git", "https://forge.local/x.git", "git://h/x"):
        assert not told(env, execute_git_command(f"clone {url} somewhere")).success


@pytest.mark.parametrize(
    ("action", "error"),
    [
        (GitAction("frobnicate"), "action_type: expected one of"),
        (GitAction("clone_repos"), "did you mean 'clone_repo'"),
        (clone_repo("nothing"), "repo_name: expected one of"),
        (execute_git_command(""), "command: expected a command of git"),
        (execute_git_command("git"), "command: expected a command of git"),
        (execute_git_command("log 'open"), "every quote closed"),
        (execute_git_command("status && ls"), "there is no shell here"),
        (execute_git_command("status", "/etc"), "path: expected one inside of /workspace"),
        (execute_git_command("status", "../.."), "path: expected one inside of /workspace"),
        (read_file("../../etc/passwd"), "path: expected one inside of /workspace"),
        (GitAction("write_file"), "target_dir: expected the path of a file"),
    ],
)
def test_what_cannot_be_understood_is_told_and_the_episode_goes_on(env, action, error):
    begun(env)
    step = env.step(action)
    assert not step.observation.success
    assert error in step.observation.error
    assert step.info["facts"]["invalid_format"]
    assert (step.reward, step.done) == (-0.05, False)
    assert env.step(list_repos()).observation.success


def test_a_command_that_fails_is_no_bad_action(env):
    begun(env)
    step = env.step(execute_git_command("frobnicate"))
    assert (step.observation.success, step.reward, step.info["facts"]["invalid_format"]) == (False, 0.0, False)
    assert "not a git command" in step.observation.error
    assert "expected a folder" in told(env, execute_git_command("status", "nowhere")).error


def test_words_of_a_command_are_those_of_a_shell():
    assert words_of("git log --format='%h %s' HEAD~1..") == ["log", "--format=%h %s", "HEAD~1.."]
    with pytest.raises(InvalidValue):
        words_of("git log | cat")


# --- seeds and time ---


def test_a_seed_is_a_history_down_to_the_hashes(env):
    def history():
        name = begun(env, "resolve_conflict", 7).repos[0]["name"]
        env.step(clone_repo(name))
        env.step(write_file("a.txt", "a"))
        env.step(execute_git_command("add ."))
        env.step(execute_git_command("commit -m 'Add a'"))
        return [told(env, execute_git_command(c)) for c in ("log --format='%H %ad %cr' --all", "stash list", "status")]

    first = history()
    assert first == history()
    assert "60 seconds ago" in first[0].output


def test_kinds_are_many_and_tasks_differ_by_seed():
    assert len(KINDS) >= 25
    for name, kind in KINDS.items():
        prompts = {kind.task(seed).prompt for seed in range(5)}
        assert len(prompts) > 1, name
    with Git() as env:
        assert len({env.reset(seed=seed)[1]["task"] for seed in range(60)}) > 20


def test_a_kind_is_chosen_by_name():
    with pytest.raises(InvalidArgument, match="did you mean 'bisect'"):
        Git(task="bisekt")
    with pytest.raises(InvalidArgument, match="Git seconds: expected a number above 0"):
        Git(seconds=0)
    env = Git(task="blame")
    assert env.reset(seed=1)[1]["task"] == "blame"
    with pytest.raises(InvalidArgument, match="expected only 'task'"):
        env.reset(options={"level": 1})
    with pytest.raises(ResetNeeded):
        Git().step(list_repos())


# --- tasks ---


@pytest.mark.parametrize(
    "kind", [pytest.param(name, marks=[] if name in SAMPLE else pytest.mark.full) for name in KINDS]
)
def test_a_task_is_solved_with_git_alone_and_not_by_doing_nothing(env, kind):
    for seed in (1, 2):
        rng = np.random.default_rng(0)
        observation = begun(env, kind, seed)
        for _ in range(20):
            step = env.step(POLICIES["oracle"](env, observation, rng))
            if step.done:
                break
            assert step.observation.success or kind == "resolve_conflict", step.observation
        assert step.info["facts"]["won"], (kind, seed, step.info["facts"])
        assert step.reward == pytest.approx(1.0)
        assert Outcome.told(step.info["outcome"]) is Outcome.SUCCESS
    begun(env, kind, 1)
    step = env.step(submit())
    assert (step.reward, step.terminated, step.info["facts"]["won"]) == (0.0, True, False)
    assert Outcome.told(step.info["outcome"]) is Outcome.FAILURE
    with pytest.raises(ResetNeeded):
        env.step(submit())


def test_half_of_a_task_is_worth_something_and_a_broken_promise_nothing(env):
    name = begun(env, "tag_release").repos[0]["name"]
    task = env._task
    version, at = task.solution[0][2], task.solution[0][-1]
    env.step(clone_repo(name))
    env.step(execute_git_command(f"tag {version} {at}"))
    env.step(execute_git_command(f"push origin {version}"))
    step = env.step(submit())
    assert step.info["reward_components"] == {"task": 0.0, "checks": 0.1, "invalid": 0.0}
    begun(env, "tag_release")
    env.step(clone_repo(name))
    env.step(execute_git_command(f"tag {version} {at}"))
    env.step(execute_git_command(f"push -f origin {version} HEAD~1:main"))
    step = env.step(submit())
    assert step.reward == 0.0
    assert not step.info["facts"]["checks"]["main"]


def test_an_answer_is_a_hash_or_enough_of_it(env):
    for cut, won in ((40, True), (7, True), (6, False), (0, False)):
        begun(env, "bisect", 3)
        right = env._task.solution[0][1]
        assert env.step(submit(right[:cut])).info["facts"]["won"] is won


@pytest.mark.parametrize("seeds", [3, pytest.param(20, marks=pytest.mark.full)])
def test_the_solution_wins_and_nonsense_never_does(seeds):
    means, winners = mean_returns(Git, POLICIES, range(seeds), most=10)
    assert means["oracle"] > 0.9 > means["random"] >= means["nop"]
    assert means["garbage"] < 0
    assert winners == {"oracle"}


def test_a_whole_episode_is_played_by_the_policy_that_knows():
    with ludus.make("open/Git-v0") as env:
        assert play(env, POLICIES["oracle"], 5)[1] is Outcome.SUCCESS


# --- snapshots, and what is left behind ---


def test_a_restored_episode_has_the_files_and_commits_it_had(env):
    name = begun(env, "squash").repos[0]["name"]
    env.step(clone_repo(name))
    env.step(write_file("kept.txt", "kept"))
    before = env.snapshot()
    env.step(write_file("kept.txt", "lost"))
    env.step(execute_git_command("push origin main:other"))
    env.restore(before)
    assert told(env, read_file("kept.txt")).output == "kept"
    assert "other" not in told(env, execute_git_command("ls-remote origin")).output
    with Git() as other:
        other.restore(before)
        assert told(other, read_file("kept.txt")).output == "kept"


def test_the_next_episode_knows_nothing_of_the_last(env):
    name = begun(env, "squash").repos[0]["name"]
    env.step(clone_repo(name))
    env.step(execute_git_command("config --global alias.left status"))
    env.step(execute_git_command("push origin main:left"))
    begun(env, "squash")
    assert told(env, list_files("/workspace")).output == ""
    assert not told(env, execute_git_command("left", "/workspace")).success
    env.step(clone_repo(name))
    assert "left" not in told(env, execute_git_command("ls-remote origin")).output


def test_a_command_that_takes_too_long_is_killed():
    with Git(task="abort_merge", seconds=5) as env:
        env.reset(seed=0)
        step = env.step(execute_git_command("-c alias.wait='!sleep 60' wait"))
        assert (step.observation.success, step.info["limit"], step.done) == (False, "time", False)
        assert told(env, execute_git_command("status")).success


def test_a_workspace_that_its_agent_ends_is_begun_anew(env):
    begun(env, "abort_merge")
    step = env.step(execute_git_command("-c alias.end='!kill -9 -1' end"))
    if "restarted" not in step.info:  # the shell died first
        step = env.step(execute_git_command("-c alias.end='!for p in /proc/[0-9]*; do kill -9 ${p#/proc/}; done' end"))
    assert not step.done
    assert "unmerged" in told(env, execute_git_command("status")).output


# --- another forge ---


def test_a_forge_by_url_is_reached_through_the_environment_and_its_password_stays_there(tmp_path, monkeypatch):
    with gitea(tmp_path, ["team/atlas", *(f"ada/r{number}" for number in range(60))]) as forge:
        monkeypatch.setenv("GITEA_URL", forge.url)
        monkeypatch.setenv("GITEA_USERNAME", USER)
        monkeypatch.setenv("GITEA_PASSWORD", PASSWORD)
        with Git() as env:
            observation, _ = env.reset(seed=0)
            assert len(observation.repos) == 61  # more than a page
            assert observation.repos[0]["description"] == "about atlas"
            assert told(env, clone_repo("atlas")).success
            assert told(env, read_file("a.txt")).output == "one\n"
            told(env, write_file("b.txt", "two\n"))
            told(env, execute_git_command("add ."))
            told(env, execute_git_command("commit -m Two"))
            pushed = told(env, execute_git_command("push origin main"))
            assert pushed.success, pushed.error
            for command in ("config -l", "-c alias.e='!env; cat ~/.gitconfig .git/config' e"):
                assert PASSWORD not in told(env, execute_git_command(command)).output
            assert not told(env, submit()).success
        assert forge.file("team/atlas", "b.txt") == "two\n"
        assert {"GET /team/atlas.git/info/refs", "POST /team/atlas.git/git-receive-pack"} <= set(forge.asked)


@pytest.mark.parametrize(
    ("method", "url"),
    [
        ("POST", "/api/v1/admin/users"),
        ("DELETE", "/api/v1/repos/team/atlas"),
        ("GET", "/api/v1/user/repos"),
        ("GET", "/team/atlas/wiki"),
        ("GET", "/team/atlas.git/info/refs"),
        ("POST", "/team/../api/v1/git-upload-pack"),
        ("POST", "/%2e%2e/api/git-upload-pack"),
        ("POST", "/api/v1/user/git-upload-pack"),
        ("POST", "/team/atlas.git/git-upload-pack?service=git-upload-pack"),
        ("GET", "//elsewhere/team/atlas.git/info/refs?service=git-upload-pack"),
    ],
)
def test_whoever_works_at_a_forge_by_url_asks_it_for_repositories_alone(tmp_path, method, url):
    """The forge is asked with user and password of whoever named it: its API is not the agent's."""
    with gitea(tmp_path, ["team/atlas"]) as forge, closing(RemoteForge(forge.url, USER, PASSWORD)) as remote:
        begun = list(forge.asked)
        assert remote.ask(GitRequest(1, method, f"http://{HOST}{url}"), b"{}").status in (403, 404)
        assert forge.asked == begun
        seen = remote.ask(GitRequest(2, "GET", f"http://{HOST}/team/atlas.git/info/refs?service=git-upload-pack"), b"")
        assert seen.status == 200


def test_user_and_password_of_a_forge_go_nowhere_else(tmp_path):
    """A redirect would take them along, and a forge may have pages that lead wherever an agent said."""
    with gitea(tmp_path / "a", ["team/atlas"]) as elsewhere, gitea(tmp_path / "b", ["team/atlas"]) as forge:
        forge.leads = elsewhere.url
        with closing(RemoteForge(forge.url, USER, PASSWORD)) as remote:
            path = "/team/atlas.git/info/refs?service=git-upload-pack"
            assert remote.ask(GitRequest(1, "GET", f"http://{HOST}{path}"), b"").status == 302
            with pytest.raises(EnvError, match="expected a list of repositories, got status 302"):
                remote.repos()
        assert elsewhere.asked == []
        assert len(forge.asked) == 2


def test_a_forge_that_lets_nobody_in_says_what_to_give(tmp_path):
    with (
        gitea(tmp_path, ["team/atlas"]) as forge,
        Git(forge_url=forge.url, username=USER, password="wrong") as env,
        pytest.raises(EnvError, match="expected to be let in, got status 401; give username= and password="),
    ):
        env.reset(seed=0)


def test_a_forge_must_be_an_address():
    with pytest.raises(InvalidArgument, match="expected an http or https URL"):
        Git(forge_url="ssh://somewhere")


def test_git_reaches_the_forge_without_a_socket_too(monkeypatch):
    monkeypatch.setattr("ludus.envs.open.git.box._sandbox", lambda limits, loopback: _without_sockets(limits, loopback))
    with Git(task="rename_branch") as env:
        assert play(env, POLICIES["oracle"], 3)[1] is Outcome.SUCCESS
        env.reset(seed=3, options={"task": "update_module"})
        rng = np.random.default_rng(0)
        for _ in range(8):
            step = env.step(POLICIES["oracle"](env, None, rng))
            if step.done:
                break
        assert step.info["facts"]["won"]
        env.reset(seed=3)
        assert "not found" in told(env, execute_git_command("clone http://forge.local/team/no.git")).error


def _without_sockets(limits, loopback):
    from ludus.envs.open.git import box
    from ludus.sandbox import Sandbox

    return Sandbox(limits=limits), box._source("relay") if loopback else ""


def test_a_box_that_does_not_start_tells_how_it_ended(monkeypatch):
    monkeypatch.setattr(boxes, "python_command", lambda *_: ["/bin/sh", "-c", "exit 3"])
    with (
        GitBox("workspace") as broken,
        pytest.raises(SandboxError, match=r"got its process ended \(status 3, limit: none\)"),
    ):
        broken.call("list")


def test_a_box_answers_in_time_or_is_gone():
    with GitBox("workspace") as box:
        assert box.run(["init", "-q", "x"]).code == 0
        with pytest.raises(OSError, match="expected a folder"):
            box.run(["status"], "y")


def test_a_diff_is_drawn_in_the_colours_of_what_it_adds_and_removes(env):
    def rows():
        return [(color, text) for color, text in drawn if text[:1] in "+-@"]

    told(env, clone_repo(begun(env, "tag_release").repos[0]["name"]))
    drawn = []
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(Canvas, "text", lambda _, x, y, text, *, color, **more: drawn.append((color, text)))
        told(env, write_file("note.txt", "-- no diff\n++ nor this\n"))
        told(env, read_file("note.txt"))
        env.draw()
        assert len({color for color, _ in rows()}) == 1
        shown = told(env, execute_git_command("show --format= HEAD"))
        env.draw()
    assert shown.output.startswith("diff --git ")
    colors = {text[0]: color for color, text in rows()}
    assert set(colors) >= {"+", "@"}
    assert len(set(colors.values())) == len(colors)
    assert {color for color, text in rows() if text.startswith("+")} == {colors["+"]}
