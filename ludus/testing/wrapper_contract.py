"""The `Wrapper` contract: a wrapped environment keeps every rule of environments, and a few more."""

from collections.abc import Callable

from ludus.core.env import AnyEnv
from ludus.testing import wrapper_rules
from ludus.testing.contract import Contract
from ludus.testing.env_contract import ENV_RULES, FRESH
from ludus.testing.env_rules import api
from ludus.testing.report import Report
from ludus.testing.rule import Examination, Rule
from ludus.testing.subject import Subject

__all__ = ["WRAPPER_RULES", "WrapperContract", "check_wrapper"]

WRAPPER = (wrapper_rules.is_a_wrapper,)

WRAPPER_RULES: tuple[Rule[Subject], ...] = (
    *ENV_RULES,
    Rule(wrapper_rules.is_a_wrapper, needs=(api.makes_an_env,)),
    Rule(wrapper_rules.arguments_make_it_again, needs=WRAPPER),
    Rule(wrapper_rules.spec_makes_it_again, needs=(wrapper_rules.arguments_make_it_again,)),
    Rule(wrapper_rules.bottom_stream_untouched, needs=(*WRAPPER, *FRESH)),
    Rule(wrapper_rules.close_reaches_the_bottom, needs=WRAPPER),
)


def check_wrapper(make_wrapped: Callable[..., AnyEnv], *, seed: int = 0, steps: int = 100) -> Report:
    """Hold a wrapped environment to the contracts of environments and of wrappers.

    >>> from ludus.envs.teaching.grid_world import GridWorld
    >>> from ludus.wrappers import TimeLimit
    >>> check_wrapper(lambda: TimeLimit(GridWorld(), 10)).findings
    ()
    """
    return Examination(WRAPPER_RULES, Subject(make_wrapped, seed=seed, steps=steps)).report()


class WrapperContract(Contract[Subject], rules=WRAPPER_RULES):
    """The contract of wrappers as tests: derive a test class and say what makes a wrapped environment.

    >>> from ludus.envs.teaching.grid_world import GridWorld
    >>> from ludus.wrappers import TimeLimit
    >>> class TestTimeLimit(WrapperContract):
    ...     make = lambda: TimeLimit(GridWorld(), 10)
    >>> TestTimeLimit().test_arguments_make_it_again()
    """

    seed: int = 0
    steps: int = 100

    def subject(self) -> Subject:
        """What `make` makes."""
        return Subject(self.target(), seed=self.seed, steps=self.steps)
