"""A published Llama of 260,032 parameters runs in the browser: its rotation as trained and altered, side by side."""

from __future__ import annotations

import zlib
from collections.abc import Sequence
from functools import cache

import numpy as np
import torch
import traitlets
from traitlets import Bool, Enum, Float, Int, Unicode

from rope_lab.show.widgets.kit import Widget, state
from rope_lab.story.knobs import Knobs
from rope_lab.story.pieces import BOS, FIRST
from rope_lab.story.reading import greedy, logits, losses, turns
from rope_lab.story.shipped import load_story, shipped, story_tokenizer

__all__ = ["Story", "weights"]

ROUNDINGS = ["none", "bfloat16", "float16"]


@cache
def weights() -> bytes:
    """The weights that the script reads: a safetensors file of float16 numbers."""
    return shipped("weights.safetensors")


def knobs_of(state: dict) -> Knobs:
    """The knobs of the model, from the state of the widget."""
    return Knobs(
        shift=state["shift"],
        layout=state["pairing"],
        direction=-1 if state["backwards"] else 1,
        base=float(state["base"]),
        frozen=(state["frozen"],) if state["frozen"] else (),
        stretch=state["stretch"],
        none=state["none"],
        round_angles=state["round_angles"],
        round_positions=state["round_positions"],
        scaling=state["scaling"],
        factor=state["factor"] if state["scaling"] != "none" else 1.0,
        window=int(state["window"]),
        sinks=4 if state["sinks"] else 0,
        returned=state["returned"],
    )


@cache
def transcript(prompt: str, n_tokens: int, knobs: Knobs) -> dict:
    """Both texts as tokens, the likeliest at each step, and what the script measures on the text as trained."""
    model, asked = load_story(dtype=torch.float64), story_tokenizer().encode(prompt)
    both = {"trained": Knobs(), "altered": knobs}
    told = {side: _told(asked, n_tokens, own) for side, own in both.items()}
    text = torch.tensor([told["trained"]])
    scores = [logits(model, text[:, :-1], knobs=own) for own in both.values()]
    return {
        **told,
        "prompt": len(asked),
        "losses": {side: losses(model, text, knobs=own)[0].tolist() for side, own in both.items()},
        "change": float((scores[1] - scores[0]).abs().max()),
    }


def _told(tokens: list[int], n_tokens: int, knobs: Knobs) -> list[int]:
    """So many tokens more: after the end of a story the next one begins."""
    model, end = load_story(dtype=torch.float64), len(tokens) + n_tokens
    while len(tokens := greedy(model, tokens, n_tokens=end - len(tokens), knobs=knobs)) < end:
        tokens = [*tokens, BOS]
    return tokens


class Story(Widget):
    r"""Two texts of one model from the same prompt: as it was trained, and with its rotation altered.

    The state holds the knobs of `rope_lab.story.Knobs` under names that a figure can have: ``pairing`` for its layout,
    ``backwards`` for the direction -1, ``frozen`` for one plane at most; and the prompt, how many tokens are written,
    temperature and seed, and which ``query`` and ``key`` of which ``layer`` and ``head`` are looked at.

    Args:
        knobs: The names of the state that a reader can move; none: all of them, in groups, with buttons for symptoms.
        curve: Show the loss along the text as a curve.
        values: The state at the start.

    >>> "With its rotation altered (shift)" in Story(knobs=("shift",), shift=1000).fallback()
    True
    >>> state = Story(query=3, key=3, shift=9).state()
    >>> Story.compute(state)["query"] == Story.compute(state)["key"]
    True
    """

    title = "A small model you can break: two texts from one prompt"
    prompt = state(Unicode("Once upon a time"))
    n_tokens = state(Int(64, min=16, max=1024))
    temperature = state(Float(0.0, min=0, max=1.5))
    seed = state(Int(1, min=1, max=50))
    shift = state(Int(0, min=0, max=100_000))
    stretch = state(Float(1.0, min=0, max=4))
    pairing = state(Enum(["interleaved", "half"], "interleaved"))
    backwards = state(Bool(False))
    none = state(Bool(False))
    frozen = state(Int(0, min=0, max=4))
    base = state(Int(10_000, min=100, max=1_000_000))
    round_positions = state(Enum(ROUNDINGS, "none"))
    round_angles = state(Enum(ROUNDINGS, "none"))
    scaling = state(Enum(["none", "linear", "ntk", "yarn"], "none"))
    factor = state(Float(4.0, min=1, max=16))
    window = state(Enum(["0", "8", "64", "256"], "0"))
    sinks = state(Bool(False))
    returned = state(Bool(False))
    layer = state(Int(1, min=1, max=5))
    head = state(Int(1, min=1, max=8))
    query = state(Int(12, min=0, max=63))
    key = state(Int(11, min=0, max=63))
    _knobs = traitlets.List(traitlets.Unicode()).tag(sync=True)
    _curve = Bool(True).tag(sync=True)
    _pieces: traitlets.List = traitlets.List().tag(sync=True)
    _check_sum = Int().tag(sync=True)
    _transcript = traitlets.Dict().tag(sync=True)

    def __init__(self, *, knobs: Sequence[str] = (), curve: bool = True, **values) -> None:
        super().__init__(**values)
        self._knobs, self._curve = list(knobs), curve
        self._pieces = list(story_tokenizer().pieces[FIRST:])
        self._check_sum = zlib.crc32(weights())
        self.on_msg(self._answer)

    @staticmethod
    def compute(state: dict) -> dict:
        """Cosines and sines of the four planes, where the query stands and where the key stands."""
        query, key = turns(np.array([state["query"], state["key"]]), knobs_of(state))
        return {"query": query.tolist(), "key": key.tolist()}

    def fallback(self) -> str:
        told = self._texts()
        texts = {side: story_tokenizer().decode(told[side]) for side in ("trained", "altered")}
        quoted = {side: " ".join(text.split()).replace('"', "”").replace("'", "’") for side, text in texts.items()}
        altered = ", ".join(knobs_of(self.state()).altered) or "nothing"
        loss = {side: f"{np.mean(found):.2f}" for side, found in told["losses"].items()}
        return (
            f"Interactive figure: one small model continues one prompt twice. As it was trained: “{quoted['trained']}” "
            f"With its rotation altered ({altered}): “{quoted['altered']}” On the first text the mean loss is "
            f"{loss['trained']} nats as trained and {loss['altered']} altered."
        )

    def transcribe(self) -> None:
        """Put both texts into the state, so that they stand there before the model is loaded."""
        self._transcript = self._texts()

    def _texts(self) -> dict:
        if self.temperature:
            raise ValueError(f"temperature: expected 0 at the start, got {self.temperature}; a reader may raise it")
        return transcript(self.prompt, self.n_tokens, knobs_of(self.state()))

    def _ipython_display_(self) -> None:
        self.transcribe()
        super()._ipython_display_()

    def _answer(self, _: object, message: object, __: object) -> None:
        """Hand the weights to a script in a notebook, which asks for them at the reader's first touch."""
        if message == "weights":
            self.send("weights", [weights()])
