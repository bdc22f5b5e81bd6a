"""Every attack on every wall: none gets through, and a wall that should be there and is not fails the run."""

from collections.abc import Iterator
from functools import cache

import pytest

from ludus.sandbox import Guarantees, Policy, Sandbox, backend
from ludus.testing.sandbox import Attack, Deeds, Outcome, attacks, run_attack, run_probes
from tests.sampling import covering

pytestmark = pytest.mark.no_cover

INSTALL = {
    "bubblewrap": "apt-get install bubblewrap util-linux",
    "landlock": "a kernel of 6.2 or later, with landlock among its lsm=",
    "podman": "apt-get install podman runc",
    "docker": "apt-get install docker.io",
}
"""What must be there; `gvisor` may be."""
BY_KIND = {
    kind: [attack for attack in attacks() if attack.kind == kind]
    for kind in ("probe", "alone", "command", "terminal", "step", "moment")
}
SINGLE = [*BY_KIND["alone"], *BY_KIND["command"], *BY_KIND["terminal"]]

WALLS = [*INSTALL, "gvisor"]
CHANNEL = "bubblewrap"
"""The wall behind which every deed of the channel is tried by every run."""
OF_THE_WALL = ("stop", "kill", "orphan", "half-close", "memory", "processes", "outputs", "signals", "threads")
"""Deeds that a wall itself has to end or to bear: behind every one of them, by every run."""


def behind(wall: str) -> pytest.MarkDecorator:
    """Whatever is behind one wall shares a worker, and there what is started once: a daemon, probes, environments."""
    return pytest.mark.xdist_group("docker" if wall == "docker" else f"hostile {wall}")


every_wall = pytest.mark.parametrize("wall", [pytest.param(one, marks=behind(one)) for one in WALLS], indirect=True)


def behind_two(attacks: list[Attack]) -> pytest.MarkDecorator:
    """A run takes each behind two walls, of which one is the default's; `make test-full` behind all of them."""
    return covering(
        *("attack, wall", attacks, WALLS),
        strength=1,
        always=lambda attack, wall: wall == CHANNEL or attack.program in OF_THE_WALL,
        marks=lambda _, wall: [behind(wall)],
        ids=lambda one: getattr(one, "name", one),
        indirect=["wall"],
    )


def each(attacks: list[Attack]) -> pytest.MarkDecorator:
    return pytest.mark.parametrize("attack", attacks, ids=[attack.name for attack in attacks])


@pytest.fixture(scope="session")
def wall(request: pytest.FixtureRequest) -> Sandbox:
    """A sandbox of the backend that a test names, with the default policy."""
    if request.param == "docker":
        request.getfixturevalue("container_daemon")
    found = backend(request.param).probe()
    if request.param == "gvisor" and not found.works:
        pytest.skip(f"gvisor is not here: {found.detail}")
    assert found.works, f"{request.param} is not here: {found.detail}; what it takes: {INSTALL.get(request.param)}"
    return Sandbox(request.param)


@pytest.fixture(scope="session")
def deeds(wall: Sandbox) -> Iterator[Deeds]:
    """Hostile environments behind one wall, kept from test to test as long as they live."""
    with Deeds(wall) as found:
        yield found


@cache
def probed(name: str) -> dict[str, Outcome]:
    """All probes of one backend in one start, once for each process that runs tests."""
    return run_probes(BY_KIND["probe"], Sandbox(name))


def held(outcome: Outcome) -> None:
    assert outcome.held, f"{outcome.attack}: {outcome.evidence}"


def as_known(attack: Attack, outcome: Outcome, backend: str) -> None:
    """What is known to get through does, so that nobody goes on believing it when it no longer does."""
    if backend in attack.open_on:
        assert not outcome.held, f"it holds now, so open_on is wrong: {outcome.evidence}"
    else:
        held(outcome)


@every_wall
@each(BY_KIND["probe"])
def test_a_probe_gets_nowhere(attack: Attack, wall: Sandbox) -> None:
    as_known(attack, probed(wall.backend.name)[attack.name], wall.backend.name)


@behind_two(SINGLE)
def test_an_attack_comes_to_nothing(attack: Attack, wall: Sandbox) -> None:
    as_known(attack, run_attack(attack, wall), wall.backend.name)


@behind_two(BY_KIND["moment"])
def test_a_hostile_moment_comes_to_nothing(attack: Attack, wall: Sandbox) -> None:
    held(run_attack(attack, wall))


@behind_two(BY_KIND["step"])
def test_a_hostile_step_does_no_harm(attack: Attack, wall: Sandbox, deeds: Deeds) -> None:
    held(deeds.run(attack))


def enforced() -> Guarantees:
    return backend("process").guarantees(Policy())


@each([attack for attack in SINGLE if attack.guarantee in enforced().enforced])
def test_the_limits_of_a_plain_process_hold_too(attack: Attack) -> None:
    as_known(attack, run_attack(attack, Sandbox("process")), "process")


OF_PROCESS = [attack for attack in BY_KIND["probe"] if attack.guarantee in enforced().enforced]


@cache
def probed_process() -> dict[str, Outcome]:
    return run_probes(OF_PROCESS, Sandbox("process"))


@each(OF_PROCESS)
def test_a_plain_process_is_kept_to_itself(attack: Attack) -> None:
    as_known(attack, probed_process()[attack.name], "process")
