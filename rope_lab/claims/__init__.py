"""The ledger: every claim of the sources as an executable check, with a control that must fail."""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
