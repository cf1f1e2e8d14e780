"""Pages, labs and papers of the repository: names that must agree, one address, words that must not occur.

Each check is a function that returns what it found wrong. The tests below run them on the repository; the controls at
the end plant a fault for each.
"""

import json
import os
import re
from pathlib import Path

import pytest
import yaml

from book._ext.repository import repository
from rope_lab.claims import LABELS, SOURCES, load
from rope_lab.exercises import Task
from rope_lab.exercises import load as tasks
from rope_lab.show import Table, widgets
from rope_lab.training.results import experiment_cards
from rope_lab.training.results.cards import load_every

ROOT = Path(__file__).resolve().parents[1]
TEXT = {".md", ".py", ".js", ".css", ".ipynb", ".toml", ".yml", ".yaml", ".cff", ".bib", ".json", ".html", ".svg", ""}
# Generated, or a reader's own.
SKIPPED = {".git", ".venv", "_build", "dist", "runs", "node_modules", "__pycache__"}
NUMBERED = re.compile(r"\d\d_\w+")


def texts(root: Path) -> dict[str, str]:
    """Every text file of ours by its relative name, this one left out: it has to spell what it looks for."""
    found = {}
    for folder, folders, names in os.walk(root):
        data = {"data"} if Path(folder) == root else set()  # a reader's corpora; the package has folders of that name
        folders[:] = [
            f for f in folders if f not in SKIPPED | data and (not f.startswith(".") or f in (".ci", ".github"))
        ]
        for name in names:
            path = Path(folder, name)
            if (
                path.suffix in TEXT
                and path.name not in (".git", Path(__file__).name)
                and not path.name.startswith(".coverage")
            ):
                found[path.relative_to(root).as_posix()] = path.read_text(encoding="utf-8", errors="replace")
    return found


def cells(text: str) -> list[dict]:
    return [cell for cell in json.loads(text)["cells"] if cell["cell_type"] == "code"]


def chapters(root: Path) -> list[str]:
    return sorted(p.stem for p in root.glob("book/*.md") if NUMBERED.fullmatch(p.stem))


def labs(root: Path) -> dict[str, str]:
    return {p.stem: p.read_text(encoding="utf-8") for p in sorted(root.glob("notebooks/*.ipynb"))}


# --- what is wrong, if anything -------------------------------------------------------------------------------------


def wrong_in_toc(root: Path) -> list[str]:
    """Pages that are listed and missing, chapters without their lab, labs and chapters that are not listed."""
    toc = yaml.safe_load((root / "_toc.yml").read_text())
    listed = {
        entry["file"]: [s["file"] for s in entry.get("sections", ())]
        for part in toc["parts"]
        for entry in part["chapters"]
    }
    every = [toc["root"], *listed, *(lab for sections in listed.values() for lab in sections)]
    found = [f"{n}: no such page" for n in every if not any((root / f"{n}{s}").exists() for s in (".md", ".ipynb"))]
    for name, sections in listed.items():
        topic = name.rpartition("/")[2]
        if NUMBERED.fullmatch(topic) and sections != [f"notebooks/{topic}"]:
            found.append(f"{name}: its lab notebooks/{topic} should be its one section, got {sections}")
    found += [f"book/{c}: not in _toc.yml" for c in chapters(root) if f"book/{c}" not in listed]
    return found + [f"notebooks/{lab}: not in _toc.yml" for lab in labs(root) if f"notebooks/{lab}" not in every]


QUESTION = re.compile(r"\s*# [^\n]+\n\n```\{question\}\n(?::needs: [\d ]+\n\n)?([^\n.?!]+\?)\n```\n")


