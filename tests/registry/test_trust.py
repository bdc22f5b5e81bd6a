"""Trust: whose code it is, what was said of it, and that nothing is lowered silently."""

import functools
import sys
import tomllib
from pathlib import Path

import pytest

import ludus
from ludus.core import EnvSpec, IsolationRecord, Security, WrapperSpec
from ludus.errors import InvalidArgument, InvalidType
from ludus.registry.ownership import DISTRIBUTION
from ludus.registry.provenance import authors, authors_before_import
from ludus.registry.resolution import resolve
from ludus.registry.shared import registry
from ludus.registry.trust import is_granted, required_before_import, required_isolation, trust, trust_rules

GRID = "ludus.envs.teaching.grid_world:GridWorld"


@pytest.fixture(autouse=True)
def nothing_said(monkeypatch):
    """Every test begins without a word, and leaves none."""
    monkeypatch.setattr(sys.modules[trust.__module__], "_rules", {})
    monkeypatch.delenv("LUDUS_TRUST", raising=False)


@pytest.fixture
def mazes(site, samples, shared, monkeypatch):
    """An installed package that announces an environment, in the program's own registry."""
    site.install("mazes-and-more", {"mazes/Count-v0": samples("Count")})
    fresh = site.registry()
    monkeypatch.setattr(registry, "_index", fresh._index)
    len(fresh)
    return fresh["mazes/Count-v0"]


def level_of(spec):
    return {str(one) for one in authors(spec)}


# --- whose code ---


def test_built_in_first_party_and_third_party(mazes, site):
    site.write("own/mine.py", "")
    assert level_of(ludus.spec("CartPole-v1")) == {"built-in: ludus, ludus-rl"}
    assert level_of(mazes) == {"third-party: mazes-and-more", "third-party: mazes-and-more, sample_module"}


def test_a_module_of_a_folder_without_installed_packages_is_your_own(tmp_path, monkeypatch):
    (tmp_path / "mine_alone.py").write_text("")
    monkeypatch.syspath_prepend(str(tmp_path))
    assert level_of(EnvSpec("A-v0", "mine_alone:A")) == {"first-party: mine_alone"}


def test_a_class_handed_over_is_its_modules(site):
    class Mine(ludus.Env):
        pass

    assert level_of(EnvSpec("A", Mine))  # wherever this test is
    Mine.__module__ = "__main__"
    assert level_of(EnvSpec("A", functools.partial(Mine))) == {"first-party: __main__"}


def test_installed_modules_are_third_party_whoever_registers_them():
    assert level_of(EnvSpec("A-v0", "msgspec.json:decode")) == {"third-party: msgspec"}
    assert level_of(EnvSpec("A-v0", "PIL.Image:open")) == {"third-party: PIL, pillow"}


@pytest.mark.parametrize("entry_point", ["nowhere_to_be_found:A", "subprocess:run", "os:system"])
def test_what_cannot_be_placed_is_third_party(entry_point):
    assert [one.level for one in authors(EnvSpec("A-v0", entry_point))] == ["third-party"]


def test_wrappers_count_too():
    wrappers = (WrapperSpec("W", "msgspec:W"), WrapperSpec("C", "ludus.wrappers:C"))
    spec = EnvSpec("A-v0", GRID, additional_wrappers=wrappers)
    assert level_of(spec) == {"built-in: ludus, ludus-rl", "third-party: msgspec"}


@pytest.mark.parametrize(
    ("meant", "others"),
    [
        ("CartPole-v1", set()),
        ("msgspec:Env-v0", {"third-party: msgspec"}),
        ('{"id": "A-v0", "entry_point": "msgspec.envs:A"}', {"third-party: msgspec"}),
    ],
)
def test_an_adapter_runs_the_code_that_its_arguments_name(meant, others):
    spec = EnvSpec("A-v0", "ludus.interop.gymnasium:create_from_gymnasium", kwargs={"gymnasium_spec": meant})
    assert level_of(spec) == {"third-party: gymnasium", *others}


def test_code_of_ours_that_loads_others_is_not_built_in():
    spec = EnvSpec("A-v0", "ludus.core.entry_point:load_entry_point", kwargs={"entry_point": "msgspec:run"})
    assert level_of(spec) == {"third-party: ludus", "third-party: msgspec"}


def test_texts_that_only_code_explains_are_placed_without_it():
    assert [str(one) for one in authors_before_import("msgspec:Env-v0")] == ["third-party: msgspec"]
    assert [str(one) for one in authors_before_import("gymnasium/CartPole-v1")] == ["third-party: gymnasium"]
    assert authors_before_import("CartPole-v1") == authors_before_import("gymnasium") == ()


# --- what was said ---


def test_without_a_word_the_spec_decides(mazes):
    assert required_isolation(mazes).isolation == "none"
    assert required_isolation(mazes.replace(security=Security(isolation="process"))).isolation == "process"
    assert required_before_import("msgspec:Env").isolation == "none"


def test_a_level_a_package_and_the_more_particular_word(mazes):
    trust("third-party", "sandbox")
    assert required_isolation(mazes) == ("sandbox", ("ludus.trust says third-party=sandbox",))
    assert required_isolation(ludus.spec("CartPole-v1")).isolation == "none"
    trust("Mazes_and.More", "none")
    assert required_isolation(mazes).isolation == "none"
    trust("mazes-and-more", "container")
    assert required_isolation(mazes).isolation == "container"
    trust("mazes-and-more", None)
    assert required_isolation(mazes).isolation == "sandbox"
    trust("third-party", None)
    assert trust_rules() == {}


