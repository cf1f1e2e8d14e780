"""What rounding does to a rotation: bfloat16, float16 and float32 in exact float64 arithmetic, one rounding at a time.

>>> round_to([255, 256, 257, 258], dtype="bfloat16")  # eight significant bits: 257 is no longer there
array([255., 256., 256., 258.])
>>> len(set(round_to(np.arange(2**17), dtype="bfloat16").tolist()))  # positions left of 131,072
1409
"""

from dataclasses import dataclass, fields
from typing import Any, Literal, NamedTuple

import numpy as np
from jaxtyping import Complex128, Float64, UInt16
from numpy.typing import ArrayLike

from rope_lab.algebra.arguments import expect_frequencies, expect_numbers, expect_one_of, expect_real, shown
from rope_lab.algebra.widely_linear import to_complex

DType = Literal["float64", "float32", "float16", "bfloat16"]


class Format(NamedTuple):
    """A binary format: how many significant bits, the leading 1 among them, and the range of its exponent."""

    bits: int  # p; neighbours in [2^e, 2^(e+1)) lie 2^(e-p+1) apart
    least: int  # exponent of the smallest normal number; below it the spacing stays what it is there
    most: int  # what rounds to 2^(most+1) or more is infinite


FORMATS: dict[str, Format] = {
    "float64": Format(53, -1022, 1023),
    "float32": Format(24, -126, 127),
    "float16": Format(11, -14, 15),
    "bfloat16": Format(8, -126, 127),
}


def round_to(x: ArrayLike, *, dtype: DType) -> Float64[np.ndarray, "*shape"]:
    r"""The nearest numbers that ``dtype`` has, as float64; of two equally near the one whose last bit is 0.

    $\mathrm{fl}(x) = h \cdot \mathrm{rint}(x/h)$ with the spacing $h = 2^{\max(e,\,e_{\min}) - p + 1}$, $e = \lfloor
    \log_2 |x| \rfloor$; infinite from $2^{e_{\max}+1}$ on

    A float64 x goes to the two half formats by way of float32, as torch takes it, so that a tie may be made on the way.

    Args:
        x: Reals of any shape, infinities and NaN too.
        dtype: "float64", "float32", "float16" or "bfloat16".

    Returns:
        The shape of x, float64.

    Raises:
        TypeError: If x is not real.
        ValueError: If the dtype is not one of the four.

    Claims:
        ``unsaid.precision``, ``book.half-integers``

    >>> round_to([2049.0, 70000.0], dtype="float16")
    array([2048.,   inf])
    """
    _format(dtype)
    x = expect_numbers(x, name="x")
    if dtype == "float64":
        return x
    x = _nearest(x, FORMATS["float32"])
    return x if dtype == "float32" else _nearest(x, FORMATS[dtype])


def bit_pattern(x: ArrayLike, *, dtype: Literal["float16", "bfloat16"]) -> UInt16[np.ndarray, "*shape"]:
    r"""The sixteen bits in which a half format stores ``x``: sign, exponent, fraction.

    bfloat16: the upper half of the float32 pattern of $\mathrm{fl}(x)$; 1 + 8 + 7 bits. float16: 1 + 5 + 10 bits.

    Rounds as `round_to` does. NaN is stored as one quiet NaN, 0x7fc0 or 0x7e00.

    Args:
        x: Reals of any shape.
        dtype: "float16" or "bfloat16".

    Returns:
        The shape of x, unsigned ints of sixteen bits.

    Raises:
        ValueError: If the dtype is not one of the two.

    >>> [format(int(word), "016b") for word in bit_pattern([1.0, 257.0, -2.5], dtype="bfloat16")]
    ['0011111110000000', '0100001110000000', '1100000000100000']
    """
    if not isinstance(dtype, str) or dtype not in ("float16", "bfloat16"):
        raise ValueError(
            f'dtype: expected "float16" or "bfloat16", got {shown(dtype)}; only these two have sixteen bits'
        )
    rounded = round_to(x, dtype=dtype)
    number = np.where(np.isnan(rounded), 0.0, rounded)  # the casts below are exact: these values fit
    if dtype == "float16":
        words, quiet = number.astype(np.float16).view(np.uint16), 0x7E00
    else:
        words, quiet = (number.astype(np.float32).view(np.uint32) >> 16).astype(np.uint16), 0x7FC0
    return np.asarray(np.where(np.isnan(rounded), np.uint16(quiet), words))


