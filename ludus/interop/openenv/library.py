"""The package openenv: the one file that imports it, and says what to install where it is missing."""

from importlib import import_module
from typing import Any

from ludus.errors import MissingExtra

__all__ = ["Action", "Environment", "Observation", "State", "http_server", "mcp_types"]

PLACE = "openenv.core.env_server"

try:
    _types: Any = import_module(f"{PLACE}.types")
    mcp_types: Any = import_module(f"{PLACE}.mcp_types")
    http_server: Any = import_module(f"{PLACE}.http_server")
    Environment: Any = import_module(f"{PLACE}.interfaces").Environment
except ModuleNotFoundError as error:
    raise MissingExtra(
        "ludus.interop.openenv: expected the package openenv for this, got none; pip install openenv", name="openenv"
    ) from error

Action, Observation, State = _types.Action, _types.Observation, _types.State
