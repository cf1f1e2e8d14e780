"""Point it at any RoPE implementation."""

from rope_lab.audit.audits import conventions, examine
from rope_lab.audit.conversion import permute_state
from rope_lab.audit.fingerprints import Fingerprint, fingerprint
from rope_lab.audit.gallery import GALLERY, Mistake
from rope_lab.audit.law_suite import Law, laws
from rope_lab.audit.permutation import permute_rotary

__all__ = [
    "GALLERY",
    "Fingerprint",
    "Law",
    "Mistake",
    "conventions",
    "examine",
    "fingerprint",
    "laws",
    "permute_rotary",
    "permute_state",
]
