from . import ledger as ledger, verification as verification
from .entry import (
    SOURCES as SOURCES,
    Claim as Claim,
    Erratum as Erratum,
    MalformedClaim as MalformedClaim,
    Result as Result,
)
from .ledger import (
    LEDGER as LEDGER,
    NoSuchClaim as NoSuchClaim,
    claim as claim,
    load as load,
    run as run,
    select as select,
    verify as verify,
)
from .book.ch16_nine_placements import base_gap as base_gap
