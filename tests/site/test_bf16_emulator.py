"""The emulator that runs in the browser rounds as torch does, bit for bit."""

from base64 import b64decode, b64encode

import numpy as np
import pytest
import torch

from rope_lab.chapters.ch18_precision.bf16_positions import BfPositions

TORCH = {"bfloat16": torch.bfloat16, "float16": torch.float16}
RUN = """async ([script, name, words]) => {
  const url = URL.createObjectURL(new Blob([script], { type: "text/javascript" }));
  const emulate = (await import(url))[name];
  const numbers = new Float32Array(Uint8Array.from(atob(words), (c) => c.charCodeAt(0)).buffer);
  const found = new Uint8Array(Uint16Array.from(numbers, (x) => emulate(x)).buffer), parts = [];
  for (let i = 0; i < found.length; i += 4096) parts.push(String.fromCharCode(...found.subarray(i, i + 4096)));
  return btoa(parts.join(""));
}"""  # as base64: a list of some 700,000 numbers would take many seconds each way


def patterns():
    """Each upper half of a float32 with the lower halves around a tie; and around each float16, with its midpoints."""
    upper = np.arange(2**16, dtype=np.uint32) << 16
    halves = upper[:, None] | np.array([0, 1, 0x7FFF, 0x8000, 0x8001, 0xFFFF], dtype=np.uint32)
    values = np.arange(2**16, dtype=np.uint16).view(np.float16).astype(np.float32)
    exact = values[np.isfinite(values)].view(np.uint32)
    ties = exact[:, None] + np.array([-1, 0, 1, 0x0FFF, 0x1000, 0x1001], dtype=np.int64)
    return np.unique(np.concatenate([halves.ravel(), ties.ravel().clip(0, 2**32 - 1).astype(np.uint32)]))


def disagreements(name, script, blank, every=1):
    words = patterns()[::every]
    numbers = words.view(np.float32)
    theirs = torch.from_numpy(numbers.copy()).to(TORCH[name]).view(torch.int16).numpy().view(np.uint16)
    answer = blank.evaluate(RUN, [script, f"{name}Bits", b64encode(words.tobytes()).decode()])
    ours = np.frombuffer(b64decode(answer), dtype=np.uint16)
    number = ~np.isnan(numbers)
    quiet = {"bfloat16": 0x7FC0, "float16": 0x7E00}[name]
    return int((ours[number] != theirs[number]).sum() + (ours[~number] != quiet).sum())


@pytest.mark.parametrize("name", TORCH)
def test_bit_for_bit(name, blank):
    assert disagreements(name, BfPositions._esm, blank) == 0


@pytest.mark.deep(keep=1)
@pytest.mark.parametrize(
    ("name", "right", "wrong"),
    [
        ("bfloat16", "((word[0] >>> 16) & 1)", "1"),  # ties away from zero
        ("bfloat16", "+ 0x7fff +", "+"),  # cut off
        ("float16", "rest > 0.5 || (rest === 0.5 && below % 2 !== 0)", "rest >= 0.5"),
    ],
)
def test_control_a_wrong_rounding_is_reported(name, right, wrong, blank):
    assert right in BfPositions._esm
    assert disagreements(name, BfPositions._esm.replace(right, wrong), blank, every=7) > 0
