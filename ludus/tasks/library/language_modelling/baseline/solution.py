"""Count pairs of characters."""

import json
from itertools import pairwise

ALPHABET = "abcdefghijklmnopqrstuvwxyz ."

with open("data/train.txt") as file:
    text = file.read()
counts = {one: dict.fromkeys(ALPHABET, 0.1) for one in ALPHABET}
for one, other in pairwise(text):
    counts[one][other] += 1
with open("weights.json", "w") as file:
    json.dump({one: [value / sum(row.values()) for value in row.values()] for one, row in counts.items()}, file)
