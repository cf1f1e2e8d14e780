"""Tables that a cell makes: plain HTML in the page's own style, which scroll by themselves where a page is narrow."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from html import escape
from statistics import fmean, stdev

from rope_lab.training.results.cards import Card
from rope_lab.training.results.equivalence import Finding

__all__ = ["Table", "card_table", "means_table", "settings_table"]


class Table:
    """Rows of text under headings. Words between backticks are set as code.

    >>> print(Table(["run", "loss"], [["`a`", "3.5"]], caption="Two columns"))
    Two columns
    run | loss
    a | 3.5
    """

    def __init__(
        self, headings: Sequence[str], rows: Iterable[Sequence[str]], *, caption: str, right: Iterable[str] = ()
    ) -> None:
        self.headings, self.caption = list(headings), caption
        self.rows = [[_with_minus(str(cell)) for cell in row] for row in rows]
        if not caption.strip():
            raise ValueError(f"expected a caption in words, got {caption!r}: it says what the table shows")
        for row in self.rows:
            if len(row) != len(self.headings):
                raise ValueError(f"expected {len(self.headings)} cells in each row, got {len(row)}: {row}")
        if unknown := set(right) - set(self.headings):
            raise ValueError(f"right: expected some of {', '.join(self.headings)}, got {min(unknown)!r}")
        self.right = set(right)
        for column, name in enumerate(self.headings):
            if name in self.right:
                self._align(column)

    def _align(self, column: int) -> None:
        """Fill numbers up on the right, so that the points of a column stand below each other."""
        decimals = [len(number[1] or "") for row in self.rows if (number := _NUMBER.fullmatch(row[column]))]
        for row in self.rows:
            if number := _NUMBER.fullmatch(row[column]):
                row[column] += "\N{FIGURE SPACE}" * (max(decimals) - len(number[1] or ""))
                if max(decimals) and not number[1]:
                    row[column] += "\N{PUNCTUATION SPACE}"

    def _repr_html_(self) -> str:
        head = "".join(f'<th scope="col"{self._kind(n, n)}>{escape(n)}</th>' for n in self.headings)
        body = "".join(f"<tr>{''.join(map(self._cell, self.headings, row))}</tr>" for row in self.rows)
        label = escape(self.caption, quote=True).replace("`", "")
        return (
            _STYLE
            + f'<div class="rope-table"><p style="margin: 1.5rem 0 .5rem"><strong>{_code(self.caption)}</strong></p>'
            f'<div class="pst-scrollable-table-container" tabindex="0" role="region" aria-label="{label}">'
            '<table class="table" '
            'style="font-size: .90625rem; font-variant-numeric: tabular-nums">'
            f"<thead><tr>{head}</tr></thead>"
            f"<tbody>{body}</tbody></table></div></div>"
        )

    def __repr__(self) -> str:
        lines = [self.caption, " | ".join(self.headings), *(" | ".join(row) for row in self.rows)]
        return "\n".join(lines).replace("`", "")

    def _cell(self, name: str, text: str) -> str:
        return f"<td{self._kind(name, text)}>{_code(text)}</td>"

    def _kind(self, name: str, text: str) -> str:
        """The classes of a cell: a style in each would be half of a long table's weight."""
        kinds = ["right"] if name in self.right else []
        if re.fullmatch("`[^`]*`", text) or (len(text) <= 24 and re.search(r"\d", text) and ", " not in text):
            kinds.append("whole")  # a name or a number does not break, words and lists may
        elif len(text) > 24 and name not in self.right:  # a long head widens no column of numbers
            kinds.append("wide")
        return f' class="{" ".join(kinds)}"' if kinds else ""


# With the table and not with the pages: a lab in Colab has no style sheet of ours, and aligns all cells right.
_STYLE = (
    "<style>.rope-table table :is(th, td) {text-align: left} .rope-table table .right {text-align: right} "
    ".rope-table .whole {white-space: nowrap} .rope-table .wide {min-width: 15em}</style>"
)
_NUMBER = re.compile(r"[+\N{MINUS SIGN}]?[\d,]+(?:\.(\d+))?")


def _with_minus(text: str) -> str:
    """A true minus sign before a number; names, dates and what stands between backticks keep their hyphens."""
    parts = text.split("`")
    parts[::2] = [re.sub(r"(?<![\w-])-(?=\.?\d)", "\N{MINUS SIGN}", part) for part in parts[::2]]
    return "`".join(parts)


def _code(text: str) -> str:
    parts = text.split("`")
    return "".join(f"<code>{escape(p)}</code>" if i % 2 else escape(p) for i, p in enumerate(parts))


def card_table(found: Sequence[Card], *, caption: str) -> Table:
    """One row for each card: its results, and where and when they were measured.

    Args:
        found: The cards, in the order of the rows.
        caption: What the table shows, in words.

    Returns:
        A `Table`, with a first column for the setting if a card has one; losses in nats per token. Of a commit it has
        8 letters, and the word "changed" where the card has a ``+`` behind it: the code that ran was another. What is
        the same in all rows, of setting, date and device, stands in the caption and has no column.

    Raises:
        ValueError: If the caption is empty.
    """
    numbers = ["seed", "final", "best", "sd", "tokens/s"]
    headings, rows = ["setting", "variant", *numbers, "commit", "date", "device"], []
    for card in found:
        volatile = card.volatile
        rows.append(
            [
                card.setting,
                card.variant,
                str(card.seed),
                f"{card.loss():.4f}",
                f"{card.loss('best'):.4f} at {card.best['step']}",
                f"{card.final['sd']:.3f}",
                f"{volatile['tokens_per_s']:,.0f}",
                f"`{volatile['commit'][:8] or 'none'}`" + ", changed" * volatile["commit"].endswith("+"),
                volatile["date"][:10],
                volatile["device"],
            ]
        )
    columns = {name: [row[i] for row in rows] for i, name in enumerate(headings)}
    same = [name for name in ("setting", "date", "device") if len({*columns[name]}) == 1]
    said = ", ".join([caption, *filter(None, (columns.pop(name)[0] for name in same))]) if caption.strip() else caption
    return Table([*columns], zip(*columns.values(), strict=True), caption=said, right=numbers)


