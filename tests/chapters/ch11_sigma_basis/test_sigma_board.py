"""What the sigma board says in words."""

from rope_lab.chapters.ch11_sigma_basis.sigma_board import SigmaBoard


def test_the_words_name_the_share():
    assert "85% is complex-linear" in SigmaBoard().fallback()
    assert "none is complex-linear" in SigmaBoard(a0=0.0, a1=0.0, a2=0.0, a3=0.0).fallback()
