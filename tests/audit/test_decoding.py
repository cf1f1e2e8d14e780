"""Decoding against reading: planted faults are found and named; right models are blamed for nothing."""

# ruff: noqa: ARG005 - a counter need not use its arguments
import copy
from functools import partial
from types import SimpleNamespace

import pytest
import torch
from torch import nn

from rope_lab.audit import decoding_test, probe_results, tiny_model
from rope_lab.audit.decoding import STILL_SEEN, UNKNOWN
from rope_lab.audit.foreign_code import TargetError
from rope_lab.nn import GPT, GPTConfig, KVCache, Rotary
from tests.audit.implementations import gpt
from tests.deep import sampled

ask = partial(decoding_test, length=12)


def wrong(report):
    return {row.what: row.cause for row in report.rows if not row.ok}


class Miscounting(Rotary):
    """A rotary that starts at another place than it is told, with every answer of its own counter."""

    def __init__(self, config, start):
        super().__init__(config)
        self.start = start

    def forward(self, x, *, positions=None, offset=0, inverse=False):
        start = offset if positions is not None else self.start(offset, x.shape[-2])
        return super().forward(x, positions=positions, offset=start, inverse=inverse)


def miscounting(start, **settings):
    model = gpt(**settings).requires_grad_(False)
    for block in model.blocks:
        block.attention.rotary = block.attention.rotary_vo = Miscounting(block.attention.rotary.config, start)
    return model


PROMPT, PIECES = "a prompt, then one by one", "a prompt, then 7, 1, 3"
MISCOUNTED = {
    "single tokens one too far": (lambda s, t: s + (t == 1), PROMPT, "as if the offset is off by +1"),
    "only single ones": (lambda s, t: s + (t == 1), PIECES, "single tokens stand +1"),
    "single ones from 0": (lambda s, t: s * (t > 1), PIECES, "single tokens count from 0"),
    "one too few": (lambda s, t: max(s - 1, 0), "in chunks of 3", "the offset is off by -1 after the first call"),
    "from 0 after the prompt": (lambda s, t: 0, PROMPT, "as if each call counts from 0"),
    "a chunk twice": (lambda s, t: s + t * (s > 0), "in chunks of 7", "its own tokens pass for earlier ones"),
    "the offset twice": (lambda s, t: 2 * s, "token by token", "the offset is counted twice"),
    "the end of the prompt": (lambda s, t: min(s, 4), PROMPT, "later calls stand where the first one ended"),
    "chunks alone": (lambda s, t: s + 2 * (s > 0 and t == 3), "in chunks of 3", "the offset is off by +2 after"),
    "chunks of 7 alone": (lambda s, t: s - (s > 0 and t > 3), "in chunks of 7", ""),
}


@pytest.mark.deep(keep=1)
@pytest.mark.parametrize("name", MISCOUNTED)
def test_a_counter_that_is_off_is_found_and_the_places_named(name):
    start, what, cause = MISCOUNTED[name]
    seen = ask(miscounting(start))
    assert not seen.ok
    assert cause in wrong(seen)[what]
    assert what in seen.verdict
    row = next(row for row in seen.rows if row.what == what)
    assert row.first > 0
    assert row.off > 1e-3


@pytest.mark.deep
@pytest.mark.parametrize("dtype", [torch.float32, torch.bfloat16, torch.float64])
def test_in_every_precision(dtype):
    assert not ask(miscounting(lambda s, t: s + (t == 1)).to(dtype)).ok
    seen = ask(miscounting(lambda s, t: s).to(dtype))
    assert seen.ok
    assert "OFF" not in str(seen)
    assert seen.row["ok"]


@pytest.mark.deep(keep=1)
@pytest.mark.parametrize(
    "settings",
    [
        {"positions": "none"},
        {"positions": "absolute"},
        {"rotated": "qkvo"},
        {"rotated": "v"},
        {"n_kv_heads": 1, "block": "llama"},
        {"d_latent": 8},
        {"d_latent": 8, "d_rope": 4},
    ],
)
def test_right_models_of_ours_are_blamed_for_nothing(settings):
    seen = ask(gpt(**settings))
    assert seen.verdict == "decodes as it reads"  # and all was asked


