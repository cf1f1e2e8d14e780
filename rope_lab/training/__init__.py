"""The laboratory: corpora, one run, lists of runs, result cards."""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
