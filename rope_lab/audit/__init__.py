"""Point it at any RoPE implementation: fingerprint, laws, conversion between layouts."""

from rope_lab.lazy import attach

__getattr__, __dir__, __all__ = attach(__name__, __file__)
