"""A tiny corpus behind a tiny server on 127.0.0.1, which can break, shorten and change what it sends."""

import contextlib
import hashlib
import threading
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

from rope_lab.training.data.sources import source

TEXTS = {
    "train.txt": "the hand turns and the other hand turns\n" * 40,
    "valid.txt": "the other hand rests\nand turns\n",
    "test.txt": "a third hand\n",
}


@dataclass
class Shelf:
    """What the server sends; a test changes it."""

    url: str = ""
    texts: dict[str, bytes] = field(default_factory=lambda: {name: text.encode() for name, text in TEXTS.items()})
    break_after: list[int] = field(default_factory=list)  # bytes sent before the connection ends, one answer each
    ranges: bool = True  # a server may ignore Range
    asked: list[tuple[str, str]] = field(default_factory=list)  # (name, Range header)


def entry(shelf, **more):
    """The corpus's JSON entry with the hashes of `TEXTS`, whatever the server really sends."""
    listed = [
        [name.removesuffix(".txt"), name, len(text.encode()), hashlib.sha256(text.encode()).hexdigest()]
        for name, text in TEXTS.items()
    ]
    return {"about": "hands", "licence": "public domain", "url": shelf.url, "folder": "hands", "files": listed, **more}


def known(shelf, **more):
    """A registry of that one corpus."""
    return {"hands": source("hands", entry(shelf, **more))}


@contextlib.contextmanager
def serving():
    """Run the server; its `Shelf` can be changed meanwhile."""
    shelf = Shelf()

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self):
            name, asked = self.path.lstrip("/"), self.headers.get("Range", "")
            shelf.asked.append((name, asked))
            if name not in shelf.texts:
                self.send_error(404)
                return
            text, start = shelf.texts[name], 0
            if asked and shelf.ranges:
                start = int(asked.removeprefix("bytes=").removesuffix("-"))
            self.send_response(206 if start else 200)
            self.send_header("Content-Length", str(len(text) - start))
            self.end_headers()
            stop = start + shelf.break_after.pop(0) if shelf.break_after else len(text)
            self.wfile.write(text[start:stop])

        def log_message(self, *_):
            pass

    with ThreadingHTTPServer(("127.0.0.1", 0), Handler) as server:
        thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
        thread.start()
        shelf.url = f"http://127.0.0.1:{server.server_port}/"
        try:
            yield shelf
        finally:
            server.shutdown()
            thread.join()
