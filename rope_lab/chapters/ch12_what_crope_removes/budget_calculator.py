"""Chapter 12's first widget: how many parameters a complex-linear block saves, and half of what that is."""

from traitlets import Bool, Enum, Float, Int

from rope_lab.algebra import budget
from rope_lab.show.widgets.kit import Widget, state

__all__ = ["BudgetCalculator"]

PARTS: tuple[budget.Part, ...] = ("qkv", "attention", "block", "model")


class BudgetCalculator(Widget):
    r"""Four answers to "how much is saved": of Q, K and V, of attention, of the block, of the model.

    State: ``log_width`` (the stream has two to this power coordinates), ``layers``, ``mlp`` (its weights, in units of
    the width squared), ``vocab`` in thousands, ``tied``, ``bias`` (biases and norms), and which ``reading`` of the
    paper's section 5.1. Values: the parameters of the dense model in each part, what is saved there, and the share.

    >>> values = BudgetCalculator.compute(BudgetCalculator().state())
    >>> values["share"][:3]
    [0.5, 0.375, 0.125]
    """

    title = "Budget calculator: half of what?"
    log_width = state(Int(7, min=5, max=14))
    layers = state(Int(4, min=1, max=128))
    mlp = state(Float(8.0, min=0.0, max=16.0))
    vocab = state(Int(50, min=0, max=256))
    tied = state(Bool(default_value=True))
    bias = state(Bool(default_value=False))
    reading = state(Enum(["qkv", "qkvo", "narrow"], default_value="qkv"))

    @staticmethod
    def compute(state: dict) -> dict:
        width = 2 ** state["log_width"]
        shape = budget.ModelShape(
            width=width,
            heads=1,
            layers=state["layers"],
            vocab=1000 * state["vocab"],
            tied=state["tied"],
            mlp_width=round(state["mlp"] * width / 2),
            bias=state["bias"],
            norms=state["bias"],
        )
        dense = budget.parameters(shape)
        whole = [sum(dense[role] for role in budget.PARTS[part]) for part in PARTS]
        share = [budget.saving(shape, state["reading"], of=part) for part in PARTS]
        return {
            "whole": whole,
            "saved": [int(w * s) for w, s in zip(whole, share, strict=True)],
            "share": [float(s) for s in share],
        }

    def fallback(self) -> str:
        qkv, attention, block, model = (f"{100 * share:.1f} %" for share in self.compute(self.state())["share"])
        return (
            f"Interactive figure: four bars for one saving. In a decoder of {self.layers} layers and width "
            f"{2**self.log_width}, complex-linear projections save {qkv} of Q, K and V, {attention} of attention, "
            f"{block} of the block and {model} of the whole model with its vocabulary of {self.vocab} thousand."
        )
