"""The opener of chapter 14: one model, trained again and again with another seed, and where each run ends."""

import traitlets
from traitlets import Int

from rope_lab.chapters.ch14_tiny_gpt.exercises import same_model
from rope_lab.show.widgets.kit import Widget, constant, state

__all__ = ["SeedSpread"]

RUNS = 8  # the seeds of the plan's conclusions


class SeedSpread(Widget):
    """The final losses of the first n runs of one model, and how far the best and the worst of them are apart.

    State: the number n of ``runs``, in the order of their seeds.

    >>> SeedSpread.compute(SeedSpread(runs=1).state())["apart"]
    0.0
    """

    title = "One model, trained with eight seeds"
    runs = state(Int(1, min=1, max=RUNS))
    losses = constant([])

    @traitlets.default("losses")
    def _committed(self) -> list[float]:
        return [round(loss, 5) for _, loss in sorted(same_model().items())]

    @staticmethod
    def compute(state: dict) -> dict:
        seen = state["losses"][: state["runs"]]
        return {"low": min(seen), "high": max(seen), "apart": max(seen) - min(seen)}

    def fallback(self) -> str:
        values = self.compute(self.state() | {"runs": RUNS})
        return (
            f"Interactive figure: {RUNS} runs of one model, of which only the seed differs, end between "
            f"{values['low']:.3f} and {values['high']:.3f} nats per token, {values['apart']:.3f} apart."
        )