def wrong_in_shape(page: str, root: Path) -> list[str]:
    """What a chapter has at its head, question and aims; at its end, what to keep and its code; predictions settled."""
    body = re.sub(r"\A---\n.*?\n---\n", "", page, flags=re.DOTALL)
    head, *sections = re.split(r"^## ", body, flags=re.MULTILINE)
    named = {section.partition("\n")[0]: section.partition("\n")[2] for section in sections}
    found = [] if head.count("```{aims}") == 1 else ["aims stand once, before the first section"]
    asked = QUESTION.match(head)
    if not asked:
        found.append("a chapter begins with its question: one sentence in {question}, right below the title")
    elif len(asked[1].split()) > 24:
        found.append(f"a question of at most 24 words, got {len(asked[1].split())}")
    if head.count(":tags: [remove-input, opener]") > 1:
        found.append("one figure opens a chapter, got two")
    kept = len(re.findall(r"^(?:\d\.|[-*]) ", named.get("Keep", ""), flags=re.MULTILINE))
    found += [] if kept == 3 else [f"a section Keep holds three sentences, got {kept}"]
    found += [
        f"nothing settles {name}"
        for name in re.findall(r"\{quiz\} (ch\d\d\.predict[\w-]*)", body)
        if f"{{settled}} {name}\n" not in body
    ]
    if not sections or not sections[-1].startswith("Code\n"):
        return [*found, "the last section is Code"]
    modules = re.findall(r"`(rope_lab[\w.]*)`", named["Code"])
    places = {m: root.joinpath(*m.split(".")) for m in modules}
    missing = [m for m, place in places.items() if not (place.is_dir() or place.with_suffix(".py").exists())]
    return found + ([f"no module {m}" for m in missing] if modules else ["Code names no module"])


WIDEST = 84  # characters of code that a column of 768 pixels shows
SHOWN = re.compile(r"^([^\S\n]*)```(?:\{code-cell\} ipython3|python)\n(.*?)^\1```$", re.MULTILINE | re.DOTALL)


def long_lines(page: str) -> list[str]:
    """Lines of code that a reader would have to push aside."""
    shown = [body for _, body in SHOWN.findall(page) if ":tags: [remove-" not in body]
    return [f"{len(line)} characters: {line}" for body in shown for line in body.splitlines() if len(line) > WIDEST]


def wrong_in_notebook(text: str) -> list[str]:
    """Stored outputs, counters, lines that a column cuts, MyST directives or roles, repeated ids."""
    book = json.loads(text)
    found = ["outputs are stored" for c in cells(text) if c["outputs"] or c["execution_count"] is not None]
    code = [line for c in cells(text) for line in "".join(c["source"]).splitlines()]
    found += [f"{len(line)} characters: {line}" for line in code if len(line) > WIDEST]
    prose = "\n".join("".join(c["source"]) for c in book["cells"] if c["cell_type"] == "markdown")
    found += [f"MyST in a lab: {m}" for m in re.findall(r"(?:```|:::)\{[\w:-]+\}|\{[\w:]+\}`", prose)]
    ids = [c["id"] for c in book["cells"]]
    return found + ([] if len(ids) == len(set(ids)) else ["two cells share an id"])


def wrong_addresses(files: dict[str, str], address: str) -> list[str]:
    """Files that print an address of a repository of this name , other than its own; pyproject.toml may have one."""
    return [
        f"{name}: {other}"
        for name, text in files.items()
        for other in re.findall(r"https://github\.com/[\w.-]+/rope-lab\b", text)
        if other != address and name != "pyproject.toml"
    ]


FORBIDDEN = {
    "a folder beside the repository": r"\.\./shared",
    "a path of one machine": r"(?<![\w.*/-])/(?:work|root|tmp|home/\w+)/",
    "a package index": r"https?://\S+/simple\b|--(?:extra-)?index-url[ =]http|--find-links[ =]",
}


def forbidden_words(files: dict[str, str]) -> list[str]:
    return [
        f"{name}: {what}: {hit[0]}"
        for name, text in files.items()
        for what, pattern in FORBIDDEN.items()
        for hit in [re.search(pattern, text)]
        if hit
    ]


def wrong_layout_names(text: str) -> list[str]:
    """There are two layouts, spelled "interleaved" and "half"."""
    given = re.findall(r"layout\s*=\s*\\?[\"']([\w-]+)", text)
    loose = re.findall(r"\b(?:inter-leaved|half_split|halfsplit|rotate-half layout)\b", text, re.IGNORECASE)
    return [name for name in given if name not in ("interleaved", "half")] + loose


def dead_links(name: str, text: str, root: Path) -> list[str]:
    """Links between files of the repository, outside code. Pictures are left to the build."""
    prose = re.sub(r"```.*?```|`[^`\n]*`", "", text, flags=re.DOTALL)
    targets = re.findall(r"(?<!!)\[[^\]]*\]\(([^)#\s]+)[^)]*\)", prose)
    return [t for t in targets if ":" not in t and not (root / name).parent.joinpath(t).exists()]