def test_a_constant_shift_is_a_fault_where_positions_are_absolute():
    seen = ask(miscounting(lambda s, t: s + 1 * (s > 0), rotated="v"))
    assert wrong(seen)[PROMPT] == "as if the offset is off by +1 after the first call"


class Kept(KVCache):
    """A rollback that forgets to drop keys: it only counts back."""

    def cut(self, seen):
        self.offset -= self.seen - seen


class CountsOn(KVCache):
    """A rollback that drops keys and goes on counting."""

    def cut(self, seen):
        self.offset += self.seen - seen
        super().cut(seen)


def with_caches(kind):
    class Model(GPT):
        def new_caches(self, *, offset=0):
            return [kind(offset=offset) for _ in self.blocks]

    return Model(gpt().config)


@pytest.mark.deep
def test_a_rollback_that_leaves_something():
    assert wrong(ask(with_caches(Kept))) == {"after a rollback": STILL_SEEN}
    assert wrong(ask(with_caches(CountsOn))) == {"after a rollback": "as if places count on behind the dropped tokens"}
    assert ask(with_caches(KVCache)).ok


class Leaves(GPT):
    """The last key of an earlier request is the first of the next one."""

    held = None

    def new_caches(self, *, offset=0):
        before, self.held = self.held, super().new_caches(offset=offset)
        for old, new in zip(before or [], self.held, strict=False):
            new.extend(old.k[..., -1:, :], old.v[..., -1:, :])
            new.offset -= 1
        return self.held


@pytest.mark.deep
def test_an_earlier_request_that_leaves_a_key():
    seen = wrong(ask(Leaves(gpt().config)))
    assert seen["after another request"].endswith("it changes decoding")
    assert PROMPT not in seen  # each question has a copy of its own


class Drifting(GPT):
    """Requests add up."""

    requests = 0

    def new_caches(self, *, offset=0):
        self.requests += 1
        return super().new_caches(offset=offset)

    def forward(self, tokens, **more):
        return super().forward(tokens, **more) * (1 + 0.1 * (self.requests > 1))


@pytest.mark.deep
def test_an_earlier_request_that_changes_reading():
    seen = ask(Drifting(gpt().config))
    assert "changes reading and decoding" in wrong(seen)["after another request"]


class Blind(GPT):
    """Each call is read alone, or reads its own later tokens."""

    def __init__(self, config, *, ahead):
        super().__init__(config)
        self.ahead = ahead

    def forward(self, tokens, *, caches=None, **more):
        if caches is None:
            return super().forward(tokens, **more)
        logits = super().forward(tokens, caches=caches, **more)
        return logits.flip(1).cumsum(1).flip(1) if self.ahead else super().forward(tokens)


@pytest.mark.deep
def test_what_a_call_sees():
    assert "the cache is not read" in wrong(ask(Blind(gpt().config, ahead=False)))[PROMPT]
    seen = wrong(ask(Blind(gpt().config, ahead=True)))
    assert seen["in chunks of 3"] == seen["after a rollback"] == "a token sees later ones of its call"
    assert "token by token" not in seen


class Past:
    """A cache as transformers has it."""

    def __init__(self, caches, leaves=False):
        self.caches, self.leaves = caches, leaves

    def get_seq_length(self):
        return self.caches[0].seen

    def crop(self, count):
        assert count < 0
        for each in self.caches if not self.leaves else ():
            each.cut(each.seen + count)


