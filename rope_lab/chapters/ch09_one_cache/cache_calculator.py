"""Chapter 9's widget: what each scheme keeps for a token, and how many texts fit into a machine's memory."""

from traitlets import Bool, Enum, Float, Int, List

from rope_lab.algebra.cache_size import MODELS, SCHEMES, CacheShape, bytes_per_token, numbers_per_token
from rope_lab.show.widgets.kit import Widget, constant, state

__all__ = ["MEMORY", "CacheCalculator"]

MEMORY = 80 * 2**30  # bytes
FIELDS = ("layers", "heads", "kv_heads", "head_dim", "latent", "rope")
SHOWN = ("GPT-3 175B", "PaLM 540B", "Llama 2 7B", "Llama 3 8B", "Llama 3 70B", "DeepSeek-V3")


def _presets() -> list[dict]:
    """The shapes behind the buttons; a model without a latent is shown with the latent of DeepSeek's width."""
    return [
        {"name": shape.name, "built": shape.built, "latent": shape.latent or 512, "rope": shape.rope or 64}
        | {field: getattr(shape, field) for field in FIELDS[:4]}
        for shape in MODELS
        if shape.name in SHOWN
    ]


class CacheCalculator(Widget):
    """Bytes of cache in five schemes: MHA, GQA, MQA, MLA and the shared latent, in this order.

    State: the shape, which is that of Llama 3 8B at first, with a latent of DeepSeek's width beside it; ``log_context``
    (a text has two to this power tokens); ``size``, a number's bytes, as text; ``told``, whether the number of texts
    that fit is shown.

    >>> values = CacheCalculator.compute(CacheCalculator().state())
    >>> [bytes // 1024 for bytes in values["per_token"]], values["fit"]
    ([512, 128, 16, 36, 32], [20, 80, 640, 284, 320])
    """

    title = "Cache calculator: what a token leaves behind"
    layers = state(Int(32, min=1, max=128))
    heads = state(Int(32, min=1, max=128))
    kv_heads = state(Int(8, min=1, max=128))
    head_dim = state(Int(128, min=32, max=256))
    latent = state(Int(512, min=64, max=2048))
    rope = state(Int(64, min=0, max=128))
    log_context = state(Float(13.0, min=10.0, max=20.0))
    size = state(Enum(["1", "2", "4"], default_value="2"))
    told = state(Bool(default_value=False))
    memory = constant(MEMORY)
    _presets: List = List().tag(sync=True)

    def __init__(self, **values) -> None:
        super().__init__(**values)
        self._presets = _presets()

    @staticmethod
    def compute(state: dict) -> dict:
        groups, size = min(state["kv_heads"], state["heads"]), int(state["size"])
        common = {name: state[name] for name in ("layers", "head_dim", "latent", "rope")}
        whole, grouped = (CacheShape("", heads=heads, kv_heads=heads, **common) for heads in (state["heads"], groups))
        shapes = {scheme: grouped if scheme == "gqa" else whole for scheme in SCHEMES}
        numbers = [numbers_per_token(scheme, shape) for scheme, shape in shapes.items()]
        per_token = [bytes_per_token(scheme, shape, size=size) for scheme, shape in shapes.items()]
        text = [b * 2 ** state["log_context"] for b in per_token]
        return {
            "numbers": numbers,
            "per_token": per_token,
            "text": text,
            "share": [n / numbers[0] for n in numbers],
            "fit": [int(MEMORY // b) for b in text],
        }

    def fallback(self) -> str:
        values = self.compute(self.state())
        mha, gqa, _, mla, shared = (f"{b / 1024:,.0f} KiB" for b in values["per_token"])
        return (
            f"Interactive figure: five bars, one for each way to cache. In a model of {self.layers} layers with "
            f"{self.heads} heads of width {self.head_dim}, one token takes {mha} with a key and a value for each head, "
            f"{gqa} with {self.kv_heads} groups, {mla} with MLA's latent of {self.latent} and key of {self.rope}, "
            f"and {shared} with one shared latent."
        )
