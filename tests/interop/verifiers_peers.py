"""Run where verifiers is: `verifiers_peers.py URL ID=ACTION…`, its own adapter with a scripted player. Prints JSON."""

import asyncio
import json
import sys
from contextlib import asynccontextmanager
from types import SimpleNamespace

from verifiers.v1.tasksets.openenv import OpenEnvConfig, OpenEnvEnv, OpenEnvTaskset

MOST_TURNS = 3


class Trace:
    """Keeps what the adapter writes down."""

    def __init__(self):
        self.rewards, self.stopped = {}, None

    def record_reward(self, name, value):
        self.rewards[name] = value

    def stop(self, why):
        self.stopped = why


class Interaction:
    """Answers every turn with the same words, and none after a few."""

    def __init__(self, words):
        self.words, self.trace, self.heard = words, Trace(), []

    async def turn(self, text):
        self.heard.append(json.loads(text))
        said = self.words if len(self.heard) <= MOST_TURNS else ""
        return SimpleNamespace(terminated=False, last_reply=said)


async def play(url, words):
    """What a player heard, and the reward that was recorded."""
    config = OpenEnvConfig(base_url=url, resets=[{"seed": 3}])
    [task] = OpenEnvTaskset.load(SimpleNamespace(config=config))
    interaction = Interaction(words)

    @asynccontextmanager
    async def begun(_):
        yield interaction

    agents = SimpleNamespace(player=SimpleNamespace(interaction=begun))
    await OpenEnvEnv.run(SimpleNamespace(), task, agents)
    heard = interaction.heard
    return {
        "turns": len(heard),
        "observations": [one["observation"] for one in heard],
        "schema": heard[0]["action_schema"],
        "rewards": interaction.trace.rewards,
    }


async def main(url, cases):
    """Every environment by its name."""
    return {name: await play(f"{url}/env/{name}", words) for name, words in cases}


if __name__ == "__main__":
    asked = [one.split("=", 1) for one in sys.argv[2:]]
    print(json.dumps(asyncio.run(main(sys.argv[1], asked))))