# Pages that speak of what was measured: a number of theirs is printed by {measured}, or by a cell.
MEASURING = ("1[3-9]_*", "2?_*", "speed", "small_model", "result_cards", "run_the_tables", "crope_laboratory")
PARTS = r"(?:half|halves|(?:quarter|third|fifth|sixth|seventh|eighth|ninth|tenth|hundredth|thousandth)s?)"
SMALL = "one|two|three|four|five|six|seven|eight|nine|ten|eleven|twelve|twenty|fifty"
NUMBER = rf"(?:\d[\d,]*(?:\.\d+)?|\b(?:(?:{SMALL}|an?) )?(?:hundred|thousand)|\b(?:{SMALL}))"
TYPED = re.compile(
    rf"\b(?:an?|few|several|{SMALL}|than|about) {PARTS}\b|\b{NUMBER}(?: (?:and|to|or) {NUMBER})? (?:nats?|times|%|per "
    rf"cent|seconds?|minutes?|hours?|days?)(?!\w)|\btwice\b|\d of (?:the )?\d|\bin ten\b|\d\.\d",
    re.IGNORECASE,
)
OF_RUNS = re.compile(
    r"\b(?:loss\w*|nats?|perplexity|seeds?|runs?|train\w*|fast|faster|slower|speed|accura\w+|right|leads?|margin|ahead|"
    r"behind|below|above|gap|lower\w*|higher|costs?|damage|GPU|took|takes?|decided|measured|interval|agree|differ|falls|"
    r"shares?|questions|lose|ways|grows)\b"
)
NO_RESULT = {  # numbers of such sentences that nobody measured, and why
    r"\b(?:5|90|95|99) %|0\.05/|0\.01, the next below 0\.0125": "how often an interval holds, or Holm's rule",
    r"\b0\.02\b": "the margin of the plan",
    r"\b0\.0(?:005|01|02|04|057|08|113|16)\b(?! nats)": "a learning rate of a list of runs",
    r"[sS]ection \d\.\d": "an address",
    "two per cent of perplexity|asks for one per cent|three times, since going backwards takes twice": "mathematics",
    "half of all projections|keeps one half of what|mean share is one half": "mathematics",
    r"0\.77 to 0\.08, and the neighbours have 0\.07|only 0\.17|0\.69 to 1\.89 nats|0\.40 to 0\.77|2\.6%": "mathematics",
    r"several thousandths of a radian|familiar 1\.96|about 1\.2 standard": "mathematics",
    r"6\.584|4\.02 on Penn|is not twice as wide": "published",
    "16 times (?:as many|the data)|two and four times as long|stretched four times": "a setting",
    "four times (?:the steps|as many)|five times as long|140 times|160 times the|sets a tenth of": "a setting",
    r"(?:trained|run|read|model) twice|1\.0\*\* is as|also twice as|0\.01 nats worse": "no result",
}


def typed_numbers(page: str) -> list[str]:
    """Sentences that state a measured number and have it from nobody."""
    text = re.sub(r"\A---\n.*?\n---\n|\$\$.*?\$\$", "", page, flags=re.DOTALL)
    text = re.sub(r"^([^\S\n]*)```(?:\{code-cell\}|\w+\n).*?^\1```$", "", text, flags=re.MULTILINE | re.DOTALL)
    text = re.sub(r"\{[\w:-]+\}`[^`]*`|\$[^$]*\$|`[^`]*`|\]\([^)]*\)", "", text)
    told = [" ".join(s.split()) for part in text.split("\n\n") for s in re.split(r"(?<=[.?!:])\s+", part)]
    return [s for s in told if OF_RUNS.search(s) and TYPED.search(re.sub("|".join(NO_RESULT), "", s))]


REPORTS = re.compile(
    r"(?<!\ba )\b(?:paper|article|blog|source|authors?|Su)\b[^.?!:;]{0,40}?\b(?:says?|reports?|prints?)\b"
)
MARKED = re.compile(r"\{(?:claim|cite|cite:t)\}`|\]\(https?://")
AS_READ = (  # what a source says and no mark beside it backs: the claim stands at a formula below, or nobody is meant
    "on which the chapter says something",
    "The paper says no, and it is right",
    "The paper says that for wide heads the sum of cosines becomes a delta",
    "The paper says that a single layer cannot do the task then",
    "The article does not say where its windows begin",
    "The column *printed* is",
)


