"""Count what follows the last characters, up to eight of them, and keep what was seen more than twice."""

import json
from collections import Counter, defaultdict

ORDER = 8

with open("data/train.txt") as file:
    text = file.read()
counts: dict[str, Counter[str]] = defaultdict(Counter)
for order in range(ORDER + 1):
    for at in range(order, len(text)):
        counts[text[at - order : at]][text[at]] += 1
kept = {one: row for one, row in counts.items() if len(one) <= 3 or sum(row.values()) > 2}
with open("weights.json", "w") as file:
    json.dump({one: "".join(f"{letter}{count}," for letter, count in row.items()) for one, row in kept.items()}, file)
