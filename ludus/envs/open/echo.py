"""Echo: says back what it is told. The smallest typed environment, to try a server, a client or a trainer with."""

from dataclasses import dataclass
from typing import Annotated

from ludus.core import Env, Info, Step
from ludus.core.options import Options
from ludus.errors import InvalidAction, InvalidArgument, ResetNeeded, shorten
from ludus.seeding import Seed
from ludus.spaces import Discrete, Record, Text

__all__ = ["Echo", "EchoAction", "EchoObservation"]

MAX_MESSAGE_CHARS = 8192
REWARD = 0.1

Message = Annotated[str, Text(MAX_MESSAGE_CHARS, min_length=0, charset=None)]


@dataclass
class EchoAction:
    """What to say."""

    message: Message


@dataclass
class EchoObservation:
    """What came back."""

    echoed_message: Message = ""
    message_length: Annotated[int, Discrete(MAX_MESSAGE_CHARS + 1)] = 0


@dataclass
class EchoState:
    """What is shown of the episode."""

    last_message: str = ""
    total_length: int = 0


class Echo(Env[EchoObservation, EchoAction]):
    """Echoes the message with its length; the reward is a tenth of that. It never ends by itself.

    >>> env = Echo()
    >>> _ = env.reset()
    >>> observation, reward, *_ = env.step(EchoAction("hello"))
    >>> observation, reward
    (EchoObservation(echoed_message='hello', message_length=5), 0.5)
    """

    def __init__(self) -> None:
        self.action_space, self.observation_space = Record(EchoAction), Record(EchoObservation)
        self.state: EchoState | None = None

    def reset(self, *, seed: Seed | None = None, options: Options | None = None) -> tuple[EchoObservation, Info]:
        """Begin with nothing said."""
        if options:
            raise InvalidArgument(f"options: expected none, since Echo has no reset options, got {shorten(options)}")
        super().reset(seed=seed)
        self.state = EchoState()
        return EchoObservation(), {}

    def step(self, action: EchoAction) -> Step[EchoObservation]:
        """Say it back."""
        if self.state is None:
            raise ResetNeeded("step: expected reset() first, got no episode under way")
        self.action_space.check(action, "action", InvalidAction)
        length = len(action.message)
        self.state.last_message, self.state.total_length = action.message, self.state.total_length + length
        return Step.transition(EchoObservation(action.message, length), REWARD * length)
