"""The checks of arguments that all share: each refusal says what was expected, what came, and the fix."""

import contextlib
import math
from collections.abc import Callable, Iterable, Sequence
from numbers import Integral, Real
from typing import Any, Literal, TypeVar

import numpy as np
from jaxtyping import Float64
from numpy.typing import ArrayLike

Layout = Literal["interleaved", "half"]
LAYOUTS: tuple[Layout, ...] = ("interleaved", "half")

Option = TypeVar("Option", bound=str)

WIDEST = 2**20  # of a head or a stream: no model has more
LONGEST = 2**24  # positions in one table


def shown(value: Any) -> str:
    """Return what came, for a message: short, and without a failure of its own."""
    try:
        return f"{value!r:.300}"
    except Exception:  # a number of more digits than Python prints, or whatever a foreign __repr__ raises
        return f"a value of type {type(value).__name__} that cannot be printed"


# --- names and single numbers ---------------------------------------------------------------------------------------


def expect_one_of(value: Any, options: Iterable[Option], *, name: str, fix: str = "give one of these names") -> Option:
    """Return ``value`` if it is one of the names in ``options``.

    >>> expect_one_of("half", LAYOUTS, name="layout")
    'half'
    """
    known = list(options)
    for option in known:
        if isinstance(value, str) and value == option:
            return option
    raise ValueError(f"{name}: expected one of {', '.join(known)}, got {shown(value)}; {fix}")


def expect_layout(layout: Any) -> Layout:
    """Return ``layout`` if it is the name of one."""
    if isinstance(layout, str) and layout in LAYOUTS:
        return layout
    raise ValueError(
        f'layout: expected "interleaved" (pairs 2i, 2i+1) or "half" (pairs i, i+head_dim/2), got {shown(layout)}; '
        "take the one your weights were trained with"
    )


def expect_whole(
    value: Any,
    *,
    name: str,
    least: int | None = None,
    most: int | None = None,
    limit: int | None = None,
    fix: str = "give it as an int",
) -> int:
    """Return ``value`` as an int if it is a whole number from ``least`` to ``most``; True and False are not numbers.

    ``limit`` is a bound of this machine, and no part of the question.

    >>> expect_whole(np.int64(3), name="n_heads", least=1)
    3
    """
    if least is not None and most is not None:
        wanted = f"a whole number from {least} to {most}"
    else:
        wanted = "a whole number" if least is None else f"a whole number of at least {least}"
    if isinstance(value, bool) or not isinstance(value, Integral):
        raise TypeError(f"{name}: expected {wanted}, got {shown(value)}; {fix}")
    number = int(value)
    if (least is not None and number < least) or (most is not None and number > most):
        raise ValueError(f"{name}: expected {wanted}, got {shown(number)}; {fix}")
    if limit is not None and number > limit:
        raise ValueError(f"{name}: expected at most {limit}, got {shown(number)}; more fills the memory or the day")
    return number


def expect_even(size: Any, *, name: str) -> int:
    """Return ``size`` as an int if it is a positive even integer.

    >>> expect_even(64, name="head_dim")
    64
    """
    if isinstance(size, bool) or not isinstance(size, Integral):
        raise TypeError(f"{name}: expected a positive even integer, got {shown(size)}; give an int, such as 64")
    if int(size) > WIDEST:
        raise ValueError(f"{name}: expected at most {WIDEST}, got {shown(size)}; no model is that wide")
    if size < 2 or size % 2:
        raise ValueError(
            f"{name}: expected a positive even integer, got {shown(size)}; coordinates turn in pairs, so take "
            "an even width, or rotate an even part of it with rotary_dim"
        )
    return int(size)


def expect_narrow(size: Any, *, name: str, most: int = 4096) -> int:
    """Return an even ``size`` of which square matrices are made, so at most ``most``; more rows fill the memory."""
    if (even := expect_even(size, name=name)) > most:
        raise ValueError(f"{name}: expected at most {most} for a matrix of that width, got {even}; take a smaller one")
    return even


def expect_number(value: Any, *, name: str, fix: str = "give a number, such as 3") -> Any:
    """Return ``value``, its type unchanged, if it is one finite real number.

    >>> expect_number(0.5, name="n")
    0.5
    """
    if isinstance(value, bool) or not isinstance(value, Real):
        raise TypeError(f"{name}: expected a number, got {shown(value)}; {fix}")
    if not isinstance(value, Integral) and not math.isfinite(value):  # a long integer need not fit into a float
        raise ValueError(f"{name}: expected a finite number, got {shown(value)}; look for a division by zero")
    return value


def expect_float(value: Any, *, name: str, least: float = -math.inf) -> float:
    """Return ``value`` as a float if it is one finite number of at least ``least``.

    >>> expect_float(3, name="margin", least=0)
    3.0
    """
    try:
        number = float(expect_number(value, name=name))
    except OverflowError:  # an integer that no float holds
        number = math.inf
    if not least <= number < math.inf:
        raise ValueError(f"{name}: expected a finite number of at least {least:g}, got {shown(value)}; take another")
    return number


