"""A rotary embedding that turns the channels of a picture, (batch, channels, rows, columns): a token in each place.

>>> import torch
>>> def turn(x):  # (batch, 2, rows, columns): the row turns each patch
...     angle = torch.arange(x.shape[2])[:, None].to(x.dtype)
...     a, b = x[:, 0], x[:, 1]
...     return torch.stack([a * angle.cos() - b * angle.sin(), a * angle.sin() + b * angle.cos()], 1)
>>> turns_pictures(turn, head_dim=2)
True
>>> in_pictures(turn)(torch.tensor([[[[1.0, 0.0]]]]), torch.tensor([[1, 5]])).round(decimals=2)
tensor([[[[0.5400, 0.8400]]]])
"""

from typing import Any

from rope_lab.audit.foreign_code import TargetError, TimeUpError
from rope_lab.audit.table_calls import SAME
from rope_lab.audit.whole_sequences import groups

PICTURE = 32  # patches along each side
APART = 0.05  # radians, and this share of an angle: what the angles of two sizes may differ by


def turns_pictures(module: Any, *, head_dim: int) -> bool:
    """Whether a module takes a picture with a head's coordinates as channels, and gives one of the same shape back."""
    import torch

    x = torch.randn(1, head_dim, 4, 6, generator=torch.Generator().manual_seed(0))
    try:
        with torch.no_grad():
            y = module(x)
        return isinstance(y, torch.Tensor) and y.shape == x.shape and not bool((y - x).abs().max() < SAME)
    except (KeyboardInterrupt, TimeUpError):
        raise
    except BaseException:
        return False


def in_pictures(module: Any) -> Any:
    """turn(x, P) of such a module, for x (batch, heads, T, head_dim) and whole places P (T, 2) in one picture."""

    def turn(x: Any, P: Any) -> Any:
        import torch

        if P.is_floating_point() or P.min() < 0 or P.max() >= PICTURE:
            raise IndexError(f"places are 0, 1, 2, ...; asked up to {PICTURE - 1}")
        rows = x.reshape(-1, *x.shape[-2:])
        y = torch.empty_like(rows)
        for group in groups([tuple(place) for place in P.tolist()], single=False):
            down, across = P[group].unbind(-1)
            picture = rows.new_zeros(len(rows), rows.shape[-1], PICTURE, PICTURE)
            picture[:, :, down, across] = rows[:, group].transpose(1, 2)
            y[:, group] = module(picture)[:, :, down, across].transpose(1, 2)
        return y.reshape(x.shape)

    return turn


def size_words(module: Any, *, head_dim: int) -> str:
    """How the size of the picture enters: nothing if it does not, else words.

    Raises:
        TargetError: If patches turn by more than half a turn from one to the next, so that places cannot tell by how
            much.
    """
    import torch

    with torch.no_grad():
        at = [_steps(module, head_dim, side) for side in (PICTURE, 2 * PICTURE)]
    if bool((at[0] - at[1]).abs().max() < SAME):
        return ""
    for axis in (1, 2):  # coordinates run from edge to edge: in a picture twice as large each step turns half as far
        one, other = (_angles(steps[axis] @ steps[0].T) for steps in at)
        if bool(((one - 2 * other).abs() > APART * (1 + one)).any()):
            raise TargetError(
                f"its angles depend on the size of the picture, and one of {PICTURE} x {PICTURE} patches does not show "
                "them: some patches turn by more than half a turn from one to the next, or the size enters otherwise "
                "than by an edge at a fixed place; set other coordinates, or wrap it as f(x, positions)"
            )
    return ", whose size sets the angles"


def _steps(module: Any, head_dim: int, side: int) -> Any:
    """The matrices of the first patch, of the one below, and of the one beside it."""
    import torch

    picture = torch.eye(head_dim)[:, :, None, None].expand(head_dim, head_dim, side, side)
    y = module(picture)
    return torch.stack([y[:, :, 0, 0].T, y[:, :, 1, 0].T, y[:, :, 0, 1].T])


def _angles(matrix: Any) -> Any:
    import torch

    return torch.linalg.eigvals(matrix.double()).angle().abs().sort().values
