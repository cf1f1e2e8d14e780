import { html, number } from "./draw.js";
import { widget } from "./kit.js";

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
  const row = ui.panel.appendChild(
    html("div", { class: "rope-roles", role: "group", "aria-label": "What turns with its position" }),
  );
  for (const [role, look, name] of [
    ["q", "query", "query $q$"],
    ["k", "key", "key $k$"],
    ["v", "value", "value $v$"],
    ["o", "output", "output $o$"],
  ]) {
    ui.toggle(role, { label: name, host: row });
    row.lastElementChild.classList.add(look);
  }
  ui.slider("shift", { label: "move the sentence along by", step: 1 });
  ui.play("shift", { label: "Walk it along", perSecond: 4 });
  ui.choice("turn", { label: "a rotated output turns", options: { back: "back", on: "onward" } });
  const write = ui.readout({
    weights_moved: "weights moved by",
    output_moved: "output moved by",
    length_moved: "its length by",
  });
  const board = ui.figure({ label: "All sixteen placements", height: () => 232, host: ui.below });
  ui.below.append(
    html(
      "p",
      { class: "rope-note" },
      "The board: what shifts by 1 to 12 positions do to each placement. Rows: what turns in the logits. " +
        "Columns: what turns on the way of the values. The frame marks yours.",
    ),
  );

  return (state, values) => {
    const here = placementOf(state),
      name = here.toUpperCase() || "nothing";
    title.textContent = `${here ? `Rotating ${name}` : "Rotating nothing"}. ${WORDS[values.verdict]}`;
    write(
      Object.fromEntries(["weights_moved", "output_moved", "length_moved"].map((key) => [key, number(values[key], 3)])),
    );
    drawLine(ui, line, state, values);
    drawPlane(plane, state, values);
    drawBoard(board, here, values.board);
    ui.say(
      `Rotating ${name}, shift ${Math.round(state.shift)}. Weights moved by ` +
        `${number(values.weights_moved, 3)}, output by ${number(values.output_moved, 3)}. ` +
        `${WORDS[values.verdict]}`,
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
    fig.rect([x - w / 2, floor - high(a)], [w, high(a)], "fill linear");
    fig.rect([x - w / 2, floor - high(home_weights[n])], [w, high(home_weights[n])], "line dash ghost");
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
  fig.text([8, fig.height - 8], "dashed: at shift 0", "small muted", "start");
}

const NAMES = { "": "none", qk: "Q K", q: "Q", k: "K", vo: "V O", v: "V", o: "O" };
const MARK = { same: "same", turned: "turned", weights: "weights" };
function drawBoard(fig, here, board) {
  const left = 52,
    top = 30,
    w = Math.min(150, (fig.width - left - 4) / 4),
    h = 48;
  const rowOf = [...here].filter((role) => "qk".includes(role)).join(""),
    columnOf = [...here].filter((role) => "vo".includes(role)).join("");
  fig.clear(
    ROWS.flatMap((row, i) =>
      COLUMNS.map((column, j) => `${(row + column).toUpperCase() || "none"}: ${board[i][j]}`),
    ).join("; "),
  );
  COLUMNS.forEach((column, j) => fig.text([left + (j + 0.5) * w, top - 10], NAMES[column], "small"));
  ROWS.forEach((row, i) => {
    fig.text([left - 10, top + (i + 0.5) * h + 5], NAMES[row], "small", "end");
    COLUMNS.forEach((column, j) => {
      const what = board[i][j],
        mine = row === rowOf && column === columnOf,
        x = left + j * w,
        y = top + i * h;
      fig.rect(
        [x + 3, y + 3],
        [w - 6, h - 6],
        what === "same" ? "fill linear" : what === "turned" ? "soft conjugate" : "hair",
      );
      if (mine) fig.rect([x + 1, y + 1], [w - 2, h - 2], "line mine");
      fig.text(
        [x + w / 2, y + h / 2 + 5],
        MARK[what],
        what === "same" ? "small onfill" : what === "turned" ? "small conjugate" : "small muted",
      );
    });
  });
}

export default widget({ compute, build, smooth: ["shift"] });
