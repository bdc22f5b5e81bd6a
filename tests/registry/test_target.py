"""Targets: `module:Id` and `module:Class`."""

import pytest

from ludus.errors import EntryPointError, MalformedId, NameNotFound, VersionNotFound

MODULE = """
import ludus
from sample_module import Count


class Maze(Count): ...
class GridWorld(Count): ...
class Plain(Count): ...
class Nest:
    class Egg(Count): ...


NUMBER = 3
SPEC = ludus.EnvSpec("Described-v0", "mazes:Maze")
registry.register("Maze-v0", Maze, max_episode_steps=5)
registry.register("Maze-v1", Maze, max_episode_steps=6)
registry.register("other/Elsewhere-v0", "sample_module:Count")
"""


@pytest.fixture
def registry(site, samples, monkeypatch):
    """A registry that the module below registers into when it is imported."""
    registry = site.registry()
    monkeypatch.setattr("builtins.registry", registry, raising=False)
    site.write("mazes.py", MODULE)
    return registry


def test_a_module_is_imported_for_what_it_registers(registry):
    assert registry.spec("mazes:Maze-v1").max_episode_steps == 6
    assert registry.spec("mazes:other/Elsewhere-v0").id == "other/Elsewhere-v0"


def test_a_class_that_the_module_registered_comes_with_its_spec(registry):
    assert registry.spec("mazes:Maze").id == "Maze-v1"


def test_an_old_version_warns_here_too(registry):
    with pytest.warns(DeprecationWarning, match="use 'Maze-v1'"):
        registry.spec("mazes:Maze-v0")


def test_a_class_that_is_not_registered_is_its_own_spec(registry):
    spec = registry.spec("mazes:Plain")
    assert (spec.id, spec.entry_point, spec.max_episode_steps) == ("Plain", "mazes:Plain", None)
    assert spec.make(start=4).reset()[0] == 4


def test_a_class_of_the_module_goes_before_another_packages_environment(registry):
    assert registry.spec("mazes:GridWorld").entry_point == "mazes:GridWorld"
    assert registry.spec("GridWorld").entry_point == "ludus.envs.teaching.grid_world:GridWorld"


def test_a_nested_class_a_function_and_a_spec_are_targets_too(registry):
    assert registry.spec("mazes:Nest.Egg").make().unwrapped.spec.id == "Egg"
    assert registry.spec("sample_module:count_from_seven").make().reset()[0] == 7
    assert registry.spec("mazes:SPEC").id == "Described-v0"


@pytest.mark.parametrize(
    ("asked", "kind", "message"),
    [
        (
            "nowhere:Maze",
            EntryPointError,
            "nowhere:Maze: expected a module 'nowhere' that can be imported, got no module named 'nowhere'; "
            "install its package, or run from the folder it is in",
        ),
        (
            "mazes:Mase",
            NameNotFound,
            "no environment 'mazes:Mase': the module neither registers nor defines 'Mase'; did you mean 'Maze'? "
            "its environments are GridWorld, Maze, Plain",
        ),
        (
            "math:Maze",
            NameNotFound,
            "no environment 'math:Maze': the module neither registers nor defines 'Maze'; it defines no Env",
        ),
        ("mazes:Maze-v9", VersionNotFound, "no environment 'Maze-v9': it has v0, v1; use 'Maze' for the newest"),
        (
            "mazes:NUMBER",
            EntryPointError,
            "mazes:NUMBER: expected an Env class or a function that returns one, got 3",
        ),
        (
            "mazes:Nest.Eg",
            EntryPointError,
            "mazes:Nest.Eg: expected 'Nest.Eg' in the module 'mazes', got no such name; did you mean 'Egg'?",
        ),
        ("mazes:", MalformedId, "id: expected 'module:Id' or 'module:Class', as in 'my_module:MyEnv', got 'mazes:'"),
        (":Maze", MalformedId, "id: expected 'module:Id' or 'module:Class', as in 'my_module:MyEnv', got ':Maze'"),
        ("mazes:My Maze", NameNotFound, None),
    ],
)
def test_a_target_that_is_not_there_says_which_part_is_missing(registry, asked, kind, message):
    with pytest.raises(kind) as caught:
        registry.spec(asked)
    assert message in (None, str(caught.value))


def test_a_module_that_fails_is_named_with_its_cause(registry, site):
    site.write("broken.py", "1 / 0")
    with pytest.raises(EntryPointError) as caught:
        registry.spec("broken:Maze")
    assert str(caught.value) == "broken:Maze: importing 'broken' failed: ZeroDivisionError: division by zero"
    assert isinstance(caught.value.__cause__, ZeroDivisionError)


def test_a_rivalry_is_not_hidden_by_the_module(registry, site):
    for name in ("alpha", "beta"):
        site.install(name, {"Rival-v0": f"{name}:Rival"})
    with pytest.raises(Exception, match="Rival-v0: expected one package that has it, got alpha, beta"):
        registry.spec("math:Rival-v0")
