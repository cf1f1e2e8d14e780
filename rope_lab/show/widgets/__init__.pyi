from . import (
    alias_hands as alias_hands,
    base_bound as base_bound,
    bf16_positions as bf16_positions,
    budget_calculator as budget_calculator,
    cache_calculator as cache_calculator,
    cached_keys as cached_keys,
    clock_bank as clock_bank,
    concentration as concentration,
    falling_apart as falling_apart,
    fingerprint_playground as fingerprint_playground,
    impulse_response as impulse_response,
    kit as kit,
    learning_curves as learning_curves,
    nine_equals as nine_equals,
    ordering_explorer as ordering_explorer,
    patch_grid as patch_grid,
    placement_board as placement_board,
    powers_of_o as powers_of_o,
    proof_stepper as proof_stepper,
    ride as ride,
    runs as runs,
    schedule_lines as schedule_lines,
    seed_interval as seed_interval,
    seed_spread as seed_spread,
    send_two as send_two,
    shift_sentence as shift_sentence,
    shift_test as shift_test,
    sigma_board as sigma_board,
    so4_explorer as so4_explorer,
    story as story,
    table_explorer as table_explorer,
    tapestry as tapestry,
    two_hands as two_hands,
    wrong_layout as wrong_layout,
)
from .alias_hands import AliasHands as AliasHands
from .base_bound import BaseBound as BaseBound
from .bf16_positions import BfPositions as BfPositions
from .budget_calculator import BudgetCalculator as BudgetCalculator
from .cache_calculator import CacheCalculator as CacheCalculator
from .cached_keys import CachedKeys as CachedKeys
from .clock_bank import ClockBank as ClockBank
from .concentration import Concentration as Concentration
from .falling_apart import FallingApart as FallingApart
from .fingerprint_playground import FingerprintPlayground as FingerprintPlayground
from .impulse_response import ImpulseResponse as ImpulseResponse
from .learning_curves import LearningCurves as LearningCurves, panels_of as panels_of
from .nine_equals import NineEquals as NineEquals
from .ordering_explorer import OrderingExplorer as OrderingExplorer
from .patch_grid import PatchGrid as PatchGrid
from .placement_board import PlacementBoard as PlacementBoard
from .powers_of_o import PowersOfO as PowersOfO
from .proof_stepper import ProofStepper as ProofStepper
from .ride import Ride as Ride
from .seed_interval import SeedInterval as SeedInterval
from .seed_spread import SeedSpread as SeedSpread
from .schedule_lines import ScheduleLines as ScheduleLines
from .send_two import SendTwo as SendTwo
from .shift_sentence import ShiftSentence as ShiftSentence
from .shift_test import ShiftTest as ShiftTest
from .sigma_board import SigmaBoard as SigmaBoard
from .so4_explorer import So4Explorer as So4Explorer
from .story import Story as Story
from .table_explorer import TableExplorer as TableExplorer
from .tapestry import Tapestry as Tapestry
from .two_hands import TwoHands as TwoHands
from .wrong_layout import WrongLayout as WrongLayout
