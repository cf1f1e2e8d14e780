"""The strip under the title of a part's first chapter, and the map of all parts."""

from pathlib import Path
from types import SimpleNamespace

import argument
import part_map
import yaml
from bs4 import BeautifulSoup
from docutils import nodes

ROOT = Path(__file__).resolve().parents[2]
ENTRIES = {
    "I. Rotate": {"word": "turn", "law": "R_m", "says": "It turns."},
    "II. Complete": {"word": "families", "law": "B", "says": "There are more."},
}
CAPTIONS = {
    "I. Rotate": ["book/01_one", "book/02_two"],
    "II. Complete": ["book/intro", "book/03_three"],
    "Appendix": ["book/notation"],
}


def test_every_part_of_the_book_has_an_entry():
    toc = yaml.safe_load((ROOT / "_toc.yml").read_text())
    captions = {part["caption"]: [entry["file"] for entry in part["chapters"]] for part in toc["parts"]}
    entries = yaml.safe_load((ROOT / "book" / "_ext" / "argument.yml").read_text())
    with_chapters = [name for name, pages in captions.items() if any(map(argument.CHAPTER.fullmatch, pages))]
    assert list(entries) == with_chapters
    assert len(argument.parts(captions, entries)) == len(entries)


def test_the_strip_lights_its_part_and_says_its_law():
    made = argument.parts(CAPTIONS, ENTRIES)
    shown = argument.strip(made, "book/03_three", lambda page: f"to {page}")
    words, law, says = shown.children
    assert [item.astext() for item in words.children] == ["turn", "families"]
    assert [node.tagname for item in words.children for node in item[0].children] == ["reference", "strong"]
    assert words[0][0][0]["refuri"] == "to book/01_one"
    assert (law.astext(), says.astext()) == ("B", "There are more.")


def test_control_a_part_without_an_entry_is_told(caplog):
    made = argument.parts({**CAPTIONS, "III. Values": ["book/04_four"]}, ENTRIES)
    assert [part.word for part in made] == ["turn", "families"]
    assert "'III. Values'" in caplog.text


def test_the_map_shows_a_part_with_its_sentence_and_numbered_chapters():
    titles = {"book/03_three": nodes.title("", "Three & more"), "book/12_twelve": nodes.title("", "Twelve")}
    builder = SimpleNamespace(get_relative_uri=lambda _, page: f"{page}.html")
    app = SimpleNamespace(builder=builder, env=SimpleNamespace(titles=titles))
    card = BeautifulSoup(part_map.card(app, "index", "II. Complete", [*titles], "There are more."), "html.parser")
    assert card.svg
    assert [said.get_text() for said in card.select(".part-card > p")] == ["Part II · Complete", "There are more."]
    assert [item.get_text() for item in card.select("li")] == ["3 Three & more", "12 Twelve"]
    assert [link["href"] for link in card.select("li a")] == ["book/03_three.html", "book/12_twelve.html"]
