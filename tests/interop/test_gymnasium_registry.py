"""Names and specs: each library makes the other's environments, and makes them again from their specs."""

import sys

import gymnasium
import pytest

import ludus
from ludus.core import EnvSpec
from ludus.errors import MissingExtra, NameNotFound
from ludus.interop.gymnasium import from_gymnasium, register_all, to_gymnasium
from ludus.interop.gymnasium_specs import spec_from_gymnasium, spec_to_gymnasium
from ludus.wrappers import ClipReward, TimeLimit


def test_gymnasium_knows_every_environment_of_ludus():
    import ludus.interop.gymnasium

    known = {f"ludus/{id.replace('/', '.')}" for id in ludus.registry.registry}  # noqa: A001
    assert known <= set(gymnasium.registry)
    assert gymnasium.spec("ludus/CartPole-v1").max_episode_steps == 500
    assert gymnasium.spec("ludus/CartPole-v1").kwargs == {"ludus_spec": "CartPole-v1"}


def test_gymnasium_makes_them_with_its_own_wrappers():
    env = gymnasium.make("ludus.interop.gymnasium:ludus/CartPole-v1", sutton_barto_reward=True, max_episode_steps=7)
    assert isinstance(env, gymnasium.wrappers.TimeLimit)
    assert env.spec.max_episode_steps == 7
    assert env.unwrapped.sutton_barto_reward is True
    assert not isinstance(env.unwrapped.ludus_env, TimeLimit)
    again = gymnasium.make(gymnasium.envs.registration.EnvSpec.from_json(env.spec.to_json()))
    assert str(again) == str(env)


def test_gymnasium_makes_batches_of_them():
    envs = gymnasium.make_vec("ludus.interop.gymnasium:ludus/CartPole-v1", num_envs=2, vectorization_mode="sync")
    assert envs.reset(seed=0)[0].shape == (2, 4)


def test_ludus_makes_gymnasiums_with_wrappers_of_its_own():
    env = ludus.make("gymnasium/CartPole-v1", sutton_barto_reward=True, max_episode_steps=7)
    assert isinstance(env, TimeLimit)
    assert env.unwrapped._sutton_barto_reward is True
    assert env.unwrapped.gymnasium_env is env.unwrapped.gymnasium_env.unwrapped
    assert env.spec.id == "gymnasium/CartPole-v1"
    assert env.spec.family == "gymnasium"
    again = EnvSpec.from_json(env.spec.to_json()).make()
    assert str(again) == str(env)
    assert again.spec == env.spec


def test_no_version_means_the_newest():
    assert ludus.make("gymnasium/CartPole").spec.id == "gymnasium/CartPole-v1"
    assert ludus.spec("gymnasium/Blackjack").id == "gymnasium/Blackjack-v1"


@pytest.mark.parametrize("id", ["Nowhere-v0", "CartPole-v9", "no/Where-v0", "Nowhere"])
def test_an_unknown_id_says_what_gymnasium_says_and_what_to_do(id):
    with pytest.raises(NameNotFound) as error:
        ludus.make(f"gymnasium/{id}")
    assert str(error.value).startswith(f"no environment 'gymnasium/{id}': ")
    assert str(error.value).endswith(f"Where a package brings it, name the package: 'package:gymnasium/{id}'")


def test_atari_names_the_extra_to_install(monkeypatch):
    monkeypatch.setitem(sys.modules, "ale_py", None)
    with pytest.raises(MissingExtra) as error:
        ludus.make("gymnasium/ALE/Pong-v5")
    assert str(error.value) == (
        "gymnasium/ALE: expected the module 'ale_py', got none; pip install \"ludus-rl[gymnasium,atari]\""
    )


def test_a_module_that_registers_with_gymnasium_is_named_in_front(tmp_path, monkeypatch):
    (tmp_path / "brings_one.py").write_text(
        "import gymnasium\ngymnasium.register('Brought-v0', 'gymnasium.envs.classic_control.cartpole:CartPoleEnv')\n"
    )
    monkeypatch.syspath_prepend(tmp_path)
    assert ludus.make("brings_one:gymnasium/Brought-v0").spec.id == "gymnasium/Brought-v0"


def test_wrapped_environments_of_ludus_are_made_again_by_gymnasium():
    env = to_gymnasium(ClipReward(ludus.make("GridWorld-v0", size=3), 0, 0.5))
    again = gymnasium.make(gymnasium.envs.registration.EnvSpec.from_json(env.spec.to_json()))
    assert "ClipReward" in str(again)
    assert again.reset(seed=1)[1]["goal"].tolist() == env.reset(seed=1)[1]["goal"].tolist()


def test_wrapped_environments_of_gymnasium_are_made_again_by_ludus():
    env = from_gymnasium(gymnasium.wrappers.ClipReward(gymnasium.make("CartPole-v1"), 0, 0.5))
    again = EnvSpec.from_json(env.spec.to_json()).make()
    again.reset(seed=0)
    assert again.step(0).reward == 0.5


def test_what_cannot_be_written_down_is_kept_as_it_is():
    env = to_gymnasium(ludus.make(lambda size: ludus.make("GridWorld-v0", size=size), size=3))
    assert gymnasium.make(env.spec).reset(seed=0)[1]["goal"].max() <= 2
    gymnasium.register("Local-v0", lambda: gymnasium.make("CartPole-v1").unwrapped)
    try:
        back = from_gymnasium(gymnasium.wrappers.ClipReward(gymnasium.make("Local-v0"), 0, 0.5))
        assert back.spec.make().reset(seed=0)[0].shape == (4,)
    finally:
        del gymnasium.registry["Local-v0"]


def test_specs_keep_what_both_libraries_know():
    ours = EnvSpec("my/Maze-v2", "mazes:Maze", reward_threshold=3.0, nondeterministic=True, max_episode_steps=9)
    there = spec_to_gymnasium(ours)
    assert (there.id, there.reward_threshold, there.nondeterministic, there.max_episode_steps) == (
        "ludus/my.Maze-v2", 3.0, True, 9,
    )  # fmt: skip
    back = spec_from_gymnasium(there)
    assert (back.id, back.reward_threshold, back.nondeterministic, back.max_episode_steps) == (
        "gymnasium/ludus/my.Maze-v2", 3.0, True, 9,
    )  # fmt: skip


def test_environments_registered_later_can_be_entered_too():
    ludus.register("LaterGrid-v0", "ludus.envs.teaching.grid_world:GridWorld")
    try:
        assert "ludus/LaterGrid-v0" not in gymnasium.registry
        register_all()
        assert gymnasium.make("ludus/LaterGrid-v0").reset(seed=0)[0].tolist() == [0, 0]
    finally:
        del ludus.registry.registry["LaterGrid-v0"]
        gymnasium.registry.pop("ludus/LaterGrid-v0", None)


def test_without_gymnasium_the_error_names_the_extra(python):
    program = "import sys; sys.modules['gymnasium'] = None; import ludus; ludus.make('gymnasium/CartPole-v1')"
    error = python("-c", program, code=1).stderr
    assert error.splitlines()[-1] == (
        "ludus.errors.MissingExtra: ludus.interop.gymnasium: expected the package gymnasium, got none; "
        'pip install "ludus-rl[gymnasium]"'
    )


def test_nothing_of_gymnasium_is_loaded_before_it_is_asked_for(python):
    program = "import sys, ludus; ludus.make('CartPole-v1'); print('gymnasium' in sys.modules)"
    assert python("-c", program).stdout.strip() == "False"
