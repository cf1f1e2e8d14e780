"""What the cards of ``linear-attention`` say. Its plan stands in ``task.py``."""

from rope_lab.training.results.equivalence import Finding, small_task


def two_matrices() -> list[Finding]:
    """The plan's comparisons, two matrices minus none, for each feature map; empty while a card is missing."""
    pairs = [(f"{feature}, two matrices", f"{feature}, none") for feature in ("relu", "elu + 1")]
    return small_task("linear-attention", pairs)
