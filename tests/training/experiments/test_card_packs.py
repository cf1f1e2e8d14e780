"""Cards from another machine: packed alike, refused with the reason, taken in whole or not at all."""

import dataclasses
import gzip
import hashlib
import io
import json
import os
import random
import shutil
import subprocess
import sys
import tarfile
from pathlib import Path

import pytest

from rope_lab.errors import FileError, printable
from rope_lab.reading import MOST
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


def test_every_card_of_the_book_belongs():
    found = check(cards.RESULTS)
    assert len(found) == len(cards.load_every())
    assert [(each.file, each.faults) for each in found if not each.fine] == []


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({"config": {"lr": 0.5}}, "config_hash: expected "),
        ({"config": {"colour": 1}}, "config: expected fields of RunConfig, got colour"),
        ({"config_hash": "0" * 16}, f"config_hash: expected a run of {NAME} at {RUNG}, got {'0' * 16}"),
        ({"experiment": "mine"}, "experiment: expected a name such as placements, got 'mine'"),
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


@pytest.mark.parametrize("experiment", ["complex-rnn", "one-head", "grid-question"])
def test_a_card_of_a_small_task_belongs_or_says_why(experiment):
    card = cards.load_all(experiment, RUNG)[0]
    assert faults_of(card) == []
    for change, said in (
        ({"config": {"rate": 0.5}}, "config.rate: expected "),
        ({"config_hash": "0" * 16}, "config_hash: expected "),
        ({"seed": 77}, f"variant: expected a run of {experiment} at cpu, got {card.variant}, seed 77, at cpu"),
        ({"data": {"corpus": "ptb"}}, "data: expected "),
        ({"curve": {name: column[:-1] for name, column in card.curve.items()}}, "curve.step: expected "),
        ({"final": {"step": 7}, "best": {"step": 7}}, "final.step: expected "),
        ({"best": {"loss": 0.0}}, "best: expected "),
        ({"volatile": {"commit": "a" * 40 + "+"}}, "volatile.commit: expected the commit of the code"),
    ):
        (fault,) = faults_of(changed(card, **change))
        assert said in fault


def test_the_same_cards_make_the_same_bytes_and_come_back(tmp_path):
    for card in cards.load_all(NAME, RUNG)[:3]:
        cards.write(card, tmp_path / "here" / NAME / RUNG)
    assert pack(NAME, RUNG, root=tmp_path / "here", out=tmp_path / "a.jsonl.gz") == 3
    pack(NAME, RUNG, root=tmp_path / "here", out=tmp_path / "b.jsonl.gz")
    assert (tmp_path / "a.jsonl.gz").read_bytes() == (tmp_path / "b.jsonl.gz").read_bytes()
    assert all(each.fine for each in check(tmp_path / "a.jsonl.gz"))
    done = add(tmp_path / "a.jsonl.gz", root=tmp_path / "there")
    assert (len(done["added"]), done["kept"]) == (3, [])
    assert cards.load_all(NAME, RUNG, root=tmp_path / "there") == cards.load_all(NAME, RUNG, root=tmp_path / "here")
    assert [path.name for path in (tmp_path / "there" / NAME).iterdir()] == [f"{RUNG}.jsonl"]


def test_what_is_added_changes_no_line_that_was_there(tmp_path):
    whole = cards.places(NAME, RUNG)[1].read_bytes()
    every = cards.load_all(NAME, RUNG)
    cards.write_all(every[::2], cards.places(NAME, RUNG, root=tmp_path / "there")[1])
    for card in every[1::2]:
        cards.write(card, tmp_path / "here" / NAME / RUNG)
        cards.write(card, tmp_path / "there" / NAME / RUNG)  # as a sweep leaves it that made what was missing there
    assert len(add(tmp_path / "here", root=tmp_path / "there")["added"]) == len(every) // 2
    assert cards.places(NAME, RUNG, root=tmp_path / "there")[1].read_bytes() == whole


