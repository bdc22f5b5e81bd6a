"""`Step`: what one call of `step` gives, as five named values that unpack as everybody's loop expects."""

from typing import TYPE_CHECKING, Any, Generic, NamedTuple, TypeVar

from ludus.core.outcome import OUTCOME, Outcome

if TYPE_CHECKING:
    from typing_extensions import TypeVar as DefaultTypeVar

__all__ = ["Info", "Step"]

if TYPE_CHECKING:
    ObsT_co = DefaultTypeVar("ObsT_co", default=Any, covariant=True)
else:
    ObsT_co = TypeVar("ObsT_co", covariant=True)
SeenT = TypeVar("SeenT")
Info = dict[str, Any]
"""What an environment tells beside its observations, by name; each knows what its own entries are."""


class Step(NamedTuple, Generic[ObsT_co]):
    """The outcome of one action, for one environment or for a batch (then every field but `info` is batched).

    `terminated` is the task's own end; `truncated` cuts the episode for a reason outside it, as a time limit does.
    What is a number here is an array in a batch, so that the fields are typed as either: `Any`.
    Constructors say which it is, so that an environment need not spell out flags:

    >>> Step.transition("s1", 0.5)
    Step(observation='s1', reward=0.5, terminated=False, truncated=False, info={})
    >>> observation, reward, terminated, truncated, info = Step.termination("goal", 1.0)
    >>> terminated, truncated
    (True, False)

    `success` and `failure` say beside it how the task went. What is true apart from the reward goes to `facts`, and
    what the reward consists of to `reward_components`, by name, which add up to it:

    >>> Step.success("goal", 0.9, facts={"won": True}, reward_components={"goal": 1.0, "time": -0.1}).info["outcome"]
    <Outcome.SUCCESS: 'success'>
    """

    observation: ObsT_co
    reward: Any
    terminated: Any
    truncated: Any
    info: Info

    @property
    def done(self) -> Any:
        """Whether the episode is over, for whichever reason; lane by lane in a batch."""
        return self.terminated | self.truncated

    @staticmethod
    def of(step: "Step[SeenT]") -> "Step[SeenT]":
        """The step itself, or one of the five values where somebody gave them as a plain tuple.

        >>> Step.of(("s1", 0.5, False, False, {})).reward
        0.5
        """
        return step if type(step) is Step else Step(step[0], step[1], step[2], step[3], step[4])

    @staticmethod
    def transition(observation: SeenT, reward: float = 0.0, info: Info | None = None) -> "Step[SeenT]":
        """The episode goes on."""
        return Step(observation, reward, False, False, {} if info is None else info)

    @staticmethod
    def termination(observation: SeenT, reward: float = 0.0, info: Info | None = None) -> "Step[SeenT]":
        """The task has ended: nothing follows this observation."""
        return Step(observation, reward, True, False, {} if info is None else info)

    @staticmethod
    def truncation(observation: SeenT, reward: float = 0.0, info: Info | None = None) -> "Step[SeenT]":
        """The episode was cut: its value would have gone on."""
        return Step(observation, reward, False, True, {} if info is None else info)

    @staticmethod
    def success(observation: SeenT, reward: float = 1.0, info: Info | None = None, **more: object) -> "Step[SeenT]":
        """The task is done; `more` are further entries of `info`, such as `facts` and `reward_components`."""
        return Step.ending(observation, Outcome.SUCCESS, reward, info, **more)

    @staticmethod
    def failure(observation: SeenT, reward: float = 0.0, info: Info | None = None, **more: object) -> "Step[SeenT]":
        """The task has ended undone; `more` are further entries of `info`."""
        return Step.ending(observation, Outcome.FAILURE, reward, info, **more)

    @staticmethod
    def ending(
        observation: SeenT, outcome: Outcome | str, reward: float = 0.0, info: Info | None = None, **more: object
    ) -> "Step[SeenT]":
        """The episode ends with any outcome, which says whether that is a termination or a truncation.

        >>> Step.ending("s9", "budget", facts={"tokens": 4096})[2:4]
        (False, True)
        """
        known = Outcome.of(outcome)
        entries = {**(info or {}), **more, OUTCOME: known}
        return Step(observation, reward, known.terminates, not known.terminates, entries)
