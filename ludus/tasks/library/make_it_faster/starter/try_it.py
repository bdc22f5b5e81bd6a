"""Compare analysis.py with the original on the lists of data/lists.json, and count the processor time of both."""

import json
import time

import analysis
import original

if __name__ == "__main__":
    with open("data/lists.json") as file:
        lists = json.load(file)
    spent = {"original": 0.0, "yours": 0.0}
    for one in lists:
        results: list[dict[str, int]] = []
        for name, function in (("original", original.analyse), ("yours", analysis.analyse)):
            begun = time.process_time()
            results.append(function(list(one["values"]), one["width"]))
            spent[name] += time.process_time() - begun
        if results[0] != results[1]:
            print(f"differs: {results[0]} {results[1]}")  # noqa: T201
    print(f"{spent['original'] / spent['yours']:.1f} times as fast")  # noqa: T201
