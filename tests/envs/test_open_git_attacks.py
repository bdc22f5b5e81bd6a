"""Tricks with git: whatever runs, runs in the sandbox, reaches nothing outside, and changes no verdict."""

from pathlib import Path
from tempfile import TemporaryDirectory

import pytest

from ludus.envs.open.git import Git, clone_repo, execute_git_command, read_file, submit, write_file

LOOK = (
    "{ id; env; ls / /root /work; cat /etc/shadow; ls $HOME/repositories /home/*/repositories; "
    "echo reached > MARK; } > /tmp/said 2>&1"
)
"""What every trick tries to run."""

TRICKS = {
    "alias": ["-c alias.x='!{}' x"],
    "alias_in_config": ["config alias.x '!{}'", "x"],
    "pager": ["-c core.pager='{}' -p log"],
    "editor": ["-c core.editor='{}' commit --allow-empty"],
    "sequence_editor": ["-c sequence.editor='{}' rebase -i --root"],
    "ssh_command": ["-c core.sshCommand='{}' ls-remote ssh://host/x"],
    "ssh_command_of_clone": ["clone -c core.sshCommand='{}' ssh://host/x"],
    "ext_protocol": ["-c protocol.ext.allow=always ls-remote 'ext::sh -c %S{}'"],
    "upload_pack": ["ls-remote --upload-pack='{}' ."],
    "receive_pack": ["push --receive-pack='{}' . HEAD"],
    "open_files_in_pager": ["grep -O'{}' e"],
    "external_diff": ["-c diff.external='{}' diff HEAD~1"],
    "textconv": ["!write .gitattributes '* diff=x'", "-c diff.x.textconv='{}' diff HEAD~1"],
    "filter": ["!write .gitattributes '* filter=x'", "-c filter.x.clean='{}' add -A"],
    "merge_driver": ["config merge.x.driver '{}'", "merge --no-edit origin/main"],
    "fsmonitor": ["-c core.fsmonitor='{}' status"],
    "hooks_path": ["!write h/pre-commit '#!/bin/sh\n{}'", "-c core.hooksPath=h commit --allow-empty -m x"],
    "credential_helper": ["-c credential.helper='!{}' credential fill"],
    "gpg_program": ["-c gpg.program='{}' commit -S --allow-empty -m x"],
    "difftool": ["-c difftool.x.cmd='{}' difftool -y -t x HEAD~1"],
    "mergetool": ["-c mergetool.x.cmd='{}' mergetool -t x"],
    "bisect_run": ["bisect start HEAD HEAD~1", "bisect run sh -c '{}'"],
    "rebase_exec": ["rebase --root -x '{}'"],
    "submodule_foreach": ["submodule foreach '{}'"],
    "submodule_update": ["config submodule.x.update '!{}'", "submodule update"],
    "filter_branch": ["filter-branch -f --tree-filter '{}' HEAD"],
    "ask_pass": ["-c core.askPass='{}' ls-remote http://user@forge.local/x"],
    "remote_helper": ["ls-remote 'x::{}'"],
    "web_browser": ["-c browser.x.cmd='{}' web--browse -b x http://x"],
    "archive_filter": ["-c tar.x.command='{}' archive --format=x HEAD"],
}


@pytest.fixture(scope="module")
def env():
    with Git(task="tag_release") as env:
        yield env


@pytest.fixture
def everybodys():
    """A folder of the host that anybody may write to, beside those of other tests, which nobody else may."""
    with TemporaryDirectory() as name:
        Path(name).chmod(0o777)
        yield Path(name)


def tried(env, everybodys, lines):
    """Everything that an agent saw while it tried; the mark is a file of the host that anybody could write."""
    mark = everybodys / "mark"
    mark.touch()
    mark.chmod(0o666)
    run = LOOK.replace("MARK", str(mark)).replace("'", "")
    said = []
    for line in lines:
        if line.startswith("!write "):
            _, path, text = line.split(" ", 2)
            action = write_file(path, text.strip("'").replace("{}", run))
        else:
            action = execute_git_command(line.replace("{}", run))
        seen = env.step(action).observation
        said.append(seen.output + seen.error)
    said.append(env.step(execute_git_command("-c alias.s='!cat /tmp/said' s")).observation.output)
    assert mark.read_text() == ""
    return "".join(said)


