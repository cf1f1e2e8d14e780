"""Exact and float64 mathematics: the slow, obviously right reference. Never imports torch."""

from rope_lab.lazy import attach

__getattr__, __dir__, __all__ = attach(__name__, __file__)
