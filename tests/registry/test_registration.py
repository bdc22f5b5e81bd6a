"""Registering: what is accepted, what replaces what, and who may."""

import functools

import numpy as np
import pytest

import ludus
from ludus.core import EnvSpec, Security, WrapperSpec
from ludus.errors import DuplicateId, InvalidSpec, MalformedId, RegistrationError
from ludus.registry import Registry, namespace, register


@pytest.fixture
def registry():
    return Registry()


def test_every_field_of_gymnasium_and_ours_is_accepted(registry):
    spec = registry.register(
        "my/Maze-v3",
        entry_point="mazes:Maze",
        reward_threshold=10.0,
        nondeterministic=True,
        max_episode_steps=7,
        order_enforce=False,
        disable_env_checker=True,
        additional_wrappers=(WrapperSpec("W", "mazes:W", {}),),
        vector_entry_point="mazes:MazeBatch",
        kwargs={"size": 3},
        author="Ada",
        description="A maze.",
        tags=["grid"],
        family="mazes",
        license="MIT",
        extras=["draw"],
        aliases=["Maze-v3"],
        deprecated="too easy",
        security=Security(network=("*",), isolation="sandbox"),
    )
    assert registry["my/Maze-v3"] is spec
    assert (spec.namespace, spec.name, spec.version, spec.tags) == ("my", "Maze", 3, ("grid",))


def test_none_stands_for_the_default_as_in_gymnasium(registry):
    spec = registry.register(id="Maze-v0", entry_point="mazes:Maze", reward_threshold=None, kwargs=None)
    assert spec == EnvSpec("Maze-v0", "mazes:Maze")


def test_a_spec_can_be_registered_as_it_is(registry):
    spec = EnvSpec("Maze-v0", "mazes:Maze")
    assert registry.register(spec) == spec
    assert list(registry) == ["Maze-v0"]


def test_a_spec_comes_alone(registry):
    with pytest.raises(RegistrationError) as caught:
        registry.register(EnvSpec("Maze-v0", "mazes:Maze"), max_episode_steps=3)
    assert str(caught.value) == (
        "register: expected an EnvSpec alone, got 'Maze-v0' with max_episode_steps; "
        "change the spec with spec.replace(…)"
    )


def test_an_unknown_field_is_named_with_the_one_that_was_meant(registry):
    with pytest.raises(InvalidSpec) as caught:
        registry.register("Maze-v0", "mazes:Maze", max_steps=3)
    assert str(caught.value).startswith(
        "register 'Maze-v0': unknown field 'max_steps'; did you mean 'max_episode_steps'? the fields are "
    )


@pytest.mark.parametrize("entry_point", ["mazes", 3, ["mazes:Maze"]])
def test_an_entry_point_is_text_with_a_colon_or_a_callable(registry, entry_point):
    with pytest.raises(InvalidSpec, match="expected 'module:Class' or a callable"):
        registry.register("Maze-v0", entry_point)


def test_an_environment_needs_code(registry):
    with pytest.raises(RegistrationError) as caught:
        registry.register("Maze-v0")
    assert str(caught.value) == (
        "Maze-v0: expected an entry_point ('module:Class' or a callable) or a vector_entry_point, got neither"
    )


@pytest.mark.parametrize("name", ["", "Maze v0", "my:Maze-v0", "/Maze-v0"])
def test_an_id_follows_the_grammar(registry, name):
    with pytest.raises(MalformedId, match="expected \\[namespace/\\]Name\\[-vN\\]"):
        registry.register(name, "mazes:Maze")


# --- again ---


def test_the_same_registration_again_is_silent(registry):
    assert registry.register("Maze-v0", "mazes:Maze") == registry.register("Maze-v0", "mazes:Maze")


def test_another_registration_of_the_same_package_takes_its_place_with_a_warning(registry):
    registry.register("Maze-v0", "mazes:Maze", aliases=("Labyrinth-v0",))
    with pytest.warns(UserWarning, match="Maze-v0: registered again by mazes; the new one takes its place") as caught:
        registry.register("Maze-v0", "mazes.other:Maze")
    assert caught[0].filename == __file__
    assert registry["Maze-v0"].entry_point == "mazes.other:Maze"
    with pytest.raises(ludus.errors.UnknownEnvironment):
        registry.spec("Labyrinth-v0")


def test_arrays_among_the_arguments_are_compared_by_value(registry):
    registry.register("Maze-v0", "mazes:Maze", kwargs={"walls": np.zeros(2)})
    registry.register("Maze-v0", "mazes:Maze", kwargs={"walls": np.zeros(2)})
    with pytest.warns(UserWarning, match="registered again"):
        registry.register("Maze-v0", "mazes:Maze", kwargs={"walls": np.ones(2)})


