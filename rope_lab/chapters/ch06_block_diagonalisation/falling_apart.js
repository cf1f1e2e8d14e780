import { html, number } from "../../show/widgets/draw.js";
import { widget } from "../../show/widgets/kit.js";

const NAMES = ["b12", "b13", "b14", "b23", "b24", "b34"],
  PAIRS = [
    [0, 1],
    [0, 2],
    [0, 3],
    [1, 2],
    [1, 3],
    [2, 3],
  ];
const DIMS = [0, 1, 2, 3];
const times = (left, right) =>
  left.map((row) => right[0].map((_, j) => row.reduce((sum, x, k) => sum + x * right[k][j], 0)));
const apply = (matrix, v) => matrix.map((row) => row.reduce((sum, x, k) => sum + x * v[k], 0));
const transpose = (matrix) => matrix[0].map((_, j) => matrix.map((row) => row[j]));
const one = () => DIMS.map((i) => DIMS.map((j) => Number(i === j)));
const unit = (v) => {
  const length = Math.sqrt(v.reduce((sum, x) => sum + x * x, 0));
  return v.map((x) => x / length);
};

function longest(projection) {
  const lean = DIMS.map((i) => projection[i][i]),
    most = Math.max(...lean);
  const j = lean.findIndex((size) => size > (1 - 1e-6) * most);
  return unit(projection.map((row) => row[j]));
}
function cross(a, b, c) {
  const det = (i, j, k) =>
    a[i] * (b[j] * c[k] - b[k] * c[j]) - a[j] * (b[i] * c[k] - b[k] * c[i]) + a[k] * (b[i] * c[j] - b[j] * c[i]);
  return [-det(1, 2, 3), det(0, 2, 3), -det(0, 1, 3), det(0, 1, 2)];
}
/** P with determinant 1, and the two speeds, in closed form. */
function planes(B) {
  const total = PAIRS.reduce((sum, [i, j]) => sum + B[i][j] ** 2, 0);
  if (total < 1e-18) return [one(), [0, 0]];
  const pfaffian = Math.abs(B[0][1] * B[2][3] - B[0][2] * B[1][3] + B[0][3] * B[1][2]);
  let gap = Math.sqrt(Math.max(0, total - 2 * pfaffian)) * Math.sqrt(total + 2 * pfaffian);
  if (gap < 1e-6 * total) gap = 0;
  const square = times(B, B),
    slow = (total - gap) / 2,
    I = one();
  const first = gap === 0 ? I : I.map((row, i) => row.map((x, j) => -(square[i][j] + slow * x) / gap));
  const u = longest(first),
    v = unit(apply(B, u));
  const w = longest(I.map((row, i) => row.map((x, j) => x - u[i] * u[j] - v[i] * v[j])));
  const z = cross(u, v, w),
    Bw = apply(B, w);
  return [transpose([u, v, w, z]), [Math.sqrt((total + gap) / 2), z.reduce((sum, x, i) => sum + x * Bw[i], 0)]];
}
/** P as six turns of coordinate planes, each done to the share s. */
function onTheWay(P, s) {
  const left = P.map((row) => [...row]),
    turns = [],
    S = one();
  for (let column = 0; column < 3; column++) {
    for (let row = 3; row > column; row--) {
      const angle = Math.atan2(left[row][column], left[row - 1][column]),
        c = Math.cos(angle),
        d = Math.sin(angle);
      const above = left[row - 1],
        below = left[row];
      left[row - 1] = above.map((a, j) => c * a + d * below[j]);
      left[row] = above.map((a, j) => c * below[j] - d * a);
      turns.push([row, angle]);
    }
  }
  for (const [row, angle] of turns.reverse()) {
    const c = Math.cos(s * angle),
      d = Math.sin(s * angle),
      above = S[row - 1],
      below = S[row];
    S[row - 1] = above.map((a, j) => c * a - d * below[j]);
    S[row] = above.map((a, j) => d * a + c * below[j]);
  }
  return S;
}
const turned = (start, theta, t) =>
  theta.flatMap((speed, plane) => {
    const u = start[2 * plane],
      v = start[2 * plane + 1],
      c = Math.cos(t * speed),
      d = Math.sin(t * speed);
    return [u * c - v * d, u * d + v * c];
  });

