"""Affine maps of the plane: what `canvas.transform` puts between a drawing's numbers and the picture's."""

import math
from typing import NamedTuple

from ludus.rendering.frame import Floats

__all__ = ["IDENTITY", "Matrix"]


class Matrix(NamedTuple):
    """Maps (x, y) to (a·x + c·y + e, b·x + d·y + f): the six numbers and their order are SVG's.

    >>> Matrix.of(translate=(10, 0), scale=(2, 2)).map(1, 1)
    (12.0, 2.0)
    """

    a: float = 1.0
    b: float = 0.0
    c: float = 0.0
    d: float = 1.0
    e: float = 0.0
    f: float = 0.0

    @classmethod
    def of(
        cls,
        translate: tuple[float, float] = (0.0, 0.0),
        rotate: float = 0.0,
        scale: tuple[float, float] = (1.0, 1.0),
    ) -> "Matrix":
        """Scale first, then rotate, then translate: an object drawn around (0, 0) is turned and put in its place."""
        cosine, sine = (1.0, 0.0) if rotate == 0.0 else (math.cos(rotate), math.sin(rotate))
        across, down = scale
        return cls(
            cosine * across, sine * across, -sine * down, cosine * down, float(translate[0]), float(translate[1])
        )

    def after(self, inner: "Matrix") -> "Matrix":
        """The map that applies `inner` first and this one second."""
        a, b, c, d, e, f = self
        return Matrix(
            a * inner.a + c * inner.b,
            b * inner.a + d * inner.b,
            a * inner.c + c * inner.d,
            b * inner.c + d * inner.d,
            a * inner.e + c * inner.f + e,
            b * inner.e + d * inner.f + f,
        )

    def map(self, x: float, y: float) -> tuple[float, float]:
        """Where one point goes."""
        return self.a * x + self.c * y + self.e, self.b * x + self.d * y + self.f

    def map_points(self, points: Floats) -> Floats:
        """Where the rows of an (n, 2) array go; elementwise, since a BLAS may round differently on another machine."""
        mapped = points * (self.a, self.d)
        if self.b or self.c:
            mapped += points[:, ::-1] * (self.c, self.b)
        mapped += (self.e, self.f)
        return mapped

    def inverse(self) -> "Matrix":
        """The map back; the determinant must not be zero."""
        a, b, c, d, e, f = self
        over = 1.0 / self.determinant
        return Matrix(d * over, -b * over, -c * over, a * over, (c * f - d * e) * over, (b * e - a * f) * over)

    @property
    def determinant(self) -> float:
        """The factor by which areas grow; negative when the map mirrors."""
        return self.a * self.d - self.b * self.c

    @property
    def magnification(self) -> float:
        """The factor by which lengths grow, on average over the directions."""
        return math.sqrt(abs(self.determinant))

    @property
    def is_upright(self) -> bool:
        """Whether rectangles with horizontal sides stay such, unmirrored."""
        return self.b == 0.0 and self.c == 0.0 and self.a > 0.0 and self.d > 0.0


IDENTITY = Matrix()