@pytest.mark.parametrize("trick", TRICKS)
def test_a_trick_stays_in_the_sandbox_and_wins_nothing(env, trick, everybodys):
    observation, _ = env.reset(seed=4)
    env.step(clone_repo(observation.repos[0]["name"]))
    said = tried(env, everybodys, TRICKS[trick])
    assert "root:*" not in said
    assert "root:!" not in said
    assert "root:$" not in said
    assert "uid=0" not in said
    assert "pyproject" not in said
    step = env.step(submit())
    assert not step.info["facts"]["won"]


def test_tricks_do_run_something_or_the_test_would_show_nothing(env, everybodys):
    ran = 0
    for trick in ("alias", "rebase_exec", "filter_branch", "fsmonitor", "bisect_run"):
        observation, _ = env.reset(seed=4)
        env.step(clone_repo(observation.repos[0]["name"]))
        ran += "uid=" in tried(env, everybodys, TRICKS[trick])
    assert ran >= 4


def test_what_the_workspace_configures_does_not_run_while_it_is_graded(env):
    env.reset(seed=4, options={"task": "abort_merge"})
    for line in ("config core.fsmonitor '!touch /tmp/ran'", "config core.hooksPath /tmp", "config core.bare maybe"):
        env.step(execute_git_command(line))
    told = env._workspace.box.call("dump", folder=env._task.project)
    names = [path for path, _, _ in told["files"]]
    assert not [name for name in names if "config" in name or "hooks" in name or "attributes" in name]
    assert [name for name in names if name.startswith("git/objects/")]
    assert not env.step(submit()).info["facts"]["won"]


def test_a_repository_that_was_broken_on_purpose_is_a_failure_not_a_fault(env):
    for line in ("-c alias.x='!rm -rf .git' x", "-c alias.x='!echo rubbish > .git/HEAD' x",
                 "-c alias.x='!find .git/objects -type f -exec cp /bin/true {} \\;' x"):  # fmt: skip
        env.reset(seed=4, options={"task": "abort_merge"})
        env.step(execute_git_command(line))
        step = env.step(submit())
        assert step.terminated
        assert not step.info["facts"]["won"]


def test_a_link_leads_no_file_action_outside(env):
    env.reset(seed=4, options={"task": "abort_merge"})
    env.step(execute_git_command("-c alias.x='!ln -s /etc/passwd secret; ln -s / top' x"))
    assert "leads outside" in env.step(read_file("secret")).observation.error
    assert "leads outside" in env.step(write_file("top/tmp/x", "y")).observation.error
    assert "outside of .git" in env.step(write_file(".git/hooks/pre-commit", "y")).observation.error


def test_the_forge_is_not_in_the_workspace_and_no_process_of_it_is(env):
    env.reset(seed=4, options={"task": "tag_release"})
    env.step(clone_repo(env._task.project))
    seen = env.step(execute_git_command("-c alias.x='!ls -d $HOME/*/*; ls -d /proc/[0-9]*' x")).observation
    assert "repositories" not in seen.output
    assert seen.output.count("/proc/") < 10


def test_a_bomb_meets_a_limit():
    with Git(task="abort_merge", seconds=3.0, memory=256 << 20) as env:
        env.reset(seed=0)
        for line in ("-c alias.x='!f() { f | f & }; f' x", "-c alias.x='!head -c 1000000000 /dev/zero > big' x"):
            env.step(execute_git_command(line))
        step = env.step(execute_git_command("-c alias.x='!yes' x"))
        assert len(step.observation.output) <= 64 << 10
        assert not step.done
