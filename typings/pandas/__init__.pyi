"""What Ludus uses of pandas, which is much less than its own stubs would describe."""

from collections.abc import Mapping, Sequence

import numpy.typing as npt

class Series: ...

class DataFrame:
    def __init__(self, data: Mapping[str, Sequence[object] | npt.NDArray[object]] | None = None) -> None: ...
    def __getitem__(self, key: str) -> Series: ...
