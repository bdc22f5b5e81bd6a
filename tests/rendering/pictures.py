"""The pictures of docs/rendering.md, drawn anew: `python -m tests.rendering.pictures`."""

import os
import re
import subprocess
import sys
from pathlib import Path

import gymnasium
import numpy as np

import ludus
from ludus.rendering import grid, resize, to_png

ROOT = Path(__file__).resolve().parents[2]
PAGE = ROOT / "docs" / "rendering.md"
FOLDER = ROOT / "docs" / "assets" / "rendering"
COMPARED = ["CartPole-v1", "MountainCar-v0", "Pendulum-v1", "Acrobot-v1"]
HEIGHT = 200


def draw(folder: Path) -> None:
    """Run the program of the page in a folder; it leaves its pictures there."""
    source = "\n".join(re.findall(r"^```python\n(.*?)^```$", PAGE.read_text(encoding="utf8"), re.DOTALL | re.MULTILINE))
    subprocess.run([sys.executable, "-c", source], cwd=folder, check=True, capture_output=True)


def compare() -> bytes:
    """Gymnasium's pictures above ours, of the same states."""
    rows = [
        np.concatenate([_small(maker, name) for name in COMPARED], axis=1) for maker in (gymnasium.make, ludus.make)
    ]
    return to_png(grid(rows, columns=1, gap=4, background="white"))


def _small(make, name: str) -> np.ndarray:
    with make(name, render_mode="rgb_array") as env:
        env.reset(seed=3)
        for step in range(8):
            env.step(env.action_space.low if name == "Pendulum-v1" else step % 2)
        frame = env.render()
    return resize(frame, (round(frame.shape[1] * HEIGHT / frame.shape[0]), HEIGHT))


if __name__ == "__main__":
    os.environ.setdefault("SDL_VIDEODRIVER", "dummy")
    FOLDER.mkdir(parents=True, exist_ok=True)
    draw(FOLDER)
    for extra in (*FOLDER.glob("*.gif"), FOLDER / "shapes.png"):
        extra.unlink()
    (FOLDER / "comparison.png").write_bytes(compare())
