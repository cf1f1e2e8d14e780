"""What a model runs, in torch: rotary layers, attention with a cache, a small GPT, the linear recurrence."""

from rope_lab.lazy import attach

__getattr__, __dir__, __all__ = attach(__name__, __file__)
