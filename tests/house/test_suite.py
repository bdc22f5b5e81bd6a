"""The suite itself: its samples cover, its table tells the truth, and nothing in it depends on what ran before."""

import gc
import subprocess
import sys
import weakref
from itertools import combinations, product
from types import SimpleNamespace

import pytest
from hypothesis.internal.conjecture import providers

import ludus
from tests import bytecode, order, sampling
from tests.budgets import BUDGETS_S, Meter, Times, costliest, earlier, keep, processor_s, room_of, table
from tests.failures import reason
from tests.kernels.variants import CHECKED, COMPILED, RULED, UNCHECKED, half
from tests.sampling import HEADER, SEED, covering, sample


@pytest.mark.parametrize("sizes", [(5, 3), (22, 3, 3), (4, 3, 2, 2), (7,)])
@pytest.mark.parametrize("strength", [1, 2, 3])
def test_in_a_sample_all_values_of_so_many_axes_meet(sizes, strength):
    points = list(product(*map(range, sizes)))
    found = sample(points, strength=strength)

    def met(some):
        return {one for point in some for one in combinations(enumerate(point), min(strength, len(sizes)))}

    assert met(found) == met(points)
    assert found <= set(points)


def test_a_sample_follows_from_its_seed():
    points = list(product(range(20), range(4), range(3)))
    assert sample(points, seed=3) == sample(points, seed=3) != sample(points, seed=4)
    assert str(SEED) in HEADER


def test_a_covering_test_runs_what_it_has_to_and_a_sample_of_the_rest():
    mark = covering(
        "backend, deed", ["a", "b", "c"], list(range(30)), strength=1, always=lambda backend, _: backend == "a"
    ).mark
    names, cells = mark.args
    quick = [one.values for one in cells if not one.marks]
    assert names == ["backend", "deed"]
    assert len(cells) == 90
    assert {deed for backend, deed in quick if backend == "a"} == set(range(30))
    assert {deed for backend, deed in quick if backend != "a"} == set(range(30))
    assert len(quick) == 60
    assert [one.id for one in cells[:2]] == ["a-0", "a-1"]


def test_a_room_has_its_tests_and_its_doctests():
    assert room_of("tests/core/test_env.py::test_a[1-2]@group") == "core"
    assert room_of("ludus/core/env.py::ludus.core.env.Env") == "core"
    assert room_of("ludus/seeding.py::ludus.seeding.np_random") == "seeding"
    assert room_of("odd.py::test") == "elsewhere"
    assert room_of("tests/envs/test_open_git.py::test_a") == room_of("ludus/envs/open/git/git.py::one") == "envs.open"
    assert (
        room_of("tests/envs/test_contract.py::test_a[open/Git-v0]")
        == room_of("ludus/envs/toy_text/taxi.py::t")
        == "envs"
    )


def test_the_table_has_a_line_for_each_room_and_says_what_is_over_and_what_has_no_budget():
    times = Times(began=100.0)
    times.add("core", 3, BUDGETS_S["core"] + 1.0, 2.5)
    times.add("brand_new", 1, 2.0)
    lines = list(table(times.plus([Times(40.0, {"core": 1}, {"core": 0.5})]), now=1300.0))
    assert [line.split() for line in lines[1:3]] == [
        ["brand_new", "1", "2.0", "0.0", "no", "budget", "yet"],
        ["core", "4", str(BUDGETS_S["core"] + 1.5), "2.5", str(BUDGETS_S["core"]), "over"],
    ]
    assert lines[-1].endswith("by the clock 1260 of 1200 over")


def test_the_costliest_tests_are_listed_from_a_second_on():
    assert list(costliest({"a": 1.5, "b": 0.9, "c": 12.0})) == ["   12.00 c", "    1.50 a"]


def test_runs_that_belong_together_find_the_times_of_those_before(tmp_path):
    folder = str(tmp_path / "times")
    assert earlier(folder) == earlier(None) == []
    keep(Times(1.0, {"core": 2}, {"core": 0.5}, {"core": 0.25}), folder)
    keep(Times(2.0), folder)
    assert earlier(folder) == [Times(1.0, {"core": 2}, {"core": 0.5}, {"core": 0.25}), Times(2.0)]


