"""`EnvSpec`: every field validated, frozen, equal by value, and JSON both ways."""

from copy import deepcopy
from dataclasses import FrozenInstanceError, fields

import msgspec
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from ludus.core import EnvId, EnvSpec, IsolationRecord, Security, WrapperSpec
from ludus.core.entry_point import entry_point_name, load_entry_point
from ludus.errors import EntryPointError, InvalidSpec, InvalidType, MalformedId
from ludus.spaces import Box, Dict, Discrete
from tests.core.subjects import Counted, Walk
from tests.core.wording import says

FIELDS = ", ".join(one.name for one in fields(EnvSpec))
FULL = EnvSpec(
    "lab/Maze-v2",
    entry_point="maze:Maze",
    reward_threshold=0.5,
    nondeterministic=True,
    max_episode_steps=100,
    order_enforce=False,
    disable_env_checker=True,
    kwargs={"size": (3, 4), "top": float("inf"), "space": Dict(a=Box(0, 1), b=Discrete(3))},
    additional_wrappers=(WrapperSpec("Counted", "tests.core.subjects:Counted", {"scale": np.float32(0.5)}),),
    vector_entry_point="maze:Mazes",
    author="A",
    description="D",
    tags=["grid", "small"],
    family="lab",
    license="MIT",
    extras=("box2d",),
    aliases=("Labyrinth-v2",),
    deprecated="use lab/Maze-v3",
    security={"network": ["example.org:443"], "isolation": "sandbox"},
    isolation_record={"isolation": "none", "asked": "sandbox"},
)
WRONG = [
    ("reward_threshold", "9", "a number or None", "'9'"),
    ("reward_threshold", True, "a number or None", "True"),
    ("nondeterministic", 1, "True or False", "1"),
    ("max_episode_steps", 0, "a positive integer or None", "0"),
    ("max_episode_steps", -3, "a positive integer or None", "-3"),
    ("max_episode_steps", True, "a positive integer or None", "True"),
    ("max_episode_steps", 1.5, "a positive integer or None", "1.5"),
    ("order_enforce", None, "True or False", "None"),
    ("disable_env_checker", "no", "True or False", "'no'"),
    ("kwargs", [("a", 1)], "a dictionary of keyword arguments", "[('a', 1)]"),
    ("author", None, "text", "None"),
    ("description", 3, "text", "3"),
    ("family", b"lab", "text", "b'lab'"),
    ("license", ("MIT",), "text", "('MIT',)"),
    ("deprecated", False, "text", "False"),
    ("security", "sandbox", "a Security block", "'sandbox'"),
    ("isolation_record", "sandbox", "an IsolationRecord or None", "'sandbox'"),
    ("additional_wrappers", "TimeLimit", "a sequence of WrapperSpec", "'TimeLimit'"),
    ("additional_wrappers", [3], "WrapperSpec", "3"),
    ("entry_point", "maze.Maze", "'module:Class' or a callable", "'maze.Maze'"),
    ("entry_point", 7, "'module:Class' or a callable", "7"),
    ("vector_entry_point", "mazes", "'module:Class' or a callable", "'mazes'"),
]


@pytest.mark.parametrize(("name", "value", "expected", "got"), WRONG)
def test_a_wrong_field_is_named_with_what_it_takes(name, value, expected, got):
    with says(InvalidSpec, f"Maze-v0.{name}: expected {expected}, got {got}"):
        EnvSpec("Maze-v0", **{name: value})


@pytest.mark.parametrize("name", ["tags", "extras", "aliases"])
@pytest.mark.parametrize("value", ["grid", 5, [1], None])
def test_lists_of_text_are_lists_of_text(name, value):
    with says(InvalidType, f"{name}: expected a sequence of text, got {value!r}"):
        EnvSpec("Maze-v0", **{name: value})


def test_text_that_comes_one_by_one_is_kept():
    assert EnvSpec("Maze-v0", tags=iter(["grid", "small"])).tags == ("grid", "small")


@pytest.mark.parametrize("name", ["network", "files", "subprocesses", "dependencies"])
def test_a_security_block_lists_text(name):
    with says(InvalidType, f"security.{name}: expected a sequence of text, got 'curl'"):
        Security(**{name: "curl"})


