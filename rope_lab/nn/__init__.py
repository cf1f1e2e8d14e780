"""What a model runs, in torch: rotary layers, attention with a cache, a small GPT, the linear recurrence."""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
