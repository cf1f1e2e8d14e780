from . import (
    checkpoint as checkpoint,
    config as config,
    distributed as distributed,
    doctor as doctor,
    environment as environment,
    folder_lock as folder_lock,
    learner as learner,
    loop as loop,
    measures as measures,
    precision_check as precision_check,
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
from .folder_lock import CheckpointError as CheckpointError
from .loop import (
    NonFiniteLossError as NonFiniteLossError,
    RunOutcome as RunOutcome,
    load_model as load_model,
    train as train,
)
