"""`openenv.yaml`, written: what OpenEnv's own tools read of a folder that was made for Ludus."""

import msgspec

from ludus.packaging.manifest import Manifest

__all__ = ["openenv_text"]

MAX_EPISODE_S, FLOOR_MARGIN = 3600.0, 0.1
"""Seconds of an episode at most, and the margin above the floor at least, that its policy allows."""
UNLIMITED_EPISODE_STEPS = 1000
"""Steps of an episode that nothing limits."""
APP = "ludus.server.asgi:app"
"""The folder that it is started in, as an application."""


def openenv_text(manifest: Manifest) -> str:
    """The text of an `openenv.yaml` that says what the manifest does.

    >>> from pathlib import Path
    >>> print(openenv_text(Manifest(Path("maze"), "maze", "maze:Maze")).splitlines()[1])
    name: maze
    """
    known: dict[str, object] = {
        "spec_version": 1,
        "name": manifest.name,
        "version": manifest.version,
        **({"description": manifest.description} if manifest.description else {}),
        "type": "space",
        "runtime": "fastapi",  # the word for any ASGI application
        "app": manifest.app or APP,
        "port": manifest.port,
        "validation": _validation(manifest),
    }
    return msgspec.yaml.encode(known).decode()


def _validation(manifest: Manifest) -> dict[str, object]:
    """What its validator asks for; the range of rewards is nobody's guess: it is there where the manifest has it."""
    own = manifest.resources
    known: dict[str, object] = {
        "resources": {
            "cpu": own.cpus,
            "memory_mb": own.memory_mb,
            "disk_mb": own.disk_mb,
            "episode_timeout_s": min(
                own.step_seconds * (manifest.max_episode_steps or UNLIMITED_EPISODE_STEPS), MAX_EPISODE_S
            ),
        },
        "network": _network(manifest.security.network),
        "capabilities": {"verifier": {"kind": "reward_channel"}},
        "types": {"tags": ["ludus"]},
    }
    if manifest.reward_range is not None:
        known["reward"] = {"range": list(manifest.reward_range), "oracle_tolerance": 0.0, "floor_margin": FLOOR_MARGIN}
    return known


def _network(hosts: tuple[str, ...]) -> dict[str, object]:
    if not hosts:
        return {"mode": "no-network"}
    return {"mode": "public"} if "*" in hosts else {"mode": "allowlist", "allowed_hosts": list(hosts)}
