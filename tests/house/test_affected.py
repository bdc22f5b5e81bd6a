"""`make affected`: what a change may affect, it names; what it cannot tell, it takes for everything."""

import subprocess

import pytest

IMPORTS = {
    "ludus.low": set(),
    "ludus.low.part": set(),
    "ludus.high": {"ludus.low.part"},
    "ludus.other": set(),
    "tests.room.test_high": {"ludus.high"},
    "tests.room.test_other": {"ludus.other"},
    "tests.room.given": {"ludus.high"},
    "tests.far.test_given": {"tests.room.given"},
}
UP = ("tests/far/test_given.py", "tests/house", "tests/room/test_high.py")
"""What a change of `ludus.low` goes up to."""


@pytest.fixture(scope="module")
def affected(script):
    return script("affected")


@pytest.mark.parametrize(
    ("files", "expected"),
    [
        ([], []),
        (["ludus/low/part.py"], ["ludus/low/part.py", *UP]),
        (["ludus/other.py"], ["ludus/other.py", "tests/house", "tests/room/test_other.py"]),
        (["ludus/low/__init__.py"], ["ludus/low/__init__.py", *UP]),
        (["tests/room/test_high.py"], ["tests/room/test_high.py"]),
        (["tests/room/given.py"], ["tests/far/test_given.py", "tests/room"]),
        (["docs/core.md", "README.md"], ["tests/house"]),
        (["ludus/web/page.css"], ["tests", "ludus"]),
        (["pyproject.toml"], ["tests", "ludus"]),
        (["tests/room/conftest.py", "ludus/other.py"], ["tests", "ludus"]),
    ],
)
def test_what_a_change_affects(affected, files, expected):
    assert affected.affected(files, IMPORTS) == expected


@pytest.mark.parametrize(
    ("text", "names"),
    [
        ("import ludus.core.env as e", {"ludus.core.env"}),
        ("def f():\n    from ludus import serve", {"ludus", "ludus.serve"}),
        ("import ludus\nludus.connect('x')", {"ludus", "ludus.connect"}),
        ("PROGRAM = 'import ludus; ludus.serve()'", {"ludus", "ludus.serve"}),
        ("run(sys.executable, '-m', 'ludus', 'list')", {"ludus.cli.main"}),
        ("call('tests.sandbox.naive:believe')", {"tests.sandbox.naive"}),
        ("'Ludus is a library'", set()),
    ],
)
def test_an_import_counts_however_it_is_spelt(affected, text, names):
    assert affected.named_in(text) == names


def test_the_graph_of_ours_knows_what_is_loaded_late_and_by_name(affected, root):
    graph = affected.import_graph(root)
    served = affected.affected(["ludus/server/sessions.py"], graph)
    assert "tests/server/test_sessions.py" in served
    assert "tests/spaces/test_box.py" not in served
    for whole in ("tests/registry/test_make.py", "tests/envs/test_contract.py", "tests/cli/test_list.py"):
        assert whole in affected.affected(["ludus/envs/classic/cartpole.py"], graph)


def test_an_environment_affects_those_who_make_it_by_its_id_and_those_who_take_all(affected, root):
    graph = affected.import_graph(root)
    found = affected.affected(["ludus/envs/open/sumo/base.py"], graph)
    assert {"tests/envs/test_open_sumo.py", "tests/envs/test_contract.py", "tests/vector/test_matrix.py"} <= set(found)
    assert "tests/client/test_sessions.py" not in found
    assert len(found) < 100


def test_changes_are_committed_ones_others_and_new_files(affected, tmp_path):
    def git(*words):
        subprocess.run(["git", "-c", "user.name=a", "-c", "user.email=a@b", *words], cwd=tmp_path, check=True)

    for name in ("same", "committed", "edited"):
        (tmp_path / name).write_text("before")
    git("init", "-q", "-b", "trunk")
    git("add", ".")
    git("commit", "-qm", "one")
    git("checkout", "-q", "-b", "branch")
    (tmp_path / "committed").write_text("after")
    git("commit", "-qam", "two")
    (tmp_path / "edited").write_text("after")
    (tmp_path / "new").write_text("after")
    assert affected.changed("trunk", tmp_path) == ["committed", "edited", "new"]
