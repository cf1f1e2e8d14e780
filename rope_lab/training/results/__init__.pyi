from . import card_index as card_index, cards as cards, paired_curves as paired_curves, result_tables as result_tables
from .card_index import inventory as inventory
from .cards import (
    Card as Card,
    CardError as CardError,
    Interval as Interval,
    interval as interval,
    load_all as load_all,
    paired as paired,
    published as published,
    read as read,
    write as write,
)
from .paired_curves import Gaps as Gaps, along as along
from .result_tables import Row as Row, rows as rows
