"""A client as authors of OpenEnv environments write them: models that refuse unknown fields: typed.py URL."""

import json
import sys

from openenv.core.client_types import StepResult
from openenv.core.env_client import EnvClient
from openenv.core.env_server.types import Action, Observation, State


class Guess(Action):
    answer: str


class Riddled(Observation):
    riddle: int
    hint: str


class RiddleState(State):
    tries: int = 0


class RiddleEnv(EnvClient[Guess, Riddled, RiddleState]):
    def _step_payload(self, action):
        return action.model_dump()

    def _parse_result(self, payload):
        seen = Riddled(**payload["observation"], reward=payload.get("reward"), done=payload.get("done", False))
        return StepResult(observation=seen, reward=payload.get("reward"), done=payload.get("done", False))

    def _parse_state(self, payload):
        return RiddleState(**payload)


with RiddleEnv(base_url=sys.argv[1]).sync() as env:
    begun = env.reset(index=2)
    stepped = env.step(Guess(answer="a shadow", metadata={"tag": "x"}))
    state = env.state()
    found = [begun.observation.riddle, stepped.observation.hint, stepped.reward, stepped.done, state.tries]
    print(json.dumps([*found, state.step_count]))
