"""Resolution: the spec of a text whose meaning only code tells, without running that code here."""

import msgspec

from ludus.core import EnvSpec
from ludus.errors import EntryPointError, InvalidSpec
from ludus.registry.isolated_programs.resolver import Resolved
from ludus.registry.isolated_programs.run import run_isolated
from ludus.sandbox import Limits
from ludus.wire.failures import clean, read_failure

__all__ = ["resolve_isolated"]

LIMITS = Limits(wall=60.0)


def resolve_isolated(target: str, backend: str) -> EnvSpec:
    """What `registry.spec(target)` gives, found out in a sandbox; it is data, and as trustworthy as its package."""
    module, colon, _ = target.partition(":")
    done = run_isolated("resolver", target.encode(), backend, LIMITS, [module] if colon else [])
    label = f"{target}, inside the sandbox"
    try:
        reply = msgspec.json.decode(done.stdout, type=Resolved)
    except (msgspec.DecodeError, UnicodeError, RecursionError):
        why = f"limit: {done.usage.limit}" if done.usage.limit else f"exit code {done.code}"
        stderr = clean(done.stderr.decode("utf8", "replace")[-400:], 400).strip()
        raise EntryPointError(
            f"{label}: expected its spec, got none ({why}{f'; {stderr}' if stderr else ''})"
        ) from None
    if reply.failed is not None:
        raise read_failure(reply.failed, label, "in the sandboxed process", sandboxed=True)
    try:
        return EnvSpec.from_json(reply.spec).replace(isolation_record=None)
    except InvalidSpec as error:
        raise EntryPointError(f"{label}: expected its spec, got {clean(str(error), 400)}") from error
