from . import (
    adapters as adapters,
    atlas_rows as atlas_rows,
    audits as audits,
    constructions as constructions,
    conversion as conversion,
    decoding as decoding,
    far_positions as far_positions,
    fingerprints as fingerprints,
    foreign_code as foreign_code,
    frequency_rule as frequency_rule,
    gallery as gallery,
    law_checks as law_checks,
    law_suite as law_suite,
    loaded_models as loaded_models,
    model_probes as model_probes,
    probe as probe,
    shift_runs as shift_runs,
    shift_tests as shift_tests,
    table_calls as table_calls,
    tiny_models as tiny_models,
    ways as ways,
    worker as worker,
)
from .atlas_rows import atlas as atlas
from .audits import (
    Audit as Audit,
    audit as audit,
    audit_all as audit_all,
    audit_every as audit_every,
    conventions as conventions,
    examine as examine,
    lines as lines,
)
from .conversion import permute_rotary as permute_rotary, permute_state as permute_state
from .decoding import (
    Decoder as Decoder,
    DecodingReport as DecodingReport,
    DecodingRow as DecodingRow,
    decoding_test as decoding_test,
)
from .fingerprints import Axis as Axis, Fingerprint as Fingerprint, fingerprint as fingerprint
from .frequency_rule import Rule as Rule, explain as explain
from .gallery import GALLERY as GALLERY, Mistake as Mistake
from .law_suite import Law as Law, laws as laws
from .loaded_models import ModelRotary as ModelRotary, llama_example as llama_example, rotary_of as rotary_of
from .model_probes import (
    LayerProbe as LayerProbe,
    ModelProbe as ModelProbe,
    model_probe as model_probe,
    probe_all as probe_all,
    probe_results as probe_results,
)
from .shift_tests import (
    LayerShift as LayerShift,
    ShiftReport as ShiftReport,
    length_dependence as length_dependence,
    shift_all as shift_all,
    shift_lines as shift_lines,
    shift_results as shift_results,
    shift_test as shift_test,
)
from .tiny_models import causal_families as causal_families, load_model as load_model, tiny_model as tiny_model
