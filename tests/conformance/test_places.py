"""What is said of places holds for the suite itself: no exception is about a law that is not there."""

import pytest

from ludus.errors import ServiceError
from ludus.serve import Settings, serve
from tests.conformance.laws import LAWS
from tests.conformance.places import PLACES
from tests.conformance.table import counts


@pytest.mark.parametrize("place", PLACES.values(), ids=repr)
def test_exceptions_are_of_laws_that_there_are(place):
    unknown = [name for name in place.exceptions if name not in LAWS]
    assert not unknown


def test_a_quick_run_tries_every_law_in_every_place_that_can_be_asked():
    for law in LAWS.values():
        quick = {one.values[0].name for one in law.cells() if not any(mark.name == "full" for mark in one.marks)}
        asked = {one.values[0].name for one in law.cells()}
        assert quick == asked, law.title


def test_a_full_run_is_several_times_a_quick_one():
    assert counts()["full"] > counts()["quick"]


def test_a_unix_socket_with_several_workers_is_refused(tmp_path):
    with pytest.raises(ServiceError, match="expected 1 for a server with a Unix socket"):
        serve("CartPole-v1", port=0, block=False, unix=str(tmp_path / "socket"), settings=Settings(workers=2))
