"""Writes a log by Inspect itself, with a model that is a list of answers: inspect_log.py FOLDER."""

import sys

import tiktoken
from inspect_ai import Task, eval
from inspect_ai.dataset import Sample
from inspect_ai.model import ModelOutput, get_model
from inspect_ai.scorer import match
from inspect_ai.solver import generate, system_message, use_tools
from inspect_ai.tool import tool


class Words:
    """Counts words for tokens: the real encoding would be fetched from elsewhere."""

    def encode(self, text, **options):
        del options
        return text.split()

    encode_ordinary = encode


tiktoken.get_encoding = tiktoken.encoding_for_model = lambda *_, **__: Words()


@tool
def lift():
    """A tool."""

    async def execute(weight: int) -> str:
        """Lift a stone.

        Args:
            weight: In stones.
        """
        return f"lifted {weight}"

    return execute


def main():
    answers = []
    for answer in ("done", "tired"):
        call = ModelOutput.for_tool_call("mockllm/model", "lift", {"weight": 3}, content="I try.")
        answers += [call, ModelOutput.from_content("mockllm/model", answer)]
    samples = [
        Sample(id="easy/one", input="Lift three stones.", target="done"),
        Sample(id=2, input="Lift again.", target="done"),
    ]
    solver = [system_message("You are strong."), use_tools(lift()), generate()]
    model = get_model("mockllm/model", custom_outputs=answers)
    task = Task(dataset=samples, solver=solver, scorer=match())
    (log,) = eval(task, model=model, log_dir=sys.argv[1], log_format="eval", max_samples=1, display="none")
    print(log.status, log.location)


if __name__ == "__main__":
    main()
