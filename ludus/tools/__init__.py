"""Actions that are calls: methods marked `@tool` become typed calls with a schema, and a space of them.

Not here: how calls travel (MCP, HTTP), which is in `ludus.server`.
"""

from ludus.tools.actions import action_of, action_tools
from ludus.tools.calls import Call, Calls
from ludus.tools.outcome import ToolError, ToolOutcome, result_of
from ludus.tools.progress import ToolCancelled, progress
from ludus.tools.tool import Tool, tool, tools_of
from ludus.tools.tool_env import ToolEnv

__all__ = [
    "Call",
    "Calls",
    "Tool",
    "ToolCancelled",
    "ToolEnv",
    "ToolError",
    "ToolOutcome",
    "action_of",
    "action_tools",
    "progress",
    "result_of",
    "tool",
    "tools_of",
]
