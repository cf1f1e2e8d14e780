import { number } from "../../show/widgets/draw.js";
import { widget } from "../../show/widgets/kit.js";

const D = 8,
  REACH = 32;
const frequencies = (d, base) => Array.from({ length: d / 2 }, (_, i) => base ** ((-2 * i) / d));
const half = (d) => Array.from({ length: d / 2 }, (_, i) => [i, i + d / 2]);
const neighbours = (d) => Array.from({ length: d / 2 }, (_, i) => [2 * i, 2 * i + 1]);
/** The two components of a plane, turned. */
const turned = (x, [a, b], angle) => [
  x[a] * Math.cos(angle) - x[b] * Math.sin(angle),
  x[a] * Math.sin(angle) + x[b] * Math.cos(angle),
];
const offsets = Array.from({ length: REACH + 1 }, (_, r) => r);

/** Root mean square error of a logit over random words, over the spread of the right one, at each offset. */
function meanError(d, base) {
  const theta = frequencies(d, base);
  return offsets.map((r) => {
    let overlap = 0; // the two matrices share their diagonals and no other entry
    for (let j = 0; j < d; j++) overlap += Math.cos(r * theta[Math.floor(j / 2)]) * Math.cos(r * theta[j % (d / 2)]);
    return Math.sqrt(Math.max(0, (2 * d - 2 * overlap) / d));
  });
}

/** Both heads: who is paired with whom, the turned hands, the logit now and at every offset. */
export function compute({ offset, start, words, weights, pairs, llama }) {
  const [q, k] = pairs[words - 1],
    theta = frequencies(D, 10000);
  const names = { trained: neighbours(D), run: weights === "permuted" ? neighbours(D) : half(D) };
  const hands = {},
    now = {},
    curves = {};
  for (const [head, planes] of Object.entries(names)) {
    const logit = (m, n) =>
      planes.reduce((sum, pair, i) => {
        const [u, v] = [turned(q, pair, m * theta[i]), turned(k, pair, n * theta[i])];
        return sum + u[0] * v[0] + u[1] * v[1];
      }, 0);
    hands[head] = planes.map((pair, i) => [
      turned(q, pair, start * theta[i]),
      turned(k, pair, (start + offset) * theta[i]),
    ]);
    now[head] = logit(start, start + offset);
    curves[head] = offsets.map((r) => logit(0, r));
  }
  const none = offsets.map(() => 0),
    right = weights === "permuted";
  return {
    names,
    hands,
    ...now,
    curves,
    mean: right ? none : meanError(D, 10000),
    mean_llama: right ? none : meanError(...llama),
  };
}

const HEADS = [
  ["trained", "one", "trained and run: interleaved"],
  ["run", "two", "same weights, half-split code"],
];

function build(ui) {
  const radius = (width) => Math.min(44, width / 8 - 5),
    row = (width) => 2 * radius(width) + 62;
  const faces = ui.figure({ label: "The planes of both heads", height: (width) => 2 * row(width) });
  const curves = ui.figure({ label: "Logit against offset, both heads", height: () => 210, host: ui.below });
  const mean = ui.figure({ label: "Error against offset, random words", height: () => 190, host: ui.below });
  const write = ui.readout({
    trained: "logit, as trained",
    run: "logit, half-split code",
    error: "error",
  });
  ui.slider("offset", { label: "offset $n-m$", step: 1 });
  ui.slider("start", { label: "query at position $m$", step: 1, look: "query" });
  ui.choice("weights", {
    label: "the second head's weights",
    options: { loaded: "as they are", permuted: "rows permuted" },
  });
  ui.slider("words", { label: "which pair of words", step: 1 });
  ui.tries({ "12 apart": { offset: 12 }, "12 apart, rows permuted": { offset: 12, weights: "permuted" } });

  return (state, values) => {
    const error = values.run - values.trained;
    write({
      trained: number(values.trained, 2),
      run: number(values.run, 2),
      error: ui.locked ? "?" : number(error, 2),
    });
    drawFaces(faces, state, values, radius(faces.width), row(faces.width));
    drawCurves(curves, state, values);
    drawMean(mean, state, values);
    ui.say(
      `Offset ${Math.round(state.offset)}: logit ${number(values.trained)} as trained, ` +
        `${number(values.run)} in half-split code.`,
    );
  };
}

