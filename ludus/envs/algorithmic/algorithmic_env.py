"""`AlgorithmicEnv`: a task on tapes, as an environment."""

from collections.abc import Sequence
from typing import Any, ClassVar

from ludus.envs.algorithmic.tape import HARDEST
from ludus.envs.algorithmic.tape_picture import Sheet, tape_picture
from ludus.errors import InvalidArgument, shorten
from ludus.kernels import RuleEnv
from ludus.rendering import Canvas, Drawn
from ludus.spaces import Discrete, Tuple

__all__ = ["AlgorithmicEnv"]


class AlgorithmicEnv(Drawn, RuleEnv):
    """Read an input symbol by symbol and write the right output; a subclass adds the rules.

    The action is where to move the reading head, whether to write, and what. A right symbol gives 1, a wrong one -0.5
    and the end, running out of time -1 and the end. When enough episodes in a row went well, inputs become longer by
    one; a reset with a seed starts from `starting_min_length` again.

    >>> from ludus.envs.algorithmic.copy import Copy
    >>> env = Copy()
    >>> env.reset(seed=0)
    (3, {})
    >>> env.text_of(env.input_data), env.text_of(env.target)
    ('DCBB', 'DCBB')
    """

    MOVEMENTS: ClassVar[tuple[str, ...]] = ("left", "right")
    metadata = Drawn.metadata | {"render_fps": 4}

    def __init__(self, *, render_mode: str | None, base: int, chars: bool, **params: object) -> None:
        name, most = type(self).__name__, 26 if chars else 10
        _check_range(f"{name} base", base, most)
        _check_range(f"{name} starting_min_length", params["starting_min_length"], HARDEST)
        self.chars = chars
        self.charmap = [chr(ord("A") + one) if chars else str(one) for one in range(base)] + [" "]
        self.observation_space = Discrete(base + 1)
        self.action_space = Tuple((Discrete(len(self.MOVEMENTS)), Discrete(2), Discrete(base)))
        super().__init__(render_mode=render_mode, base=base, **params)

    def text_of(self, symbols: Sequence[int] | Sequence[Sequence[int]]) -> str:
        """Symbols as text; rows of a grid one below the other."""
        columns = [one for one in symbols if isinstance(one, Sequence)]
        if columns:
            return "\n".join(self.text_of(row) for row in zip(*columns, strict=True))
        return "".join(self.charmap[one] for one in symbols if not isinstance(one, Sequence))

    @property
    def input_data(self) -> list[int] | list[list[int]]:
        """The input: a list of symbols, of columns where there is more than one row; empty before the first reset."""
        if self._state is None:
            return []
        columns = self._state.tape[: self._state.length].tolist()
        return columns if self.params.rows > 1 else [column[0] for column in columns]

    @property
    def target(self) -> list[int]:
        """What has to be written; empty before the first reset."""
        return [] if self._state is None else self._state.target[: self._state.target_length].tolist()

    @property
    def min_length(self) -> int:
        """The least length of inputs now."""
        return self.params.starting_min_length if self._state is None else self._state.min_length

    @property
    def read_head_position(self) -> int | tuple[int, int]:
        """The reading head's column, or column and row where there is more than one row."""
        x, y = (0, 0) if self._state is None else (self._state.x, self._state.y)
        return (x, y) if self.params.rows > 1 else x

    @property
    def write_head_position(self) -> int:
        """How many symbols are written."""
        return 0 if self._state is None else self._state.written

    @property
    def time_limit(self) -> int:
        """The step after which it is too late; 0 before the first reset."""
        return 0 if self._state is None else self._state.time_limit

    @property
    def episode_total_reward(self) -> float | None:
        """The sum of this episode's rewards; None before the first reset."""
        return None if self._state is None else self._state.total

    def get_keys_to_action(self) -> dict[str | tuple[str, str], tuple[int, int, int]]:
        """To play: arrows move, a symbol writes itself and moves right, or where an arrow held with it says."""
        keys: dict[str | tuple[str, str], tuple[int, int, int]] = {}
        for move, arrow in enumerate(self.MOVEMENTS):
            keys[arrow] = (move, 0, 0)
            for symbol, letter in enumerate(self.charmap[:-1]):
                if letter not in "QR":  # which quit and restart a game
                    keys[arrow, letter.lower()] = (move, 1, symbol)
                    keys[letter.lower()] = (self.MOVEMENTS.index("right"), 1, symbol)
        return keys

    # --- what it looks like ---

    def output(self) -> str:
        """What is written, as text; only the last symbol can be wrong."""
        text = self.text_of(self.target)[: self.write_head_position]
        if self.last_action is not None and self.last_action[1] == 1 and text:
            symbol: int = self.last_action[2]
            return text[:-1] + self.charmap[symbol]
        return text

    def draw(self) -> Canvas:
        """The tapes and the reading head."""
        state = self.state
        title = f"step {state.time} of at most {state.time_limit}, return {state.total:g}"
        rows = self.text_of(self.input_data).split("\n")
        return tape_picture(
            Sheet(rows, self.text_of(self.target), self.output(), state.x, state.y, len(state.target), title)
        )

    def board(self) -> str:
        """The tapes as text, for the render mode "ansi": the symbol being read and the one written last stand out."""
        state, target, output = self.state, self.text_of(self.target), self.output()
        lines = [f"input of length {state.length}, step {state.time} of at most {state.time_limit}"]
        for number, row in enumerate(self.text_of(self.input_data).split("\n")):
            cells = list(f"  {row}  ")
            if number == state.y and -2 <= state.x < len(row) + 2:
                cells[state.x + 2] = f"\x1b[42m{cells[state.x + 2]}\x1b[0m"
            lines.append(f"{'input' if number == 0 else '':7}:{''.join(cells)}")
        if self.last_action is not None and self.last_action[1] == 1:
            color = 42 if output == target[: len(output)] else 41
            output = f"{output[:-1]}\x1b[{color}m{output[-1:]}\x1b[0m"
        lines += [f"output :  {output}", f"target :  {target}", f"return :  {state.total:g}"]
        if self.last_action is not None:
            move, write, symbol = self.last_action
            lines.append(f"action :  {self.MOVEMENTS[move]}{f', write {self.charmap[symbol]}' if write else ''}")
        return "\n".join(lines) + "\n"

    def render(self) -> Any:
        """The current picture; under "ansi" the tapes as text."""
        return self.board() if self.render_mode == "ansi" and self._state is not None else super().render()


def _check_range(what: str, value: object, most: int) -> None:
    if not isinstance(value, int) or isinstance(value, bool) or not 1 <= value <= most:
        raise InvalidArgument(f"{what}: expected an integer from 1 to {most}, got {shorten(value)}")
