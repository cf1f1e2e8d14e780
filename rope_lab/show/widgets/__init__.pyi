from rope_lab.chapters.ch05_generators import (
    alias_hands as alias_hands,
    powers_of_o as powers_of_o,
    so4_explorer as so4_explorer,
)
from rope_lab.chapters.ch19_longer_texts import base_bound as base_bound, schedule_lines as schedule_lines
from rope_lab.chapters.ch18_precision import bf16_positions as bf16_positions
from rope_lab.chapters.ch12_what_crope_removes import (
    budget_calculator as budget_calculator,
    half_of_what as half_of_what,
    send_two as send_two,
)
from rope_lab.chapters.ch09_one_cache import cache_calculator as cache_calculator
from rope_lab.chapters.ch20_cache_surgery import cached_keys as cached_keys
from rope_lab.chapters.ch02_many_planes import clock_bank as clock_bank
from rope_lab.chapters.ch13_one_head import concentration as concentration
from rope_lab.chapters.ch06_block_diagonalisation import falling_apart as falling_apart
from rope_lab.chapters.ch17_which_rope import fingerprint_playground as fingerprint_playground
from rope_lab.chapters.ch10_complex_rnn import impulse_response as impulse_response
from . import kit as kit, runs as runs, story as story
from rope_lab.chapters.ch14_tiny_gpt import learning_curves as learning_curves, seed_spread as seed_spread
from rope_lab.chapters.ch21_norms_and_layers import norm_around_turn as norm_around_turn
from rope_lab.chapters.ch16_nine_placements import nine_equals as nine_equals, ordering_explorer as ordering_explorer
from rope_lab.chapters.ch07_many_axes import patch_grid as patch_grid
from rope_lab.chapters.ch08_rope_on_values import placement_board as placement_board
from rope_lab.chapters.ch04_relative_identity import (
    order_flips as order_flips,
    proof_stepper as proof_stepper,
    shift_test as shift_test,
)
from rope_lab.chapters.ch01_one_plane import ride as ride, two_hands as two_hands
from rope_lab.chapters.ch15_crope_tables import seed_interval as seed_interval, table_explorer as table_explorer
from rope_lab.chapters.ch00_intro import shift_sentence as shift_sentence, tapestry as tapestry
from rope_lab.chapters.ch11_sigma_basis import sigma_board as sigma_board
from rope_lab.chapters.ch03_two_layouts import wrong_layout as wrong_layout
from rope_lab.chapters.ch05_generators.alias_hands import AliasHands as AliasHands
from rope_lab.chapters.ch19_longer_texts.base_bound import BaseBound as BaseBound
from rope_lab.chapters.ch18_precision.bf16_positions import BfPositions as BfPositions
from rope_lab.chapters.ch12_what_crope_removes.budget_calculator import BudgetCalculator as BudgetCalculator
from rope_lab.chapters.ch09_one_cache.cache_calculator import CacheCalculator as CacheCalculator
from rope_lab.chapters.ch20_cache_surgery.cached_keys import CachedKeys as CachedKeys
from rope_lab.chapters.ch02_many_planes.clock_bank import ClockBank as ClockBank
from rope_lab.chapters.ch13_one_head.concentration import Concentration as Concentration
from rope_lab.chapters.ch06_block_diagonalisation.falling_apart import FallingApart as FallingApart
from rope_lab.chapters.ch17_which_rope.fingerprint_playground import FingerprintPlayground as FingerprintPlayground
from rope_lab.chapters.ch12_what_crope_removes.half_of_what import HalfOfWhat as HalfOfWhat
from rope_lab.chapters.ch10_complex_rnn.impulse_response import ImpulseResponse as ImpulseResponse
from rope_lab.chapters.ch14_tiny_gpt.learning_curves import LearningCurves as LearningCurves, panels_of as panels_of
from rope_lab.chapters.ch21_norms_and_layers.norm_around_turn import NormAroundTurn as NormAroundTurn
from rope_lab.chapters.ch16_nine_placements.nine_equals import NineEquals as NineEquals
from rope_lab.chapters.ch04_relative_identity.order_flips import OrderFlips as OrderFlips
from rope_lab.chapters.ch16_nine_placements.ordering_explorer import OrderingExplorer as OrderingExplorer
from rope_lab.chapters.ch07_many_axes.patch_grid import PatchGrid as PatchGrid
from rope_lab.chapters.ch08_rope_on_values.placement_board import PlacementBoard as PlacementBoard
from rope_lab.chapters.ch05_generators.powers_of_o import PowersOfO as PowersOfO
from rope_lab.chapters.ch04_relative_identity.proof_stepper import ProofStepper as ProofStepper
from rope_lab.chapters.ch01_one_plane.ride import Ride as Ride
from rope_lab.chapters.ch15_crope_tables.seed_interval import SeedInterval as SeedInterval
from rope_lab.chapters.ch14_tiny_gpt.seed_spread import SeedSpread as SeedSpread
from rope_lab.chapters.ch19_longer_texts.schedule_lines import ScheduleLines as ScheduleLines
from rope_lab.chapters.ch12_what_crope_removes.send_two import SendTwo as SendTwo
from rope_lab.chapters.ch00_intro.shift_sentence import ShiftSentence as ShiftSentence
from rope_lab.chapters.ch04_relative_identity.shift_test import ShiftTest as ShiftTest
from rope_lab.chapters.ch11_sigma_basis.sigma_board import SigmaBoard as SigmaBoard
from rope_lab.chapters.ch05_generators.so4_explorer import So4Explorer as So4Explorer
from .story import Story as Story
from rope_lab.chapters.ch15_crope_tables.table_explorer import TableExplorer as TableExplorer
from rope_lab.chapters.ch00_intro.tapestry import Tapestry as Tapestry
from rope_lab.chapters.ch01_one_plane.two_hands import TwoHands as TwoHands
from rope_lab.chapters.ch03_two_layouts.wrong_layout import WrongLayout as WrongLayout
