import { number } from "../../show/widgets/draw.js";
import { widget } from "../../show/widgets/kit.js";

const TURN = 2 * Math.PI;
const SIZE = 8, // patches on a side of the window
  SHOWN = 6, // clocks of an axis at most
  FAR = 64; // steps of a reading
const AXES = ["time", "height", "width"],
  LOOKS = ["muted", "one", "two"];

/** At most SHOWN of the planes, from the first to the last. */
function spread(planes) {
  const many = Math.min(SHOWN, planes.length);
  return Array.from({ length: many }, (_, j) => planes[Math.floor((j * (planes.length - 1)) / (many - 1) + 0.5)]);
}

/** The turn from the marked patch to the moved one: of some planes along each axis, and of every plane by all axes. */
export function compute({ column, row, frame, start, stride, scheme, tables, fixed }) {
  const table = tables[scheme],
    one = [0, start + stride * fixed[0], start + stride * fixed[1]],
    other = [frame, start + stride * row, start + stride * column],
    away = other.map((x, a) => x - one[a]);
  const angle = (place, i) => place.reduce((sum, x, a) => sum + x * table[a][i], 0),
    between = table[0].map((_, i) => angle(other, i) - angle(one, i));
  const having = table.map((list) => list.flatMap((theta, i) => (theta ? [i] : []))),
    clocks = having.map(spread),
    fastest = table.map((list) => Math.max(...list.map(Math.abs))),
    width = having[2].map((i) => Math.abs(table[2][i]));
  return {
    planes: having.map((list) => list.length),
    clocks,
    turns: clocks.map((chosen, a) => chosen.map((i) => table[a][i] * away[a])),
    own: clocks.map((chosen, a) => chosen.map((i) => table[a][i] * one[a])),
    between,
    far: fastest.map((theta) => FAR * theta),
    waves: [TURN / Math.max(...width), TURN / Math.min(...width)],
    width: fastest[2] * away[2],
    logit: between.reduce((sum, angle_) => sum + Math.cos(angle_), 0) / between.length,
  };
}

/** A number in three digits, large ones in thousands or millions. */
function brief(x) {
  if (x >= 1e6) return `${number(x / 1e6, 1)}M`;
  if (x >= 1e4) return `${number(x / 1e3, 0)}k`;
  const size = Math.abs(x);
  return number(x, size === 0 || size >= 100 ? 0 : size >= 1 ? 1 : size >= 0.01 ? 3 : 5);
}
const step = (v) => number(v, v % 1 ? 1 : 0);
const away = (x, unit, [less, more]) =>
  x ? `${step(Math.abs(x))} ${unit}${Math.abs(x) === 1 ? "" : "s"} ${x < 0 ? less : more}` : `in the same ${unit}`;
const none = "none";

function build(ui) {
  const grid = ui.figure({
    label: "A window of eight by eight patches: one is marked, one is moved",
    height: (width) => Math.min(0.8 * width, 320),
  });
  const clocks = ui.figure({
    label: "Clocks of the planes along time, height and width",
    height: () => 270,
    pin: true,
  });
  ui.choice("scheme", {
    label: "the planes are given to the axes",
    options: { sections: "by sections", interleaved: "interleaved", axial: "axial", mixed: "mixed" },
  });
  const cells = (v) => step(v * ui.state.stride);
  ui.slider("frame", { label: "frame of the moved patch", step: 1, look: "muted", show: step });
  ui.slider("row", { label: "row of the moved patch", step: 1, look: "one", show: cells });
  ui.slider("column", { label: "column of the moved patch", step: 1, look: "two", show: cells });
  ui.slider("start", { label: "both patches: rows and columns further", step: 1, show: step });
  ui.slider("stride", { label: "patches from one cell to the next", step: 1, show: step });
  const write = ui.readout({
    width: "the fastest hand of the width has turned",
    logit: "logit, if query and key are equal",
    waves: "a whole turn of the width takes, fastest and slowest hand",
    far: `${FAR} steps, in rad: time, height, width`,
  });

  return (state, values) => {
    const offset = [state.frame, ...[state.row, state.column].map((x, i) => state.stride * (x - state.fixed[i]))];
    const told =
      `${AXES.map((axis, a) => `${axis} ${values.planes[a] || none}`).join(", ")} of ${values.between.length} planes. ` +
      `The moved patch lies ${away(offset[0], "video frame", ["before", "later"])}, ` +
      `${away(offset[1], "row", ["up", "down"])} and ${away(offset[2], "column", ["left", "right"])}: ` +
      `the fastest hand of the width turns by ${brief(values.width)} rad, and the logit of equal vectors is ` +
      `${number(values.logit, 3)}.`;
    write({
      width: `${brief(values.width)} rad`,
      logit: number(values.logit, 3),
      waves: `${values.waves.map(brief).join(", ")} patches`,
      far: values.far.map((x) => (x ? brief(x) : none)).join(", "),
    });
    drawGrid(grid, state, ui, `Scheme ${state.scheme}. ${told}`);
    drawClocks(clocks, state, values, offset, `Scheme ${state.scheme}: ${told}`);
    ui.say(`${state.scheme}: ${told}`);
  };
}

