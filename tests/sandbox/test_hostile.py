"""Every attack on every wall: none gets through, and a wall that should be there and is not fails the run."""

from collections.abc import Iterator
from functools import cache

import pytest

from ludus.sandbox import Sandbox, backend
from ludus.testing.sandbox import Attack, Deeds, Outcome, attacks, run_attack, run_probes

pytestmark = pytest.mark.no_cover

INSTALL = {
    "bubblewrap": "apt-get install bubblewrap util-linux",
    "landlock": "a kernel of 6.2 or later with landlock among its lsm=",
    "podman": "apt-get install podman runc",
    "docker": "apt-get install docker.io",
}
"""What must be there; `gvisor` may be."""
WALLS = [*INSTALL, "gvisor"]
PROBES = [attack for attack in attacks() if attack.kind == "probe"]
LIMITED = [attack for attack in attacks() if attack.guarantee in backend("process").guarantees(Sandbox("process").policy).enforced]


@pytest.fixture(scope="session")
def wall(request: pytest.FixtureRequest) -> Sandbox:
    """A sandbox of the backend that a test names, with the default policy."""
    if request.param == "docker":
        request.getfixturevalue("container_daemon")
    found = backend(request.param).probe()
    if request.param == "gvisor" and not found.works:
        pytest.skip(f"gvisor is not here: {found.detail}")
    assert found.works, f"{request.param} is not here: {found.detail} ({INSTALL[request.param]})"
    return Sandbox(request.param)


@cache
def probed(name: str) -> dict[str, Outcome]:
    """All probes of one backend in one start, once for each process that runs tests."""
    return run_probes(PROBES, Sandbox(name))


@pytest.fixture(scope="session")
def deeds(wall: Sandbox) -> Iterator[Deeds]:
    with Deeds(wall) as found:
        yield found


@pytest.mark.parametrize("wall", WALLS, indirect=True)
@pytest.mark.parametrize("attack", PROBES, ids=lambda attack: attack.name)
def test_a_probe_gets_nowhere(attack: Attack, wall: Sandbox) -> None:
    outcome = probed(wall.backend.name)[attack.name]
    if wall.backend.name in attack.open_on:
        assert not outcome.held, f"it holds now: take {wall.backend.name} off open_on ({outcome.evidence})"
    else:
        assert outcome.held, outcome.evidence
