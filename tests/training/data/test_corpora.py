"""A corpus is what its hashes say, or it is refused and named; a download that breaks leaves nothing behind."""

import hashlib
import io
import lzma
import os
import tarfile

import numpy as np
import pytest

from rope_lab.training.data import corpora, sources
from rope_lab.training.data.corpora import CorpusError, load
from rope_lab.training.data.sources import DownloadError
from tests.training.corpus_server import TEXTS, entry, known, serving


@pytest.fixture
def server(monkeypatch):
    monkeypatch.delenv("ROPE_LAB_DATA", raising=False)
    monkeypatch.setattr(sources, "RETRIES", 0)
    with serving() as found:
        yield found


def get(server, root, **options):
    return sources.get("hands", root=root, progress=False, known=known(server), **options)


def fill(folder, suffix=""):
    """Lay the corpus into a folder without a server."""
    (folder / "hands").mkdir(parents=True)
    for name, text in TEXTS.items():
        content = lzma.compress(text.encode()) if suffix else text.encode()
        (folder / "hands" / (name + suffix)).write_bytes(content)


# Fetching


def test_a_fetched_corpus_lies_under_its_names_and_loads(server, tmp_path):
    assert get(server, tmp_path) == tmp_path
    assert (tmp_path / "hands" / "train.txt").read_text() == TEXTS["train.txt"]
    corpus = load("hands", tokenizer="word", root=tmp_path, known=known(server))
    assert corpus.decode(corpus.test) == "<unk> <unk> hand <eos>"


def test_what_is_there_is_not_fetched_again(server, tmp_path):
    get(server, tmp_path)
    get(server, tmp_path)
    get(server, tmp_path, force=True)  # which is for damaged files
    assert len(server.asked) == 3


def test_a_break_is_mended_within_a_call(server, tmp_path, monkeypatch):
    monkeypatch.setattr(sources, "RETRIES", 1)
    server.break_after = [100]
    get(server, tmp_path)
    assert server.asked.count("train.txt") == 2
    assert (tmp_path / "hands" / "train.txt").read_text() == TEXTS["train.txt"]


def test_after_a_break_that_stays_a_later_call_fetches_what_is_absent(server, tmp_path):
    server.break_after = [len(TEXTS["train.txt"]), 5]
    with pytest.raises(DownloadError, match=r"valid\.txt: expected the file from .*; call again to go on"):
        get(server, tmp_path)
    assert [path.name for path in (tmp_path / "hands").iterdir()] == ["train.txt"]
    get(server, tmp_path)
    assert server.asked == ["train.txt", "valid.txt", "valid.txt", "test.txt"]


@pytest.mark.parametrize(
    ("sent", "message"),
    [
        (TEXTS["train.txt"].upper(), "expected sha256"),
        (TEXTS["train.txt"] + "more", "expected 1,600 bytes from http"),
        (TEXTS["train.txt"][:-1], "expected sha256"),
        (None, "404 Client Error"),
    ],
    ids=["changed", "too long", "too short", "absent"],
)
def test_another_text_than_the_pinned_one_never_gets_the_name(server, tmp_path, sent, message):
    if sent is None:
        del server.texts["train.txt"]
    else:
        server.texts["train.txt"] = sent.encode()
    with pytest.raises(DownloadError, match=r"train\.txt") as refused:
        get(server, tmp_path)
    assert message in str(refused.value)
    assert not (tmp_path / "hands").exists()


OK = b"HTTP/1.0 200 OK\r\n"


@pytest.mark.parametrize("begins", [b"", OK, OK + b"\r\n", OK + b"\r\nthe hand"], ids=["", "header", "text", "more"])
def test_an_answer_that_does_not_end_is_left(server, tmp_path, monkeypatch, begins):
    monkeypatch.setattr(sources, "LEAST_S", 0.2)
    server.begins = begins
    with pytest.raises(DownloadError, match=r"train\.txt: expected 1,600 bytes within 0 s, got no end .* call again"):
        get(server, tmp_path)
    assert not (tmp_path / "hands").exists()


