"""Workers leave nothing running. Whoever lives holds the pipe that a test reads, so its end says that all are gone."""

import os
import signal
import subprocess
import sys
import time

import pytest

from rope_lab.processes import Worker

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="groups of processes and their signals are of POSIX")
FAMILY = """
import os, signal, subprocess, sys, time
signal.signal(signal.SIGTERM, signal.SIG_IGN)
SLEEP = [sys.executable, "-c", "import os, time; os.write(1, b'%8d' % os.getpid()); time.sleep(600)"]
subprocess.Popen(SLEEP)
subprocess.Popen(SLEEP, start_new_session=True)
if os.fork() == 0:
    os.setsid()
    if os.fork() == 0:  # a daemon: its parent ends
        os.execv(sys.executable, SLEEP)
    os._exit(0)
os.write(1, b"%8d" % os.getpid())
time.sleep(600)
"""
ASKER = {
    "a worker": "from rope_lab.processes import Worker; Worker('family', grace=0.1).wait()",
    "any process": "import subprocess, sys; subprocess.Popen([sys.executable, '-m', 'family']).wait()",
}


@pytest.fixture
def module(tmp_path, monkeypatch):
    monkeypatch.setenv("PYTHONPATH", os.pathsep.join([str(tmp_path), *filter(None, [os.environ.get("PYTHONPATH")])]))

    def write(text, name="family"):
        (tmp_path / f"{name}.py").write_text(text, encoding="utf-8")
        return name

    return write


def asking(kind):
    """A process that has a worker, and the ids of the family, all of whom live."""
    asker = subprocess.Popen([sys.executable, "-c", ASKER[kind]], stdout=subprocess.PIPE)
    return asker, [int(asker.stdout.read(8)) for _ in range(4)]


@pytest.mark.skipif(sys.platform != "linux", reason="elsewhere a daemon is not found")
@pytest.mark.parametrize("name", ["SIGTERM", "SIGHUP", "SIGINT", "SIGKILL"])
def test_whatever_ends_the_one_who_asked_ends_the_family(name, module):
    module(FAMILY)
    asker, _ = asking("a worker")
    asker.send_signal(getattr(signal, name))
    asker.communicate(timeout=60)  # raises if one of them lives and holds the pipe
    assert asker.returncode


def test_control_the_family_of_any_process_lives_on(module):
    module(FAMILY)
    asker, family = asking("any process")
    asker.kill()
    asker.wait(60)
    for pid in family:
        os.kill(pid, signal.SIGKILL)  # raises if there is none
    asker.communicate(timeout=60)


def test_it_is_asked_to_end_and_may_use_its_moment(module):
    text = "import signal, sys, time\nsignal.signal(signal.SIGTERM, lambda *_: sys.exit(print('saved') or 3))\n"
    naps = "print('ready', flush=True)\nwhile True:\n    time.sleep(0.05)"  # a signal just before a sleep waits for it
    worker = Worker(module(text + naps), grace=60, stdout=subprocess.PIPE)
    assert worker.stdout.readline() == b"ready\n"
    worker.terminate()
    assert worker.communicate(timeout=60)[0] == b"saved\n"
    assert worker.returncode == 3


def test_what_does_not_listen_is_killed(module):
    worker = Worker(module(FAMILY), grace=0.1, stdout=subprocess.PIPE)
    assert worker.stdout.read(8)
    began = time.monotonic()
    assert worker.end() == -signal.SIGKILL
    assert time.monotonic() - began < 60
    worker.communicate()


@pytest.mark.parametrize("status", [0, 7, -signal.SIGSEGV])
def test_the_status_is_the_module_s_own(status, module):
    text = f"import os, sys\nsys.exit({status}) if {status} >= 0 else os.kill(os.getpid(), {abs(status)})"
    assert Worker(module(text)).wait(60) == status


def test_the_current_folder_is_not_on_its_path(tmp_path, module):
    here = tmp_path / "here"
    here.mkdir()
    (here / "queue.py").write_text("print('this one')", encoding="utf-8")
    name = module("import os, queue, sys; print(os.getcwd() in sys.path or '' in sys.path)")
    worker = Worker(name, cwd=here, stdout=subprocess.PIPE, text=True)
    assert worker.communicate(timeout=60)[0] == "False\n"
