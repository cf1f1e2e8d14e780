import { html, number } from "../../show/widgets/draw.js";
import { widget } from "../../show/widgets/kit.js";

const ENTRIES = ["b21", "b31", "b41", "b32", "b42", "b43"];

/** Both halves of B, from the six entries: their lengths, and a function from t to the matrix e^(tB). */
function family({ b21, b31, b41, b32, b42, b43 }) {
  const u = [b21 + b43, b31 - b42, b41 + b32],
    v = [b21 - b43, b31 + b42, b41 - b32];
  const plus = Math.hypot(...u),
    minus = Math.hypot(...v);
  const skew = ([x, y, z], sign) => [
    [0, -x / 2, -y / 2, -z / 2],
    [x / 2, 0, (-sign * z) / 2, (sign * y) / 2],
    [y / 2, (sign * z) / 2, 0, (-sign * x) / 2],
    [z / 2, (-sign * y) / 2, (sign * x) / 2, 0],
  ];
  const S = skew(u, 1),
    A = skew(v, -1);
  const half = (matrix, speed, t) => {
    const c = Math.cos(speed * t),
      s = speed > 1e-12 ? Math.sin(speed * t) / speed : t;
    return matrix.map((row, i) => row.map((x, j) => (i === j ? c : 0) + s * x));
  };
  const at = (t) => {
    const one = half(S, plus / 2, t),
      other = half(A, minus / 2, t);
    return one.map((row) => [0, 1, 2, 3].map((j) => row.reduce((sum, x, k) => sum + x * other[k][j], 0)));
  };
  return { plus, minus, at };
}
const moved = (matrix) => matrix.map((row) => (row[0] + row[2]) / Math.SQRT2);

/** The two speeds, and where the point is. */
export function compute(state) {
  const { plus, minus, at } = family(state),
    matrix = at(state.t),
    point = moved(matrix);
  return {
    angles: [(plus + minus) / 2, Math.abs(plus - minus) / 2],
    halves: [plus, minus],
    matrix,
    point,
    logit: (point[0] + point[2]) / Math.SQRT2,
  };
}

const PRESETS = {
  "RoPE: two planes": [1, 0, 0, 0, 0, 0.3],
  "equal speeds": [0.6, 0, 0, 0, 0, 0.6],
  "one plane rests": [0.8, 0, 0, 0, 0, 0],
  "planes off the axes": [0.5, -0.6, 0.35, 0.4, 0.7, -0.2],
};
const speed = (v) => `${number(v, 2)} rad`;

function build(ui) {
  const orbit = ui.figure({
    label: "The orbit of a point in four dimensions, three of them drawn",
    height: (width) => Math.min(width, 430),
  });
  const strip = ui.figure({
    label: "Logit of an equal query and key against their offset",
    height: () => 200,
    host: ui.below,
  });
  const write = ui.readout({
    first: "faster speed $θ_0$",
    second: "slower speed $θ_1$",
    halves: "$r_+$ and $r_-$",
    logit: "logit of equal $q$ and $k$",
  });
  const row = html("div", { class: "rope-presets" });
  ui.panel.prepend(row);
  for (const [name, values] of Object.entries(PRESETS)) {
    ui.button(name, () => ui.set(Object.fromEntries(ENTRIES.map((entry, i) => [entry, values[i]]))), { host: row });
  }
  ui.slider("t", { label: "position $t$", step: 0.1, look: "two", show: (v) => number(v, 1) });
  ui.play("t", { label: "Walk along", perSecond: 20, stride: 1 });
  const discs = ui.figure({ label: "The two planes, each with its own speed", height: () => 150, host: ui.panel });
  const more = ui.more("The six entries of $B$, and the view");
  const grid = more.appendChild(html("div", { class: "rope-six" }));
  for (const name of ENTRIES) ui.slider(name, { label: `$b_{${name.slice(1)}}$`, step: 0.05, host: grid });
  ui.slider("view", { label: "look from the side", step: 0.02, show: (v) => `${number(v)} rad`, host: more });

  return (state, values) => {
    const [first, second] = values.angles;
    write({
      first: speed(first),
      second: speed(second),
      halves: values.halves.map((r) => number(r, 2)).join(" and "),
      logit: number(values.logit, 3),
    });
    drawOrbit(orbit, state, values);
    drawDiscs(discs, state, values);
    drawStrip(ui, strip, state, values);
    ui.say(
      `Speeds ${number(first)} and ${number(second)} radians per position; at position ` +
        `${number(state.t, 1)} the logit is ${number(values.logit)}`,
    );
  };
}