def test_what_a_test_and_its_programs_take_of_the_processor_is_in_its_report():
    meter = Meter()
    meter.pytest_collection_finish()
    before = processor_s()
    while processor_s() < before + 0.05:
        sum(range(10_000))
    subprocess.run([sys.executable, "-c", "import time\nwhile time.process_time() < 0.1: pass"], check=True)
    hook = meter.pytest_runtest_makereport()
    next(hook)
    with pytest.raises(StopIteration) as ended:
        hook.send(SimpleNamespace())
    assert 0.15 <= getattr(ended.value.value, Meter.ATTRIBUTE) <= processor_s() - before + 0.05


def test_what_was_there_before_the_first_test_is_no_work_for_the_garbage_collector():
    assert gc.isenabled()
    assert gc.get_freeze_count() > 10_000
    made = type("Made", (), {})()
    made.itself, seen = made, weakref.ref(made)
    del made
    gc.collect()
    assert seen() is None


def test_a_failure_is_told_in_a_line():
    crash = SimpleNamespace(reprcrash=SimpleNamespace(message="AssertionError: 1\nassert 1 == 2"))
    assert reason(SimpleNamespace(longrepr=crash)) == "AssertionError: 1"
    assert reason(SimpleNamespace(longrepr="", longreprtext="")) == ""


GROUPED = """
import os, pytest

@pytest.mark.parametrize("number", range(4))
@pytest.mark.parametrize("kind", [pytest.param(one, marks=pytest.mark.xdist_group(f"of {one}")) for one in "abc"])
def test_one(kind, number):
    with open(f"{kind}.txt", "a") as file:
        file.write(os.environ["PYTEST_XDIST_WORKER"] + "\\n")
"""


@pytest.fixture
def bare_pytest(root, monkeypatch):
    """Programs of pytest find our code, and load no plugin but those that are named: each takes its time to import."""
    monkeypatch.setenv("PYTHONPATH", str(root))
    monkeypatch.setenv("PYTEST_DISABLE_PLUGIN_AUTOLOAD", "1")


@pytest.mark.usefixtures("bare_pytest")
def test_a_group_has_one_worker(tmp_path, run):
    (tmp_path / "conftest.py").write_text("from tests.groups import *\n")
    (tmp_path / "test_grouped.py").write_text(GROUPED)
    spread = ("-p", "xdist", "-n", "2", "--dist", "loadgroup")
    run(sys.executable, "-m", "pytest", *spread, "-p", "no:cacheprovider", tmp_path)
    workers = {kind: (tmp_path / f"{kind}.txt").read_text().split() for kind in "abc"}
    assert {kind: (len(names), len(set(names))) for kind, names in workers.items()} == dict.fromkeys("abc", (4, 1))


def test_what_takes_longest_is_begun_first():
    told = [
        ("tests/wire/test_frame.py::test_a", ""),
        ("tests/server/test_soak.py::test_b", "soak"),
        ("tests/sandbox/test_pins.py::test_c", ""),
        ("tests/envs/test_open_git.py::test_d", ""),
        ("tests/envs/test_open_browsergym.py::test_e", "browsergym"),
        ("ludus/wire/frame.py::ludus.wire.frame", ""),
    ]
    assert [nodeid[-1] for nodeid, _ in sorted(told, key=lambda one: order.place_of(*one))] == list("ebdcae")


def test_a_place_in_the_order_is_one_that_there_is(root):
    assert [one for one in order.LONG if not any(root.glob(one))] == []
    marked = "".join(path.read_text(encoding="utf8") for path in (root / "tests").rglob("test_*.py"))
    known = {one for one in order.LONGEST if f'xdist_group("{one}")' in marked} | {"docker"}
    assert {one for one in order.LONGEST if not one.startswith("hostile ")} == known - {"hostile bare"}


TURNS = """
import pytest
pytestmark = pytest.mark.in_turns("backend")

@pytest.fixture(params=["a", "b", "c"])
def backend(request):
    return request.param

@pytest.mark.parametrize("number", range(20))
def test_of_two(backend, number):
    with open("ran.txt", "a") as file:
        file.write(f"{number}{backend} ")

def test_of_none():
    pass
"""


