"""The ordering explorer and the tables of chapter 16: the numbers of the cards, and what the page says of them."""

from dataclasses import replace
from itertools import combinations

import pytest

from rope_lab.algebra import rankings
from rope_lab.chapters.ch16_nine_placements import figures as pictures
from rope_lab.chapters.ch16_nine_placements import rate_answers
from rope_lab.chapters.ch16_nine_placements.claims_su19 import JUDGED
from rope_lab.chapters.ch16_nine_placements.ordering_explorer import OrderingExplorer, panel_of
from rope_lab.training.results import cards, intervals

FOUND = cards.load_all(JUDGED, "cpu")
OLDER = cards.load_all("placements", "cpu")  # the same runs, made before the plan
SAID = cards.published("placements")["losses"][""]


def compute(**state):
    return OrderingExplorer.compute(OrderingExplorer(**state).state())


@pytest.fixture(scope="module")
def now():
    return compute()


def test_every_cell_is_the_paired_difference_of_the_cards(now):
    assert len(now["cells"]) == 36
    for cell in now["cells"]:
        gap = intervals.paired(FOUND, cell["other"], cell["one"])
        assert (cell["difference"], cell["half"]) == pytest.approx((gap.mean, gap.half), abs=1e-5)
        way = gap.mean * (SAID[cell["other"]] - SAID[cell["one"]])
        assert cell["word"] == ("undecided" if not gap.decided else "agree" if way > 0 else "reversed")


def test_the_board_on_paper_says_the_same(now):
    words = {"agree": "as published", "reversed": "the other way", "undecided": "undecided"}
    told = "; ".join(f"{cell['other']} minus {cell['one']} {words[cell['word']]}" for cell in now["cells"])
    assert pictures.every_pair().desc == f"{told}."


@pytest.mark.parametrize("order", ["mean", "median", "published"])
def test_the_names_stand_in_the_order_that_was_asked_for(order):
    rows = compute(order=order)["rows"]
    key = [row["said" if order == "published" else order] for row in rows]
    assert key == sorted(key)


def test_a_pair_the_other_way_round_has_the_other_sign():
    one, other = compute(one="K", other="QKV"), compute(one="QKV", other="K")
    assert one["chosen"]["difference"] == pytest.approx(-other["chosen"]["difference"])
    assert one["counts"] == other["counts"]


def test_a_reader_s_own_order_is_compared_with_both(now):
    assert now["mine"] is None
    best = [row["name"] for row in compute(order="mean")["rows"]]
    mine = compute(mine=best, order="mine")
    assert mine["names"] == mine["mine"]["names"] == best
    assert (mine["mine"]["here"], mine["mine"]["said"]) == (0, now["exchanges"])
    assert compute(mine=best[::-1])["mine"]["here"] == 36
    assert compute(mine=best[1:])["mine"] is None  # eight names are no order of nine
    assert compute(mine=best[1:], order="mine")["names"] == best
    assert compute(mine=best, panel="one cache")["mine"] is None


def test_any_subset_of_cards_will_do():
    assert compute(panels=[])["names"] == []
    alone = compute(panels=[panel_of(FOUND[:1])])
    assert (alone["cells"], alone["along"], alone["other"]) == ([], [], "")
    two = panel_of([c for c in FOUND if c.variant in ("V", "O") and c.seed == 0], published=SAID)
    assert compute(panels=[two])["counts"]["undecided"] == 1  # one seed decides nothing
    foreign = panel_of([replace(c, variant="unheard of") for c in FOUND[:1]], published=SAID)
    assert foreign["published"] == {}


