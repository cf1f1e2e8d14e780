from . import (
    knobs as knobs,
    llama2c as llama2c,
    long_readings as long_readings,
    pieces as pieces,
    reading as reading,
    shipped as shipped,
)
from .knobs import Knobs as Knobs
from .llama2c import read_llama2c as read_llama2c, read_llama2c_tokenizer as read_llama2c_tokenizer
from .long_readings import (
    beyond_window as beyond_window,
    story_stream as story_stream,
    through_window as through_window,
)
from .pieces import PieceTokenizer as PieceTokenizer
from .reading import greedy as greedy, logits as logits, losses as losses, tell as tell, turned as turned
from .shipped import (
    load_story as load_story,
    published_text as published_text,
    story_texts as story_texts,
    story_tokenizer as story_tokenizer,
)