def test_another_package_may_not_take_an_id(registry):
    registry.register("Maze-v0", "mazes:Maze")
    with pytest.raises(DuplicateId) as caught:
        registry.register("Maze-v0", "labyrinths.maze:Maze")
    assert str(caught.value) == (
        "Maze-v0: expected an id that only labyrinths has, got one of mazes; "
        "choose another, or register it in a namespace of your own"
    )
    assert registry["Maze-v0"].entry_point == "mazes:Maze"


def test_the_owner_of_a_callable_is_its_module(registry):
    registry.register("Maze-v0", functools.partial(functools.partial(ludus.Env)))
    with pytest.raises(DuplicateId, match="got one of ludus"):
        registry.register("Maze-v0", "mazes:Maze")


# --- versions and aliases ---


def test_a_name_without_a_version_does_not_join_versions(registry):
    registry.register("Maze-v0", "mazes:Maze")
    registry.register("Maze-v3", "mazes:Maze")
    with pytest.raises(RegistrationError) as caught:
        registry.register("Maze", "mazes:Maze")
    assert str(caught.value) == ("Maze: expected a version, as in 'Maze-v4', got none, while there is Maze-v0, Maze-v3")


def test_a_version_does_not_join_a_name_without_one(registry):
    registry.register("Maze", "mazes:Maze")
    with pytest.raises(RegistrationError) as caught:
        registry.register("Maze-v1", "mazes:Maze")
    assert str(caught.value) == (
        "Maze-v1: expected no version, got v1, while there is 'Maze' without one; "
        "give every environment of that name a version, or none"
    )


@pytest.mark.parametrize("alias", ["Grid-v0", "Grid"])
def test_an_alias_may_not_shadow_an_id(registry, alias):
    registry.register("Grid-v0", "mazes:Grid")
    with pytest.raises(RegistrationError) as caught:
        registry.register("Maze-v0", "mazes:Maze", aliases=(alias,))
    assert str(caught.value) == (
        f"Maze-v0: expected aliases that mean nothing else, got '{alias}', which means 'Grid-v0'; leave it out"
    )


def test_an_alias_may_not_shadow_an_alias(registry):
    registry.register("Grid-v0", "mazes:Grid", aliases=("G",))
    with pytest.raises(RegistrationError, match="got 'G', which means 'Grid-v0'"):
        registry.register("Maze-v0", "mazes:Maze", aliases=("G",))


def test_an_id_may_not_take_an_alias(registry):
    registry.register("Grid-v0", "mazes:Grid", aliases=("Maze-v0",))
    with pytest.raises(RegistrationError) as caught:
        registry.register("Maze-v0", "mazes:Maze")
    assert str(caught.value) == "Maze-v0: expected an id of its own, got an alias of 'Grid-v0'; choose another id"


def test_an_environment_is_no_alias_of_itself(registry):
    with pytest.raises(RegistrationError, match="mean nothing else"):
        registry.register("Grid-v0", "mazes:Grid", aliases=("Grid-v0",))


# --- namespaces ---


def test_a_namespace_goes_before_every_id(registry):
    with registry.namespace("my"):
        assert registry.register("Maze-v0", "mazes:Maze").id == "my/Maze-v0"
        assert registry.register(EnvSpec("Grid-v0", "mazes:Grid")).id == "my/Grid-v0"
        assert registry.register("my/Room-v0", "mazes:Room").family == "my"
    assert registry.register("Hall-v0", "mazes:Hall").id == "Hall-v0"


def test_a_namespace_ends_with_its_block_even_after_an_error(registry):
    with pytest.raises(ZeroDivisionError), registry.namespace("my"), registry.namespace("your"):
        raise ZeroDivisionError
    assert registry.register("Maze-v0", "mazes:Maze").id == "Maze-v0"


def test_an_id_does_not_change_its_namespace_silently(registry):
    with registry.namespace("my"), pytest.raises(RegistrationError) as caught:
        registry.register("your/Maze-v0", "mazes:Maze")
    assert str(caught.value) == (
        "your/Maze-v0: expected an id without a namespace inside namespace('my'), got 'your/Maze-v0'"
    )


def test_a_namespace_follows_the_grammar(registry):
    with pytest.raises(MalformedId), registry.namespace("my space"):
        pass


def test_the_functions_use_the_shared_registry(shared):
    with namespace("tests"):
        spec = register("Shared-v0", "mazes:Maze")
    assert shared["tests/Shared-v0"] is spec
    assert ludus.spec("tests/Shared") is spec
