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
class Server:
    """What the server sends; a test changes it."""

    url: str = ""
    texts: dict[str, bytes] = field(default_factory=lambda: {name: text.encode() for name, text in TEXTS.items()})
    break_after: list[int] = field(default_factory=list)  # bytes sent before the connection ends, one answer each
    begins: bytes | None = None  # an answer that begins so, and never ends
    goes_on: bytes = b""  # by so much at a time; without it the server says nothing more
    sent: int = 0  # bytes of such an answer
    over: threading.Event = field(default_factory=threading.Event)
    asked: list[str] = field(default_factory=list)  # names, in the order in which they were asked for


def entry(served, **more):
    """The corpus's JSON entry with the hashes of `TEXTS`, whatever the server really sends."""
    listed = [
        [name.removesuffix(".txt"), name, len(text.encode()), hashlib.sha256(text.encode()).hexdigest()]
        for name, text in TEXTS.items()
    ]
    return {"about": "hands", "licence": "public domain", "url": served.url, "folder": "hands", "files": listed, **more}


def known(served, **more):
    """A registry of that one corpus."""
    return {"hands": source("hands", entry(served, **more))}


@contextlib.contextmanager
def serving():
    """Run the server; its `Server` can be changed meanwhile."""
    served = Server()

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self):
            name = self.path.lstrip("/")
            served.asked.append(name)
            if served.begins is not None:
                with contextlib.suppress(OSError):  # the other side left
                    self.wfile.write(served.begins)
                    while not served.over.wait(0 if served.goes_on else None):
                        served.sent += self.wfile.write(served.goes_on)
                return
            if name not in served.texts:
                self.send_error(404)
                return
            text = served.texts[name]
            self.send_response(200)
            self.send_header("Content-Length", str(len(text)))
            self.end_headers()
            self.wfile.write(text[: served.break_after.pop(0) if served.break_after else None])

        def log_message(self, *_):
            pass

    with ThreadingHTTPServer(("127.0.0.1", 0), Handler) as server:
        thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
        thread.start()
        served.url = f"http://127.0.0.1:{server.server_port}/"
        try:
            yield served
        finally:
            served.over.set()
            server.shutdown()
            thread.join()
