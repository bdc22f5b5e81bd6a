"""Atari: every game, one seed one game, snapshots by the console's own state, and settings that are checked."""

import json
import pickle
from pathlib import Path

import numpy as np
import pytest

import ludus
from ludus.envs.open.atari import Atari, AtariAction, AtariArrays
from ludus.envs.open.atari.engine import game_names
from ludus.envs.open.atari.policies import POLICIES
from ludus.errors import InvalidAction, InvalidArgument, ResetNeeded
from ludus.testing import data_equal
from tests.envs.open_play import mean_returns

CATALOG = Path(ludus.__file__).parent / "envs" / "open" / "atari" / "games.json"
GAMES = [one["kwargs"]["game"] for one in json.loads(CATALOG.read_text(encoding="utf8"))["envs"].values()]
SAMPLE = ("breakout", "qbert", "montezuma_revenge")
every_game = pytest.mark.parametrize(
    "game", [pytest.param(one, marks=[] if one in SAMPLE else [pytest.mark.full]) for one in GAMES]
)


@pytest.fixture(scope="module")
def breakout():
    return Atari("breakout")


def history(env, seed, steps=15):
    rng = np.random.default_rng(seed)
    told = [env.reset(seed=seed)]
    while len(told) <= steps:
        told.append(tuple(env.step(AtariAction(int(rng.integers(len(env._actions)))))))
        if told[-1][2]:
            break
    return told


def test_every_game_for_one_player_has_an_id():
    assert tuple(GAMES) == game_names()
    assert len(GAMES) == 104
    assert {one.id for one in ludus.list_envs(family="atari")} == {f"open/Atari-{one}-v0" for one in GAMES}


@every_game
def test_a_snapshot_of_a_game_goes_on_alike_and_a_seed_is_a_game(game):
    env = Atari(game, repeat_action_probability=0.25, frameskip=(2, 5))
    first = history(env, 3)
    kept, picture = env.snapshot(), env.frame().copy()

    def rest():
        rng = np.random.default_rng(5)
        return [tuple(env.step(AtariAction(int(rng.integers(len(env._actions)))))) for _ in range(10)]

    if not first[-1][2]:
        then = rest()
        env.restore(kept)
        assert (env.frame() == picture).all()
        assert data_equal(rest(), then)
        env.restore(pickle.loads(pickle.dumps(kept)))
        assert data_equal(rest(), then)
    assert data_equal(history(env, 3), first)


def test_another_environment_of_a_seed_is_alike_and_another_seed_is_not(breakout):
    first = history(breakout, 3)
    assert data_equal(history(Atari("breakout"), 3), first)
    starts = {breakout.reset(seed=seed)[0].episode_frame_number for seed in range(8)}
    assert len(starts) > 3


@pytest.mark.parametrize(("obs_type", "shape"), [("rgb", (210, 160, 3)), ("grayscale", (210, 160)), ("ram", (128,))])
def test_a_screen_has_its_shape(obs_type, shape):
    typed, arrays = Atari("pong", obs_type=obs_type), AtariArrays("pong", obs_type=obs_type)
    observation, _ = typed.reset(seed=1)
    seen, _ = arrays.reset(seed=1)
    assert tuple(observation.screen_shape) == seen.shape == shape
    for action in (2, 3, 0):
        step, other = typed.step(AtariAction(action)), arrays.step(action)
        assert (step.observation.screen.reshape(shape) == other.observation).all()
        assert (step.reward, step.done) == (other.reward, other.done)
    assert typed.observation_space.contains(step.observation)
    assert arrays.observation_space.contains(other.observation)


def test_who_follows_the_ball_scores_and_nonsense_never_does():
    means, winners = mean_returns(lambda: Atari("breakout", obs_type="ram"), POLICIES, most=120)
    assert means["oracle"] > means["random"] >= means["nop"] == means["garbage"] == 0.0
    assert not winners


def test_a_lost_life_is_told_and_may_end_an_episode():
    env = Atari("breakout", obs_type="ram", terminal_on_life_loss=True)
    _, info = env.reset(seed=0)
    assert info["lives"] == 5
    step = None
    while step is None or not step.done:
        step = env.step(AtariAction(1))
    assert step.terminated
    assert step.info["facts"] == {"life_lost": True, "illegal_move": False}
    assert step.info["lives"] == step.observation.lives == 4
    with pytest.raises(ResetNeeded):
        env.step(AtariAction(0))


