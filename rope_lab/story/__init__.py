"""A published Llama of 260,032 parameters that writes stories: weights, tokenizer, and our model of it."""

from rope_lab.lazy import attach

__getattr__, __dir__, __all__ = attach(__name__, __file__)
