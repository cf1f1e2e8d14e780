"""The stored example is what is measured, up to the rounding of another machine; and it can fail."""

import pytest

from rope_lab.audit.loaded_models import llama_example, measure


def shape(lines):
    """The words of a report without its measured digits."""
    return [line.split("off by")[0].split("moves by")[0].split("residual")[0].split("error")[0][:40] for line in lines]


def test_the_stored_example_is_what_is_measured():
    then, now = llama_example(), measure()
    assert [law[:2] for law in then["laws"]] == [law[:2] for law in now["laws"]]
    assert shape(then["fingerprint"][:4]) == shape(now["fingerprint"][:4])
    assert now["away"] == pytest.approx(then["away"], rel=1e-3, abs=1e-5)


def test_control_only_both_changes_together_keep_the_logits():
    away = llama_example()["away"]
    assert away["new weights, new code"] < 1e-5 < 1 < min(away["new weights, old code"], away["old weights, new code"])
    assert shape(["layout  half"]) != shape(["layout  interleaved"])
