from . import (
    absorption as absorption,
    additive_head as additive_head,
    arguments as arguments,
    bch as bch,
    budget as budget,
    cache_size as cache_size,
    complex_forms as complex_forms,
    dimension_counts as dimension_counts,
    finite_width as finite_width,
    frequency_schedules as frequency_schedules,
    generators as generators,
    grid_positions as grid_positions,
    half_precision as half_precision,
    hf_rope as hf_rope,
    hf_schedules as hf_schedules,
    latent as latent,
    layouts as layouts,
    linear_attention as linear_attention,
    longer_texts as longer_texts,
    many_axes as many_axes,
    normal_form as normal_form,
    one_head as one_head,
    orthogonal_powers as orthogonal_powers,
    pairing as pairing,
    placements as placements,
    rankings as rankings,
    recurrence as recurrence,
    rotation as rotation,
    rounded_cache as rounded_cache,
    schedule as schedule,
    solutions as solutions,
    symbolic as symbolic,
    widely_linear as widely_linear,
)
from .absorption import (
    Weights as Weights,
    absorb as absorb,
    absorb_generators as absorb_generators,
    attention_logits as attention_logits,
)
from .additive_head import (
    AdditiveHead as AdditiveHead,
    least_tilt_range as least_tilt_range,
    parabola_head as parabola_head,
    sinusoid_head as sinusoid_head,
)
from .arguments import expect_skew as expect_skew
from .bch import (
    X as X,
    Y as Y,
    coefficients as coefficients,
    commutator as commutator,
    exponent as exponent,
    series as series,
)
from .budget import (
    PARTS as PARTS,
    ModelShape as ModelShape,
    cache as cache,
    multiplications as multiplications,
    parameters as parameters,
    saving as saving,
)
from .cache_size import (
    MODELS as MODELS,
    CacheShape as CacheShape,
    SCHEMES as SCHEMES,
    Scheme as Scheme,
    bytes_per_token as bytes_per_token,
    numbers_per_token as numbers_per_token,
    products_per_pair as products_per_pair,
)
from .complex_forms import gauge as gauge, phase_average as phase_average, real_input as real_input, widen as widen
from .dimension_counts import (
    family_dimension as family_dimension,
    form_dimension as form_dimension,
    gauge_dimension as gauge_dimension,
    jacobian_rank as jacobian_rank,
    value_dimension as value_dimension,
    value_rank as value_rank,
    weight_dimension as weight_dimension,
)
from .finite_width import (
    RelativeFeatures as RelativeFeatures,
    hankel_rank as hankel_rank,
    relative_features as relative_features,
)
from .frequency_schedules import (
    NTK as NTK,
    ByParts as ByParts,
    Divided as Divided,
    DynamicNTK as DynamicNTK,
    Linear as Linear,
    Llama3 as Llama3,
    LongRoPE as LongRoPE,
    Proportional as Proportional,
    Schedule as Schedule,
    Yarn as Yarn,
    YarnPaper as YarnPaper,
)
from .generators import (
    alias as alias,
    angles_4d as angles_4d,
    exponential as exponential,
    generator_2d as generator_2d,
    generator_matrix as generator_matrix,
    halves_4d as halves_4d,
    is_orthogonal as is_orthogonal,
    power as power,
    power_4d as power_4d,
    skew_4d as skew_4d,
)
from .grid_positions import grid_law_residual as grid_law_residual, grid_turn as grid_turn
from .half_precision import (
    Format as Format,
    Rounding as Rounding,
    bit_pattern as bit_pattern,
    round_to as round_to,
    rounded_angles as rounded_angles,
    rounded_logits as rounded_logits,
    rounded_turns as rounded_turns,
    spacing as spacing,
    turn_errors as turn_errors,
)
from .hf_schedules import RopeSettings as RopeSettings, rope_settings as rope_settings
from .latent import (
    WAYS as WAYS,
    Decoded as Decoded,
    absorbed as absorbed,
    decode as decode,
    expanded as expanded,
    relative as relative,
    softmax as softmax,
    spliced as spliced,
    training_form as training_form,
)
from .layouts import (
    cycles as cycles,
    minimal_moves as minimal_moves,
    minimal_swaps as minimal_swaps,
    parity as parity,
    projection_permutation as projection_permutation,
    quarter_turn as quarter_turn,
    rotate_elementwise as rotate_elementwise,
    row_moves as row_moves,
    row_swaps as row_swaps,
)
from .linear_attention import (
    hadamard_witness as hadamard_witness,
    kernel as kernel,
    mixed_basis as mixed_basis,
    relu as relu,
    relu_blocks as relu_blocks,
)
from .longer_texts import Lowest as Lowest, lowest_decay as lowest_decay, reach as reach
from .many_axes import (
    axial_frequencies as axial_frequencies,
    interleaved_frequencies as interleaved_frequencies,
    largest_turns as largest_turns,
    mixed_frequencies as mixed_frequencies,
    plane_angles as plane_angles,
    section_frequencies as section_frequencies,
)
from .normal_form import (
    OrthogonalForm as OrthogonalForm,
    SkewForm as SkewForm,
    orthogonal_normal_form as orthogonal_normal_form,
    skew_normal_form as skew_normal_form,
)
from .one_head import (
    leak_law as leak_law,
    neighbour_gap as neighbour_gap,
    offset_logits as offset_logits,
    offset_query as offset_query,
    ones_key as ones_key,
    returns as returns,
    target_weight as target_weight,
    token_projection as token_projection,
)
from .orthogonal_powers import (
    adapted_axis as adapted_axis,
    mirror as mirror,
    orthogonal_power as orthogonal_power,
    skew_logarithm as skew_logarithm,
    split_off as split_off,
)
from .pairing import (
    best_pairing as best_pairing,
    linear_part as linear_part,
    linear_share as linear_share,
    random_pairing as random_pairing,
)
from .placements import (
    PLACEMENTS as PLACEMENTS,
    attention as attention,
    attention_weights as attention_weights,
    is_relative as is_relative,
    moved as moved,
    roles as roles,
)
from .rankings import (
    exchanges as exchanges,
    holm as holm,
    kendall_p as kendall_p,
    kendall_tau as kendall_tau,
    orders_at as orders_at,
    paired_p as paired_p,
    spearman_p as spearman_p,
    spearman_rho as spearman_rho,
)
from .recurrence import (
    convolved as convolved,
    decay_attention as decay_attention,
    impulse_response as impulse_response,
    recurrent as recurrent,
    retention as retention,
    retention_recurrent as retention_recurrent,
    rotate_then_decay as rotate_then_decay,
    sign_changes as sign_changes,
)
from .rotation import (
    frequencies as frequencies,
    layout_permutation as layout_permutation,
    logits as logits,
    planes as planes,
    rotate as rotate,
    rotation_2d as rotation_2d,
    rotation_matrix as rotation_matrix,
)
from .rounded_cache import (
    still_below as still_below,
    stored as stored,
    turn_miss as turn_miss,
    turned_again as turned_again,
)
from .schedule import (
    decay as decay,
    dense_decay as dense_decay,
    log_law as log_law,
    logit_variance as logit_variance,
    turns as turns,
    wavelengths as wavelengths,
)
from .solutions import (
    R_T as R_T,
    R as R,
    by_law as by_law,
    by_transpose as by_transpose,
    classify as classify,
    law_residual as law_residual,
    one_dimensional as one_dimensional,
    solution as solution,
    transposed as transposed,
)
from .widely_linear import (
    SIGMA as SIGMA,
    complex_matrix as complex_matrix,
    complex_parts as complex_parts,
    energies as energies,
    join as join,
    sigma_coordinates as sigma_coordinates,
    split as split,
    times_i as times_i,
    to_complex as to_complex,
    to_real as to_real,
)
from .symbolic import induction_step as induction_step
