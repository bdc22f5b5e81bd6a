"""The text of a batch kernel: one loop over lanes, written for a set of rules and compiled by Numba.

Text, not closures: a function in a file is what Numba keeps on disk between processes. The loop reads a lane's state
into the rules' NamedTuple, calls the rule and writes the result back. All that lasts from step to step lies in one
block of memory, column by column: an array handed to compiled code costs as much as stepping ten lanes.
"""

from typing import NamedTuple

from ludus.kernels.block import ALIGNMENT, Column

__all__ = ["Layout", "Parameter", "kernel_source"]

NEXT_STEP, SAME_STEP, DISABLED, RESET = range(4)
"""The modes of autoreset, and the one that begins the chosen lanes."""


class Parameter(NamedTuple):
    """A field of the rules' parameters."""

    name: str
    kind: str
    """`float`, `int` or `bool` lie in the row of values; `loose` ones are handed over by themselves."""
    varies: bool
    """Whether each lane has its own."""


class Layout(NamedTuple):
    """What the loop has to know of a set of rules beyond its functions."""

    columns: tuple[Column, ...]
    """All that lies in the block, in its order."""
    kept: tuple[Column, ...]
    """What follows only where the last observations are kept: there is no memory for it otherwise, and no use of it."""
    state: tuple[str, ...]
    params: tuple[Parameter, ...]
    width: int
    """How many numbers an observation has; 0 for a single integer."""
    information: tuple[str, ...]
    """The fields of `inform`."""
    parts: int
    """How many integers an action has, where it is a tuple of them; 0 for one integer, or a row of a Box."""
    choices: tuple[int, int] | None
    """The first and the last action, where it is one of several integers: then the loop checks it."""
    renews: bool
    """Whether the next episode depends on the last one."""

    @property
    def loose(self) -> tuple[Parameter, ...]:
        """The parameters that are handed over by themselves."""
        return tuple(one for one in self.params if one.kind == "loose")

    @property
    def varied(self) -> bool:
        """Whether any parameter differs from lane to lane."""
        return any(one.varies for one in self.params)


def kernel_source(layout: Layout) -> str:
    """The module's text; `State`, `Params`, `Stream`, `rule_…`, `kept` and the views have to be there before it."""
    several = "".join(f"actions[i, {part}], " for part in range(layout.parts))
    read = ", ".join(f"s_{name}[i]" for name in layout.state)
    params = f"params = Params({', '.join(_parameter(layout, place) for place in range(len(layout.params)))})"
    known = {
        "LOOSE": "".join(f"q_{one.name}, " for one in layout.loose),
        "VIEWS": _block(_views(layout), 1),
        "CHECK": _block(_check(layout), 1),
        "PARAMS_ONCE": "" if layout.varied else params,
        "PARAMS_EACH": params if layout.varied else "",
        "ACTION": f"({several})" if several else "actions[i]",
        "READ": read,
        "AFTER": ", ".join(f"after[{place}]" for place in range(len(layout.state))),
        "BEGUN": ", ".join(f"begun[{place}]" for place in range(len(layout.state))),
        "WRITE_AFTER": _block(_writes(layout, "after"), 3),
        "WRITE_BEGUN": _block(_writes(layout, "begun"), 3),
        "SHOW_STATE": _block(_shown(layout, "state"), 3),
        "SHOW_STEPPED": _block(_shown(layout, "stepped"), 3),
        "SHOW_STARTED": _block(_shown(layout, "started"), 3),
        "KEEP": _block(_kept(layout), 5),
        "BEGIN": _block(_begin(layout, read), 3),
    }
    text = TEMPLATE
    for name, value in known.items():
        text = text.replace(f"<{name}>", value)
    return text


def _block(lines: list[str], depth: int) -> str:
    return ("\n" + "    " * depth).join(lines)


def _views(layout: Layout) -> list[str]:
    lines: list[str] = []
    for column in (*layout.columns, *layout.kept):
        shape = "".join(f"{one}, " for one in column.shape)
        view = f"rows_at(block, at, n, ({shape})," if shape else "values_at(block, at, n,"
        lines.append(f"{column.name} = {view} np.{column.dtype})")
        lines.append(f"at += (n * {column.size} + {ALIGNMENT - 1}) // {ALIGNMENT} * {ALIGNMENT}")
    return lines


def _check(layout: Layout) -> list[str]:
    if layout.choices is None:
        return []
    least, most = layout.choices
    return [
        f"if mode != {RESET}:",
        "    for lane in range(n):",
        f"        if actions[lane] < {least} or actions[lane] > {most}:",
        "            return -1",
    ]


