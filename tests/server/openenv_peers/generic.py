"""OpenEnv's stock client of any environment, asynchronous and not: generic.py URL. Prints what it met, as JSON."""

import asyncio
import json
import sys

from openenv.core.generic_client import GenericEnvClient

URL = sys.argv[1]
ANSWERS = ("a candle", "an echo", "a shadow")


def told(result):
    return [result.observation, result.reward, result.done]


async def play(number):
    """Three episodes in one connection, each of another riddle; a wrong answer first."""
    met = []
    async with GenericEnvClient(base_url=URL) as env:
        for episode in range(3):
            index = (number + episode) % 3
            begun = await env.reset(index=index, seed=number, episode_id=f"{number}-{episode}")
            wrong = await env.step({"answer": f"{number}"})
            right = await env.step({"answer": ANSWERS[index]})
            met.append([told(begun), told(wrong), told(right), await env.state()])
    return met


async def recover():
    """Errors of every kind, and the episode goes on."""
    errors = []
    async with GenericEnvClient(base_url=URL) as env:
        await env.reset(index=0)
        for work in (
            lambda: env.step({"answer": 3}),
            lambda: env.step({"reply": "a candle"}),
            lambda: env.reset(wind=1),
            lambda: env.reset(seed=-1),
        ):
            try:
                await work()
            except RuntimeError as error:
                errors.append(str(error))
        return [errors, told(await env.step({"answer": "a candle"}))]


async def every():
    return {
        "episodes": await play(0),
        "at once": await asyncio.gather(*map(play, range(12))),
        "errors": await recover(),
    }


def synchronous():
    with GenericEnvClient(base_url=URL).sync() as env:
        begun = env.reset(index=1)
        return [told(begun), told(env.step({"answer": "an echo"})), env.state()]


met = asyncio.run(every())
print(json.dumps({**met, "synchronous": synchronous()}))
