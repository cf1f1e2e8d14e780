from . import (
    algebra as algebra,
    audit as audit,
    claims as claims,
    errors as errors,
    exercises as exercises,
    nn as nn,
    show as show,
    story as story,
    training as training,
)
from .audit.conversion import permute_rotary as permute_rotary, permute_state as permute_state
from .audit.fingerprints import fingerprint as fingerprint
from .audit.law_suite import laws as laws
from .claims.ledger import verify as verify
from .errors import RopeLabError as RopeLabError
from .exercises.checking import check as check
from .exercises.core import exercise as exercise
from .nn.attention import AttentionConfig as AttentionConfig, CausalAttention as CausalAttention
from .nn.cache import KVCache as KVCache, LatentCache as LatentCache
from .nn.complex_linear import ComplexLinear as ComplexLinear
from .nn.gpt import GPT as GPT, GPTConfig as GPTConfig
from .nn.latent_attention import LatentConfig as LatentConfig
from .nn.recurrence.forms import linear_rnn as linear_rnn
from .nn.rotary import (
    Rotary as Rotary,
    RotaryConfig as RotaryConfig,
    RotaryTable as RotaryTable,
    rotary_table as rotary_table,
    rotate as rotate,
)
from .training.experiments.catalogue import experiment as experiment
from .training.experiments.sweeps import sweep as sweep
from .training.run.config import RunConfig as RunConfig
from .training.run.loop import load_model as load_model, train as train

__version__: str
