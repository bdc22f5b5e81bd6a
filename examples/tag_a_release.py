"""Find a commit, tag it and push the tag, on a real forge in a sandbox: `python examples/tag_a_release.py`."""

import re

import ludus
from ludus.envs.open.git import clone_repo, execute_git_command, submit

env = ludus.make("open/Git-v0", task="tag_release")
observation, info = env.reset(seed=1)
print(observation.message)
name = observation.repos[0]["name"]
title, tag, message = re.findall(r"'(.+?)' as (\S+): .* '(.+?)'", observation.message)[0]

env.step(clone_repo(name))
found = env.step(execute_git_command(f"git log --all --format=%H --grep '{title}'")).observation.output.split()[0]
for command in (f"git tag -a {tag} -m '{message}' {found}", f"git push origin {tag}"):
    print(f"$ {command}\n{env.step(execute_git_command(command)).observation.output}", end="")

step = env.step(submit())
print(step.observation.output)
print("reward", step.reward, step.info["reward_components"], step.info["outcome"])
env.close()
