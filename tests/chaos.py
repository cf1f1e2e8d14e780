"""Bad luck at random: a training run is killed, its disk is full, a bit flips in what was written. Is anything lost?

``python -m tests.chaos --minutes 10 --seed 7`` draws rounds until the time is over; without a seed it draws one, and
prints it. A round depends on the seed and its number alone, but for how fast the machine is. The figures go to
chaos.json, which the page How this book is checked reads. Exit status 1, and the files stay, where a round ends worse:
with another card or number, with something lost, or with an error that is none of `rope_lab.errors`.
"""

import argparse
import contextlib
import functools
import json
import os
import random
import resource
import secrets
import shutil
import signal
import subprocess
import sys
import tempfile
import traceback
from collections import Counter
from collections.abc import Callable, Iterator
from datetime import UTC, datetime
from pathlib import Path
from time import monotonic, sleep
from unittest import mock

from rope_lab import cli
from rope_lab.errors import RopeLabError
from rope_lab.training.data import corpora
from rope_lab.training.experiments.card_packs import check, pack
from rope_lab.training.files import replacing
from rope_lab.training.results import cards
from rope_lab.training.run import checkpoint, environment
from rope_lab.training.run.loop import load_model, train
from tests.training.corpus_server import TEXTS, Server, known
from tests.training.tiny import TinyCorpus, found, tiny, weights

FIGURES = Path(__file__).with_name("chaos.json")
COUNTED = ("kills", "resumed", "full", "recovered", "flips", "refused", "repaired", "same", "worse")
DISK = 8 << 20  # bytes of the small file system
FLIPS = 20  # in a round
EVERY = 6  # steps between checkpoints, so that many kills meet one


class WorseError(AssertionError):
    """Something was lost, or is another."""


def expect(good: bool, said: str) -> None:
    if not good:
        raise WorseError(said)


def contents(folder: Path) -> dict[str, bytes]:
    return {str(path.relative_to(folder)): path.read_bytes() for path in folder.rglob("*") if path.is_file()}


def card_of(folder: Path) -> dict:
    """All that the card of a run says, apart from when and where it ran."""
    (path,) = folder.glob("*-seed*.json")
    return {**vars(cards.read(path)), "volatile": None}


def flip(draw: random.Random, path: Path) -> None:
    content = bytearray(path.read_bytes())
    bit = draw.randrange(8 * len(content))
    content[bit // 8] ^= 1 << bit % 8
    path.write_bytes(content)


def forked(work: Callable[[], object], *, meanwhile: Callable[[int], object] | None = None) -> tuple[int, str]:
    """Do some work in a child; its status (a signal's number below zero) and what it said. As warm as this process."""
    heard, said = os.pipe()
    pid = os.fork()
    if pid == 0:
        status = 70
        try:
            sys.stdout = sys.stderr = os.fdopen(said, "w", encoding="utf-8")
            work()
            status = 0
        except SystemExit as end:
            status = end.code if isinstance(end.code, int) else int(end.code is not None)
        except RopeLabError as error:
            print(error)
            status = 1
        except BaseException:  # the child must not go on as its parent
            print(traceback.format_exc())
        sys.stdout.flush()
        os._exit(status)
    os.close(said)
    try:
        if meanwhile:
            meanwhile(pid)
        with os.fdopen(heard, "rb") as stream:
            text = stream.read().decode(errors="replace")
    except BaseException:  # Ctrl-C: the child must not go on alone
        os.kill(pid, signal.SIGKILL)
        os.waitpid(pid, 0)
        raise
    return os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]), text


@contextlib.contextmanager
def started(work: Path, *, steps: int = 240) -> Iterator["Chaos"]:
    """What is needed for the rounds, in an empty folder; a small file system where this machine lets one mount it."""
    (disk := work / "disk").mkdir()
    mount = ["mount", "-t", "tmpfs", "-o", f"size={DISK}", "chaos", str(disk)]
    with contextlib.ExitStack() as stack:
        if mounted := not subprocess.run(mount, check=False, capture_output=True).returncode:
            stack.callback(subprocess.run, ["umount", str(disk)], check=True)
        own = {**environment.tuned_environment(threads=1), "ROPE_LAB_CACHE": str(work / "cache")}
        stack.enter_context(mock.patch.dict(os.environ, own))
        often = functools.partial(train, checkpoint_every=EVERY)  # the command has no option for it
        stack.enter_context(mock.patch("rope_lab.training.run.loop.train", often))
        yield Chaos(work, mounted, steps)


