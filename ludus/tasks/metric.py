"""Metrics whose better end everybody knows, so that a task file need not say which it is."""

from typing import Literal

from ludus.errors import InvalidArgument, listing, shorten

__all__ = ["Direction", "direction_of"]

Direction = Literal["maximize", "minimize"]
UP = frozenset(
    {"accuracy", "auc", "auroc", "average_precision", "bleu", "f1", "iou", "map", "ndcg", "precision", "r2", "recall"}
    | {"return", "reward", "reward_mean", "score", "spearman", "speedup", "success_rate", "win_rate"}
)
DOWN = frozenset(
    {"bits_per_character", "brier", "cost", "cross_entropy", "decisions", "error", "error_rate", "length", "log_loss"}
    | {"loss", "mae", "mape", "mse", "perplexity", "rmse", "rmsle", "seconds", "time", "val_loss", "wer"}
)


def direction_of(metric: str) -> Direction:
    """The usual direction of a metric; InvalidArgument where nobody could know.

    >>> direction_of("RMSE"), direction_of("accuracy")
    ('minimize', 'maximize')
    """
    plain = metric.strip().lower().replace(" ", "_").replace("-", "_")
    if plain in UP:
        return "maximize"
    if plain in DOWN:
        return "minimize"
    raise InvalidArgument(
        f"evaluation.direction: expected 'maximize' or 'minimize' for a metric that is none of "
        f"{listing(sorted(UP | DOWN), 50)}, got none for {shorten(metric)}"
    )