def test_an_unknown_isolation_names_the_known_ones():
    message = "security.isolation: expected one of none, process, sandbox, container, got 'vm'"
    with says(InvalidSpec, message):
        Security(isolation="vm")


@pytest.mark.parametrize(
    ("fields", "text"),
    [
        (
            {"isolation": "vm"},
            "isolation_record.isolation: expected one of none, process, sandbox, container, got 'vm'",
        ),
        ({"asked": None}, "isolation_record.asked: expected one of none, process, sandbox, container, got None"),
        ({"backend": 3}, "isolation_record.backend: expected text, got 3"),
        ({"word": "none"}, "isolation_record: expected the fields isolation, asked, backend, got 'word'"),
    ],
)
def test_a_wrong_isolation_is_named_with_what_it_takes(fields, text):
    with says(InvalidSpec, text):
        EnvSpec("Maze-v0", isolation_record=fields)


def test_isolation_says_whether_it_is_less_than_was_asked_for():
    assert FULL.isolation_record == IsolationRecord("none", asked="sandbox")
    assert FULL.isolation_record.weakened
    levels = ["none", "process", "sandbox", "container"]
    weak = [(given, asked) for given in levels for asked in levels if IsolationRecord(given, asked).weakened]
    assert weak == [(given, asked) for given in levels for asked in levels[levels.index(given) + 1 :]]


def test_a_spec_without_isolation_reads_as_it_always_did():
    assert "isolation_record" not in EnvSpec("Maze-v0").to_json()


def test_an_unknown_field_of_a_security_block_names_the_known_ones():
    message = "security: expected the fields network, files, subprocesses, dependencies, isolation, got 'net'"
    with says(InvalidSpec, message):
        EnvSpec("Maze-v0", security={"net": []})


@pytest.mark.parametrize(
    ("fields", "text"),
    [
        ({"name": 3, "entry_point": "a:b"}, "wrapper name: expected text, got 3"),
        ({"name": "W", "entry_point": None}, "wrapper entry_point: expected text, got None"),
        (
            {"name": "W", "entry_point": "a:b", "kwargs": [1]},
            "wrapper kwargs: expected a dictionary of keyword arguments, got [1]",
        ),
        ({"name": "W"}, "wrapper: expected the fields 'entry_point', got none of them"),
        ({"entry_point": "a:b", "nam": 1}, "wrapper: expected the fields name, entry_point, kwargs, got 'nam'"),
    ],
)
def test_a_wrong_wrapper_is_named_with_what_it_takes(fields, text):
    with says(InvalidSpec, text):
        EnvSpec("Maze-v0", additional_wrappers=[fields])


def test_a_malformed_id_is_no_spec():
    with pytest.raises(MalformedId):
        EnvSpec("Maze v0")


def test_sequences_and_mappings_become_tuples_and_blocks():
    assert FULL.tags == ("grid", "small")
    assert FULL.security == Security(network=("example.org:443",), isolation="sandbox")
    mapped = EnvSpec("A", additional_wrappers=[{"name": "W", "entry_point": "a:b"}])
    assert mapped.additional_wrappers == (WrapperSpec("W", "a:b"),)


def test_the_parts_of_the_id_and_determinism_are_properties():
    assert (FULL.namespace, FULL.name, FULL.version, FULL.deterministic) == ("lab", "Maze", 2, False)
    plain = EnvSpec("Maze")
    assert (plain.namespace, plain.name, plain.version, plain.deterministic) == (None, "Maze", None, True)


@pytest.mark.parametrize(
    ("id", "entry_point", "family"),
    [
        ("Maze-v0", "maze:Maze", ""),
        ("lab/Maze-v0", "maze:Maze", "lab"),
        ("Pole-v0", "ludus.envs.classic.pole:Pole", "classic"),
        ("Pole-v0", "ludus.envs.classic:Pole", "classic"),
        ("Pole-v0", Walk, ""),
    ],
)
def test_the_family_is_the_namespace_or_the_folder(id, entry_point, family):
    assert EnvSpec(id, entry_point=entry_point).family == family
    assert EnvSpec(id, entry_point=entry_point, family="own").family == "own"


def test_the_family_follows_the_id_unless_it_was_chosen():
    assert EnvSpec("a/X-v0").replace(id="b/X-v0").family == "b"
    assert EnvSpec("a/X-v0", family="own").replace(id="b/X-v0").family == "own"


