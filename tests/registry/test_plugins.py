"""Plugins: found without being imported, and never able to break each other."""

import os
import subprocess
import sys

import pytest

from ludus.errors import DuplicateId, EntryPointError, MissingExtra, NamespaceNotFound
from ludus.registry.plugins import Findings

EXPLOSIVE = "raise RuntimeError('imported')\n"
CATALOG = """
[envs."mazes/Maze-v0"]
entry_point = "mazes.maze:Maze"
max_episode_steps = 9
tags = ["grid"]
additional_wrappers = [{name = "Scale", entry_point = "mazes.maze:Scale", kwargs = {factor = 2.0}}]

[envs."mazes/Maze-v0".kwargs]
size = 3

[envs."mazes/Maze-v0".security]
network = ["example.org:443"]
isolation = "sandbox"
"""


def test_the_built_in_environments_are_there(site):
    assert {"GridWorld-v0", "Bandit-v0"} <= set(site.registry())
    assert site.registry()["GridWorld-v0"].family == "teaching"


def test_a_line_announces_one_environment(site):
    site.install("mazes", {"mazes/Maze-v0": "mazes.maze:Maze [draw, fast]"}, {"mazes/__init__.py": EXPLOSIVE})
    spec = site.registry().spec("mazes/Maze")
    assert (spec.entry_point, spec.extras, spec.family) == ("mazes.maze:Maze", ("draw", "fast"), "mazes")


@pytest.mark.parametrize(
    ("entry_point", "path"),
    [("mazes:ludus.toml", "mazes/ludus.toml"), ("mazes.data.more:envs.toml", "mazes/data/more/envs.toml")],
)
def test_a_catalog_announces_with_every_field(site, entry_point, path):
    site.install("mazes", {"anything": entry_point}, {"mazes/__init__.py": EXPLOSIVE, path: CATALOG})
    spec = site.registry().spec("mazes/Maze-v0")
    assert (spec.max_episode_steps, spec.kwargs, spec.tags) == (9, {"size": 3}, ("grid",))
    assert (spec.security.network, spec.security.isolation) == (("example.org:443",), "sandbox")
    assert spec.additional_wrappers[0].kwargs == {"factor": 2.0}
    assert "mazes" not in sys.modules


def test_a_catalog_may_be_json(site):
    text = '{"envs": {"mazes/Maze-v0": {"entry_point": "mazes:Maze", "description": "JSON."}}}'
    site.install("mazes", {"envs": "mazes:envs.json"}, {"mazes/__init__.py": EXPLOSIVE, "mazes/envs.json": text})
    assert site.registry()["mazes/Maze-v0"].description == "JSON."


def test_the_catalog_of_an_editable_install_is_found_where_the_package_is(site, tmp_path, monkeypatch):
    source = tmp_path / "source"
    site.write("source/mazes/__init__.py", EXPLOSIVE)
    site.write("source/mazes/ludus.toml", CATALOG)
    site.install("mazes", {"envs": "mazes:ludus.toml"})
    monkeypatch.syspath_prepend(str(source))
    assert "mazes/Maze-v0" in site.registry()


def test_of_two_copies_of_one_package_the_first_on_the_path_counts(site, tmp_path, monkeypatch):
    site.install("my-mazes", {"mazes/Old-v0": "mazes:Old"})
    newer = type(site)(tmp_path / "newer")
    newer.install("My.Mazes", {"mazes/New-v0": "mazes:New"})
    monkeypatch.syspath_prepend(str(newer.folder))
    assert [name for name in site.registry() if name.startswith("mazes/")] == ["mazes/New-v0"]


def test_looking_around_imports_nothing_and_happens_once(site):
    site.install("mazes", {"mazes/Maze-v0": "mazes:Maze"}, {"mazes.py": EXPLOSIVE})
    registry = site.registry()
    assert "mazes/Maze-v0" in list(registry)
    assert registry.spec("mazes/Maze").id in registry
    site.install("later", {"later/Maze-v0": "later:Maze"})
    assert "later/Maze-v0" not in registry


def test_importing_ludus_looks_for_nothing(site):
    program = "import sys, ludus; print('importlib.metadata' in sys.modules, 'tomllib' in sys.modules)"
    environment = {name: value for name, value in os.environ.items() if not name.startswith("COV")}
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True, env=environment)
    assert done.stdout.split() == ["False", "False"]


# --- the code behind a plugin ---


def test_code_is_imported_when_an_environment_is_made(site, samples):
    site.install("sample", {"sample/Count-v0": samples("Count")})
    spec = site.registry().spec("sample/Count")
    assert "sample_module" not in sys.modules
    assert spec.make(start=5).reset()[0] == 5
    assert "sample_module" in sys.modules


