"""A list of targets as one table: a row for each, in order, with what cannot be audited and why."""

import platform

from rope_lab.audit.audits import Entry, audit_all


def test_each_entry_has_its_row():
    right = Entry("ours", "rope_lab.audit.gallery:right", {"head_dim": 8})
    table = audit_all((right, Entry("theirs", "no_such_library.rope:f")))
    assert (table["python"], table["libraries"]["no_such_library"]) == (platform.python_version(), None)
    ours, theirs = table["rows"]
    assert (ours["library"], ours["target"], ours["name"]) == ("rope_lab", "rope_lab.audit.gallery:right", "ours")
    assert (ours["layout"], ours["base"], ours["broken_laws"]) == ("half-split", 10000.0, {})
    assert (theirs["library"], theirs["skipped"]) == ("no_such_library", "no_such_library is not installed")