ADDING = """
import sys, time
from rope_lab.training.experiments.card_packs import add
from rope_lab.training.results import cards
write = cards.write_all
cards.write_all = lambda *card: (time.sleep(1), write(*card))  # long enough for the other to have read
print("ready", flush=True)
sys.stdin.read(1)
add(sys.argv[1], root="there")
"""


@pytest.mark.skipif(os.name != "posix", reason="the lock is that of POSIX systems")
def test_two_who_add_at_once_lose_nothing(tmp_path):
    every, adding = cards.load_all(NAME, RUNG), []
    for half in ("0", "1"):
        for card in every[int(half) :: 2]:
            cards.write(card, tmp_path / half / NAME / RUNG)
        command = [sys.executable, "-c", ADDING, half]
        pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "text": True}
        adding.append(subprocess.Popen(command, cwd=tmp_path, **pipes))
    assert [process.stdout.readline() for process in adding] == ["ready\n"] * 2
    for process in adding:
        process.stdin.close()
    for process in adding:
        with process:
            assert process.wait(120) == 0
    assert cards.load_all(NAME, RUNG, root=tmp_path / "there") == every


def test_a_write_that_fails_leaves_the_old_file_and_the_same_call_goes_on(one, tmp_path, monkeypatch):
    other = next(card for card in cards.load_all(NAME, RUNG) if card != one)
    _, lines = cards.places(NAME, RUNG, root=tmp_path / "there")
    before = cards.write_all([other], lines).read_bytes()
    cards.write(one, tmp_path / "here" / NAME / RUNG)
    with monkeypatch.context() as broken:
        broken.setattr(Path, "replace", lambda *_: (_ for _ in ()).throw(OSError("disk full")))
        with pytest.raises(FileError, match="disk full"):
            add(tmp_path / "here", root=tmp_path / "there")
    assert [path.read_bytes() for path in lines.parent.iterdir()] == [before]
    add(tmp_path / "here", root=tmp_path / "there")
    assert len(cards.load_all(NAME, RUNG, root=tmp_path / "there")) == 2


def test_one_card_that_does_not_belong_stops_all(one, tmp_path):
    shutil.copytree(cards.RESULTS / "cache-stream", tmp_path / "here" / "cache-stream")
    cards.write(changed(one, volatile={"commit": ""}), tmp_path / "here" / NAME / RUNG)
    with pytest.raises(PackError, match=r"got 1 of 4 that do not, such as placements/cpu/.*volatile\.commit"):
        add(tmp_path / "here", root=tmp_path / "there")
    assert not (tmp_path / "there").exists()


def test_the_same_numbers_made_elsewhere_are_kept_and_others_refused(one, tmp_path):
    cards.write(one, tmp_path / "here" / NAME / RUNG)
    kept = {"added": [], "kept": [f"{NAME}/{RUNG}/{one.file_name}"]}
    there = cards.write(changed(one, volatile={"device": "another machine"}), tmp_path / "there" / NAME / RUNG)
    before = there.read_bytes()
    assert add(tmp_path / "here", root=tmp_path / "there") == kept
    cards.write(changed(one, measured={"share": 0.5}), there.parent)
    with pytest.raises(PackError, match=f"expected the card that is there, of the run {one.config_hash} .* got one of"):
        add(tmp_path / "here", root=tmp_path / "there")
    assert add(tmp_path / "here", root=tmp_path / "there", keep=True) == kept
    assert cards.read(there).measured == {"share": 0.5}
    assert there.read_bytes() != before


def test_a_card_twice_in_one_source(one, tmp_path):
    folder, lines = cards.places(NAME, RUNG, root=tmp_path)
    cards.write(one, folder)
    cards.write_all([one], lines)
    assert [each.fine for each in check(tmp_path)] == [True]
    cards.write_all([changed(one, measured={"share": 0.5})], lines)
    (each,) = check(tmp_path)
    assert "got a second with other content" in each.faults[0]


