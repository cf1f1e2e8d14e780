import { calm } from "./controls.js";
import { html, number } from "./draw.js";
import { widget } from "./kit.js";

const halfOrder = (d) => Array.from({ length: d }, (_, j) => (j < d / 2 ? 2 * j : 2 * j - d + 1));
const named = (order) => order.map((_, name) => order.indexOf(name));

/** The fewest steps that sort a half-split row: odd names move in behind their even neighbours, or rows are swapped. */
function stepsOf(half, by) {
  const order = [...half],
    steps = [];
  for (let name = 0; name < half.length; name++) {
    const from = order.indexOf(name);
    if (by === "swaps" && from !== name) {
      [order[from], order[name]] = [order[name], order[from]];
      steps.push([name, from]);
    } else if (by === "moves" && name % 2 && name < half.length - 1) {
      order.splice(from, 1);
      const to = order.indexOf(name - 1) + 1;
      order.splice(to, 0, name);
      steps.push([from, to]);
    }
  }
  return steps;
}
function carried(half, steps, count, by) {
  const order = [...half];
  for (const [a, b] of steps.slice(0, count)) {
    if (by === "swaps") [order[a], order[b]] = [order[b], order[a]];
    else order.splice(b, 0, ...order.splice(a, 1));
  }
  return order;
}
function cyclesOf(half) {
  const seen = new Set(),
    found = [];
  for (let start = 0; start < half.length; start++) {
    if (seen.has(start)) continue;
    const cycle = [];
    for (let at = start; !seen.has(at); at = half[at]) {
      seen.add(at);
      cycle.push(at);
    }
    found.push(cycle);
  }
  return found;
}
const parity = (order) => ((order.length - cyclesOf(order).length) % 2 ? -1 : 1);

/** Where each row and each column stands after so many steps. */
export function compute({ d, by, step }) {
  const half = halfOrder(d),
    each = stepsOf(half, by),
    n = each.length;
  const at = Math.min(Math.max(step, 0), 2 * n),
    whole = n ? Math.min(Math.floor(at), 2 * n - 1) : 0,
    share = at - whole;
  const orders = [whole, whole + 1, whole - n, whole + 1 - n].map((k) =>
    carried(half, each, Math.min(Math.max(k, 0), n), by),
  );
  const places = orders.map(named),
    glide = (from, to) => from.map((a, i) => a + (to[i] - a) * share);
  const now = share === 1 ? [1, 3] : [0, 2],
    cycles = cyclesOf(half);
  return {
    rows: glide(places[0], places[1]),
    columns: glide(places[2], places[3]),
    total: 2 * n,
    done: at,
    sign: parity(orders[now[0]]) * parity(orders[now[1]]),
    moves: Math.max(0, d / 2 - 1),
    swaps: d - cycles.length,
    cycles,
  };
}

function build(ui) {
  const board = ui.figure({
    label: "The matrix, its rows and columns on the move",
    height: (width) => Math.min(width, 440),
  });
  const arcs = ui.figure({ label: "Cycles of the permutation", height: () => 200, host: ui.below });
  const note = ui.below.appendChild(html("p", { class: "rope-note" }));
  const counter = ui.slider("step", { label: "steps done", step: 1 });
  const shown = counter.parentElement.querySelector("output");
  const total = () => compute(ui.state).total;
  carryOut(ui, total);
  ui.choice("by", { label: "a step is", options: { moves: "a move", swaps: "a swap" } });
  ui.slider("d", { label: "head_dim $d$", step: 2 });
  const write = ui.readout({
    sign: "determinant now",
    moves: "moves that the rows need",
    swaps: "swaps that the rows need",
  });

  return (state, values) => {
    const asked = Math.min(ui.state.step, values.total);
    counter.max = values.total;
    counter.value = asked;
    counter.style.setProperty("--at", values.total ? asked / values.total : 0);
    const words = `${asked} of ${values.total}`;
    shown.textContent = words;
    counter.setAttribute("aria-valuetext", words);
    write({ sign: number(values.sign, 0), moves: number(values.moves, 0), swaps: number(values.swaps, 0) });
    drawBoard(board, state, values);
    drawArcs(arcs, state, values);
    const loops = values.cycles.filter((cycle) => cycle.length > 1),
      alone = values.cycles.length - loops.length;
    note.textContent =
      "An arrow leads from each place to the coordinate that stands there in the half-split order: " +
      `${loops.length} ${loops.length === 1 ? "loop" : "loops"}, and ${alone} ` +
      `${alone === 1 ? "row" : "rows"} that may stay. ` +
      `A loop of r rows takes r − 1 swaps: ${state.d} − ${values.cycles.length} = ${values.swaps}.`;
    ui.say(`${words} steps. Determinant ${number(values.sign, 0)}. Rows ${order(values.rows)}.`);
  };
}
const order = (places) => places.map((_, place) => places.findIndex((p) => Math.round(p) === place)).join(" ");

