"""RoPE Lab: an executable book on rotary position embeddings, and the instruments behind it.

Every name loads when it is first used: ``import rope_lab`` pulls in neither torch nor matplotlib. What is public, here
and in each folder, stands in the `__init__.pyi` beside the `__init__.py`: that file is what completion, type checkers
and the lazy import itself read.

>>> import rope_lab
>>> rope_lab.algebra.rotation_2d(0.0)
array([[1., 0.],
       [0., 1.]])
"""

import sys

if sys.argv[:1] == ["-m"] and not sys.flags.safe_path and "mrope_lab" in "".join(sys.orig_argv):
    del sys.path[0]  # `python -m rope_lab` puts the folder one stands in first: nothing there passes for a library

from rope_lab.lazy import attach

__version__ = "0.1.0"
__getattr__, __dir__, __all__ = attach(__name__, __file__)
