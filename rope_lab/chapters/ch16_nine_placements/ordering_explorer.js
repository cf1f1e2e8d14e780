import { html, number, ticks } from "../../show/widgets/draw.js";
import { widget } from "../../show/widgets/kit.js";
import { bySeed, empty, interval, mean, select, shown, signed, widths, written } from "../../show/widgets/runs.js";

const median = (values) => {
  const sorted = [...values].sort((x, y) => x - y),
    half = sorted.length >> 1;
  return sorted.length % 2 ? sorted[half] : (sorted[half - 1] + sorted[half]) / 2;
};
const sameNames = (some, all) => some.length > 0 && [...some].sort().join() === [...all].sort().join();
const settled = ({ difference: d, half }) => half !== null && Math.abs(d) > half;

/** Every pair at the chosen validation, and the chosen pair at all of them. */
export function compute(state) {
  const panel = shown(state);
  if (!panel) return { panel: "", names: [], cells: [] };
  const { steps, published: said, t } = panel,
    index = Math.min(state.at, steps.length - 1),
    known = Object.keys(said).length > 0;
  const runs = bySeed(panel, (run) => run.losses);
  const middle = (name, i, take = mean) => take([...runs.get(name).values()].map((losses) => losses[i]));
  const shared = (one, other) => [...runs.get(one).keys()].filter((seed) => runs.get(other).has(seed));
  const gaps = (one, other, i) =>
    shared(one, other).map((seed) => runs.get(other).get(seed)[i] - runs.get(one).get(seed)[i]);
  const mine = sameNames(state.mine, panel.names) ? state.mine : [];
  const far = (value) => {
    let count = 0;
    mine.forEach((one, i) => {
      for (const other of mine.slice(i + 1)) if (value(one) > value(other)) count += 1;
    });
    return count;
  };
  const key = {
    mean: (name) => middle(name, index),
    median: (name) => middle(name, index, median),
    published: (name) => said[name] ?? middle(name, index),
    mine: (name) => (mine.length ? mine.indexOf(name) : middle(name, index)),
  }[state.order];
  const names = [...panel.names].sort((x, y) => key(x) - key(y) || (x < y ? -1 : 1));
  const cells = [],
    counts = { agree: 0, reversed: 0, undecided: 0, decided: 0 };
  let exchanges = 0;
  names.forEach((one, i) =>
    names.slice(i + 1).forEach((other) => {
      const gap = interval(gaps(one, other, index), t),
        way = known ? Math.sign(said[other] - said[one]) || 1 : 0;
      const word = !settled(gap) ? "undecided" : !way ? "decided" : gap.difference * way > 0 ? "agree" : "reversed";
      counts[word] += 1;
      if (way * (middle(other, index) - middle(one, index)) < 0) exchanges += 1;
      cells.push({ one, other, word, ...gap });
    }),
  );
  const one = names.includes(state.one) ? state.one : names[0],
    rest = names.filter((name) => name !== one);
  const other = rest.includes(state.other) ? state.other : (rest[0] ?? "");
  return {
    panel: panel.key,
    names,
    steps,
    index,
    cells,
    counts,
    tau: known && cells.length ? 1 - (2 * exchanges) / cells.length : null,
    exchanges: known ? exchanges : null,
    mine: mine.length
      ? { names: mine, here: far((name) => middle(name, index)), said: known ? far((name) => said[name]) : null }
      : null,
    rows: names.map((name) => ({
      name,
      mean: middle(name, index),
      median: middle(name, index, median),
      said: said[name] ?? null,
    })),
    one,
    other,
    seeds: other ? shared(one, other).map((seed, i) => ({ seed, gap: gaps(one, other, index)[i] })) : [],
    chosen: interval(other ? gaps(one, other, index) : [], t),
    along: other ? steps.map((_, i) => interval(gaps(one, other, i), t)) : [],
    published: known && other ? said[other] - said[one] : null,
  };
}

const LEAN = 0.9; // of names under columns too narrow for them, in radians
const gapText = (gap) => written(gap, "no seed in common");
const WORDS = { agree: "as published", reversed: "the other way", undecided: "undecided", decided: "decided" };
const verdict = ({ chosen, one, other, published }) => {
  if (chosen.difference === null) return "nothing to compare";
  if (!settled(chosen)) return "undecided: the interval holds zero";
  const better = chosen.difference > 0 ? one : other;
  return (
    `${better} is better` +
    (published === null
      ? ""
      : published * chosen.difference > 0
        ? ", as published"
        : ", the other way round than published")
  );
};

