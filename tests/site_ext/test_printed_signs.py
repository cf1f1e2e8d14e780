"""Words that a program wrote get the signs of a printed page; code and mathematics keep theirs."""

import pytest
from printed_signs import printed


@pytest.mark.parametrize(
    ("written", "read"),
    [
        ("<td>CRoPE's Table 1</td>", "<td>CRoPE’s Table 1</td>"),
        ("<p>other people&#x27;s code</p>", "<p>other people’s code</p>"),
        ("<td>-0.031</td><td>(-1, .5)</td>", "<td>−0.031</td><td>(−1, .5)</td>"),
        ("<p>back by m: n - m is left.</p>", "<p>back by m: n − m is left.</p>"),
        ("<p>81 %, so <b>2</b> ± <b>1</b></p>", "<p>81\u00a0%, so <b>2</b>\u00a0±\u00a0<b>1</b></p>"),
        ("<svg><text>GPT-2, -1</text></svg><p>3-5</p>", "<svg><text>GPT-2, −1</text></svg><p>3-5</p>"),
        ("<p>Llama-3.1-8B, a-1, B-2/3</p>", '<p><span class="unbroken">Llama-3.1-8B</span>, a-1, B-2/3</p>'),
        ("<p>since 2026-11-22.</p>", '<p>since <span class="unbroken">2026-11-22</span>.</p>'),
    ],
)
def test_prose_is_mended(written, read):
    assert printed(written) == read
    assert printed(read) == read


@pytest.mark.parametrize(
    "text",
    [
        "<code>x = -1</code> <pre>it's\n -1 - a - b</pre>",
        '<script type="application/json">{"a": "it\'s -1"}</script><style>a { margin: -1px }</style>',
        '<p title="it\'s -1 - a - b">half-split, pages 3-5, well - yes</p>',
        '<dt class="sig sig-object"><span class="default_value">-1</span></dt>',
        '<span class="math"><m-tex> -1 <m-heard><math> -1 </math></m-heard></m-tex></span><!-- it\'s -->',
    ],
)
def test_the_rest_stays(text):
    assert printed(text) == text
