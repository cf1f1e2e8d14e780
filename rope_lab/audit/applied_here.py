"""Tables that no function of their module applies: applied here, where their entries repeat and so say what pairs.

>>> import torch
>>> angle = torch.tensor([[0.5, 0.1, 0.5, 0.1]])
>>> repeated_entries(torch.ones(1, 1, 1, 4), angle.cos(), angle.sin())[0, 0, 0].shape
torch.Size([4])
"""

from typing import Any


def repeated_entries(x: Any, cos: Any, sin: Any) -> Any:
    """x (..., T, head_dim) turned by tables (T, head_dim), in the pairs whose entries are equal.

    Raises:
        ValueError: If the tables are not as wide as x, or neither neighbours nor halves of them repeat.
    """
    cos, sin = (table.reshape(-1, table.shape[-1]).to(x.dtype) for table in (cos, sin))
    if cos.shape != x.shape[-2:]:
        raise ValueError("the tables have no row for each token, or do not say which coordinates pair")
    if _equal(cos[..., ::2], cos[..., 1::2]) and _equal(sin[..., ::2], sin[..., 1::2]):
        turned = (x.unflatten(-1, (-1, 2)).flip(-1) * x.new_tensor([-1.0, 1.0])).flatten(-2)
    else:
        half = x.shape[-1] // 2
        if not (_equal(cos[..., :half], cos[..., half:]) and _equal(sin[..., :half], sin[..., half:])):
            raise ValueError("the entries of the tables do not repeat, so they do not say which coordinates pair")
        turned = (x.unflatten(-1, (2, -1)).flip(-2) * x.new_tensor([[-1.0], [1.0]])).flatten(-2)
    return x * cos + turned * sin


def _equal(a: Any, b: Any) -> bool:
    return bool((a == b).all())
