r"""A formula as printed and as it should be read, from one text: ``[-...-]`` is struck, ``[+...+]`` is read instead.

``mend=r"o_m = \sum_i a_{mi} [-v_n-][+v_i+]"`` says both, so the two can differ only where it is marked.
"""

from __future__ import annotations

import re

__all__ = ["corrected_formula", "mended_formula", "printed_formula"]

_STRUCK, _READ = re.compile(r"\[-(.+?)-\]"), re.compile(r"\[\+(.+?)\+\]")


def printed_formula(mend: str, *, marks: bool = False) -> str:
    r"""The formula as the source prints it; with ``marks``, what is to be struck is crossed out.

    >>> printed_formula(r"\sum_i a_{mi} [-v_n-][+v_i+]")
    '\\sum_i a_{mi} v_n'
    >>> printed_formula("x^{[-2-][+3+]}", marks=True)
    'x^{\\cancel{2}}'
    """
    return _STRUCK.sub(r"\\cancel{\1}" if marks else r"\1", _READ.sub("", mend))


def corrected_formula(mend: str, *, marks: bool = False) -> str:
    r"""The formula as it should be read; with ``marks``, what is new is underlined.

    >>> corrected_formula("x^{[-2-][+3+]}", marks=True)
    'x^{\\underline{3}}'
    """
    return _READ.sub(r"\\underline{\1}" if marks else r"\1", _STRUCK.sub("", mend))


def mended_formula(mend: str) -> str:
    r"""The formula with what is struck crossed out and, behind it, what is read instead underlined.

    >>> mended_formula("x^{[-2-][+3+]}")
    'x^{\\cancel{2}\\underline{3}}'
    """
    return _READ.sub(r"\\underline{\1}", _STRUCK.sub(r"\\cancel{\1}", mend))
