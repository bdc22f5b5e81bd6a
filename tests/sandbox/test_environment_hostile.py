"""Whatever the other side says: an error of this side, never a crash, and never code."""

import pickle
import time

import msgspec
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ludus.errors import ChannelError, ContractViolation, LimitExceeded, LudusError, ResetNeeded
from ludus.sandbox import Deadlines
from ludus.sandbox.environment import SandboxedEnv
from ludus.sandbox.environment.blueprint import Blueprint
from ludus.sandbox.environment.process_link import ProcessLink
from ludus.spaces import Box, describe
from ludus.wire.messages import (
    PROTOCOL,
    BatchStepReply,
    DoneReply,
    FailedReply,
    MakeReply,
    ResetReply,
    SnapshotReply,
    StepReply,
    ValueReply,
)
from tests.sandbox.neighbours import MADE, SPACES, ThreadEnvProcess, liar, packed

GOOD = np.zeros(2, np.float32).tobytes()
BEGUN = ResetReply(GOOD, {})


class Trap:
    def __reduce__(self):
        return pytest.fail, ("a pickle was read",)


NONSENSE = {
    "nothing": b"\0\0\0\0",
    "four gigabytes": b"\xff\xff\xff\xff",
    "more than a frame may have": b"\x04\0\0\1" + b"\0" * 50,
    "no msgpack": b"\0\0\0\5\xc1\xc1\xc1\xc1\xc1",
    "text": b"HTTP/1.1 200 OK\r\n\r\n",
    "a pickle": packed(pickle.dumps(Trap())),
    "deep": packed(b"\x91" * 5000 + b"\xc0"),
    "very deep": packed(b"\x91" * 2_000_000 + b"\xc0"),
    "many": packed(b"\xdd\xff\xff\xff\xff"),
    "very many": packed(b"\xdd\0\x20\0\0" + b"\x90" * (1 << 21)),
    "a map of itself": packed(b"\xdf\xff\xff\xff\xff" * 30),
    "two frames at once": packed(BEGUN) * 2,
    "a frame and a half": packed(BEGUN) + b"\0\0",
    "another kind": packed(SnapshotReply(1)),
    "another reply": packed(DoneReply()),
    "a reply of batches": packed(BatchStepReply(GOOD, b"", b"", b"", [])),
    "an unknown kind": packed([99, 1, 2]),
    "a field too many": packed([2, GOOD, {}, 1]),
    "a field too few": packed([2, GOOD]),
    "an info that is a list": packed([2, GOOD, []]),
    "keys that are numbers": packed([2, GOOD, {1: 2}]),
    "an extension": packed([2, GOOD, msgspec.msgpack.Ext(1, b"x")]),
    "a request": packed([1, 0]),
}


@pytest.mark.parametrize("what", NONSENSE)
def test_nonsense_on_the_channel_is_a_channel_error_and_the_end_of_the_process(what):
    env = liar(NONSENSE[what])
    with pytest.raises(ChannelError, match="channel: "):
        env.reset(seed=0)
    with pytest.raises(ResetNeeded, match="its channel could not be relied on"):
        env.step(0)
    env.close()


@pytest.mark.parametrize("what", NONSENSE)
def test_nonsense_instead_of_a_greeting_too(what):
    with pytest.raises(LudusError) as found:
        liar(made=NONSENSE[what][4:] or b"\xc1")
    assert isinstance(found.value, ChannelError) or "starting" in str(found.value)


@settings(max_examples=150)
@given(st.binary(max_size=80))
def test_any_bytes_are_an_error(data):
    env = liar(packed(data) if data else b"\0")
    try:
        env.reset(seed=0)
    except LudusError:
        pass
    finally:
        env.close()


@settings(max_examples=150)
@given(
    st.lists(
        st.one_of(
            st.none(), st.booleans(), st.integers(-5, 200), st.floats(), st.binary(max_size=9), st.just({}), st.just([])
        ),
        max_size=7,
    )
)
def test_any_fields_are_an_error_or_a_step(fields):
    env = liar(BEGUN, [1, *fields])
    env.reset(seed=0)
    try:
        step = env.step(0)
    except LudusError:
        pass
    else:
        assert step.observation in env.observation_space
        assert np.isfinite(step.reward)
        assert isinstance(step.terminated, bool)
    finally:
        env.close()


@pytest.mark.parametrize(
    "reply",
    [
        StepReply(np.full(2, 5, np.float32).tobytes(), 1.0, False, False, {}),
        StepReply(np.full(2, np.nan, np.float32).tobytes(), 1.0, False, False, {}),
        StepReply(np.full(2, np.inf, np.float32).tobytes(), 1.0, False, False, {}),
        StepReply(GOOD + GOOD, 1.0, False, False, {}),
        StepReply(b"", 1.0, False, False, {}),
        StepReply(None, 1.0, False, False, {}),
        StepReply([0.0, 0.0, 0.0], 1.0, False, False, {}),
        StepReply({"$array": b"", "dtype": "object", "shape": [0]}, 1.0, False, False, {}),
        StepReply(GOOD, float("nan"), False, False, {}),
        StepReply(GOOD, float("inf"), False, False, {}),
        StepReply(GOOD, {"$scalar": b"\0\0\xc0\x7f", "dtype": "float32"}, False, False, {}),
        StepReply(GOOD, {"$scalar": b"\1", "dtype": "bool"}, False, False, {}),
        StepReply(GOOD, {"$tuple": []}, False, False, {}),
        StepReply(GOOD, {"a": 1}, False, False, {}),
        StepReply(GOOD, 1.0, False, False, {"$tuple": [1]}),
        StepReply(GOOD, 1.0, False, False, {"$object": "os.system"}),
        StepReply(GOOD, 1.0, False, False, {"a": {"$array": b"", "dtype": "O", "shape": [0]}}),
        StepReply(GOOD, 1.0, False, False, {"sandbox": {"limit": "deadline"}}),
        StepReply(GOOD, 1.0, False, False, {"final_info": {"sandbox": 1}}),
    ],
)
def test_a_step_that_is_no_step_of_this_space_breaks_the_contract(reply):
    with liar(BEGUN, reply) as env:
        env.reset(seed=0)
        with pytest.raises(ContractViolation, match="Liar"):
            env.step(0)


