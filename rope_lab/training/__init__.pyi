from . import data as data, experiments as experiments, fields as fields, files as files, results as results, run as run
from .data.corpora import Corpus as Corpus
from .experiments.catalogue import experiment as experiment
from .experiments.sweeps import sweep as sweep
from .results import cards as cards
from .results.cards import Card as Card
from .run.config import RunConfig as RunConfig
from .run.loop import load_model as load_model, train as train