@pytest.mark.parametrize(
    ("header", "got"),
    [
        (b"", "got more"),
        (b"Content-Length: 1601\r\n", "got an answer of 1601"),
        (b"Content-Length: " + 5000 * b"1" + b"\r\n", "got an answer of 1{20}"),
        (b"Content-Encoding: gzip\r\n", "got an answer packed with 'gzip'"),
    ],
    ids=["no length", "length", "digits", "packed"],
)
def test_an_answer_that_is_too_large_is_left_at_once(server, tmp_path, monkeypatch, header, got):
    monkeypatch.setattr(sources, "RETRIES", 2)
    server.begins, server.goes_on = OK + header + b"\r\n", bytes(1 << 16)
    with pytest.raises(DownloadError, match=rf"train\.txt: expected 1,600 bytes from http.*, {got}.*; lay a copy"):
        get(server, tmp_path)
    assert server.asked == ["train.txt"]
    assert server.sent < 1 << 26  # what lies in the sockets, and no more
    assert not (tmp_path / "hands").exists()


def test_no_server_is_said_in_a_sentence(server, tmp_path):
    with pytest.raises(DownloadError, match=r"train\.txt: no connection to 127\.0\.0\.1:9; once there is one"):
        sources.get("hands", root=tmp_path, progress=False, known=known(server, url="http://127.0.0.1:9/"))


def test_a_folder_that_cannot_be_written_is_named(server, tmp_path):
    (tmp_path / "hands").write_text("a file where the folder should be")
    with pytest.raises(DownloadError, match=r"hands.*expected a folder that can be written"):
        get(server, tmp_path)


# What lies there already


def test_a_damaged_file_is_refused_and_named_and_force_mends_it(server, tmp_path):
    get(server, tmp_path)
    place = tmp_path / "hands" / "valid.txt"
    place.write_text(place.read_text()[:-5])
    for use in (lambda: load("hands", root=tmp_path, known=known(server)), lambda: get(server, tmp_path)):
        with pytest.raises(CorpusError, match=r"valid\.txt is damaged.*data get hands --force"):
            use()
    get(server, tmp_path, force=True)
    assert load("hands", root=tmp_path, known=known(server)).valid.size


def test_an_absent_corpus_names_the_command(server, tmp_path):
    with pytest.raises(CorpusError, match="`rope-lab data get hands` fetches it"):
        load("hands", root=tmp_path, known=known(server))
    with pytest.raises(CorpusError, match=r"expected one of tinyshakespeare, wikitext-2.*got 'hands'"):
        load("hands", root=tmp_path)


@pytest.mark.parametrize("suffix", ["", ".xz"])
def test_copies_serve_where_there_is_no_network(server, tmp_path, monkeypatch, suffix):
    fill(tmp_path / "copies", suffix)
    monkeypatch.setenv("ROPE_LAB_DATA", str(tmp_path / "copies"))
    assert load("hands", root=tmp_path / "root", known=known(server)).train.size
    assert get(server, tmp_path / "root") == tmp_path / "root"
    assert not server.asked


def test_a_damaged_copy_is_refused_too(server, tmp_path, monkeypatch):
    fill(tmp_path, ".xz")
    monkeypatch.setenv("ROPE_LAB_DATA", str(tmp_path))
    place = tmp_path / "hands" / "train.txt.xz"
    place.write_bytes(place.read_bytes()[:-20])
    with pytest.raises(CorpusError, match=r"train\.txt\.xz is damaged: expected an xz file"):
        load("hands", root=tmp_path / "root", known=known(server))


@pytest.mark.parametrize("suffix", ["", ".xz"])
def test_no_more_is_read_than_there_should_be(suffix, server, tmp_path, monkeypatch):
    fill(tmp_path, suffix)
    monkeypatch.setenv("ROPE_LAB_DATA", str(tmp_path))
    zeros, file = bytes(10**7), known(server)["hands"].files[0]
    (tmp_path / f"{file.path}{suffix}").write_bytes(lzma.compress(zeros) if suffix else zeros)
    with pytest.raises(CorpusError, match=rf"expected {file.size:,} bytes with sha256 \w+, got {file.size + 2:,} "):
        load("hands", root=tmp_path / "root", known=known(server))


def test_an_archive_serves_in_place_of_files(server, tmp_path):
    with tarfile.open(tmp_path / "all.tar.xz", "w:xz") as tar:
        for name, text in TEXTS.items():
            member = tarfile.TarInfo(name)
            member.size = len(text)
            tar.addfile(member, io.BytesIO(text.encode()))
    packed = known(server, archive=["all.tar.xz", "hands/"])
    assert sources.state(packed["hands"], tmp_path) == "present"
    assert load("hands", tokenizer="word", root=tmp_path, known=packed).vocab_size == 7


