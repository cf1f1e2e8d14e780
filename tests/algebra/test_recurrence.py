"""Four forms of one sum, equal; each with a wrong neighbour that is not."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from rope_lab.algebra import recurrence as R
from rope_lab.algebra import widely_linear
from rope_lab.algebra.rotation import rotation_matrix

FORMS = (R.recurrent, R.rotate_then_decay, R.convolved)


@st.composite
def cases(draw):
    planes, length = draw(st.integers(1, 4)), draw(st.integers(0, 40))
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    gamma = rng.uniform(0, 1, size=planes) if draw(st.booleans()) else draw(st.floats(0, 1))
    return rng.normal(size=(length, 2 * planes)), {
        "gamma": gamma,
        "theta": rng.uniform(-4, 4, size=planes),
        "layout": draw(st.sampled_from(["interleaved", "half"])),
    }


def by_hand(v, gamma, theta, layout="interleaved"):
    """The sum as it is written, with whole matrices; gamma is one number."""
    rows = [
        sum(gamma ** (m - n) * rotation_matrix(n - m, theta=theta, layout=layout) @ v[n] for n in range(m + 1))
        for m in range(len(v))
    ]
    return np.array(rows).reshape(v.shape)


@given(cases())
def test_four_forms_are_one(case):
    v, decay = case
    expected = R.decay_attention(v, **decay)
    for form in FORMS:
        np.testing.assert_allclose(form(v, **decay), expected, atol=1e-10)


@pytest.mark.parametrize("layout", ["interleaved", "half"])
@pytest.mark.parametrize("gamma", [0.0, 0.7, 1.0, 1.3, -0.5])
def test_definition_by_hand(layout, gamma):
    v, theta = np.random.default_rng(1).normal(size=(7, 4)), [0.9, -0.2]
    expected = by_hand(v, gamma, theta, layout)
    for form in (R.decay_attention, *FORMS):
        np.testing.assert_allclose(form(v, gamma=gamma, theta=theta, layout=layout), expected, atol=1e-12)


def test_control_the_other_sign_is_another_sequence():
    v = np.random.default_rng(2).normal(size=(30, 2))
    wrong = R.recurrent(v, gamma=0.9, theta=-1.0)
    assert np.abs(wrong - R.decay_attention(v, gamma=0.9, theta=1.0)).max() > 1


@given(cases(), st.integers(0, 40))
def test_a_state_resumes(case, cut):
    v, decay = case
    whole, first = R.recurrent(v, **decay), R.recurrent(v[:cut], **decay)
    rest = R.recurrent(v[cut:], **decay, state=first[-1] if len(first) else None)
    np.testing.assert_array_equal(np.concatenate([first, rest]), whole)


def test_shift_of_the_whole_sequence_changes_nothing():
    v = np.random.default_rng(3).normal(size=(9, 4))
    late = np.concatenate([np.zeros((100, 4)), v])
    decay = {"gamma": 0.8, "theta": [1.0, 0.3]}
    np.testing.assert_allclose(R.decay_attention(late, **decay)[100:], R.decay_attention(v, **decay), atol=1e-12)


def test_response_to_one_value():
    response = R.impulse_response(50, gamma=[0.9, 0.5], theta=[0.3, 2.0])
    pulse = np.zeros((50, 4))
    pulse[0, ::2] = 1
    out = widely_linear.to_complex(R.decay_attention(pulse, gamma=[0.9, 0.5], theta=[0.3, 2.0]))
    np.testing.assert_allclose(out, response, atol=1e-12)


@given(st.integers(0, 2**32 - 1))
def test_retention_is_its_recurrence(seed):
    rng = np.random.default_rng(seed)
    q, k, v = rng.normal(size=(12, 4)), rng.normal(size=(12, 4)), rng.normal(size=(12, 3))
    decay = {"gamma": 0.9, "theta": [1.1, 0.2]}
    np.testing.assert_allclose(R.retention(q, k, v, **decay), R.retention_recurrent(q, k, v, **decay), atol=1e-11)
    other = {"gamma": 0.9, "theta": [-1.1, -0.2]}
    assert np.abs(R.retention(q, k, v, **decay) - R.retention_recurrent(q, k, v, **other)).max() > 1e-3


@given(st.integers(1, 7), st.integers(0, 2**32 - 1))
def test_positive_decays_change_sign_rarely(N, seed):
    rng = np.random.default_rng(seed)
    n = np.arange(400)[:, None]
    decays, weights = rng.uniform(0.2, 1, size=N), rng.normal(size=N)
    assert R.sign_changes((weights * decays**n).sum(1)) <= N - 1


def test_control_a_turning_decay_changes_sign_for_ever():
    assert R.sign_changes(R.impulse_response(400, gamma=0.99, theta=1.0)[:, 0].real) == 127


@pytest.mark.usefixtures("untyped")
def test_refusals():
    v = np.zeros((3, 4))
    for bad, words in (
        ({"v": np.zeros((3, 5))}, r"v: expected \(T, 4\)"),
        ({"gamma": [0.1, 0.2, 0.3]}, "gamma: expected one number or one for each of 2 planes"),
        ({"gamma": np.nan}, "gamma: expected finite"),
        ({"v": np.full((3, 4), np.inf)}, "v: expected finite"),
    ):
        given_ = {"v": v, "gamma": 0.5, "theta": [1.0, 2.0]} | bad
        with pytest.raises(ValueError, match=words):
            R.decay_attention(given_.pop("v"), **given_)
    with pytest.raises(ValueError, match="state: expected shape"):
        R.recurrent(v, gamma=0.5, theta=[1.0, 2.0], state=[1.0])


@pytest.mark.usefixtures("untyped")
@pytest.mark.parametrize(
    ("q", "k", "v"),
    [((3, 4), (2, 4), (3, 1)), ((3, 4), (3, 2), (3, 1)), ((3, 4), (3, 4), (2, 1)), ((3, 4), (3, 4), (3,)), ((4,),) * 3],
)
@pytest.mark.parametrize("form", [R.retention, R.retention_recurrent])
def test_retention_refuses_what_does_not_belong_together(form, q, k, v):
    with pytest.raises(ValueError, match=r"expected q and k of one shape \(T, d\) and v \(T, any width\), got \("):
        form(np.ones(q), np.ones(k), np.ones(v), gamma=0.5, theta=[1.0, 2.0])
