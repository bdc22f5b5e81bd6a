"""`PriceTable`: a CSV with FinRL's columns, cleaned and with features as FinRL's FeatureEngineer gives them."""

import csv
from functools import lru_cache
from pathlib import Path
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from ludus.envs.open.finrl.indicators import KNOWN, turbulence_of
from ludus.envs.open.finrl.stockstats_features import stockstats_feature
from ludus.errors import InvalidArgument, listing, shorten

__all__ = ["PriceTable", "read_prices"]

Numbers = npt.NDArray[np.float64]
NEEDED = ("date", "tic", "close")
BARS = ("open", "high", "low", "close", "volume")


class PriceTable(NamedTuple):
    """Days × stocks, sorted by date and by name.

    >>> table = PriceTable(("2024-01-02",), ("A",), np.ones((1, 1)), np.zeros((1, 4, 1)), np.zeros(1))
    >>> table.tickers
    ('A',)
    """

    dates: tuple[str, ...]
    tickers: tuple[str, ...]
    closes: Numbers
    indicators: Numbers
    """Day by day, indicator by indicator, stock by stock."""
    turbulence: Numbers


def read_prices(path: str, indicators: tuple[str, ...]) -> PriceTable:
    """The table of a file; kept as long as the file is the same, since every session reads it."""
    try:
        about = Path(path).stat()
    except OSError as error:
        raise InvalidArgument(f"data_path: expected a CSV file, got {shorten(path)}: {error.strerror}") from None
    return _read(path, indicators, (about.st_mtime_ns, about.st_size, about.st_ino))


@lru_cache(maxsize=8)
def _read(path: str, indicators: tuple[str, ...], version: tuple[int, ...]) -> PriceTable:
    del version
    rows = _rows(path)
    dates = tuple(sorted({day for day, _ in rows}))
    every = sorted({tic for _, tic in rows})
    # As FinRL cleans data: a stock that lacks a day is left out.
    tickers = tuple(tic for tic in every if all((day, tic) in rows for day in dates))
    if not tickers or len(dates) < 2:
        raise InvalidArgument(
            f"{path}: expected at least two days and a stock with a price on each of them, got {len(dates)} days, "
            f"and {len(every)} stocks of which each lacks some"
        )
    names = list(next(iter(rows.values())))
    columns = {
        name: np.array([[rows[day, tic].get(name, np.nan) for tic in tickers] for day in dates]) for name in names
    }
    if not (columns["close"] > 0).all():
        raise InvalidArgument(f"{path}: expected closing prices above 0, got {columns['close'].min()}")
    features = [_filled(_feature(name, columns, path)) for name in indicators]
    turbulence = columns["turbulence"][:, 0] if "turbulence" in columns else turbulence_of(columns["close"])
    shape = len(dates), len(indicators), len(tickers)
    table = np.stack(features, axis=1) if features else np.zeros(shape)
    return PriceTable(dates, tickers, columns["close"], table, np.nan_to_num(turbulence))


def _rows(path: str) -> dict[tuple[str, str], dict[str, float]]:
    """The numbers of each row by date and stock; rows without a closing price are none."""
    found: dict[tuple[str, str], dict[str, float]] = {}
    with Path(path).open(newline="", encoding="utf8") as file:
        reader = csv.DictReader(file)
        missing = [name for name in NEEDED if name not in (reader.fieldnames or ())]
        if missing:
            raise InvalidArgument(
                f"{path}: expected FinRL's columns date, tic, open, high, low, close and volume, "
                f"got no {listing(missing)}"
            )
        for number, row in enumerate(reader, start=2):
            if row["close"]:
                found[row["date"], row["tic"]] = _numbers(row, f"{path}, line {number}")
    return found


def _numbers(row: dict[str, str], where: str) -> dict[str, float]:
    found: dict[str, float] = {}
    for name, text in row.items():
        if name in ("date", "tic") or not name:
            continue
        try:
            found[name] = float(text) if text else np.nan
        except (TypeError, ValueError):
            if name in BARS:
                raise InvalidArgument(f"{where}: expected a number as {name}, got {shorten(text)}") from None
    return found


def _feature(name: str, columns: dict[str, Numbers], path: str) -> Numbers:
    """A column of the file, or what is computed from its bars."""
    if name in columns:
        return columns[name]
    missing = [bar for bar in ("high", "low") if bar not in columns]
    if missing:
        raise InvalidArgument(f"{path}: expected the column {name}, or high and low to compute it, got neither")
    if name in KNOWN:
        return KNOWN[name](columns["high"], columns["low"], columns["close"])
    stocks = columns["close"].shape[1]
    bars = [{bar: columns[bar][:, stock] for bar in BARS if bar in columns} for stock in range(stocks)]
    return np.stack([stockstats_feature(name, one) for one in bars], axis=1)


def _filled(values: Numbers) -> Numbers:
    """Without gaps: as FinRL fills them, by the row before in order of date and stock, else by the row after."""
    flat = values.ravel().copy()
    for row in range(1, len(flat)):
        if np.isnan(flat[row]):
            flat[row] = flat[row - 1]
    for row in range(len(flat) - 2, -1, -1):
        if np.isnan(flat[row]):
            flat[row] = flat[row + 1]
    return np.nan_to_num(flat).reshape(values.shape)
