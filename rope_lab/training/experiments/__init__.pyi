from . import (
    card_packs as card_packs,
    catalogue as catalogue,
    rate_choice as rate_choice,
    small_tasks as small_tasks,
    sweeps as sweeps,
    worker as worker,
)
from rope_lab.chapters.ch10_complex_rnn import task as counting
from rope_lab.chapters.ch15_crope_tables import (
    experiments as crope,
    experiments_planned as planned,
    experiments_planned_more as planned_more,
)
from rope_lab.chapters.ch07_many_axes import task as grid_question
from rope_lab.chapters.ch19_longer_texts import experiments as long_contexts
from rope_lab.chapters.ch13_one_head import task as offsets
from rope_lab.chapters.ch16_nine_placements import experiments as placement_orders
from .card_packs import (
    Checked as Checked,
    PackError as PackError,
    add as add,
    check as check,
    faults_of as faults_of,
    pack as pack,
)
from .catalogue import RUNGS as RUNGS, experiment as experiment, names as names
from .catalogue import Experiment as Experiment
from .rate_choice import UndecidedError as UndecidedError, best_rates as best_rates
from .sweeps import Report as Report, Setup as Setup, sweep as sweep
from rope_lab.chapters.ch10_complex_rnn.task import (
    counting_accuracy as counting_accuracy,
    ring as ring,
    train_counting as train_counting,
)
from rope_lab.chapters.ch13_one_head.task import (
    offset_accuracy as offset_accuracy,
    sentences as sentences,
    train_offsets as train_offsets,
)
from .small_tasks import SmallTask as SmallTask, run_task as run_task
