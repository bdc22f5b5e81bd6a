"""Plan with snapshots: try every action, go back exactly, take the best. No model of the environment is needed."""

import ludus


def best(env: ludus.Env, depth: int) -> tuple[float, list[int]]:
    """The highest return within `depth` steps from here, and the actions that earn it."""
    if depth == 0:
        return 0.0, []
    here, options = env.snapshot(), []
    for action in range(int(env.action_space.n)):
        step = env.step(action)
        # A later reward counts for less, so that the shortest way wins.
        later, plan = (0.0, []) if step.done else best(env, depth - 1)
        options.append((step.reward + 0.9 * later, [action, *plan]))
        env.restore(here)  # state, random streams and wrappers: as if nothing had happened
    return max(options, key=lambda option: option[0])


env = ludus.make("GridWorld-v0", size=4)
observation, info = env.reset(seed=2)
print("goal at", info["goal"])
names = ["up", "down", "left", "right"]
over = False
while not over:
    value, plan = best(env, depth=5)
    observation, reward, over, truncated, info = env.step(plan[0])
    print(f"{names[plan[0]]:5} → {observation}, reward {reward}, expected {value:.2f}")