def test_code_that_fails_on_import_is_named_with_its_cause(site):
    site.install("mazes", {"mazes/Maze-v0": "mazes:Maze"}, {"mazes.py": EXPLOSIVE})
    spec = site.registry().spec("mazes/Maze-v0")
    with pytest.raises(EntryPointError) as caught:
        spec.make()
    assert str(caught.value) == "mazes/Maze-v0: importing 'mazes' failed: RuntimeError: imported"
    assert isinstance(caught.value.__cause__, RuntimeError)


@pytest.mark.parametrize("source", ["import nowhere_to_be_found\n", "def Maze():\n    import nowhere_to_be_found\n"])
def test_a_missing_third_party_names_the_extra_to_install(site, shared, source):
    site.install("mazes-and-more", {"mazes/Maze-v0": "mazes:Maze [draw]"}, {"mazes.py": source})
    with pytest.raises(MissingExtra) as caught:
        shared.register(site.registry().spec("mazes/Maze")).make()
    assert str(caught.value) == (
        "mazes/Maze-v0: expected the module 'nowhere_to_be_found', got none; "
        'install what it needs: pip install "mazes[draw]"'
    )
    assert isinstance(caught.value, ImportError)
    assert caught.value.name == "nowhere_to_be_found"


def test_the_package_to_install_is_the_one_that_announced_it(site):
    site.install("mazes-and-more", {"mazes/Maze-v0": "mazes:Maze [draw]"}, {"mazes.py": "import nowhere_to_be_found\n"})
    program = "import ludus; ludus.make('mazes/Maze-v0')"
    done = subprocess.run(
        [sys.executable, "-c", program],
        env={"PYTHONPATH": str(site.folder)},
        capture_output=True,
        text=True,
        check=False,
    )
    assert 'pip install "mazes-and-more[draw]"' in done.stderr


def test_a_missing_module_without_extras_is_no_missing_extra(site):
    site.install("mazes", {"mazes/Maze-v0": "mazes:Maze"}, {"mazes.py": "import nowhere_to_be_found\n"})
    with pytest.raises(EntryPointError) as caught:
        site.registry().spec("mazes/Maze").make()
    assert not isinstance(caught.value, MissingExtra)
    assert str(caught.value) == (
        "mazes/Maze-v0: importing 'mazes' failed: No module named 'nowhere_to_be_found'; install what it needs"
    )


def test_a_module_of_the_plugin_itself_is_no_missing_extra(site):
    site.install("mazes", {"mazes/Maze-v0": "mazes.maze:Maze [draw]"}, {"mazes/__init__.py": ""})
    with pytest.raises(EntryPointError) as caught:
        site.registry().spec("mazes/Maze").make()
    assert not isinstance(caught.value, MissingExtra)
    assert str(caught.value) == (
        "mazes/Maze-v0: expected a module 'mazes.maze' that can be imported, got no module named 'mazes.maze'; "
        "install its package, or run from the folder it is in"
    )


# --- broken ones ---

BROKEN = {
    "a bad id": ({"mazes/My Maze": "mazes:Maze"}, {}, "id: expected [namespace/]Name[-vN]"),
    "no catalog": ({"envs": "mazes:ludus.toml"}, {}, "mazes:ludus.toml: expected the file 'ludus.toml' in the package"),
    "no TOML": ({"envs": "mazes:ludus.toml"}, {"mazes/ludus.toml": "[["}, "ludus.toml: expected a readable catalog, "),
    "no JSON": ({"envs": "mazes:e.json"}, {"mazes/e.json": "{"}, "e.json: expected a readable catalog, got"),
    "no UTF-8": ({"envs": "mazes:ludus.toml"}, None, "ludus.toml: expected a readable catalog, got UnicodeDecodeError"),
    "no envs": ({"envs": "mazes:e.json"}, {"mazes/e.json": '{"env": {}}'}, "e.json: expected tables like [envs."),
    "a list": ({"envs": "mazes:e.json"}, {"mazes/e.json": "[]"}, "e.json: expected tables like [envs."),
    "no lines": ("what is this", {}, "expected a readable entry_points.txt, got"),
}  # fmt: skip


@pytest.fixture(params=BROKEN.values(), ids=list(BROKEN))
def broken(request, site):
    announces, files, message = request.param
    site.install("mazes", announces, files)
    if files is None:
        site.write("mazes/ludus.toml", "")
        (site.folder / "mazes/ludus.toml").write_bytes(b"\xff\xfe\xff")
    site.write("mazes/__init__.py", EXPLOSIVE)
    site.install("good", {"good/Maze-v0": "good:Maze"})
    return site.registry(), message


