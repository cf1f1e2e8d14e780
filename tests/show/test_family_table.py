"""The table of families: what a row says, what it can be chosen by, and that all of the committed rows are in it."""

from rope_lab.audit import probe_results, shift_results
from rope_lab.show import FamilyTable
from rope_lab.show.family_table import family_cells, family_facts, shift_words

TURN = {
    "layout": "half-split",
    "rotated_dims": 4,
    "head_dim": 16,
    "direction": 1,
    "base": 500000.0,
    "scheme": "one base",
    "coordinates": "0-3",
}
ANSWER = {
    "layers": [0, 1, 3],
    "words": ["half-split, 4 of 16"],
    "problem": "",
    "met": True,
    "queries": TURN,
    "keys": TURN,
    "agree": True,
    "values": False,
    "functions": ["pack:turn"],
    "halves": False,
    "norms_before": ["q_norm"],
    "norms_after": [],
}
ROW = {"model": "my_<model>", "skipped": None, "ok": True, "layers": 4, "answers": [ANSWER]}
TABLE = {"transformers": "5", "date": "2026-11-01"}


def cells(**changes):
    return family_cells(ROW, ANSWER | changes)


def test_a_row_in_words():
    assert cells() == ["0, 1, 3 (of 4)", "half-split", "the first 4 of 16", "base 500,000", "before"]
    assert cells(queries=TURN | {"direction": -1})[1] == "half-split, clockwise"
    assert cells(queries=TURN | {"direction": 0})[1] == "half-split, both ways"
    assert cells(layers=[0, 1, 2, 3])[0] == "all"
    assert cells(layers=[1, 2])[0] == "1 to 2 (of 4)"
    assert cells(queries=TURN | {"coordinates": "12-15"})[2] == "the last 4 of 16"
    assert cells(queries=TURN | {"coordinates": "0-1, 8-9"})[2] == "4 of 16: 0-1, 8-9"  # not the first four
    assert cells(queries=TURN | {"rotated_dims": 16})[2] == "all"
    assert cells(queries=TURN | {"base": None, "scheme": "YaRN"})[3] == "YaRN"
    assert cells(queries=None)[1] == "half-split"  # keys turn alone
    assert cells(agree=False)[1] == "half-split; queries and keys differ"
    assert cells(values=True)[1] == "half-split; values turn too"
    assert cells(halves=True)[1] == "interleaved; written in halves"
    assert cells(halves=True, queries=TURN | {"layout": "interleaved"})[1] == "interleaved"
    assert cells(queries=None, keys=None, words=["no rotation"])[1:] == ["no rotation", *"–––"]
    assert cells(problem="no one matrix")[1] == "not read: no one matrix"
    assert cells(norms_after=["k_norm"])[-1] == "before and after"


def test_what_a_row_is_chosen_by():
    assert family_facts(ANSWER) == {"layout": "half-split", "turns": "a part of the head", "norms": "before the turn"}
    assert family_facts(ANSWER | {"queries": None, "keys": None})["turns"] == "nothing"
    assert family_facts(ANSWER | {"queries": None, "keys": None, "met": False})["turns"] == "no meeting seen"
    assert family_facts(ANSWER | {"halves": True})["layout"] == "interleaved"
    assert set(family_facts(None).values()) == {"not answered"}
    assert shift_words(None) == shift_words({"skipped": "no"}) == "not moved"
    assert shift_words({"skipped": None, "relative": True}) == "changes nothing"
    lost = {"skipped": None, "relative": False, "causes": ["a norm"]}
    assert shift_words(lost) == "changes the logits: a norm"


def test_the_table_has_the_command_and_escapes_what_a_library_says():
    rows = [ROW, {"model": "other", "skipped": "needs <more>"}]
    html = FamilyTable(TABLE | {"rows": rows})._repr_html_()
    assert '--model</span> my_<wbr>&lt;model&gt; <span class="unbroken">--probe</span></code>' in html
    assert '<code>rope-lab audit <span class="unbroken">--model</span> other <span' in html
    assert "not answered: needs &lt;more&gt;" in html
    assert '<option value="a part of the head">a part of the head</option>' in html
    assert "<p>half-split, 4 of 16</p>" in html


def test_every_committed_answer_is_a_row():
    probed = probe_results()
    html = FamilyTable(probed, shift_results())._repr_html_().replace("<wbr>", "")
    answers = sum(1 if row["skipped"] else len(row["answers"]) for row in probed["rows"])
    assert html.count("<tr ") == answers
    for row in probed["rows"]:
        assert f'--model</span> {row["model"]} <span class="unbroken">--probe</span></code>' in html
    assert len(html) < 400_000
