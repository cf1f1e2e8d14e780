"""Style sheets keep what a page or a script can use, and lose the rest."""

import pytest
import spare_rules

KNOWN = {"here", "btn"}


@pytest.mark.parametrize(
    ("sheet", "left"),
    [
        (".here { color: red }", ".here{color: red}"),
        (".gone { color: red }", ""),
        (".here .gone, .btn > a { color: red }", ".btn > a{color: red}"),
        (".here:not(.gone) { color: red }", ".here:not(.gone){color: red}"),
        (":is(.gone, .here:not(:has(.gone))) b { color: red }", ":is(.gone, .here:not(:has(.gone))) b{color: red}"),
        ("p, a:hover { color: red }", "p,a:hover{color: red}"),
        (".bs-tooltip-auto { color: red }", ".bs-tooltip-auto{color: red}"),  # put together by a script
        ("@media print { .gone { color: red } }", ""),
        ("@media print { .gone, .here { color: red } }", "@media print {\n.here{color: red}\n}"),
        ("@font-face { font-family: x }", "@font-face { font-family: x }"),
        ('/* c */ a::before { content: ".gone, b" }', 'a::before{content: ".gone, b"}'),
    ],
)
def test_a_rule_stays_when_it_can_serve(sheet, left):
    assert spare_rules.shortened(sheet, KNOWN).strip() == left


def test_classes_come_from_pages_and_words_from_scripts(tmp_path):
    (tmp_path / "page.html").write_text(
        '<p class="one two">prose</p><script>document.write(`<b class="three">`); add("four")</script>'
    )
    (tmp_path / "script.js").write_text('el.classList.add("five-six")')
    known = spare_rules.names(tmp_path)
    assert {"one", "two", "three", "four", "five-six"} <= known
    assert "prose" not in known
