"""The catalogue: what a server offers, and all that is known of one environment, as JSON."""

from contextlib import suppress
from dataclasses import asdict
from inspect import cleandoc
from urllib.parse import quote

from ludus.registry import registry
from ludus.registry.extras import install_line
from ludus.server.protocols.web_api.keys import KeyTable
from ludus.server.protocols.web_api.page_json import plain
from ludus.server.served_env import Description, ServedEnv
from ludus.spaces import Box, Space
from ludus.wire import decode_value

__all__ = ["entry", "page", "snippets"]

MAX_SPACE_CHARS = 4000
MAX_BOUNDS = 64
SHOWN_FACTS = ("deterministic", "max_episode_steps", "reward_threshold", "author", "license")


def entry(served: ServedEnv) -> dict[str, object]:
    """An environment in a few words; nothing of it is loaded for that.

    >>> entry(ServedEnv("CartPole-v1"))["picture"]
    'v1/picture?env=CartPole-v1'
    """
    spec = served.spec
    return {
        "name": plain(served.name),
        "family": plain(spec.family),
        "description": plain(spec.description),
        "tags": plain(spec.tags),
        "deprecated": bool(spec.deprecated),
        "isolation": served.isolation,
        "missing": plain(install_line(spec, registry.package(spec))) if spec.extras else "",
        "picture": f"v1/picture?env={quote(served.name, safe='')}",
    }


def page(served: ServedEnv, described: Description, keys: KeyTable) -> dict[str, object]:
    """An environment with its docs, spaces, permissions and keys."""
    spec, record = served.spec, served.spec.isolation_record
    return {
        **entry(served),
        "title": plain(described.name),
        "docs": plain(cleandoc(described.doc)),
        "facts": {name: plain(getattr(spec, name)) for name in SHOWN_FACTS},
        "arguments": plain({**spec.kwargs, **served.arguments}),
        "metadata": _metadata(described),
        "action_space": _space(described.action_space),
        "observation_space": _space(described.observation_space),
        "tools": [plain({"name": one.name, "description": one.description}) for one in described.tools.values()],
        "permissions": plain(asdict(spec.security)),
        "isolation_record": None if record is None else plain(asdict(record)),
        "keys": keys,
    }


def _metadata(described: Description) -> object:
    metadata: object = described.metadata
    with suppress(Exception):  # then it is shown as it travelled
        metadata = decode_value(metadata, "metadata")
    return plain(metadata)


def _space(space: Space[object]) -> dict[str, object]:
    """As JSON schema and as text; a space of its own kind may have no schema."""
    try:
        schema = plain(space.json_schema())
    except Exception:
        schema = {}
    text = " ".join(plain(repr(space)).split())
    return {
        "schema": schema,
        "text": text if len(text) <= MAX_SPACE_CHARS else f"{text[:MAX_SPACE_CHARS]}…",
        **_bounds(space),
    }


def _bounds(space: Space[object]) -> dict[str, object]:
    """Of a row of numbers each one's own: a schema has room for those that all of them share."""
    if not isinstance(space, Box) or len(space.shape) != 1 or space.shape[0] > MAX_BOUNDS:
        return {}
    return {"low": plain(space.low), "high": plain(space.high)}


REMOTE = """import ludus

url = {url!r}
with ludus.connect(url, env={name!r}{token}) as env:
{loop}"""
LOCAL = """import ludus

with ludus.make({name!r}) as env:
{loop}"""
LOOP = """    observation, info = env.reset(seed=0)
    done = False
    while not done:
        action = env.action_space.sample()  # your agent here
        observation, reward, terminated, truncated, info = env.step(action)
        done = terminated or truncated
"""


def snippets(served: ServedEnv, url: str, *, token: bool) -> dict[str, str]:
    """Programs that play it: through this server, and without one where its code can be found by name."""
    remote = REMOTE.format(url=url.rstrip("/"), name=served.name, loop=LOOP, token=', token="…"' if token else "")
    found = {"remote": plain(remote)}
    if isinstance(served.spec.entry_point, str):
        found["local"] = plain(LOCAL.format(name=served.spec.id, loop=LOOP))
    return found
