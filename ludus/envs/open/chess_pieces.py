"""Chess pieces as outlines, on a square from 0 to 100."""

from ludus.rendering import Canvas

__all__ = ["draw_piece"]

Points = list[tuple[float, float]]
BASE: Points = [(24, 86), (76, 86), (76, 78), (70, 72), (30, 72), (24, 78)]
OUTLINES: dict[str, list[Points]] = {
    "p": [[(34, 72), (42, 46), (58, 46), (66, 72)]],
    "r": [[(32, 72), (35, 38), (30, 34), (30, 18), (40, 18), (40, 25), (45, 25), (45, 18), (55, 18), (55, 25), (60, 25),
           (60, 18), (70, 18), (70, 34), (65, 38), (68, 72)]],
    "n": [[(32, 72), (38, 56), (48, 48), (34, 52), (26, 54), (22, 46), (36, 30), (40, 20), (46, 14), (48, 21), (62, 28),
           (70, 42), (72, 72)]],
    "b": [[(36, 72), (42, 58), (34, 48), (38, 34), (50, 18), (62, 34), (66, 48), (58, 58), (64, 72)]],
    "q": [[(32, 72), (20, 30), (34, 48), (36, 22), (46, 46), (50, 18), (54, 46), (64, 22), (66, 48), (80, 30),
           (68, 72)]],
    "k": [[(32, 72), (22, 50), (28, 38), (42, 38), (48, 46), (48, 28), (40, 28), (40, 21), (47, 21), (47, 13), (53, 13),
           (53, 21), (60, 21), (60, 28), (52, 28), (52, 46), (58, 38), (72, 38), (78, 50), (68, 72)]],
}  # fmt: skip
DOTS: dict[str, list[tuple[float, float, float]]] = {
    "p": [(50, 34, 13)],
    "b": [(50, 15, 5)],
    "q": [(20, 27, 5), (36, 19, 5), (50, 15, 5), (64, 19, 5), (80, 27, 5)],
}


def draw_piece(canvas: Canvas, x: float, y: float, size: float, sign: str) -> None:
    """The piece that a letter stands for, White's in capitals, on a square whose top left corner is (x, y)."""
    fill, edge = ("#fdfdf8", "#3b3b3b") if sign.isupper() else ("#2b2b2b", "#e8e8e0")
    kind, unit = sign.lower(), size / 100
    for points in (*OUTLINES.get(kind, []), BASE):
        placed = [(x + px * unit, y + py * unit) for px, py in points]
        canvas.polygon(placed, fill=fill, stroke=edge, stroke_width=max(1.0, 2 * unit))
    for px, py, radius in DOTS.get(kind, []):
        canvas.circle(
            x + px * unit, y + py * unit, radius * unit, fill=fill, stroke=edge, stroke_width=max(1.0, 2 * unit)
        )
