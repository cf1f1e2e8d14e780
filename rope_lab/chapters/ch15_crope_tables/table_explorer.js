import { html, number, ticks } from "../../show/widgets/draw.js";
import { widget } from "../../show/widgets/kit.js";
import { bySeed, empty, interval, select, shown, signed, written } from "../../show/widgets/runs.js";

const NEAR = 0.12; // nats: half the width of the view near zero

function verdict(difference, half, margin) {
  if (difference === null) return "no shared seed";
  if (half === null) return "one seed";
  const low = difference - half,
    high = difference + half;
  if (low > margin) return "worse";
  if (high < -margin) return "better";
  return -margin <= low && high <= margin ? "within" : "open";
}

function printed(said, name, reference) {
  const [one, other] = [said[name], said[reference]];
  if (!one || !other || (one[0] === other[0] && one[1] === other[1])) return { published: null, spread: null };
  return { published: one[0] - other[0], spread: Math.sqrt(one[1] ** 2 + other[1] ** 2) };
}

/** Paired differences to the reference, their intervals, and what they say about the margin. */
export function compute(state) {
  const panel = shown(state);
  if (!panel) return { panel: "", names: [], reference: "", rows: [] };
  const { names, t, published: said } = panel,
    reference = names.includes(state.reference) ? state.reference : panel.reference;
  const runs = bySeed(panel, (run) => run[state.metric]);
  const base = runs.get(reference);
  const rows = names
    .filter((name) => name !== reference)
    .map((name) => {
      const pairs = [...runs.get(name)].filter(([seed]) => base.has(seed)).map(([seed, loss]) => loss - base.get(seed));
      const gap = interval(pairs, t);
      return {
        variant: name,
        pairs,
        ...gap,
        ...printed(said, name, reference),
        verdict: verdict(gap.difference, gap.half, state.margin),
      };
    });
  return { panel: panel.key, names, reference, rows };
}

const words = {
  worse: (d) => `the interval is above ${d}`,
  better: (d) => `the interval is below −${d}`,
  within: (d) => `the interval is within ±${d}`,
  open: (d) => `the interval reaches across ${d} or −${d}`,
  "one seed": () => "one seed: no interval",
  "no shared seed": () => "no shared seed yet",
};
const LOOKS = { worse: "wrong", better: "two", within: "one" }; // of a verdict that the seeds allow
const BRIEF = {
  worse: (d) => `above ${d}`,
  better: (d) => `below −${d}`,
  within: (d) => `within ±${d}`,
  open: () => "across",
};
const ROW = 78; // from one row of the picture to the next
const OURS = "Filled disc with its bar: our mean difference with its 95\u00a0% interval. Small rings: the seeds.",
  PAPERS =
    " Diamond with a thin bar: the difference that the paper prints, with the root of the sum of its squared ± numbers.";
const said = (row, margin, known = words) => (known[row.verdict] ?? words[row.verdict])(number(margin, 3));

function build(ui) {
  const { panels } = ui.state;
  if (empty(ui)) return () => {};
  let count = 1;
  const fig = ui.figure({
    label: "Differences to the reference, with intervals",
    height: () => 96 + ROW * Math.max(1, count),
  });
  ui.slider("margin", { label: "margin $δ$", step: 0.001, show: (v) => `${number(v, 3)} nats` });
  ui.ranges.panel = panels.map((panel) => panel.key);
  ui.ranges.reference = [...new Set(panels.flatMap((panel) => panel.names))];
  select(ui, compute, "panel", "list of runs", ({ panel }) => ({ options: ui.ranges.panel, value: panel }));
  select(ui, compute, "reference", "minus the reference", ({ names, reference }) => ({
    options: names,
    value: reference,
  }));
  ui.choice("metric", { label: "loss", options: { final: "final", best: "best" } });
  ui.choice("view", { label: "view", options: { near: "near zero", all: "everything" } });
  const legend = html("p", { class: "rope-legend" });
  ui.below.append(legend);
  return (state, values) => {
    if (values.rows.length !== count) {
      count = values.rows.length;
      fig.fit(fig.width);
    }
    draw(ui, fig, state, values);
    const printed = values.rows.some(({ published }) => published !== null);
    legend.textContent = `${OURS}${printed ? PAPERS : ""} Each interval is read alone: many together err more often.`;
    ui.say(
      `Margin ${number(state.margin, 3)}. ` +
        (values.rows.map((row) => `${row.variant} ${written(row)}: ${said(row, state.margin)}`).join(". ") ||
          "One variant has a card."),
    );
  };
}