def test_a_spec_is_frozen_and_keeps_its_own_arguments():
    given = {"size": 3}
    spec = EnvSpec("Maze-v0", kwargs=given)
    given["size"] = 4
    assert spec.kwargs == {"size": 3}
    with pytest.raises(FrozenInstanceError):
        spec.id = "Other-v0"
    with pytest.raises(FrozenInstanceError):
        spec.security.isolation = "none"
    assert deepcopy(spec) is spec


def test_replace_gives_a_changed_copy_and_refuses_unknown_names():
    spec = EnvSpec("Maze-v0")
    assert spec.replace(max_episode_steps=5).max_episode_steps == 5
    assert spec.max_episode_steps is None
    with says(InvalidSpec, f"EnvSpec: expected the fields {FIELDS}, got 'steps'"):
        spec.replace(steps=5)
    with says(InvalidSpec, "Maze-v0.max_episode_steps: expected a positive integer or None, got 0"):
        spec.replace(max_episode_steps=0)


def test_specs_are_equal_by_value_even_with_arrays_inside():
    make = lambda top: EnvSpec("A", kwargs={"map": np.arange(3), "rows": [np.zeros(2), (np.ones(1), top)]})  # noqa: E731
    assert make(1) == make(1)
    assert make(1) != make(2)
    assert EnvSpec("A") != "A"
    assert WrapperSpec("W", "a:b", {"x": np.arange(3)}) == WrapperSpec("W", "a:b", {"x": np.arange(3)})
    assert WrapperSpec("W", "a:b", {"x": [1, 2]}) != WrapperSpec("W", "a:b", {"x": [1]})
    assert WrapperSpec("W", "a:b") != ("W", "a:b", {})


def test_a_full_spec_survives_json():
    again = EnvSpec.from_json(FULL.to_json())
    assert again == FULL
    assert type(again.kwargs["size"]) is tuple
    assert type(again.additional_wrappers[0].kwargs["scale"]) is np.float32
    assert EnvSpec.from_json(FULL.to_json().encode()) == FULL


def test_json_holds_only_what_differs_from_the_defaults():
    assert EnvSpec("lab/Maze-v2").to_json() == '{"id":"lab/Maze-v2"}'
    assert EnvSpec("lab/Maze-v2", family="x").to_json() == '{"id":"lab/Maze-v2","family":"x"}'


plain = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text() | st.binary(max_size=4),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.lists(inner, max_size=3).map(tuple)
        | st.dictionaries(st.text() | st.integers() | st.just("$array"), inner, max_size=3)
    ),
    max_leaves=6,
)


@given(st.dictionaries(st.text(), plain, max_size=3))
def test_arguments_of_plain_data_survive_json(kwargs):
    spec = EnvSpec("A-v0", kwargs=kwargs)
    assert EnvSpec.from_json(spec.to_json()) == spec


@pytest.mark.parametrize(
    "value",
    [
        np.arange(6, dtype=np.int8).reshape(2, 3),
        np.array([np.inf, -np.inf, 1.0], dtype=np.float32),
        np.array([True, False]),
        np.array(2.5),
        np.uint8(3),
        np.dtype("float16"),
        {1, 2},
        {"a", 2},
        b"\x00\xff",
        2**100,
        Box(-np.inf, np.inf, (2,), np.int64),
    ],
    ids=lambda value: type(value).__name__,
)
def test_arguments_beyond_plain_data_survive_json_with_their_types(value):
    again = EnvSpec.from_json(EnvSpec("A-v0", kwargs={"value": value}).to_json()).kwargs["value"]
    assert type(again) is type(value)
    assert np.array_equal(again, value) if isinstance(value, np.ndarray) else again == value
    if hasattr(value, "dtype"):
        assert again.dtype == value.dtype


def test_types_are_written_as_their_dtype():
    again = EnvSpec.from_json(EnvSpec("A-v0", kwargs={"dtype": np.float32, "kind": int}).to_json())
    assert again.kwargs == {"dtype": np.dtype("float32"), "kind": np.dtype(int)}


ONLY_DATA = "expected numbers, text, arrays, dtypes, spaces or containers of these"


