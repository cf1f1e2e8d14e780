"""What the ledger's page says of one result, in words."""

import ast
import inspect
import textwrap

from rope_lab.claims import Claim, Result
from rope_lab.claims.verification import control_words, outcome_words

CORRECTION = {"false": "Read instead", "conditional": "Condition", "ambiguous": "Readings"}
EVIDENCE = {
    "exact": "Proved in exact arithmetic",
    "numeric": "Residual",
    "experiment": "By experiment",
    "read": "Read in the source",
}
SUBJECTS = ("computed", "tolerance", "holds", "printed", "control")


def columns(found: Result) -> dict[str, tuple[str, str, str]]:
    """The cells of a row after the id: a word for who does not see the heading, the cell's words, and its numbers."""
    claim, numbers = found.claim, ""
    if found.residual is not None:
        sign = "≤" if found.residual <= claim.tolerance else ">"
        numbers = f" {found.residual:.0e} {sign} {claim.tolerance:.0e}"
    control = "none" if claim.evidence in ("read", "experiment") else control_words(found)
    outcome = "fails" if found.failed else found.outcome
    return {
        "verdict": ("", claim.words, ""),
        "evidence": ("", claim.evidence, numbers),
        "control": ("control ", control, ""),
        "outcome": ("", outcome, ""),
        "chapter": ("chapter ", str(claim.chapter), ""),
    }


def state(found: Result) -> str:
    """What the row's sign shows: only what was run and held is ``held``."""
    return {True: "held", False: "failed", None: "open"}[found.ok]


def evidence(found: Result) -> str:
    """What was run and what came out, as a sentence or two; no seconds, which differ from build to build."""
    claim, words = found.claim, EVIDENCE[found.claim.evidence]
    if found.failed or claim.evidence == "experiment":
        return f"{words}: {outcome_words(found)}."
    if claim.evidence == "read":
        return f"{words} on {claim.date}; nothing was run."
    if claim.evidence == "numeric":
        words = f"{words} {found.residual:.0e}, tolerance {claim.tolerance:.0e}"
    printed = " So is the formula as printed." if found.printed_rejected else ""
    by = "" if found.control_residual is None else f", with residual {found.control_residual:.1g}"
    return f"{words}. The control is rejected{by}.{printed}"


def check_source(claim: Claim) -> str:
    """The check and what it is tried on; the words of the entry, which stand above it, are left out."""
    text = textwrap.dedent(inspect.getsource(claim.check))
    if claim.check.__name__ == "<lambda>":
        return text
    lines, function = text.splitlines(), ast.parse(text).body[0]
    kept = [
        line
        for decorator in function.decorator_list
        if isinstance(decorator, ast.Call)
        for keyword in decorator.keywords
        if keyword.arg in SUBJECTS
        for line in lines[keyword.lineno - 1 : keyword.end_lineno]
    ]
    head = [f'@claim("{claim.id}", ...,', *kept, ")"] if kept else []
    module = "/".join(claim.check.__module__.split("."))
    return "\n".join([f"# {module}.py", *head, *lines[function.lineno - 1 :]])