def _parameter(layout: Layout, place: int) -> str:
    """How the loop gets a parameter: from the row of values of the lane, or of all lanes, or by itself."""
    one = layout.params[place]
    if one.kind == "loose":
        return f"q_{one.name}[i]" if one.varies else f"q_{one.name}"
    slot = sum(other.kind != "loose" for other in layout.params[:place])
    count = sum(other.kind != "loose" for other in layout.params)
    where = f"i * unsigned({count}) + unsigned({slot})" if layout.varied else str(slot)
    return {
        "float": f"floats[{where}]",
        "int": f"integers[{where}]",
        "bool": f"integers[{where}] != 0",
    }[one.kind]


def _writes(layout: Layout, name: str) -> list[str]:
    fields = enumerate(layout.state)
    return [line for place, field in fields for line in _entered(layout, f"s_{field}", f"{name}[{place}]")]


def _entered(layout: Layout, name: str, value: str) -> list[str]:
    """A value into its column, an array number by number: a slice would bring in all of NumPy's messages to compile."""
    shape = next(column.shape for column in (*layout.columns, *layout.kept) if column.name == name)
    if not shape:
        return [f"{name}[i] = {value}"]
    lengths = "".join(f"{one}, " for one in shape)
    lines = [f"if {value}.shape != ({lengths}):", f"    raise ValueError('{name[2:]}: expected an array of {shape}')"]
    indices = [f"e{depth}" for depth in range(len(shape))]
    lines += [f"{'    ' * depth}for {one} in range({shape[depth]}):" for depth, one in enumerate(indices)]
    place = ", ".join(f"unsigned({one})" for one in indices)
    return [*lines, f"{'    ' * len(shape)}{name}[i, {place}] = {value}[{place}]"]


def _shown(layout: Layout, state: str) -> list[str]:
    """Variables of their own for each place: what they hold may differ in type."""
    lines = [f"seen_{state} = rule_observe({state}, params)"]
    if layout.width:
        lines += [f"out[i, {place}] = seen_{state}[{place}]" for place in range(layout.width)]
    else:
        lines.append(f"out[i] = seen_{state}")
    if layout.information:
        lines.append(f"told_{state} = rule_inform({state}, params)")
        for place, name in enumerate(layout.information):
            lines += _entered(layout, f"i_{name}", f"told_{state}[{place}]")
    return lines


def _kept(layout: Layout) -> list[str]:
    places = [f"[i, {place}]" for place in range(layout.width)] or ["[i]"]
    lines = [f"last{place} = out{place}" for place in places]
    for name in layout.information:
        lines += _entered(layout, f"l_{name}", f"i_{name}[i]")
    return [*lines, "last_returns[i] = returns[i]", "last_lengths[i] = elapsed[i]"]


def _begin(layout: Layout, read: str) -> list[str]:
    if not layout.renews:
        return ["begun = rule_reset(Stream(words, i), params)"]
    return [
        "if fresh[i]:",
        "    begun = rule_reset(Stream(words, i), params)",
        "else:",
        f"    begun = rule_renew(State({read}), Stream(words, i), params)",
        "fresh[i] = False",
    ]


TEMPLATE = f"""
@kept
def run_lanes(first, stop, mode, limit, block, values, <LOOSE>actions, out, rewards, flags):
    n = len(out)
    at = 0
    <VIEWS>
    floats = values_at(values, 0, len(values) // 8, np.float64)
    integers = values_at(values, 0, len(values) // 8, np.int64)
    <CHECK>
    <PARAMS_ONCE>
    count = 0
    for lane in range(first, stop):
        i = unsigned(lane)
        <PARAMS_EACH>
        starts = chosen[i] if mode == {RESET} else ended[i]
        reward, over, cut = 0.0, False, False
        if starts:
            pass
        elif mode == {RESET}:
            state = State(<READ>)
            <SHOW_STATE>
        else:
            after, gain, ends = rule_step(State(<READ>), <ACTION>, Stream(words, i), params)
            <WRITE_AFTER>
            stepped = State(<AFTER>)
            <SHOW_STEPPED>
            reward, over = np.float64(gain), bool(ends)
            elapsed[i] += 1
            returns[i] += reward
            cut = limit > 0 and elapsed[i] >= limit
            if over or cut:
                count += 1
                if mode == {SAME_STEP}:
                    <KEEP>
                    starts = True
                else:
                    ended[i] = True
        if starts:
            <BEGIN>
            <WRITE_BEGUN>
            started = State(<BEGUN>)
            <SHOW_STARTED>
            elapsed[i] = 0
            returns[i] = 0.0
            ended[i] = False
        if mode != {RESET}:
            rewards[i] = reward
            flags[0, i] = over
            flags[1, i] = cut
    return count
"""