def spacing(x: ArrayLike, *, dtype: DType) -> Float64[np.ndarray, "*shape"]:
    r"""The gap between neighbouring numbers of ``dtype`` at ``x``, on the side away from zero.

    $h(x) = 2^{\max(e,\,e_{\min}) - p + 1}$ with $e = \lfloor \log_2 |x| \rfloor$

    Args:
        x: Finite reals; beyond the largest number of ``dtype`` the exponent goes on past its range.
        dtype: "float64", "float32", "float16" or "bfloat16".

    Returns:
        The shape of x, float64.

    Raises:
        ValueError: If the dtype is not one of the four.

    Claims:
        ``book.spacing``

    >>> spacing([200, 300, 100_000], dtype="bfloat16")
    array([  1.,   2., 512.])
    """
    form = _format(dtype)
    return _spacing(expect_real(x, name="x"), form)


@dataclass(frozen=True)
class Rounding:
    """Where a rotation is rounded on its way from a position to a table of cosines and sines, and to what."""

    position: DType = "float64"  # n, before anything is multiplied
    theta: DType = "float64"  # the frequency
    angle: DType = "float64"  # the product of the two
    table: DType = "float64"  # cosine and sine of the angle

    def __post_init__(self) -> None:
        for field in fields(self):
            _format(getattr(self, field.name), name=field.name)


def rounded_angles(
    positions: ArrayLike, *, theta: ArrayLike, rounding: Rounding
) -> Float64[np.ndarray, "*positions planes"]:
    r"""The angles that come out when position, frequency and product are each rounded.

    $\hat a = \mathrm{fl}_a\bigl(\mathrm{fl}_n(n)\,\mathrm{fl}_\theta(\theta_i)\bigr)$, in radians

    A position beyond float16 is infinite, and so is its angle; NaN in a plane that stands still.

    Args:
        positions: Finite reals of any shape.
        theta: (planes,), radians per position.
        rounding: Where to round, and to what.

    Returns:
        (..., planes), in radians; float64 holds the values.

    Raises:
        TypeError: If ``rounding`` is not a `Rounding`.
        ValueError: If a shape does not fit.

    Claims:
        ``book.angle-error``

    >>> rounded_angles([257, 2049], theta=[1.0], rounding=Rounding(position="bfloat16"))
    array([[ 256.],
           [2048.]])
    """
    if not isinstance(rounding, Rounding):
        raise TypeError(f"rounding: expected a Rounding, got {shown(rounding)}; say where: Rounding(table='bfloat16')")
    positions, theta = expect_real(positions, name="positions"), expect_frequencies(theta)
    n, t = round_to(positions, dtype=rounding.position), round_to(theta, dtype=rounding.theta)
    with np.errstate(over="ignore", invalid="ignore"):  # infinity, and infinity times 0, are answers
        return round_to(np.multiply.outer(n, t), dtype=rounding.angle)


def rounded_turns(
    positions: ArrayLike, *, theta: ArrayLike, rounding: Rounding
) -> Complex128[np.ndarray, "*positions planes"]:
    r"""The table itself, each plane's entry as one complex number.

    $\hat c = \mathrm{fl}(\cos \hat a) + \mathrm i\,\mathrm{fl}(\sin \hat a)$ with the angles of `rounded_angles`

    Args:
        positions: Finite reals of any shape.
        theta: (planes,), radians per position.
        rounding: Where to round, and to what.

    Returns:
        (..., planes); complex128 holds the values; NaN where the angle is infinite.

    Claims:
        ``book.table-error``, ``book.angle-error``

    >>> rounded_turns(1, theta=[1.0], rounding=Rounding(table="bfloat16"))
    array([0.5390625+0.83984375j])
    """
    angles = rounded_angles(positions, theta=theta, rounding=rounding)
    with np.errstate(invalid="ignore"):  # the cosine of infinity is NaN, and that is the answer
        cos, sin = np.cos(angles), np.sin(angles)
    return np.asarray(round_to(cos, dtype=rounding.table) + 1j * round_to(sin, dtype=rounding.table))