def test_a_card_in_a_wrong_place_and_one_that_is_torn(one, tmp_path):
    wrong = tmp_path / NAME / "paper" / one.file_name
    cards.write(one, wrong.parent)
    torn = tmp_path / NAME / RUNG / "torn.json"
    torn.parent.mkdir()
    torn.write_text(wrong.read_text()[:100])
    misplaced, broken = sorted(check(tmp_path), key=lambda each: each.card is None)
    assert misplaced.faults == (f"expected at {NAME}/{RUNG}/{one.file_name}, found at {NAME}/paper/{one.file_name}",)
    assert broken.faults[0].startswith(f"card {NAME}/{RUNG}/torn.json: expected JSON, got ")


@pytest.fixture(scope="module")
def good(tmp_path_factory):
    """A pack of three cards of the book."""
    out = tmp_path_factory.mktemp("pack") / "cache-stream-cpu.jsonl.gz"
    assert pack("cache-stream", "cpu", root=cards.RESULTS, out=out) == 3
    return out


def packed(*lines, **head):
    """The bytes of a pack with these lines, whose head is true but for what is given."""
    stated = {"cards": len(lines), "sha256": [hashlib.sha256(line).hexdigest() for line in lines], **head}
    return gzip.compress(b"\n".join([json.dumps(stated).encode(), *lines, b""]))