def expect_flag(value: Any, *, name: str) -> bool:
    """Return ``value`` as a bool if it is True or False."""
    if not isinstance(value, bool | np.bool_):
        raise TypeError(f"{name}: expected True or False, got {shown(value)}; say one of them")
    return bool(value)


def expect_rule(value: Any, *, name: str) -> Callable[..., Any]:
    """Return ``value`` if it can be called, as a function whose failures are told under its name."""
    if not callable(value):
        raise TypeError(f"{name}: expected a function, got {shown(value)}; such as lambda x: x")

    def asked(*given: Any) -> Any:
        try:
            return value(*given)
        except Exception as error:  # whatever another's function raises
            raise TypeError(f"{name}: expected a function of {len(given)}, got {shown(value)}: {error}") from error

    return asked


def expect_layer_type(value: Any) -> str | None:
    """Return the name of a kind of layer, or None, if it is one of these."""
    if not isinstance(value, str | None):
        raise TypeError(f"layer_type: expected a name or None, got {shown(value)}; such as full_attention")
    return value


def expect_kind(value: Any, kind: Any, *, name: str) -> Any:
    """Return ``value`` if it is of a class, such as a shape of a model or an expression of SymPy."""
    if not isinstance(value, kind):
        raise TypeError(f"{name}: expected a {kind.__name__}, got {shown(value)}; build one, or turn it into one")
    return value


def expect_list(values: Any, *, name: str, most: int = 2**16) -> list[Any]:
    """Return the items of ``values``, at most ``most`` of them, if they have an order and an end."""
    values = values.tolist() if isinstance(values, np.ndarray) else values
    if not isinstance(values, Sequence) or isinstance(values, str | bytes):
        raise TypeError(f"{name}: expected a list, got {shown(values)}; write one item as [x]")
    if len(values) > most:
        raise ValueError(f"{name}: expected at most {most} items, got {len(values)}; take fewer")
    return list(values)


def expect_base(base: Any) -> float:
    """Return ``base`` as a float if it is a finite positive number."""
    if isinstance(base, bool) or not isinstance(base, Real):
        raise TypeError(f"base: expected a positive number, got {shown(base)}; the usual one is 10000.0")
    try:
        number = float(base)
    except OverflowError:  # an integer that no float holds
        number = math.inf
    if not 0 < number < math.inf:
        raise ValueError(f"base: expected a finite positive number, got {shown(base)}; the usual one is 10000.0")
    return number


# --- arrays ---------------------------------------------------------------------------------------------------------


def expect_numbers(values: Any, *, name: str) -> np.ndarray:
    """Return ``values`` as a float64 array if they are real numbers, NaN and infinities among them; booleans are not.

    >>> expect_numbers([1, float("inf")], name="x")
    array([ 1., inf])
    """
    try:
        array = np.asarray(values)
    except ValueError as error:  # ragged nesting
        raise ValueError(f"{name}: expected an array of numbers, got a ragged one; make the rows equal") from error
    except Exception as error:  # numpy has no bfloat16, and takes no tensor that wants a gradient
        raise TypeError(
            f"{name}: expected what numpy can hold, got {type(values).__name__}: {error}; "
            "give tensor.detach().cpu().double()"
        ) from error
    if array.dtype.kind not in "iuf":
        got = f"dtype {array.dtype}" if array.ndim else shown(values)
        raise TypeError(f"{name}: expected real numbers, got {got}; convert with np.asarray(..., dtype=float)")
    with np.errstate(invalid="ignore"):  # a signalling NaN becomes a quiet one: no news
        return array.astype(np.float64)


def expect_real(values: Any, *, name: str) -> np.ndarray:
    """Return ``values`` as a float64 array if they are finite real numbers; booleans are a mask, not numbers."""
    array = expect_numbers(values, name=name)
    if not np.isfinite(array).all():
        first = array[~np.isfinite(array)].flat[0]
        raise ValueError(f"{name}: expected finite numbers, got {first}; look for a division by zero or an empty slot")
    return array


def expect_complex(values: Any, *, name: str) -> np.ndarray:
    """Return ``values`` as a complex128 array if they are numbers, exact ones too; a mask is zeros and ones."""
    if isinstance(values, np.ndarray | np.generic | list | tuple | complex):
        with contextlib.suppress(ValueError, TypeError, OverflowError):  # ragged; what becomes no number
            if (array := np.asarray(values)).dtype.kind in "biufcO":  # b: zeros and ones; O: exact numbers
                return array.astype(np.complex128)
    return expect_numbers(values, name=name).astype(np.complex128)


def expect_shapes(**arrays: tuple[Any, str]) -> list[np.ndarray]:
    """Return arrays in float64 whose axes of one name have one length, given as ``q=(q, "T d"), k=(k, "T d")``."""
    lengths: dict[str, int] = {}
    found = []
    for name, (values, axes) in arrays.items():
        found.append(array := expect_real(values, name=name))
        named = zip(axes.split(), array.shape, strict=False)
        if array.ndim != len(axes.split()) or any(lengths.setdefault(a, n) != n for a, n in named):
            raise ValueError(
                f"{name}: expected shape ({', '.join(axes.split())}) with {lengths} as before, got {array.shape}; "
                "give arrays that fit"
            )
    return found


