"""The cover's widget in a browser: drags and keys move it, a configuration is read, a picture is saved."""

import json

import numpy as np
import pytest
from playwright.sync_api import expect
from safetensors.numpy import save

from rope_lab.chapters.ch00_intro.tapestry import COLUMNS, Tapestry
from tests.site.conftest import showing
from tests.site.pages import drawn

YARN = {
    "model_type": "mine",
    "hidden_size": 256,
    "num_attention_heads": 4,
    "rope_theta": 50000.0,
    "max_position_embeddings": 4096,
    "rope_scaling": {"rope_type": "yarn", "factor": 4.0, "original_max_position_embeddings": 1024},
}
V5 = {
    "head_dim": 32,
    "rope_parameters": {"full_attention": {"rope_type": "linear", "rope_theta": 1e6, "factor": 8.0}},
    "max_position_embeddings": 2048,
}
NEOX = {"hidden_size": 6144, "num_attention_heads": 64, "rotary_pct": 0.25, "rotary_emb_base": 10000}
LLAMA31 = {
    "head_dim": 128,
    "rope_theta": 500000.0,
    "rope_scaling": {
        "rope_type": "llama3",
        "factor": 8.0,
        "low_freq_factor": 1.0,
        "high_freq_factor": 4.0,
        "original_max_position_embeddings": 8192,
    },
}
DYNAMIC = {"head_dim": 64, "rope_scaling": {"type": "dynamic", "factor": 2.0}, "max_position_embeddings": 2048}
GPT_OSS = {"model_type": "gpt_oss"}  # its family's default, whose ramp is not rounded
GEMMA = {"model_type": "gemma3", "text_config": {"rope_scaling": {"rope_type": "linear", "factor": 8.0}}}
READ = [  # a file, the state, and words of what is told
    (
        YARN,
        {"head_dim": 64, "rotary": 64, "base": 50000.0, "window": 1024, "scaling": "yarn", "factor": 4.0},
        "mine: 32",
    ),
    (V5, {"head_dim": 32, "rotary": 32, "base": 1e6, "window": 2048, "scaling": "linear", "factor": 8.0}, "16 planes"),
    (NEOX, {"head_dim": 96, "rotary": 24, "base": 10000.0, "scaling": "none"}, "(12 of them turn)"),
    (LLAMA31, {"window": 8192, "scaling": "llama3", "factor": 8.0, "low": 1.0, "high": 4.0}, "from a window of 8,192"),
    (DYNAMIC, {"scaling": "ntk", "factor": 3.0, "base": 10000.0}, "drawn for a text of 4,096 positions"),
    (GPT_OSS, {"scaling": "yarn", "factor": 32.0, "window": 4096, "whole": False}, "its ramp not rounded"),
    (GEMMA, {"base": 1e6, "scaling": "linear"}, "(the file names none; this is the default of gemma3_text)"),
    (GEMMA, {"factor": 8.0}, "Its layers of full_attention are drawn; sliding_attention has 128 planes, base 10,000."),
    ({"model_type": "gemma4_text"}, {"head_dim": 512, "rotary": 128, "base": 1e6**0.25}, "exponents of the whole head"),
    (
        {"model_type": "llama4_text", "rope_scaling": LLAMA31["rope_scaling"] | {"high_freq_factor": 1.0}},
        {"high": 1.0},
        "Its layers of full_attention do not turn.",
    ),
    (
        {"head_dim": 8, "rope_scaling": {"type": "mrope", "mrope_section": [1, 1, 2]}},
        {"rotary": 8},
        "3 axes (1, 1, 2 planes)",
    ),
    (
        {
            "model_type": "phi3",
            "rope_scaling": {"type": "longrope", "short_factor": [1.0] * 48, "long_factor": [2.0] * 48},
        },
        {"scaling": "none"},
        "The divisors are read and not drawn",
    ),
]
REFUSED = [
    ("no json", "expected a file of JSON"),
    ("{}", "head_dim: expected it, or hidden_size and num_attention_heads"),
    (json.dumps({"head_dim": 64, "rope_scaling": {"type": "spiral"}}), "got 'spiral', which is not known here"),
    (json.dumps({"head_dim": 64, "rope_theta": "10000"}), "rope_theta: expected a number, got '10000'"),
    (json.dumps({"model_type": "bert"}), "expected a family that turns, got bert"),
    (
        json.dumps({"head_dim": 64, "rope_theta": -1}),
        "rope_theta: expected a number above 0, from 1e-100 to 1e100, got -1",
    ),
    (json.dumps({"head_dim": 7}), "expected an even head_dim, got 7"),
    (json.dumps({"head_dim": 64, "rope_theta": 1}), "expected base from 1.5"),
    (json.dumps({"head_dim": 64, "rotary_dim": 128}), "at most head_dim = 64"),
]