def test_what_the_page_says_of_the_runs(now):
    """Its sentences on robust reversals, on the yardstick of two seeds, and on V: all of them are of these cards."""
    loss = {name: {c.seed: c.loss() for c in FOUND if c.variant == name} for name in SAID}
    p, turned = {}, set()
    for one, other in combinations(sorted(SAID, key=SAID.get), 2):
        p[one, other] = rankings.paired_p([loss[other][s] - loss[one][s] for s in range(5)])
        gap = intervals.paired(FOUND, other, one)
        if gap.decided and gap.mean < 0:
            turned.add((one, other))
    kept = set(rankings.holm(p))
    assert turned & kept == {("K", "QKV"), ("VO", "QKV")}
    assert turned - kept == {("QK", "QKVO"), ("NoPE", "Q")}
    without = {}  # the seed of the first look, most likely
    for one, other in p:
        without[one, other] = rankings.paired_p([loss[other][s] - loss[one][s] for s in range(1, 5)])
    assert max(without["K", "QKV"], without["VO", "QKV"]) < 0.05
    assert len({("K", "QKV"), ("VO", "QKV")} & set(rankings.holm(without))) == 1
    orders = [{name: of[s] for name, of in loss.items()} for s in range(5)]
    assert max(rankings.kendall_tau(o, SAID) for o in orders) < min(
        rankings.kendall_tau(a, b) for a, b in combinations(orders, 2)
    )
    first = {row["name"]: row["mean"] for row in compute(at=0)["rows"]}
    assert first["V"] < min(first["O"], first["Q"], first["NoPE"])  # V learns fast
    early, late = (compute(one="NoPE", other="V", at=at)["chosen"] for at in (0, 4))
    assert early["difference"] < -early["half"]  # at first V beats NoPE, decided
    assert abs(late["difference"]) < late["half"]  # at the end nothing is left of it
    last = {row["name"]: row["mean"] for row in now["rows"]}
    assert max(last, key=last.get) == "V"  # and falls behind
    for name in ("MHA", "MQA", "shared latent"):  # every interval holds zero
        assert not intervals.paired(cards.load_all("one-cache", "cpu"), name, "spliced latent").decided
    for name in ("QK", "VO"):  # hardly notice the base
        foil = cards.load_all("placements-base1e4", "cpu")
        same = [c for c in OLDER if c.seed in {f.seed for f in foil}]
        one, other = intervals.paired(foil, name, "NoPE"), intervals.paired(same, name, "NoPE")
        assert abs(one.mean - other.mean) < min(one.half, other.half)


def test_begun_anywhere_the_board_has_the_losses_of_shifted_windows(now):
    there = compute(panel="from anywhere")
    assert there["steps"] == [2000]
    rows = {row["name"]: row["mean"] for row in there["rows"]}
    assert max(rows, key=rows.get) == "QKV"
    for row in now["rows"]:
        own = [c.measured["shift 8"]["loss"] for c in FOUND if c.variant == row["name"]]
        assert rows[row["name"]] == pytest.approx(sum(own) / 5, abs=1e-5)
        kept = row["name"] in ("NoPE", "QK", "VO", "QKVO")
        assert (abs(rows[row["name"]] - row["mean"]) < 1e-5) is kept


def test_what_the_page_says_of_the_older_list():
    """The same order of means, and a pair whose word turned."""
    pairs = {(c.variant, c.seed): [c.loss()] for c in FOUND}
    for c in OLDER:
        pairs[c.variant, c.seed].append(c.loss())
    assert len(pairs) == 45
    means = [{n: sum(pairs[n, s][i] for s in range(5)) for n in SAID} for i in (0, 1)]
    assert sorted(SAID, key=means[0].get) == sorted(SAID, key=means[1].get)
    words = [intervals.paired(found, "V", "O").decided for found in (OLDER, FOUND)]
    assert words == [False, True]


def test_the_picture_of_windows_begun_elsewhere_says_its_numbers():
    desc = pictures.begun_elsewhere().desc
    for said in (
        "QKV 3.124, 4.342, trained anywhere 3.596",
        "NoPE 3.349, 3.349;",
        "QK 3.066, 3.066, trained anywhere 3.066",
    ):
        assert said in desc


