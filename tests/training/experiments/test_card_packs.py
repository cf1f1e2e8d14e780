"""Cards from another machine: packed alike, refused with the reason, taken in whole or not at all."""

import dataclasses
import json
import shutil
import tarfile

import pytest

from rope_lab.errors import FileError
from rope_lab.training.experiments import card_packs
from rope_lab.training.experiments.card_packs import PackError, add, check, faults_of, pack
from rope_lab.training.results import cards

NAME, RUNG = "placements", "cpu"


@pytest.fixture(scope="module")
def one():
    """A card of the book."""
    return cards.load_all(NAME, RUNG)[0]


def changed(card, **blocks):
    """The card with fields of some blocks changed."""
    return dataclasses.replace(
        card, **{name: {**getattr(card, name), **new} if isinstance(new, dict) else new for name, new in blocks.items()}
    )


@pytest.mark.parametrize("experiment", ["placements", "crope-rates", "crope-table2", "cache-stream"])
def test_the_cards_of_the_book_belong(experiment):
    found = cards.load_all(experiment, RUNG)
    assert found
    for card in (found[0], found[-1]):
        assert faults_of(card) == []


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({"config": {"lr": 0.5}}, "config_hash: expected "),
        ({"config": {"colour": 1}}, "config: expected fields of RunConfig, got colour"),
        ({"config_hash": "0" * 16}, f"config_hash: expected a run of {NAME} at {RUNG}, got {'0' * 16}"),
        ({"experiment": "mine"}, "experiment: expected one of "),
        ({"rung": "huge"}, "rung: expected one of cpu, colab, paper, got 'huge'"),
        ({"seed": 77}, "seed: expected "),
        ({"variant": "best"}, "variant: expected "),
        ({"data": {"corpus": "ptb"}}, "data: expected the corpus and tokenizer of its config, got ptb"),
        ({"data": {"hashes": {"train": "ab"}}}, "data.hashes: expected those of "),
        ({"volatile": {"commit": ""}}, "volatile.commit: expected the commit of the code, got ''"),
        ({"volatile": {"commit": "a" * 40 + "+"}}, "got code that was changed after it; run from an unchanged clone"),
        ({"final": {"step": 7}}, "final.step: expected "),
        ({"final": {"loss": 1.0}}, "best.loss: expected at most the final 1.0"),
        ({"final": {"loss": 9.0}}, "final.loss: expected the last loss of its curve"),
    ],
)
def test_a_card_that_does_not_belong_says_why(one, change, said):
    (fault, *_) = faults_of(changed(one, **change))
    assert said in fault


def test_the_same_cards_make_the_same_bytes_and_come_back(tmp_path):
    for card in cards.load_all(NAME, RUNG)[:3]:
        cards.write(card, tmp_path / "here" / NAME / RUNG)
    assert pack(NAME, RUNG, root=tmp_path / "here", out=tmp_path / "a.tar.gz") == 3
    pack(NAME, RUNG, root=tmp_path / "here", out=tmp_path / "b.tar.gz")
    assert (tmp_path / "a.tar.gz").read_bytes() == (tmp_path / "b.tar.gz").read_bytes()
    assert all(each.fine for each in check(tmp_path / "a.tar.gz"))
    done = add(tmp_path / "a.tar.gz", root=tmp_path / "there")
    assert (len(done["added"]), done["kept"]) == (3, [])
    assert cards.load_all(NAME, RUNG, root=tmp_path / "there") == cards.load_all(NAME, RUNG, root=tmp_path / "here")


def test_one_card_that_does_not_belong_stops_all(one, tmp_path):
    shutil.copytree(cards.RESULTS / "cache-stream", tmp_path / "here" / "cache-stream")
    cards.write(changed(one, volatile={"commit": ""}), tmp_path / "here" / NAME / RUNG)
    with pytest.raises(PackError, match=r"got 1 of 4 that do not, such as placements/cpu/.*volatile\.commit"):
        add(tmp_path / "here", root=tmp_path / "there")
    assert not (tmp_path / "there").exists()


def test_a_card_that_is_there_is_kept(one, tmp_path):
    cards.write(one, tmp_path / "here" / NAME / RUNG)
    older = changed(one, volatile={"device": "another machine"})
    kept = cards.write(older, tmp_path / "there" / NAME / RUNG)
    assert add(tmp_path / "here", root=tmp_path / "there") == {"added": [], "kept": [f"{NAME}/{RUNG}/{one.file_name}"]}
    assert cards.read(kept) == older


def test_a_card_in_a_wrong_place_and_one_that_is_torn(one, tmp_path):
    wrong = tmp_path / NAME / "paper" / one.file_name
    cards.write(one, wrong.parent)
    torn = tmp_path / NAME / RUNG / "torn.json"
    torn.parent.mkdir()
    torn.write_text(wrong.read_text()[:100])
    misplaced, broken = sorted(check(tmp_path), key=lambda each: each.card is None)
    assert misplaced.faults == (f"expected at {NAME}/{RUNG}/{one.file_name}, found at {NAME}/paper/{one.file_name}",)
    assert broken.faults[0].startswith(f"card {NAME}/{RUNG}/torn.json: expected JSON, got ")


def test_a_pack_with_other_paths_is_not_unpacked(tmp_path):
    source = tmp_path / "bad.tar.gz"
    text = tmp_path / "card.json"
    text.write_text(json.dumps({}))
    with tarfile.open(source, "w:gz") as tar:
        for name in ("../../out.json", "/out.json", "a/b/c/d.json"):
            tar.add(text, arcname=name)
    with pytest.raises(PackError, match="expected cards in EXPERIMENT/RUNG/, found none"):
        check(source)
    assert not (tmp_path.parent / "out.json").exists()


def test_a_card_of_a_million_bytes_is_refused(tmp_path, monkeypatch):
    monkeypatch.setattr(card_packs, "LARGEST", 10)
    (tmp_path / "card.json").write_text("{" + " " * 20 + "}")
    with tarfile.open(tmp_path / "large.tar.gz", "w:gz") as tar:
        tar.add(tmp_path / "card.json", arcname="a/b/card.json")
    with pytest.raises(PackError, match="of at most 10 bytes"):
        check(tmp_path / "large.tar.gz")


def test_what_is_no_pack(tmp_path):
    (tmp_path / "text.tar.gz").write_text("hello")
    with pytest.raises(PackError, match=r"expected a \.tar\.gz of cards, got "):
        check(tmp_path / "text.tar.gz")
    with pytest.raises(PackError, match=r"absent\.tar\.gz: expected a \.tar\.gz of cards, got No such file"):
        check(tmp_path / "absent.tar.gz")


def test_a_pack_that_cannot_be_written(tmp_path):
    (tmp_path / "file").write_text("")
    with pytest.raises(FileError, match="expected a file that can be written"):
        pack(NAME, RUNG, root=tmp_path, out=tmp_path / "file" / "pack.tar.gz")