def test_state_counts_files(server, tmp_path):
    corpus = known(server)["hands"]
    assert sources.state(corpus, tmp_path) == "absent"
    get(server, tmp_path)
    assert sources.state(corpus, tmp_path) == "present"
    (tmp_path / "hands" / "test.txt").unlink()
    assert sources.state(corpus, tmp_path) == "2 of 3 files"


# Streams


def test_streams_are_mapped_and_a_second_load_needs_no_text(server, tmp_path):
    get(server, tmp_path)
    first = load("hands", tokenizer="bpe-300", root=tmp_path, known=known(server))
    for name in TEXTS:
        (tmp_path / "hands" / name).unlink()
    again = load("hands", tokenizer="bpe-300", root=tmp_path, known=known(server))
    assert isinstance(again.train, np.memmap)
    assert again.train.dtype == np.uint16
    np.testing.assert_array_equal(first.train, again.train)
    assert again.decode(again.train) == TEXTS["train.txt"]
    assert again.hashes["train"] == hashlib.sha256(TEXTS["train.txt"].encode()).hexdigest()


def test_a_stream_that_was_cut_short_is_written_again(server, tmp_path):
    get(server, tmp_path)
    first = np.array(load("hands", root=tmp_path, known=known(server)).train)
    (place,) = (tmp_path / "tokens").glob("*-train-*.npy")
    place.write_bytes(place.read_bytes()[:-7])
    (partial := place.with_name(f".{place.name}.0123abcd.partial")).touch()  # as a kill leaves it
    (mine := place.with_name(".mine.partial")).touch()
    np.testing.assert_array_equal(load("hands", root=tmp_path, known=known(server)).train, first)
    assert (partial.exists(), mine.exists()) == (False, True)


@pytest.mark.parametrize(
    "change", [{"tokenizer": "bpe-301"}, {"tokenizer": "word"}, {"tokenizer": "word-4"}, {"crlf": True}]
)
def test_every_input_changes_the_stream_s_name(server, tmp_path, change):
    get(server, tmp_path)
    tokenizer = change.pop("tokenizer", "bpe-300")
    load("hands", tokenizer="bpe-300", root=tmp_path, known=known(server))
    load("hands", tokenizer=tokenizer, root=tmp_path, known=known(server, **change))
    assert len(list((tmp_path / "tokens").glob("*-train-*.npy"))) == 2


def test_a_second_accepted_text_is_told_apart_by_the_hashes(server, tmp_path):
    other = TEXTS["valid.txt"].replace("rests", "waits")
    listed = entry(server)["files"]
    listed[1] = [*listed[1], hashlib.sha256(other.encode()).hexdigest()]
    registry = known(server, files=listed)
    fill(tmp_path)
    (tmp_path / "hands" / "valid.txt").write_text(other)
    variant = load("hands", root=tmp_path, known=registry)
    assert variant.hashes["valid"] == hashlib.sha256(other.encode()).hexdigest()
    assert variant.decode(variant.valid) == other
    assert load("hands", root=tmp_path, known=registry).hashes == variant.hashes


def test_carriage_returns_are_line_ends(server, tmp_path):
    text = b"one\r\ntwo\r\n"
    listed = [[split, f"{split}.txt", len(text), hashlib.sha256(text).hexdigest()] for split in corpora.SPLITS]
    (tmp_path / "hands").mkdir()
    for split in corpora.SPLITS:
        (tmp_path / "hands" / f"{split}.txt").write_bytes(text)
    corpus = load("hands", root=tmp_path, known=known(server, files=listed, crlf=True))
    assert corpus.decode(corpus.train) == "one\ntwo\n"


def test_a_data_folder_that_cannot_be_written_is_named(server, tmp_path):
    fill(tmp_path)
    (tmp_path / "tokens").write_text("a file where the folder should be")
    with pytest.raises(CorpusError, match=r"tokens: expected a folder that can be written.*ROPE_LAB_CACHE"):
        load("hands", root=tmp_path, known=known(server))


# The book's own list


