"""The smallest served environment: start a server, connect, hear yourself: `python examples/echo_over_the_wire.py`."""

import ludus
from ludus.envs.open import EchoAction

with ludus.serve("open/Echo-v0", port=0, block=False) as server, ludus.connect(server.url) as env:
    env.reset(seed=0)
    for word in ("Hello!", "is anybody there?"):
        step = env.step(EchoAction(word))
        print(f"{step.observation.echoed_message!r}, {step.observation.message_length} signs, reward {step.reward:g}")