@pytest.mark.parametrize(
    ("kwargs", "text"),
    [
        ({"reward": len}, f"A-v0.kwargs['reward']: {ONLY_DATA}, got <built-in function len>"),
        ({"deep": [1, {"x": 1j}]}, f"A-v0.kwargs['deep'][1]['x']: {ONLY_DATA}, got 1j"),
    ],
)
def test_what_is_code_is_refused_by_name(kwargs, text):
    with says(InvalidSpec, f"{text}; only such values can be written"):
        EnvSpec("A-v0", kwargs=kwargs).to_json()


def test_a_lambda_is_refused_naming_the_argument():
    with pytest.raises(InvalidSpec, match=r"^A-v0\.kwargs\['reward'\]: expected numbers, .*, got <function "):
        EnvSpec("A-v0", kwargs={"reward": lambda: 1}).to_json()
    with pytest.raises(InvalidSpec, match=r"^A-v0\.additional_wrappers\.kwargs\['by'\]: expected numbers"):
        EnvSpec("A-v0", additional_wrappers=[WrapperSpec("W", "a:b", {"by": lambda: 1})]).to_json()


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (np.array(["a"]), "A-v0.kwargs['x']: expected a numeric array, got dtype <U1"),
        (Walk, "A-v0.kwargs['x']: expected data, got the class Walk"),
    ],
)
def test_arrays_of_text_and_classes_are_no_arguments(value, text):
    with says(InvalidSpec, text):
        EnvSpec("A-v0", kwargs={"x": value}).to_json()


def test_a_callable_entry_point_is_written_by_name_if_it_has_one():
    spec = EnvSpec.from_json(EnvSpec("Walk-v0", entry_point=Walk).to_json())
    assert spec.entry_point == "tests.core.subjects:Walk"
    assert load_entry_point(spec.entry_point) is Walk
    assert load_entry_point(Walk) is Walk
    assert entry_point_name("a:b", "x") == "a:b"
    with pytest.raises(
        InvalidSpec,
        match=r"^Walk-v0\.entry_point: expected something that can be imported by name, got <function .*; "
        r"define it at the top of a module$",
    ):
        EnvSpec("Walk-v0", entry_point=lambda: Walk()).to_json()


@pytest.mark.parametrize("text", ["maze", ":Maze", "maze:"])
def test_an_entry_point_has_a_module_and_a_name(text):
    with says(EntryPointError, f"entry_point: expected an entry point like 'module:Class', got {text!r}"):
        load_entry_point(text)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("{}", "EnvSpec: expected the fields 'id', got none of them"),
        ("[]", "EnvSpec: expected an object, got []"),
        ("3", "EnvSpec: expected an object, got 3"),
        ('{"id":"A-v0","speed":1,"color":2}', f"EnvSpec: expected the fields {FIELDS}, got 'speed', 'color'"),
        ('{"id":"A-v0","max_episode_steps":-1}', "A-v0.max_episode_steps: expected a positive integer or None, got -1"),
        ('{"id":"A-v0","tags":7}', "EnvSpec: tags: expected a sequence of text, got 7"),
        ('{"id":"A-v0","additional_wrappers":[4]}', "A-v0.additional_wrappers: expected WrapperSpec, got 4"),
        ('{"id":"A-v0","security":[]}', "A-v0.security: expected a Security block, got []"),
    ],
)
def test_json_that_is_no_spec_says_what_is_wrong(text, message):
    with says(InvalidSpec, message):
        EnvSpec.from_json(text)


@pytest.mark.parametrize(
    "text",
    [
        "",
        "{",
        "nonsense",
        b"\xff\xfe",
        '{"id":"A-v0","kwargs":{"x":{"$pickle":"gASV"}}}',
        '{"id":"A-v0","kwargs":{"x":{"$array":[1,2],"dtype":"O","shape":[2]}}}',
        '{"id":"A-v0","kwargs":{"x":{"$space":{"type":"os:system"}}}}',
        '{"id":' + "[" * 100_000,
    ],
    ids=range(8),
)
def test_garbage_is_refused_as_no_spec(text):
    with pytest.raises(InvalidSpec, match=r"^spec: expected JSON text of an EnvSpec, got "):
        EnvSpec.from_json(text)


