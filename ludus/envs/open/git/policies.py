"""Ways to work with git: knowing the solution, looking around, handing nothing in, and typing nonsense."""

import shlex

import numpy as np

from ludus.envs.open.git.action import (
    GitAction,
    GitObservation,
    clone_repo,
    execute_git_command,
    list_repos,
    submit,
    write_file,
)
from ludus.envs.open.git.git import Git
from ludus.envs.open.git.tasks import GitTask

__all__ = ["POLICIES"]

LOOKS = ("status", "log --oneline -5", "branch -a", "git diff", "tag", "stash list", "remote -v")


def oracle(env: Git, observation: GitObservation, rng: np.random.Generator) -> GitAction:
    """The next command of the solution, which only a policy of this process can know."""
    del observation, rng
    task: GitTask = env.get_wrapper_attr("_task")
    done: list[GitAction] = env.get_wrapper_attr("_actions")
    actions = [] if task.local else [clone_repo(task.project)]
    for command in task.solution:
        if command[0] == "!write":
            actions.append(write_file(command[1], command[2]))
        elif command[0] == "!submit":
            actions.append(submit(command[1]))
        else:
            actions.append(execute_git_command(shlex.join(command)))
    return [*actions, submit()][len(done)]


def random(env: object, observation: GitObservation, rng: np.random.Generator) -> GitAction:
    """Clone what there is, look around, and hand in at some time."""
    del env
    if observation.repos and rng.random() < 0.7:
        return clone_repo(observation.repos[int(rng.integers(len(observation.repos)))]["name"])
    if rng.random() < 0.2:
        return submit()
    return list_repos() if rng.random() < 0.2 else execute_git_command(LOOKS[int(rng.integers(len(LOOKS)))])


def nop(env: object, observation: GitObservation, rng: np.random.Generator) -> GitAction:
    """Nothing, handed in."""
    del env, observation, rng
    return submit()


def garbage(env: object, observation: GitObservation, rng: np.random.Generator) -> GitAction:
    """Signs in no order."""
    del env, observation
    signs = list("-- gitcommHEAD~^@{}'\"\x00é☃/.;|")
    return GitAction(command="".join(rng.choice(signs, 30).tolist()))


POLICIES = {"oracle": oracle, "random": random, "nop": nop, "garbage": garbage}
"""By name; each takes the environment, an observation and a generator, and gives an action."""
