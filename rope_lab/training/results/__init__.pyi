from . import (
    cards as cards,
    equivalence as equivalence,
    flat_cards as flat_cards,
    intervals as intervals,
    result_tables as result_tables,
)
from rope_lab.chapters.ch15_crope_tables import plan_answers as plan_answers, run_lengths as run_lengths
from rope_lab.chapters.ch19_longer_texts import results as long_contexts
from .result_tables import ExperimentCards as ExperimentCards, experiment_cards as experiment_cards
from .cards import (
    Card as Card,
    CardError as CardError,
    load_all as load_all,
    published as published,
    read as read,
    write as write,
)
from rope_lab.algebra.rankings import holm as holm
from .equivalence import Finding as Finding, family as family
from .intervals import Interval as Interval, interval as interval, paired as paired, t_quantile as t_quantile
from .intervals import Gaps as Gaps, along as along
from rope_lab.chapters.ch15_crope_tables.plan_answers import (
    answers as answers,
    differences as differences,
    exploratory as exploratory,
    own_rates as own_rates,
)
from .result_tables import Row as Row, rows as rows
