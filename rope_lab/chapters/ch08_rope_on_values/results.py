"""What the cards of ``how-long-ago`` say. Its plan stands in ``task.py``."""

from dataclasses import replace

from rope_lab.training.results.equivalence import Finding, small_task


def turned_values() -> list[Finding]:
    """The plan's comparisons, turned values minus none, for each question; empty while a card is missing."""
    pairs = [("QKVO", "QK"), ("VO", "nothing")]
    asked = [
        (f"{question}, {one}", f"{question}, {other}") for question in ("elapsed", "colour") for one, other in pairs
    ]
    return [replace(found, name=found.name.replace("nothing", "NoPE")) for found in small_task("how-long-ago", asked)]
