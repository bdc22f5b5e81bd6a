"""Arguments that a caller gives for the constructor: they choose nothing of the server's code, files or network."""

import json

import pytest

import ludus
from ludus.errors import InvalidArgument
from ludus.server.config import ServerConfig
from ludus.server.run import serve
from ludus.server.served_env import ServedEnv

SECRET = "SECRET"
REFUSED = r"arguments: expected none that name code, a file or an address at the server, got "


@pytest.fixture
def marked(tmp_path, monkeypatch):
    """A module that the server could import, and that tells when it was."""
    marker = tmp_path / "marker"
    (tmp_path / "marked_room.py").write_text(f"open({str(marker)!r}, 'w').close()\nRoom = dict\n")
    monkeypatch.syspath_prepend(str(tmp_path))
    return marker


def their_spec(entry_point):
    whole = {"id": "X-v0", "entry_point": entry_point, "reward_threshold": None, "nondeterministic": False,
             "max_episode_steps": None, "order_enforce": False, "disable_env_checker": True, "kwargs": {},
             "additional_wrappers": [], "vector_entry_point": None}  # fmt: skip
    return json.dumps(whole)


@pytest.mark.parametrize("lanes", [None, 2])
def test_a_caller_has_no_module_imported_at_the_server(marked, lanes):
    """Whoever could open a session of one of Gymnasium's environments could run what they pleased there."""
    with serve("gymnasium/CartPole-v1", port=0, block=False) as running:
        for spec in (their_spec("marked_room:Room"), their_spec("marked_room\\u003aRoom"), "marked_room:Room-v0"):
            with pytest.raises(InvalidArgument, match=REFUSED):
                ludus.connect(running.url, lanes, kwargs={"gymnasium_spec": spec})
        with ludus.connect(running.url, lanes, kwargs={"sutton_barto_reward": True}) as env:
            env.reset(seed=0)
    assert not marked.exists()


@pytest.mark.parametrize(
    ("name", "given"),
    [
        ("gymnasium/CartPole-v1", {"gymnasium_spec": "Pendulum-v1"}),
        ("open/Chat-v0", {"tokenizer": "/home/me/tokenizer.json"}),
        ("open/Chat-v0", {"tokenizer": {"deep": ["../tokenizer.json"]}}),
        ("open/OpenSpiel-v0", {"game": "start_at(history=1 2,game=efg_game(filename=/home/me/game.efg))"}),
        ("open/OpenSpiel-v0", {"game": "efg_game(filename=my games/game.efg)"}),
        ("open/FinRL-v0", {"data_path": b"/home/me/prices.csv"}),
        ("open/Git-v0", {"forge_url": "http://10.0.0.1:3000"}),
        ("task/SatHeuristic-v0", {"task": "AnotherTask"}),
        ("task/SatHeuristic-v0", {"folder": "/home/me/run"}),
        ("task/SatHeuristic-v0", {"backend": "process"}),
    ],
)
def test_a_caller_names_no_file_no_address_and_no_isolation(name, given):
    served = ServedEnv(name)
    with pytest.raises(InvalidArgument, match=rf"{REFUSED}.*; whoever serves {name} gives such"):
        served.make(arguments=given)


@pytest.mark.parametrize(
    ("name", "given"),
    [
        ("open/FinRL-v0", {"data_path": "prices.csv"}),
        ("open/DIPGSafety-v0", {"dataset_path": "prices.csv"}),
        ("open/Chat-v0", {"tokenizer": "prices.csv"}),
        ("open/SumoRL-v0", {"net_file": "prices.csv"}),
        ("open/OpenSpiel-v0", {"game": "efg_game(filename=prices.csv)"}),
        ("open/OpenSpiel-v0", {"game": "misere(game=efg_game(filename=prices.csv))"}),
    ],
)
def test_a_caller_names_no_file_of_the_servers_folder_by_its_bare_name(name, given, tmp_path, monkeypatch):
    """A bare name looks like any word; what is there by that name would be opened all the same."""
    (tmp_path / "prices.csv").write_text(f"date,tic,close\n2024-01-01,{SECRET},1\n2024-01-02,{SECRET},2\n")
    monkeypatch.chdir(tmp_path)
    with pytest.raises(InvalidArgument, match=rf"{REFUSED}'prices\.csv'; whoever serves {name} gives such"):
        ServedEnv(name).make(arguments=given)


def test_a_word_that_is_the_name_of_an_argument_or_a_folder_is_a_word(tmp_path, monkeypatch):
    (tmp_path / "place").write_text("")
    (tmp_path / "train").mkdir()
    monkeypatch.chdir(tmp_path)
    with ServedEnv(Shelf).make(arguments={"place": "train"}) as env:
        assert env.reset()[0] == "train"


class Shelf(ludus.Env):
    """One that is somebody's own, and takes a place."""

    def __init__(self, place="", render_mode=None):
        self.observation_space = self.action_space = ludus.spaces.Text(99, charset="/ahilnefrstv")
        self.place = place

    def reset(self, *, seed=None, options=None):
        super().reset(seed=seed)
        return self.place, {}


def test_who_serves_may_name_them_and_in_a_sandbox_a_caller_names_the_sandboxs_own():
    with ServedEnv(Shelf, arguments={"place": "/srv/shelf"}).make() as env:
        assert env.reset()[0] == "/srv/shelf"
    with pytest.raises(
        InvalidArgument, match=r"got '/srv/shelf'; .* \(--isolation sandbox lets them name its own files"
    ):
        ServedEnv(Shelf).make(arguments={"place": "/srv/shelf"})
    with pytest.raises(InvalidArgument, match="got '/srv/shelf'"):
        ServedEnv(Shelf, config=ServerConfig(isolation="process")).make(arguments={"place": "/srv/shelf"})
    confined = ServedEnv(Shelf, config=ServerConfig(isolation="sandbox"))
    with confined.make(arguments={"place": "/srv/shelf"}) as env:
        assert env.reset()[0] == "/srv/shelf"


def test_plain_arguments_go_through():
    for name, given in (("GridWorld-v0", {"size": 7}), ("FrozenLake-v1", {"desc": ["SF", "FG"]}),
                        ("open/Chat-v0", {"system_prompt": "Answer yes and/or no."}),
                        ("task/SatHeuristic-v0", {"render_mode": None, "max_episode_steps": 3})):  # fmt: skip
        with ServedEnv(name).make(arguments=given):
            pass