/** The kit's play button walks to the end of a slider; this slider's end depends on d. */
function carryOut(ui, total) {
  if (calm()) return;
  let timer = 0;
  const halt = () => {
    clearInterval(timer);
    ui.timers.delete(timer);
    timer = 0;
    button.setAttribute("aria-pressed", "false");
  };
  const button = ui.button("Carry it out", () => {
    if (timer) return halt();
    if (ui.state.step >= total()) ui.set({ step: 0 });
    timer = setInterval(
      () => (ui.state.step >= total() ? halt() : ui.set({ step: Math.floor(ui.state.step) + 1 })),
      700,
    );
    ui.timers.add(timer);
    button.setAttribute("aria-pressed", "true");
  });
  button.classList.add("rope-play");
  button.setAttribute("aria-pressed", "false");
}

function drawBoard(fig, { d }, { rows, columns, total, done }) {
  const side = Math.min(fig.width, fig.height),
    margin = 30,
    cell = (side - margin - 4) / d;
  const left = (fig.width - side) / 2 + margin,
    top = margin,
    gap = Math.min(2.5, cell * 0.08);
  const X = (name) => left + (columns[name] + 0.5) * cell,
    Y = (name) => top + (rows[name] + 0.5) * cell;
  const where = done >= total ? "interleaved" : done > 0 ? "on the way" : "half-split";
  fig.clear(
    `The rotation matrix for d = ${d}, ${where}. Rows from the top: ${order(rows)}. Columns from the ` +
      `left: ${order(columns)}.`,
  );
  fig.rect([left, top], [d * cell, d * cell], "hair");
  for (let name = 0; name < d; name++) {
    if (Math.abs(rows[name] - Math.round(rows[name])) > 0.02)
      fig.rect([left - margin, Y(name) - cell / 2], [margin + d * cell, cell], "soft");
    if (Math.abs(columns[name] - Math.round(columns[name])) > 0.02)
      fig.rect([X(name) - cell / 2, top - margin], [cell, margin + d * cell], "soft");
    const size = cell < 24 ? "tiny muted" : "small muted";
    fig.text([left - 14, Y(name) + 4], `$x_{${name}}$`, size);
    fig.text([X(name), top - 10], `$x_{${name}}$`, size);
  }
  // The four entries of a plane are the corners of a rectangle, wherever its two rows and columns stand.
  for (let i = 0; i < d / 2; i++) {
    const [a, b] = [2 * i, 2 * i + 1],
      xs = [X(a), X(b)],
      ys = [Y(a), Y(b)];
    fig.rect(
      [Math.min(...xs), Math.min(...ys)],
      [Math.abs(xs[1] - xs[0]), Math.abs(ys[1] - ys[0])],
      "line thin corner",
    );
  }
  for (let i = 0; i < d / 2; i++) {
    const [a, b] = [2 * i, 2 * i + 1];
    for (const [row, column, name, look] of [
      [a, a, "c", "fill linear"],
      [b, b, "c", "fill linear"],
      [b, a, "s", "fill conjugate"],
      [a, b, "−s", "paper conjugate"],
    ]) {
      fig.add("rect", {
        x: X(column) - cell / 2 + gap,
        y: Y(row) - cell / 2 + gap,
        width: cell - 2 * gap,
        height: cell - 2 * gap,
        rx: Math.min(4, cell * 0.15),
        class: look,
      });
      const text = cell < 34 ? `$${i}$` : `$${name}_${i}$`;
      fig.text(
        [X(column), Y(row) + (cell < 24 ? 4 : 5)],
        text,
        `${cell < 24 ? "tiny" : "small"} ${look.startsWith("paper") ? "conjugate" : "onfill"}`,
      );
    }
  }
}

const LOOKS = ["query", "key", "value", "output", "conjugate", "linear"];
function drawArcs(fig, { d }, { cycles }) {
  const unit = fig.width / d,
    X = (j) => (j + 0.5) * unit,
    middle = 98,
    lift = (span) => Math.min(74, 14 + 8.5 * Math.abs(span));
  const loops = cycles.filter((cycle) => cycle.length > 1);
  fig.clear(`Cycles: ${cycles.map((cycle) => cycle.join(" to ")).join("; ")}.`);
  loops.forEach((cycle, c) =>
    cycle.forEach((from, i) => {
      const to = cycle[(i + 1) % cycle.length],
        x = [X(from), X(to)],
        rise = lift(to - from),
        above = to > from;
      const y = middle + (above ? -11 : 11),
        peak = y + (above ? -1 : 1) * rise * 1.33;
      fig.add("path", {
        d: `M${x[0]} ${y}C${x[0]} ${peak} ${x[1]} ${peak} ${x[1]} ${y}`,
        class: `line ${LOOKS[c % LOOKS.length]} dash`,
      });
      const tip = above ? -1 : 1;
      fig.add("path", { d: `M${x[1]} ${y}l-4 ${tip * 8}h8Z`, class: `fill ${LOOKS[c % LOOKS.length]}` });
    }),
  );
  for (const [c, cycle] of [...loops, ...cycles.filter((one) => one.length === 1)].entries()) {
    for (const name of cycle)
      fig.text([X(name), middle + 5], `${name}`, `small ${c < loops.length ? LOOKS[c % LOOKS.length] : "muted"}`);
  }
}

export default widget({ compute, build, smooth: ["step"] });
