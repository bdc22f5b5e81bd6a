"""Environments of MCP tools at a server of OpenEnv's: a reset gives something else than a call."""

from ludus.client.openenv.remote import OpenEnvCodec
from ludus.spaces.json import Json

CALLED = {
    "title": "CallToolObservation",
    "type": "object",
    "properties": {"tool_name": {"type": "string"}, "result": {}, "error": {}, "metadata": {"type": "object"}},
    "required": ["tool_name"],
    "additionalProperties": False,
}
ACTION = {"title": "CallToolAction", "type": "object", "properties": {"tool_name": {"type": "string"}}}


def test_resets_of_an_environment_of_tools_are_read_as_well_as_calls():
    codec = OpenEnvCodec({"action": ACTION, "observation": CALLED, "reset_observation": CALLED}, {"name": "echo"})
    assert codec.observation_space == Json("object")
    for seen in ({"metadata": {"status": "ready"}}, {"tool_name": "echo", "result": {"data": "hi"}, "error": None}):
        assert codec.read_observation(seen) == seen