def test_300_flipped_bits_are_refused_or_change_no_number(good, tmp_path):
    whole, draw = good.read_bytes(), random.Random(0)
    expected = [each.card for each in check(good)]
    refused = 0
    for _ in range(300):
        bit = draw.randrange(8 * len(whole))
        flipped = bytearray(whole)
        flipped[bit // 8] ^= 1 << bit % 8
        (tmp_path / "flipped.jsonl.gz").write_bytes(flipped)
        try:
            assert [each.card for each in check(tmp_path / "flipped.jsonl.gz")] == expected
        except PackError:
            refused += 1
    assert refused > 290  # the rest are in the date and the system that gzip notes at the front


def test_300_flipped_bits_below_the_checksum_are_refused_too(good, tmp_path):
    """Whoever changes the text and gzips it again is refused by the number and the hashes, or by JSON."""
    whole, draw = gzip.decompress(good.read_bytes()), random.Random(1)
    expected = [each.card for each in check(good)]
    for _ in range(300):
        bit = draw.randrange(8 * len(whole))
        flipped = bytearray(whole)
        flipped[bit // 8] ^= 1 << bit % 8
        (tmp_path / "flipped.jsonl.gz").write_bytes(gzip.compress(flipped))
        try:
            assert [each.card for each in check(tmp_path / "flipped.jsonl.gz")] == expected
        except PackError as error:
            assert str(error).isprintable()  # noqa: PT017 - most are refused, which of them does not matter


def old_pack():
    with tarfile.open(fileobj=(made := io.BytesIO()), mode="w:gz") as tar:
        tar.addfile(tarfile.TarInfo("a/b/c.json"))
    return made.getvalue()


WHOLE = packed(b"{}")
NOT_PACKS = {
    "empty": (b"", "got one that is cut short or larger"),
    "no gzip": (b"hello", "which is gzipped, got Error -3"),
    "cut short": (WHOLE[:-1], "got one that is cut short"),
    "cut in the middle": (WHOLE[:40], "got one that is cut short"),
    "two in one": (WHOLE + WHOLE, "got more after its end"),
    "a byte behind": (WHOLE + b"\0", "got more after its end"),
    "a bomb": (gzip.compress(bytes(MOST + 1)), "of at most 16,000,000 bytes, got one that is cut short or larger"),
    "too large as it lies": (bytes(MOST + 1), "got more than 16,000,000 bytes"),
    "an older pack": (old_pack(), "got an older one, a .tar.gz; .* `tar xzf "),
    "no first line": (gzip.compress(b""), "expected a first line"),
    "a long first line": (gzip.compress(b" " * 1_000_001 + b"{}\n"), "expected a first line"),
    "a deep first line": (gzip.compress(b"[" * 100_000), "expected a first line"),
    "another first line": (gzip.compress(b'[1, 2]\n{"cards": 1}\n'), "expected a first line"),
    "fewer hashes": (packed(b"{}", sha256=[]), "expected a first line"),
    "hashes of no kind": (packed(b"{}", sha256=5), "expected a first line"),
    "a card too few": (packed(b"{}", cards=2, sha256=["a", "b"]), "expected 2 cards, .* got 1 lines"),
    "another card": (
        packed(b"{}", sha256=["\x1b[2J" + "0" * 64]),
        r"expected the sha256 \\x1b\[2J0+, got 44136fa355b3678a1",
    ),
    "no card": (packed(), "expected cards in EXPERIMENT/RUNG/, found none"),
}


@pytest.mark.deep(keep=6)
@pytest.mark.parametrize(("data", "said"), NOT_PACKS.values(), ids=NOT_PACKS)
def test_what_is_no_pack_is_refused_in_words(data, said, tmp_path):
    (tmp_path / "bad.jsonl.gz").write_bytes(data)
    for take in (check, lambda source: add(source, root=tmp_path / "there")):
        with pytest.raises(PackError, match=rf"bad\.jsonl\.gz: .*{said}") as caught:
            take(tmp_path / "bad.jsonl.gz")
        assert str(caught.value).isprintable()
    assert not (tmp_path / "there").exists()


def test_what_is_no_file_is_not_waited_for(tmp_path):
    os.mkfifo(tmp_path / "pipe")
    for source in (tmp_path / "pipe", Path("/dev/null"), Path("/dev/zero")):
        with pytest.raises(PackError, match="got what is no file: a folder, a pipe or a device"):
            check(source)
    with pytest.raises(PackError, match="found nothing of that name"):
        check(tmp_path / "absent.jsonl.gz")
    with pytest.raises(PackError, match="File name too long"):
        check(tmp_path / ("x" * 5000))
    with pytest.raises(PackError, match="found none"):
        check(tmp_path)
    os.mkfifo(tmp_path / "pipe.json")
    with pytest.raises(PackError, match=r"pipe\.json: .* got what is no file"):
        check(tmp_path)


@pytest.mark.parametrize(
    ("block", "value"),
    [
        ("experiment", ".."),
        ("experiment", ""),
        ("experiment", "../../out"),
        ("rung", "../.."),
        ("config_hash", "\x1b]0;pwned\x07\x1b[2J"),
        ("variant", "\ud800\u202e\n3 of 3 cards belong."),
        ("measured", {"x": float("inf")}),
    ],
)
def test_a_hostile_card_is_named_and_harms_nothing(one, block, value, tmp_path):
    text = json.dumps({**vars(one), block: value}).encode()
    (tmp_path / "a.jsonl.gz").write_bytes(packed(text))
    (each,) = check(tmp_path / "a.jsonl.gz")
    assert each.faults
    assert all(said.isprintable() for said in (each.file, *each.faults))
    with pytest.raises(PackError, match="got 1 of 1 that do not"):
        add(tmp_path / "a.jsonl.gz", root=tmp_path / "there")
    assert sorted(path.name for path in tmp_path.iterdir()) == ["a.jsonl.gz"]


def test_what_a_stranger_wrote_is_printed_as_escapes():
    assert printable("caf\u00e9, \U0001f600 and 中") == "café, 😀 and 中"
    assert printable("a\x1b[2J\x9b\r\n\u202e\ud800") == "a\\x1b[2J\\x9b\\r\\n\\u202e\\ud800"


def test_a_pack_that_cannot_be_written(tmp_path):
    (tmp_path / "file").write_text("")
    with pytest.raises(FileError, match="expected a file that can be written"):
        pack(NAME, RUNG, root=tmp_path, out=tmp_path / "file" / "pack.jsonl.gz")
