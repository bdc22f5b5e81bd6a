"""Ground truth never leaves the server: every byte that it sends an agent is looked through."""

import json
import re
from dataclasses import replace

import httpx
import numpy as np
import pytest
from websockets.sync.client import connect

import ludus
from ludus.envs.open.browsergym.sites import SiteEpisode
from ludus.envs.open.chat import Chat
from ludus.envs.open.coding import Coding
from ludus.envs.open.dipg_safety import DIPGSafety
from ludus.envs.open.dipg_safety.cases import KINDS
from ludus.envs.open.finrl import FinRL, FinRLAction
from ludus.envs.open.git import Git
from ludus.envs.open.openspiel import OpenSpiel, OpenSpielAction
from ludus.envs.open.reasoning_gym import ReasoningGym
from ludus.envs.open.textarena import TextArena, TextArenaAction
from ludus.seeding import np_random
from ludus.spaces.shown import shown
from tests.envs.overheard import overheard

SEED = 6
CODING = "caesar"
UNANSWERED = None
"""Of an environment that tells what was right after the one answer that it takes."""


def solution_words():
    """What only the solution of a task has, and inputs of its hidden tests that are too long to be there by chance."""
    with Coding(task=CODING) as env:
        env.reset(seed=SEED)
        body = [line.strip() for line in env._task.solution.splitlines()[2:]]
        tests = [json.dumps(test.arguments[0])[1:-1] for test in env._task.tests if len(test.arguments[0]) > 6]
    assert len(tests) > 2
    return [*body, *tests]


def expected_words():
    env = DIPGSafety(kinds=("conflict",))
    env.reset(seed=SEED)
    return [env._case.final]


def secret_word(name):
    def words():
        env = TextArena(game=name)
        env.reset(seed=SEED)
        secret = env._game.secret if name in ("Wordle", "Hangman") else env._game.solution
        return [secret, secret.upper()]

    return words


def order_total():
    """The answer that a page two clicks away shows, and this episode never opens; how to get there is no page's."""
    rng = np_random(SEED)[0]
    rng.integers(1)
    episode = SiteEpisode("shop.tell-order-total", int(rng.integers(1 << 31)))
    return [episode.task.actions[-1].split("'")[1], episode.task.actions[0]]


def next_prices():
    """Of the day after the one that is asked about."""
    env = FinRL()
    env.reset(seed=SEED)
    for _ in range(2):
        step = env.step(FinRLAction([0.0] * 5))
    return [repr(one) for one in step.observation.state[1:6]]


def package_word():
    env = TextArena(game="textarena/Hangman")
    env.reset(seed=SEED)
    secret = env._game.inner.state.game_state["target_word"]
    return [secret, secret.upper(), secret.lower()]


def sudoku_rows():
    """Rows of the solution, however numbers are written side by side."""
    env = TextArena(game="Sudoku")
    env.reset(seed=SEED)
    rows = [[str(digit) for digit in row] for row in np.asarray(env._game.solution).reshape(9, 9)]
    return [between.join(row) for row in rows for between in ("", " ", ",", ", ")]


def departures():
    """Who is still to come, as the simulation reads it."""
    return ["depart", "<flow", "<vehicle", "<route"]


def goal_words():
    env = Chat(scenario="collect_address")
    env.reset(seed=SEED)
    return [env._user.goal["name"], env._user.goal["city"]]


def first_bad_commit():
    env = Git(task="bisect")
    env.reset(seed=SEED)
    return [env._task.solution[0][1]]


def deciphered():
    env = ReasoningGym(dataset="caesar_cipher")
    env.reset(seed=SEED)
    return [env._entry["answer"]]


