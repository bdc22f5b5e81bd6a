"""What is said of places holds for the suite itself: no exception is about a law that is not there."""

import pytest

from ludus.errors import ServiceError
from ludus.serve import Settings, serve
from tests.conformance.laws import LAWS
from tests.conformance.places import BESIDE, ISOLATED, PLACES, SERVED
from tests.conformance.table import counts


@pytest.mark.parametrize("place", PLACES.values(), ids=repr)
def test_exceptions_are_of_laws_that_there_are(place):
    unknown = [name for name in place.exceptions if name not in LAWS]
    assert not unknown


@pytest.mark.parametrize("law", LAWS.values(), ids=lambda law: law.name)
def test_a_quick_run_tries_every_law_beside_the_caller_in_isolation_and_at_a_server(law):
    quick = {one.values[0].name for one in law.cells() if not any(mark.name == "full" for mark in one.marks)}
    asked = {one.values[0].name for one in law.cells()}
    for family in (BESIDE, ISOLATED, SERVED, ("openenv",)):
        assert quick & set(family) or not asked & set(family)


@pytest.mark.parametrize("place", PLACES.values(), ids=repr)
def test_a_quick_run_tries_most_laws_in_every_place(place):
    asked = [law for law in LAWS.values() if any(one.values[0] is place for one in law.cells())]
    quick = [
        law
        for law in asked
        if any(one.values[0] is place and not any(mark.name == "full" for mark in one.marks) for one in law.cells())
    ]
    assert len(quick) >= len(asked) / 2


def test_a_full_run_is_several_times_a_quick_one():
    assert counts()["full"] > counts()["quick"]


def test_a_unix_socket_with_several_workers_is_refused(tmp_path):
    with pytest.raises(ServiceError, match="expected 1 for a server with a Unix socket"):
        serve("CartPole-v1", port=0, block=False, unix=str(tmp_path / "socket"), settings=Settings(workers=2))
