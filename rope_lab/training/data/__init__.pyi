from . import batches as batches, corpora as corpora, sources as sources, tokenizers as tokenizers
from .batches import Batches as Batches
from .corpora import Corpus as Corpus, CorpusError as CorpusError, load as load
from .sources import data_folder as data_folder
from .tokenizers import Tokenizer as Tokenizer, size_of as size_of
