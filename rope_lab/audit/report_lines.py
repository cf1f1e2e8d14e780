"""An audit as `rope-lab audit` prints it.

>>> from rope_lab.audit.audits import audit
>>> print(report(audit("no_such_library:rotate")))
skipped: no_such_library is not installed
"""

from rope_lab.audit.audits import Audit


def report(seen: Audit) -> str:
    """The fingerprint, what was done to ask, and the laws; or why it was skipped."""
    if seen.fingerprint is None:
        return f"skipped: {seen.skipped}"
    about = f"{'note':<14}{seen.about}\n" if seen.about else ""
    about = "".join(f"{'axis':<14}{axis.words.removeprefix('axis ')}\n" for axis in seen.axes) + about
    laws = "\n".join(map(str, seen.laws))
    return f"{seen.name}\ncalled with     {seen.fingerprint.form}\n{seen.fingerprint}\n{about}\n{laws}"
