"""Tests in several workers: those that share something costly are run by one of them."""

import subprocess
import sys

import pytest

TESTS = """
import pytest

@pytest.mark.parametrize("number", range(20))
{mark}
def test_number(number, worker_id, tmp_path):
    (tmp_path.parents[1] / "workers.txt").open("a").write(worker_id + " ")
"""


@pytest.mark.deep
@pytest.mark.parametrize(("mark", "workers"), [('@pytest.mark.xdist_group("one")', 1), ("", 2)])
def test_a_group_is_run_by_one_worker_and_others_by_all(tmp_path, mark, workers):
    (tmp_path / "test_numbers.py").write_text(TESTS.format(mark=mark))
    options = ["-n", "2", "--dist", "loadgroup", "-p", "no:cacheprovider", "--basetemp", str(tmp_path / "base")]
    run = [sys.executable, "-m", "pytest", *options, "--rootdir", str(tmp_path), str(tmp_path)]
    subprocess.run(run, check=True, capture_output=True, cwd=tmp_path)
    assert len(set((tmp_path / "base" / "workers.txt").read_text().split())) == workers
