"""`/mcp`: tools for agents, by the Model Context Protocol and by OpenEnv's session methods, at one address.

Written on JSON alone, since a server of the protocol's own package takes longer to import than ours takes to start.
"""

from ludus.server.protocols.mcp.methods import answer_rpc
from ludus.server.protocols.mcp.results import answer_of, openenv_call
from ludus.server.protocols.mcp.routes import routes

__all__ = ["answer_of", "answer_rpc", "openenv_call", "routes"]