def test_shakespeare_is_embedded_and_cut_without_gap_or_overlap(tmp_path, monkeypatch):
    monkeypatch.delenv("ROPE_LAB_DATA", raising=False)
    corpus = load("tinyshakespeare", root=tmp_path)
    ((_, content, _),) = sources.texts(sources.registry()["tinyshakespeare"])
    assert "".join(corpus.decode(getattr(corpus, split)) for split in corpora.SPLITS) == content.decode()
    assert len(corpus.train) > 8 * len(corpus.valid)


def test_every_corpus_has_three_splits_pinned_addresses_and_whole_hashes():
    for corpus in sources.registry().values():
        splits = set(corpus.cuts or {file.split for file in corpus.files})
        assert splits == set(corpora.SPLITS)
        assert len({file.path for file in corpus.files}) == len(corpus.files)
        for file in corpus.files:
            assert file.url.startswith("https://")
            assert all(len(digest) == 64 for digest in (file.sha256, file.also) if digest)


def test_the_subset_of_pg19_is_the_declared_one():
    small, large = (sources.registry()[name].files for name in ("pg19", "pg19-large"))
    count = {split: sum(file.split == split for file in small) for split in corpora.SPLITS}
    assert count == {"train": 85, "valid": 5, "test": 2}
    assert set(small) < set(large)
    assert len(large) == 463 + 5 + 2


def test_penn_treebank_says_that_it_has_no_open_licence_and_is_not_in_the_package():
    assert "NO OPEN LICENCE" in sources.registry()["ptb"].licence
    assert not list(sources.PACKAGED.rglob("*ptb*"))


def test_the_package_s_data_stays_small():
    assert sum(path.stat().st_size for path in sources.PACKAGED.rglob("*") if path.is_file()) < 1e6


# Damage in the cache


def flipped(place, at):
    content = bytearray(place.read_bytes())
    content[at % len(content)] ^= 1
    place.write_bytes(content)


def saved(place, stream):
    with place.open("wb") as file:
        np.save(file, stream)


DAMAGE = {
    "a header": lambda place: flipped(place, 20),
    "an id": lambda place: flipped(place, -100),
    "the hash": lambda place: flipped(place, -10),
    "an earlier version's": lambda place: place.write_bytes(place.read_bytes()[:-73]),
    "ids of no token": lambda place: saved(place, np.full(9, 60_000, np.uint16)),
    "text": lambda place: saved(place, np.array(["a", "b"])),
    "a table": lambda place: saved(place, np.zeros((3, 3), np.uint16)),
    "empty": lambda place: place.write_bytes(b""),
    "a link": lambda place: (place.unlink(), place.symlink_to("nowhere")),
    "a pipe": lambda place: (place.unlink(), os.mkfifo(place)),
}


@pytest.mark.parametrize("damage", DAMAGE.values(), ids=DAMAGE)
@pytest.mark.parametrize("what", ["*-valid-*.npy", "*.vocabulary.json"])
def test_damage_in_the_cache_is_mended_or_said(server, tmp_path, damage, what):
    fill(tmp_path)
    first = load("hands", tokenizer="word", root=tmp_path, known=known(server))
    expected = first.decode(first.valid), np.array(first.valid)
    (place,) = (tmp_path / "tokens").glob(what)
    damage(place)
    again = load("hands", tokenizer="word", root=tmp_path, known=known(server))
    assert again.decode(again.valid) == expected[0]
    np.testing.assert_array_equal(again.valid, expected[1])
    damage(place)
    (tmp_path / "hands" / "train.txt").unlink()
    with pytest.raises(CorpusError, match=r"as they were written, got .*cannot be made again: .*data get hands"):
        load("hands", tokenizer="word", root=tmp_path, known=known(server))


def test_ids_are_checked_beside_their_hash(server, tmp_path):
    """The seal of a stream with an id that the vocabulary has not: what the hash alone would let pass."""
    fill(tmp_path)
    made = load("hands", root=tmp_path, known=known(server)).tokenizer
    (place,) = (tmp_path / "tokens").glob("*-valid-*.npy")
    for wrong in (np.array([1024], np.uint16), np.zeros(3, np.uint32), np.zeros((2, 2), np.uint16)):
        np.save(place, wrong)
        place.write_bytes(place.read_bytes() + corpora._seal(place.read_bytes(), made))
        with pytest.raises(ValueError, match="expected a row of ids below 1024, uint16, got"):
            corpora._stream(place, made)
