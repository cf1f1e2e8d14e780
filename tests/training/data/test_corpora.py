"""A corpus is what its hashes say, or it is refused and named; a broken download goes on where it stopped."""

import hashlib
import io
import lzma
import tarfile

import numpy as np
import pytest

from rope_lab.training.data import corpora, sources
from rope_lab.training.data.corpora import CorpusError, load
from rope_lab.training.data.download import TRIES, DownloadError
from tests.training.shelf import TEXTS, entry, known, serving


@pytest.fixture
def shelf(monkeypatch):
    monkeypatch.delenv("ROPE_LAB_DATA", raising=False)
    with serving() as found:
        yield found


def get(shelf, root, **options):
    return sources.get("hands", root=root, progress=False, known=known(shelf), **options)


def fill(folder, suffix=""):
    """Lay the corpus into a folder without a server."""
    (folder / "hands").mkdir(parents=True)
    for name, text in TEXTS.items():
        content = lzma.compress(text.encode()) if suffix else text.encode()
        (folder / "hands" / (name + suffix)).write_bytes(content)


# Fetching


def test_a_fetched_corpus_lies_under_its_names_and_loads(shelf, tmp_path):
    assert get(shelf, tmp_path) == tmp_path
    assert (tmp_path / "hands" / "train.txt").read_text() == TEXTS["train.txt"]
    corpus = load("hands", tokenizer="word", root=tmp_path, known=known(shelf))
    assert corpus.decode(corpus.test) == "<unk> <unk> hand <eos>"


def test_what_is_there_is_not_fetched_again_unless_forced(shelf, tmp_path):
    get(shelf, tmp_path)
    get(shelf, tmp_path)
    assert len(shelf.asked) == 3
    get(shelf, tmp_path, force=True)
    assert len(shelf.asked) == 6


def test_a_break_is_taken_up_where_it_happened(shelf, tmp_path):
    shelf.break_after = [100, 7]
    get(shelf, tmp_path)
    assert [asked for name, asked in shelf.asked if name == "train.txt"] == ["", "bytes=100-", "bytes=107-"]
    assert (tmp_path / "hands" / "train.txt").read_text() == TEXTS["train.txt"]


def test_a_break_that_stays_keeps_its_part_and_a_later_call_goes_on(shelf, tmp_path):
    shelf.break_after = [100] + [0] * (TRIES - 1)
    with pytest.raises(DownloadError, match=r"train\.txt: expected 1,600 bytes .* 100 bytes are kept"):
        get(shelf, tmp_path)
    assert not (tmp_path / "hands" / "train.txt").exists()
    get(shelf, tmp_path)
    assert shelf.asked[TRIES] == ("train.txt", "bytes=100-")


def test_a_server_without_ranges_sends_all_of_it_again(shelf, tmp_path):
    shelf.ranges, shelf.break_after = False, [100]
    get(shelf, tmp_path)
    assert (tmp_path / "hands" / "train.txt").read_text() == TEXTS["train.txt"]


@pytest.mark.parametrize(
    ("sent", "message"),
    [
        (TEXTS["train.txt"].upper(), "expected sha256"),
        (TEXTS["train.txt"] + "more", "got more"),
        (TEXTS["train.txt"][:-1], "expected 1,600 bytes"),
        (None, "HTTP 404"),
    ],
    ids=["changed", "too long", "too short", "absent"],
)
def test_another_text_than_the_pinned_one_never_gets_the_name(shelf, tmp_path, sent, message):
    if sent is None:
        del shelf.texts["train.txt"]
    else:
        shelf.texts["train.txt"] = sent.encode()
    with pytest.raises(DownloadError, match=r"train\.txt") as refused:
        get(shelf, tmp_path)
    assert message in str(refused.value)
    assert not (tmp_path / "hands" / "train.txt").exists()


def test_no_server_is_said_in_a_sentence(shelf, tmp_path):
    with pytest.raises(DownloadError, match="refused"):
        sources.get("hands", root=tmp_path, progress=False, known=known(shelf, url="http://127.0.0.1:9/"))


def test_a_folder_that_cannot_be_written_is_named(shelf, tmp_path):
    (tmp_path / "hands").write_text("a file where the folder should be")
    with pytest.raises(DownloadError, match=r"hands.*expected a folder that can be written"):
        get(shelf, tmp_path)


# What lies there already


def test_a_damaged_file_is_refused_and_named_and_force_mends_it(shelf, tmp_path):
    get(shelf, tmp_path)
    place = tmp_path / "hands" / "valid.txt"
    place.write_text(place.read_text()[:-5])
    for use in (lambda: load("hands", root=tmp_path, known=known(shelf)), lambda: get(shelf, tmp_path)):
        with pytest.raises(CorpusError, match=r"valid\.txt is damaged.*data get hands --force"):
            use()
    get(shelf, tmp_path, force=True)
    assert load("hands", root=tmp_path, known=known(shelf)).valid.size


def test_an_absent_corpus_names_the_command(shelf, tmp_path):
    with pytest.raises(CorpusError, match="`rope-lab data get hands` fetches it"):
        load("hands", root=tmp_path, known=known(shelf))
    with pytest.raises(CorpusError, match=r"expected one of tinyshakespeare, wikitext-2.*got 'hands'"):
        load("hands", root=tmp_path)


