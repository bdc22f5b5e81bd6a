"""Policies in files: which library reads which, and in a sandbox unless they are trusted."""

import sys
from types import ModuleType, SimpleNamespace

import numpy as np
import pytest

from ludus.errors import InvalidArgument, InvalidType, LudusError
from ludus.evaluate import FileAgent, as_agent, evaluate
from ludus.evaluate.agent_names import agent_name
from ludus.sandbox import default_backend
from ludus.spaces import Box, Dict, Discrete


class Session:
    """As ONNX's runtime answers: a row of numbers for each row that it is given."""

    def __init__(self, path, providers):
        assert providers == ["CPUExecutionProvider"]
        self.weights = np.array([[0, 0, -1, -0.2], [0, 0, 1, 0.2]], np.float32)

    def get_inputs(self):
        return [SimpleNamespace(name="seen")]

    def run(self, names, values):
        assert names is None
        return [values["seen"] @ self.weights.T]


@pytest.fixture
def model(tmp_path, monkeypatch):
    library = ModuleType("onnxruntime")
    library.InferenceSession = Session
    monkeypatch.setitem(sys.modules, "onnxruntime", library)
    path = tmp_path / "model.onnx"
    path.write_bytes(b"a model")
    return path


def test_a_trusted_file_plays_in_this_process(model):
    agent = FileAgent(str(model), trust=True)
    found = evaluate("CartPole-v1", agent, episodes=2, max_steps=60)
    agent.close()
    assert found.totals().tolist() == [60.0, 60.0]
    assert found.declaration.agent == "model.onnx"


def test_numbers_of_a_box_are_taken_as_they_are_within_it(model, monkeypatch):
    agent = FileAgent(str(model), trust=True)
    agent.prepare(Box(-9, 9, (4,)), Box(-1, 1, (2,)), 1)
    assert agent.act(np.array([0, 0, 3, 0], np.float32), {}, 0).tolist() == [-1.0, 1.0]
    agent.close()


def test_by_default_it_is_loaded_in_a_sandbox(model):
    """The library that is only in this process is not there: the file was read elsewhere."""
    if default_backend() is None:
        pytest.skip("no sandbox works here")
    model.chmod(0o644)
    for folder in (model.parent, model.parent.parent, model.parent.parent.parent):
        folder.chmod(0o755)
    with pytest.raises(LudusError, match=r"onnxruntime"):
        evaluate("CartPole-v1", FileAgent(str(model)), episodes=1)


def test_a_file_is_known_by_its_ending(model):
    assert isinstance(as_agent(str(model)), FileAgent)
    weights = as_agent("model.safetensors:net:Net")
    assert (weights.entry_point, agent_name(weights)) == ("net:Net", "model.safetensors:net:Net")
    with pytest.raises(InvalidArgument, match=r"agent: expected a file ending in \.zip, \.pt, \.onnx, \.safetensors"):
        FileAgent("model.pkl")


def test_what_cannot_be_played_is_told(tmp_path, model):
    with pytest.raises(InvalidArgument, match=r"agent: expected a file, got .*none\.onnx, which is none"):
        evaluate("CartPole-v1", FileAgent(str(tmp_path / "none.onnx")), episodes=1)
    with pytest.raises(InvalidType, match=r"model\.onnx: expected arrays to see and to do, got Dict"):
        FileAgent(str(model)).prepare(Dict(a=Discrete(2)), Discrete(2), 1)
    weights = tmp_path / "model.safetensors"
    weights.write_bytes(b"")
    with pytest.raises(
        InvalidArgument, match=r"expected the class of these weights, as model\.safetensors:module:Class"
    ):
        evaluate("CartPole-v1", FileAgent(str(weights), trust=True), episodes=1)
