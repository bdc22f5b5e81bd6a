"""The contract of spaces: every built-in keeps it, custom ones can, and broken ones are told."""

import sys
from dataclasses import dataclass
from types import SimpleNamespace
from typing import Annotated, Literal

import msgspec
import numpy as np
import pytest

import ludus.spaces
from ludus.errors import ContractViolation
from ludus.spaces import ArraySpace, Box, Dict, Discrete, Record, Sequence, Space, Text, Tuple, Violation
from ludus.testing import SPACE_RULES, SpaceContract, check_space
from tests.spaces.cases import CASES


@dataclass
class Seen:
    position: Annotated[int, Discrete(5)]
    said: Literal["yes", "no"]
    where: Annotated[np.ndarray, Box(0, 1, (2,))]


class Spoken(msgspec.Struct):
    words: Annotated[str, Text(8)]
    loud: bool


OWN = {
    "text-free": lambda: Text(20, charset=None),
    "record": lambda: Record(Seen),
    "record-struct": lambda: Record(Spoken),
    "record-nested": lambda: Dict(a=Tuple((Record(Seen), Sequence(Record(Spoken))))),
}


@pytest.mark.parametrize("name", CASES)
def test_every_built_in_space_keeps_the_contract(name):
    report = check_space(CASES[name](ludus.spaces))
    assert report.findings == (), str(report)


@pytest.mark.parametrize("name", OWN)
def test_spaces_that_only_ludus_has_keep_the_contract(name):
    report = check_space(OWN[name])
    assert report.findings == (), str(report)


class Even(Space):
    """A custom space is one class with two methods."""

    def sample(self, mask=None, probability=None):
        return 2 * int(self.np_random.integers(50))

    def contains(self, x):
        return type(x) is int and 0 <= x < 100 and x % 2 == 0


class Simplex(ArraySpace):
    """A custom space of arrays."""

    def __init__(self, n=3, seed=None):
        self.n = n
        super().__init__((n,), np.float64, seed)

    def sample(self, mask=None, probability=None):
        return self.np_random.dirichlet(np.ones(self.n))

    def contains(self, x):
        return isinstance(x, np.ndarray) and x.shape == self.shape and x.dtype == self.dtype and abs(x.sum() - 1) < 1e-6


class TestEven(SpaceContract):
    make = Even


class TestSimplex(SpaceContract):
    make = lambda: Simplex(4)  # noqa: E731


class TestInside(SpaceContract):
    make = Dict(number=Even(), weights=Simplex(2))


def test_there_is_one_test_for_each_rule():
    names = {name for name in dir(SpaceContract) if name.startswith("test_")}
    assert names == {f"test_{rule.name.replace('-', '_')}" for rule in SPACE_RULES}


def test_a_breach_fails_the_test_of_its_rule():
    class TestOdd(SpaceContract):
        make = SamplesOutside

    with pytest.raises(ContractViolation, match="let contains accept what sample draws"):
        TestOdd().test_samples_are_in_the_space()


class SamplesOutside(Even):
    def sample(self, mask=None, probability=None):
        return 1 + super().sample()


class CannotBeMade(Even):
    def __init__(self, n):
        super().__init__()


class ContainsRaises(Even):
    def contains(self, x):
        return x % 2 == 0 and isinstance(x, int)


class ContainsGivesNone(Even):
    def contains(self, x):
        return super().contains(x) or None


class ValidateDisagrees(Even):
    def validate(self, x, path="value"):
        return []


class ValidateForgetsThePath(Even):
    def validate(self, x, path="value"):
        return [] if self.contains(x) else [Violation("value", "an even number", repr(x))]


class OwnGenerator(Even):
    def sample(self, mask=None, probability=None):
        return 2 * int(np.random.default_rng().integers(50))


class GlobalGenerator(Even):
    def sample(self, mask=None, probability=None):
        return 2 * np.random.randint(50)


class SharedGenerator(Even):
    """Copies share the generator."""

    def __deepcopy__(self, memo):
        twin = type(self)()
        twin._np_random = self._np_random
        return twin


class EqualToAll(Even):
    def __eq__(self, other):
        return True


class NotEqualToItself(Even):
    def __eq__(self, other):
        return self is other


class ArgumentsLost(Simplex):
    def arguments(self):
        return {"n": 5}


class LosesTheType(Even):
    def encode(self, x, *, binary=False):
        return float(x)


class LosesTheDtype(Simplex):
    def decode(self, data):
        return super().decode(data).astype(np.float32) if isinstance(data, bytes) else super().decode(data)

    def contains(self, x):
        return isinstance(x, np.ndarray) and x.shape == self.shape


class SchemaIsCode(Even):
    def json_schema(self):
        return {"type": int}


class SchemaIsAList(Even):
    def json_schema(self):
        return ["integer"]


class BatchOfOneMore(Even):
    def concatenate(self, items, out=None):
        return (*items, 0)


