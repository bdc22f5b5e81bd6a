"""A client of OpenEnv 0.1's kind: one requests.Session, plain HTTP, nothing known of sessions: legacy.py URL."""

import json
import sys

import requests


class HTTPEnvClient:
    def __init__(self, base_url):
        self._base, self._http, self._timeout = base_url.rstrip("/"), requests.Session(), 15.0
        self._http.trust_env = False

    def reset(self):
        reply = self._http.post(f"{self._base}/reset", json={}, timeout=self._timeout)
        reply.raise_for_status()
        return reply.json()

    def step(self, action):
        body = {"action": action, "timeout_s": int(self._timeout)}
        reply = self._http.post(f"{self._base}/step", json=body, timeout=self._timeout)
        reply.raise_for_status()
        return reply.json()

    def state(self):
        reply = self._http.get(f"{self._base}/state", timeout=self._timeout)
        reply.raise_for_status()
        return reply.json()


one, two = HTTPEnvClient(sys.argv[1]), HTTPEnvClient(sys.argv[1])
met = []
for _ in range(2):
    one.reset()
    two.reset()
    rewards = [one.step({"answer": "no"})["reward"] for _ in range(4)]
    met.append([rewards, one.state()["step_count"], two.state()["step_count"]])
print(json.dumps(met))