@pytest.mark.usefixtures("bare_pytest")
@pytest.mark.parametrize(("chosen", "each"), [("not full", 1), ("full or not full", 3)])
def test_tests_that_take_turns_are_all_tried_and_meet_every_value(tmp_path, run, chosen, each):
    (tmp_path / "conftest.py").write_text("from tests.turns import *\n")
    (tmp_path / "pytest.ini").write_text("[pytest]\nmarkers = \n  full\n  in_turns\n")
    (tmp_path / "test_turns.py").write_text(TURNS)
    run(sys.executable, "-m", "pytest", "-p", "no:cacheprovider", "-m", chosen, tmp_path)
    ran = (tmp_path / "ran.txt").read_text().split()
    assert sorted(one[:-1] for one in ran) == sorted(str(number) for number in range(20) for _ in range(each))
    assert {one[-1] for one in ran} == set("abc")


ALIKE = """
import pytest

@pytest.mark.one_of(3)
@pytest.mark.parametrize("number", range(10))
def test_of_ten(number):
    with open("ran.txt", "a") as file:
        file.write(f"{number} ")

@pytest.mark.one_of(3)
@pytest.mark.parametrize("number", [10])
def test_of_one(number):
    with open("ran.txt", "a") as file:
        file.write(f"{number} ")
"""


@pytest.mark.usefixtures("bare_pytest")
@pytest.mark.parametrize("chosen", ["not full", "full or not full"])
def test_of_cases_that_are_alike_a_run_tries_one_in_so_many(tmp_path, run, chosen):
    (tmp_path / "conftest.py").write_text("from tests.turns import *\n")
    (tmp_path / "pytest.ini").write_text("[pytest]\nmarkers = \n  full\n  in_turns\n  one_of\n")
    (tmp_path / "test_alike.py").write_text(ALIKE)
    run(sys.executable, "-m", "pytest", "-p", "no:cacheprovider", "-m", chosen, tmp_path)
    ran = [int(one) for one in (tmp_path / "ran.txt").read_text().split()]
    if chosen == "not full":
        first = ran[0]
        assert first < 3
        assert ran == [*range(first, 10, 3), 10]
    else:
        assert ran == list(range(11))


def test_every_class_of_rules_is_compiled_by_each_run_with_checks_or_without():
    assert sorted([*CHECKED, *UNCHECKED]) == sorted(COMPILED)

    def classes(names):
        return sorted(str(ludus.registry.registry[name].entry_point) for name in names)

    assert classes(COMPILED) == sorted(set(classes(RULED)))
    assert len(UNCHECKED) >= len(COMPILED) // 3
    assert [len(half("abcdefghi"[:size])) for size in (0, 1, 2, 9)] == [0, 1, 1, 5]
    assert half(["Taxi-v4", "x", "y"]) == half(["Taxi-v4", "x", "y"])
    assert "Taxi-v4" not in half(["Taxi-v4", "x", "y"])


def test_examples_do_not_depend_on_the_modules_that_happen_to_be_imported():
    assert providers._get_local_constants() is providers._local_constants
    assert not any(len(found) for found in vars(providers._local_constants).values())


def test_files_are_rewritten_before_workers_begin_and_only_where_that_is_due(tmp_path, request):
    (tmp_path / "inner").mkdir()
    wanted = tmp_path / "inner" / "test_one.py"
    wanted.write_text("def test_one():\n    assert 1 + 1 == 2\n")
    (tmp_path / "conftest.py").write_text("")
    (tmp_path / "test_no_python.py").write_text("def (")
    assert bytecode.asserting(tmp_path, [f"{tmp_path}/inner::test_one"]) == [tmp_path / "conftest.py", wanted]
    assert bytecode.needs_rewriting(wanted)
    bytecode.rewrite_all([tmp_path / "test_no_python.py", wanted], request.config)
    assert not bytecode.needs_rewriting(wanted)
    wanted.write_text("def test_one():\n    assert 1 + 1 == 3\n")
    assert bytecode.needs_rewriting(wanted)


def test_a_full_run_tries_every_example(monkeypatch):
    assert sampling.examples(100) == (100 if sampling.FULL else 20)
    monkeypatch.setattr(sampling, "FULL", True)
    assert sampling.examples(60) == 60
    monkeypatch.setattr(sampling, "FULL", False)
    assert (sampling.examples(60), sampling.examples(1)) == (12, 1)