function build(ui) {
  const { panels } = ui.state;
  if (empty(ui)) return () => {};
  const own = orderFirst(ui);
  let tall = 400; // until the first drawing: then as the names of the panel ask
  const board = ui.figure({ label: "Every pair of variants", height: () => tall });
  ui.ranges.panel = panels.map((panel) => panel.key);
  ui.ranges.one = ui.ranges.other = [...new Set(panels.flatMap((panel) => panel.names))];
  select(ui, compute, "panel", "list of runs", ({ panel }) => ({ options: ui.ranges.panel, value: panel }));
  select(ui, compute, "other", "loss of", (now) => ({
    options: now.names.filter((name) => name !== now.one),
    value: now.other,
  }));
  select(ui, compute, "one", "minus the loss of", (now) => ({ options: now.names, value: now.one }));
  ui.choice("order", {
    label: "put in order by",
    options: { published: "published", mean: "our mean", median: "our median", mine: "yours" },
  });
  const most = Math.max(...panels.map(({ steps }) => steps.length)) - 1;
  ui.slider("at", {
    label: "validation",
    min: 0,
    max: most,
    step: 1,
    show: () => {
      const { steps, index } = compute(ui.state);
      return `step ${steps[index]}`;
    },
  });
  const write = ui.readout({ gap: "difference", verdict: "this pair", counts: "all pairs", tau: "Kendall's $τ$" });
  const heading = (look) => ui.below.appendChild(html("p", { class: `rope-heading ${look}` })); // as long as its names
  const pair = heading("rope-chosen two");
  const strip = ui.figure({ label: "Paired differences, seed by seed", height: () => 154, host: ui.below });
  const sides = heading("muted");
  const along = ui.figure({ label: "The difference along the training", height: () => 192, host: ui.below });
  board.node.addEventListener("click", (event) => {
    const chosen = event.target.closest?.("[data-pair]")?.dataset.pair;
    if (chosen) {
      const [one, other] = chosen.split("|");
      ui.set({ one, other });
    }
  });

  return (state, now) => {
    for (const part of [ui.stage, ui.panel, ui.below]) part.hidden = !state.revealed;
    own(state, now);
    if (!state.revealed) return;
    const { counts, tau, exchanges, cells } = now;
    const sums = Object.entries(counts).filter(([word, count]) => count || (tau !== null && word !== "decided"));
    write({
      gap: gapText(now.chosen),
      verdict: verdict(now),
      counts: sums.map(([word, count]) => `${count} ${WORDS[word]}`).join(", "),
      tau: tau === null ? "nothing was published" : `${number(tau, 2)}, ${exchanges} of ${cells.length} exchanged`,
    });
    const asked = boardPlan(board, now.names).height;
    if (asked !== tall) {
      tall = asked;
      board.fit(board.width);
    }
    drawBoard(board, now);
    pair.textContent = `${now.other} minus ${now.one}, step ${now.steps[now.index]}: ${gapText(now.chosen)}`;
    sides.textContent = `above zero: ${now.one} is better; below: ${now.other}`;
    drawStrip(strip, now);
    drawAlong(ui, along, now);
    ui.say(
      `Step ${now.steps[now.index]}. ${now.other} minus ${now.one}: ${gapText(now.chosen)}; ` +
        `${verdict(now)}. ${sums.map(([word, count]) => `${count} pairs ${WORDS[word]}`).join(", ")}.`,
    );
  };
}

