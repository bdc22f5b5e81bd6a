"""The JSON form of every environment and of every kind of space: objects both ways, as their schemas say."""

import struct
import zlib
from dataclasses import dataclass

import jsonschema
import msgspec
import numpy as np
import pytest

import ludus
from ludus.core import Step
from ludus.errors import ContractViolation, InvalidAction
from ludus.remote.host import HostStep
from ludus.rendering import to_png
from ludus.server.protocols.openenv.envelope import envelope, to_json
from ludus.server.protocols.openenv.json_format import JsonFormat
from ludus.server.served_env import Description, ServedEnv
from ludus.spaces import Box, Dict, Discrete, MultiBinary, OneOf, Record, Sequence, Text, Tuple
from ludus.tools.calls import Calls
from tests.engines import engines_in_full, in_small

NAMES = [spec.id for spec in ludus.list_envs() if spec.family not in ("openspiel", "atari")]
"""Not each game of an adapter, which is one class with other arguments."""


@dataclass
class Note:
    metadata: dict[str, int] | None
    done: bool


SPACES = {
    "box": Box(-np.inf, np.inf, (2, 2), np.float32),
    "discrete": Discrete(3, start=-1),
    "bits": MultiBinary(3),
    "text": Text(5),
    "tuple": Tuple((Discrete(2), Text(3))),
    "sequence": Sequence(Discrete(4)),
    "one of": OneOf((Discrete(2), Box(0, 1, (2,)))),
    "dict": Dict({"a": Discrete(2), "b": Box(0, 1, (1,))}),
}


def form_of(space):
    return JsonFormat(Description(space, space, {}, None, "Subject", ""))


def check(schema, data):
    jsonschema.Draft202012Validator(schema).validate(msgspec.json.decode(to_json(data)))


@pytest.mark.parametrize("name", engines_in_full(NAMES))
def test_every_environment_has_objects_for_actions_and_observations(name):
    served = ServedEnv(in_small(ludus.registry.registry[name]))
    form = JsonFormat(served.description())
    actions, observations = form.action_schema(), form.observation_schema()
    assert actions["type"] == observations["type"] == "object"
    for schema in (actions, observations):
        jsonschema.Draft202012Validator.check_schema(schema)
    with served.make() as env:
        observation, _ = env.reset(seed=1)
        check(observations, form.observation(observation))
        env.action_space.seed(1)
        for _ in range(3):
            action = env.action_space.sample()
            data = env.action_space.encode(action, binary=False)
            wrapped = data if isinstance(data, dict) else {"action": data}
            if not isinstance(env.action_space, Calls):  # one call may fit several tools' texts
                check(actions, wrapped)
            step = Step(*env.step(form.read(msgspec.json.decode(to_json(wrapped))).action))
            check(observations, form.observation(step.observation))
            if step.terminated or step.truncated:
                break


@pytest.mark.parametrize("name", SPACES)
def test_values_of_every_space_survive_the_way(name):
    space = SPACES[name]
    form = form_of(space)
    space.seed(3)
    for _ in range(5):
        value = space.sample()
        seen = form.observation(value)
        check(form.observation_schema(), {**seen, "reward": 0.5, "done": False})
        data = {key: one for key, one in seen.items() if key != "metadata"}
        wrapped = {"action": data["value"]} if "value" in data else data
        check(form.action_schema(), {**wrapped, "metadata": {}})
        for given in (wrapped, {**wrapped, "metadata": {"tag": 1}}, wrapped.get("action", wrapped)):
            assert space.encode(form.read(given).action) == space.encode(value)


def test_fields_of_its_own_are_left_alone():
    form = form_of(Record(Note))
    note = Note(None, done=True)
    assert form.observation(note) == {"metadata": None, "done": True}
    assert form.read({"metadata": None, "done": True}).action == note
    assert form.observation_schema()["properties"]["done"]["type"] == "boolean"


@pytest.mark.parametrize("data", [None, [], {}, {"action": {}}, {"action": 0, "more": 1}, {"value": 0}, "0", 0.5, 7])
def test_what_is_no_action_is_refused(data):
    with pytest.raises(InvalidAction, match=r"^action"):
        form_of(Discrete(3)).read(data)


