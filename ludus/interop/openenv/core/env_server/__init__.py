"""The guide's `core.env_server`: types, `Environment`, `create_fastapi_app`."""

from ludus.interop.openenv.core.env_server.http_server import Source, create_app, create_fastapi_app
from ludus.interop.openenv.core.env_server.interfaces import Environment
from ludus.interop.openenv.core.env_server.types import Action, Observation, State

__all__ = ["Action", "Environment", "Observation", "Source", "State", "create_app", "create_fastapi_app"]
