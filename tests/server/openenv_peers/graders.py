"""What OpenEnv 0.10's validator measures of environments, and how it judges: graders.py PLANS, each by its URL."""

import json
import sys
from types import SimpleNamespace

from openenv.validation.graders.runtime.basic import (
    ObservationSchemaGrader,
    RewardWellFormedGrader,
    StateContractGrader,
)
from openenv.validation.runtime import collector
from openenv.validation.runtime.contracts import RuntimePlan

collect = next(one for name, one in vars(collector).items() if name.startswith("collect") and callable(one))
manifest = SimpleNamespace(reward=SimpleNamespace(range=(-1000.0, 1000.0)))


def judged(url, plan):
    evidence = collect(url, RuntimePlan.model_validate_json(json.dumps(plan)), episode_timeout_s=30)
    subject = SimpleNamespace(runtime_evidence=evidence, manifest=manifest)
    results = [one().run(subject) for one in (ObservationSchemaGrader, RewardWellFormedGrader, StateContractGrader)]
    found = {one.check_id: [one.status.value, list(one.evidence)] for one in results}
    return {"failure": evidence.failure_reason, "exchanges": len(evidence.exchanges), "checks": found}


print(json.dumps({url: judged(url, plan) for url, plan in json.loads(sys.argv[1]).items()}))