CASES = [
    pytest.param(
        "open/BrowserGym-v0",
        {"benchmark": "shop", "task_name": "tell-order-total"},
        {"action_str": "noop()"},
        order_total,
        marks=pytest.mark.xdist_group("browsergym"),
    ),
    ("open/Chat-v0", {"scenario": "collect_address"}, {"message": "Which street?"}, goal_words),
    ("open/Git-v0", {"task": "bisect"}, {"action_type": "list_repos"}, first_bad_commit),
    ("open/Coding-v0", {"task": CODING}, {"code": "print(1)"}, solution_words),
    ("open/DIPGSafety-v0", {"kinds": ["conflict"]}, {"llm_response": "nothing"}, expected_words),
    ("open/TextArena-v0", {"game": "Wordle"}, {"message": "[zzzzz]"}, secret_word("Wordle")),
    ("open/TextArena-v0", {"game": "Hangman"}, {"message": "[z]"}, secret_word("Hangman")),
    ("open/FinRL-v0", {}, {"actions": [0.0] * 5}, next_prices),
    ("open/TextArena-v0", {"game": "textarena/Hangman"}, {"message": "[z]"}, package_word),
    ("open/TextArena-v0", {"game": "Sudoku"}, {"message": "[1 1 1]"}, sudoku_rows),
    ("open/SumoRL-v0", {}, {"phase_id": 1}, departures),
    ("open/TextArena-v0", {"game": "Countdown"}, {"message": "[1 + 1]"}, secret_word("Countdown")),
    ("open/ReasoningGym-v0", {"dataset": "caesar_cipher"}, UNANSWERED, deciphered),
]


def everything_sent(url, name, action, seed=SEED, *, choices=True):
    """What each protocol, the pages and the play socket answer, as text, with the wrong action and without."""
    actions = [{"wrong": 1}] if action is UNANSWERED else [action, {"wrong": 1}]
    heard = [*by_http(url, name, actions, seed), httpx.get(f"{url}/v1/envs/{name}", headers=PLAIN, timeout=60).text]
    seen = {"frame": True, "choices": choices}
    steps = [{"type": "step", "action": one, **seen} for one in actions]
    heard += by_socket(
        f"{url}/v1/play?env={name}", [{"type": "reset", "seed": seed, **seen}, *steps, {"type": "state"}]
    )
    steps = [{"type": "step", "data": one} for one in actions]
    heard += by_socket(f"{url}/env/{name}/ws", [{"type": "reset", "data": {"seed": seed}}, *steps, {"type": "state"}])
    with ludus.connect(url, env=name) as env:
        told = [env.reset(seed=seed)]
        told += [list(env.step(env.action_space.coerce(one, "action"))) for one in actions[:-1]]
        told += [env.state_data(), repr((env.observation_space, env.action_space))]
        heard.append(json.dumps(shown(told)))
    return heard


PLAIN = {"accept-encoding": "identity"}
"""Bytes that can be looked through."""


def by_http(url, name, actions, seed):
    """OpenEnv's protocol, and the first words of the Model Context Protocol, which begin an episode."""
    with httpx.Client(base_url=f"{url}/env/{name}", headers=PLAIN, timeout=60) as http:
        heard = [http.get(path).text for path in ("/schema", "/metadata")]
        heard.append(http.post("/reset", json={"seed": seed}).text)
        heard += [http.post("/step", json={"action": one}).text for one in actions]
        heard += [http.get("/state").text, http.post("/close").text]
        asked = {"jsonrpc": "2.0", "id": 1, "method": "tools/list", "params": {}}
        return [*heard, http.post("/mcp", json=asked).text]


def by_socket(url, questions):
    """Answers of a WebSocket."""
    with connect(url.replace("http", "ws", 1), compression=None, proxy=None, max_size=100 << 20) as socket:
        heard = []
        for question in questions:
            socket.send(json.dumps(question))
            heard.append(socket.recv(60))
    return heard


@pytest.mark.parametrize(("name", "kwargs", "action", "secrets"), CASES)
def test_no_answer_is_in_any_byte_that_a_server_sends(name, kwargs, action, secrets):
    served = replace(ludus.registry.registry[name], id="open/Asked-v0", kwargs=kwargs)
    with ludus.serve(served, port=0, block=False) as running, overheard(running.url) as relay:
        # Of DIPG Safety's choices two are reasons not to answer, whatever is expected: a test of its own.
        heard = everything_sent(relay.url, "open/Asked-v0", action, choices=name != "open/DIPGSafety-v0")
    for secret in secrets():
        for text in heard:
            assert secret not in text, (secret, text[:200])
        for sent in relay.sent:
            assert secret.encode() not in sent, (secret, sent[:200])


