"""Chapter 19's widget: the frequencies of every plane under each schedule, and the turns that it made in training."""

import numpy as np
from traitlets import Enum, Float

from rope_lab.algebra.frequency_schedules import NTK, Linear, Llama3, Schedule, Yarn
from rope_lab.algebra.longer_texts import reach
from rope_lab.algebra.schedule import turns
from rope_lab.show.widgets.kit import Widget, constant, state

__all__ = ["ScheduleLines"]

WIDTH, BASE = 128, 500000.0  # a head of Llama 3 8B
SCHEMES = {"none": "none", "linear": "interpolation", "NTK": "NTK-aware", "Llama 3": "Llama 3", "YaRN": "YaRN"}
WINDOWS = ("2048", "4096", "8192", "32768")


class ScheduleLines(Widget):
    r"""A text of ``2 ** log_windows`` trained windows, read under one of five schedules.

    State: ``log_windows``, whose power of two is the length of the text in windows and the factor of each schedule;
    ``window``, the length of the training; ``scheme``. Values: ``count``, how many planes meet new angles on the way.

    >>> values = ScheduleLines.compute(ScheduleLines(log_windows=3.0, scheme="NTK").state())
    >>> values["count"], round(values["reach"], 2)
    (28, 3.17)
    """

    title = "The frequencies of a head under each schedule"
    log_windows = state(Float(0.0, min=0.0, max=4.0))
    window = state(Enum(list(WINDOWS), default_value="8192"))
    scheme = state(Enum(list(SCHEMES), default_value="none"))
    base = constant(BASE)
    planes = constant(WIDTH // 2)

    @staticmethod
    def compute(state: dict) -> dict:
        s, window = 2.0 ** state["log_windows"], int(state["window"])
        schedules = {
            "none": Schedule(),
            "linear": Linear(factor=s),
            "NTK": NTK(factor=s),
            "Llama 3": Llama3(factor=s, window=window),
            "YaRN": Yarn(factor=s, window=window),
        }
        lists = {name: each.frequencies(2 * state["planes"], base=state["base"]) for name, each in schedules.items()}
        trained, used = lists["none"], lists[state["scheme"]]
        new = (turns(window, theta=trained) < 1) & (s * used > trained * (1 + 1e-9))
        return {
            "lines": {name: np.log10(theta).tolist() for name, theta in lists.items()},
            "turns": turns(window, theta=trained).tolist(),
            "new": new.tolist(),
            "count": int(new.sum()),
            "reach": reach(used, trained=trained, window=window) / window,
            "neighbours": float(used[0]),
        }

    def fallback(self) -> str:
        shown = {**self.state(), "log_windows": self.log_windows or 3.0}
        told = {words: self.compute({**shown, "scheme": name}) for name, words in SCHEMES.items()}
        words = "; ".join(
            f"{name}: {values['count']} planes meet new angles, neighbours {values['neighbours']:.2f} rad apart"
            for name, values in told.items()
        )
        return (
            f"Interactive figure: the frequencies of {self.planes} planes under five schedules, for a text of "
            f"{2 ** shown['log_windows']:.0f} windows of {int(self.window):,} tokens. {words}. Below it, the turns "
            "that each plane made in training."
        )