def expect_frequencies(theta: ArrayLike) -> Float64[np.ndarray, "planes"]:
    """Return ``theta`` as a float64 vector with one frequency for each plane; a single number serves for one plane.

    >>> expect_frequencies(0.5)
    array([0.5])
    """
    theta = np.atleast_1d(expect_real(theta, name="theta"))
    if theta.ndim != 1 or not len(theta):
        raise ValueError(
            f"theta: expected one frequency for each plane, shape (head_dim/2,), got shape {theta.shape}; "
            "build it with frequencies(head_dim)"
        )
    return theta


def expect_turning(x: np.ndarray, theta: np.ndarray, positions: np.ndarray) -> None:
    """Refuse vectors ``x``, (..., T, d), that have not two coordinates for each plane and one position for each."""
    if x.ndim == 0 or x.shape[-1] != 2 * len(theta):
        raise ValueError(
            f"x: expected (..., {2 * len(theta)}) for {len(theta)} frequencies, got shape {x.shape}; "
            "build theta with frequencies(x.shape[-1])"
        )
    try:
        np.broadcast_shapes(x.shape[:-1], positions.shape)
    except ValueError:
        raise ValueError(
            f"positions: expected a shape that broadcasts with {x.shape[:-1]} (x without its last axis), "
            f"got {positions.shape}; give one position for each vector along T"
        ) from None


# --- matrices -------------------------------------------------------------------------------------------------------


def expect_map(W: ArrayLike, *, name: str = "W") -> Float64[np.ndarray, "rows columns"]:
    """Return ``W`` in float64 if it is a matrix."""
    W = expect_real(W, name=name)
    if W.ndim != 2:
        raise ValueError(f"{name}: expected a matrix (2n, 2m), got shape {W.shape}; one map at a time, outputs in rows")
    return W


def expect_square(
    matrix: ArrayLike, *, name: str, fix: str = "give one row per dimension"
) -> Float64[np.ndarray, "d d"]:
    """Return ``matrix`` in float64 if it is square, with one row at least.

    >>> expect_square([[1, 2], [3, 4]], name="A")
    array([[1., 2.],
           [3., 4.]])
    """
    matrix = expect_real(matrix, name=name)
    if matrix.ndim != 2 or matrix.shape[0] != matrix.shape[1] or not matrix.size:
        raise ValueError(f"{name}: expected a square matrix, got shape {matrix.shape}; {fix}")
    return matrix


def expect_skew(B: ArrayLike, *, name: str = "B", tolerance: float = 1e-12) -> Float64[np.ndarray, "d d"]:
    r"""Return ``B`` in float64 if it is skew, exactly skew: half of $B - B^\top$, which removes rounding.

    Skew means $|B^\top + B| \le$ ``tolerance`` $\cdot\, |B|$ in the largest entry.

    Args:
        B: (d, d).
        name: What the message calls it.
        tolerance: Relative to the largest entry of B.

    Returns:
        (d, d), float64.

    Raises:
        TypeError: If B is not real.
        ValueError: If it is not square, not finite, or not skew; the message says by how much.

    Claims:
        ``su6.bch-implies-skew``

    >>> expect_skew([[0, -2], [2, 0]])
    array([[ 0., -2.],
           [ 2.,  0.]])
    """
    B = expect_square(B, name=expect_kind(name, str, name="name"))
    gap, size = np.abs(B / 2 + B.T / 2).max(), np.abs(B).max()  # halved first: the sum could overflow
    if gap > expect_float(tolerance, name="tolerance") * size / 2:
        raise ValueError(
            f"{name}: expected a skew matrix, {name}^T = -{name}, got one that misses it by {2 * gap:.1e} at a size of "
            f"{size:.1e}; take ({name} - {name}.T) / 2"
        )
    return B / 2 - B.T / 2


def expect_orthogonal(matrix: ArrayLike, *, name: str, tolerance: float = 1e-8) -> Float64[np.ndarray, "d d"]:
    r"""Return ``matrix`` in float64 if no entry of $O^\top O - I$ exceeds ``tolerance``.

    >>> expect_orthogonal([[0, -1], [1, 0]], name="O")
    array([[ 0., -1.],
           [ 1.,  0.]])
    """
    matrix = expect_square(matrix, name=name)
    gap = float(np.abs(matrix).max())
    if gap <= 2:  # an entry of an orthogonal matrix is at most 1; the product of large ones could overflow
        gap = float(np.abs(matrix.T @ matrix - np.eye(len(matrix))).max())
    if gap > expect_float(tolerance, name="tolerance"):
        raise ValueError(
            f"{name}: expected an orthogonal matrix, {name}^T {name} = I, got one that misses it by {gap:.1e}; "
            "take the Q of np.linalg.qr"
        )
    return matrix