@pytest.mark.parametrize("suffix", ["", ".xz"])
def test_copies_serve_where_there_is_no_network(shelf, tmp_path, monkeypatch, suffix):
    fill(tmp_path / "copies", suffix)
    monkeypatch.setenv("ROPE_LAB_DATA", str(tmp_path / "copies"))
    assert load("hands", root=tmp_path / "root", known=known(shelf)).train.size
    assert get(shelf, tmp_path / "root") == tmp_path / "root"
    assert not shelf.asked


def test_a_damaged_copy_is_refused_too(shelf, tmp_path, monkeypatch):
    fill(tmp_path, ".xz")
    monkeypatch.setenv("ROPE_LAB_DATA", str(tmp_path))
    place = tmp_path / "hands" / "train.txt.xz"
    place.write_bytes(place.read_bytes()[:-20])
    with pytest.raises(CorpusError, match=r"train\.txt\.xz is damaged: expected an xz file"):
        load("hands", root=tmp_path / "root", known=known(shelf))


def test_an_archive_serves_in_place_of_files(shelf, tmp_path):
    with tarfile.open(tmp_path / "all.tar.xz", "w:xz") as tar:
        for name, text in TEXTS.items():
            member = tarfile.TarInfo(name)
            member.size = len(text)
            tar.addfile(member, io.BytesIO(text.encode()))
    packed = known(shelf, archive=["all.tar.xz", "hands/"])
    assert sources.state(packed["hands"], tmp_path) == "present"
    assert load("hands", tokenizer="word", root=tmp_path, known=packed).vocab_size == 7


def test_state_counts_files(shelf, tmp_path):
    corpus = known(shelf)["hands"]
    assert sources.state(corpus, tmp_path) == "absent"
    get(shelf, tmp_path)
    assert sources.state(corpus, tmp_path) == "present"
    (tmp_path / "hands" / "test.txt").unlink()
    assert sources.state(corpus, tmp_path) == "2 of 3 files"


# Streams


def test_streams_are_mapped_and_a_second_load_needs_no_text(shelf, tmp_path):
    get(shelf, tmp_path)
    first = load("hands", tokenizer="bpe-300", root=tmp_path, known=known(shelf))
    for name in TEXTS:
        (tmp_path / "hands" / name).unlink()
    again = load("hands", tokenizer="bpe-300", root=tmp_path, known=known(shelf))
    assert isinstance(again.train, np.memmap)
    assert again.train.dtype == np.uint16
    np.testing.assert_array_equal(first.train, again.train)
    assert again.decode(again.train) == TEXTS["train.txt"]
    assert again.hashes["train"] == hashlib.sha256(TEXTS["train.txt"].encode()).hexdigest()


def test_a_stream_that_was_cut_short_is_written_again(shelf, tmp_path):
    get(shelf, tmp_path)
    first = np.array(load("hands", root=tmp_path, known=known(shelf)).train)
    (place,) = (tmp_path / "tokens").glob("*-train-*.npy")
    place.write_bytes(place.read_bytes()[:-7])
    np.testing.assert_array_equal(load("hands", root=tmp_path, known=known(shelf)).train, first)


@pytest.mark.parametrize(
    "change", [{"tokenizer": "bpe-301"}, {"tokenizer": "word"}, {"tokenizer": "word-4"}, {"crlf": True}]
)
def test_every_input_changes_the_stream_s_name(shelf, tmp_path, change):
    get(shelf, tmp_path)
    tokenizer = change.pop("tokenizer", "bpe-300")
    load("hands", tokenizer="bpe-300", root=tmp_path, known=known(shelf))
    load("hands", tokenizer=tokenizer, root=tmp_path, known=known(shelf, **change))
    assert len(list((tmp_path / "tokens").glob("*-train-*.npy"))) == 2


def test_a_second_accepted_text_is_told_apart_by_the_hashes(shelf, tmp_path):
    other = TEXTS["valid.txt"].replace("rests", "waits")
    listed = entry(shelf)["files"]
    listed[1] = [*listed[1], hashlib.sha256(other.encode()).hexdigest()]
    registry = known(shelf, files=listed)
    fill(tmp_path)
    (tmp_path / "hands" / "valid.txt").write_text(other)
    variant = load("hands", root=tmp_path, known=registry)
    assert variant.hashes["valid"] == hashlib.sha256(other.encode()).hexdigest()
    assert variant.decode(variant.valid) == other
    assert load("hands", root=tmp_path, known=registry).hashes == variant.hashes


def test_carriage_returns_are_line_ends(shelf, tmp_path):
    text = b"one\r\ntwo\r\n"
    listed = [[split, f"{split}.txt", len(text), hashlib.sha256(text).hexdigest()] for split in corpora.SPLITS]
    (tmp_path / "hands").mkdir()
    for split in corpora.SPLITS:
        (tmp_path / "hands" / f"{split}.txt").write_bytes(text)
    corpus = load("hands", root=tmp_path, known=known(shelf, files=listed, crlf=True))
    assert corpus.decode(corpus.train) == "one\ntwo\n"


def test_a_data_folder_that_cannot_be_written_is_named(shelf, tmp_path):
    fill(tmp_path)
    (tmp_path / "tokens").write_text("a file where the folder should be")
    with pytest.raises(CorpusError, match=r"tokens: expected a folder that can be written.*ROPE_LAB_CACHE"):
        load("hands", root=tmp_path, known=known(shelf))


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
