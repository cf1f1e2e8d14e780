from . import (
    checkpoint as checkpoint,
    config as config,
    distributed as distributed,
    doctor as doctor,
    environment as environment,
    learner as learner,
    loop as loop,
    measures as measures,
    run_record as run_record,
    signals as signals,
    validation as validation,
)
from rope_lab.chapters.ch19_longer_texts import measures as long_contexts
from rope_lab.chapters.ch15_crope_tables import measures as projection_shares
from .config import DEFAULT_RUN as DEFAULT_RUN, RunConfig as RunConfig
from .doctor import (
    Answer as Answer,
    examine as examine,
    multiplications as multiplications,
    predicted_seconds as predicted_seconds,
)
from rope_lab.training.files import CheckpointError as CheckpointError
from .loop import (
    NonFiniteLossError as NonFiniteLossError,
    RunOutcome as RunOutcome,
    load_model as load_model,
    train as train,
)