/** The orbit's point in the given coordinates and in the basis S. */
export function compute(state) {
  const B = DIMS.map(() => [0, 0, 0, 0]);
  PAIRS.forEach(([i, j], k) => {
    B[i][j] = state[NAMES[k]];
    B[j][i] = -state[NAMES[k]];
  });
  const [P, theta] = planes(B),
    S = onTheWay(P, state.s);
  const start = apply(transpose(P), [state.x1, state.x2, ...state.rest]),
    x = apply(P, turned(start, theta, state.t));
  const seen = times(transpose(S), times(B, S));
  return {
    theta,
    P,
    S,
    seen,
    outside: Math.max(...[0, 1].flatMap((i) => [2, 3].map((j) => Math.abs(seen[i][j])))),
    x,
    y: apply(transpose(S), x),
    start,
    radii: [Math.hypot(start[0], start[1]), Math.hypot(start[2], start[3])],
  };
}

const PRESETS = {
  "Another B": () => NAMES.map(() => Math.round((Math.random() * 2 - 1) * 10) / 10),
  "Equal speeds": () => [0.5, 0.4, -0.3, -0.3, -0.4, 0.5],
  "One plane at rest": () => [0.7, -0.5, 0, 0.6, 0, 0],
  "Blocks already": () => [-1.2, 0, 0, 0, 0, -0.3],
};

function build(ui) {
  const fig = ui.figure({
    label: "The orbit in four dimensions, as two pictures for each basis",
    height: (width) => 2 * cell(width) + 72,
  });
  const words = ui.stage.appendChild(html("p", { class: "rope-verdict" }));
  ui.slider("s", {
    label: "turn of the axes: as given (0), along the planes (1)",
    step: 0.01,
    look: "two",
    show: (v) => (v === 1 ? "$P$" : number(v)),
  });
  ui.play("s", { label: "Turn the basis", seconds: 3, stride: 0.25 });
  ui.slider("t", { label: "time $t$", step: 0.1, look: "one", show: (v) => number(v, 1) });
  ui.play("t", { label: "Let it run", perSecond: 30 });
  const table = ui.figure({ label: "The matrix B in the turned basis", height: () => 4 * 34 + 36, host: ui.panel });
  const write = ui.readout({
    fast: "speed in the first plane, $θ_0$",
    slow: "speed in the second plane, $θ_1$",
    outside: "largest entry outside the blocks",
  });
  const row = ui.below.appendChild(html("div", { class: "rope-presets" }));
  for (const [name, entries] of Object.entries(PRESETS)) {
    ui.button(name, () => ui.set(Object.fromEntries(entries().map((value, k) => [NAMES[k], value])), { now: true }), {
      host: row,
    });
  }
  const more = ui.more("The start, and the six entries of B");
  for (const [name, label] of [
    ["x1", "start, coordinate 0"],
    ["x2", "start, coordinate 1"],
  ]) {
    ui.slider(name, { label, step: 0.05, look: "one", host: more });
  }
  for (const name of NAMES)
    ui.slider(name, {
      label: `$b_{${name.slice(1)}}$`,
      step: 0.1,
      show: (v) => number(v, 1),
      host: more,
    });

  return (state, values) => {
    const text = verdict(state, values);
    words.textContent = text;
    const speed = (v) => `${number(v, 3)} rad`;
    write({ fast: speed(values.theta[0]), slow: speed(values.theta[1]), outside: number(values.outside, 3) });
    drawOrbits(ui, fig, state, values);
    drawTable(table, values);
    ui.say(`Basis at ${number(state.s)}, time ${number(state.t, 1)}. ${text}`);
  };
}

const verdict = ({ s }, { outside, theta }) => {
  if (outside > 1e-9)
    return s > 0
      ? "Not apart yet: the planes are still coupled, by " +
          `${outside < 0.01 ? "less than 0.01" : `up to ${number(outside, 2)}`}.`
      : "A tangle: every coordinate depends on every other.";
  const rest = Math.abs(theta[1]) < 1e-9;
  if (Math.abs(Math.abs(theta[1]) - theta[0]) < 1e-9)
    return rest ? "B = 0: nothing moves." : "Two circles at one speed.";
  return rest ? "One circle, and a point at rest." : "Two circles, each at its own speed.";
};

const cell = (width) => Math.min(230, (width - 14) / 2);

