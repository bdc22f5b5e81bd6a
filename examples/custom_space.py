"""A space of your own is one class with `sample` and `contains`; batches, JSON and shared memory then work for it."""

import ludus
from ludus.spaces import Dict, Discrete, Space, batch_space, dumps, from_json, loads, to_json

DOTS = "●○"


class Word(Space[str]):
    """Words of dots that read the same from both ends."""

    def __init__(self, longest: int, seed=None) -> None:
        self.longest = longest  # an attribute for each argument: description, equality and repr come from it
        super().__init__(seed=seed)

    def sample(self, mask=None, probability=None) -> str:
        half = "".join(self.np_random.choice(list(DOTS), size=self.np_random.integers(1, self.longest // 2 + 1)))
        return half + half[::-1]

    def contains(self, x) -> bool:
        return isinstance(x, str) and 0 < len(x) <= self.longest and set(x) <= set(DOTS) and x == x[::-1]


space = Dict(word=Word(8), times=Discrete(3), seed=7)
value = space.sample()
print("sampled  ", value)
print("as JSON  ", dumps(space, value).decode())
print("read back", loads(space, dumps(space, value)) == value)
print("described", to_json(Word(8)), from_json(to_json(Word(8))) == Word(8))
print("batched  ", batch_space(Word(8, seed=1), 3).sample())
try:
    loads(space, '{"word": "●○", "times": 5}', name="action")
except ludus.errors.InvalidValue as error:
    print("refused  ", error)