def unmarked_reports(page: str) -> list[str]:
    """Sentences that put something into a source's mouth, in a paragraph without a claim, a citation or a link."""
    text = re.sub(
        r"^([^\S\n]*)```(?:\{code-cell\}|\w+\n).*?^\1```$|^#[^\n]*$", "", page, flags=re.MULTILINE | re.DOTALL
    )
    bare = [part for part in re.split(r"\n\s*\n", text) if not MARKED.search(part)]
    told = [" ".join(s.split()) for part in bare for s in re.split(r"(?<=[.?!])\s+", part)]
    return [s for s in told if REPORTS.search(s) and not any(known in s for known in AS_READ)]


# --- the repository as it is ----------------------------------------------------------------------------------------

ADDRESS = repository()[0]
FILES = texts(ROOT)


def test_every_listed_page_exists_with_its_lab():
    assert wrong_in_toc(ROOT) == []


@pytest.mark.parametrize("chapter", chapters(ROOT))
def test_a_chapter_has_its_head_and_its_end(chapter):
    assert wrong_in_shape((ROOT / f"book/{chapter}.md").read_text(), ROOT) == []


@pytest.mark.parametrize("page", sorted(p.stem for p in ROOT.glob("book/*.md") if SHOWN.search(p.read_text("utf-8"))))
def test_the_code_of_a_page_has_short_lines(page):
    assert long_lines((ROOT / f"book/{page}.md").read_text(encoding="utf-8")) == []


def test_no_measured_number_is_typed():
    pages = {page.stem: page.read_text("utf-8") for name in MEASURING for page in ROOT.glob(f"book/{name}.md")}
    assert len(pages) == 14
    assert {name: found for name, page in pages.items() if (found := typed_numbers(page))} == {}
    unused = [what for what in NO_RESULT if not any(re.search(what, " ".join(page.split())) for page in pages.values())]
    assert unused == []


def test_no_sentence_is_put_into_a_source_s_mouth():
    pages = {page.stem: page.read_text("utf-8") for page in ROOT.glob("book/*.md")}
    assert {name: found for name, page in pages.items() if (found := unmarked_reports(page))} == {}
    assert [known for known in AS_READ if not any(known in " ".join(page.split()) for page in pages.values())] == []


@pytest.mark.parametrize("lab", labs(ROOT))
def test_labs_are_stored_clean(lab):
    assert wrong_in_notebook(labs(ROOT)[lab]) == []


def test_one_address():
    assert wrong_addresses(FILES, ADDRESS) == []


def test_no_forbidden_word():
    assert forbidden_words(FILES) == []


def test_layouts_are_spelled_one_way():
    prose = {n: t for n, t in FILES.items() if n.startswith(("book/", "notebooks/")) or n.endswith(".md")}
    assert {n: wrong_layout_names(t) for n, t in prose.items() if wrong_layout_names(t)} == {}


def test_links_between_files_lead_somewhere():
    written = {n: t for n, t in FILES.items() if n.endswith(".md")}
    assert {n: dead_links(n, t, ROOT) for n, t in written.items() if dead_links(n, t, ROOT)} == {}


# --- what the front pages promise, and what holds it ----------------------------------------------------------------


def items(page: str, item: str, title: str = "") -> list[str]:
    """What a page lists, or its section of this title."""
    text = FILES[page]
    return re.findall(item, text.partition(f"# {title}\n")[2].partition("\n#")[0] if title else text, re.MULTILINE)


def every_chapter_moves() -> bool:
    moves = re.compile(rf"^(?:\w+ = )?(?:{'|'.join(widgets.__all__)})\(", re.MULTILINE)
    return all(any(moves.search(body) for _, body in SHOWN.findall(FILES[f"book/{c}.md"])) for c in chapters(ROOT))


def the_tours_fit() -> bool:
    first, further = re.search(r"An engineer's tour, (.*)\n", FILES[INTRO])[1].split("With a third hour, ")
    hours = [len(re.findall(r"\]\(", chapter)) / 2 for chapter in (first, *further.split(", or "))]
    return "reading_limit: 30 " in FILES["_config.yml"] and hours[0] <= 2 and max(hours[1:]) <= 1