@pytest.mark.parametrize(
    "made",
    [
        MakeReply(PROTOCOL, {"type": "os:system"}, SPACES[1], {}, None, "Liar"),
        MakeReply(
            PROTOCOL,
            {"type": "Box", "low": 0, "high": 1, "shape": [1 << 40], "dtype": "int8"},
            SPACES[1],
            {},
            None,
            "Liar",
        ),
        MakeReply(PROTOCOL, SPACES[0], {}, {}, None, "Liar"),
        MakeReply(PROTOCOL, *SPACES, {"render_modes": 5}, None, "Liar"),
        MakeReply(PROTOCOL, *SPACES, {"render_modes": [5]}, None, "Liar"),
        MakeReply(PROTOCOL, *SPACES, {}, "rgb_array\x1b[31m", "Liar"),
        MakeReply(PROTOCOL, *SPACES, {}, "r" * 1000, "Liar"),
        MakeReply(PROTOCOL, *SPACES, {"$tuple": []}, None, "Liar"),
        MakeReply(PROTOCOL, *SPACES, {"x": {"$object": 1}}, None, "Liar"),
        MakeReply(PROTOCOL + 1, *SPACES, {}, None, "Liar"),
    ],
)
def test_a_greeting_that_makes_no_sense_is_refused(made):
    with pytest.raises((ContractViolation, ChannelError)):
        liar(made=made)


def test_names_and_texts_from_the_other_side_are_bounded_and_clean():
    made = MakeReply(PROTOCOL, *SPACES, {}, None, "\x1b]0;x\x07" + "n" * 10_000)
    env = liar(FailedReply("E" * 5000 + "\x1b", "m\x1b[31m" * 5000, "t\x00\n" * 50_000), made=made)
    with pytest.raises(LudusError) as found:
        env.reset(seed=0)
    text = str(found.value) + "".join(found.value.__notes__)
    assert len(text) < 30_000
    assert not set(text) & {"\x1b", "\x07", "\x00"}
    env.close()


@pytest.mark.parametrize("kind", ["SystemExit", "KeyboardInterrupt", "ChannelError", "os.system", "__import__", ""])
def test_no_class_comes_from_the_other_side(kind):
    with liar(FailedReply(kind, "message", "trace")) as env:
        with pytest.raises(LudusError) as found:
            env.reset(seed=0)
        assert type(found.value).__name__ == "EnvError"


@pytest.mark.parametrize("value", [{"$x": 1}, {"$array": b"x", "dtype": "int8", "shape": [5]}, [[[[{"$int": 1}]]]]])
def test_attributes_and_pictures_that_are_no_data_break_the_contract(value):
    with liar(ValueReply(value), ValueReply(value)) as env:
        with pytest.raises(ContractViolation):
            env.get_wrapper_attr("x")
        with pytest.raises(ContractViolation):
            env.render()


@pytest.mark.parametrize("value", ["7", 1.5, -2, None, True])
def test_a_seed_that_is_none_breaks_the_contract(value):
    with liar(ValueReply(value)) as env, pytest.raises(ContractViolation, match="np_random_seed"):
        _ = env.np_random_seed


def dripping(link):
    """Greets, then sends a frame byte by byte for as long as somebody listens."""
    link.recv(1 << 16)
    link.sendall(packed(MADE))
    link.recv(1 << 16)
    link.sendall(b"\0\0\xff\xff")
    try:
        while True:
            link.sendall(b"x")
            time.sleep(0.01)
    except OSError:
        pass


def deaf(link):
    """Greets, then never reads again."""
    link.recv(1 << 16)
    link.sendall(packed(MADE))
    link.setblocking(True)
    while link.recv(1, 2):  # MSG_PEEK: it sees that there is something, and leaves it
        time.sleep(0.05)


@pytest.mark.parametrize("live", [dripping, deaf])
def test_the_deadline_is_for_the_whole_answer(live):
    request = Blueprint.of("Slow", {}).request()
    env = SandboxedEnv(ProcessLink(lambda: ThreadEnvProcess(live), request, Deadlines(reset=0.3)))
    with pytest.raises(LimitExceeded, match="did not answer in time"):
        env.reset(options={"a": bytes(20 << 20)} if live is deaf else None)
    env.close()


@pytest.mark.parametrize("cut", [1, 3, 4, 5, 20])
def test_a_frame_that_ends_too_early_is_the_end_of_the_process(cut):
    with liar(BEGUN, packed(StepReply(GOOD, 1.0, False, False, {}))[:cut]) as env:
        env.reset(seed=0)
        step = env.step(0)
        assert step.truncated
        assert step.info["sandbox"]["reason"] == "its process is gone"


def test_large_frames_in_pieces_are_read_whole():
    picture = np.random.default_rng(0).integers(0, 255, (700, 700, 3), dtype=np.uint8)
    space = describe(Box(0, 255, picture.shape, np.uint8))
    made = MakeReply(PROTOCOL, space, SPACES[1], {}, None, "Liar")
    with liar(ResetReply(picture.tobytes(), {}), made=made) as env:
        assert np.array_equal(env.reset(seed=0)[0], picture)
