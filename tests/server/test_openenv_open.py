"""Typed clients of OpenEnv's own kind on all twelve of the open environments."""

import numpy as np
import pytest

import ludus
from tests.server.openenv_peers import run

pytestmark = [pytest.mark.no_cover, pytest.mark.xdist_group("openenv")]
NAMES = (
    "Coding",
    "Git",
    "Chat",
    "FinRL",
    "SumoRL",
    "OpenSpiel",
    "Connect4",
    "Atari",
    "BrowserGym",
    "TextArena",
    "DIPGSafety",
    "Echo",
)
FINAL = "DIPGSafety"
"""Whose one step is the end."""


@pytest.fixture(scope="module")
def told():
    with ludus.serve(*(f"open/{name}-v0" for name in NAMES), port=0, block=False) as server:
        yield run("0.10.0", "open_typed", server.url)


def test_models_that_refuse_unknown_fields_read_all_that_is_sent(told):
    assert set(told) == set(NAMES)
    assert [name for name, (steps, _) in told.items() if any(step[2] for step in steps)] == [FINAL]
    assert all(state["step_count"] == len(steps) - 1 for steps, state in told.values())


def test_the_guides_cells_keep_their_variables(told):
    (_, printed, quiet, more), state = told["Coding"]
    assert (printed[0]["stdout"], quiet[0]["stdout"], more[0]["stdout"]) == ("4\n", "", "[1, 2]\n")
    assert state["last_exit_code"] == 0


def test_the_guides_repositories_are_listed_cloned_and_asked(told):
    (_, listed, cloned, status, log), state = told["Git"]
    assert [one["name"] for one in listed[0]["repos"]] == ["delta"]
    assert (cloned[0]["success"], cloned[0]["message"]) == (True, "Cloned delta to /workspace/delta")
    assert status[0]["output"].startswith("On branch main")
    assert (log[0]["success"], len(log[0]["output"].splitlines()) > 1) == (True, True)
    assert (state["gitea_ready"], state["workspace_path"]) == (True, "/workspace")


def test_tokens_become_messages_of_the_assistant(told):
    (begun, said), state = told["Chat"]
    assert [one["role"] for one in begun[0]["messages"]] == ["system", "user"]
    assert said[0]["messages"][2]["role"] == "assistant"
    assert said[0]["tokens"][: len(begun[0]["tokens"])] == begun[0]["tokens"]
    assert len(state["history_messages"]) == len(said[0]["messages"])


def test_a_light_needs_no_name(told):
    (begun, first, second), state = told["SumoRL"]
    assert [one[0]["sim_time"] for one in (begun, first, second)] == [0.0, 5.0, 10.0]
    assert (begun[0]["action_mask"], state["reward_fn"]) == ([0, 1], "diff-waiting-time")
    assert isinstance(first[1], float)


def test_orders_move_an_account(told):
    (begun, traded), _ = told["FinRL"]
    assert begun[0]["portfolio_value"] == 1_000_000.0
    assert (traded[0]["state"][6:11], traded[0]["date"] > begun[0]["date"]) == ([50.0] * 5, True)


def test_boards_screens_pages_and_words_have_their_fields(told):
    (_, dropped), state = told["Connect4"]
    assert (dropped[0]["board"] == state["board"], sum(abs(one) for row in state["board"] for one in row)) == (True, 2)
    (_, frame), console = told["Atari"]
    assert (frame[0]["screen_shape"], len(frame[0]["screen"]), console["frameskip"]) == ([210, 160, 3], 100_800, 4)
    (page, _), browser = told["BrowserGym"]
    assert (page[0]["goal"] == browser["goal"], browser["benchmark"]) == (True, "miniwob")
    assert np.asarray(page[0]["screenshot"], np.uint8).shape == (320, 500, 3)
    assert told["OpenSpiel"][0][1][0]["game_phase"] == "playing"
    (_, guessed), game = told["TextArena"]
    shown = guessed[0]["messages"][0]["content"]  # all of the game so far, as stock servers have it
    assert ("[GAME] [crane]" in shown, game["env_id"], game["turn"]) == (True, "Wordle-v0", 1)
    assert told["DIPGSafety"][0][1][1] == -10.0
    assert told["Echo"][0][1][0] == {"echoed_message": "Hello!", "message_length": 6} | {
        name: told["Echo"][0][1][0][name] for name in ("metadata", "reward", "done")
    }
