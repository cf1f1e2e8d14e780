"""Chapter 3's widget: two heads with the same weights, one of them run in the layout it was not trained in."""

import numpy as np
from traitlets import Enum, Int

from rope_lab.algebra.arguments import Layout
from rope_lab.algebra.rotation import frequencies, layout_permutation, logits, planes, rotate, rotation_matrix
from rope_lab.show.widgets.kit import Widget, constant, state

__all__ = ["WrongLayout"]

D = 8
REACH = 32  # the largest offset that is drawn
LLAMA = (128, 500_000.0)  # head_dim and base of Llama 3 8B
PAIRS = (  # a query and a key each: what the projections made of two words, before they are turned
    ((0.4, -0.9, 0.8, 0.9, -0.3, 1.0, 0.5, 0.8), (0.9, -0.6, 0.3, 1.0, 0.6, 0.8, -0.7, 0.6)),
    ((0.9, 0.6, 1.0, -0.4, 0.8, 0.7, 0.9, 0.2), (1.0, 0.3, 0.9, 0.2, 0.7, 0.9, 1.0, -0.3)),
    ((-0.7, 0.5, 0.2, 0.9, 1.0, -0.4, 0.6, 0.9), (0.5, 0.9, -0.8, 0.4, 0.9, 0.3, 0.7, 1.0)),
    ((1.0, 0.1, -0.6, 0.7, 0.4, 0.9, -0.8, 0.5), (0.2, 1.0, 0.6, -0.5, 0.9, -0.7, 0.4, 0.8)),
)


class WrongLayout(Widget):
    r"""One query and one key in two heads: interleaved code, as trained, and half-split code with the same weights.

    State: the ``offset`` from query to key, where the query stands (``start``), which ``words`` are compared, and the
    ``weights`` of the second head: "loaded" as they are, or "permuted". ``mean`` is the root of the mean square error
    over all standard normal q and k, over the spread of the right logits,
    $\lVert \mathcal R^{\text{half}}_r - \mathcal R_r \rVert / \sqrt d$ at offset r.

    >>> found = WrongLayout.compute(WrongLayout(offset=0).state())
    >>> found["trained"] == found["run"], round(found["mean"][0], 2), round(found["mean"][16], 2)
    (True, 0.0, 1.23)
    """

    title = "Wrong layout: two heads with the same weights"
    offset = state(Int(0, min=0, max=REACH))
    start = state(Int(0, min=0, max=64))
    words = state(Int(1, min=1, max=len(PAIRS)))
    weights = state(Enum(["loaded", "permuted"], "loaded"))
    pairs = constant(PAIRS)
    llama = constant(LLAMA)

    @staticmethod
    def compute(state: dict) -> dict:
        q, k = np.array(state["pairs"][state["words"] - 1])
        rows = layout_permutation(D) if state["weights"] == "permuted" else np.arange(D)
        theta, m, n = frequencies(D), state["start"], state["start"] + state["offset"]
        heads: list[tuple[str, Layout, np.ndarray]] = [("trained", "interleaved", np.arange(D)), ("run", "half", rows)]
        names, hands, now, curves = {}, {}, {}, {}
        for head, layout, carried in heads:
            at = planes(D, layout=layout)
            turned = [rotate(x[carried], place, theta=theta, layout=layout) for x, place in ((q, m), (k, n))]
            names[head] = carried[at].tolist()
            hands[head] = [[x[pair].tolist() for x in turned] for pair in at]
            now[head] = float(turned[0] @ turned[1])
            one_q, all_k, places = q[None, carried], np.tile(k[carried], (REACH + 1, 1)), np.arange(REACH + 1.0)
            s = logits(one_q, all_k, q_positions=[0.0], k_positions=places, theta=theta, layout=layout)
            curves[head] = s[0].tolist()
        return {
            "names": names,
            "hands": hands,
            **now,
            "curves": curves,
            "mean": [0.0] * (REACH + 1) if state["weights"] == "permuted" else _mean_error(D, 10_000.0),
            "mean_llama": [0.0] * (REACH + 1) if state["weights"] == "permuted" else _mean_error(*state["llama"]),
        }

    def fallback(self) -> str:
        near, far = (self.compute(self.state() | {"offset": offset}) for offset in (0, 16))
        return (
            "Interactive figure: two heads with the same weights compare the same two words. The first head pairs the "
            "components as in training, the second pairs them in the other layout. At offset 0 both logits are "
            f"{near['trained']:.2f}; at offset 16 they are {far['trained']:.2f} and {far['run']:.2f}. On average over "
            f"random words the error grows from 0 to {far['mean'][16]:.2f} of the spread of the logits."
        )


def _mean_error(head_dim: int, base: float) -> list[float]:
    """The error of a logit at each offset: root mean square over random words, over the right one's spread."""
    theta, at = frequencies(head_dim, base=base), np.arange(REACH + 1.0)
    gap = rotation_matrix(at, theta=theta, layout="half") - rotation_matrix(at, theta=theta)
    return (np.linalg.norm(gap, axis=(-2, -1)) / np.sqrt(head_dim)).tolist()