def each_commit_stands_whole() -> bool:
    (cell,) = (body for _, body in SHOWN.findall(FILES["book/result_cards.md"]) if "of_all, groups" in body)
    exec(cell.partition("\n\n")[2], shown := {"Table": Table})
    return {row[0] for row in shown["rows"]} == {f"`{card.volatile['commit'][:40]}`" for card in load_every()}


README, INTRO, HOW = "README.md", "book/intro.md", "book/how_checked.md"
DEFINES, MUTANTS, PUBLISH = r"^([^\n(]+?)(?: \(.*\))?\n: ", "tests/mutation/run.py", ".github/workflows/publish.yml"
TRUE = {  # (page, its words): whether they are true
    (README, "## Two commands"): lambda: len(items(README, r"^make \w+ ", "Two commands")) == 2,
    (README, "## Three ways"): lambda: len(items(README, r"^\| \w", "Three ways to read it")) == 3,
    (README, "## Four places"): lambda: len(items(README, r"^- \[", "Four places to begin")) == 4,
    (README, "Every chapter has a figure that moves"): every_chapter_moves,
    (README, "What four published texts say"): lambda: len(SOURCES.keys() - {"cross", "unsaid", "book"}) == 4,
    (README, "changes 450 places"): lambda: sum(map(int, items(MUTANTS, r"Sample\(\(.*?\), (\d+), 0.9"))) == 450,
    (README, "with the smallest example"): lambda: all(c.witness for c in load().values() if c.verdict == "false"),
    (INTRO, "every chapter has a figure that moves"): every_chapter_moves,
    (INTRO, "and four expensive things"): lambda: len(items(INTRO, r"^- \*\*", "Why care")) == 4,
    (INTRO, "has five things on which models break, with five figures and three problems"): lambda: (
        [len(items("book/thirty_minutes.md", item)) for item in (r"^## \d", r"^[A-Z]\w+\(.*\)$", r"^\d\. ")]
        == [5, 5, 3]
    ),
    (INTRO, "An engineer's tour, two hours"): the_tours_fit,
    (INTRO, "Each release has all three"): lambda: {"zip", "zip-live", "pdf"} <= {*items(PUBLISH, r"make ([\w-]+)")},
    (HOW, "five kinds of evidence"): lambda: items(HOW, DEFINES)[:5] == list(LABELS),
    (HOW, "### The words"): lambda: {w.lower() for w in items(HOW, DEFINES)[5:]} == {c.words for c in load().values()},
    (HOW, "to twelve decimals"): lambda: "atol=1e-12" in FILES["rope_lab/claims/exact.py"],
    (HOW, "names or counts them"): lambda: all(c.cases for c in load().values() if c.evidence == "cases"),
    (HOW, "So every check that is exact, in cases or on random numbers has a **control**"): lambda: all(
        (c.control is None) == (c.evidence in ("experiment", "read")) for c in load().values()
    ),
    (HOW, "for `algebra`, `nn`, `audit`, `training`, `exercises` and `book/_ext`"): lambda: (
        items(MUTANTS, r"Sample\(\((.*?)\)") == ['"algebra", "nn", "audit"', '"training", "exercises", "book/_ext"']
    ),
    (HOW, "a few typical wrong"): lambda: min(len(t.mistakes) for t in tasks().values() if isinstance(t, Task)) > 1,
    (HOW, "what it cannot decide"): lambda: all(held.asked.limits.strip() for held in experiment_cards()),
    ("book/result_cards.md", "Here each commit stands whole"): each_commit_stands_whole,
}
HELD = """
README With Python 3.11 to 3.14: test_make test_all_places_name_the_same_versions_of_python
README wrong variant that the same check: claims/test_ledger test_a_malformed_claim_is_refused_by_name
README light and dark, desktop and phone: site/test_a11y test_axe
book/intro No chapter's core path is longer: site_ext/test_reading_time test_a_chapter_above_the_limit_is_a_warning
book/intro asks for a **prediction**: exercises/test_definitions test_a_chapter_predicts_and_then_asks
book/intro each with a small test: test_symptoms test_the_test_of_a_row_shows_what_it_says
book/intro Each chapter has a lab: test_prose test_every_listed_page_exists_with_its_lab
book/intro the first cell installs what is needed: test_chain test_with_an_address_of_its_own
book/how_checked the ledger refuses one: claims/test_ledger test_an_exact_check_with_a_float_is_refused
book/how_checked If a control passes, the tests fail: claims/test_ledger test_each_claim_holds_and_its_control_is
book/how_checked what is printed must be rejected: claims/test_ledger test_a_malformed_claim_is_refused_by_name
book/how_checked and must agree with the text: claims/test_witness test_control_verify_fails_for_a_wrong_witness
book/how_checked they speak of the weakest: site_ext/test_mark_cards test_words_say_how_a_formula_is_known
book/how_checked on a proof that does not say of what: site_ext/test_equation_marks test_what_is_wrong_is_told
book/how_checked It fails when a sign of the formula: site_ext/test_equation_marks test_a_sign_that_changed_in_a_formula
book/how_checked notebooks are stored without outputs: test_prose test_labs_are_stored_clean
book/how_checked No measured number is typed: test_prose test_no_measured_number_is_typed
book/how_checked one for each layout: nn/test_peers test_interleaved_is_rotary_embedding_torch
book/how_checked at least one for each: nn/test_peers test_half_is_transformers_llama
book/how_checked are listed with a reason: mutation/test_run test_a_survivor_must_be_listed_and_few_may_live
book/how_checked the two must agree: exercises/test_definitions test_every_definition_is_proven
book/how_checked to nine decimals: site/test_widget_twins test_twins_agree
book/how_checked a request that leaves the machine: site/test_pages test_control_requests
book/how_checked a message in the console: site/test_pages test_control_console
book/how_checked does not answer a key or a drag: site/test_answers test_control_widgets
book/how_checked scrolls sideways on a phone: site/test_pages test_control_sideways
book/how_checked leaves its target out of view: site/test_landing test_a_link_lands_where_it_says
book/how_checked mathematics that was not typeset: site/test_pages test_control_mathematics
book/how_checked fault in the light or the dark theme: site/test_a11y test_control_axe
book/how_checked of an unbroken run: test_chaos test_control_a_checkpoint_without_the_optimizer
book/how_checked nothing was lost: test_chaos test_control_a_pack_written_in_place
book/how_checked changed no number: test_chaos test_control_streams_that_are_believed
book/how_checked the curve and the losses: training/results/test_cards test_a_missing_field_is_named
"""