@given(st.binary(max_size=30) | st.text(max_size=30) | plain.map(lambda value: msgspec.json.encode(str(value))))
def test_reading_a_spec_raises_nothing_but_spec_errors(text):
    with pytest.raises((InvalidSpec, MalformedId, InvalidType)):
        EnvSpec.from_json(text)


def test_pprint_shows_what_differs_from_the_defaults(capsys):
    spec = EnvSpec("Maze-v0", entry_point="maze:Maze", tags=("grid",), kwargs={"map": np.arange(2)})
    assert spec.pprint(disable_print=True) == "id=Maze-v0\nkwargs={'map': array([0, 1])}\ntags=('grid',)"
    assert "entry_point=maze:Maze" in spec.pprint(disable_print=True, include_entry_points=True)
    assert len(spec.pprint(disable_print=True, print_all=True).splitlines()) == len(fields(EnvSpec))
    assert spec.pprint() is None
    assert capsys.readouterr().out.startswith("id=Maze-v0\n")


def test_what_pprint_prints_of_a_third_partys_text_does_nothing_to_the_terminal(capsys):
    EnvSpec(id="Maze-v0", entry_point="maze:Maze", description="a maze\x1b]0;mine\x07\x9b2J of stone").pprint()
    printed = capsys.readouterr().out
    assert "a maze]0;mine2J of stone" in printed
    assert all(one.isprintable() or one == "\n" for one in printed)


def test_make_without_the_registry_says_what_to_import(monkeypatch):
    monkeypatch.setattr(EnvSpec, "maker", None)
    with says(InvalidSpec, "A-v0: expected `import ludus` before spec.make(), got only ludus.core"):
        EnvSpec("A-v0").make()


def test_make_asks_whoever_can_make(monkeypatch):
    monkeypatch.setattr(EnvSpec, "maker", staticmethod(lambda spec, **kwargs: (spec.id, kwargs)))
    assert EnvSpec("A-v0").make(size=3) == ("A-v0", {"size": 3})


def test_a_wrapper_that_cannot_be_imported_by_name_is_refused():
    class Local(Counted):
        pass

    message = (
        "A-v0.additional_wrappers.entry_point: expected something that can be imported by name, "
        "got 'tests.core.test_spec:test_a_wrapper_that_cannot_be_imported_by_name_is_refused…; "
        "define it at the top of a module"
    )
    with says(InvalidSpec, message):
        EnvSpec("A-v0", additional_wrappers=[Local.using()]).to_json()


def test_a_wrapper_spec_in_a_spec_applies_itself():
    spec = EnvSpec.from_json(EnvSpec("A-v0", additional_wrappers=[Counted.using(0.5)]).to_json())
    env = spec.additional_wrappers[0](Walk())
    assert (type(env), env.scale) == (Counted, 0.5)


# --- each thing once ---


def test_a_change_to_what_is_there_already_is_the_same_spec():
    assert FULL.replace() is FULL
    assert FULL.replace(isolation_record=FULL.isolation_record, kwargs=FULL.kwargs, id=FULL.id) is FULL
    assert FULL.replace(kwargs=dict(FULL.kwargs)) == FULL


def test_only_what_changes_is_read_again(monkeypatch):
    parsed = []
    before = EnvId.parse
    monkeypatch.setattr(EnvId, "parse", lambda text: (parsed.append(text), before(text))[1])
    spec = EnvSpec("lab/Maze-v2", "maze:Maze")
    assert (spec.name, spec.version, spec.namespace, spec.replace(order_enforce=False).version) == ("Maze", 2, "lab", 2)
    assert parsed == ["lab/Maze-v2"]
    other = spec.replace(id="yard/Maze-v3")
    assert (other.version, other.family, spec.version) == (3, "yard", 2)
    assert parsed == ["lab/Maze-v2", "yard/Maze-v3"]


def test_a_family_that_was_chosen_stays_and_one_that_was_not_follows_id_and_code():
    built_in = EnvSpec("Cart-v1", "ludus.envs.classic.cartpole:CartPole")
    assert built_in.family == "classic"
    assert built_in.replace(entry_point="ludus.envs.toy_text.taxi:Taxi").family == "toy_text"
    assert built_in.replace(family="mine").replace(id="yard/Cart-v1").family == "mine"
    assert built_in.replace(family="mine").replace(family="").family == "classic"
