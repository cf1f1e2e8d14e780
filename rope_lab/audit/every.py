"""Every answer to one question: where a target has frequencies for each kind of layer, one audit for each kind.

>>> [seen.name for seen in audit_every("rope_lab.audit.gallery:right", head_dim=8)]
['rope_lab.audit.gallery:right']
"""

from typing import Any

from rope_lab.audit.audits import Audit, audit


def audit_every(target: str, **options: Any) -> tuple[Audit, ...]:
    """Audit a target, once for each choice that it leaves open.

    Args:
        target: MODULE:NAME.
        **options: As `audit` takes them.

    Returns:
        One `Audit`, or one for each kind of layer, whose names then end in ``[layer_type=...]``.

    Raises:
        TypeError: If head_dim is not an integer.
        ValueError: If the target is not of that form, or head_dim is not positive and even.
    """
    seen = audit(target, **options)
    if not seen.choices:
        return (seen,)
    setting, values = seen.choices
    named = {value: f"{seen.name} [{setting}={value}]" for value in values}
    return tuple(audit(target, **options | {setting: value, "name": name}) for value, name in named.items())
