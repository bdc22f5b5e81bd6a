"""Scenes of two things, drawn with noise, and the captions that are right for them."""

import csv
import json
from pathlib import Path
from typing import NamedTuple

import numpy as np

TRAIN, TEST, SIDE = 600, 400, 24
COLOURS = {"red": (200, 50, 50), "green": (50, 170, 60), "blue": (60, 70, 210), "yellow": (215, 200, 50)}
SHAPES = ("circle", "square", "triangle", "cross")
SIZES = {"small": 2.6, "large": 4.6}
RELATIONS = {"above": "below", "below": "above", "left of": "right of", "right of": "left of"}


class Thing(NamedTuple):
    """What is seen, and where: the column and the row of its middle."""

    size: str
    colour: str
    shape: str
    x: float
    y: float

    @property
    def words(self) -> str:
        """As a caption has it."""
        return f"a {self.size} {self.colour} {self.shape}"


def generate(seed: int, public: Path, hidden: Path) -> None:
    """Write pictures and captions for the agent, and all captions of the test pictures for the grader."""
    rng = np.random.default_rng(seed)
    scenes = [_scene(rng) for _ in range(TRAIN + TEST)]
    pictures = np.stack([_drawn(rng, one, other) for one, other, _ in scenes])
    ids = [f"i{number:05d}" for number in rng.permutation(100_000)[: TRAIN + TEST]]
    captions = [(f"{a.words} {how} {b.words}", f"{b.words} {RELATIONS[how]} {a.words}") for a, b, how in scenes]
    np.save(public / "train.npy", pictures[:TRAIN])
    np.save(public / "test.npy", pictures[TRAIN:])
    with (public / "train.csv").open("w", newline="") as file:
        csv.writer(file).writerow(["id", "row", "caption"])
        csv.writer(file).writerows([ids[at], at, captions[at][0]] for at in range(TRAIN))
    with (public / "test.csv").open("w", newline="") as file:
        csv.writer(file).writerow(["id", "row"])
        csv.writer(file).writerows([ids[TRAIN + at], at] for at in range(TEST))
    splits = rng.permutation(["validation"] * (TEST // 2) + ["test"] * (TEST // 2)).tolist()
    answers = [
        {"id": name, "captions": texts, "split": split}
        for name, texts, split in zip(ids[TRAIN:], captions[TRAIN:], splits, strict=True)
    ]
    (hidden / "captions.json").write_text(json.dumps(answers))


def _scene(rng: np.random.Generator) -> tuple[Thing, Thing, str]:
    """Two things in neighbouring quarters, and how the first lies to the second."""
    how = str(rng.choice(list(RELATIONS)))
    across, side = how in ("left of", "right of"), int(rng.integers(2))
    places = [(0, side), (1, side)] if across else [(side, 0), (side, 1)]
    if how in ("below", "right of"):
        places.reverse()
    one, other = (_thing(rng, column, row) for column, row in places)
    return one, other, how


def _thing(rng: np.random.Generator, column: int, row: int) -> Thing:
    x, y = 6 + 12 * column + rng.uniform(-1, 1), 6 + 12 * row + rng.uniform(-1, 1)
    drawn = [str(rng.choice(list(one))) for one in (SIZES, COLOURS, SHAPES)]
    return Thing(drawn[0], drawn[1], drawn[2], float(x), float(y))


def _drawn(rng: np.random.Generator, *things: Thing) -> np.ndarray:
    picture = np.full((SIDE, SIDE, 3), rng.uniform(100, 150)) + rng.normal(0, 6, 3)
    rows, columns = np.mgrid[:SIDE, :SIDE] + 0.5
    for thing in things:
        x, y, reach = columns - thing.x, rows - thing.y, SIZES[thing.size] * rng.uniform(0.93, 1.07)
        inside = {
            "circle": x**2 + y**2 < reach**2,
            "square": np.maximum(np.abs(x), np.abs(y)) < reach * 0.88,
            "triangle": (np.abs(y) < reach) & (np.abs(x) < (y + reach) * 0.55),
            "cross": (np.minimum(np.abs(x), np.abs(y)) < reach * 0.33) & (np.maximum(np.abs(x), np.abs(y)) < reach),
        }[thing.shape]
        picture[inside] = np.array(COLOURS[thing.colour]) + rng.normal(0, 12, 3)
    return np.clip(picture + rng.normal(0, 10, picture.shape), 0, 255).astype(np.uint8)
