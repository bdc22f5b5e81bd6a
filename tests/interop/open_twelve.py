"""The twelve open environments, and a call of a tool of each that is an action of it."""

TWELVE = {
    "open/Echo-v0": ("echo", {"message": "hello"}),
    "open/OpenSpiel-v0": ("open_spiel", {"action_id": 1}),
    "open/Connect4-v0": ("connect4", {"column": 3}),
    "open/Atari-v0": ("atari", {"action_id": 0}),
    "open/BrowserGym-v0": ("browser_gym", {"action_str": "noop()"}),
    "open/Coding-v0": ("run_python", {"code": "print(2 + 2)"}),
    "open/Chat-v0": ("say", {"message": "How can I help?"}),
    "open/Git-v0": ("list_repos", {}),
    "open/FinRL-v0": ("trade", {"actions": [0.5, 0.0, 0.0, 0.0, -0.5]}),
    "open/SumoRL-v0": ("set_phase", {"phase_id": 1}),
    "open/TextArena-v0": ("text_arena", {"message": "[crane]"}),
    "open/DIPGSafety-v0": ("dipg", {"llm_response": "I do not know."}),
}