def means_table(found: Sequence[Card], *, caption: str) -> Table:
    """One row for each setting and variant: means over the seeds, best first within a setting.

    Args:
        found: The cards of one experiment at one rung.
        caption: What the table shows, in words.

    Returns:
        A `Table`, with a first column for the setting if a card has one; losses in nats per token. The column "sd over
        seeds" is empty where a variant has one seed.

    Raises:
        ValueError: If the caption is empty.
    """
    groups: dict[tuple[str, str], list[Card]] = {}
    for card in found:
        groups.setdefault((card.setting, card.variant), []).append(card)
    order = sorted(dict.fromkeys(card.setting for card in found), key=_by_number)
    rows = []
    for (setting, variant), own in groups.items():
        final = [card.loss() for card in own]
        cells = [
            variant,
            f"{fmean(final):.4f}",
            f"{stdev(final):.4f}" if len(own) > 1 else "",
            f"{fmean(card.loss('best') for card in own):.4f}",
            str(len(own)),
            f"{own[0].parameters['total']:,}",
        ]
        rows.append((order.index(setting), fmean(final), [*([setting] if any(order) else []), *cells]))
    numbers = ["final", "sd over seeds", "best", "seeds", "parameters"]
    headings = [*(["setting"] if any(order) else []), "variant", *numbers]
    return Table(headings, [row for *_, row in sorted(rows)], caption=caption, right=numbers)


def findings_table(found: Sequence[Finding], *, caption: str) -> Table:
    """One row for each comparison of a plan: the mean difference with its 95 % interval in nats, and the outcome.

    Args:
        found: The comparisons of one family.
        caption: What the table shows, in words.

    Returns:
        A `Table`.
    """
    rows = [[each.name, str(each.interval), each.outcome] for each in found]
    return Table(["comparison", "95 %", "outcome"], rows, caption=caption, right=["95 %"])


def settings_table(found: Iterable[Card], *, caption: str, columns: Sequence[str] = ()) -> Table:
    """One row for each experiment, rung and setting: what its runs read, how large they are, and how they learn.

    Settings that differ in the rate alone share a row.

    Args:
        found: The cards, of any experiments. The variants of a setting differ in nothing that stands here but their
            parameters.
        caption: What the table shows, in words.
        columns: Those to show beside the first, by their headings; none means all of them.

    Returns:
        A `Table`. "batch × window" is in tokens for each step, "begin at" the position of a window's first token; the
        rate is the highest of the run, after the warm-up.

    Raises:
        ValueError: If the caption is empty, or a column is unknown.
    """
    groups: dict[tuple[str, ...], list[Card]] = {}
    for card in found:
        setting = card.setting.removesuffix(f"rate {card.config['lr']:g}").removesuffix(", ")
        groups.setdefault((card.experiment, card.rung, setting, _decay(card.config)), []).append(card)
    rows = []
    lists = list(dict.fromkeys(key[:2] for key in groups))
    for key in sorted(groups, key=lambda key: (lists.index(key[:2]), _by_number(key[2]))):
        experiment, rung, setting, decay = key
        own = groups[key]
        config = own[0].config
        cells = {
            "rung": rung,
            "corpus": config["corpus"],
            "vocabulary": config["tokenizer"],
            "batch × window": f"{config['batch_size']} × {config['seq_len']}",
            "begin at": "0" if (starts := config.get("starts", 1)) == 1 else f"0 to {starts - 1:,}",
            "steps": f"{config['steps']:,}",
            "width": str(config["model"]["d_model"]),
            "parameters": _span([f"{total:,}" for total in sorted({card.parameters["total"] for card in own})]),
            "rate": _span([f"{rate:g}" for rate in sorted({card.config["lr"] for card in own})]),
            "warm-up": str(config["warmup"]),
            "decay": decay,
            "precision": config["precision"],
            "seeds": _seeds({card.seed for card in own}),
        }
        if unknown := set(columns) - set(cells):
            raise ValueError(f"columns: expected some of {', '.join(cells)}, got {min(unknown)!r}")
        chosen = [cells[name] for name in columns or cells]
        rows.append([f"`{experiment}`" + (f", {setting}" if setting else ""), *chosen])
    headings = ["experiment", *(columns or cells)] if rows else ["experiment", *columns]
    right = {"batch × window", "steps", "width", "rate", "warm-up"} & set(headings)
    return Table(headings, rows, caption=caption, right=right)


def _by_number(setting: str) -> list[str | int]:
    """The key to sort settings by: their words, and their numbers as numbers."""
    return [int(part) if i % 2 else part for i, part in enumerate(re.split(r"(\d+)", setting))]


def _decay(config: dict) -> str:
    """The fall of the learning rate, in a few words."""
    if config["schedule"] == "cosine":
        return f"cosine to {config['final_lr']:g}"
    if config["schedule"] == "step":
        return f"{config['decay']:g} every {config['decay_every']}"
    return config["schedule"]


def _seeds(seeds: set[int]) -> str:
    names = [str(seed) for seed in sorted(seeds)]
    return _span(names) if len(seeds) == max(seeds) - min(seeds) + 1 else ", ".join(names)


def _span(names: Sequence[str]) -> str:
    """The first and the last of more than two."""
    return f"{names[0]} to {names[-1]}" if len(names) > 2 else " and ".join(names)
