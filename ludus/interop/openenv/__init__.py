"""OpenEnv: its `Environment` classes as environments here, ours as its `Environment`s, with equal histories.

Its package is needed for the second direction and for environments of MCP tools; the first reads classes as they are.
"""

from ludus.interop.openenv.environment import FromOpenEnv
from ludus.interop.openenv.export import to_openenv
from ludus.interop.openenv.folder import create_folder
from ludus.interop.openenv.source import create, from_openenv
from ludus.interop.openenv.tool_environment import FromOpenEnvTools

__all__ = ["FromOpenEnv", "FromOpenEnvTools", "create", "create_folder", "from_openenv", "to_openenv"]
