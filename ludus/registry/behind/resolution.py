"""Resolution: the spec of a text whose meaning only code tells, without running that code here."""

import msgspec

from ludus.core import EnvSpec
from ludus.errors import EntryPointError, InvalidSpec
from ludus.registry.behind.errand import errand
from ludus.registry.behind.resolving import Resolved
from ludus.sandbox import Limits
from ludus.wire.failures import clean, read_failure

__all__ = ["resolve_behind"]

LIMITS = Limits(wall=60.0)


def resolve_behind(target: str, backend: str) -> EnvSpec:
    """What `registry.spec(target)` gives, found out behind a wall; it is data, and as trustworthy as its package."""
    module, colon, _ = target.partition(":")
    done = errand("resolving", target.encode(), backend, LIMITS, [module] if colon else [])
    what = f"{target}, behind the wall"
    try:
        reply = msgspec.json.decode(done.stdout, type=Resolved)
    except (msgspec.DecodeError, UnicodeError, RecursionError):
        why = f"limit: {done.usage.limit}" if done.usage.limit else f"exit code {done.code}"
        told = clean(done.stderr.decode("utf8", "replace")[-400:], 400).strip()
        raise EntryPointError(f"{what}: expected its spec, got none ({why}{f'; {told}' if told else ''})") from None
    if reply.failed is not None:
        raise read_failure(reply.failed, what, "in the confined process", confined=True)
    try:
        return EnvSpec.from_json(reply.spec).replace(wall=None)
    except InvalidSpec as error:
        raise EntryPointError(f"{what}: expected its spec, got {clean(str(error), 400)}") from error
