"""`EpisodeRubric`: a score for an episode as a whole, told at its end, and what each of its steps deserves of it."""

from collections.abc import Callable

from ludus.errors import InvalidArgument, shorten
from ludus.rubrics.rubric import Rubric, Transition

__all__ = ["EpisodeRubric"]


class EpisodeRubric(Rubric):
    """Keeps the steps of an episode, and scores them at its end; until then each gets `intermediate`.

    A subclass defines `score_episode`, or a function of the list of transitions is given. `discount` says what of the
    final score a step deserves that came `n` steps before the last: `discount ** n`. With 0 all of it is the last
    step's, with 1 each step has all of it.

    >>> rubric = EpisodeRubric(lambda steps: steps[-1].reward, discount=0.5)
    >>> rubric(Transition("a", "b")), rubric.grade(Transition("a", "b", 1.0, terminated=True)).step_rewards
    (0.0, [0.5, 1.0])
    """

    def __init__(
        self,
        function: Callable[[list[Transition]], float] | None = None,
        *,
        discount: float = 0.0,
        intermediate: float = 0.0,
    ) -> None:
        if isinstance(discount, bool) or not 0.0 <= discount <= 1.0:
            raise InvalidArgument(f"discount: expected a number from 0 to 1, got {shorten(discount)}")
        if function is None and type(self).score_episode is EpisodeRubric.score_episode:
            raise InvalidArgument("EpisodeRubric: expected a function or a score_episode of your own, got neither")
        self.function, self.discount, self.intermediate = function, discount, intermediate
        self.transitions: list[Transition] = []

    def score_episode(self, transitions: list[Transition]) -> float:
        """The score of an episode that has ended."""
        if self.function is None:
            raise InvalidArgument("EpisodeRubric: expected a function or a score_episode of your own, got neither")
        return self.function(transitions)

    def score(self, transition: Transition) -> float:
        """Keep it, and score the episode where it ends."""
        self.transitions.append(transition)
        return self.score_episode(self.transitions) if transition.done else self.intermediate

    def step_rewards(self) -> list[float]:
        """What each step of the episode deserves; empty before its end."""
        if not self.transitions or not self.transitions[-1].done:
            return []
        final = self.score_episode(self.transitions) if self.last is None else self.last
        last = len(self.transitions) - 1
        return [final * self.discount ** (last - number) for number in range(last + 1)]

    def reset(self) -> None:
        """Forget the episode before."""
        super().reset()
        self.transitions = []