def test_the_variable_says_the_same_and_a_call_goes_before(mazes, monkeypatch):
    monkeypatch.setenv("LUDUS_TRUST", " third-party=sandbox, built-in = process ,")
    assert required_isolation(mazes).reasons == ("LUDUS_TRUST says third-party=sandbox",)
    assert required_isolation(ludus.spec("CartPole-v1")).isolation == "process"
    trust("third-party", "process")
    assert required_isolation(mazes).reasons == ("ludus.trust says third-party=process",)


def test_a_word_never_lowers_what_a_spec_asks_for(mazes):
    careful = mazes.replace(security=Security(isolation="sandbox"))
    trust("mazes-and-more", "none")
    assert required_isolation(careful) == ("sandbox", ("its spec asks for it",))
    trust("mazes-and-more", "container")
    assert required_isolation(careful).isolation == "container"


def test_trusting_one_library_does_not_trust_another_through_it():
    trust("third-party", "sandbox")
    trust("gymnasium", "none")
    adapter = "ludus.interop.gymnasium:create_from_gymnasium"
    assert required_isolation(EnvSpec("A-v0", adapter, kwargs={"gymnasium_spec": "CartPole-v1"})).isolation == "none"
    assert (
        required_isolation(EnvSpec("A-v0", adapter, kwargs={"gymnasium_spec": "msgspec:A-v0"})).isolation == "sandbox"
    )


def test_what_a_third_party_declares_is_granted_by_a_word_only(mazes, tmp_path):
    spec = mazes.replace(security=Security(network=("example.org:443",), files=(f"write:{tmp_path}",)))
    box = resolve(spec, "sandbox").sandbox
    assert (box.policy.network, box.policy.mounts) == ("none", ())
    trust("third-party", "sandbox")
    box = resolve(spec).sandbox
    assert (box.policy.network, box.policy.mounts) == ("none", ())
    trust("mazes-and-more", "sandbox", grant=True)
    box = resolve(spec).sandbox
    assert box.policy.network == ("example.org:443",)
    assert [(mount.where, mount.writable) for mount in box.policy.mounts] == [(str(tmp_path), True)]


def test_a_grant_can_be_said_in_the_variable(mazes, monkeypatch):
    monkeypatch.setenv("LUDUS_TRUST", "mazes-and-more=sandbox+grant")
    assert required_isolation(mazes) == ("sandbox", ("LUDUS_TRUST says mazes-and-more=sandbox+grant",))
    assert is_granted(authors(mazes))
    wrapped = mazes.replace(additional_wrappers=(WrapperSpec("W", "msgspec:W"),))
    assert not is_granted(authors(wrapped))  # nobody said so of the wrapper's author


@pytest.mark.no_cover
def test_a_plugin_runs_in_isolation_that_was_said_and_less_is_on_record(mazes):
    trust("third-party", "sandbox")
    with ludus.make(mazes, start=5) as env:
        assert env.reset()[0] == 5
        assert env.spec.isolation_record.isolation == "sandbox"
        assert "sample_module" not in sys.modules
    env = ludus.make(mazes, start=5, isolation="none")
    assert env.spec.isolation_record == IsolationRecord("none", asked="sandbox")
    assert "sample_module" in sys.modules


# --- words that are none ---


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("sandbox", "LUDUS_TRUST: expected NAME=ISOLATION, as in 'third-party=sandbox', got 'sandbox'"),
        ("third-party=hope", "LUDUS_TRUST third-party: expected one of none, process, sandbox, container, got 'hope'"),
        ("third-party=", "LUDUS_TRUST third-party: expected one of none, process, sandbox, container, got ''"),
        (
            "thirdparty=sandbox",
            "LUDUS_TRUST: expected 'built-in', 'first-party', 'third-party' or the name of a package, "
            "got 'thirdparty'; did you mean 'third-party'?",
        ),
        (
            "=sandbox",
            "LUDUS_TRUST: expected 'built-in', 'first-party', 'third-party' or the name of a package, got ''",
        ),
    ],
)
def test_a_variable_that_says_nothing_clear_stops_everything(text, message, monkeypatch):
    monkeypatch.setenv("LUDUS_TRUST", text)
    with pytest.raises(InvalidArgument) as raised:
        ludus.make("CartPole-v1")
    assert str(raised.value) == message


def test_a_call_that_says_nothing_clear_is_refused():
    with pytest.raises(InvalidArgument, match=r"trust 'mazes': expected one of none, process, .* got 'x'"):
        trust("mazes", "x")
    with pytest.raises(InvalidArgument, match="did you mean 'third-party'"):
        trust("3rd-party", "sandbox")
    with pytest.raises(InvalidType, match="trust: expected a level or the name of a package, got 3"):
        trust(3, "sandbox")
    assert trust_rules() == {}


@pytest.mark.parametrize("name", ["ludus", "ludus-rl", "Ludus_RL"])
def test_our_own_package_goes_by_its_module_and_by_what_is_installed(name):
    trust(name, "process")
    assert required_isolation(ludus.spec("CartPole-v1")).isolation == "process"


def test_another_package_of_our_modules_name_is_not_built_in(site, samples, shared, monkeypatch):
    """`ludus` in the package index is somebody else's: what it announces is a third party's."""
    site.install("ludus", {"other/Count-v0": samples("Count")})
    fresh = site.registry()
    len(fresh)
    monkeypatch.setattr(registry, "_index", fresh._index)
    assert "third-party: ludus" in level_of(fresh["other/Count-v0"])
    assert fresh.package(fresh["other/Count-v0"]) == "ludus"
    assert fresh.package(ludus.spec("CartPole-v1")) == "ludus-rl"


def test_what_is_built_in_is_installed_by_the_projects_name():
    project = tomllib.loads((Path(__file__).parents[2] / "pyproject.toml").read_text())["project"]
    assert project["name"] == DISTRIBUTION