@pytest.mark.parametrize(("page", "words"), TRUE)
def test_what_a_front_page_says_of_itself_is_true(page, words):
    assert words in " ".join(FILES[page].split())
    assert TRUE[page, words]()


@pytest.mark.parametrize("row", HELD.strip().splitlines())
def test_what_a_front_page_promises_has_its_test(row):
    page, words, file, test = re.fullmatch(r"(\S+) (.*): (\S+) (\S+)", row).groups()
    assert words in " ".join(FILES[f"{page}.md"].split())
    assert f"def {test}" in (ROOT / f"tests/{file}.py").read_text(encoding="utf-8")


# --- controls: each check finds a planted fault ---------------------------------------------------------------------


def test_control_toc(tmp_path):
    (tmp_path / "book").mkdir()
    (tmp_path / "book/01_a.md").write_text("# A")
    (tmp_path / "book/02_b.md").write_text("# B")
    (tmp_path / "_toc.yml").write_text("root: book/01_a\nparts: [{chapters: [{file: book/01_a}, {file: book/03_c}]}]")
    found = "\n".join(wrong_in_toc(tmp_path))
    assert "book/03_c: no such page" in found
    assert "book/01_a: its lab" in found
    assert "book/02_b: not in _toc.yml" in found


SHAPE = """---
k: v
---
# T

```{question}
:needs: 1

What is it?
```

At stake.

```{quiz} ch01.predict-x
```

```{aims}
do it.
```

## First

```{settled} ch01.predict-x
```

## Keep

1. a
2. b
3. c

## Code

- `rope_lab.algebra`
"""