/** Before anything is shown, the reader puts the names in order: by buttons, or by dragging. Afterwards a table. */
function orderFirst(ui) {
  const box = html("div", { class: "rope-ordering" });
  ui.stage.before(box);
  const names = [...ui.state.panels[0].names].sort();
  const current = () => (ui.state.mine.length ? ui.state.mine : names);
  const list = html("ol", { "aria-label": "Your order, best first" }),
    table = html("table", { class: "rope-orders" });
  const place = (name, to) => {
    const rest = current().filter((other) => other !== name),
      at = Math.max(0, Math.min(rest.length, to));
    ui.set({ mine: [...rest.slice(0, at), name, ...rest.slice(at)] });
    ui.say(`${name} is in place ${at + 1} of ${names.length}`);
  };
  const items = new Map(
    names.map((name) => {
      const move = (text, by) => {
        const button = html("button", { type: "button", "aria-label": `Move ${name} ${by < 0 ? "up" : "down"}` }, text);
        button.addEventListener("click", () => {
          place(name, current().indexOf(name) + by);
          requestAnimationFrame(() => {
            const both = [button, ...item.querySelectorAll("button")];
            both.find(({ style }) => style.visibility !== "hidden").focus();
          });
        });
        return button;
      };
      const item = html(
        "li",
        { "data-name": name },
        html("span", { class: "rope-name" }, name),
        move("↑", -1),
        move("↓", 1),
      );
      item.addEventListener("pointerdown", (event) => {
        if (event.button || event.target.closest("button")) return;
        event.preventDefault();
        item.setPointerCapture(event.pointerId);
        item.classList.add("held");
        const over = ({ clientY }) => {
          const others = current().filter((other) => other !== name);
          const above = others.filter((other) => {
            const { top, bottom } = items.get(other).getBoundingClientRect();
            return (top + bottom) / 2 < clientY;
          });
          if (above.length !== current().indexOf(name)) place(name, above.length);
        };
        const drop = () => {
          item.classList.remove("held");
          item.removeEventListener("pointermove", over);
          for (const end of ["pointerup", "pointercancel", "lostpointercapture"]) item.removeEventListener(end, drop);
        };
        item.addEventListener("pointermove", over);
        for (const end of ["pointerup", "pointercancel", "lostpointercapture"]) item.addEventListener(end, drop);
      });
      return [name, item];
    }),
  );
  const asking = html(
    "div",
    {},
    html(
      "p",
      {},
      "Your prediction, best first: drag a name, or move it with its arrows. It begins in the order of the alphabet.",
    ),
    list,
  );
  box.append(asking, table);
  const reveal = ui.button("Show both orders and all pairs", () => ui.set({ mine: current(), revealed: true }), {
    host: asking,
  });
  reveal.classList.add("rope-reveal");
  return ({ revealed }, now) => {
    asking.hidden = revealed;
    table.hidden = !revealed || now.mine === null;
    box.hidden = asking.hidden && table.hidden;
    const wanted = current().map((name) => items.get(name));
    const held = wanted.findIndex((item) => item.classList.contains("held"));
    wanted.forEach((item, i) => {
      const [up, down] = item.querySelectorAll("button");
      up.style.visibility = i === 0 ? "hidden" : ""; // the first cannot go up, the last cannot go down
      down.style.visibility = i === wanted.length - 1 ? "hidden" : "";
      // What is being dragged stays where it is in the page, or it would lose the pointer: the others go around it.
      if (held >= 0 && i !== held) list.insertBefore(item, i < held ? wanted[held] : null);
      else if (held < 0 && list.children[i] !== item) list.insertBefore(item, list.children[i]);
    });
    if (!table.hidden) compareOrders(table, now);
  };
}

/** Three orders side by side, and how many pairs of the reader's stand the other way round in the other two. */
function compareOrders(table, { mine, rows }) {
  const by = (key) => [...rows].sort((x, y) => x[key] - y[key]).map(({ name }) => name);
  const columns = [
    ["yours", mine.names],
    ["here", by("mean")],
    ...(mine.said === null ? [] : [["article", by("said")]]),
  ];
  const pairs = (mine.names.length * (mine.names.length - 1)) / 2,
    told = (count) => `${count} of ${pairs}`;
  const cell = (text, tag = "td") => html(tag, tag === "th" ? { scope: "col" } : {}, text);
  table.replaceChildren(
    html("caption", {}, "Three orders, best first. Last row: pairs that yours has the other way round."),
    html("thead", {}, html("tr", {}, ...columns.map(([title]) => cell(title, "th")))),
    html(
      "tbody",
      {},
      ...mine.names.map((_, i) => html("tr", {}, ...columns.map(([, names]) => cell(names[i])))),
      html(
        "tr",
        {},
        ...["", told(mine.here), mine.said === null ? null : told(mine.said)]
          .filter((t) => t !== null)
          .map((t) => cell(t)),
      ),
    ),
  );
}

