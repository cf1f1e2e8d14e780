from . import (
    attention as attention,
    cache as cache,
    cache_surgery as cache_surgery,
    complex_linear as complex_linear,
    complex_planes as complex_planes,
    complex_products as complex_products,
    counts as counts,
    gpt as gpt,
    heads as heads,
    initial as initial,
    latent_attention as latent_attention,
    long_texts as long_texts,
    recurrence as recurrence,
    rotary as rotary,
    streams as streams,
    tensor_arguments as tensor_arguments,
)
from rope_lab.chapters.ch10_complex_rnn import diagonal_rnn as diagonal_rnn
from rope_lab.chapters.ch07_many_axes import grid_reader as grid_reader
from rope_lab.chapters.ch13_one_head import offset_head as offset_head
from .attention import AttentionConfig as AttentionConfig, CausalAttention as CausalAttention, attend as attend
from .cache import Cache as Cache, KVCache as KVCache, LatentCache as LatentCache
from .cache_surgery import (
    Exact as Exact,
    drop_tokens as drop_tokens,
    shift_tokens as shift_tokens,
    splice_tokens as splice_tokens,
)
from .complex_linear import ComplexLinear as ComplexLinear
from .complex_products import (
    complex_product as complex_product,
    gauss_linear as gauss_linear,
    gauss_product as gauss_product,
    real_product as real_product,
)
from .counts import count_multiplications as count_multiplications, count_parameters as count_parameters
from .gpt import GPT as GPT, MLP as MLP, Block as Block, GPTConfig as GPTConfig, sinusoids as sinusoids
from .heads import HeadsConfig as HeadsConfig, ProjectionConfig as ProjectionConfig
from .latent_attention import (
    LatentConfig as LatentConfig,
    SharedLatentAttention as SharedLatentAttention,
    SplicedLatentAttention as SplicedLatentAttention,
)
from .recurrence.forms import decay_scan as decay_scan, linear_rnn as linear_rnn
from .rotary import (
    Rotary as Rotary,
    RotaryConfig as RotaryConfig,
    RotaryTable as RotaryTable,
    rotary_table as rotary_table,
    rotate as rotate,
)
from rope_lab.chapters.ch10_complex_rnn.diagonal_rnn import DiagonalRNN as DiagonalRNN
from rope_lab.chapters.ch13_one_head.offset_head import OffsetHead as OffsetHead
from .long_texts import (
    losses_by_bin as losses_by_bin,
    read_long as read_long,
    rescheduled as rescheduled,
    schedules as schedules,
)
from .streams import Way as Way, stream_losses as stream_losses, ways as ways
