"""An audit as `rope-lab audit` prints it.

>>> from rope_lab.audit.audits import audit
>>> print(report(audit("no_such_library:rotate")))
skipped: no_such_library is not installed
"""

from rope_lab.audit.audits import Audit
from rope_lab.audit.fingerprints import arrangement
from rope_lab.audit.law_suite import Law

# A law that is broken, a word of what was seen, and how people who meet it call it: a heading of the index by symptom.
CALLED = (
    ("isometry", "", "The length of a vector changes under RoPE"),
    ("non-vacuity", "with the head", "Right with one head, wrong with several"),
    ("non-vacuity", "nothing turns", "My RoPE passes its tests, and the model is still wrong"),
    ("cached decoding", "", "Good without the cache, wrong with it"),
    ("long positions", "rounded", "Wrong beyond 256 tokens in bfloat16"),
    ("relativity", "", "Moving all positions changes the logits"),
)


def report(seen: Audit) -> str:
    """The fingerprint, what was done to ask, and the laws; or why it was skipped."""
    if seen.fingerprint is None:
        return f"skipped: {seen.skipped}"
    about = f"{'note':<14}{seen.about}\n" if seen.about else ""
    axes = [axis.words.removeprefix("axis ") for axis in seen.axes]
    lines = [("axes", arrangement(seen.axes)), *(("axis", words) for words in axes)] if axes else []
    about = "".join(f"{name:<14}{words}\n" for name, words in lines) + about
    laws = "\n".join(map(str, seen.laws))
    more = f"{gallery_line(seen)}{symptom(seen.laws)}"
    return f"{seen.name}\ncalled with     {seen.fingerprint.form}\n{seen.fingerprint}\n{about}\n{laws}{more}"


def gallery_line(seen: Audit) -> str:
    """The mistake of the gallery that the answers are those of, and its mend; empty if there is none."""
    like = seen.like
    return f"\n\nLike a mistake of the gallery, {like.name}: {like.about} {like.fix}" if like else ""


def symptom(laws: tuple[Law, ...]) -> str:
    """Where the book says more about the first broken law that has a name among its symptoms; empty if none has.

    >>> symptom((Law("isometry", False, "a length times 2", ""),))
    '\\n\\nIn the book, index by symptom: "The length of a vector changes under RoPE"'
    """
    saw = {law.name: law.saw for law in laws if law.broken}
    found = (heading for name, word, heading in CALLED if name in saw and word in saw[name])
    heading = next(found, "")
    return f'\n\nIn the book, index by symptom: "{heading}"' if heading else ""
