"""What is said of places holds for the suite itself: no exception is about a law that is not there."""

import pytest

from ludus.errors import ServiceError
from ludus.server import ServerConfig, serve
from tests.conformance.kinds import KINDS
from tests.conformance.laws import LAWS
from tests.conformance.places import BESIDE, ISOLATED, PLACES, SERVED
from tests.conformance.table import counts


def test_exceptions_are_of_laws_that_there_are():
    assert [(place, name) for place in PLACES.values() for name in place.exceptions if name not in LAWS] == []


def places_of(law, *, quick):
    """The names of the places in which a law is tried."""
    cells = [one for one in law.cells() if not quick or not any(mark.name == "full" for mark in one.marks)]
    return {one.values[0].name for one in cells}


def test_a_quick_run_tries_every_law_beside_the_caller_in_isolation_and_at_a_server():
    left_out = [
        (law.name, family)
        for law in LAWS.values()
        for family in (BESIDE, ISOLATED, SERVED, ("openenv",))
        if places_of(law, quick=False) & set(family) and not places_of(law, quick=True) & set(family)
    ]
    assert left_out == []


def test_a_quick_run_tries_most_laws_in_every_place():
    asked = [name for law in LAWS.values() for name in places_of(law, quick=False)]
    tried = [name for law in LAWS.values() for name in places_of(law, quick=True)]
    assert [name for name in PLACES if tried.count(name) < asked.count(name) / 2] == []


def test_a_quick_run_tries_every_kind_in_isolation_and_at_a_server():
    cells = [one for law in LAWS.values() for one in law.cells() if not any(mark.name == "full" for mark in one.marks)]
    for place in ("bubblewrap", "websocket1"):
        assert {one.values[1].name for one in cells if one.values[0].name == place} >= set(KINDS)


def test_a_full_run_is_several_times_a_quick_one():
    assert counts()["full"] > counts()["quick"]


def test_a_unix_socket_with_several_workers_is_refused(tmp_path):
    with pytest.raises(ServiceError, match="expected 1 for a server with a Unix socket"):
        serve("CartPole-v1", port=0, block=False, unix=str(tmp_path / "socket"), config=ServerConfig(workers=2))