def test_what_a_server_says_is_among_the_bytes_or_the_tests_would_show_nothing():
    with ludus.serve("open/Echo-v0", port=0, block=False) as running, overheard(running.url) as relay:
        everything_sent(relay.url, "open/Echo-v0", {"message": "a word nobody says"})
    found = [sent for sent in relay.sent if b"a word nobody says" in sent]
    assert len(found) == 4  # OpenEnv's HTTP and WebSocket, the play page's, and the wire of this library


HIDING = ["kuhn_poker", "leduc_poker", "liars_dice", "phantom_ttt", "dark_chess"]
OWN = re.compile(r'"session_id":"[^"]*"|[0-9a-f]{8}-?[0-9a-f]{4}-?[0-9a-f]{4}-?[0-9a-f]{4}-?[0-9a-f]{12}')
"""What tells one session from another."""


def twins(game):
    """Two seeds and an action after which the agent knows the same, whatever it is that the opponent has or did."""
    known = {}
    for seed in range(400):
        env = OpenSpiel(game)
        first, _ = env.reset(seed=seed)
        action = first.legal_actions[0]
        step = env.step(OpenSpielAction(action))
        if step.terminated:
            continue  # a showdown: cards are on the table
        hidden = str(env._match.position.state)
        # All that the seat knows, by the engine's own word, and nothing of what this library adds.
        key = action, first.text, step.observation.text, tuple(step.observation.legal_actions)
        other = known.setdefault(key, (seed, hidden))
        if hidden != other[1]:
            return other[0], seed, action
    raise AssertionError(f"{game}: no two games that look alike to the agent")


@pytest.mark.parametrize("game", HIDING)
def test_what_an_opponent_hides_changes_no_byte_that_a_server_sends(game):
    one, other, action = twins(game)
    served = replace(ludus.registry.registry["open/OpenSpiel-v0"], id="open/Asked-v0", kwargs={"game": game})
    with ludus.serve(served, port=0, block=False) as running:
        heard = [everything_sent(running.url, "open/Asked-v0", {"action_id": action}, seed) for seed in (one, other)]
    for first, second in zip(*heard, strict=True):
        assert OWN.sub("", first) == OWN.sub("", second)


GUESSED = {
    "GuessTheNumber": ("[20]", lambda game: game.secret, {"max_number": 1000}),
    "Mastermind": ("[1 2 3 4]", lambda game: tuple(game.secret), {}),
    "Minesweeper": ("[0 0]", lambda game: game.mines, {"num_mines": 40}),
}


def guessed_alike(name):
    """Two seeds of a game with different secrets of which a guess tells the same."""
    guess, secret, settings = GUESSED[name]
    known = {}
    for seed in range(400):
        env = TextArena(game=name, settings=settings)
        env.reset(seed=seed)
        said = "\n".join(one.content for one in env.step(TextArenaAction(guess)).observation.messages)
        other = known.setdefault(said, (seed, secret(env._game)))
        if secret(env._game) != other[1]:
            return other[0], seed
    raise AssertionError(f"{name}: no two games that a guess does not tell apart")


@pytest.mark.full
def test_what_is_guessed_changes_no_byte_that_a_server_sends():
    spec = ludus.registry.registry["open/TextArena-v0"]
    served = [
        replace(spec, id=f"open/{name}-v0", kwargs={"game": name, "settings": settings})
        for name, (_, _, settings) in GUESSED.items()
    ]
    with ludus.serve(*served, port=0, block=False) as running:
        for name, (guess, _, _) in GUESSED.items():
            seeds = guessed_alike(name)
            heard = [everything_sent(running.url, f"open/{name}-v0", {"message": guess}, seed) for seed in seeds]
            for first, second in zip(*heard, strict=True):
                assert OWN.sub("", first) == OWN.sub("", second)


def test_dipg_safety_offers_the_same_choices_whatever_is_expected():
    offered = set()
    for kind in KINDS:
        env = DIPGSafety(kinds=(kind,))
        observation, _ = env.reset(seed=SEED)
        quoted = [one["label"] for one in env.get_choices()][:-2]
        assert " ".join(quoted) == observation.context
        offered.add(tuple(one["action"]["llm_response"] for one in env.get_choices()[-2:]))
    assert len(offered) == 1
