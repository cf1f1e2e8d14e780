import { number } from "../../show/widgets/draw.js";
import { widget } from "../../show/widgets/kit.js";

const dot = (a, b) => a.reduce((sum, x, i) => sum + x * b[i], 0);
const changes = (values) => {
  const signs = values.filter((v) => Math.abs(v) > 1e-12).map((v) => v > 0);
  return signs.slice(1).filter((s, i) => s !== signs[i]).length;
};

/** Elimination without pivots: the matrix is positive definite and at most 3 x 3. */
function solve(matrix, right) {
  const rows = matrix.map((row, i) => [...row, right[i]]),
    found = rows.map(() => 0);
  rows.forEach((pivot, i) => {
    for (const row of rows.slice(i + 1)) {
      const factor = row[i] / pivot[i];
      for (let k = i; k < row.length; k++) row[k] -= factor * pivot[k];
    }
  });
  for (let i = rows.length - 1; i >= 0; i--) {
    let known = 0;
    for (let k = i + 1; k < rows.length; k++) known += rows[i][k] * found[k];
    found[i] = (rows[i].at(-1) - known) / rows[i][i];
  }
  return found;
}

/** The powers of a complex decay, and the real decays that try to follow. */
export function compute({ gamma, theta, decays, n: now, steps, rates }) {
  const times = Array.from({ length: steps }, (_, n) => n);
  const power = (n) => [gamma ** n * Math.cos(n * theta), -(gamma ** n) * Math.sin(n * theta)];
  const spiral = times.map(power);
  const kernel = spiral.map(([x]) => x);
  const powers = rates.slice(0, Number(decays)).map((rate) => times.map((n) => (gamma * rate) ** n));
  const weights = solve(
    powers.map((a) => powers.map((b) => dot(a, b))),
    powers.map((a) => dot(a, kernel)),
  );
  const fit = times.map((n) => weights.reduce((sum, w, k) => sum + w * powers[k][n], 0));
  const missed = kernel.map((k, n) => k - fit[n]);
  return {
    spiral,
    now: power(now),
    fit,
    changes: changes(kernel),
    fit_changes: changes(fit),
    missed: Math.sqrt(dot(missed, missed) / dot(kernel, kernel)),
  };
}

function build(ui) {
  const plane = ui.figure({
    label: "The powers of the complex decay in the plane",
    height: (width) => Math.min(width, 360),
  });
  const time = ui.figure({
    label: "Real part of the response over time, and the sum of positive decays",
    height: () => 340,
    host: ui.below,
  });
  const write = ui.readout({
    left: "left of the value: length, real part",
    changes: `sign changes in ${ui.state.steps} steps`,
    fit_changes: "sign changes of the positive decays",
    missed: "of the curve they miss",
  });
  ui.slider("n", { label: "steps since the value came in, $n$", step: 1, look: "value" });
  ui.play("n", { label: "Step by step", perSecond: 5 });
  ui.slider("gamma", { label: "decay $γ$", step: 0.005, look: "one", show: (v) => number(v, 3) });
  ui.slider("theta", {
    label: "turn $θ$ per step",
    min: 0,
    max: 3.14,
    step: 0.01,
    look: "one",
    show: (v) => number(v, 2),
  });
  ui.tries({ "no turn": { theta: 0 }, "a quarter turn": { theta: 1.57 }, "no decay": { gamma: 1, theta: 0.6 } });
  ui.choice("decays", { label: "positive decays that try to follow", options: { 1: "1", 2: "2", 3: "3" } });

  return (state, values) => {
    const missed = `${Math.round(100 * values.missed)}\u00a0%`;
    write({
      left: `${number(Math.hypot(...values.now), 3)}, ${number(values.now[0], 3)}`,
      changes: String(values.changes),
      fit_changes: String(values.fit_changes),
      missed,
    });
    drawPlane(ui, plane, state, values);
    drawTime(time, state, values);
    ui.say(
      `Decay ${number(state.gamma, 3)}, turn ${number(state.theta, 2)}: ${values.changes} sign ` +
        `changes. ${state.decays} positive decays: ${values.fit_changes}, and they miss ${missed}. After ` +
        `${Math.round(state.n)} steps the value has length ${number(Math.hypot(...values.now), 3)}`,
    );
  };
}

