"""The client class that a version of OpenEnv has, whichever that is: any_version.py URL. Prints an episode as JSON.

From 0.2 on it is `EnvClient`, over a WebSocket; before, `HTTPEnvClient`. Both have the same three hooks.
"""

import inspect
import json
import sys
from importlib import import_module

ANSWERS = ("a candle", "an echo", "a shadow")


def base():
    """The class, and that of results."""
    for module, name in (("openenv.core.env_client", "EnvClient"), ("openenv_core.http_env_client", "HTTPEnvClient")):
        try:
            found = getattr(import_module(module), name)
        except ModuleNotFoundError:
            continue
        return found, import_module(f"{module.rpartition('.')[0]}.client_types").StepResult
    raise SystemExit("no client class")


BASE, RESULT = base()


class RiddleEnv(BASE):
    def _step_payload(self, action):
        return action

    def _parse_result(self, payload):
        return RESULT(observation=payload["observation"], reward=payload.get("reward"), done=payload.get("done", False))

    def _parse_state(self, payload):
        return payload


def told(result):
    return [result.observation["riddle"], result.observation["hint"], result.reward, result.done]


def answer(begun):
    return {"answer": ANSWERS[begun.observation["riddle"]]}


def play(env):
    begun = env.reset()
    wrong, right = env.step({"answer": "no"}), env.step(answer(begun))
    state = env.state()
    return {"begun": told(begun), "wrong": told(wrong), "right": told(right), "steps": state["step_count"]}


async def play_async(env):
    async with env:
        begun = await env.reset()
        wrong, right = await env.step({"answer": "no"}), await env.step(answer(begun))
        state = await env.state()
    return {"begun": told(begun), "wrong": told(wrong), "right": told(right), "steps": state["step_count"]}


def main():
    env = RiddleEnv(base_url=sys.argv[1])
    if hasattr(env, "sync"):
        with env.sync() as plain:
            met = play(plain)
    elif inspect.iscoroutinefunction(BASE.reset):
        import asyncio  # a class of one version is a coroutine's

        met = asyncio.run(play_async(env))
    else:
        met = play(env)
        env.close()
    print(json.dumps(met))


main()
