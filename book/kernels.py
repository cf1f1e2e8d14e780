"""Kernels for the pages of a build, forked from one process that has imported what most of them import.

Half a hundred kernels that each import PyTorch anew cost minutes. Jupyter starts this file in place of a kernel; it
asks the one process for a fork, and lives as long as that. The one process has imported libraries and nothing else, so
a page starts as in a new kernel. Wherever it does not answer, this file becomes an ordinary kernel.
"""

import json
import os
import signal
import socket
import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress

# None of them looks for a running IPython when it is imported, as ipywidgets and pyplot do.
MODULES = ["ipykernel.ipkernel", "matplotlib.figure", "scipy.stats", "sympy", "torch", "torch._dynamo"]
MODULES += ["transformers.models.llama.modeling_llama"]


@contextmanager
def forked(env: Mapping[str, str]) -> Iterator[dict[str, str]]:
    """``env`` with a kernel ``python3`` that is forked, where a system forks safely: on Linux."""
    import subprocess
    import tempfile
    from pathlib import Path

    from jupyter_client.kernelspec import get_kernel_spec

    if sys.platform != "linux":
        yield dict(env)
        return
    with tempfile.TemporaryDirectory() as folder:
        address = f"{folder}/socket"
        spec = get_kernel_spec("python3").to_dict()
        spec["argv"] = [sys.executable, "-IS", __file__, address, "-f", "{connection_file}"]
        (place := Path(folder, "kernels", "python3")).mkdir(parents=True)
        (place / "kernel.json").write_text(json.dumps(spec))
        # The backend is the one that a kernel sets before it imports anything.
        own = {"MPLBACKEND": "module://matplotlib_inline.backend_inline", **env}
        with subprocess.Popen([sys.executable, __file__, address, *MODULES], stdin=subprocess.PIPE, env=own):
            yield {**env, "JUPYTER_PATH": os.pathsep.join(filter(None, (folder, env.get("JUPYTER_PATH"))))}


def ask(address: str, arguments: list[str]) -> None:
    """Live as long as a forked kernel, or become an ordinary one."""
    with suppress(OSError), socket.socket(socket.AF_UNIX) as asked:
        asked.connect(address)
        told = {"arguments": arguments, "folder": os.getcwd(), "env": dict(os.environ)}  # noqa: PTH109  (slow to import)
        asked.sendall(json.dumps(told).encode() + b"\n")
        if kernel := asked.makefile().readline():
            signal.signal(signal.SIGINT, lambda *_: os.kill(int(kernel), signal.SIGINT))
            asked.recv(1)  # nothing more comes: the kernel has ended
            return
    os.execv(sys.executable, [sys.executable, "-m", "ipykernel_launcher", *arguments])


class Current:
    """Stands for ``sys.stderr`` during the imports: what a logger says later then is seen by the page that it is of."""

    def __getattr__(self, name: str) -> object:
        return getattr(sys.__stderr__ if sys.stderr is self else sys.stderr, name)


def serve(address: str, modules: list[str]) -> None:
    """Fork a kernel for each that asks, until the standard input is closed. The first one waits for the imports."""
    import gc
    import select
    from importlib import import_module

    del sys.path[0]  # the folder of this file
    with socket.socket(socket.AF_UNIX) as door:
        door.bind(address)
        door.listen()
        while sys.stdin not in select.select([door, sys.stdin], [], [])[0]:
            asked, _ = door.accept()
            sys.stderr = Current()  # type: ignore[assignment]
            while modules:
                with suppress(ImportError):  # a page that needs it will say so
                    import_module(modules.pop(0))
            sys.stderr = sys.__stderr__
            gc.freeze()  # what is shared stays so
            if os.fork() == 0:
                door.close()
                become_kernel(asked)
                return
            asked.close()
            with suppress(ChildProcessError):
                while os.waitpid(-1, os.WNOHANG)[0]:
                    pass
    with suppress(ChildProcessError):
        while os.wait():  # all have ended, or end as their parent does
            pass


def become_kernel(asked: socket.socket) -> None:
    """A kernel for the one that asked, in its folder and its environment; it ends when that does."""
    from operator import attrgetter
    from threading import Thread

    told = json.loads(asked.makefile().readline())
    os.chdir(told["folder"])
    os.environ.clear()
    os.environ.update(told["env"], JPY_PARENT_PID=str(os.getppid()))
    for name, seed in (("numpy", "random.seed"), ("torch", "default_generator.seed")):
        if name in sys.modules:  # draw anew, as in a new process; Python's own generator does
            attrgetter(seed)(sys.modules[name])()
    os.dup2(os.open(os.devnull, os.O_RDONLY), 0)
    sys.argv = ["ipykernel_launcher", *told["arguments"]]
    Thread(target=lambda: asked.recv(1) or os._exit(1), daemon=True).start()
    asked.sendall(b"%d\n" % os.getpid())
    from ipykernel import kernelapp

    kernelapp.launch_new_instance()


if __name__ == "__main__":
    (ask if sys.flags.isolated else serve)(sys.argv[1], sys.argv[2:])
