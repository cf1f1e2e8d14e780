"""The table of the atlas: what a row says, what it can be chosen by, and nothing of a library is markup."""

from rope_lab.audit import atlas
from rope_lab.show import AtlasTable
from rope_lab.show.atlas_table import cast, cells, facts, with_calls, with_commas, with_joints

ROW = {
    "name": "Rotary",
    "target": "pack.rope:Rotary",
    "file": "rope.py",
    "line": 3,
    "body": "aaaa",
    "shared": ["pack.copy:Rotary"],
    "skipped": None,
    "about": "as <set>",
    "layout": "half-split",
    "rotated_dims": 16,
    "head_dim": 64,
    "direction": -1,
    "base": None,
    "scheme": "YaRN, factor 4",
    "broken_laws": {},
    "by_design": {"preserves length": "the factor"},
    "axes": [{"planes": 4, "base": 1e4}, {"planes": 4, "base": None}],
}


def test_a_row_in_words():
    assert cells(ROW) == [
        "half-split",
        "16 of 64",
        "\N{MINUS SIGN}1",
        "YaRN, factor 4; planes by axis: 4, 4",
        "preserves length (by design)",
        "not asked",
    ]
    each = cells(ROW | {"axes": [{"planes": 4, "base": 1e4}, {"planes": 2, "base": 1e4}]})
    assert each[3] == "base 10,000 on each axis; planes by axis: 4, 2"
    minded = cells(ROW | {"by_design": {}, "cautions": {"survives casting": "keep it in float32"}})
    assert minded[4:] == ["all asked hold", "spoils it"]
    assert facts("pack", ROW) == {"library": "pack", "layout": "half-split", "laws": "by design", "cast": "not asked"}
    assert facts("pack", ROW | {"broken_laws": {"relative": "1"}})["laws"] == "broken"
    assert facts("pack", ROW | {"by_design": {}})["laws"] == "all asked hold"
    asked = ROW | {"by_design": {}, "not_asked": {"gradient": "no torch"}}
    assert cells(asked)[4:] == ["all asked hold; not asked: gradient", "harmless"]
    assert cast(ROW | {"not_asked": {"survives casting": "no module"}}) == "not asked"
    assert cast(ROW | {"axes": []}) == "not recorded"  # an older row: it does not say what was asked


def test_the_table_holds_the_command_and_who_shares_the_code_and_escapes_what_a_library_says():
    html = AtlasTable([{"library": "pack", "version": "1", "date": "2026-11-01", "rows": [ROW]}])._repr_html_()
    assert "rope-lab audit pack.<wbr>rope:<wbr>Rotary" in html
    assert "pack.<wbr>copy:<wbr>Rotary" in html
    assert "as &lt;set&gt;" in html
    assert '<option value="by design">by design</option>' in html
    minded = ROW | {"cautions": {"survives casting": "keep it in <float32>"}}
    html = AtlasTable([{"library": "pack", "version": "1", "date": "2026-11-01", "rows": [minded]}])._repr_html_()
    assert "<p>a cast spoils it: keep it in &lt;float32&gt;</p>" in html


def test_a_row_without_an_answer_says_why():
    row = {key: ROW[key] for key in ("name", "target", "file", "line", "body", "shared")} | {"skipped": "needs <more>"}
    html = AtlasTable([{"library": "pack", "version": "1", "date": "2026-11-01", "rows": [row]}])._repr_html_()
    assert "not answered: needs &lt;more&gt;" in html
    assert facts("pack", row)["laws"] == "not answered"


def test_names_break_where_they_are_joined_and_words_of_a_sentence_do_not():
    assert with_joints("my_pack.rope") == "my_<wbr>pack.<wbr>rope"
    assert with_joints("MyRotary") == "My<wbr>Rotary"
    assert with_calls("a ramp (YaRN): Yarn(factor=2)") == "a ramp (YaRN): Yarn<wbr>(factor=2)"


def test_bases_have_commas_and_other_numbers_of_a_call_do_not():
    assert with_commas("base 1e+06 (base 150000 in planes 0 to 3)") == "base 1,000,000 (base 150,000 in planes 0 to 3)"
    assert with_commas("base 256; Yarn(window=131072)") == "base 256; Yarn(window=131072)"
    assert cells(ROW | {"base": 1e8})[3].startswith("base 100,000,000;")


def test_two_classes_of_one_name_show_their_modules():
    other = ROW | {"target": "pack.vision_tower:Rotary", "shared": []}
    found = {"library": "pack", "version": "1", "date": "2026-11-01"}
    html = AtlasTable([found | {"rows": [ROW, other]}])._repr_html_()
    assert "<small>pack.<wbr>rope</small>" in html
    assert "<small>pack.<wbr>vision_<wbr>tower</small>" in html
    assert "<small>pack</small>" in AtlasTable([found | {"rows": [ROW]}])._repr_html_()


def test_the_committed_rows_make_a_table():
    found = atlas()
    rows = [row for library in found for row in library["rows"]]
    html = AtlasTable(found)._repr_html_()
    assert html.count("<tr ") == len(rows)
    assert {library["library"] for library in found} >= {"transformers"}
    targets = [target for row in rows for target in (row["target"], *row["shared"])]
    assert all(":" in target for target in targets)