function drawPlane(ui, fig, { gamma, n: step }, { spiral, now }) {
  const r = Math.min(fig.width, fig.height) / 2 - 36,
    cx = fig.width / 2,
    cy = fig.height / 2;
  const at = ([x, y]) => [cx + r * x, cy - r * y];
  fig.clear(
    `From 1 on the right, the powers wind clockwise towards the origin; each is ${number(gamma, 3)} ` +
      `times as long as the one before. The arrow stands at step ${Math.round(step)}.`,
  );
  fig.circle([cx, cy], r, "hair");
  fig.line([cx - r - 8, cy], [cx + r + 8, cy], "axis");
  fig.line([cx, cy - r - 8], [cx, cy + r + 8], "axis");
  fig.path(spiral.map(at), "line thin one");
  spiral.forEach((point, n) => fig.circle(at(point), n < 2 ? 4.5 : 2.6, "fill one"));
  fig.text([cx + r + 9, cy - 8], "1", "small", "start");
  fig.hand([cx, cy], at(now), "value");
  fig.text([cx - r - 8, cy - r - 14], `the value after ${Math.round(step)} steps`, "small value", "start");
  const next = at(spiral[1]),
    [x, y] = spiral[1],
    off = 1 + 30 / r / Math.hypot(x, y), // outwards: the powers wind inwards
    name = at([off * x, off * y]);
  fig.circle(next, 8, "paper one");
  fig.circle(next, 4, "fill one");
  const inside = Math.max(24, Math.min(fig.width - 20, name[0])); // and lower by as much, clear of the mark
  fig.text([inside, name[1] + 12 + Math.abs(name[0] - inside)], "$γe^{-iθ}$", "one");
  fig.handle("rate", next, ([x, y]) => {
    const length = Math.hypot(x - cx, y - cy) / r;
    const angle = Math.atan2(y - cy, x - cx);
    const theta = angle < -Math.PI / 2 ? Math.PI : angle; // beyond the half turn the end of the range is nearest
    ui.set({ gamma: ui.nearest("gamma", length), theta: ui.nearest("theta", theta) }, { now: true });
  });
}

function drawTime(fig, { decays, steps, n: step }, { spiral, now, fit, changes: many, fit_changes: few }) {
  const left = 36,
    right = fig.width - 10,
    top = 40,
    bottom = fig.height - 44;
  fig.clear(
    `The real part changes sign ${many} times in ${steps} steps; the sum of ${decays} positive decays ${few} times.`,
  );
  const { X, Y } = fig.axes({
    x: [0, steps - 1],
    y: [-1, 2], // a sum of positive decays stays within
    box: [left, top, right, bottom],
    yticks: [-1, 0, 1, 2],
    xlabel: "step $r$",
    at: 0,
  });
  fig.path(
    fit.map((v, n) => [X(n), Y(v)]),
    "line dash two",
  );
  spiral.forEach(([x], n) => {
    fig.line([X(n), Y(0)], [X(n), Y(x)], "thin one");
    fig.circle([X(n), Y(x)], 3, "fill one");
  });
  if (step > 0.5) fig.circle([X(step), Y(now[0])], 6.5, "line value");
  fig.circle([left + 6, 12], 3, "fill one");
  fig.text([left + 14, 17], "$γ^r$ cos $rθ$", "small one", "start");
  // Where a phone is too narrow for both, the second name stands under the first.
  const [across, down] = fig.width < 320 ? [0, 18] : [100, 0];
  fig.line([left + across, 12 + down], [left + across + 28, 12 + down], "dash two");
  const decaying = decays === "1" ? "a positive decay" : `${decays} positive decays`;
  fig.text([left + across + 34, 17 + down], decaying, "small two", "start");
}

export default widget({ compute, build, smooth: ["gamma", "theta", "n"] });
