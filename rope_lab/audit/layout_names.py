"""The two names of the half-split layout: "half" as an argument, "half-split" in what the audit prints.

>>> [layout_argument(name) for name in ("half", "half-split", "interleaved")]
['half', 'half', 'interleaved']
>>> [printed_layout(name) for name in ("half", "half-split", "other")]
['half-split', 'half-split', 'other']
"""

from typing import Any

from rope_lab.algebra.arguments import Layout, expect_layout

ARGUMENT, PRINTED = "half", "half-split"


def layout_argument(name: Any) -> Layout:
    """The layout as the package's functions take it, from either name. Raises ValueError if it is neither layout."""
    return expect_layout(ARGUMENT if name == PRINTED else name)


def printed_layout(name: Any) -> Any:
    """The layout as a fingerprint prints it, from either name; anything else comes back as it is."""
    return PRINTED if name == ARGUMENT else name
