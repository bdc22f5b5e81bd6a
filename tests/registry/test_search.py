"""Search: conditions, and what they are checked against."""

from dataclasses import replace
from importlib.metadata import PackageNotFoundError, distribution

import pytest

import ludus
from ludus.core import EnvSpec, Security
from ludus.errors import InvalidArgument, InvalidType
from ludus.registry import extras, list_envs, registry
from ludus.registry.extras import install_line
from ludus.registry.search import search

SPECS = [
    EnvSpec("Zoo/Ape-v10", "z:Ape", description="Swing through TREES.", tags=("3d", "hard"), extras=("mujoco",)),
    EnvSpec("Zoo/Ape-v2", "z:Ape", tags=("3d",), nondeterministic=True),
    EnvSpec("Maze-v0", "m:Maze", family="grids", tags=("2d", "hard"), security=Security(isolation="sandbox")),
    EnvSpec("Web-v0", "w:Web", family="web", extras=("serve", "ray"), security=Security(isolation="process")),
]


def ids(*args, **conditions) -> list[str]:
    return [spec.id for spec in search(SPECS, *args, **conditions)]


@pytest.mark.parametrize(
    ("query", "conditions", "found"),
    [
        (None, {}, ["Maze-v0", "Web-v0", "Zoo/Ape-v2", "Zoo/Ape-v10"]),
        ("", {}, ["Maze-v0", "Web-v0", "Zoo/Ape-v2", "Zoo/Ape-v10"]),
        ("ape", {}, ["Zoo/Ape-v2", "Zoo/Ape-v10"]),
        ("trees", {}, ["Zoo/Ape-v10"]),
        ("HARD", {}, ["Maze-v0", "Zoo/Ape-v10"]),
        ("nothing like it", {}, []),
        (None, {"family": "Zoo"}, ["Zoo/Ape-v2", "Zoo/Ape-v10"]),
        (None, {"family": "grids"}, ["Maze-v0"]),
        (None, {"namespace": "Zoo"}, ["Zoo/Ape-v2", "Zoo/Ape-v10"]),
        (None, {"tags": ["3d", "hard"]}, ["Zoo/Ape-v10"]),
        (None, {"deterministic": True}, ["Maze-v0", "Web-v0", "Zoo/Ape-v10"]),
        (None, {"deterministic": False}, ["Zoo/Ape-v2"]),
        (None, {"extras": ()}, ["Maze-v0", "Zoo/Ape-v2"]),
        (None, {"extras": ("mujoco", "serve")}, ["Maze-v0", "Zoo/Ape-v2", "Zoo/Ape-v10"]),
        (None, {"isolation": "none"}, ["Zoo/Ape-v2", "Zoo/Ape-v10"]),
        (None, {"isolation": "process"}, ["Web-v0", "Zoo/Ape-v2", "Zoo/Ape-v10"]),
        (None, {"isolation": "container"}, ["Maze-v0", "Web-v0", "Zoo/Ape-v2", "Zoo/Ape-v10"]),
        ("ape", {"tags": ("hard",), "deterministic": True}, ["Zoo/Ape-v10"]),
    ],
)
def test_what_meets_every_condition_is_found_in_the_order_of_ids(query, conditions, found):
    assert ids(query, **conditions) == found


@pytest.mark.parametrize(
    ("conditions", "kind", "message"),
    [
        (
            {"family": "grid"},
            InvalidArgument,
            "family: expected one of Zoo, grids, web, got 'grid'; did you mean 'grids'?",
        ),
        ({"family": 3}, InvalidArgument, "family: expected one of Zoo, grids, web, got 3"),
        ({"namespace": "zoo"}, InvalidArgument, "namespace: expected one of Zoo, got 'zoo'; did you mean 'Zoo'?"),
        ({"tags": ["4d"]}, InvalidArgument, "tag: expected one of 2d, 3d, hard, got '4d'"),
        ({"tags": "3d"}, InvalidType, "tags: expected a sequence of text, got '3d'"),
        ({"extras": [3]}, InvalidType, "extras: expected a sequence of text, got [3]"),
        (
            {"isolation": "hope"},
            InvalidArgument,
            "isolation: expected one of none, process, sandbox, container, got 'hope'",
        ),
        ({"query": 3}, InvalidType, "query: expected text to look for in ids, descriptions and tags, got 3"),
    ],
)
def test_a_condition_that_cannot_be_met_names_those_that_can(conditions, kind, message):
    with pytest.raises(kind) as caught:
        ids(**conditions)
    assert str(caught.value).startswith(message)


def test_without_families_there_is_none_to_ask_for():
    with pytest.raises(InvalidArgument, match=r"^family: expected none, as no environment has one, got 'x'$"):
        search([EnvSpec("Maze-v0", "m:Maze")], family="x")


def test_the_shared_registry_is_searched():
    assert [spec.id for spec in list_envs("goal", family="teaching", tags=("grid",))] == ["GridWorld-v0"]
    assert all(spec.nondeterministic for spec in list_envs(deterministic=False))


# --- the list as text ---


def test_the_registry_prints_in_columns_by_namespace(capsys):
    table = {spec.id: spec for spec in SPECS}
    text = ludus.pprint_registry(table, num_cols=2, disable_print=True)
    assert text == "===== Zoo =====\nZoo/Ape-v10  Zoo/Ape-v2\n\n===== no namespace =====\nMaze-v0  Web-v0"
    assert ludus.pprint_registry(table, exclude_namespaces=["Zoo"]) is None
    assert capsys.readouterr().out == "===== no namespace =====\nMaze-v0  Web-v0\n"
    assert "GridWorld-v0" in ludus.pprint_registry(disable_print=True)


def test_an_import_can_be_made_to_look_used():
    ludus.register_envs(ludus)
    with pytest.raises(InvalidType, match="register_envs: expected a module, got 'ludus'"):
        ludus.register_envs("ludus")


def test_an_extra_that_is_missing_is_a_line_to_type():
    known = registry["open/Atari-v0"]
    assert install_line(known, "ludus-rl") == ""
    assert install_line(replace(known, extras=("nowhere",)), "ludus-rl") == ""  # an extra without packages
    missing = replace(known, extras=("atari", "sumo"))
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(extras, "distribution", lambda name: without("ale-py", name))
        assert install_line(missing, "ludus-rl") == 'pip install "ludus-rl[atari,sumo]"'
        assert install_line(registry["open/SumoRL-v0"], "ludus-rl") == ""


def without(package, name):
    if name.replace("_", "-") == package:
        raise PackageNotFoundError(name)
    return distribution(name)
