import { number } from "../../show/widgets/draw.js";
import { widget } from "../../show/widgets/kit.js";

const F = [
  [0.15, 0.1],
  [0.15, 1],
  [0.75, 1],
  [0.75, 0.8],
  [0.37, 0.8],
  [0.37, 0.6],
  [0.65, 0.6],
  [0.65, 0.4],
  [0.37, 0.4],
  [0.37, 0.1],
];
const TURN = 2 * Math.PI;

/** The map shown, and what is in both parts of the whole. */
export function compute({ a0, a1, a2, a3, part }) {
  const plus = part === "conjugate" ? 0 : 1,
    minus = part === "linear" ? 0 : 1;
  const A = plus * Math.hypot(a0, a2),
    B = minus * Math.hypot(a3, a1);
  return {
    matrix: [plus * a0 + minus * a3, minus * a1 - plus * a2, minus * a1 + plus * a2, plus * a0 - minus * a3],
    linear: 2 * (a0 ** 2 + a2 ** 2),
    conjugate: 2 * (a1 ** 2 + a3 ** 2),
    determinant: A * A - B * B,
    axes: [A + B, Math.abs(A - B)],
  };
}

const percent = (part, total) => (total > 1e-9 ? `${Math.round((100 * part) / total)}\u00a0%` : "–");

/** The coordinates for which the image of e1 (or of e2) is the point dragged to, in the view that is shown. */
function dragged(part, [p, q, r, s], which, [u, v]) {
  if (part === "linear") return which === "e1" ? { a0: u, a2: v } : { a0: v, a2: -u };
  if (part === "conjugate") return which === "e1" ? { a3: u, a1: v } : { a3: -v, a1: u };
  const [P, Q, R, S] = which === "e1" ? [u, q, v, s] : [p, u, r, v];
  return { a0: (P + S) / 2, a3: (P - S) / 2, a1: (R + Q) / 2, a2: (R - Q) / 2 };
}

function build(ui) {
  const board = ui.figure({ label: "The letter F and its image", height: (width) => Math.min(width, 400) });
  const bar = ui.figure({ label: "Energy in both parts of the map", height: () => 92, host: ui.below });
  ui.choice("part", {
    label: "show",
    options: { whole: "whole map", linear: "complex-linear", conjugate: "conjugate" },
  });
  for (const [name, label, look] of [
    ["a0", "identity, $a_0$ of $σ_0$", "linear"],
    ["a2", "quarter turn, $a_2$ of $σ_2$", "linear"],
    ["a1", "mirror at 45°, $a_1$ of $σ_1$", "conjugate"],
    ["a3", "mirror at the first axis, $a_3$ of $σ_3$", "conjugate"],
  ])
    ui.slider(name, { label, step: 0.01, look });
  ui.tries({
    "a turn": { a0: 0.7, a1: 0, a2: 0.7, a3: 0 },
    "a mirror": { a0: 0, a1: 0.7, a2: 0, a3: 0.7 },
    "half of each": { a0: 0.5, a1: 0, a2: 0, a3: 0.5 },
  });
  const write = ui.readout({ axes: "half axes of the ellipse", determinant: "determinant" });

  return (state, values) => {
    const { linear, conjugate, determinant, axes } = values,
      total = linear + conjugate;
    const sense = Math.abs(determinant) < 5e-3 ? "flat" : determinant < 0 ? "mirrored" : "not mirrored";
    write({ axes: `${number(axes[0])} and ${number(axes[1])}`, determinant: `${number(determinant)}, ${sense}` });
    drawBoard(ui, board, values, sense);
    drawBar(bar, state, values);
    ui.say(
      `${percent(linear, total)} of the energy is complex-linear; the letter shown is ${sense}, half ` +
        `axes ${number(axes[0])} and ${number(axes[1])}`,
    );
  };
}

function drawBoard(ui, fig, { matrix: [p, q, r, s], axes }, sense) {
  const side = Math.max(1.7, 0.2 + 1.3 * axes[0]); // half the board: the image of the letter fits
  const [cx, cy] = [fig.width / 2, fig.height / 2],
    scale = (Math.min(fig.width, fig.height) / 2 - 6) / side;
  const at = ([x, y]) => [cx + scale * x, cy - scale * y],
    map = ([x, y]) => [p * x + q * y, r * x + s * y];
  const closed = (points) =>
    `M${points
      .map((point) =>
        at(point)
          .map((c) => c.toFixed(2))
          .join(" "),
      )
      .join("L")}Z`;
  fig.clear(
    `The letter F and its image, ${sense}; the unit circle becomes an ellipse with half axes ` +
      `${number(axes[0])} and ${number(axes[1])}.`,
  );
  fig.line([cx - scale * side, cy], [cx + scale * side, cy], "hair");
  fig.line([cx, cy - scale * side], [cx, cy + scale * side], "hair");
  const circle = Array.from({ length: 97 }, (_, i) => [Math.cos((i * TURN) / 96), Math.sin((i * TURN) / 96)]);
  fig.path(circle.map(at), "hair");
  fig.path(circle.map(map).map(at), "line thin muted dash");
  fig.add("path", { d: closed(F), class: "line thin muted" });
  fig.add("path", { d: closed(F.map(map)), class: "soft one" });
  fig.add("path", { d: closed(F.map(map)), class: "line one" });
  for (const [name, from, to] of [
    ["e1", [1, 0], [p, r]],
    ["e2", [0, 1], [q, s]],
  ]) {
    fig.line(at([0, 0]), at(from), "thin faint");
    fig.hand(at([0, 0]), at(to), name === "e1" ? "" : "muted");
    const length = Math.hypot(...to) || 1,
      away = to.map((c, i) => c + (20 * c + 14 * (i ? to[0] : -to[1])) / (length * scale)); // beside an axis, not on it
    const [tx, ty] = at(away);
    fig.text([tx, ty + 5], `$M e_${name[1]}$`, name === "e1" ? "" : "muted");
  }
  fig.circle([cx, cy], 3.5, "fill");
  for (const [name, to] of [
    ["e2", [q, s]],
    ["e1", [p, r]],
  ]) {
    fig.handle(name, at(to), ([X, Y]) => {
      const patch = dragged(ui.state.part, compute(ui.state).matrix, name, [(X - cx) / scale, (cy - Y) / scale]);
      ui.set(Object.fromEntries(Object.entries(patch).map(([key, v]) => [key, ui.nearest(key, v)])), { now: true });
    });
  }
}

function drawBar(fig, { part }, { linear, conjugate }) {
  const total = linear + conjugate,
    left = 2,
    width = fig.width - 4,
    cut = total > 1e-9 ? (width * linear) / total : 0;
  fig.clear(
    `${percent(linear, total)} of the energy is complex-linear, ${percent(conjugate, total)} conjugate-linear.`,
  );
  fig.text([left, 16], `complex-linear ${percent(linear, total)}`, "small linear", "start");
  fig.text([left + width, 84], `conjugate-linear ${percent(conjugate, total)}`, "small conjugate", "end");
  fig.rect([left, 28], [cut, 34], `fill linear${part === "conjugate" ? " faint" : ""}`);
  fig.rect([left + cut, 28], [width - cut, 34], `soft conjugate${part === "linear" ? " faint" : ""}`);
  fig.rect([left + cut, 28], [width - cut, 34], `line conjugate${part === "linear" ? " faint" : ""}`);
}

export default widget({ compute, build, smooth: ["a0", "a1", "a2", "a3"] });