function drawGrid(fig, { row, column, frame, start, stride, fixed }, ui, told) {
  fig.clear(told);
  const left = 34,
    top = 26,
    cell = Math.min((fig.width - left - 8) / SIZE, (fig.height - top - 24) / SIZE),
    middle = (place) => [left + (place[1] + 0.5) * cell, top + (place[0] + 0.5) * cell];
  for (let i = 0; i < SIZE; i++) {
    const name = i % 2 === 0 || cell > 34;
    if (name) fig.text([left + (i + 0.5) * cell, top - 8], step(start + stride * i), "small muted");
    if (name) fig.text([left - 6, top + (i + 0.5) * cell + 4], step(start + stride * i), "small muted", "end");
    for (let j = 0; j < SIZE; j++)
      fig.rect([left + j * cell + 1, top + i * cell + 1], [cell - 2, cell - 2], "line hair");
  }
  const one = middle(fixed),
    other = middle([row, column]),
    turn = [one[0], other[1]]; // first along the height, then along the width
  fig.line(one, turn, "line thick one");
  fig.line(turn, other, "line thick two");
  const box = ([x, y], look) => fig.rect([x - cell * 0.4, y - cell * 0.4], [cell * 0.8, cell * 0.8], look);
  box(one, "paper query");
  fig.text([one[0], one[1] + 5], "q", "query");
  box(other, "fill key");
  fig.text([other[0], other[1] + 5], "k", "own");
  const later = frame ? `k: ${away(frame, "video frame", ["before", "later"])}` : "";
  fig.text([left + SIZE * cell, top + SIZE * cell + 16], later, "small", "end");
  fig.handle("k", other, ([x, y]) =>
    ui.set(
      { column: ui.nearest("column", (x - left) / cell - 0.5), row: ui.nearest("row", (y - top) / cell - 0.5) },
      { now: true },
    ),
  );
}

function drawClocks(fig, { scheme, tables }, { planes, clocks, turns, own }, offset, told) {
  fig.clear(
    `${told} Hands show the turn from q to k along each axis, in planes from its first to its last; on the rim, a ring for q and a disc for k.`,
  );
  const narrow = fig.width < 480,
    left = narrow ? 62 : 124,
    head = 20,
    high = (fig.height - head) / 3,
    lane = (fig.width - left - 6) / tables[scheme][0].length,
    wide = (fig.width - left - 6) / SHOWN;
  fig.text([left, 12], "plane 0", "small muted", "start");
  fig.text([fig.width - 6, 12], `plane ${tables[scheme][0].length - 1}`, "small muted", "end");
  for (const [a, axis] of AXES.entries()) {
    const y = head + a * high,
      look = LOOKS[a];
    fig.text([2, y + high * 0.56], axis, look, "start");
    fig.text([2, y + high * 0.56 + 18], `${step(offset[a])} × θ`, "small muted", "start");
    // Which planes turn with this axis: a bar for each, on the scale of the logarithm.
    tables[scheme][a].forEach((theta, i) => {
      if (!theta) return fig.rect([left + i * lane, y + 21], [Math.max(lane - 1, 1), 1], "fill muted faint");
      const tall = Math.max(2, 20 * (1 + Math.log10(Math.abs(theta)) / 7));
      fig.rect([left + i * lane, y + 22 - tall], [Math.max(lane - 1, 1), tall], `fill ${look}`);
    });
    if (!planes[a]) fig.text([left + 4, y + high * 0.66], "no plane turns with it", "small muted", "start");
    const r = Math.min(wide / 2 - 4, (high - 38) / 2);
    for (const [j, angle] of turns[a].entries()) {
      const at = [left + (clocks[a].length > 1 ? (j + 0.5) * wide : wide / 2), y + 28 + r];
      fig.circle(at, r, "hair");
      const rim = (turn, far) => [at[0] + far * Math.sin(turn), at[1] - far * Math.cos(turn)];
      fig.hand(at, rim(angle, 0.84 * r), look);
      fig.circle(rim(own[a][j], r), 3.4, "paper query");
      fig.circle(rim(own[a][j] + angle, r), 2.4, "fill key");
    }
  }
}

export default widget({ compute, build, smooth: ["column", "row", "frame", "start"] });
