"""Options of a reset by lanes: `options={"each": {"start": [1, 2, 3]}}` gives every lane a value of its own."""

from collections.abc import Sized

from ludus.core.options import Options
from ludus.errors import InvalidArgument, InvalidType, listing, shorten
from ludus.spaces.kinds import is_dict

__all__ = ["check_each", "lane_options", "part_options"]

EACH = "each"


def lane_options(options: Options | None, lane: int) -> Options | None:
    """What one lane of a batch is to be reset with.

    >>> lane_options({"speed": 2, "each": {"start": [3, 4]}}, 1)
    {'speed': 2, 'start': 4}
    """
    if options is None or EACH not in options:
        return options
    common = {name: value for name, value in options.items() if name != EACH}
    return common | {name: values[lane] for name, values in options[EACH].items()}


def part_options(options: Options | None, lanes: slice) -> Options | None:
    """What some lanes of a batch, which are a batch of their own elsewhere, are to be reset with.

    >>> part_options({"each": {"start": [3, 4, 5]}}, slice(1, 3))
    {'each': {'start': [4, 5]}}
    """
    if options is None or EACH not in options:
        return options
    return {**options, EACH: {name: values[lanes] for name, values in options[EACH].items()}}


def check_each(options: Options | None, lanes: int) -> None:
    """Raise unless `options["each"]`, if it is there, has one value a lane of each of its options."""
    each: object = None if options is None else options.get(EACH)
    if options is None or EACH not in options:
        return
    if not is_dict(each):
        raise InvalidType(f"options['each']: expected a dictionary of lists, one value a lane, got {shorten(each)}")
    twice = sorted(map(str, options.keys() & each.keys()))
    if twice:
        raise InvalidArgument(f"options: expected each option once, got {listing(twice)} for all lanes and for each")
    given: object
    for name, given in each.items():
        values = given
        if not isinstance(values, Sized) or isinstance(values, str | bytes) or is_dict(given):
            got = shorten(given)
            raise InvalidType(f"options['each'][{name!r}]: expected a list of {lanes} values, one a lane, got {got}")
        if len(values) != lanes:
            got = len(values)
            raise InvalidArgument(f"options['each'][{name!r}]: expected {lanes} values, one a lane, got {got}")