def test_a_broken_plugin_does_not_break_others(broken):
    registry, _ = broken
    assert {"good/Maze-v0", "GridWorld-v0"} <= set(registry)
    assert registry.spec("good/Maze").id == "good/Maze-v0"


def test_a_broken_plugin_is_shown_in_the_list_of_problems(broken):
    registry, message = broken
    [problem] = registry.problems()
    assert problem.startswith(f"mazes: {message}")


def test_a_broken_plugin_explains_itself_when_its_namespace_is_asked_for(broken):
    registry, message = broken
    with pytest.raises(EntryPointError) as caught:
        registry.spec("mazes/Maze-v0")
    assert str(caught.value).startswith(
        f"no environment 'mazes/Maze-v0': what the package 'mazes' announces cannot be used: {message}"
    )
    assert str(caught.value).endswith("; repair 'mazes', or install another version of it")
    assert caught.value.__cause__ is not None


def test_a_broken_plugin_is_silent_about_the_names_of_others(broken):
    with pytest.raises(NamespaceNotFound):
        broken[0].spec("elsewhere/Maze-v0")


@pytest.mark.parametrize(
    ("fields", "message"),
    [
        ("max_episode_steps = 3", 'mazes/Bad-v0: expected a table with entry_point = "module:Class"'),
        ('entry_point = "mazes"', "mazes/Bad-v0.entry_point: expected 'module:Class' or a callable, got 'mazes'"),
        ('entry_point = "mazes:Bad"\ncolour = "red"', "mazes/Bad-v0: expected the fields id, entry_point,"),
        ('entry_point = "mazes:Bad"\nid = "Other-v0"', "mazes/Bad-v0: expected the id as the table's name only"),
        ('entry_point = "mazes:Bad"\nmax_episode_steps = "3"', "mazes/Bad-v0.max_episode_steps: expected a positive"),
        ('entry_point = "mazes:Bad"\ntags = 3', "mazes/Bad-v0: "),
        (
            'entry_point = "mazes:Bad"\n[envs."mazes/Bad-v0".security]\nisolation = "hope"',
            "security.isolation: expected",
        ),
    ],
)
def test_a_bad_entry_of_a_catalog_leaves_the_others_alone(site, fields, message):
    text = f'{CATALOG}\n[envs."mazes/Bad-v0"]\n{fields}\n'
    site.install("mazes", {"envs": "mazes:ludus.toml"}, {"mazes/__init__.py": "", "mazes/ludus.toml": text})
    registry = site.registry()
    assert registry.spec("mazes/Maze").id == "mazes/Maze-v0"
    for asked in ("mazes/Bad-v0", "mazes/Bad"):
        with pytest.raises(EntryPointError) as caught:
            registry.spec(asked)
        assert f"what the package 'mazes' announces cannot be used: {message}" in str(caught.value)


def test_other_tables_of_a_catalog_are_not_dropped_silently(site):
    site.install("mazes", {"envs": "mazes:ludus.toml"}, {"mazes/ludus.toml": f"[tasks]\n{CATALOG}"})
    registry = site.registry()
    assert "mazes/Maze-v0" in registry
    assert registry.problems() == ["mazes: ludus.toml: expected only 'envs' at the top, got 'tasks' as well"]


def test_a_bad_line_leaves_the_others_alone(site):
    site.install("mazes", {"mazes/Bad-v0": "mazes", "mazes/Maze-v0": "mazes:Maze"})
    registry = site.registry()
    assert "mazes/Maze-v0" in registry
    with pytest.raises(
        EntryPointError, match=r"Bad-v0.entry_point: expected 'module:Class' or a callable, got 'mazes'"
    ):
        registry.spec("mazes/Bad-v0")


def test_an_import_hook_that_fails_breaks_only_its_own_plugin(site, monkeypatch):
    class Hook:
        @staticmethod
        def find_spec(name, path=None, target=None):
            if name == "mazes":
                raise OSError("the drive is gone")

    monkeypatch.setattr(sys, "meta_path", [Hook, *sys.meta_path])
    site.install("mazes", {"envs": "mazes:ludus.toml"})
    site.install("good", {"good/Maze-v0": "good:Maze"})
    registry = site.registry()
    assert "good/Maze-v0" in registry
    assert registry.problems() == [
        "mazes: mazes:ludus.toml: expected a package that can be found, got OSError: the drive is gone"
    ]


def test_unreadable_metadata_of_another_package_is_none_of_our_business(site):
    site.write("odd-1.0.dist-info/METADATA", "")
    site.write("odd-1.0.dist-info/entry_points.txt", "")
    (site.folder / "odd-1.0.dist-info/entry_points.txt").write_bytes(b"\xff\xff")
    assert "GridWorld-v0" in site.registry()


