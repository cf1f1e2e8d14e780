"""Worker processes that leave nothing running: a worker ends with whoever started it, and its whole family with it.

On POSIX a worker is two processes. The first, the keeper, is a few lines of this file: it forks the second, which runs
the module in a process group of its own, and waits for it. The keeper holds the end of a pipe whose other end the
starting process has; whatever ends that one, KILL too, ends the pipe, and then the keeper ends the family. On Linux it
is a subreaper as well: a process that left the group (setsid, a daemon) becomes its child and is found. On other
systems those whose parents have ended are not found. On Windows a thread of the worker waits for the starting process.

No sandbox: what runs in the worker has the user's rights, and may end the keeper.
"""

from __future__ import annotations

import contextlib
import importlib.util
import os
import runpy
import select
import signal
import subprocess
import sys
import threading
import time
import weakref
from collections.abc import Iterable
from pathlib import Path
from typing import Any

MOMENT = 5.0  # seconds in which what was sent KILL is gone
PDEATHSIG, SUBREAPER = 1, 36  # numbers of Linux's prctl


class Worker(subprocess.Popen[Any]):
    """A module that runs as ``python -P -m MODULE`` would, in a family of processes that ends as one.

    The current folder is not on its path; PYTHONPATH is. Ctrl-C in the terminal does not reach it. `terminate` asks it
    to end, and after ``grace`` seconds its family is killed; that happens too when this process ends, or forgets the
    worker. The exit status is the module's own.

    Args:
        module: The name of the module.
        grace: Seconds between TERM and KILL.
        **options: As `subprocess.Popen` takes them: stdin, stdout, stderr, env, cwd, text.
    """

    def __init__(self, module: str, *, grace: float = 1.0, **options: Any) -> None:
        self.grace = grace
        command = [sys.executable, "-P", __file__, module, str(grace)]
        options["env"] = {
            **(options.get("env") or os.environ),
            "PYTHONSAFEPATH": "1",
        }  # for what the worker starts, too
        if sys.platform == "win32":
            self._let_go = weakref.finalize(self, lambda: None)
            super().__init__([*command, str(os.getpid())], **options)
            return
        watched, held = os.pipe()
        self._let_go = weakref.finalize(self, os.close, held)
        try:
            super().__init__([*command, str(watched)], pass_fds=(watched,), start_new_session=True, **options)
        finally:
            os.close(watched)

    def end(self) -> int:
        """End the worker and all that it started: TERM, and KILL after ``grace`` seconds. Its exit status."""
        self._let_go()
        if sys.platform == "win32" and self.poll() is None:
            subprocess.run(["taskkill", "/T", "/F", "/PID", str(self.pid)], capture_output=True, check=False)
        self.terminate()
        try:
            return self.wait(self.grace + 2 * MOMENT)
        except subprocess.TimeoutExpired:  # something stopped the keeper; on Linux its worker dies with it
            self.kill()
            return self.wait()


def main() -> None:
    """Run the module that the command line names; on POSIX in a forked process, of which this one is the keeper."""
    module, grace, tie = sys.argv[1], float(sys.argv[2]), int(sys.argv[3])
    if sys.platform == "win32":
        threading.Thread(target=_end_after, args=(tie,), daemon=True).start()
    else:
        _fork(tie, grace)
    sys.argv[:] = [module]
    ours = Path(__file__).resolve().parent
    found = importlib.util.find_spec("rope_lab")
    if found is None or not found.origin or Path(found.origin).resolve().parent != ours:
        sys.path.insert(0, str(ours.parent))  # this package was started from where no path leads, or not to this one
    runpy.run_module(module, run_name="__main__", alter_sys=True)


if sys.platform == "win32":

    def _end_after(pid: int) -> None:
        """End this process when another one has ended."""
        import _winapi

        with contextlib.suppress(OSError):  # it has ended already
            _winapi.WaitForSingleObject(_winapi.OpenProcess(0x00100000, False, pid), _winapi.INFINITE)  # SYNCHRONIZE
        os._exit(1)

