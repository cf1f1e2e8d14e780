from . import (
    adapters as adapters,
    applied_here as applied_here,
    apply_calls as apply_calls,
    apply_functions as apply_functions,
    atlas_rows as atlas_rows,
    audits as audits,
    axes as axes,
    by_design as by_design,
    changing_schedules as changing_schedules,
    configured as configured,
    constructions as constructions,
    conversion as conversion,
    cos_sin_modules as cos_sin_modules,
    every as every,
    example as example,
    families as families,
    family_configs as family_configs,
    family_tables as family_tables,
    fingerprints as fingerprints,
    frequency_rule as frequency_rule,
    gallery as gallery,
    gallery_matches as gallery_matches,
    guard as guard,
    importing as importing,
    inventory as inventory,
    law_checks as law_checks,
    law_suite as law_suite,
    library as library,
    loaded_models as loaded_models,
    long_positions as long_positions,
    matrices as matrices,
    messages as messages,
    model_probes as model_probes,
    module_laws as module_laws,
    pictures as pictures,
    position_axis as position_axis,
    probe as probe,
    probe_table as probe_table,
    report_lines as report_lines,
    shift_causes as shift_causes,
    shift_runs as shift_runs,
    shift_table as shift_table,
    shift_tests as shift_tests,
    state_laws as state_laws,
    table_calls as table_calls,
    tiny_models as tiny_models,
    turning_calls as turning_calls,
    whole_sequences as whole_sequences,
    worker as worker,
)
from .atlas_rows import atlas as atlas
from .audits import (
    Audit as Audit,
    audit as audit,
    audit_all as audit_all,
    conventions as conventions,
    examine as examine,
    lines as lines,
)
from .axes import Axis as Axis
from .changing_schedules import length_dependence as length_dependence
from .conversion import permute_rotary as permute_rotary, permute_state as permute_state
from .every import audit_every as audit_every
from .example import llama_example as llama_example
from .fingerprints import Fingerprint as Fingerprint, fingerprint as fingerprint
from .frequency_rule import Rule as Rule, explain as explain
from .gallery import GALLERY as GALLERY, Mistake as Mistake
from .law_suite import Law as Law, laws as laws
from .loaded_models import ModelRotary as ModelRotary, rotary_of as rotary_of
from .model_probes import LayerProbe as LayerProbe, ModelProbe as ModelProbe, model_probe as model_probe
from .probe_table import probe_all as probe_all, probe_results as probe_results
from .shift_table import shift_all as shift_all, shift_lines as shift_lines, shift_results as shift_results
from .shift_tests import LayerShift as LayerShift, ShiftReport as ShiftReport, shift_test as shift_test
from .tiny_models import causal_families as causal_families, load_model as load_model, tiny_model as tiny_model