function drawOrbits(ui, fig, { t, s, x1, x2 }, { S, P, theta, start, x, y, radii, outside }) {
  const size = cell(fig.width),
    half = size / 2,
    unitLength = half / 1.66,
    left = (fig.width - 2 * size - 14) / 2,
    top = 34;
  fig.clear(
    `Left, the orbit in the given coordinates, now at ${x.map((v) => number(v)).join(", ")}. ` +
      `Right, in the turned basis, at ${y.map((v) => number(v)).join(", ")}. ` +
      (outside < 1e-9 ? `There it is two circles of radius ${radii.map((r) => number(r)).join(" and ")}.` : ""),
  );
  const back = transpose(S),
    toGiven = (at) => apply(P, turned(start, theta, at)),
    toS = (at) => apply(back, toGiven(at));
  const centre = (column, plane) => [left + column * (size + 14) + half, top + plane * (size + 22) + half];
  const place = (column, plane, point) => {
    const [cx, cy] = centre(column, plane);
    return [cx + unitLength * point[2 * plane], cy - unitLength * point[2 * plane + 1]];
  };
  const samples = (from, to) => {
    const count = Math.max(1, Math.ceil((to - from) * 12));
    return Array.from({ length: count + 1 }, (_, i) => from + ((to - from) * i) / count);
  };
  const narrow = centre(1, 0)[0] - centre(0, 0)[0] < 120,
    whole = samples(0, ui.limits.t[1]),
    recent = samples(Math.max(0, t - 5), t);
  [
    [narrow ? "given" : "given basis", toGiven, x, "one"],
    [s === 1 ? "basis $P$" : narrow ? "turned" : "turned basis", toS, y, "two"],
  ].forEach(([title, at, now, look], column) => {
    fig.text([centre(column, 0)[0], 16], title, look);
    const all = whole.map(at),
      trail = recent.map(at);
    for (const plane of [0, 1]) {
      const [cx, cy] = centre(column, plane);
      fig.line([cx - half + 4, cy], [cx + half - 4, cy], "hair");
      fig.line([cx, cy - half + 4], [cx, cy + half - 4], "hair");
      fig.path(
        all.map((point) => place(column, plane, point)),
        `line thin faint ${look}`,
      );
      if (column) fig.circle([cx, cy], Math.max(0.5, unitLength * radii[plane]), "axis dash");
      fig.path(
        trail.map((point) => place(column, plane, point)),
        `line ${look}`,
      );
      fig.circle(place(column, plane, now), 5, `fill ${look}`);
      fig.text([cx, cy + half + 12], plane ? "2 and 3" : "0 and 1", "small muted");
    }
  });
  const from = place(0, 0, [x1, x2]);
  fig.circle(from, 7, "paper one");
  fig.text([from[0] + 11, from[1] - 8], "start", "small one", "start");
  fig.handle("start", from, ([px, py]) => {
    const [cx, cy] = centre(0, 0);
    ui.set(
      { x1: ui.nearest("x1", (px - cx) / unitLength), x2: ui.nearest("x2", (cy - py) / unitLength) },
      { now: true },
    );
  });
}

function drawTable(fig, { seen, outside }) {
  const high = 34,
    wide = Math.min(64, (fig.width - 16) / 4),
    left = (fig.width - 4 * wide) / 2,
    top = 30;
  fig.clear(
    "B in the turned basis. " +
      `${outside < 1e-9 ? "Only the two blocks are left." : `Outside the blocks up to ${number(outside, 2)}.`}`,
  );
  fig.text(
    [left + 2 * wide, 16],
    outside < 1e-9 ? "$B$ in this basis: two blocks" : "$B$ in the turned basis",
    "small",
  );
  const most = Math.max(1e-9, ...seen.flat().map(Math.abs));
  seen.forEach((row, i) =>
    row.forEach((value, j) => {
      const inside = i < 2 === j < 2,
        zero = Math.abs(value) < 5e-4,
        at = [left + j * wide, top + i * high];
      fig.add("rect", {
        x: at[0] + 1,
        y: at[1] + 1,
        width: wide - 2,
        height: high - 2,
        rx: 3,
        class: `fill ${inside ? "two" : "one"}`,
        "fill-opacity": (0.28 * Math.abs(value)) / most,
      });
      fig.add(
        "text",
        {
          x: at[0] + wide / 2,
          y: at[1] + high / 2 + 5,
          "text-anchor": "middle",
          class: `cell small ${zero ? "muted" : ""}`,
        },
        zero ? "0" : number(value),
      );
    }),
  );
  for (const k of [0, 2]) fig.rect([left + k * wide, top + k * high], [2 * wide, 2 * high], "line thin two");
}

export default widget({ compute, build, smooth: ["t", "s", "x1", "x2"] });
