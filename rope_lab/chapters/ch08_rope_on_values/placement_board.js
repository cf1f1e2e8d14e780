import { html, number } from "../../show/widgets/draw.js";
import { widget } from "../../show/widgets/kit.js";

const ROWS = ["", "qk", "q", "k"],
  COLUMNS = ["", "vo", "v", "o"],
  ROLES = "qkvo";

const turned = ([x, y], angle) => {
  const c = Math.cos(angle),
    s = Math.sin(angle);
  return [x * c - y * s, x * s + y * c];
};
const sum = (list) => list.reduce((a, b) => a + b, 0);

/** The last word's weights, the summands of its output, and the output, with the first word at this shift. */
function head({ query, content_k, content_v, theta, turn }, rotated, shift) {
  const m = shift + content_k.length - 1,
    has = (role) => rotated.includes(role);
  const q = turned(query, has("q") ? m * theta : 0),
    back = has("o") ? (turn === "back" ? -m : m) * theta : 0;
  const logits = content_k.map((key, n) => {
    const [x, y] = turned(key, has("k") ? (shift + n) * theta : 0);
    return q[0] * x + q[1] * y;
  });
  const placed = content_v.map((value, n) => turned(value, (has("v") ? (shift + n) * theta : 0) + back));
  const top = Math.max(...logits),
    share = logits.map((logit) => Math.exp(logit - top)),
    total = sum(share);
  const weights = share.map((each) => each / total);
  const arrived = placed.map(([x, y], n) => [weights[n] * x, weights[n] * y]);
  return { weights, arrived, output: [sum(arrived.map(([x]) => x)), sum(arrived.map(([, y]) => y))] };
}
function moved(home, now) {
  const [x, y] = home.output,
    [u, v] = now.output;
  return {
    weights_moved: Math.max(...now.weights.map((a, i) => Math.abs(a - home.weights[i]))),
    output_moved: Math.hypot(u - x, v - y),
    length_moved: Math.abs(Math.hypot(u, v) - Math.hypot(x, y)),
  };
}
function verdictOf(state, rotated) {
  const home = head(state, rotated, 0);
  const tests = Array.from({ length: state.last }, (_, i) => moved(home, head(state, rotated, i + 1)));
  const worst = (name) => Math.max(...tests.map((test) => test[name]));
  if (worst("weights_moved") > 1e-9) return "weights";
  return worst("output_moved") > 1e-9 ? "turned" : "same";
}
const placementOf = (state) => [...ROLES].filter((role) => state[role]).join("");

/** Weights and output now and at shift 0, and what twelve shifts do to each placement. */
export function compute(state) {
  const here = placementOf(state),
    home = head(state, here, 0),
    now = head(state, here, state.shift);
  return {
    ...now,
    home_weights: home.weights,
    home_output: home.output,
    ...moved(home, now),
    verdict: verdictOf(state, here),
    board: ROWS.map((row) => COLUMNS.map((column) => verdictOf(state, row + column))),
  };
}

const WORDS = {
  same: "Relative: no shift moves the weights or the output.",
  turned: "The weights stay. The output keeps its length and turns: its frame is absolute.",
  weights: "Absolute: the weights themselves move.",
};
const ALL = ROWS.flatMap((row) => COLUMNS.map((column) => row + column));
const nameOf = (placement) => placement.toUpperCase() || "none";

function build(ui) {
  const line = ui.figure({
    label: "Five words on a ruler of positions, each with the weight that the last word gives it",
    height: () => 176,
  });
  const plane = ui.figure({
    label: "The output of the last word as a chain of weighted values",
    height: (width) => Math.min(width * 0.78, 300),
  });
  const title = ui.panel.appendChild(html("p", { class: "rope-verdict" }));
  const board = ui.panel.appendChild(
    html("div", { class: "rope-board", role: "group", "aria-label": "What turns with its position" }),
  );
  const cells = ALL.map((placement) => {
    const choose = () => {
      const wanted = Object.fromEntries([...ROLES].map((role) => [role, placement.includes(role)]));
      ui.set({ ...wanted, shift: 0 }); // each one starts at home, so that its fate is seen and not told
    };
    const cell = ui.button("", choose, { host: board });
    cell.dataset.placement = placement;
    return cell;
  });
  for (const role of ROLES) ui.ranges[role] = [false, true];
  // A placement counts as tried once the sentence has moved under it.
  ui.model.on("change:shift", () => {
    const now = ui.state,
      bit = 1 << ALL.indexOf(placementOf(now));
    if (Math.round(now.shift) > 0 && !(now.tried & bit)) ui.set({ tried: now.tried | bit }, { now: true });
  });
  const count = ui.panel.appendChild(html("p", { class: "rope-note" }));
  ui.slider("shift", { label: "move the sentence along by", step: 1 });
  ui.play("shift", { label: "Walk it along", perSecond: 4 });
  const write = ui.readout({
    weights_moved: "weights moved by",
    output_moved: "output moved by",
    length_moved: "its length changed by",
  });
  const rare = ui.more("Two more switches");
  ui.choice("turn", { label: "a rotated output turns", options: { back: "back", on: "onward" }, host: rare });
  ui.button("Try all sixteen", () => ui.set({ tried: 2 ** ALL.length - 1 }), { host: rare });

  return (state, values) => {
    const here = placementOf(state),
      tried = ALL.map((_, i) => Boolean(state.tried & (1 << i))),
      fates = values.board.flat(),
      known = tried[ALL.indexOf(here)];
    const said = known ? WORDS[values.verdict] : "Move the sentence: what stays, and what turns?";
    title.textContent = `${here ? `Rotating ${nameOf(here)}` : "Rotating nothing"}. ${said}`;
    cells.forEach((cell, i) => {
      const fate = tried[i] ? fates[i] : "?";
      cell.replaceChildren(html("span", {}, nameOf(ALL[i])), html("small", {}, fate));
      cell.setAttribute("aria-label", `${nameOf(ALL[i])}: ${tried[i] ? fate : "not tried yet"}`);
      cell.setAttribute("aria-pressed", String(ALL[i] === here));
      cell.className = `rope-button fate-${tried[i] ? fate : "open"}`;
    });
    const same = fates.filter((fate, i) => tried[i] && fate === "same").length;
    count.textContent = `Tried ${tried.filter(Boolean).length} of 16. Of these, ${same} ${same === 1 ? "says" : "say"} same.`;
    write(
      Object.fromEntries(["weights_moved", "output_moved", "length_moved"].map((key) => [key, number(values[key], 3)])),
    );
    drawLine(ui, line, state, values);
    drawPlane(plane, state, values);
    ui.say(
      `Rotating ${nameOf(here)}, shift ${Math.round(state.shift)}. Weights moved by ` +
        `${number(values.weights_moved, 3)}, output by ${number(values.output_moved, 3)}. ${said}`,
    );
  };
}

