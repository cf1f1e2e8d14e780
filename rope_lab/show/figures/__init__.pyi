from rope_lab.chapters.ch06_block_diagonalisation import figures as block_diagonalisation
from rope_lab.chapters.ch20_cache_surgery import figures as cache_surgery
from rope_lab.chapters.ch10_complex_rnn import figures as complex_rnn
from rope_lab.chapters.ch15_crope_tables import (
    figures as crope_tables,
    figures_planned_comparison as planned_comparison,
)
from rope_lab.chapters.ch05_generators import figures as generators
from rope_lab.chapters.ch07_many_axes import figures_grid_answers as grid_answers, figures as many_axes
from rope_lab.chapters.ch00_intro import figures as introduction
from rope_lab.chapters.ch19_longer_texts import figures as long_contexts
from rope_lab.chapters.ch02_many_planes import figures as many_planes
from rope_lab.chapters.ch04_relative_identity import (
    figures_newer_encodings as newer_encodings,
    figures as relative_identity,
)
from rope_lab.chapters.ch16_nine_placements import figures as nine_placements
from rope_lab.chapters.ch21_norms_and_layers import figures as norms_and_layers
from rope_lab.chapters.ch09_one_cache import figures as one_cache
from rope_lab.chapters.ch13_one_head import figures as one_head
from rope_lab.chapters.ch01_one_plane import figures as one_plane
from rope_lab.chapters.ch18_precision import figures as precision
from rope_lab.chapters.ch08_rope_on_values import figures as rope_on_values
from rope_lab.chapters.ch11_sigma_basis import figures as sigma_basis
from rope_lab.chapters.ch14_tiny_gpt import figures as tiny_gpt
from rope_lab.chapters.ch03_two_layouts import figures as two_layouts
from rope_lab.chapters.ch12_what_crope_removes import figures as what_crope_removes
from rope_lab.chapters.ch17_which_rope import figures as which_rope
from rope_lab.chapters.ch06_block_diagonalisation.figures import two_bases as two_bases, two_matrices as two_matrices
from rope_lab.chapters.ch20_cache_surgery.figures import frozen_planes as frozen_planes
from rope_lab.chapters.ch10_complex_rnn.figures import (
    bell_curves as bell_curves,
    fading_and_turning as fading_and_turning,
)
from rope_lab.chapters.ch15_crope_tables.figures import curves as curves, layers as layers, planes as planes
from rope_lab.chapters.ch05_generators.figures import (
    three_powers as three_powers,
    two_aliases as two_aliases,
    two_winds as two_winds,
)
from rope_lab.chapters.ch07_many_axes.figures_grid_answers import (
    grid_question as grid_question,
    grid_question_verdicts as grid_question_verdicts,
)
from rope_lab.chapters.ch00_intro.figures import book_map as book_map, part_picture as part_picture
from rope_lab.chapters.ch19_longer_texts.figures import (
    along_the_stream as along_the_stream,
    longer_text_controls as longer_text_controls,
    longer_text_schedules as longer_text_schedules,
    longer_texts_table as longer_texts_table,
    longer_texts_verdicts as longer_texts_verdicts,
    story_beyond_table as story_beyond_table,
    story_stream_table as story_stream_table,
    stream_table as stream_table,
    stream_verdicts as stream_verdicts,
)
from rope_lab.chapters.ch07_many_axes.figures import (
    three_interleavings as three_interleavings,
    turns_of_tables as turns_of_tables,
    two_routes as two_routes,
)
from rope_lab.chapters.ch02_many_planes.figures import angles_met as angles_met, one_turn as one_turn
from rope_lab.chapters.ch04_relative_identity.figures_newer_encodings import (
    finite_widths as finite_widths,
    three_kinds_of_step as three_kinds_of_step,
)
from rope_lab.chapters.ch16_nine_placements.figures import (
    against_nope as against_nope,
    base_and_plane as base_and_plane,
    begun_elsewhere as begun_elsewhere,
    crossing as crossing,
    every_pair as every_pair,
    longer_windows as longer_windows,
    one_cache_table as one_cache_table,
    relations as relations,
)
from rope_lab.chapters.ch21_norms_and_layers.figures import circle_or_ellipse as circle_or_ellipse
from rope_lab.chapters.ch09_one_cache.figures import bytes_for_each_token as bytes_for_each_token, one_step as one_step
from rope_lab.chapters.ch13_one_head.figures import (
    no_delta as no_delta,
    the_task as the_task,
    tilted as tilted,
    trained_heads as trained_heads,
)
from rope_lab.chapters.ch01_one_plane.figures import (
    forward_and_back as forward_and_back,
    same_offset as same_offset,
    what_positions_bring as what_positions_bring,
)
from rope_lab.chapters.ch15_crope_tables.figures_planned_comparison import (
    answer_table as answer_table,
    difference_by_rate as difference_by_rate,
    five_answers as five_answers,
    four_lengths as four_lengths,
    loss_by_rate as loss_by_rate,
    rows_by_rate as rows_by_rate,
)
from rope_lab.chapters.ch18_precision.figures import (
    LINES as LINES,
    errors as errors,
    rounding_along_the_text as rounding_along_the_text,
    ruler as ruler,
)
from rope_lab.chapters.ch04_relative_identity.figures import (
    every_solution as every_solution,
    one_more_plane as one_more_plane,
    opposite_steps as opposite_steps,
    three_steps as three_steps,
)
from rope_lab.chapters.ch08_rope_on_values.figures import (
    arrivals as arrivals,
    fading as fading,
    how_long_ago as how_long_ago,
)
from rope_lab.chapters.ch11_sigma_basis.figures import four_maps as four_maps, two_halves as two_halves
from rope_lab.chapters.ch14_tiny_gpt.figures import paired_seeds as paired_seeds, stream as stream
from rope_lab.chapters.ch03_two_layouts.figures import two_pairings as two_pairings, two_patterns as two_patterns
from rope_lab.chapters.ch12_what_crope_removes.figures import (
    free_numbers as free_numbers,
    three_halves as three_halves,
    two_planes as two_planes,
    what_width_buys as what_width_buys,
)
from rope_lab.chapters.ch17_which_rope.figures import (
    four_answers as four_answers,
    one_answer as one_answer,
    schedule_lines as schedule_lines,
)
