"""Watch an agent in the terminal, over SSH too: with render_mode="ansi" a picture is text, in half blocks of colour.

In a terminal the pictures follow each other in place; into a file or a pipe only the last one is written.
"""

import sys
import time

import ludus

HOME, CLEAR = "\x1b[H", "\x1b[2J"


def lean_with_the_pole(observation) -> int:
    """Push to the side to which the pole falls."""
    _, _, angle, angular_speed = observation
    return int(angle + 0.5 * angular_speed > 0)


env = ludus.make("CartPole-v1", render_mode="ansi")
observation, info = env.reset(seed=7)
live = sys.stdout.isatty()
if live:
    print(CLEAR, end="")

score, over = 0.0, False
while not over and score < 200:
    observation, reward, terminated, truncated, info = env.step(lean_with_the_pole(observation))
    score, over = score + reward, terminated or truncated
    if live:
        print(f"{HOME}{env.render()}\nscore {score:.0f} ", flush=True)
        time.sleep(1 / env.metadata["render_fps"])

if not live:
    print(env.render())
print(f"score {score:.0f}")
env.close()
