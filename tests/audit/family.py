"""A family of its own making with the shapes of API that model libraries have: configurations, classes, functions."""

TEXT = '''
import torch
from torch import nn


class TextConfig:
    def __init__(self, hidden_size=64, num_attention_heads=4, rope_parameters=None, **more):
        self.hidden_size, self.num_attention_heads = hidden_size, num_attention_heads
        self.head_dim = hidden_size // num_attention_heads
        self.rope_parameters = rope_parameters or {"rope_type": "default", "rope_theta": 500000.0}
        self.__dict__.update(more)

    def to_dict(self):
        return {name: value for name, value in vars(self).items() if name != "head_dim"}


class VisionConfig(TextConfig):
    def __init__(self, hidden_size=96, num_attention_heads=4, **more):
        super().__init__(hidden_size, num_attention_heads, **more)


class WholeConfig:
    def __init__(self, text_config=None, vision_config=None):
        self.text_config, self.vision_config = TextConfig(**(text_config or {})), VisionConfig(**(vision_config or {}))

    @classmethod
    def from_dict(cls, content):
        return cls(**content)

    def to_dict(self):
        return {}


def repeated(angle):
    angle = torch.cat((angle, angle), dim=-1)
    return angle.cos(), angle.sin()


def quarter(x):
    a, b = x.chunk(2, dim=-1)
    return torch.cat((-b, a), dim=-1)


def apply_rotary_pos_emb(q, k, cos, sin, unsqueeze_dim=1):
    cos, sin = cos.unsqueeze(unsqueeze_dim), sin.unsqueeze(unsqueeze_dim)
    return q * cos + quarter(q) * sin, k * cos + quarter(k) * sin


def apply_rotary_pos_emb_vision(q, k, cos, sin):
    cos, sin = cos.unsqueeze(-2), sin.unsqueeze(-2)
    return q * cos + quarter(q) * sin, k * cos + quarter(k) * sin


def pairs(x):
    return torch.stack((-x[..., 1::2], x[..., ::2]), dim=-1).flatten(-2)


def apply_rotary_emb_complex(xq, xk, freqs_cis):
    def turn(x):
        z = torch.view_as_complex(x.float().reshape(*x.shape[:-1], -1, 2)) * freqs_cis[:, None]
        return torch.view_as_real(z).flatten(-2)
    return turn(xq), turn(xk)


class OwnTextRotaryEmbedding(nn.Module):
    def __init__(self, config: WholeConfig, device=None):
        super().__init__()
        self.theta = config.rope_parameters["rope_theta"] ** (-torch.arange(0, config.head_dim, 2) / config.head_dim)

    def forward(self, x, position_ids):
        return repeated(position_ids[..., None].float() * self.theta)


class OwnVisionRotaryEmbedding(nn.Module):
    """Rows turn the first half of the planes, columns the second, each from 1 down."""

    def __init__(self, config: VisionConfig):
        super().__init__()
        width = config.head_dim // 2
        self.theta = 10000.0 ** (-torch.arange(0, width, 2) / width)

    def forward(self, x, position_ids):
        return repeated((position_ids[..., None].float() * self.theta).flatten(-2))


class OwnSectionsRotaryEmbedding(OwnTextRotaryEmbedding):
    """Time, height and width: planes 0, 3, 6, then 1, 4, 7, then 2, 5 of one list."""

    def forward(self, x, position_ids):
        angle = position_ids[..., None].float() * self.theta
        return repeated(torch.stack([angle[i % 3, ..., i] for i in range(angle.shape[-1])], dim=-1))


class OwnLayersRotaryEmbedding(nn.Module):
    def __init__(self, config: TextConfig):
        super().__init__()
        self.config = config
        rules = {"near": {"rope_theta": 1e4}, "far": {"rope_theta": 1e6}}
        config.rope_parameters = rules

    def forward(self, x, position_ids, layer_type):
        base, width = self.config.rope_parameters[layer_type]["rope_theta"], self.config.head_dim
        return repeated(position_ids[..., None].float() * base ** (-torch.arange(0, width, 2) / width))


class OwnComplexRotaryEmbedding(OwnTextRotaryEmbedding):
    def forward(self, x, position_ids):
        angle = position_ids[0, :, None].float() * self.theta
        return torch.polar(torch.ones_like(angle), angle)


class Attention(nn.Module):
    def forward(self, q, k, cos, sin):
        apply_rotary_pos_emb_vision(q, k, cos, sin)
        return apply_rotary_pos_emb(q, k, cos, sin)
'''
