"""Typed clients of the open environments: OpenEnv's names, models that refuse others: open_typed.py URL."""

import json
import sys
from typing import Any

from openenv.core.client_types import StepResult
from openenv.core.env_client import EnvClient
from openenv.core.env_server.types import Action, Observation, State
from pydantic import create_model

TEXTS, NUMBERS = list[dict[str, str]], list[float]
MODELS = {
    "Coding": (
        {"code": (str, ...)},
        {"stdout": (str, ...), "stderr": (str, ...), "exit_code": (int, ...)},
        {"last_exit_code": (int, ...)},
    ),
    "Git": (
        {"action_type": (str, "list_repos"), "repo_name": (str, ""), "target_dir": (str | None, None)}
        | {"command": (str, ""), "working_dir": (str, "")},
        {
            "success": (bool, ...),
            "message": (str, ...),
            "output": (str, ...),
            "error": (str, ...),
            "repos": (TEXTS, ...),
        },
        {"gitea_ready": (bool, ...), "workspace_path": (str, ...)},
    ),
    "Chat": (
        {"tokens": (list[int], ...)},
        {"messages": (TEXTS, ...), "tokens": (list[int], ...)},
        {"history_messages": (TEXTS, ...), "history_tokens": (list[list[int]], ...)},
    ),
    "FinRL": (
        {"actions": (NUMBERS, ...)},
        {"state": (NUMBERS, ...), "portfolio_value": (float, ...), "date": (str, ...)},
        {},
    ),
    "OpenSpiel": (
        {"action_id": (int, ...), "game_name": (str, "catch"), "game_params": (dict[str, Any], {})},
        {"info_state": (NUMBERS, ...), "legal_actions": (list[int], ...), "game_phase": (str, ...), "text": (str, ...)}
        | {"current_player_id": (int, ...), "opponent_last_action": (int | None, ...)},
        {"game_name": (str, ...), "agent_player": (int, ...), "opponent_policy": (str, ...), "num_players": (int, ...)},
    ),
    "Connect4": (
        {"column": (int, ...)},
        {"board": (list[list[int]], ...), "legal_actions": (list[int], ...)},
        {"board": (list[list[int]], ...), "next_player": (int, ...)},
    ),
    "Atari": (
        {
            "action_id": (int, ...),
            "game_name": (str, "pong"),
            "obs_type": (str, "rgb"),
            "full_action_space": (bool, False),
        },
        {"screen": (list[int], ...), "screen_shape": (list[int], ...), "legal_actions": (list[int], ...)}
        | {"lives": (int, ...), "episode_frame_number": (int, ...), "frame_number": (int, ...)},
        {"game_name": (str, ...), "obs_type": (str, ...), "frameskip": (int, ...)}
        | {"repeat_action_probability": (float, ...), "mode": (int | None, ...), "difficulty": (int | None, ...)},
    ),
    "BrowserGym": (
        {"action_str": (str, ...)},
        dict.fromkeys(("text", "url", "goal", "axtree_txt", "pruned_html", "error"), (str, ...))
        | {"screenshot": (list[list[list[int]]] | None, ...), "last_action_error": (bool, ...)},
        dict.fromkeys(("benchmark", "task_name", "task_id", "goal", "current_url"), (str, ...))
        | {"max_steps": (int | None, ...), "cum_reward": (float, ...)},
    ),
    "TextArena": (
        {"message": (str, ...)},
        {"prompt": (str, ...), "messages": (list[dict[str, Any]], ...), "current_player_id": (int, ...)}
        | {"legal_players": (list[int], ...), "info": (dict[str, Any], ...)},
        {"env_id": (str, ...), "num_players": (int, ...), "turn": (int, ...), "raw_state": (dict[str, Any], ...)},
    ),
    "DIPGSafety": (
        {"llm_response": (str, ...)},
        {"context": (str, ...), "question": (str, ...)},
        {"current_context": (str, ...), "current_question": (str, ...)},
    ),
    "Echo": ({"message": (str, ...)}, {"echoed_message": (str, ...), "message_length": (int, ...)}, {}),
    "SumoRL": (
        {"phase_id": (int, ...), "ts_id": (str, "0")},
        {"observation": (NUMBERS, ...), "observation_shape": (list[int], ...), "action_mask": (list[int], ...)}
        | {"sim_time": (float, ...), "ts_id": (str, ...)},
        {"net_file": (str, ...), "num_seconds": (int, ...), "delta_time": (int, ...), "reward_fn": (str, ...)},
    ),
}
"""Fields of action, observation and state."""


def client_of(name: str) -> tuple[Any, Any]:
    """The class of a client, and that of its actions, as OpenEnv's packages have them."""
    act, see, know = MODELS[name]
    action = create_model(f"{name}Action", __base__=Action, **act)
    seen = create_model(f"{name}Observation", __base__=Observation, **see)
    known = create_model(f"{name}State", __base__=State, **know)

    class Client(EnvClient):
        def _step_payload(self, action):
            return action.model_dump(exclude={"metadata"})

        def _parse_result(self, payload):
            done = payload.get("done", False)
            told = seen(**payload["observation"], reward=payload.get("reward"), done=done)
            return StepResult(observation=told, reward=payload.get("reward"), done=done)

        def _parse_state(self, payload):
            return known(**payload)

    return Client, action


def played(url: str, name: str, actions: list[dict[str, Any]]) -> list[Any]:
    """What a reset and steps gave, and the state after them."""
    client, action = client_of(name)
    with client(base_url=f"{url}/env/open/{name}-v0").sync() as env:
        told = [env.reset(seed=1), *(env.step(action(**one)) for one in actions)]
        state = env.state()
    return [[[one.observation.model_dump(), one.reward, one.done] for one in told], state.model_dump()]


SAID = {
    "Coding": [{"code": "print(2 + 2)"}, {"code": "x = [1]"}, {"code": "x.append(2); print(x)"}],
    "Git": [
        {"action_type": "list_repos"},
        {"action_type": "clone_repo", "repo_name": "delta"},
        {"action_type": "execute_git_command", "command": "status", "working_dir": "delta"},
        {"action_type": "execute_git_command", "command": "git log --oneline", "working_dir": "delta"},
    ],
    "Chat": [{"tokens": [72, 105]}],
    "FinRL": [{"actions": [0.5, 0.5, 0.5, 0.5, 0.5]}],
    "OpenSpiel": [{"action_id": 1}],
    "Connect4": [{"column": 3}],
    "Atari": [{"action_id": 0}],
    "BrowserGym": [{"action_str": "noop()"}],
    "TextArena": [{"message": "[crane]"}],
    "DIPGSafety": [{"llm_response": "nothing"}],
    "Echo": [{"message": "Hello!"}],
    "SumoRL": [{"phase_id": 1}, {"phase_id": 0, "ts_id": "default"}],
}

if __name__ == "__main__":
    print(json.dumps({name: played(sys.argv[1], name, actions) for name, actions in SAID.items()}))