@pytest.mark.parametrize(
    ("body", "said"),
    [
        (SHAPE, None),
        (SHAPE.replace("{aims}", "{note}"), "aims stand once"),
        (SHAPE.replace("What is it?", "It is."), "begins with its question"),
        (SHAPE.replace("# T\n", "# T\n\nFirst."), "begins with its question"),
        (SHAPE.replace("What is", "What " + "so " * 30 + "is"), "at most 24 words, got 33"),
        (SHAPE.replace("```{aims}", ":tags: [remove-input, opener]\n" * 2 + "```{aims}"), "one figure opens a chapter"),
        (SHAPE.replace("3. c", "c"), "three sentences, got 2"),
        (SHAPE.replace("{settled} ch01.predict-x", "{note}"), "nothing settles ch01.predict-x"),
        (SHAPE + "## More\n", "the last section is Code"),
        (SHAPE.replace("rope_lab.algebra", "numpy"), "Code names no module"),
        (SHAPE.replace("rope_lab.algebra", "rope_lab.no"), "no module rope_lab.no"),
    ],
)
def test_control_shape(body, said):
    found = wrong_in_shape(body, ROOT)
    assert said in found[0] if said else found == []


@pytest.mark.parametrize("fence", ["```{code-cell} ipython3\n{}\n```", "1. a\n\n   ```python\n   {}\n   ```"])
@pytest.mark.parametrize("long", [False, True])
def test_control_long_lines(fence, long):
    page = "# T\n\n" + fence.replace("{}", "x = 1  " + "#" * (80 if long else 70))
    assert bool(long_lines(page)) is long
    assert long_lines(page.replace("ipython3\n", "ipython3\n:tags: [remove-input]\n\n")) == (
        long_lines(page) if "python\n" in fence and "ipython3" not in fence else []
    )


@pytest.mark.parametrize(
    "sentence",
    [
        "Both end below RoPE in every seed, by about three hundredths of a nat.",
        "On the mean it needs 8 % fewer steps, and the interval holds zero.",
        "The old rate costs RoPE a tenth of a nat. That is five times the margin.",
        "The interval of the five that stay holds zero in 18 of the 56 ways.",
        "The losses agree to a few thousandths.",
        "It answers more than nine questions in ten.",
        "In the same number of steps they got little more than half right.",
        "It ends at 7.14, a loss that is twice\nwhat it was.",
    ],
)
def test_control_a_typed_number(sentence):
    assert typed_numbers(f"# T\n\nSo it is. {sentence}\n")
    assert typed_numbers(re.sub(TYPED, "{measured}`ch15.lead, .2f`", sentence.replace(" five times", ""))) == []


@pytest.mark.parametrize("said", ["The paper says that the gap closes.", "In the article, Su reports\nfewer steps."])
def test_control_a_report_without_a_mark(said):
    assert unmarked_reports(f"# T\n\nSo it is. {said}\n\nElsewhere. {{claim}}`su6.x`\n")
    assert unmarked_reports(f"# T\n\nSo it is. {said} {{claim}}`su6.x`\n") == []


@pytest.mark.parametrize(
    ("change", "said"),
    [
        (lambda b: b["cells"][1].update(execution_count=3), "outputs"),
        (lambda b: b["cells"][1].update(source=["x" * 85]), "85 characters"),
        (lambda b: b["cells"][0].update(source=["See {claim}`x`"]), "MyST"),
        (lambda b: b["cells"][1].update(id=b["cells"][0]["id"]), "share an id"),
    ],
)
def test_control_notebook(change, said):
    book = json.loads(next(iter(labs(ROOT).values())))
    change(book)
    assert said in wrong_in_notebook(json.dumps(book))[0]


def test_control_address():
    other = "https://github.com/somebody/rope-lab"
    assert wrong_addresses({"README.md": other, "pyproject.toml": other}, "") == [f"README.md: {other}"]
    assert wrong_addresses({"README.md": other}, other) == []


LINES = ["see ../shared/x", "open('/tmp/x')", "cd /home/me/x", "https://example.org/simple"]


@pytest.mark.parametrize("line", LINES)
def test_control_forbidden(line):
    assert forbidden_words({"book/a.md": line})


def test_control_layouts_and_links(tmp_path):
    assert wrong_layout_names('rotate(x, layout="half-split")') == ["half-split"]
    assert dead_links("a.md", "see [this](nowhere.md) and [that](https://example.org)", tmp_path) == ["nowhere.md"]