ATTENTION = {"q_proj": (64, 32), "k_proj": (32, 32), "v_proj": (32, 32)}
PLAIN = {f"model.layers.{n}.self_attn.{part}.weight": shape for n in range(3) for part, shape in ATTENTION.items()}
NORMS = {f"model.layers.{n}.self_attn.{part}_norm.weight": (16,) for n in range(3) for part in "qk"}
GATE = {"model.layers.0.self_attn.o_proj.weight": (32, 32)}
TOWER = {f"vision.layers.0.attn.{part}_proj.weight": (48, 48) for part in "qk"}
FUSED = {"gpt_neox.layers.0.attention.query_key_value.weight": (96, 32), "rotary_emb.inv_freq": (4,)}
META = {f"layers.{n}.attention.w{part}.weight": (32, 32) for n in range(2) for part in "qk"}
LATENT = {"model.layers.0.self_attn.kv_a_proj_with_mqa.weight": (40, 32)}
WEIGHTS = [  # names and shapes, and what they tell
    (PLAIN, ["3 layers in model.layers", "q has 64 rows, k 32", "config.json tells", "by name, not measured"]),
    (PLAIN | NORMS, ["heads of 16 these are 4 heads of q and 2 of k", "norms of q and k have 16 entries"]),
    (PLAIN | TOWER, ["1 layer in vision.layers: q has 48 rows, k 48, v none", "q has 64 rows"]),
    (FUSED, ["one matrix, as a rule head by head (query_key_value, 96 by 32)", "no name of a norm"]),
    (META, ["whose code pairs neighbours: by name"]),
    (LATENT, ["keys come from a latent", "(kv_a_proj_with_mqa, 40 by 32)"]),
    ({"h.0.self_attention.query_key_value.weight": (48, 32)}, ["does not tell the order (query_key_value, 48 by 32)"]),
    (PLAIN | NORMS | GATE, ["half of q's rows are a gate", "heads of 16 these are 2 heads of q and 2 of k"]),
    ({"blocks.0.attn.to_q.weight": (32, 32), "blocks.0.attn.norm_q.weight": (8,)}, ["of diffusers", "have 8 ent"]),
    ({"lm_head.weight": (8, 4)}, ["expected projections of queries and keys", "choose the file that holds the layers"]),
]


@pytest.fixture(scope="module")
def cover(browser, tmp_path_factory):
    with showing(browser, tmp_path_factory.mktemp("cover")) as show:
        yield show(Tapestry())


@pytest.fixture
def page(cover):
    """The cover's widget as its page gave it: opened once for all tests that leave nothing behind but its state."""
    cover.get_by_role("button", name="Reset").click()
    expect(cover.get_by_label("model")).to_have_value("Llama 3 8B")
    drawn(cover)  # the score of the state before may still stand there
    return cover


def score(page):
    return page.locator('dd[data-name="logit"]').inner_text()


def value(page, name):
    slider = page.locator(f'input[data-name="{name}"]')
    if name == "shift":  # its track is logarithmic
        return int(slider.get_attribute("aria-valuetext").replace(",", ""))
    return int(slider.input_value())


def drag(page, x, y, by):
    page.mouse.move(x, y)
    page.mouse.down()
    page.mouse.move(x + by, y, steps=5)
    page.mouse.up()


def pixels(page, number):
    return page.locator(".rope-loom canvas").nth(number).evaluate("c => c.toDataURL()")


def test_one_word_changes_the_strip_and_the_cloth_does_not(page):
    box = page.locator(".rope-loom svg").bounding_box()
    wide = page.locator(".rope-loom canvas").first.bounding_box()["width"] / COLUMNS
    word = box["x"] + (value(page, "n") + 0.5) * wide
    before = score(page), pixels(page, 0), pixels(page, 1)
    drag(page, word + 60, box["y"] + 150, -120)  # the cloth, between the words and the edge
    assert value(page, "shift") == pytest.approx(120 / wide, abs=1.5)
    assert (value(page, "m"), value(page, "n")) == (36, 60)
    assert (score(page), pixels(page, 1)) == (before[0], before[2])
    assert pixels(page, 0) != before[1]
    drag(page, word, box["y"] + 150, 90)
    assert value(page, "n") == pytest.approx(60 + 90 / wide, abs=1.5)
    assert score(page) != before[0]
    assert pixels(page, 1) != before[2]


def test_keys_do_what_a_drag_does(page):
    before = score(page)
    page.locator('input[data-name="shift"]').press("End")
    assert score(page) == before
    expect(page.locator("svg text", has_text="query 131,108")).to_be_visible()
    page.locator('input[data-name="m"]').press("ArrowLeft")
    expect(page.locator("[aria-live=polite]")).to_contain_text("offset 25")
    assert score(page) != before
    page.get_by_role("button", name="To the end of the window").click()
    expect(page.locator("svg text", has_text="the training window ends")).to_be_visible()
    page.get_by_label("model").select_option("GPT-J 6B")
    expect(page.locator("svg text", has_text="96 planes do not turn")).to_be_visible()


