"""What Ludus uses of stockstats, which has no types of its own."""

import pandas as pd

class StockDataFrame(pd.DataFrame):
    @staticmethod
    def retype(value: pd.DataFrame, index_column: str | None = None) -> StockDataFrame: ...
