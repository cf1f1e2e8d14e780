from . import (
    block_diagonalisation as block_diagonalisation,
    cache_surgery as cache_surgery,
    complex_rnn as complex_rnn,
    crope_tables as crope_tables,
    generators as generators,
    grid_answers as grid_answers,
    introduction as introduction,
    long_contexts as long_contexts,
    many_axes as many_axes,
    many_planes as many_planes,
    newer_encodings as newer_encodings,
    nine_placements as nine_placements,
    one_cache as one_cache,
    one_head as one_head,
    one_plane as one_plane,
    orthogonal_powers as orthogonal_powers,
    planned_comparison as planned_comparison,
    precision as precision,
    relative_identity as relative_identity,
    rope_on_values as rope_on_values,
    sigma_basis as sigma_basis,
    tiny_gpt as tiny_gpt,
    two_layouts as two_layouts,
    what_crope_removes as what_crope_removes,
    which_rope as which_rope,
)
from .block_diagonalisation import two_bases as two_bases
from .cache_surgery import frozen_planes as frozen_planes
from .complex_rnn import bell_curves as bell_curves, fading_and_turning as fading_and_turning
from .crope_tables import curves as curves, layers as layers, planes as planes
from .generators import two_aliases as two_aliases, two_winds as two_winds
from .grid_answers import grid_question as grid_question, grid_question_verdicts as grid_question_verdicts
from .introduction import book_map as book_map, part_picture as part_picture
from .long_contexts import (
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
from .many_axes import three_interleavings as three_interleavings, turns_of_tables as turns_of_tables
from .many_planes import angles_met as angles_met, one_turn as one_turn
from .newer_encodings import finite_widths as finite_widths
from .nine_placements import (
    against_nope as against_nope,
    base_and_plane as base_and_plane,
    begun_elsewhere as begun_elsewhere,
    crossing as crossing,
    every_pair as every_pair,
    longer_windows as longer_windows,
    one_cache_table as one_cache_table,
    relations as relations,
)
from .one_cache import bytes_for_each_token as bytes_for_each_token, one_step as one_step
from .one_head import no_delta as no_delta, the_task as the_task, tilted as tilted, trained_heads as trained_heads
from .one_plane import forward_and_back as forward_and_back, same_offset as same_offset
from .orthogonal_powers import three_powers as three_powers, two_routes as two_routes
from .planned_comparison import (
    answer_table as answer_table,
    difference_by_rate as difference_by_rate,
    five_answers as five_answers,
    four_lengths as four_lengths,
    loss_by_rate as loss_by_rate,
    rows_by_rate as rows_by_rate,
)
from .precision import (
    LINES as LINES,
    errors as errors,
    rounding_along_the_text as rounding_along_the_text,
    ruler as ruler,
)
from .relative_identity import (
    every_solution as every_solution,
    one_more_plane as one_more_plane,
    opposite_steps as opposite_steps,
    three_steps as three_steps,
)
from .rope_on_values import arrivals as arrivals, fading as fading
from .sigma_basis import four_maps as four_maps, two_halves as two_halves
from .tiny_gpt import paired_seeds as paired_seeds, stream as stream
from .two_layouts import two_pairings as two_pairings, two_patterns as two_patterns
from .what_crope_removes import many_pairings as many_pairings, three_halves as three_halves
from .which_rope import four_answers as four_answers, one_answer as one_answer, schedule_lines as schedule_lines
