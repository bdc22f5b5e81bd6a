"""What a folder says of itself holds where it is served."""

import json
import sys
from pathlib import Path

import pytest

import ludus
from ludus.errors import InvalidSpec, InvalidType, LudusError
from ludus.server.config import ServerConfig
from ludus.server.openenv_target import check_creator
from ludus.server.targets import offered

MANIFEST = """
name = "patient_game"
environment = "patient_game:PatientGame"
version = "2.3.4"

[resources]
step_seconds = 90
"""
GAME = "from ludus.envs.classic import CartPole\n\n\nclass PatientGame(CartPole):\n    pass\n"


@pytest.fixture
def folder(tmp_path, monkeypatch):
    monkeypatch.setattr(sys, "path", list(sys.path))
    monkeypatch.setattr(sys, "meta_path", list(sys.meta_path))
    (tmp_path / "ludus.toml").write_text(MANIFEST)
    (tmp_path / "patient_game.py").write_text(GAME)
    yield str(tmp_path)
    sys.modules.pop("patient_game", None)


def test_its_version_and_the_time_of_its_steps_are_its_own(folder):
    [served] = offered([folder], ServerConfig())
    assert (served.version, served.config.deadline) == ("2.3.4", 90.0)


def test_whoever_serves_it_may_say_otherwise(folder):
    [served] = offered([folder], ServerConfig(deadline=5.0))
    assert served.config.deadline == 5.0


@pytest.mark.parametrize(
    "code", ["", "PatientGame = 3", "def PatientGame():\n    return 3", "import nothing_of_the_kind"]
)
def test_a_folder_whose_environment_cannot_be_made_is_refused_at_the_start(folder, code):
    Path(folder, "patient_game.py").write_text(code)
    with pytest.raises(LudusError) as told:
        offered([folder], ServerConfig())
    assert f"in the folder {folder}" in "".join(told.value.__notes__)


@pytest.fixture
def application(tmp_path, monkeypatch):
    """A folder made for OpenEnv whose application is of another make."""
    monkeypatch.setattr(sys, "path", list(sys.path))
    monkeypatch.setattr(sys, "meta_path", list(sys.meta_path))
    (tmp_path / "server").mkdir()
    (tmp_path / "openenv.yaml").write_text("spec_version: 1\nname: other\napp: server.app:app\n")
    yield tmp_path
    for name in [one for one in sys.modules if one.partition(".")[0] in ("server", tmp_path.name)]:
        del sys.modules[name]


@pytest.mark.parametrize("code", ["app = 3", "from json import dumps as app", "class app: ..."])
def test_an_application_that_nobody_can_ask_anything_is_refused_at_the_start(application, code):
    (application / "server/app.py").write_text(code)
    with pytest.raises(LudusError, match=r"expected an ASGI application as 'server\.app:app', got") as told:
        offered([str(application)], ServerConfig())
    assert told.value.__notes__ == [f"in the folder {application}"]


def test_an_application_of_another_make_is_served_as_it_is(application):
    (application / "server/app.py").write_text("async def app(scope, receive, send): ...")
    assert offered([str(application)], ServerConfig()).name == "other"


@pytest.fixture
def module(tmp_path, monkeypatch):
    """A module of functions of which some make environments."""
    monkeypatch.setattr(sys, "path", [str(tmp_path), *sys.path])
    (tmp_path / "wrong_makers.py").write_text(
        "import ludus\n"
        "def number():\n    return 3\n"
        "def sized(size) -> ludus.Env:\n    return ludus.make('GridWorld-v0', size=size)\n"
        "def right():\n    return ludus.make('CartPole-v1')\n"
    )
    yield "wrong_makers"
    sys.modules.pop("wrong_makers", None)


def test_a_function_that_makes_no_environment_is_refused_at_the_start(module):
    with pytest.raises(LudusError, match="3"):
        offered([f"{module}:number"], ServerConfig())


WRONG = ["json:dumps", "builtins:len", "builtins:getattr", "textwrap:wrap", "json:JSONEncoder", "math:pi"]


@pytest.mark.parametrize("target", WRONG)
def test_what_nobody_could_make_an_environment_of_is_refused_at_the_start(target):
    with pytest.raises(LudusError, match=target):
        offered([target], ServerConfig())