class Chaos:
    """What a good end looks like, and the rounds, each of which counts what it did or raises."""

    def __init__(self, work: Path, mounted: bool, steps: int) -> None:
        self.work, self.disk, self.mounted = work, work / "disk", mounted
        config = work / "config.json"
        config.write_text(json.dumps(tiny(steps=steps, eval_every=50, eval_tokens=1000).to_dict()))
        self.command = ["rope-lab", "train", str(config), "--threads", "1", "--quiet", "--out"]
        with contextlib.suppress(SystemExit):
            self.train(work / "warm")  # here, and in no child: it imports and tokenises
        start = monotonic()
        expect(forked(lambda: self.train(work / "whole"))[0] == 0, "an unbroken run did not end well")
        self.seconds, self.whole = monotonic() - start, work / "whole"
        self.saved = 3 * len(weights(self.whole))  # bytes of a checkpoint on the way, with the optimizer's
        self.part, self.pack = work / "part", work / "good.jsonl.gz"
        for _ in range(3):
            train(tiny(), out=self.part, corpus=TinyCorpus(), threads=1, time_budget_s=0, progress=False)
        self.ended = found(train(tiny(), out=work / "ended", corpus=TinyCorpus(), threads=1, progress=False))
        pack("cache-stream", "cpu", root=cards.RESULTS, out=self.pack)
        (work / "corpus" / "hands").mkdir(parents=True)
        for name, text in TEXTS.items():
            (work / "corpus" / "hands" / name).write_text(text)
        self.streams = self.read_streams(work / "corpus")

    def train(self, folder: Path) -> None:
        """Do what the command does, under whatever name this process has."""
        with mock.patch.object(sys, "argv", [*self.command, str(folder)]):
            cli.main()

    @staticmethod
    def read_streams(root: Path) -> tuple:
        corpus = corpora.load("hands", tokenizer="word", root=root, known=known(Server()))
        return corpus.tokenizer.vocabulary, *(getattr(corpus, split).tolist() for split in corpora.SPLITS)

    def expect_ended(self, folder: Path, notes: bytes) -> None:
        """The run's folder is that of an unbroken run, and somebody's notes."""
        expect(card_of(folder) == card_of(self.whole), "another card than that of an unbroken run")
        expect(weights(folder) == weights(self.whole), "other weights than those of an unbroken run")
        expect((folder / "notes.txt").read_bytes() == notes, "somebody's notes are lost")
        expect(len(contents(folder)) == len(contents(self.whole)) + 1, f"left over: {sorted(contents(folder))}")

    def kill(self, draw: random.Random) -> None:
        """KILL at random moments, and the same command again, until one ends."""
        folder, notes = self.work / "killed", draw.randbytes(9)
        folder.mkdir()
        (folder / "notes.txt").write_bytes(notes)

        def die(pid: int) -> None:
            sleep(draw.uniform(0, self.seconds))
            os.kill(pid, signal.SIGKILL)

        while (ended := forked(lambda: self.train(folder), meanwhile=die))[0] == -signal.SIGKILL:
            self.done["kills"] += 1
        expect(ended[0] == 0, f"status {ended[0]} after a kill: {ended[1]}")
        self.expect_ended(folder, notes)
        shutil.rmtree(folder)
        self.done["resumed"] = self.done["kills"]

    def fill(self, room: int, pid: int = 0) -> None:
        """Leave so many bytes of the small disk; without one, let no file of a process grow above them."""
        if not self.mounted:
            with contextlib.suppress(ProcessLookupError):
                resource.prlimit(pid, resource.RLIMIT_FSIZE, (room, resource.RLIM_INFINITY))
            return
        with contextlib.suppress(OSError), (self.disk / "ballast").open("wb", buffering=0) as ballast:
            while shutil.disk_usage(self.disk).free > room:
                ballast.write(bytes(4096))

    def make_room(self) -> None:
        resource.prlimit(0, resource.RLIMIT_FSIZE, (resource.RLIM_INFINITY, resource.RLIM_INFINITY))
        (self.disk / "ballast").unlink(missing_ok=True)

    def full_disk(self, draw: random.Random) -> None:
        """Fill the disk before or during a run, or before token streams or a pack are written; then make room."""
        draw.choice([self.train_on_full, self.train_on_full, self.streams_on_full, self.pack_on_full])(draw)

    def refused(
        self, room: int, work: Callable[[], object], *, saved: Callable[[], int] = lambda: 0, after: float = 0
    ) -> bool:
        """Whether ``work`` was refused, in words and without a loss, with so much room ``after`` some seconds."""
        before = [0]

        def later(pid: int) -> None:
            sleep(after)
            before[0] = saved()
            self.fill(room, pid)

        if not after:
            self.fill(room)
        status, said = forked(work, meanwhile=later if after else None)
        self.make_room()
        self.done["full"] += status != 0
        words = any(each in said for each in ("No space left", "File too large"))
        expect(status == 0 or (status == 1 and words and "Traceback" not in said), f"status {status}: {said}")
        expect(saved() >= before[0], "an earlier checkpoint than before")
        return status != 0

    def train_on_full(self, draw: random.Random) -> None:
        folder, notes = self.disk / "run", draw.randbytes(9)
        folder.mkdir()
        (folder / "notes.txt").write_bytes(notes)
        room, after = draw.randrange(2 * self.saved), draw.choice([0, draw.uniform(0, self.seconds)])

        def saved() -> int:
            index = folder / checkpoint.NAME
            return json.loads(index.read_text()).get("step", 0) if index.exists() else 0

        self.refused(room, lambda: self.train(folder), saved=saved, after=after)
        checkpoint.load(folder)  # whole, or this raises
        ended = forked(lambda: self.train(folder))
        expect(ended[0] == 0, f"with room again: status {ended[0]}: {ended[1]}")
        self.expect_ended(folder, notes)
        shutil.rmtree(folder)
        self.done["recovered"] = self.done["full"]

    def streams_on_full(self, draw: random.Random) -> None:
        root = shutil.copytree(self.work / "corpus" / "hands", self.disk / "root" / "hands").parent
        self.refused(draw.randrange(3 * 4096), lambda: self.read_streams(root))
        expect(self.read_streams(root) == self.streams, "other tokens once there was room")
        expect(not list(root.rglob("*.partial")), "a part of a file is left")
        shutil.rmtree(root)
        self.done["recovered"] = self.done["full"]

    def pack_on_full(self, draw: random.Random) -> None:
        out, notes = self.disk / "pack.jsonl.gz", draw.randbytes(9)
        out.write_bytes(notes)

        def work() -> int:
            return pack("cache-stream", "cpu", root=cards.RESULTS, out=out)

        full = self.refused(draw.randrange(self.pack.stat().st_size + 4096), work)
        expect(
            out.read_bytes() == (notes if full else self.pack.read_bytes()), "the file is neither the old nor the new"
        )
        work()
        expect(contents(self.disk) == {out.name: self.pack.read_bytes()}, "another pack once there was room")
        out.unlink()
        self.done["recovered"] = self.done["full"]

    def flips(self, draw: random.Random) -> None:
        """Flip a bit of a pack, a token stream or a checkpoint: refused, repaired, or every number as before."""
        for _ in range(FLIPS):
            folder, self.done["flips"] = self.work / "flipped", self.done["flips"] + 1
            self.done[draw.choice([self.flip_pack, self.flip_stream, self.flip_checkpoint])(draw, folder)] += 1
            shutil.rmtree(folder)

    @staticmethod
    def read_again(folder: Path, read: Callable[[], object], good: object) -> str:
        before = contents(folder)
        try:
            again = read()
        except RopeLabError as error:
            expect(contents(folder) == before, "what was refused was changed")
            expect("expected" in str(error) and "got" in str(error), f"refused without words: {error}")
            return "refused"
        expect(again == good, "read with other numbers")
        return "same"

    def flip_pack(self, draw: random.Random, folder: Path) -> str:
        folder.mkdir()
        flip(draw, path := Path(shutil.copy(self.pack, folder)))
        return self.read_again(folder, lambda: [each.card for each in check(path)], [e.card for e in check(self.pack)])

    def flip_stream(self, draw: random.Random, folder: Path) -> str:
        shutil.copytree(self.work / "corpus", folder)
        if gone := draw.random() < 0.5:
            shutil.rmtree(folder / "hands")  # what the streams could be made from again
        flip(draw, path := draw.choice(sorted((folder / "tokens").iterdir())))
        flipped = path.read_bytes()
        answer = self.read_again(folder, lambda: self.read_streams(folder), self.streams)
        if answer == "refused":
            expect(gone, "refused, though it could be made again")
        return "repaired" if path.read_bytes() != flipped else answer

    def flip_checkpoint(self, draw: random.Random, folder: Path) -> str:
        shutil.copytree(self.part, folder)
        flip(draw, draw.choice(sorted(folder.iterdir())))
        if draw.random() < 0.5:
            parameters = [p.tolist() for p in load_model(self.part).parameters()]
            return self.read_again(folder, lambda: [p.tolist() for p in load_model(folder).parameters()], parameters)

        def resumed() -> dict:
            return found(train(tiny(), out=folder, corpus=TinyCorpus(), threads=1, progress=False))

        return self.read_again(folder, resumed, self.ended)

    def round(self, seed: int, number: int, *kinds: Callable[[random.Random], None]) -> Counter:
        """What one round did, of any kind or of these. What ends worse is counted and said, and its files are kept."""
        draw, self.done = random.Random(f"{seed} {number}"), Counter()
        kind = draw.choice(kinds or (self.kill, self.full_disk, self.flips))
        try:
            kind(draw)
        except Exception:  # whatever it is, it is worse
            self.make_room()
            print(f"round {number} of the seed {seed}, {kind.__name__}:\n{traceback.format_exc()}", flush=True)
            kept = tempfile.mkdtemp(prefix=f"worse-{number}-", dir=self.work)
            for left in filter(Path.exists, (self.work / "killed", self.work / "flipped", *self.disk.iterdir())):
                shutil.move(left, kept)
            self.done["worse"] = 1
        return self.done