def turn_errors(
    positions: ArrayLike, *, theta: ArrayLike, rounding: Rounding
) -> Float64[np.ndarray, "*positions planes"]:
    r"""The distance of each plane's vector from where it should land, relative to its length.

    $|\hat c - e^{\mathrm i n\theta_i}|$, from 0 to about 2

    Measured against float64, so nothing below $n\,\theta_i\,2^{-52}$ is resolved.

    Args:
        positions: Finite reals of any shape.
        theta: (planes,), radians per position.
        rounding: Where to round, and to what.

    Returns:
        (..., planes), float64.

    Claims:
        ``book.table-error``

    >>> turn_errors(257, theta=[1.0], rounding=Rounding(position="bfloat16")).round(3)  # one radian behind
    array([0.959])
    """
    exact = rounded_turns(positions, theta=theta, rounding=Rounding())
    return np.asarray(np.abs(rounded_turns(positions, theta=theta, rounding=rounding) - exact))


def rounded_logits(
    q: Float64[np.ndarray, "head_dim"],
    k: Float64[np.ndarray, "head_dim"],
    *,
    q_positions: ArrayLike,
    k_positions: ArrayLike,
    theta: ArrayLike,
    rounding: Rounding,
) -> Float64[np.ndarray, "*positions"]:
    r"""The logit of one query and one key at many pairs of positions, turned by rounded tables; the rest is float64.

    $\hat s_{mn} = \mathrm{Re} \sum_i \overline{\hat c_{m,i}\,\tilde q_i}\; \hat c_{n,i}\,\tilde k_i$

    Args:
        q: (head_dim,), interleaved.
        k: (head_dim,), interleaved.
        q_positions: Reals of one shape, or one number for all.
        k_positions: The same.
        theta: (head_dim/2,), radians per position.
        rounding: Where to round, and to what.

    Returns:
        The shape of the positions, float64.

    Raises:
        ValueError: If the shapes differ, or head_dim is not twice the number of frequencies.

    Claims:
        ``book.relativity-gap``, ``book.rounded-frequency``

    >>> q = np.array([1.0, 0.0])
    >>> near, far = rounded_logits(q, q, q_positions=[0, 257], k_positions=[1, 258], theta=[1.0],
    ...                            rounding=Rounding(position="bfloat16"))
    >>> round(float(near), 3), round(float(far), 3)  # cos 1 and cos 2: the same offset, another logit
    (0.54, -0.416)
    """
    theta = expect_frequencies(theta)
    places = {"q_positions": q_positions, "k_positions": k_positions}
    shapes = [expect_real(at, name=name).shape for name, at in places.items()]
    if shapes[0] != shapes[1] and () not in shapes:
        raise ValueError(
            f"positions: expected those of q and k in one shape, got {shapes[0]} and {shapes[1]}; they go in pairs"
        )
    pairs = []
    for name, vector, positions in (("q", q, q_positions), ("k", k, k_positions)):
        x = expect_real(vector, name=name)
        if x.shape != (2 * len(theta),):
            raise ValueError(
                f"{name}: expected one vector of {2 * len(theta)} numbers for {len(theta)} frequencies, got shape "
                f"{x.shape}; build theta with frequencies(len({name}))"
            )
        turned = rounded_turns(positions, theta=theta, rounding=rounding)
        pairs.append(turned * to_complex(x))
    q_turned, k_turned = pairs
    return np.asarray((q_turned.conj() * k_turned).real.sum(axis=-1))


def _nearest(x: np.ndarray, form: Format) -> np.ndarray:
    finite = np.where(np.isfinite(x), x, 0.0)
    h = _spacing(finite, form)
    rounded = np.rint(finite / h) * h  # h is a power of two: both steps are exact, and rint sends ties to even
    with np.errstate(over="ignore"):
        rounded = np.where(np.abs(rounded) >= 2.0 ** (form.most + 1), np.copysign(np.inf, finite), rounded)
    return np.where(np.isfinite(x), rounded, x)


def _spacing(x: np.ndarray, form: Format) -> np.ndarray:
    e = np.frexp(x)[1] - 1  # frexp writes x as m 2^(e+1) with 1/2 <= |m| < 1
    exponent = np.maximum(np.where(x == 0, form.least, e), form.least) - form.bits + 1
    return np.asarray(np.ldexp(1.0, exponent))


def _format(dtype: Any, *, name: str = "dtype") -> Format:
    return FORMATS[expect_one_of(dtype, FORMATS, name=name, fix="give the name of the format")]