function domain(view, rows) {
  if (view === "near") return [-NEAR, NEAR];
  const all = rows.flatMap(({ pairs, difference, half, published }) => [
    ...pairs,
    published ?? 0,
    ...(half === null || half > 1 ? [] : [difference - half, difference + half]),
  ]);
  const low = Math.min(-NEAR, ...all),
    high = Math.max(NEAR, ...all),
    room = 0.04 * (high - low);
  return [low - room, high + room];
}

function draw(ui, fig, { margin, view }, { reference, rows }) {
  const [x0, x1] = domain(view, rows),
    left = 12,
    right = fig.width - 12,
    top = 40,
    bottom = fig.height - 48;
  const X = (v) => left + ((v - x0) / (x1 - x0)) * (right - left),
    within = (v) => v >= x0 && v <= x1,
    hold = (v) => X(Math.max(x0, Math.min(x1, v)));
  fig.clear(
    rows.map((row) => `${row.variant} minus ${reference}: ${written(row)}, ${said(row, margin)}`).join("; ") + ".",
  );
  const grid = ticks(x0, x1, Math.max(3, (right - left) / 90));
  const digits = Math.max(0, Math.ceil(-Math.log10(grid[1] - grid[0]) - 1e-9));
  for (const v of grid) {
    fig.line([X(v), top], [X(v), bottom], "hair");
    fig.text([X(v), bottom + 18], number(v, digits), "small muted");
  }
  fig.line([X(0), top], [X(0), bottom], "axis");
  fig.line([left, bottom], [right, bottom], "axis");
  fig.text([right, bottom + 38], `loss minus that of ${reference}, nats per token`, "small muted", "end");
  const grip = X(margin);
  fig.circle([grip, top - 6], 7, "fill two");
  fig.text([grip + (grip > right - 60 ? -14 : 14), top - 2], "$δ$", "two", grip > right - 60 ? "end" : "start");
  fig.handle("margin", [grip, top - 6], ([x]) =>
    ui.set(
      {
        margin: ui.nearest("margin", x0 + ((x - left) / (right - left)) * (x1 - x0)),
      },
      { now: true },
    ),
  );
  rows.forEach((row, i) => {
    const base = top + ROW * i,
      y = base + 48;
    fig.rect([X(-margin), base + 40], [Math.max(1, X(margin) - X(-margin)), ROW - 46], "soft two");
    for (const side of [-margin, margin]) fig.line([X(side), base + 40], [X(side), base + ROW - 6], "two");
    fig.text([left + 2, base + 18], row.variant, "small", "start");
    fig.text([right - 2, base + 18], written(row), "small one", "end");
    if (i) fig.line([left, base], [right, base], "hair");
    fig.text(
      [left + 2, base + 34],
      said(row, margin, fig.width < 520 ? BRIEF : words),
      `small ${LOOKS[row.verdict] ?? "muted"}`,
      "start",
    );
    if (row.published !== null) {
      const [low, high] = [row.published - row.spread, row.published + row.spread],
        below = y + 15;
      if (high >= x0 && low <= x1) fig.line([hold(low), below], [hold(high), below], "muted thin");
      if (within(row.published))
        fig.path(
          [
            [X(row.published), below - 6],
            [X(row.published) + 6, below],
            [X(row.published), below + 6],
            [X(row.published) - 6, below],
            [X(row.published), below - 6],
          ],
          "line muted",
        );
      else
        fig.text(
          [row.published > x1 ? right - 2 : left + 2, below + 5],
          row.published > x1 ? `paper ${signed(row.published)} ▸` : `◂ paper ${signed(row.published)}`,
          "small muted",
          row.published > x1 ? "end" : "start",
        );
    }
    if (row.difference === null) return;
    for (const pair of row.pairs) if (within(pair)) fig.circle([X(pair), y], 4, "line thin one");
    const low = row.difference - (row.half ?? 0),
      high = row.difference + (row.half ?? 0);
    if (row.half !== null && high >= x0 && low <= x1) {
      fig.line([hold(low), y], [hold(high), y], "one rope-bar");
      for (const end of [low, high]) if (within(end)) fig.line([X(end), y - 6], [X(end), y + 6], "one");
    }
    if (within(row.difference)) fig.circle([X(row.difference), y], 5.5, "fill one");
    else
      fig.text(
        [row.difference > x1 ? right - 2 : left + 2, y + 5],
        row.difference > x1 ? "▸" : "◂",
        "one",
        row.difference > x1 ? "end" : "start",
      );
  });
  if (!rows.length)
    fig.text([left, top + 30], "Only one variant has a card: nothing to subtract.", "small muted", "start");
}

export default widget({ compute, build });
