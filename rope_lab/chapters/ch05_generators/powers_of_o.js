import { html, number, rich } from "../../show/widgets/draw.js";
import { widget } from "../../show/widgets/kit.js";

const TURN = 2 * Math.PI;
const F = [
  [0, 0],
  [0, 1],
  [0.62, 1],
  [0.62, 0.78],
  [0.24, 0.78],
  [0.24, 0.56],
  [0.5, 0.56],
  [0.5, 0.34],
  [0.24, 0.34],
  [0.24, 0],
];

/** O^n, what is printed for it, and where the first axis goes. */
export function compute({ theta, n, mirror, wraps, span }) {
  const angle = theta + TURN * wraps,
    exists = Number.isInteger(n) || !mirror;
  const turn = (by) => [
    [Math.cos(by), -Math.sin(by)],
    [Math.sin(by), Math.cos(by)],
  ];
  const power = (k) => {
    if (!mirror) return turn(k * angle);
    return k % 2
      ? [
          [Math.cos(angle), Math.sin(angle)],
          [Math.sin(angle), -Math.cos(angle)],
        ]
      : [
          [1, 0],
          [0, 1],
        ];
  };
  const asPrinted = (k) => {
    // the mirror's power first, then the turn's
    const [[a, b], [c, d]] = turn(k * angle);
    return mirror && k % 2
      ? [
          [a, b],
          [-c, -d],
        ]
      : [
          [a, b],
          [c, d],
        ];
  };
  const nothing = [
    [0, 0],
    [0, 0],
  ];
  const matrix = exists ? power(n) : nothing,
    claimed = exists ? asPrinted(n) : nothing;
  return {
    exists,
    matrix,
    claimed,
    gap: Math.max(...matrix.flatMap((row, i) => row.map((x, j) => Math.abs(x - claimed[i][j])))),
    det: matrix[0][0] * matrix[1][1] - matrix[0][1] * matrix[1][0],
    tips: Array.from({ length: 2 * span + 1 }, (_, i) => power(i - span).map((row) => row[0])),
  };
}

const place = (n) => number(n, n % 1 ? 2 : 0);
const radians = (v) => `${number(v)} rad`;
const wrap = (angle) => Math.atan2(Math.sin(angle), Math.cos(angle));
const verdict = ({ n, mirror, printed }, { exists, gap }) => {
  if (!exists) return `No real matrix is $O^{${place(n)}}$. A mirror cannot be done in part.`;
  if (mirror && printed) {
    return gap > 1e-9
      ? `Printed (dashed) and true (filled) differ by up to ${number(gap)}.`
      : "Printed and true agree here.";
  }
  if (mirror)
    return n % 2
      ? `$O^{${place(n)}}$ is $O$ itself, whatever the angle.`
      : `$O^{${place(n)}}$ is $I$, whatever the angle.`;
  return Number.isInteger(n)
    ? `$O^{${place(n)}}$ turns by ${place(n)} times the angle.`
    : `Between whole powers: $O^{${place(n)}}$ exists too.`;
};

function build(ui) {
  const plane = ui.figure({ label: "The letter F under the powers of O", height: (width) => Math.min(width, 400) });
  const words = ui.stage.appendChild(html("p", { class: "rope-verdict" }));
  const strip = ui.figure({
    label: "First coordinate of the turned first axis, against the power",
    height: () => 200,
    host: ui.below,
  });
  const write = ui.readout({ angle: "angle per step", det: "determinant of $O^n$" });
  ui.slider("n", { label: "power $n$, in steps of ¼", step: 0.25, look: "one", show: place });
  ui.slider("theta", { label: "angle $θ$ of the turn", min: -3.14, max: 3.14, step: 0.01, show: radians });
  ui.toggle("mirror", { label: "a mirror first: $O = R_θ$ diag(1, −1)" });
  ui.slider("wraps", {
    label: "whole turns added to $θ$",
    step: 1,
    look: "two",
    show: (v) => number(v, 0),
  });
  ui.play("n", { label: "Walk through the powers", perSecond: 5 });
  const more = ui.more("A published formula");
  ui.toggle("printed", { label: "compare with it (dashed)", host: more });
  const miss = ui.readout({ gap: "it misses $O^n$ by" }, { host: more });
  ui.tries({ "half a mirror": { mirror: true, n: 0.5 }, "a mirror twice": { mirror: true, n: 2 } });

  return (state, values) => {
    const { mirror, printed, theta, wraps, n } = state;
    words.replaceChildren(...rich(verdict(state, values)));
    write({
      angle: wraps ? `${number(theta)} ${wraps > 0 ? "+" : "−"} ${Math.abs(wraps)}·2π` : radians(theta),
      det: values.exists ? number(values.det, 0) : "–",
    });
    miss({ gap: !mirror || !values.exists ? "–" : number(values.gap) });
    drawPlane(ui, plane, state, values);
    drawStrip(ui, strip, state, values);
    const gap = mirror && printed && values.exists ? ` The printed step differs by ${number(values.gap)}.` : "";
    ui.say(
      values.exists
        ? `Power ${place(n)}, ${wraps} whole turns added: determinant ${number(values.det, 0)}, first ` +
            `axis at ${number(values.matrix[0][0])}, ${number(values.matrix[1][0])}.${gap}`
        : `Power ${place(n)} of a mirror does not exist, angle ${number(theta)}, ${wraps} whole turns added`,
    );
  };
}