function drawOrbit(fig, state, { angles, point }) {
  const { at } = family(state),
    R = Math.min(fig.width, fig.height) / 2 - 26,
    [cx, cy] = [fig.width / 2, fig.height / 2];
  const [c, s] = [Math.cos(state.view), Math.sin(state.view)],
    tilt = 0.42;
  // The first two coordinates lie on the ground, the third stands up; the fourth is not drawn.
  const project = ([x, y, z]) => {
    const across = c * x - s * y,
      depth = s * x + c * y;
    return [cx + R * across, cy - R * (Math.cos(tilt) * z + Math.sin(tilt) * depth)];
  };
  fig.clear(
    `The orbit up to position ${number(state.t, 1)}, with a dot at each whole position. The speeds ` +
      `are ${number(angles[0])} and ${number(angles[1])}.`,
  );
  fig.circle([cx, cy], R, "hair");
  const onAxis = (i, far) => project([0, 1, 2].map((k) => (k === i ? far : 0)));
  for (const i of [0, 1, 2]) fig.line(project([0, 0, 0]), onAxis(i, 1), "axis");
  const steps = Math.max(2, Math.ceil(state.t * Math.max(8, 10 * angles[0])));
  const path = Array.from({ length: steps + 1 }, (_, i) => project(moved(at((state.t * i) / steps))));
  fig.path(path, "line one thin");
  for (let n = 0; n <= state.t; n++) fig.circle(project(moved(at(n))), 2.6, "fill one");
  const start = project(moved(at(0))),
    here = project(point);
  fig.circle(start, 6, "paper one");
  fig.circle(here, 7, "paper two");
  fig.circle(here, 3.5, "fill two");
  ["x_1", "x_2", "x_3"].forEach((name, i) => {
    const [x, y] = onAxis(i, 1.17);
    fig.text([x, y + 5], `$${name}$`, "small muted"); // over the orbit, so that its halo parts the two
  });
  fig.text([start[0], start[1] - 12], "start", "small one");
}

/** In its own plane a point goes round a circle: two hands, two speeds. */
function drawDiscs(fig, { t }, { angles }) {
  const r = Math.min(50, fig.width / 5);
  fig.clear(`At position ${number(t, 1)} the planes have turned by ${angles.map((a) => number(a * t)).join(" and ")}.`);
  angles.forEach((angle, i) => {
    const [cx, cy] = [fig.width * (0.27 + 0.46 * i), r + 8];
    fig.circle([cx, cy], r, "hair");
    fig.line([cx, cy], [cx + r, cy], "hair");
    fig.hand([cx, cy], [cx + r * Math.cos(angle * t), cy - r * Math.sin(angle * t)], i ? "two" : "one");
    const turns = `${number((angle * t) / (2 * Math.PI), 1)} turns`;
    fig.text([cx, cy + r + 20], `${i ? "slower" : "faster"} plane`, `small ${i ? "two" : "one"}`);
    fig.text([cx, cy + r + 37], turns, "small muted");
  });
}

function drawStrip(ui, fig, state, { logit }) {
  const left = 36,
    right = fig.width - 10,
    bottom = fig.height - 44,
    longest = ui.limits.t[1],
    { at } = family(state);
  const of = (t) => {
    const [x, , z] = moved(at(t));
    return (x + z) / Math.SQRT2;
  };
  fig.clear(
    `The logit of an equal query and key against their offset, from 0 to ${longest}; ` +
      `${number(logit)} at ${number(state.t, 1)}.`,
  );
  const { X, Y, curve } = fig.axes({
    x: [0, longest],
    y: [-1, 1],
    box: [left, 26, right, bottom],
    yticks: [-1, 0, 1],
    xlabel: "position $t$",
    ylabel: "logit $x^⊤e^{tB}x$",
    at: 0,
  });
  curve(of, "line one");
  for (let n = 0; n <= longest; n++) fig.circle([X(n), Y(of(n))], 2.4, "fill one");
  const here = [X(state.t), Y(logit)];
  fig.line([here[0], Y(0)], here, "thin two");
  fig.circle(here, 7, "paper two");
  fig.circle(here, 3.5, "fill two");
  fig.handle("t", here, ([x]) => {
    const wish = ((x - left) / (right - left)) * longest;
    ui.set({ t: ui.nearest("t", wish) }, { now: true });
  });
}

export default widget({ compute, build, smooth: [...ENTRIES, "t", "view"] });