def test_what_the_page_says_of_rates_and_of_the_first_three_places():
    listed = pictures.by_rate().desc.rstrip(".").split("; ")
    assert {"QKV 3.599 at 0.008", "V 3.604 at 0.00566"} <= {*listed}
    rates = {row[0]: float(row[1]) for row in pictures.rates_and_runs().rows}
    assert rates == dict.fromkeys(SAID, 0.00283) | {"V": 0.00566, "O": 0.00566, "QKV": 0.008}
    assert not rate_answers.missing()
    qkv = {rate: sum(of.values()) for rate, of in rate_answers.losses_of_rates()["QKV"].items()}
    assert max(qkv) == 0.0113
    assert min(qkv.values()) == qkv[0.008] < qkv[0.0113]
    rows = {row[0]: row[1:] for row in pictures.seeds_that_choose().rows}
    for found in (rate_answers.at_one_rate(), rate_answers.of_choosing_seeds()):
        kept = {one.name for one in found if one.outcome in ("better", "worse")}
        assert rows.keys() - kept == {"QKVO minus QK"}
    orders = {tuple(c.variant for c in sorted(FOUND, key=cards.Card.loss) if c.seed == seed)[:3] for seed in range(5)}
    assert orders == {("QKVO", "QK", "QKV")}


def test_longer_windows_leave_the_relative_four_ahead_and_qkv_last():
    rows = pictures.longer_windows().rows
    assert len(rows) == 9
    for column in (2, 3):
        order = [row[0] for row in sorted(rows, key=lambda row: float(row[column]))]
        assert set(order[:4]) == {"NoPE", "QK", "VO", "QKVO"}
        assert order[-1] == "QKV"
    assert all(float(inside) < float(beyond) for _, inside, beyond, _ in rows)
    assert all(float(near) < float(far) for *_, near, far in rows)


def test_trained_anywhere_qkv_ends_beside_v_and_three_are_better_than_nothing():
    anywhere = cards.load_all("placements-anywhere", "cpu")
    assert abs(intervals.paired(anywhere, "QKV", "V").mean) < 0.02
    best = {c.variant: c.loss() for c in FOUND if c.seed == 0} | {c.variant: c.loss() for c in anywhere if c.seed == 0}
    assert {name for name in best if best[name] < best["NoPE"]} == {"QK", "VO", "QKVO"}


def test_the_table_of_relations_and_the_table_of_caches():
    said = {row[0]: row[3] for row in pictures.relations().rows}
    still = {row[0]: row[4] for row in pictures.relations().rows}
    assert said["QK better than VO"] == "as said"
    assert (said["VO better than QKV"], said["QK about equal to QKVO"]) == ("the other way", "told apart")
    assert said["K about equal to VO"] == "undecided"
    assert [still[pair] for pair in ("VO better than QKV", "QK about equal to QKVO", "K about equal to VO")] == [
        "kept",
        "not kept",
        "–",
    ]
    sizes = {
        "MHA": {},
        "MQA": {"n_kv_heads": 1},
        "shared latent": {"d_latent": 32},
        "spliced latent": {"d_latent": 24, "d_rope": 8},
    }
    made = [
        replace(c, variant=name, config=c.config | {"model": c.config["model"] | more})
        for name, more in sizes.items()
        for c in FOUND
        if c.variant == "QK" and c.seed < 3
    ]
    rows = repr(pictures.one_cache_table(made)).splitlines()[2:]
    assert [row.split(" | ")[1] for row in rows] == ["128", "32", "32", "32"]
    assert rows[-1].endswith("reference")
    assert "no pair" in repr(pictures.one_cache_table(made[:2]))


def test_the_pictures_say_what_they_show():
    assert "K -0.1" in pictures.against_nope().desc
    assert "6 of 8" in pictures.base_and_plane().desc
    assert "V minus NoPE, mean and 95 % interval over 5 seeds: step 400 -0.03" in pictures.crossing("V", "NoPE").desc