/** Where the triangle stands: room at its left for the longest name, and at its foot for names that lean if they must. */
function boardPlan(fig, names) {
  const wide = widths(fig, names, "small"),
    left = 12 + Math.max(0, ...wide.slice(1)),
    top = 8,
    n = Math.max(1, names.length - 1),
    side = Math.min((fig.width - left - 8) / n, 46),
    columns = wide.slice(0, -1),
    crowded = columns.some((w, i) => i > 0 && (w + columns[i - 1]) / 2 + 4 > side),
    lean = crowded && Math.max(...columns) > 1.25 * side, // or else crowded names take two rows in turn
    step = crowded && !lean ? 15 : 0,
    foot = top + side * n,
    names_end = foot + (lean ? 14 + Math.max(...columns) * Math.sin(LEAN) : 16 + step);
  return { left, top, side, lean, step, foot, legend: names_end + 26, height: names_end + 36 };
}

/** A triangle: the better of a pair by the order chosen gives the column, the other the row. */
function drawBoard(fig, now) {
  const { names, cells, counts, tau, one, other } = now,
    { left, top, side, lean, step, foot, legend: y } = boardPlan(fig, names);
  fig.clear(
    `${cells.length} pairs: ` +
      Object.entries(counts)
        .filter(([, c]) => c)
        .map(([word, c]) => `${c} ${WORDS[word]}`)
        .join(", ") +
      ". " +
      cells.map((c) => `${c.other} minus ${c.one} ${gapText(c)}`).join("; ") +
      ".",
  );
  for (const cell of cells) {
    const column = names.indexOf(cell.one),
      row = names.indexOf(cell.other) - 1;
    const [x, y] = [left + side * column, top + side * row],
      [cx, cy] = [x + side / 2, y + side / 2],
      r = side * 0.2;
    const mine = (cell.one === one && cell.other === other) || (cell.one === other && cell.other === one);
    fig.rect([x, y], [side, side], "hair");
    if (cell.word === "reversed") {
      fig.line([cx - r, cy - r], [cx + r, cy + r], "two rope-bold");
      fig.line([cx - r, cy + r], [cx + r, cy - r], "two rope-bold");
    } else if (cell.word === "undecided") fig.circle([cx, cy], r * 0.8, "line muted");
    else fig.circle([cx, cy], r, "fill");
    if (mine) fig.rect([x + 2, y + 2], [side - 4, side - 4], "line rope-bold");
    fig.add("rect", { x, y, width: side, height: side, class: "rope-cell", "data-pair": `${cell.one}|${cell.other}` });
  }
  names.slice(1).forEach((name, i) => fig.text([left - 8, top + side * (i + 0.5) + 5], name, "small", "end"));
  names.slice(0, -1).forEach((name, i) => {
    const at = [left + side * (i + 0.5) + (lean ? 4 : 0), foot + (lean ? 12 : 16 + step * (i % 2))],
      node = fig.text(at, name, "small", lean ? "end" : "middle");
    if (lean) node.setAttribute("transform", `rotate(${(-180 * LEAN) / Math.PI} ${at.join(" ")})`);
  });
  let x = 8;
  const legend =
    tau === null
      ? [
          ["decided", "decided"],
          ["undecided", "undecided"],
        ]
      : [
          ["agree", "as published"],
          ["reversed", "other way"],
          ["undecided", "undecided"],
        ];
  for (const [word, text] of legend) {
    if (word === "reversed") {
      fig.line([x - 5, y - 5], [x + 5, y + 5], "two rope-bold");
      fig.line([x - 5, y + 5], [x + 5, y - 5], "two rope-bold");
    } else fig.circle([x, y], word === "undecided" ? 5 : 6, word === "undecided" ? "line muted" : "fill");
    const named = fig.text([x + 12, y + 5], text, "small", "start");
    x += named.getComputedTextLength() + 34;
  }
}

