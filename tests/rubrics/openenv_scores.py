"""Scores that OpenEnv's own rubrics give: reads actions as JSON, prints scores as JSON."""

import asyncio
import json
import sys
from types import SimpleNamespace

from openenv.core.rubrics import (
    ExponentialDiscountingTrajectoryRubric,
    Gate,
    LLMJudge,
    Rubric,
    Sequential,
    WeightedSum,
)


class Length(Rubric):
    def forward(self, action, observation):
        return min(len(action) / 10, 1.0)


class Digits(Rubric):
    def forward(self, action, observation):
        return float(action.isdigit())


class Won(ExponentialDiscountingTrajectoryRubric):
    def score_trajectory(self, trajectory):
        return len(trajectory[-1][0]) / 20


class Client:
    async def complete(self, prompt):
        return f"The score is {len(prompt) / 100}, or 3."


def main():
    actions = json.load(sys.stdin)
    steps = [(one, SimpleNamespace(done=number == len(actions) - 1)) for number, one in enumerate(actions)]
    rubrics = {
        "gate": Gate(Length(), threshold=0.4),
        "weighted_sum": WeightedSum([Length(), Digits()], weights=[0.7, 0.3]),
        "sequence": Sequential(Gate(Digits()), Length()),
        "nested": WeightedSum([Sequential(Digits(), Gate(Length(), 0.3)), Length()], weights=[0.25, 0.75]),
    }
    found = {name: [one(*step) for step in steps] for name, one in rubrics.items()}
    judge = LLMJudge("Rate {action}", Client())
    found["judge"] = [asyncio.run(judge(*step)) for step in steps]
    episode = Won(gamma=0.9)
    found["episode"] = [episode(*step) for step in steps]
    found["step_rewards"] = episode.compute_step_rewards()
    print(json.dumps(found))


if __name__ == "__main__":
    main()