def test_a_function_that_needs_arguments_is_told_how_it_may_be_served(module):
    with pytest.raises(LudusError, match=r"needs arguments .* give them defaults, or write `-> ludus\.Env`"):
        offered(["json:dumps"], ServerConfig())


def test_a_function_or_class_itself_is_looked_at_as_well():
    for wrong in (json.dumps, len, dict):
        with pytest.raises(LudusError, match=wrong.__name__):
            offered([wrong], ServerConfig())
    [served] = offered([lambda: ludus.make("CartPole-v1")], ServerConfig())
    assert served.description().name == "CartPole"


def test_a_target_in_isolation_is_made_there_before_it_is_served():
    with pytest.raises(LudusError, match="obj"):
        offered(["json:dumps"], ServerConfig(isolation="process"))


NO_ENVIRONMENTS = {
    "nothing_of_the_kind:Env": "'nothing_of_the_kind'",
    "json:NoSuchClass": "'NoSuchClass'",
    "json:JSONEncoder": "JSONEncoder",
    "json:dumps": "dumps",
    "math:pi": r"3\.14",
}


@pytest.fixture
def registered(request):
    ludus.register("wrong/Registered-v0", request.param)
    yield "wrong/Registered-v0"
    del ludus.registry.registry["wrong/Registered-v0"]


@pytest.mark.parametrize("isolation", [None, "process"])
@pytest.mark.parametrize(
    ("registered", "told"), NO_ENVIRONMENTS.items(), indirect=["registered"], ids=list(NO_ENVIRONMENTS)
)
def test_an_id_whose_entry_point_is_wrong_is_refused_at_the_start(registered, told, isolation):
    with pytest.raises(LudusError, match=told):
        offered([registered], ServerConfig(isolation=isolation))


def breaks() -> ludus.Env:
    raise ValueError("out of order")


@pytest.mark.parametrize("registered", [f"{__name__}:breaks"], indirect=True)
def test_an_id_whose_environment_breaks_while_it_is_made_is_refused_at_the_start(registered):
    with pytest.raises(ValueError, match="out of order"):
        offered([registered], ServerConfig())


def test_an_id_is_made_once_at_the_start_with_the_arguments_that_it_is_registered_with(module):
    ludus.register("right/Sized-v0", f"{module}:sized", kwargs={"size": 4})
    ludus.register("right/Open-v0", f"{module}:sized")
    try:
        sized, unsized = offered(["right/Sized-v0", "right/Open-v0"], ServerConfig())
    finally:
        del ludus.registry.registry["right/Sized-v0"], ludus.registry.registry["right/Open-v0"]
    assert sized.described is not None
    assert unsized.described is None  # callers choose its size


def test_an_annotation_that_only_type_checkers_read_counts_by_its_name():
    def unread(size: int) -> "elsewhere.GridEnv[int]":  # noqa: F821
        raise AssertionError(size)

    check_creator("unread", unread)


def test_a_function_that_makes_one_is_served_and_so_is_one_whose_arguments_callers_give(module):
    right, sized = offered([f"{module}:right", f"{module}:sized"], ServerConfig())
    assert right.described is not None
    assert sized.described is None
    with sized.make(arguments={"size": 3}) as env:
        assert env.reset(seed=0)[0].shape == (2,)


def test_an_instance_of_a_class_of_openenv_is_refused_for_what_it_is(tmp_path, monkeypatch):
    """It was taken for its class, which ended in an AttributeError."""
    monkeypatch.setattr(sys, "path", [str(tmp_path), *sys.path])
    (tmp_path / "instance_env_server.py").write_text(
        "class Environment: ...\n\nclass Game(Environment): ...\n\none = Game()\n"
    )
    with pytest.raises(InvalidType, match=r"instance_env_server:one: expected .* an Environment of OpenEnv, got <"):
        offered(["instance_env_server:one"], ServerConfig(isolation="none"))
    sys.modules.pop("instance_env_server", None)


def test_a_path_without_a_folder_is_told_as_one():
    """It was told that an id was expected."""
    with pytest.raises(InvalidSpec, match=r"nowhere: expected a folder with .*, got no such folder"):
        offered([Path("nowhere")], ServerConfig())
