"""The figures that move: one anywidget each, its arithmetic in Python and in JavaScript."""

from rope_lab.lazy import attach

__getattr__, __dir__, __all__ = attach(__name__, __file__)