CASES = [("chosen", *case) for case in READ] + [("dropped", *READ[0])]


@pytest.mark.deep(keep=4)
@pytest.mark.parametrize(("way", "config", "expected", "told"), CASES)
def test_a_configuration_is_read(page, tmp_path, way, config, expected, told):
    text = json.dumps(config)
    if way == "chosen":
        file = tmp_path / "config.json"
        file.write_text(text)
        page.locator("input[type=file]").set_input_files(file)
    else:
        page.locator(".rope-tapestry").evaluate(
            """(root, text) => {
              const dataTransfer = new DataTransfer();
              dataTransfer.items.add(new File([text], "config.json", { type: "application/json" }));
              root.dispatchEvent(new DragEvent("drop", { dataTransfer, bubbles: true, cancelable: true }));
            }""",
            text,
        )
    expect(page.get_by_label("model")).to_have_value("yours")
    expect(page.locator(".rope-told")).to_contain_text(told)
    page.get_by_role("button", name="Link to this state").click()
    pairs = dict(pair.split(":") for pair in page.evaluate("location.hash").split("=")[1].split(";"))
    kinds = {"scaling": str, "model": str, "whole": lambda text: text == "true"}
    found = {name: kinds.get(name, float)(text) for name, text in pairs.items()}
    state = {**Tapestry().state(), **found}
    assert {name: state[name] for name in expected} == pytest.approx(expected)
    values = Tapestry.compute({**state, **{name: int(state[name]) for name in ("head_dim", "rotary", "window")}})
    assert score(page) == f"{values['logit']:.3f}".replace("-", "−")
    assert f"{values['never']} of {values['turning']}" in page.locator('dd[data-name="never"]').inner_text()


def test_names_and_shapes_of_weights_are_told(page, tmp_path):
    sent = []
    page.on("request", lambda request: sent.append(request.url))
    file = tmp_path / "model.safetensors"

    def told(content):
        file.write_bytes(content)
        page.locator("input[type=file]").set_input_files(file)

    for shapes, words in WEIGHTS:
        told(save({name: np.zeros(shape, np.float16) for name, shape in shapes.items()}))
        for part in words:
            expect(page.locator(".rope-told")).to_contain_text(part)
    whole = save({name: np.zeros(shape, np.float16) for name, shape in PLAIN.items()})
    packed = (save({"h.0.q_proj.weight": np.zeros((64, 1), np.uint8)}), "in U8, whose shape is that of packed numbers")
    for broken, words in [(whole[:300], "or a part of one"), (b"hello" * 9, "another file"), (b"", "another"), packed]:
        told(broken)
        expect(page.locator(".rope-told")).to_contain_text(words)
    assert not sent
    expect(page.get_by_label("model")).to_have_value("Llama 3 8B")


def test_a_configuration_read_before_counts_the_heads_of_weights(page, tmp_path):
    weights = save({name: np.zeros(shape, np.float16) for name, shape in PLAIN.items()})
    for name, content in [("config.json", b'{"head_dim": 8, "rope_theta": 1e4}'), ("model.safetensors", weights)]:
        (tmp_path / name).write_bytes(content)
        page.locator("input[type=file]").set_input_files(tmp_path / name)
    expect(page.locator(".rope-told")).to_contain_text("with heads of 8 these are 8 heads of q and 4 of k")


@pytest.mark.parametrize(("text", "said"), REFUSED)
def test_a_file_that_is_none_is_answered(page, tmp_path, text, said):
    (tmp_path / "config.json").write_text(text)
    page.locator("input[type=file]").set_input_files(tmp_path / "config.json")
    expect(page.locator(".rope-told")).to_contain_text(said)
    expect(page.get_by_label("model")).to_have_value("Llama 3 8B")


def test_a_picture_is_saved_under_the_models_name(show):
    page = show(Tapestry(model="Qwen 2.5 7B"))
    with page.expect_download() as saved:
        page.get_by_role("button", name="Save as picture").click()
    assert saved.value.suggested_filename == "rope-Qwen-2-5-7B.png"
    head = saved.value.path().read_bytes()[:24]
    assert head[:8] == b"\x89PNG\r\n\x1a\n"
    assert (int.from_bytes(head[16:20]), int.from_bytes(head[20:24])) == (2400, 1260)


def test_the_cover_shrinks_with_its_sheet(page):
    """Nothing is drawn anew between screen and paper: the cloth is placed in shares of its frame."""
    styles = page.locator(".rope-loom canvas").evaluate_all("all => all.map((c) => c.style.cssText)")
    assert ["px" in style for style in styles] == [False, False]


def test_the_ink_follows_the_theme(show):
    page = show(Tapestry())
    light = pixels(page, 0)
    page.evaluate("document.documentElement.dataset.theme = 'dark'")
    page.wait_for_function("light => document.querySelector('.rope-loom canvas').toDataURL() !== light", arg=light)
