"""Requests made up from the OpenAPI document, right ones and wrong ones: none meets a failure of the server's own."""

import httpx
import pytest
import requests
import schemathesis
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis.errors import Unsatisfiable
from schemathesis import GenerationMode
from schemathesis.checks import (
    content_type_conformance,
    not_a_server_error,
    response_schema_conformance,
    status_code_conformance,
)

from ludus.server.run import serve
from ludus.server.served_env import ServedEnv
from tests.sampling import covering, examples
from tests.server.openenv_worlds import Riddle

pytestmark = pytest.mark.no_cover
EXAMPLES = examples(12)
PATHS = ("", "/env/CartPole-v1", "/env/open/EchoTools-v0")


def says_what_it_is(ctx, response, case):
    """The type of content is the one in the document; of a path that there is not, it says nothing."""
    return None if response.status_code == 404 else content_type_conformance(ctx, response, case)


def no_failure(ctx, response, case):
    """No status from 500 on; but 501, by which an environment says that it has no tasks, is no failure."""
    return None if response.status_code == 501 else not_a_server_error(ctx, response, case)


CHECKS = [no_failure, status_code_conformance, says_what_it_is, response_schema_conformance]


@pytest.fixture(scope="module")
def running():
    with serve(ServedEnv(Riddle, "riddle"), "CartPole-v1", "open/EchoTools-v0", port=0, block=False) as running:
        yield running


def operations(url):
    """The operations of a document, each with its name."""
    found = schemathesis.openapi.from_url(f"{url}/openapi.json")
    return {f"{one.method.upper()} {one.path}": one for one in (each.ok() for each in found.get_all_operations())}


def attack(operation, mode, session):
    """Requests of one kind, in a session that is under way; 0 where there are none of this kind."""
    alike = settings(
        max_examples=EXAMPLES,
        derandomize=True,
        database=None,
        deadline=None,
        phases=[Phase.generate],
        suppress_health_check=list(HealthCheck),
    )

    @alike
    @given(case=operation.as_strategy(generation_mode=mode))
    def ask(case):
        case.call_and_validate(checks=CHECKS, session=session)

    try:
        ask()
    except Unsatisfiable:  # a request without body and parameters cannot be wrong
        return 0
    return 1


@covering("path, mode", PATHS, list(GenerationMode), strength=1)
def test_no_request_meets_a_failure_of_the_servers_own(running, path, mode):
    url = f"{running.url}{path}"
    found, attacked = operations(url), 0
    assert len(found) == 13
    for operation in found.values():
        with requests.Session() as session:
            session.trust_env = False
            session.post(f"{url}/reset").raise_for_status()
            attacked += attack(operation, mode, session)
    assert attacked >= 4
    assert httpx.get(f"{running.url}/health").json() == {"status": "healthy"}
