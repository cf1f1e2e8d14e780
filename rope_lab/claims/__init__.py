"""The ledger: every claim of the sources as an executable check, with a control that must fail."""

from rope_lab.lazy import attach

__getattr__, __dir__, __all__ = attach(__name__, __file__)