function drawFaces(fig, { weights }, values, R, row) {
  const said = HEADS.map(([head]) => values.names[head].map((pair) => pair.join(" with ")).join(", "));
  fig.clear(
    `Two rows of four clock faces, each with the hand of the query and of the key. Trained: ${said[0]}. Run: ${said[1]}.`,
  );
  HEADS.forEach(([head, look, title], h) => {
    const top = h * row + 20,
      words = h && weights === "permuted" ? "rows permuted, half-split code" : title;
    fig.text([0, top], words, `small ${look}`, "start");
    values.hands[head].forEach(([q, k], i) => {
      const centre = [((i + 0.5) * fig.width) / 4, top + 12 + R];
      fig.circle(centre, R, "hair");
      for (const [hand, name] of [
        [k, "key"],
        [q, "query"],
      ]) {
        const tip = [centre[0] + (R / 1.45) * hand[0], centre[1] - (R / 1.45) * hand[1]];
        fig.hand(centre, tip, name);
      }
      fig.circle(centre, 2.5, "fill");
      const pair = values.names[head][i];
      const roomy = fig.width / 4 > 58; // else the words of one clock would run into those of the next
      fig.text([centre[0], centre[1] + R + 17], pair.join(roomy ? " with " : ", "), "small muted");
    });
  });
}

function drawCurves(fig, { offset }, { curves, trained, run }) {
  const top = Math.ceil(Math.max(...curves.trained.map(Math.abs), ...curves.run.map(Math.abs)));
  fig.clear(
    `The logit of the two words at offsets 0 to ${REACH}, as trained and in half-split code; ` +
      `at offset ${Math.round(offset)} ${number(trained)} and ${number(run)}.`,
  );
  const { X, Y } = fig.axes({
    x: [0, REACH],
    y: [-top, top],
    box: [36, 30, fig.width - 10, 166],
    yticks: [-top, 0, top],
    xlabel: "offset $n-m$",
    ylabel: "logit of these two words",
    at: 0,
  });
  for (const [head, look] of HEADS) {
    fig.path(
      curves[head].map((value, r) => [X(r), Y(value)]),
      `line ${look} ${head === "run" ? "dash" : ""}`,
    );
  }
  fig.line([X(offset), Y(trained)], [X(offset), Y(run)], "line wrong");
  fig.circle([X(offset), Y(trained)], 4.5, "fill one");
  fig.circle([X(offset), Y(run)], 4.5, "paper two");
}

function drawMean(fig, { offset }, { mean, mean_llama: llama }) {
  fig.clear(
    `The error over random words, over the spread of the logits: ${number(mean[Math.round(offset)])} at offset ` +
      `${Math.round(offset)} for this head, ${number(llama[Math.round(offset)])} for a head of Llama 3 8B.`,
  );
  const { X, Y } = fig.axes({
    x: [0, REACH],
    y: [0, 1.6],
    box: [36, 30, fig.width - 10, 146],
    yticks: [0, 0.5, 1, 1.5],
    xlabel: "offset $n-m$",
    ylabel: "error over random words ÷ spread of the logits",
  });
  fig.path(
    mean.map((value, r) => [X(r), Y(value)]),
    "line two dash",
  );
  fig.path(
    llama.map((value, r) => [X(r), Y(value)]),
    "line",
  );
  const at = Math.min(REACH, offset),
    low = Math.floor(at),
    high = Math.min(REACH, low + 1);
  const on = (line) => line[low] + (line[high] - line[low]) * (at - low);
  fig.circle([X(at), Y(on(mean))], 4.5, "paper two");
  fig.circle([X(at), Y(on(llama))], 4.5, "fill");
  if (llama[REACH]) {
    fig.text([X(REACH) - 4, Y(llama[REACH]) + 19], "a head of Llama 3 8B", "small", "end");
    fig.text([X(REACH) - 4, Y(mean[REACH]) + 18], "this head", "small two", "end");
  }
}

export default widget({ compute, build, smooth: ["offset", "start"] });
