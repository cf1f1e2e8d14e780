"""What part 19 calls the general solution of the relative law."""

from rope_lab.algebra import solutions
from rope_lab.claims.ledger import claim

POWERS = {(1, 1, 1, 1, 1), (1, -1, 1, -1, 1)}  # of the two orthogonal 1 x 1 matrices, at n = -2 to 2
NOTHING, IN_FRONT = (0, 0, 0, 0, 0), (-1, -1, -1, -1, -1)


@claim(
    "su19.general-solution",
    locus="Basic Review, last paragraph",
    statement=r"The general solution of $\mathcal R_m^\top \mathcal R_n = \mathcal R_{n-m}$ on the integers is "
    r"$\mathcal R_n = O^n$ with $O$ orthogonal.",
    verdict="conditional",
    differs="the source (a blog post) leaves out one condition, R_0 = I",
    mend=r"\mathcal R_n = O^n \quad [+\mathcal R_0 = I+]",
    correction=r"These are exactly the solutions with $\mathcal R_0 = I$. All of them are "
    r"$U\,\mathrm{diag}(O^n, 0)\,U^\top$; chapter 4 proves it.",
    witness=r"One dimension: the solutions are exactly $0$, $1$ and $(-1)^n$, and $0$ is no power of an orthogonal "
    r"number.",
    cases="one dimension, solved for the positions -2 to 2",
    holds={NOTHING} | POWERS,
    printed=POWERS,
    control={NOTHING, IN_FRONT} | POWERS,  # a factor -1 in front of 1^n: not a solution
)
def every_solution_in_one_dimension(claimed):
    return solutions.one_dimensional(window=2) == claimed
