"""Questions, predictions and tasks: one definition for page and lab.

>>> from rope_lab.exercises import check
>>> check("ch01.rotate", lambda x, m, theta: x).ok
False
"""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
