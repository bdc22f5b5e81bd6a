"""`/mcp`: tools for agents, by the Model Context Protocol and by OpenEnv's session methods, at one address.

Written on JSON alone, since a server of the protocol's own package takes longer to import than ours takes to start.
"""

from ludus.serve.doors.mcp.methods import answer_rpc
from ludus.serve.doors.mcp.results import openenv_result
from ludus.serve.doors.mcp.routes import routes

__all__ = ["answer_rpc", "openenv_result", "routes"]
