"""Every attack on every backend: none gets through, and a backend that should be there and is not fails the run."""

from collections.abc import Iterator
from functools import cache

import pytest

from ludus.sandbox import Guarantees, Policy, Sandbox, backend
from tests.attacks import Attack, Deeds, Outcome, attacks, run_attack, run_probes
from tests.attacks.suite import not_promised
from tests.sampling import SEED

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

BACKENDS = [*INSTALL, "gvisor"]
CHANNEL = "bubblewrap"
"""The isolation in which every deed of the channel is tried by every run."""
OF_THE_SANDBOX = ("stop", "kill", "orphan", "half-close", "memory", "processes", "outputs", "signals", "threads")
"""Deeds that a sandbox itself has to end or to bear: in every one of them, by every run."""


def behind(isolation: str) -> pytest.MarkDecorator:
    """Whatever is in one sandbox shares a worker, and there what is started once: a daemon, probes, environments."""
    return pytest.mark.xdist_group("docker" if isolation == "docker" else f"hostile {isolation}")


every_isolation = pytest.mark.parametrize(
    "isolation", [pytest.param(one, marks=behind(one)) for one in BACKENDS], indirect=True
)


def on_default_and_others(attacks: list[Attack]) -> pytest.MarkDecorator:
    """A run takes each on the default backend, every second on one of the others; `make test-full` on all of them."""
    others = [one for one in BACKENDS if one != CHANNEL]

    def is_tried(place: int, attack: Attack, isolation: str) -> bool:
        turn, waits = divmod(place + SEED, 2)
        has_turn = not waits and isolation == others[turn % len(others)]
        return has_turn or isolation == CHANNEL or attack.program in OF_THE_SANDBOX

    cells = [
        pytest.param(
            *(attack, isolation),
            marks=[behind(isolation), *([] if is_tried(place, attack, isolation) else [pytest.mark.full])],
            id=f"{attack.name}-{isolation}",
        )
        for place, attack in enumerate(attacks)
        for isolation in BACKENDS
    ]
    return pytest.mark.parametrize(("attack", "isolation"), cells, indirect=["isolation"])


def each(attacks: list[Attack]) -> pytest.MarkDecorator:
    return pytest.mark.parametrize("attack", attacks, ids=[attack.name for attack in attacks])


@pytest.fixture(scope="session")
def isolation(request: pytest.FixtureRequest) -> Sandbox:
    """A sandbox of the backend that a test names, with the default policy."""
    if request.param == "docker":
        request.getfixturevalue("container_daemon")
    found = backend(request.param).probe()
    if request.param == "gvisor" and not found.works:
        pytest.skip(f"gvisor is not here: {found.detail}")
    assert found.works, f"{request.param} is not here: {found.detail}; what it takes: {INSTALL.get(request.param)}"
    return Sandbox(request.param)


@pytest.fixture(scope="session")
def deeds(isolation: Sandbox) -> Iterator[Deeds]:
    """Hostile environments in one sandbox, kept from test to test as long as they live."""
    with Deeds(isolation) as found:
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


@every_isolation
@each(BY_KIND["probe"])
def test_a_probe_gets_nowhere(attack: Attack, isolation: Sandbox) -> None:
    as_known(attack, probed(isolation.backend.name)[attack.name], isolation.backend.name)


@on_default_and_others(SINGLE)
def test_an_attack_comes_to_nothing(attack: Attack, isolation: Sandbox) -> None:
    as_known(attack, run_attack(attack, isolation), isolation.backend.name)


@on_default_and_others(BY_KIND["moment"])
def test_a_hostile_moment_comes_to_nothing(attack: Attack, isolation: Sandbox) -> None:
    held(run_attack(attack, isolation))


@on_default_and_others(BY_KIND["step"])
def test_a_hostile_step_does_no_harm(attack: Attack, isolation: Sandbox, deeds: Deeds) -> None:
    held(deeds.run(attack))


def enforced() -> Guarantees:
    return backend("process").guarantees(Policy())


@each([attack for attack in SINGLE if not not_promised(attack, enforced())])
def test_the_limits_of_a_plain_process_hold_too(attack: Attack) -> None:
    as_known(attack, run_attack(attack, Sandbox("process")), "process")


OF_PROCESS = [attack for attack in BY_KIND["probe"] if not not_promised(attack, enforced())]


@cache
def probed_process() -> dict[str, Outcome]:
    return run_probes(OF_PROCESS, Sandbox("process"))


@each(OF_PROCESS)
def test_a_plain_process_is_kept_to_itself(attack: Attack) -> None:
    as_known(attack, probed_process()[attack.name], "process")