def test_an_observation_of_another_space_is_the_authors_fault():
    with pytest.raises(ContractViolation, match=r"^observation: expected one of its space"):
        form_of(Record(Note)).observation(3)


@dataclass
class Seen:
    screenshot: bytes | None = None
    file: bytes = b""


def test_pictures_are_rows_of_pixels_as_openenvs_models_have_them():
    described = Description(Record(Seen), Discrete(2), {"openenv_pictures": ["screenshot", "other"]}, None, "Seen", "")
    form, frame = JsonFormat(described), np.random.default_rng(1).integers(0, 256, (3, 5, 3), np.uint8)
    for given, expected in ((to_png(frame), frame.tolist()), (None, None)):
        seen = msgspec.json.decode(to_json(form.observation(Seen(given, b"a"))))
        assert seen == {"metadata": {}, "screenshot": expected, "file": "YQ=="}
        check(form.observation_schema(), seen)
    for given, says in ((b"no picture", "bytes of a PNG"), (png_claiming(1 << 13, 1 << 12), "at most 8388608 pixels")):
        with pytest.raises(ContractViolation, match=f"screenshot: expected .*{says}"):
            form.observation(Seen(given))


def png_claiming(width, height):
    """A PNG whose header says what it has not."""
    whole = to_png(np.zeros((1, 1, 3), np.uint8))
    header = b"IHDR" + struct.pack(">II", width, height) + whole[24:29]
    return whole[:12] + header + struct.pack(">I", zlib.crc32(header)) + whole[33:]


def test_tools_answer_in_the_form_they_were_asked_in():
    form = JsonFormat(ServedEnv("open/EchoTools-v0").description())
    with ServedEnv("open/EchoTools-v0").make() as env:
        env.reset()
        for asked, key in (
            ({"type": "call_tool", "tool_name": "echo_message", "arguments": {"message": "x"}}, "tool_name"),
            ({"tool": "echo_message", "arguments": {"message": "x"}}, "tool"),
        ):
            reading = form.read(asked)
            seen = form.observed(reading, HostStep(*env.step(reading.action)))
            assert seen[key] == "echo_message"


# --- numbers ---


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        (float("nan"), "NaN"),
        (-np.inf, "-Infinity"),
        (np.float32(0.5), 0.5),
        (np.array([[1, 2]], np.uint8), [[1, 2]]),
        (np.array([np.inf]), ["Infinity"]),
        (np.bool_(True), True),
        (2**70, 2**70),
        ({(1, 2): {3}}, {"(1, 2)": [3]}),
        (bytearray(b"ab"), "YWI="),
    ],
)
def test_infos_are_plain_data(value, expected):
    told = envelope({}, HostStep(0, 1.0, False, False, {"x": value}), "s", full=True)
    assert told["info"] == told["metadata"] == {"x": expected}
    assert msgspec.json.decode(to_json(told))["info"] == {"x": expected}


def test_what_is_no_data_is_the_authors_fault():
    endless = {}
    endless["self"] = endless
    for info, says in (
        ({"f": print}, r"info\['f'\]: expected numbers"),
        ({"a": [object()]}, r"info\['a'\]\[0\]"),
        ({"note": Note(None, True)}, r"info\['note'\]: expected numbers, text, bytes, arrays"),
        (endless, "levels"),
        ([1], "info: expected a dictionary"),
    ):
        with pytest.raises(ContractViolation, match=says):
            envelope({}, HostStep(0, 1.0, False, False, info), "s", full=True)
    with pytest.raises(ContractViolation, match="what JSON can carry"):
        to_json({"half": "\ud800"})


@pytest.mark.parametrize(
    ("reward", "expected"), [(1, 1), (0.5, 0.5), (np.float32(0.5), 0.5), (np.int64(2), 2.0), (None, None)]
)
def test_rewards_are_numbers_of_json(reward, expected):
    told = envelope({}, HostStep(0, reward, False, False, {}), "s", full=False)
    assert told["reward"] == expected
    assert type(told["reward"]) is type(expected)