def test_sticky_actions_are_drawn_from_the_environments_stream():
    def positions(chance):
        env = Atari("breakout", obs_type="ram", repeat_action_probability=chance, noop_max=0, frameskip=1)
        env.reset(seed=2)
        return [int(env.step(AtariAction(2 + number % 2)).observation.screen[72]) for number in range(40)]

    assert positions(0.5) == positions(0.5) != positions(0.0)


@pytest.mark.parametrize(
    "action", [AtariAction(4), AtariAction(-1), AtariAction("1"), None, 1, AtariAction(1, game_name="tennis"),
               AtariAction(1, obs_type="ram")],
)  # fmt: skip
def test_what_is_no_action_is_refused_and_changes_nothing(action, breakout):
    before, _ = breakout.reset(seed=0)
    with pytest.raises(InvalidAction, match="action"):
        breakout.step(action)
    assert breakout.seen().frame_number == before.frame_number
    assert not breakout.step({"action_id": 1}).done


@pytest.mark.parametrize(
    ("arguments", "match"),
    [
        ({"game": "breakot"}, "did you mean 'breakout'"),
        ({"game": "combat"}, "which needs several players"),
        ({"game": 3}, "expected one of 104 games"),
        ({"obs_type": "sonar"}, r"obs_type: expected one of \['rgb'"),
        ({"frameskip": 0}, "frameskip: expected 1 to 60"),
        ({"frameskip": (5, 2)}, "frameskip: expected 1 to 60"),
        ({"repeat_action_probability": 1.0}, "repeat_action_probability: expected 0"),
        ({"mode": 99}, r"mode: expected one of \[0, 1\]"),
        ({"difficulty": 99}, "difficulty: expected one of"),
        ({"noop_max": -1}, "noop_max: expected 0"),
        ({"full_action_space": "yes"}, "full_action_space: expected True or False"),
        ({"colour": True}, r"got \['colour'\]"),
    ],
)
def test_a_wrong_argument_is_told(arguments, match):
    with pytest.raises(InvalidArgument, match=match):
        Atari(**arguments)


def test_variables_of_the_original_are_read(monkeypatch):
    for name, text in (("GAME", "breakout"), ("OBS_TYPE", "ram"), ("FULL_ACTION_SPACE", "true"), ("FRAMESKIP", "2")):
        monkeypatch.setenv(f"ATARI_{name}", text)
    env = Atari()
    env.reset(seed=0)
    assert env.state_data() == {
        "game_name": "breakout", "obs_type": "ram", "full_action_space": True, "mode": None, "difficulty": None,
        "repeat_action_probability": 0.0, "frameskip": 2,
    }  # fmt: skip
    assert len(env.get_action_meanings()) == 18
    monkeypatch.setenv("ATARI_FRAMESKIP", "two")
    with pytest.raises(InvalidArgument, match="ATARI_FRAMESKIP: expected a number"):
        Atari()
    monkeypatch.setenv("ATARI_FULL_ACTION_SPACE", "maybe")
    with pytest.raises(InvalidArgument, match="ATARI_FULL_ACTION_SPACE: expected true or false, got 'maybe'"):
        Atari(frameskip=4)


def test_modes_and_difficulties_are_the_consoles_own():
    def screens(**chosen):
        env = Atari("pong", obs_type="grayscale", **chosen)
        env.reset(seed=0)
        told = [bytes(env.step(AtariAction(1)).observation.screen) for _ in range(40)]
        assert {name: env.state_data()[name] for name in chosen} == chosen
        return tuple(told)

    assert screens(mode=0, difficulty=0) == screens()
    assert len({screens(), screens(mode=1), screens(difficulty=1), screens(mode=1, difficulty=1)}) == 4


def test_keys_are_arrows_and_space_and_nothing_does_nothing(breakout):
    assert breakout.get_keys_to_action() == {
        "": AtariAction(0), ("space",): AtariAction(1), ("right",): AtariAction(2), ("left",): AtariAction(3),
    }  # fmt: skip


def test_a_picture_is_the_consoles_own():
    env = ludus.make("open/Atari-breakout-v0", render_mode="rgb_array")
    with pytest.raises(ResetNeeded):
        env.render()
    observation, _ = env.reset(seed=0)
    assert (env.render().reshape(-1) == observation.screen).all()
    assert env.unwrapped.draw().to_svg().startswith("<svg")


def test_a_reset_takes_no_options(breakout):
    with pytest.raises(InvalidArgument, match="has no reset options"):
        breakout.reset(options={"game": "pong"})
