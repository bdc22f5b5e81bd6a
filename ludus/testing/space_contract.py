"""The `Space` contract: every rule in the order in which it is judged, as a function and as a test class."""

from ludus.testing.contract import Contract
from ludus.testing.report import Report
from ludus.testing.rule import Examination, Rule
from ludus.testing.space_rules import batches, membership, samples, wire
from ludus.testing.space_subject import SpaceSubject, SpaceTarget

__all__ = ["SPACE_RULES", "SpaceContract", "check_space"]

MADE = (membership.makes_a_space,)
DRAWN = (membership.samples_are_in_the_space,)

SPACE_RULES: tuple[Rule[SpaceSubject], ...] = (
    Rule(membership.makes_a_space),
    Rule(membership.samples_are_in_the_space, needs=MADE),
    Rule(membership.contains_survives_anything, needs=MADE),
    Rule(membership.contains_agrees_with_validate, needs=(membership.contains_survives_anything,)),
    Rule(samples.same_seed_same_samples, needs=MADE),
    Rule(samples.global_random_untouched, needs=(samples.same_seed_same_samples,)),
    Rule(samples.numpy_seeds_are_accepted, needs=(samples.same_seed_same_samples,)),
    Rule(samples.copies_are_independent, needs=(samples.same_seed_same_samples, samples.global_random_untouched)),
    Rule(samples.equality_is_by_value, needs=MADE),
    Rule(wire.json_gives_values_back, needs=DRAWN),
    Rule(wire.msgpack_gives_values_back, needs=DRAWN),
    Rule(wire.description_gives_it_back, needs=(samples.equality_is_by_value, wire.json_gives_values_back)),
    Rule(wire.schema_admits_values, needs=(wire.json_gives_values_back,)),
    Rule(batches.batches_give_values_back, needs=DRAWN),
    Rule(batches.flattening_gives_values_back, needs=DRAWN),
    Rule(
        batches.shared_memory_gives_values_back,
        needs=(wire.msgpack_gives_values_back, batches.batches_give_values_back),
    ),
)


def check_space(space: SpaceTarget, *, seed: int = 0) -> Report:
    """Hold a space, built-in or custom, to the contract of spaces; copies are checked, its own generator is left alone.

    >>> from ludus.spaces import Discrete
    >>> check_space(Discrete(5)).findings
    ()
    """
    return Examination(SPACE_RULES, SpaceSubject(space, seed=seed)).report()


class SpaceContract(Contract[SpaceSubject], rules=SPACE_RULES):
    """The contract of spaces as tests, one for each rule: derive a test class and say what makes the space.

    >>> from ludus.spaces import Discrete
    >>> class TestDie(SpaceContract):
    ...     make = Discrete(6, start=1)
    >>> TestDie().test_samples_are_in_the_space()
    """

    seed: int = 0

    def subject(self) -> SpaceSubject:
        """The space, or what `make` makes."""
        return SpaceSubject(self.target(), seed=self.seed)