class Foreign(nn.Module):
    """Called as a model of transformers is; ``fault`` names what is wrong."""

    def __init__(self, fault="", **settings):
        super().__init__()
        self.inner, self.fault = gpt(**settings), fault

    def forward(self, input_ids, attention_mask=None, position_ids=None, past_key_values=None, use_cache=None):
        past = past_key_values or (Past(self.inner.new_caches(), self.fault == "crop") if use_cache else None)
        seen, count = (past.caches[0].seen if past else 0), input_ids.shape[1]
        slots = torch.arange(seen + count)
        if position_ids is None:
            position_ids = slots[seen:] + (self.fault == "counts" and seen > 0)
        if self.fault == "rows" and seen:
            input_ids = input_ids[:1].expand_as(input_ids)
        if self.fault == "slots" and seen:
            position_ids = slots[seen:]
        mask = slots[seen:, None] >= slots
        if attention_mask is not None and self.fault != "unmasked":
            itself = slots[seen:, None] == slots
            mask = (mask & attention_mask.bool()[:, None]) | itself
        more = {"caches": past.caches} if past else {}
        logits = self.inner(input_ids, positions=position_ids, mask=mask, **more)
        return SimpleNamespace(logits=logits, past_key_values=past)


@pytest.mark.deep(keep=1)
@pytest.mark.parametrize(
    ("fault", "what", "cause"),
    [
        ("counts", PROMPT, "as if the offset is off by +1 after the first call"),
        ("crop", "after a rollback", STILL_SEEN),
        ("slots", "left padding in a batch", "as if padding shifts the positions: later calls stand at their slot"),
        ("rows", "left padding in a batch", "without padding too, not as each alone: row 1 of the batch"),
        ("unmasked", "left padding in a batch", "the padding is seen"),
    ],
)
@pytest.mark.parametrize("settings", [{}, {"positions": "absolute"}])
def test_faults_of_what_is_called_as_transformers_are(fault, what, cause, settings):
    seen = wrong(ask(Foreign(fault, **settings)))
    assert seen[what] == cause


@pytest.mark.deep(keep=1)
@pytest.mark.parametrize("settings", [{}, {"positions": "absolute"}])
def test_what_is_called_as_transformers_are_is_blamed_for_nothing(settings):
    assert ask(Foreign(**settings)).verdict == "decodes as it reads"


class Mine:
    """A decoder of the caller's, of the fewest methods."""

    def __init__(self, model):
        self.model = model.requires_grad_(False)

    def read(self, tokens):
        return self.model(tokens)

    def begin(self):
        return self.model.new_caches()

    def extend(self, tokens, cache):
        return self.model(tokens, caches=cache), cache


@pytest.mark.deep
def test_a_decoder_of_the_callers_own():
    seen = decoding_test(Mine(gpt()), length=16, name="mine")
    assert seen.ok
    assert [row.refused for row in seen.rows if row.refused] == ["it has no drop", "its begin takes no padding"]
    assert seen.verdict == "decodes as it reads; 2 of 10 not asked"
    assert "<pre>mine: decoding" in seen._repr_html_()
    seen = wrong(ask(Mine(miscounting(lambda s, t: s + (t == 1)))))  # it takes no places that could be tried
    assert seen[PROMPT].startswith("a call of a single token is answered otherwise")
    assert wrong(ask(Mine(miscounting(lambda s, t: s + 1 * (s > 0), rotated="v"))))[PROMPT] == UNKNOWN


class Faulty(Mine):
    """A decoder whose extend is another one: change(own extend, tokens, cache)."""

    def __init__(self, change):
        super().__init__(gpt())
        self.change = change

    def extend(self, tokens, cache):
        return self.change(super().extend, tokens, cache)


def first_row(extend, tokens, cache):
    return extend(tokens[:1].expand_as(tokens) if cache[0].seen else tokens, cache)


def no_large_chunks(extend, tokens, cache):
    logits, cache = extend(tokens, cache)
    return logits * (1 if tokens.shape[1] < 40 else 1.1), cache


def late(extend, tokens, cache):
    behind = torch.arange(tokens.shape[1]) + cache[0].seen >= 128
    logits, cache = extend(tokens, cache)
    return logits * (1 + 0.1 * behind[:, None]), cache


