"""The table of families: rows that the tool makes, layers that share an answer together, and refusals in words."""

import pytest

from rope_lab.audit import atlas, causal_families, model_probe, probe_all, probe_results, shift_results, tiny_model
from rope_lab.audit import model_probes as module
from rope_lab.audit.foreign_code import TargetError, version
from rope_lab.audit.model_probes import LayerProbe, ModelProbe, probe_row
from tests.deep import sampled

pytestmark = pytest.mark.usefixtures("untyped")
FAMILIES = ["llama", "mimo_v2_flash", "gpt_neox", "deepseek_v3", "gemma3_text", "nanochat", "mamba", "bamba", "xlnet"]


@pytest.mark.parametrize("family", sampled([row["model"] for row in probe_results()["rows"]], FAMILIES))
def test_every_family_has_the_committed_row(family):
    pytest.importorskip("transformers")
    committed = next(row for row in probe_results()["rows"] if row["model"] == family)
    (row,) = probe_all([family], limit=600)["rows"]
    assert row == committed
    if not row["skipped"]:
        printed = str(model_probe(tiny_model(family), name=family)).splitlines()
        assert [line for answer in row["answers"] for line in answer["words"]] == [
            line.partition(": ")[2] if line.startswith("layer") else line.strip() for line in printed[1:]
        ]


def test_every_family_has_a_row_and_every_layer_an_answer():
    pytest.importorskip("transformers")
    table, moved = probe_results(), shift_results()
    rows = table["rows"]
    if version("transformers") == table["transformers"]:
        assert [row["model"] for row in rows] == list(causal_families())
    if moved["transformers"] == table["transformers"]:
        assert [row["model"] for row in rows] == [row["model"] for row in moved["rows"]]
    for row in rows:
        if row["skipped"]:
            assert len(row["skipped"]) > 10
            assert "no answer within" not in row["skipped"]
        else:
            layers = sorted(i for answer in row["answers"] for i in answer["layers"])
            assert layers == list(range(row["layers"]))


def test_no_refusal_shows_backquotes():
    for table in (probe_results(), shift_results(), *atlas()):
        assert not [row for row in table["rows"] if "`" in (row["skipped"] or "")]


def test_known_families_by_their_rows():
    rows = {row["model"]: row for row in probe_results()["rows"]}
    (nanochat,) = rows["nanochat"]["answers"]
    assert nanochat["queries"]["direction"] == -1
    assert nanochat["norms_after"] == ["self_attn.q_norm", "self_attn.k_norm"]
    bases = {answer["queries"]["base"]: answer["layers"] for answer in rows["gemma3_text"]["answers"]}
    assert bases == {1e4: [0, 1, 2, 3, 4], 1e6: [5]}
    (neox,) = rows["gpt_neox"]["answers"]
    assert (neox["queries"]["rotated_dims"], neox["queries"]["head_dim"], neox["queries"]["coordinates"]) == (
        4,
        16,
        "0-3",
    )
    mimo = [answer["queries"] for answer in rows["mimo_v2_flash"]["answers"]]
    assert [(turn["base"], turn["rotated_dims"], turn["head_dim"]) for turn in mimo] == [(5e6, 8, 24), (1e4, 8, 24)]
    (deepseek,) = rows["deepseek_v3"]["answers"]
    assert (deepseek["queries"]["rotated_dims"], deepseek["queries"]["coordinates"]) == (16, "16-31")


def test_what_raises_or_has_no_end_is_a_row_in_words(monkeypatch):
    def fails(name):
        raise {"bug": ZeroDivisionError("in foreign code"), "large": TargetError("it stays large")}[name]

    monkeypatch.setattr(module, "tiny_model", fails)
    seen = []
    rows = probe_all(["bug", "large"], told=seen.append)["rows"]
    assert [row["skipped"] for row in rows] == [
        "probing it raised ZeroDivisionError: in foreign code",
        "it stays large",
    ]
    assert seen == ["bug", "large"]

    def sleeps(_):
        while True:
            pass

    monkeypatch.setattr(module, "tiny_model", sleeps)
    assert probe_all(["slow"], limit=0.2)["rows"][0]["skipped"] == "no answer within 0.2 seconds"


def test_a_model_of_which_no_layer_was_read_is_not_answered():
    unread = LayerProbe(None, None, False, (), (), (), problem="no one matrix")
    still = LayerProbe(None, None, False, (), (), ())
    assert probe_row(ModelProbe("x", (unread, unread)))["skipped"] == "no layer was read: no one matrix"
    row = probe_row(ModelProbe("x", (unread, still)))
    assert [answer["problem"] for answer in row["answers"]] == ["no one matrix", ""]
