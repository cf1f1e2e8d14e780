"""The table of the proofs against their files, the ledger and the pages: all that can be asked without Coq."""

import json
import re
import subprocess
import sys
from pathlib import Path

import pytest
import yaml

from proofs import check
from rope_lab.claims import load

ROOT = Path(__file__).resolve().parents[1]
TABLE = json.loads(check.TABLE.read_text(encoding="utf-8"))
TEXTS = check.sources()


def test_the_table_says_what_the_files_say():
    said = TABLE | {"theorems": [{k: v for k, v in row.items() if k != "axioms"} for row in TABLE["theorems"]]}
    assert said == check.table()
    assert all(row["statement"] in TEXTS[row["file"].removesuffix(".v")] for row in TABLE["theorems"])


@pytest.mark.parametrize("name", TEXTS)
def test_nothing_is_believed(name):
    assert check.faults(name, TEXTS[name]) == []
    assert {row["file"] for row in TABLE["theorems"] if row["axioms"]} == {"Reals.v"}


GOOD = "(** Chapter 1.\n    Claim: a.b *)\nTheorem t : True.\nProof. by []. Qed.\n\nPrint Assumptions t.\n"
CHANGED = {
    "a hole": (("by []. Qed", "Admitted"), "expected proofs alone, got Admitted"),
    "an axiom": (("Theorem", "Axiom a : False.\nTheorem"), "got Axiom"),
    "a variable, an axiom where no section ends": (("Theorem", "Variable a : False.\nTheorem"), "got Variable"),
    "a check that is off": (("Theorem", "Unset Guard Checking.\nTheorem"), "got Unset Guard Checking"),
    "no question for the axioms": (("Print Assumptions t.", ""), "expected at its end Print Assumptions"),
    "no claim": (("Claim:", "About"), "expected above t a comment"),
}


@pytest.mark.parametrize("change", CHANGED)
def test_a_file_is_refused_with(change):
    assert check.faults("T", GOOD) == []
    (old, new), words = CHANGED[change]
    assert words in " ".join(check.faults("T", GOOD.replace(old, new, 1)))


def test_a_statement_of_the_table_cannot_drift(tmp_path):
    for name, text in TEXTS.items():
        (tmp_path / f"{name}.v").write_text(text.replace("F (n - m)", "F (m - n)"), encoding="utf-8")
    assert check.table(tmp_path) != check.table()


def test_every_claim_and_theorem_exists_in_its_chapter():
    pages = "".join(path.read_text(encoding="utf-8") for path in sorted((ROOT / "book").glob("*.md")))
    places = set(re.findall(r"^:label: (\S+)$|\((eq-\S+)\)$", pages, re.MULTILINE))
    ledger = load()
    for row in TABLE["theorems"]:
        claims = [name for name in row["claims"] if name in ledger]
        assert claims, row["name"]
        assert {name for name in row["claims"] if name not in ledger} <= {one or other for one, other in places}
        assert row["chapter"] in {ledger[name].chapter for name in claims}, row["name"]


def test_axioms_are_read_from_what_coq_prints():
    printed = f"{check.CLOSED}\nAxioms:\nfirst : forall P,\n  P\nsecond\n  : True\n{check.CLOSED}\n"
    assert check.axioms(printed) == [[], ["first", "second"], []]


def test_without_coq_one_sentence_says_how_to_get_it():
    run = subprocess.run(
        [sys.executable, "proofs/check.py"], cwd=ROOT, env={"PATH": ""}, check=False, capture_output=True, text=True
    )
    assert run.returncode == 1
    assert run.stderr == check.NEEDS + "\n"


def test_the_workflow_installs_what_the_sentence_says_and_may_write_nothing():
    text = (ROOT / ".github" / "workflows" / "proofs.yml").read_text(encoding="utf-8")
    job = yaml.safe_load(text)
    steps = job["jobs"]["proofs"]["steps"]
    runs = [step.get("run") for step in steps]
    assert check.INSTALL.removeprefix("apt-get install") in " ".join(filter(None, runs))
    assert runs[-1] == "make proofs"
    assert "\nproofs: " in (makefile := (ROOT / "Makefile").read_text(encoding="utf-8"))
    assert "proofs/check.py $(ARGS)" in makefile
    assert job["permissions"] == {"contents": "read"}
    assert all(re.fullmatch(r"[\w/-]+@[0-9a-f]{40}", step["uses"]) for step in steps if "uses" in step)
    assert text.count('paths: ["proofs/**"') == 2
    assert "proofs" not in " ".join((ROOT / ".ci" / "run").read_text(encoding="utf-8").split())  # 1.6 GB