def writes(extend, tokens, cache):
    answer = extend(tokens.clone(), cache)
    tokens.zero_()
    return answer


class Drops(Mine):
    """A rollback that leaves a number of the dropped tokens behind, and a reading that depends on its length."""

    def __init__(self, *, leaves=0.0, length=0.0):
        super().__init__(gpt())
        self.leaves, self.length = leaves, length

    def read(self, tokens):
        return self.model(tokens) * (1 + self.length * tokens.shape[1])

    def begin(self):
        return self.model.new_caches(), [], []

    def extend(self, tokens, cache):
        caches, met, dropped = cache
        logits = self.model(tokens, caches=caches) * (1 + self.leaves * sum(dropped))
        met += tokens[0].tolist()
        return logits, cache

    def drop(self, cache, count):
        for each in cache[0]:
            each.cut(each.seen - count)
        cache[2].extend(cache[1][-count:])
        return cache


class Uncounted(Foreign):
    """Takes no places, and counts slots."""

    def forward(self, input_ids, attention_mask=None, past_key_values=None, use_cache=None):
        return super().forward(input_ids, attention_mask, None, past_key_values, use_cache)


def test_what_is_told_by_other_tokens_or_another_length():
    assert ask(Drops()).ok
    assert wrong(ask(Drops(leaves=0.01))) == {"after a rollback": f"{STILL_SEEN}: other ones there change what follows"}
    assert set(wrong(ask(Drops(length=0.01))).values()) >= {
        "reading depends on the length of the text: its first tokens alone are read otherwise"
    }


@pytest.mark.deep
def test_padding_where_no_places_can_be_handed_in():
    padded = "left padding in a batch"
    assert wrong(ask(Uncounted(positions="absolute")))[padded].startswith("not as without padding")
    assert wrong(ask(Uncounted("unmasked")))[padded].startswith("the padding is seen: other tokens")
    assert ask(Uncounted()).ok  # its scores depend on the offset alone


@pytest.mark.deep
def test_batches_large_chunks_and_tokens_that_are_written_into():
    assert wrong(decoding_test(Faulty(first_row))) == {"a batch of two": "not as each alone: row 1 of the batch"}
    assert [*wrong(decoding_test(Faulty(no_large_chunks)))] == ["300 tokens in large chunks"]
    assert next(row for row in decoding_test(Faulty(late)).rows if not row.ok).first == 128  # of the text of 300
    assert "it writes into the tokens" in wrong(decoding_test(Faulty(writes)))[PROMPT]
    right = decoding_test(Faulty(lambda extend, tokens, cache: extend(tokens, cache)))
    assert right.ok


class Single(Mine):
    """One cache for all requests, which begin anew; with ``kept`` they do not."""

    def __init__(self, kept=False):
        super().__init__(gpt())
        self.cache, self.kept = self.model.new_caches(), kept

    def begin(self):
        self.cache = self.cache if self.kept else self.model.new_caches()
        return {}

    def extend(self, tokens, cache):
        return self.model(tokens, caches=self.cache), cache


def test_one_cache_for_all_requests():
    refused = {row.what: row.refused for row in ask(Single()).rows}
    assert ask(Single()).ok
    assert refused["beside another request"].startswith("it holds one request at a time")
    assert "an earlier request leaves something" in wrong(ask(Single(kept=True)))["after another request"]


class Prompts(Single):
    """Keeps prompts by a part of theirs, and answers the next one that has it."""

    def __init__(self, part):
        super().__init__()
        self.part, self.known = part, {}

    def begin(self):
        return None

    def extend(self, tokens, cache):
        first, cache = cache is None, cache or self.model.new_caches()
        part = tuple(tokens[0, self.part].tolist())
        if first and part in self.known:
            return copy.deepcopy(self.known[part])
        answer = self.model(tokens, caches=cache), cache
        if first:
            self.known[part] = copy.deepcopy(answer)
        return answer


