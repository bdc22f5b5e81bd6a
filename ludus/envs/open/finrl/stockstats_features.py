"""Any other indicator of stockstats, called as FinRL calls it: the one file that needs `ludus-rl[finance]`."""

import numpy as np
import numpy.typing as npt

from ludus.errors import InvalidArgument, MissingExtra, shorten

__all__ = ["stockstats_feature"]


def stockstats_feature(name: str, columns: dict[str, npt.NDArray[np.float64]]) -> npt.NDArray[np.float64]:
    """An indicator of one stock; raises MissingExtra without stockstats, InvalidArgument where it knows none such."""
    try:
        # Opened when asked for: pandas takes half a second.
        import pandas as pd
        import stockstats
    except ModuleNotFoundError as error:
        raise MissingExtra(
            f"indicator {name!r}: expected the package stockstats, got none; "
            'pip install "ludus-rl[finance]", or use macd, rsi_30, cci_30 and dx_30, which need nothing',
            name="stockstats",
        ) from error
    frame = stockstats.StockDataFrame.retype(pd.DataFrame(columns))
    try:
        return np.asarray(frame[name], np.float64)
    except (KeyError, ValueError, TypeError, IndexError, AttributeError, UserWarning) as error:
        raise InvalidArgument(
            f"indicators: expected columns of the file or names that stockstats knows, got {name!r}: "
            f"{shorten(str(error), 100)}"
        ) from None