class FlattensBadly(Simplex):
    def flatten(self, x):
        return np.append(x, 0.0)


class UnflattensBadly(Simplex):
    def unflatten(self, x):
        return x[::-1].copy()


class WritesOneLane(Simplex):
    def write_shared(self, memory, lane, x):
        super().write_shared(memory, 0, x)


# space: rule, part of the message, part of the fix
BROKEN = {
    CannotBeMade: ("makes-a-space", "missing 1 required positional argument: 'n'", "derive it from ludus.spaces.Space"),
    SamplesOutside: (
        "samples-are-in-the-space",
        "sample(): expected a value of SamplesOutside(",
        "let contains accept",
    ),
    ContainsRaises: (
        "contains-survives-anything",
        "contains(None): expected True or False, got TypeError",
        "ask for the type",
    ),
    ContainsGivesNone: (
        "contains-survives-anything",
        "contains(None): expected True or False, got None",
        "return `bool(…)`",
    ),
    ValidateDisagrees: (
        "contains-agrees-with-validate",
        "None: expected contains and validate to agree, got False and []",
        "one of",
    ),
    ValidateForgetsThePath: (
        "contains-agrees-with-validate",
        "expected paths that begin by 'here'",
        "pass the path on",
    ),
    OwnGenerator: (
        "same-seed-same-samples",
        "seeded again: expected the same samples, got sample ",
        "self.np_random",
    ),
    GlobalGenerator: ("same-seed-same-samples", "expected the same samples", "draw from self.np_random alone"),
    SharedGenerator: ("copies-are-independent", "the original, after its copy was drawn from", "share no generator"),
    EqualToAll: (
        "equality-is-by-value",
        "expected False for what is no space, got True",
        "isinstance(other, type(self))",
    ),
    NotEqualToItself: ("equality-is-by-value", "to equal its copy, got False", "constructor's arguments"),
    ArgumentsLost: (
        "description-gives-it-back",
        "describe and back: expected ArgumentsLost(n=5) with the same values, got a space that refuses [0.",
        "let `arguments()` return",
    ),
    LosesTheType: (
        "json-gives-values-back",
        "as json: expected it back, got InvalidValue",
        "let `encode` give plain data",
    ),
    LosesTheDtype: (
        "msgpack-gives-values-back",
        "got value: dtype float64 and dtype float32",
        "let `encode` give plain data",
    ),
    SchemaIsCode: ("schema-admits-values", "json_schema(): expected plain data, got TypeError", "numbers, text, lists"),
    SchemaIsAList: ("schema-admits-values", "json_schema(): expected a dictionary, got ['integer']", "return {'type'"),
    BatchOfOneMore: ("batches-give-values-back", "concatenate of 1: expected a value of batch(1)", "fit together"),
    FlattensBadly: ("flattening-gives-values-back", "expected a row of flatdim = 3, got shape (4,)", "one row"),
    UnflattensBadly: ("flattening-gives-values-back", "expected it back, got value[0]: ", "let unflatten undo flatten"),
    WritesOneLane: (
        "shared-memory-gives-values-back",
        "shared memory of 3 lanes: expected the values written",
        "fit together",
    ),
}


@pytest.mark.parametrize("space", BROKEN, ids=[space.__name__ for space in BROKEN])
def test_a_broken_space_gets_the_finding_of_its_rule_first(space):
    rule, message, fix = BROKEN[space]
    report = check_space(space)
    finding = report.findings[0]
    assert (finding.level, finding.rule) == ("error", rule), str(report)
    assert message in finding.message
    assert fix in finding.fix


def test_checking_a_space_leaves_its_generator_alone():
    space, twin = Discrete(1000, seed=3), Discrete(1000, seed=3)
    check_space(space)
    assert space.sample() == twin.sample()


def test_what_is_no_space_is_a_finding():
    [finding] = check_space(3).findings
    assert finding.rule == "makes-a-space"
    assert "expected a ludus Space, its class or a function that makes one, got 3" in finding.message


def test_a_schema_is_tried_on_values_where_jsonschema_is_installed(monkeypatch):
    class Refuses:
        def __init__(self, schema):
            self.schema = schema

        def iter_errors(self, plain):
            yield SimpleNamespace(message=f"{plain} is not of type 'text'")

    monkeypatch.setitem(sys.modules, "jsonschema", SimpleNamespace(Draft202012Validator=Refuses))
    [finding] = check_space(Even).findings
    assert finding.rule == "schema-admits-values"
    assert "is not of type 'text'" in finding.message


def test_without_jsonschema_the_report_says_that_no_value_was_tried(monkeypatch):
    monkeypatch.setitem(sys.modules, "jsonschema", None)
    report = check_space(Even)
    assert report.findings == ()
    assert "schema-admits-values" in report.rules
    assert report.not_checked == {
        "schema-admits-values": "whether it admits values: the package jsonschema is not installed"
    }