/** One mark for each seed, the interval, and the published difference where there is one. */
function drawStrip(fig, { seeds, chosen, one, other, published, steps, index }) {
  const [left, right, y] = [14, fig.width - 14, 72];
  fig.clear(
    `${other} minus ${one} at step ${steps[index]}: ` +
      seeds.map(({ seed, gap }) => `seed ${seed} ${signed(gap)}`).join(", ") +
      `; mean ${gapText(chosen)}` +
      (published === null ? "." : `; published ${signed(published)}.`),
  );
  if (chosen.difference === null) {
    fig.text([left, y], "No seed in common.", "small muted", "start");
    return;
  }
  const values = [0, ...seeds.map(({ gap }) => gap), ...(published === null ? [] : [published])],
    wide = Math.min(chosen.half ?? 0, 0.4);
  const low = Math.min(...values, chosen.difference - wide),
    high = Math.max(...values, chosen.difference + wide),
    room = 0.06 * (high - low) || 0.01;
  const X = (v) =>
    left + ((Math.min(high + room, Math.max(low - room, v)) - low + room) / (high - low + 2 * room)) * (right - left);
  const rows = ticks(low - room, high + room, Math.max(2, fig.width / 90)),
    digits = rows.length > 1 && rows[1] - rows[0] < 0.0099 ? 3 : 2;
  for (const v of rows) {
    fig.line([X(v), 20], [X(v), 114], "hair");
    fig.text([X(v), 132], number(v, digits), "small muted");
  }
  fig.line([X(0), 14], [X(0), 114], "axis");
  fig.text(
    [X(0), 10],
    "no difference",
    "small muted",
    X(0) > fig.width * 0.75 ? "end" : X(0) < fig.width * 0.25 ? "start" : "middle",
  );
  if (chosen.half !== null) {
    fig.line(
      [X(chosen.difference - chosen.half), y + 22],
      [X(chosen.difference + chosen.half), y + 22],
      "two rope-mean",
    );
    for (const end of [-1, 1])
      fig.line(
        [X(chosen.difference + end * chosen.half), y + 16],
        [X(chosen.difference + end * chosen.half), y + 28],
        "two rope-mean",
      );
  }
  fig.circle([X(chosen.difference), y + 22], 5, "fill two");
  seeds.forEach(({ seed, gap }, i) => {
    const at = [X(gap), 28 + 11 * i];
    fig.circle(at, 3.5, "fill");
    if (fig.width > 520) fig.text([at[0] + 8, at[1] + 4], `seed ${seed}`, "small muted", "start");
  });
  if (published !== null) {
    const x = X(published);
    fig.add("path", {
      d: `M${x} ${y + 14}L${x + 8} ${y + 22}L${x} ${y + 30}L${x - 8} ${y + 22}Z`,
      class: "paper muted",
    });
    fig.text([x, 150], "published", "small muted", x > fig.width - 40 ? "end" : x < 40 ? "start" : "middle");
  }
}

/** The same difference at every validation, with its interval; the round mark can be dragged from one to the next. */
function drawAlong(ui, fig, now) {
  const { along, steps, index, one, other } = now;
  fig.clear(
    `${other} minus ${one} along the training: ` +
      along.map((gap, i) => `step ${steps[i]} ${gapText(gap)}`).join("; ") +
      ".",
  );
  if (!along.length || along[0].difference === null) return;
  const most = Math.max(...along.map(({ difference: d }) => Math.abs(d)), 0.005),
    rim = (sign) => Math.max(0, ...along.map(({ difference: d, half }) => sign * d + Math.min(half ?? 0, 2 * most)));
  const low = -rim(-1),
    high = rim(1),
    room = 0.1 * Math.max(high - low, 0.01),
    box = [56, 8, fig.width - 16, fig.height - 44];
  const [left, top, right, bottom] = box,
    rows = ticks(low - room, high + room, 5),
    digits = rows.length > 1 && rows[1] - rows[0] < 0.0099 ? 3 : 2;
  const { X, Y } = fig.axes({
    x: [0, steps.at(-1)],
    y: [low - room, high + room],
    box,
    xticks: [0, ...steps],
    yticks: [],
    xlabel: "step",
    at: 0,
  });
  for (const v of rows) {
    fig.line([left, Y(v)], [right, Y(v)], "hair");
    fig.text([left - 8, Y(v) + 4], number(v, digits), "small muted", "end");
  }
  along.forEach(({ difference: d, half }, i) => {
    const inside = (v) => Y(Math.max(low - room, Math.min(high + room, v)));
    if (half !== null)
      fig.line([X(steps[i]), inside(d - half)], [X(steps[i]), inside(d + half)], "two rope-mean faint");
    fig.circle([X(steps[i]), Y(d)], 3, "fill two");
  });
  fig.path(
    along.map(({ difference: d }, i) => [X(steps[i]), Y(d)]),
    "line two",
  );
  fig.line([X(steps[index]), top], [X(steps[index]), bottom], "axis");
  const at = [X(steps[index]), Y(along[index].difference)];
  fig.circle(at, 7, "fill two");
  fig.handle("step", at, ([x]) => {
    const last = steps.reduce((last, step, i) => (X(step) <= x + 6 ? i : last), 0); // the last validation by then
    ui.set({ at: last }, { now: true });
  });
}

export default widget({ compute, build });
