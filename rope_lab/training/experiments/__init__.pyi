from . import (
    card_packs as card_packs,
    catalogue as catalogue,
    counting as counting,
    crope as crope,
    definition as definition,
    grid_question as grid_question,
    long_contexts as long_contexts,
    offsets as offsets,
    placement_orders as placement_orders,
    planned as planned,
    planned_more as planned_more,
    rate_choice as rate_choice,
    small_tasks as small_tasks,
    sweeps as sweeps,
    worker as worker,
)
from .card_packs import (
    Checked as Checked,
    PackError as PackError,
    add as add,
    check as check,
    faults_of as faults_of,
    pack as pack,
)
from .catalogue import RUNGS as RUNGS, experiment as experiment, names as names
from .definition import Experiment as Experiment
from .rate_choice import UndecidedError as UndecidedError, best_rates as best_rates
from .sweeps import Report as Report, Setup as Setup, sweep as sweep
from .counting import counting_accuracy as counting_accuracy, ring as ring, train_counting as train_counting
from .offsets import offset_accuracy as offset_accuracy, sentences as sentences, train_offsets as train_offsets
from .small_tasks import SmallTask as SmallTask, run_task as run_task