function drawPlane(ui, fig, { theta, n, mirror, printed, span }, { exists, matrix, claimed, tips }) {
  const R = Math.min(fig.width, fig.height) / 2 / 1.32,
    [cx, cy] = [fig.width / 2, fig.height / 2];
  const at = ([x, y]) => [cx + R * x, cy - R * y];
  const image = (M) => F.map(([x, y]) => at([M[0][0] * x + M[0][1] * y, M[1][0] * x + M[1][1] * y]));
  const shape = (points, look, attrs = {}) =>
    fig.add("path", {
      d: `M${points.map((p) => p.map((v) => v.toFixed(2)).join(" ")).join("L")}Z`,
      class: look,
      ...attrs,
    });
  fig.clear(
    exists
      ? `The letter F under O to the power ${place(n)}. The first axis points to ` +
          `${number(matrix[0][0])}, ${number(matrix[1][0])}.`
      : `O to the power ${place(n)} does not exist: no letter is drawn.`,
  );
  fig.circle([cx, cy], R, "hair");
  fig.line(at([-1.2, 0]), at([1.2, 0]), "hair");
  fig.line(at([0, -1.2]), at([0, 1.2]), "hair");
  if (mirror) {
    const [u, v] = [Math.cos(theta / 2), Math.sin(theta / 2)];
    fig.line(at([-1.25 * u, -1.25 * v]), at([1.25 * u, 1.25 * v]), "dash muted");
    const [x, y] = at([-0.92 * u, -0.92 * v]); // the words run along the line, within the circle
    fig
      .text([0, v < 0 ? -7 : 17], "mirror line", "small muted", "start")
      .setAttribute("transform", `translate(${x} ${y}) rotate(${(-90 * theta) / Math.PI})`);
  }
  for (let k = 1; k < Math.abs(n); k++) {
    // the whole powers on the way
    const M = compute({ theta, n: Math.sign(n) * k, mirror, wraps: 0 }).matrix;
    shape(image(M), "line thin muted faint");
  }
  shape(
    image([
      [1, 0],
      [0, 1],
    ]),
    "line thin muted",
  );
  const tip = tips[span + 1],
    close = R * Math.hypot(1.17 * tip[0] - 0.31, 1.17 * tip[1] - 1.06) < 40; // or its name would lie on the arrow's
  fig.text(at(close ? [-0.12, 0.62] : [0.31, 1.06]), "$O^0$", "small muted", close ? "end" : "middle");
  if (exists) {
    shape(image(matrix), "fill one", { "fill-opacity": 0.25 });
    shape(image(matrix), "line one");
    if (mirror && printed) shape(image(claimed), "line wrong", { "stroke-dasharray": "7 5" });
  }
  fig.hand(at([0, 0]), at(tip), "");
  fig.text(
    at([1.17 * tip[0], 1.17 * tip[1]]).map((c, i) => c + 5 * i),
    "$Oe_1$",
    "",
  );
  fig.handle("theta", at(tip), ([x, y]) => ui.set({ theta: wrap(Math.atan2(cy - y, x - cx)) }, { now: true }));
}

function drawStrip(ui, fig, { theta, n, mirror, wraps, span }, { exists, matrix, tips }) {
  const left = 36,
    right = fig.width - 12,
    bottom = fig.height - 46;
  fig.clear(
    mirror
      ? "Dots at whole powers only, and nothing between them."
      : "Dots at whole powers on a wave. " +
          `${wraps ? "The wave without the added turns goes through the same dots." : ""}`,
  );
  const { X, Y, curve } = fig.axes({
    x: [-span, span],
    y: [-1, 1],
    box: [left, 28, right, bottom],
    yticks: [-1, 0, 1],
    xticks: [-6, -4, -2, 0, 2, 4, 6],
    xlabel: "power $n$",
    ylabel: mirror ? "first entry of $O^n$: nothing between the dots" : "first entry of $O^n$",
    at: 0,
  });
  if (!mirror) {
    if (wraps) curve((x) => Math.cos(x * theta), "line thin dash muted");
    curve((x) => Math.cos(x * (theta + TURN * wraps)), "line thin", 6 * Math.ceil(right - left));
  }
  tips.forEach(([x], i) => fig.circle([X(i - span), Y(x)], 3.5, "fill"));
  const here = [X(n), Y(exists ? matrix[0][0] : 0)];
  if (exists) {
    fig.circle(here, 7.5, "paper one");
    fig.circle(here, 4, "fill one");
  } else fig.text([here[0], here[1] + 5], "×", "large wrong");
  fig.handle("n", here, ([x]) => {
    const wish = -span + ((x - left) / (right - left)) * 2 * span;
    ui.set({ n: ui.nearest("n", wish) }, { now: true });
  });
}

export default widget({ compute, build, smooth: ["theta"] });