@pytest.mark.deep(keep=2)
@pytest.mark.parametrize("part", [slice(1), slice(-1, None), slice(4), slice(-3, None), slice(0)])
def test_prompts_that_are_taken_for_another(part):
    assert ask(Prompts(slice(None))).ok
    seen = wrong(ask(Prompts(part)))["after another request"]
    assert "an earlier request leaves something" in seen or "for tokens (1, " in seen


class Forgetful(nn.Module):
    """A model without a cache."""

    def __init__(self):
        super().__init__()
        self.inner = gpt()

    def forward(self, input_ids, attention_mask=None):
        assert attention_mask is None or attention_mask.all()
        return self.inner(input_ids)


def test_a_model_without_a_cache_is_not_asked():
    seen = ask(Forgetful())
    assert seen.ok
    assert seen.verdict.startswith("not asked: Forgetful takes neither past_key_values nor caches")
    assert all(row.refused for row in seen.rows)


@pytest.mark.deep
def test_the_model_is_left_as_it_was():
    model = gpt()
    before = {name: value.clone() for name, value in model.state_dict().items()}
    ask(model)
    assert all(torch.equal(value, before[name]) for name, value in model.state_dict().items())
    assert torch.get_default_dtype() == torch.float32
    assert model.training


@pytest.mark.usefixtures("untyped")
def test_what_cannot_be_asked():
    with pytest.raises(TypeError, match="model: expected a torch module or a Decoder, got str"):
        ask("llama")
    with pytest.raises(ValueError, match="length: expected a whole number of at least 8"):
        decoding_test(gpt(), length=3)
    with pytest.raises(TargetError, match="the model raised"):
        ask(nn.Linear(2, 2))


SINGLE = dict.fromkeys(("token by token", PROMPT, PIECES), "a call of a single token")
LENGTH = dict.fromkeys(("token by token", PROMPT, "in float32"), "reading depends on the length")
OTHERWISE = {  # the families that transformers 5.23 decodes otherwise than it reads, and why
    "deepseek_v4": {
        "after a rollback": f"{STILL_SEEN}: other",
        "left padding in a batch": "the padding is seen: other",
    },
    "nemotron_h": SINGLE,
    "prophetnet": LENGTH | {"left padding in a batch": "the padding is seen: other"},
    "trocr": {"left padding in a batch": "not as without padding"},
}


@pytest.mark.deep(keep=1)
@pytest.mark.parametrize("family", sampled([row["model"] for row in probe_results()["rows"]], ["llama", "gemma3_text"]))
def test_every_family_decodes_as_it_reads(family):
    pytest.importorskip("transformers")
    if family == "kimi_linear":
        pytest.skip("its linear attention takes minutes for a dozen tokens on a CPU")
    try:
        seen = decoding_test(tiny_model(family))
    except TargetError as reason:
        pytest.skip(str(reason))
    said, why = wrong(seen), OTHERWISE.get(family, {})
    assert said.keys() == why.keys()
    assert all(said[what].startswith(cause) for what, cause in why.items())
    assert family not in ("llama", "gemma3_text") or not any(row.refused for row in seen.rows)


@pytest.mark.deep
def test_a_window_shorter_than_the_text_is_no_fault():
    transformers = pytest.importorskip("transformers")
    small = tiny_model("mistral").config.to_dict() | {"sliding_window": 6}
    model = transformers.MistralForCausalLM(transformers.MistralConfig(**small)).eval()
    seen = decoding_test(model)
    assert seen.ok
    assert [row.what for row in seen.rows if row.refused] in ([], ["after a rollback"])  # its cache may refuse to crop


@pytest.mark.parametrize(("value", "says"), [(0.0, "depend on the tokens"), (float("nan"), "expected finite logits")])
def test_a_model_that_could_show_no_fault_is_refused(value, says):
    model = GPT(GPTConfig(vocab_size=32, n_layers=1, d_model=16, n_heads=2, seq_len=64, tied=False))
    torch.nn.init.constant_(model.head.weight, value)
    with pytest.raises(TargetError, match=says):
        decoding_test(model)