else:

    def _fork(leash: int, grace: float) -> None:
        """Return in a new process alone. This one waits for it, ends its family and leaves with its exit status."""
        _prctl(SUBREAPER, 1)
        keeper = os.getpid()
        signals = (signal.SIGCHLD, signal.SIGTERM, signal.SIGHUP, signal.SIGINT)
        before = signal.pthread_sigmask(signal.SIG_BLOCK, signals)
        worker = os.fork()
        if worker == 0:
            os.close(leash)
            os.setpgid(0, 0)
            _prctl(PDEATHSIG, signal.SIGKILL)
            if os.getppid() != keeper:  # it ended before the line above
                os._exit(1)
            signal.pthread_sigmask(signal.SIG_SETMASK, before)
            return
        null = os.open(os.devnull, os.O_RDWR)
        for stream in (0, 1, 2):  # the streams are the worker's: they end with it
            os.dup2(null, stream)
        waking, woken = os.pipe()
        os.set_blocking(woken, False)
        signal.set_wakeup_fd(woken)
        for number in signals:
            signal.signal(number, lambda *_: None)
        signal.pthread_sigmask(signal.SIG_UNBLOCK, signals)
        status = _wait(worker, leash, waking, grace)
        if status < 0:
            with contextlib.suppress(OSError):  # KILL has no handler
                signal.signal(-status, signal.SIG_DFL)
            os.kill(keeper, -status)
        os._exit(abs(status))

    def _wait(worker: int, leash: int, waking: int, grace: float) -> int:
        """The worker's exit status, once it and its family have ended, by themselves or because the leash ended."""
        watched, deadline = [leash, waking], None
        while (status := _reap(worker)) is None:
            left = None if deadline is None else max(0.0, deadline - time.monotonic())
            ready = select.select(watched, [], [], left)[0]
            heard = set(os.read(waking, 512)) if waking in ready else set()
            if deadline is None and (leash in ready or heard - {signal.SIGCHLD}):
                watched, deadline = [waking], time.monotonic() + grace
                _signal([worker], signal.SIGTERM)
            elif deadline is not None and time.monotonic() >= deadline:
                break
        until = time.monotonic() + MOMENT
        while time.monotonic() < until:
            with contextlib.suppress(OSError):
                os.killpg(worker, signal.SIGKILL)
            family = _descendants(os.getpid())
            _signal(family, signal.SIGKILL)
            ended = _reap(worker)
            status = ended if status is None else status
            if not family and status is not None:
                break
            time.sleep(0.01)
        return -signal.SIGKILL if status is None else status

    def _reap(worker: int) -> int | None:
        """Take leave of every child that has ended; the exit status of the worker, if it is one of them."""
        status = None
        with contextlib.suppress(ChildProcessError):
            while (ended := os.waitpid(-1, os.WNOHANG))[0]:
                if ended[0] == worker:
                    status = os.waitstatus_to_exitcode(ended[1])
        return status

    def _signal(pids: Iterable[int], number: int) -> None:
        for pid in pids:
            with contextlib.suppress(OSError):
                os.kill(pid, number)

    def _descendants(root: int) -> list[int]:
        """The children of a process, theirs, and so on."""
        parents, children = _parents(), [root]
        for pid in children:  # it grows as it is read
            children += [child for child, parent in parents.items() if parent == pid]
        return children[1:]

    def _parents() -> dict[int, int]:
        """The parent of every process."""
        if sys.platform != "linux":
            asked = subprocess.Popen(["ps", "-axo", "pid=,ppid="], stdout=subprocess.PIPE, text=True)
            rows = [line.split() for line in asked.communicate()[0].splitlines()]
            return {int(pid): int(parent) for pid, parent in rows if int(pid) != asked.pid}
        parents = {}
        for stat in Path("/proc").glob("[0-9]*/stat"):
            with contextlib.suppress(OSError):
                text = stat.read_text(encoding="utf-8", errors="replace")
                parents[int(stat.parent.name)] = int(text.rpartition(")")[2].split()[1])  # a name may hold brackets
        return parents

    def _prctl(option: int, value: int) -> None:
        """Call what Linux alone offers; elsewhere do nothing."""
        if sys.platform == "linux":
            with contextlib.suppress(ImportError, OSError, AttributeError):
                import ctypes

                ctypes.CDLL(None).prctl(option, ctypes.c_ulong(value), 0, 0, 0)


if __name__ == "__main__":
    main()