def main(minutes: float, seed: int, out: Path) -> int:
    """Draw rounds until the time is over, and write the figures; 1 where something is worse."""
    print(f"chaos for {minutes:g} minutes with --seed {seed}", flush=True)
    work, start, number = Path(tempfile.mkdtemp(prefix="chaos-")), monotonic(), 0
    commit = environment.commit()  # of what runs, whatever the tree becomes meanwhile
    tally = Counter(dict.fromkeys(COUNTED, 0))
    with started(work) as chaos:
        while monotonic() - start < 60 * minutes:
            number += 1
            tally.update(chaos.round(seed, number))
        disk = "a small file system" if chaos.mounted else "a limit on the size of files"
    figures = {
        "date": datetime.now(UTC).date().isoformat(),
        "commit": commit,
        "seed": seed,
        "seconds": round(monotonic() - start),
        "rounds": number,
        "disk": disk,
        "counts": {"minutes": round((monotonic() - start) / 60), **tally},
    }
    with replacing(out) as file:
        file.write((json.dumps(figures, indent=1) + "\n").encode())
    print(json.dumps(figures))
    if tally["worse"]:
        print(f"expected nothing worse, got {tally['worse']} rounds, whose folders are in {work}")
        return 1
    shutil.rmtree(work)
    return 0


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--minutes", type=float, default=10)
    parser.add_argument("--seed", type=int, default=secrets.randbits(32))
    parser.add_argument("--out", type=Path, default=FIGURES)
    sys.exit(main(**vars(parser.parse_args())))
