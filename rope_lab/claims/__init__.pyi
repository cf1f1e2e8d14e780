from . import ledger as ledger, verification as verification
from .entry import (
    LABELS as LABELS,
    SOURCES as SOURCES,
    Claim as Claim,
    Erratum as Erratum,
    MalformedClaimError as MalformedClaimError,
    Result as Result,
)
from .ledger import (
    LEDGER as LEDGER,
    NoSuchClaimError as NoSuchClaimError,
    claim as claim,
    load as load,
    run as run,
    select as select,
    verify as verify,
)
from rope_lab.chapters.ch16_nine_placements.claims_book import base_gap as base_gap
