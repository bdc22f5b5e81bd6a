"""Echo as tools: the same, for agents that act by calls."""

from dataclasses import dataclass

from ludus.core import Info
from ludus.core.options import Options
from ludus.errors import InvalidArgument, shorten
from ludus.seeding import Seed
from ludus.tools import Call, ToolEnv, ToolOutcome, tool

__all__ = ["EchoTools"]

REWARD = 0.1


@dataclass
class Echoed:
    """A message and its length."""

    message: str
    length: int


class EchoTools(ToolEnv):
    """Two tools that say back what they are told; the reward is a tenth of the message's length.

    >>> env = EchoTools()
    >>> _ = env.reset()
    >>> env.call("echo_with_length", message="hello").observation.result
    '{"message":"hello","length":5}'
    """

    def reset(self, *, seed: Seed | None = None, options: Options | None = None) -> tuple[ToolOutcome, Info]:
        """Begin."""
        if options:
            raise InvalidArgument(
                f"options: expected none, since EchoTools has no reset options, got {shorten(options)}"
            )
        return super().reset(seed=seed)

    @tool
    def echo_message(self, message: str) -> str:
        """Say a message back.

        Args:
            message: What to say.
        """
        return message

    @tool
    def echo_with_length(self, message: str) -> Echoed:
        """Say a message back, with its length.

        Args:
            message: What to say.
        """
        return Echoed(message, len(message))

    def judge(self, call: Call, result: object) -> tuple[float, bool]:
        """A tenth for each character."""
        del result
        return REWARD * len(call.arguments["message"]), False
