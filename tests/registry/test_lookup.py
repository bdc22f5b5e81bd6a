"""Looking up: versions, aliases, and errors that name what was meant."""

import pytest

from ludus.errors import (
    DuplicateId,
    InvalidType,
    NameNotFound,
    NamespaceNotFound,
    UnknownEnvironment,
    VersionNotFound,
)
from ludus.registry import Registry


@pytest.fixture
def registry():
    registry = Registry()
    registry.register("GridWorld-v0", "teaching:GridWorld", aliases=("Grid-v0",))
    for version in (0, 2, 10):
        registry.register(f"ALE/Pong-v{version}", "ale:Pong")
    registry.register("Plain", "plain:Plain")
    return registry


@pytest.mark.parametrize(
    ("asked", "found"),
    [
        ("GridWorld-v0", "GridWorld-v0"),
        ("GridWorld", "GridWorld-v0"),
        ("Grid-v0", "GridWorld-v0"),
        ("Grid", "GridWorld-v0"),
        ("ALE/Pong", "ALE/Pong-v10"),
        ("ALE/Pong-v10", "ALE/Pong-v10"),
        ("Plain", "Plain"),
    ],
)
def test_an_id_finds_its_environment(registry, asked, found):
    assert registry.spec(asked).id == found


@pytest.mark.parametrize(
    ("asked", "kind", "message"),
    [
        (
            "GridWrld-v0",
            NameNotFound,
            "no environment 'GridWrld-v0'; did you mean 'GridWorld-v0'? `ludus list` shows the 5 known ones",
        ),
        (
            "gridworld-v0",
            NameNotFound,
            "no environment 'gridworld-v0'; did you mean 'GridWorld-v0'? `ludus list` shows the 5 known ones",
        ),
        (
            "gridwrld",
            NameNotFound,
            "no environment 'gridwrld'; did you mean 'GridWorld'? `ludus list` shows the 5 known ones",
        ),
        (
            "Pong-v10",
            NameNotFound,
            "no environment 'Pong-v10'; did you mean 'ALE/Pong-v10'? `ludus list` shows the 5 known ones",
        ),
        ("grit", NameNotFound, "no environment 'grit'; did you mean 'Grid'? `ludus list` shows the 5 known ones"),
        ("Zebra-v9", NameNotFound, "no environment 'Zebra-v9'; `ludus list` shows the 5 known ones"),
        ("ALE/Zebra", NameNotFound, "no environment 'ALE/Zebra'; `ludus list` shows the 5 known ones"),
        (
            "AL/Pong-v2",
            NamespaceNotFound,
            "no environment 'AL/Pong-v2': there is no namespace 'AL'; did you mean 'ALE/Pong-v2'? "
            "`ludus list` shows the 5 known ones",
        ),
        (
            "ale/Quuxquuxquux",
            NamespaceNotFound,
            "no environment 'ale/Quuxquuxquux': there is no namespace 'ale'; did you mean 'ALE'? "
            "`ludus list` shows the 5 known ones",
        ),
        (
            "nowhere/X",
            NamespaceNotFound,
            "no environment 'nowhere/X': there is no namespace 'nowhere'; `ludus list` shows the 5 known ones",
        ),
        (
            "ALE/Pong-v3",
            VersionNotFound,
            "no environment 'ALE/Pong-v3': it has v0, v2, v10; use 'ALE/Pong' for the newest",
        ),
        ("Plain-v1", VersionNotFound, "no environment 'Plain-v1': 'Plain' has no versions"),
    ],
)
def test_an_unknown_id_is_answered_with_the_closest_one(registry, asked, kind, message):
    with pytest.raises(kind) as caught:
        registry.spec(asked)
    assert str(caught.value) == message


@pytest.mark.parametrize(
    ("asked", "hint"),
    [
        ("Pong", "; did you mean 'ALE/Pong-v10'? `"),  # the newest, since none is asked for
        ("pong-v2", "; did you mean 'ALE/Pong-v2'? `"),
        ("LunarLander-v3", "; Gymnasium has it as 'gymnasium/LunarLander-v3'; `"),
        ("phys2d/Pong-v0", "; did you mean 'ALE/Pong-v0'? Gymnasium has it as 'gymnasium/phys2d/Pong-v0'; `"),
    ],
)
def test_who_knows_a_name_from_elsewhere_is_told_where_it_is(registry, asked, hint):
    with pytest.raises(NameNotFound if "/" not in asked else NamespaceNotFound) as caught:
        registry.spec(asked)
    assert hint in str(caught.value)


def test_one_environment_is_not_called_ones():
    registry = Registry()
    registry.register("Maze", "mazes:Maze")
    with pytest.raises(NameNotFound, match=r"`ludus list` shows the one known$"):
        registry.spec("Zebra")


@pytest.mark.parametrize("asked", [None, 3, b"GridWorld-v0", ["GridWorld-v0"]])
def test_an_id_is_text(registry, asked):
    with pytest.raises(InvalidType, match="id: expected text like 'CartPole-v1', got"):
        registry.spec(asked)


# --- age ---


def test_an_old_version_is_given_with_a_warning_at_the_callers_line(registry):
    with pytest.warns(DeprecationWarning, match="newest") as caught:
        assert registry.spec("ALE/Pong-v2").id == "ALE/Pong-v2"
    assert str(caught[0].message) == (
        "ALE/Pong-v2 is not the newest version; use 'ALE/Pong-v10' unless you repeat old results"
    )
    assert caught[0].filename == __file__


def test_a_deprecated_environment_says_why_and_what_is_newer(registry):
    registry.register("Maze-v0", "mazes:Maze", deprecated="its walls leak")
    with pytest.warns(DeprecationWarning, match="^Maze-v0 is deprecated: its walls leak$"):
        registry.spec("Maze")
    registry.register("Maze-v1", "mazes:Maze")
    with pytest.warns(DeprecationWarning, match="^Maze-v0 is deprecated: its walls leak; use 'Maze-v1'$"):
        registry.spec("Maze-v0")


def test_a_newer_version_that_is_deprecated_itself_is_not_recommended(registry):
    registry.register("Maze-v0", "mazes:Maze")
    registry.register("Maze-v1", "mazes:Maze", deprecated="worse")
    assert registry.spec("Maze-v0").version == 0


# --- a mapping ---


def test_a_registry_is_a_mapping_in_the_order_of_names_and_versions(registry):
    assert list(registry) == ["GridWorld-v0", "Plain", "ALE/Pong-v0", "ALE/Pong-v2", "ALE/Pong-v10"]
    assert list(registry.keys()) == [spec.id for spec in registry.values()] == list(dict(registry))
    assert len(registry) == 5
    assert "Plain" in registry
    assert "Grid-v0" not in registry
    assert 3 not in registry
    assert registry.get("Zebra") is None
    assert repr(registry) == "Registry(5 environments)"


def test_a_missing_key_is_a_key_error_with_our_words(registry):
    with pytest.raises(KeyError) as caught:
        registry["GridWrld-v0"]
    assert isinstance(caught.value, UnknownEnvironment)
    assert str(caught.value).startswith("no environment 'GridWrld-v0'; did you mean 'GridWorld-v0'?")


def test_an_environment_can_be_forgotten_with_its_aliases(registry):
    del registry["GridWorld-v0"]
    assert "GridWorld-v0" not in registry
    with pytest.raises(UnknownEnvironment):
        registry.spec("Grid-v0")
    with pytest.raises(KeyError):
        del registry["GridWorld-v0"]


def test_registries_do_not_share_anything(registry):
    assert len(Registry()) == 0
    assert not issubclass(DuplicateId, UnknownEnvironment)
