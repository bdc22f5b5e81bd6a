"""The picture of trading: prices since the first day, the account, and a row for each stock with its buttons."""

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from ludus.rendering import Canvas
from ludus.spaces.array_space import Array

__all__ = ["HEIGHT", "WIDTH", "button_places", "finrl_picture"]

WIDTH, HEIGHT = 720, 440
LEFT, TOP, CHART, DEEP = 60, 34, 330, 240
ROWS = 12
"""Stocks that have a row; more of them are only in the chart."""
SIDE = 420
COLORS = ("#4c6ef5", "#e8590c", "#2f9e44", "#9c36b5", "#0c8599", "#c2255c", "#5c940d", "#1864ab", "#a61e4d", "#66a80f")
INK, PALE, LINE = "#343a40", "#868e96", "#dee2e6"
BUY, SELL = "#2f9e44", "#e03131"


def row_of(number: int, stocks: int) -> float:
    """The middle of a stock's row."""
    return TOP + 22 + (number + 0.5) * min(34.0, (HEIGHT - TOP - 34) / max(1, min(stocks, ROWS)))


def button_places(stocks: int) -> list[tuple[float, float, float, float, int, int]]:
    """Where the buttons are: x, y, width and height, the stock, and 1 to buy or -1 to sell; -1 is no stock: wait."""
    places = [
        (x, row_of(stock, stocks) - 10, 36.0, 20.0, stock, sign)
        for stock in range(min(stocks, ROWS))
        for x, sign in ((634.0, -1), (674.0, 1))
    ]
    return [*places, (634.0, 8.0, 76.0, 20.0, -1, 0)]


def finrl_picture(
    tickers: Sequence[str], history: npt.ArrayLike, values: Sequence[float], holdings: npt.ArrayLike, cash: float, *,
    date: str = "", buttons: bool = False,
) -> Canvas:  # fmt: skip
    """Prices of `history`, day by day and stock by stock, as parts of its first day, and the account beside them."""
    canvas = Canvas(WIDTH, HEIGHT, background="white")
    value = values[-1] if len(values) else cash
    canvas.text(LEFT, 12, f"{date or 'last days'}", size=14, color=INK, bold=True)
    canvas.text(LEFT + CHART, 12, f"{value:,.0f}", size=14, color=INK, anchor="top right", bold=True)
    days = np.asarray(history)
    if len(days):
        _chart(canvas, days / days[0], TOP, DEEP, COLORS)
        _chart(canvas, np.asarray(values, float)[:, None] / values[0], TOP + DEEP + 28, 110, (INK,))
        canvas.text(LEFT, TOP + DEEP + 16, "the account", size=11, color=PALE)
    _account(canvas, tickers, days, np.asarray(holdings), cash)
    if buttons:
        _buttons(canvas, len(tickers))
    return canvas


def _chart(canvas: Canvas, lines: Array, top: float, deep: float, colors: Sequence[str]) -> None:
    low, high = float(lines.min()), float(lines.max())
    spread = max(high - low, 0.02)
    middle = (low + high) / 2
    low, high = middle - spread * 0.55, middle + spread * 0.55
    for part in (0.0, 0.5, 1.0):
        y = top + part * deep
        level = high - part * (high - low)
        canvas.line(LEFT, y, LEFT + CHART, y, color=LINE)
        canvas.text(LEFT - 6, y, f"{(level - 1) * 100:+.1f}%", size=10, color=PALE, anchor="right")
    days = max(len(lines) - 1, 1)
    for number in range(lines.shape[1]):
        points = [
            (LEFT + CHART * day / days, top + deep * (high - one) / (high - low))
            for day, one in enumerate(lines[:, number].tolist())
        ]
        if len(points) > 1:
            canvas.polyline(points, color=colors[number % len(colors)], width=1.6)
        canvas.circle(*points[-1], 2.5, fill=colors[number % len(colors)])


def _account(canvas: Canvas, tickers: Sequence[str], history: Array, holdings: Array, cash: float) -> None:
    canvas.text(SIDE, 12, f"cash {cash:,.0f}", size=13, color=INK)
    for x, title in ((SIDE + 110, "price"), (SIDE + 158, "shares"), (SIDE + 206, "worth")):
        canvas.text(x, TOP + 4, title, size=10, color=PALE, anchor="top right")
    for number, name in enumerate(tickers[:ROWS]):
        y, price, shares = row_of(number, len(tickers)), float(history[-1, number]), float(holdings[number])
        canvas.circle(SIDE + 5, y, 5, fill=COLORS[number % len(COLORS)])
        canvas.text(SIDE + 16, y, name[:7], size=13, color=INK, anchor="left", bold=True)
        for x, text in ((110, f"{price:,.1f}"), (158, f"{shares:,.0f}"), (206, f"{price * shares / 1000:,.0f}k")):
            canvas.text(SIDE + x, y, text, size=12, color=INK, anchor="right")


def _buttons(canvas: Canvas, stocks: int) -> None:
    for x, y, width, height, stock, sign in button_places(stocks):
        color = INK if stock < 0 else BUY if sign > 0 else SELL
        text = "next day" if stock < 0 else "buy" if sign > 0 else "sell"
        canvas.rectangle(x, y, width, height, radius=5, fill=color)
        canvas.text(x + width / 2, y + height / 2, text, size=12, color="white", anchor="center", bold=True)