# --- rivals ---


def test_of_two_packages_that_claim_one_id_neither_is_chosen(site):
    for name in ("alpha", "beta"):
        site.install(name, {"Maze-v1": f"{name}:Maze", f"{name}/Own-v0": f"{name}:Own"})
    site.install("gamma", {"Maze-v0": "gamma:Maze"})
    registry = site.registry()
    assert {"alpha/Own-v0", "beta/Own-v0", "Maze-v0"} <= set(registry)
    assert "Maze-v1" not in registry
    for asked in ("Maze-v1", "Maze"):
        with pytest.raises(DuplicateId) as caught:
            registry.spec(asked)
        assert str(caught.value) == (
            "Maze-v1: expected one package that has it, got alpha, beta; neither is used: uninstall one of them"
        )
    assert registry.problems() == ["Maze-v1: claimed by alpha, beta; neither is used"]


def test_a_third_claim_does_not_decide_it(site):
    for name in ("alpha", "beta"):
        site.install(name, {"Maze-v1": f"{name}:Maze"})
    with pytest.raises(DuplicateId, match="expected an id that only gamma has, got one of alpha, beta"):
        site.registry().register("Maze-v1", "gamma:Maze")


def test_a_plugin_may_not_take_the_id_of_a_built_in(site):
    site.install("alpha", {"GridWorld-v0": "alpha:GridWorld"})
    with pytest.raises(DuplicateId, match="GridWorld-v0: expected one package that has it, got ludus-rl, alpha"):
        site.registry().spec("GridWorld-v0")


def test_a_program_may_not_take_the_id_of_a_plugin(site):
    site.install("my-alpha", {"Maze-v1": "alpha:Maze"})
    with pytest.raises(DuplicateId, match="expected an id that only beta has, got one of my-alpha"):
        site.registry().register("Maze-v1", "beta:Maze")


def test_a_package_that_registers_what_it_announces_replaces_it(site):
    site.install("my-alpha", {"Maze-v1": "alpha:Maze"})
    registry = site.registry()
    with pytest.warns(UserWarning, match="Maze-v1: registered again by alpha"):
        spec = registry.register("Maze-v1", "alpha:Maze", max_episode_steps=3)
    assert registry.spec("Maze") is spec
    assert registry.package(spec) == "my-alpha"


def test_one_alias_of_two_packages_is_given_to_neither(site):
    for name in ("alpha", "beta"):
        text = f'[envs."{name}/Maze-v0"]\nentry_point = "{name}:Maze"\naliases = ["Maze-v0"]\n'
        site.install(name, {"envs": f"{name}:ludus.toml"}, {f"{name}/ludus.toml": text})
    registry = site.registry()
    assert {"alpha/Maze-v0", "beta/Maze-v0"} <= set(registry)
    with pytest.raises(DuplicateId, match="got alpha, beta"):
        registry.spec("Maze-v0")


def test_an_alias_never_stands_in_the_way_of_an_id(site):
    text = '[envs."alpha/Maze-v0"]\nentry_point = "alpha:Maze"\naliases = ["beta/Maze-v0", "A-v0"]\n'
    site.install("alpha", {"envs": "alpha:ludus.toml"}, {"alpha/ludus.toml": text})
    site.install("beta", {"beta/Maze-v0": "beta:Maze"})
    registry = site.registry()
    assert registry.spec("beta/Maze-v0").entry_point == "beta:Maze"
    assert registry.spec("alpha/Maze-v0").entry_point == "alpha:Maze"
    assert [problem.partition(",")[0] for problem in registry.problems()] == [
        "alpha: alpha/Maze-v0: expected aliases that mean nothing else"
    ]


def test_a_name_with_and_without_version_cannot_come_from_two_packages(site):
    site.install("alpha", {"Maze-v0": "alpha:Maze"})
    site.install("beta", {"Maze": "beta:Maze"})
    registry = site.registry()
    assert registry.spec("Maze").entry_point == "alpha:Maze"
    assert registry.problems() == ["beta: Maze: expected a version, as in 'Maze-v1', got none, while there is Maze-v0"]


def test_a_package_that_announces_one_id_in_two_ways_is_a_problem_of_its_own(site):
    site.install("alpha", {"Maze-v0": "alpha:Maze", "envs": "alpha:ludus.toml"}, {
        "alpha/ludus.toml": '[envs.Maze-v0]\nentry_point = "alpha:Other"\n',
    })  # fmt: skip
    assert site.registry().problems() == [
        "alpha: Maze-v0: expected to be announced once, got two announcements that differ"
    ]


def test_what_was_found_is_plain_data():
    findings = Findings()
    assert (findings.claims, findings.problems) == ([], [])