function drawLine(ui, fig, { shift, content_k, last }, { weights, home_weights }) {
  const T = content_k.length,
    left = 14,
    unit = (fig.width - 2 * left) / (last + T),
    X = (p) => left + (p + 0.5) * unit;
  const floor = 116,
    tall = 84,
    w = unit * 0.74;
  fig.clear(
    `Words at positions ${Math.round(shift)} to ${Math.round(shift) + T - 1}. Weights: ` +
      `${weights.map((a) => number(a, 2)).join(", ")}; at shift 0: ` +
      `${home_weights.map((a) => number(a, 2)).join(", ")}.`,
  );
  fig.text([left, 14], "weights of the last word", "small muted", "start");
  fig.line([left, floor], [fig.width - left, floor], "axis");
  for (let p = 0; p < last + T; p += 2) {
    fig.line([X(p), floor], [X(p), floor + 4], "axis");
    fig.text([X(p), floor + 56], number(p, 0), "small muted");
  }
  const top = Math.max(0.5, ...weights, ...home_weights);
  weights.forEach((a, n) => {
    const x = X(shift + n),
      high = (b) => (tall * b) / top;
    fig.rect([x - w / 2, floor - high(a)], [w, high(a)], "fill one");
    if (shift) fig.rect([x - w / 2, floor - high(home_weights[n])], [w, high(home_weights[n])], "line dash ghost");
    fig.rect([x - w / 2, floor + 8], [w, 26], n === T - 1 ? "line query" : "line muted");
    fig.text([x, floor + 26], `${n + 1}`, n === T - 1 ? "small query" : "small");
  });
  fig.handle("shift", [X(shift + T - 1), floor + 21], ([x]) => {
    ui.set({ shift: ui.nearest("shift", (x - left) / unit - 0.5 - (T - 1)) }, { now: true });
  });
}

function drawPlane(fig, state, { arrived, output, home_output }) {
  const reach = Math.max(0.4, ...state.content_v.map(([x, y]) => Math.hypot(x, y))),
    R = fig.height / 2 - 14,
    unit = (R / reach) * 1.15;
  const at = ([x, y]) => [fig.width / 2 + x * unit, fig.height / 2 - y * unit];
  fig.clear(
    `Output ${output.map((x) => number(x, 2)).join(", ")}; at shift 0 ` +
      `${home_output.map((x) => number(x, 2)).join(", ")}. It is the sum of ${arrived.length} weighted ` +
      "values.",
  );
  fig.line([fig.width / 2 - R, fig.height / 2], [fig.width / 2 + R, fig.height / 2], "hair");
  fig.line([fig.width / 2, fig.height / 2 - R], [fig.width / 2, fig.height / 2 + R], "hair");
  fig.circle(at([0, 0]), Math.hypot(...home_output) * unit, "line muted thin dash ring");
  let tip = [0, 0];
  for (const [x, y] of arrived) {
    const next = [tip[0] + x, tip[1] + y];
    if (Math.hypot(x, y) > 0.01) fig.hand(at(tip), at(next), "value");
    tip = next;
  }
  fig.line(at([0, 0]), at(home_output), "muted dash ghosthand");
  fig.hand(at([0, 0]), at(output), "output");
  fig.circle(at([0, 0]), 3, "fill");
  fig.text([8, 16], "output of the last word", "small output", "start");
  fig.text([8, 34], "its weighted values", "small value", "start");
  fig.text([8, fig.height - 8], "dashed circle: at shift 0", "small muted", "start");
}

export default widget({ compute, build, smooth: ["shift"] });
