"""Run where TRL is: `trl_peers.py schemas URL ID…` or `trl_peers.py train FOLDER`. Prints JSON."""

import inspect
import json
import logging
import os
import sys
import warnings
from pathlib import Path

os.environ |= {"TRL_EXPERIMENTAL_SILENCE": "1", "HF_HUB_OFFLINE": "1", "CUDA_VISIBLE_DEVICES": ""}
warnings.simplefilter("ignore")
logging.disable(logging.WARNING)

import torch  # noqa: E402
import trl  # noqa: E402
import trl.chat_template_utils  # noqa: E402
from datasets import Dataset  # noqa: E402
from tokenizers import Tokenizer, decoders, models, pre_tokenizers  # noqa: E402
from transformers import PreTrainedTokenizerFast, Qwen3Config, Qwen3ForCausalLM  # noqa: E402
from transformers.utils import get_json_schema  # noqa: E402

from ludus.interop.trl import dataset_rows, environment_factory  # noqa: E402

MARKS = ("<|im_start|>", "<|im_end|>", "<|endoftext|>", "<tool_call>", "</tool_call>", "<think>", "</think>")
TEMPLATES = Path(trl.__file__).parent / "chat_templates"


def tools_of(env):
    """What GRPOTrainer takes for tools, by its own rule."""
    named = inspect.getmembers(type(env), predicate=inspect.isfunction)
    return [getattr(env, name) for name, _ in named if name not in ("reset", "get_reward") and not name.startswith("_")]


def schemas(url, ids):
    """The schemas that transformers makes of every tool, and what a reset says, through a server."""
    found = {}
    for name in ids:
        env = environment_factory(url, kwargs={"env": name, "timeout": 120})()
        found[name] = [env.reset(seed=3), [get_json_schema(tool)["function"] for tool in tools_of(env)]]
    return found


def tokenizer():
    """Bytes as tokens, with the marks and the template of Qwen 3."""
    alphabet = sorted(pre_tokenizers.ByteLevel.alphabet())
    plain = Tokenizer(models.BPE({one: number for number, one in enumerate(alphabet)}, []))
    plain.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    plain.decoder = decoders.ByteLevel()
    made = PreTrainedTokenizerFast(tokenizer_object=plain, eos_token="<|im_end|>", pad_token="<|endoftext|>")
    made.add_special_tokens({"additional_special_tokens": list(MARKS[:1])})
    made.add_tokens(list(MARKS[3:]))
    made.chat_template = (TEMPLATES / "qwen3.jinja").read_text(encoding="utf8")
    return trl.chat_template_utils.add_response_schema(made)


def trainer(factory, folder, words, length):
    """A trainer of a tiny model with random weights."""
    torch.manual_seed(0)
    config = Qwen3Config(
        vocab_size=len(words), hidden_size=32, intermediate_size=64, num_hidden_layers=2, num_attention_heads=2,
        num_key_value_heads=2, head_dim=16, max_position_embeddings=16384, eos_token_id=words.eos_token_id,
        pad_token_id=words.pad_token_id,
    )  # fmt: skip
    args = trl.GRPOConfig(
        output_dir=str(folder), max_steps=2, per_device_train_batch_size=4, num_generations=4, report_to=[],
        max_completion_length=length, use_cpu=True, save_strategy="no", logging_steps=1, seed=0, learning_rate=1e-3,
        disable_tqdm=True, chat_template_kwargs={"enable_thinking": False},
    )  # fmt: skip
    return trl.GRPOTrainer(
        model=Qwen3ForCausalLM(config), processing_class=words, args=args, environment_factory=factory,
        train_dataset=Dataset.from_list(dataset_rows(factory, 2)),
    )  # fmt: skip


def call(name, **arguments):
    """A completion that calls a tool, as Qwen 3 writes it."""
    return f"<tool_call>\n{json.dumps({'name': name, 'arguments': arguments})}\n</tool_call><|im_end|>"


def scripted(made, words, script):
    """Completions by a script, since random weights call nothing: `script` gives the turns of each of a group."""
    turns = {}

    def generate(prompt_ids, *args, **kwargs):
        del args, kwargs
        texts = []
        for place, _ in enumerate(prompt_ids):
            turn = turns[place] = turns.get(place, -1) + 1
            said = script[place % len(script)]
            texts.append(said[turn] if turn < len(said) else "Done.<|im_end|>")
        if all(text == "Done.<|im_end|>" for text in texts):
            turns.clear()
        return [words(text)["input_ids"] for text in texts], None

    made._generate_single_turn = generate


def train(folder):
    """Two steps by random weights, and two in which tools are called: what was logged, and whether weights moved."""
    words = tokenizer()
    told = {}
    for name, script in {
        "open/Chat-v0": None,
        "open/Git-v0": [[call("list_repos"), call("submit", answer="?")]] * 4,
        "open/Echo-v0": [[call("echo", message="hello" * n)] for n in range(1, 5)],
        "open/Connect4-v0": [[call("connect4", column=9), call("connect4", column=n)] for n in range(4)],
    }.items():
        made = trainer(environment_factory(name), folder, words, 2048 if script else 32)
        if script:
            scripted(made, words, script)
        before = [one.detach().clone() for one in made.model.parameters()]
        made.train()
        moved = any(not torch.equal(a, b) for a, b in zip(before, made.model.parameters(), strict=True))
        logs = [one for one in made.state.log_history if "reward" in one]
        told[name] = {"moved": moved, "logs": logs, "seen": [one.steps for one in made.environments]}
    return told


if __name__ == "__main__":
    verb, *rest = sys.argv[1:]
    print(json.dumps(schemas(rest[0], rest[1:]) if verb == "schemas" else train(rest[0])))
