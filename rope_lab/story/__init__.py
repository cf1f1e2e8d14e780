"""A published Llama of 260,032 parameters that writes stories: weights, tokenizer, and our model of it."""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
