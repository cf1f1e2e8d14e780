"""The static figures of the pages: functions that return inline SVG."""

from rope_lab.lazy import attach

__getattr__, __dir__, __all__ = attach(__name__, __file__)
