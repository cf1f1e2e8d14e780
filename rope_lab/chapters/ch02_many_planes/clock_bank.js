import { number, whole } from "../../show/widgets/draw.js";
import { widget } from "../../show/widgets/kit.js";

const EULER = 0.5772156649015329,
  TURN = 2 * Math.PI,
  ONE_ROW = 640; // pixels: in less the names of the curves stand below each other
const law = (r, base) => 1 - (Math.log(r) + EULER) / Math.log(base);
const mean = (values) => values.reduce((sum, v) => sum + v, 0) / values.length;
const logit = (r, theta) => mean(theta.map((t) => Math.cos(r * t)));
const frequencies = (d, base) => Array.from({ length: d / 2 }, (_, i) => base ** ((-2 * i) / d));
const baseOf = (log_base) => {
  const unit = 10 ** Math.floor(log_base - 1);
  return Math.floor(10 ** log_base / unit + 0.5) * unit;
};

/** The frequencies in training, and those after the stretch. */
function schedules({ log_base, log_factor, way, head_dim, reach, many }) {
  const d = Number(head_dim),
    base = baseOf(log_base),
    s = 2 ** log_factor,
    trained = frequencies(d, base);
  const kept = (t) => Math.min(1, Math.max(0, ((reach * t) / TURN - 1) / (many - 1)));
  const theta = {
    leave: () => trained,
    squeeze: () => trained.map((t) => t / s),
    base: () => frequencies(d, base * s ** (d / (d - 2))),
    parts: () => trained.map((t) => kept(t) * t + ((1 - kept(t)) * t) / s),
  }[way]();
  return { base, trained, theta };
}

/** Every plane's hand at offset n, and what they add up to. */
export function compute(state) {
  const { base, trained, theta } = schedules(state),
    n = 10 ** state.log_n - 1;
  const unmet = trained.map((t) => (state.reach * t) / TURN < 1);
  return {
    n,
    base,
    wavelengths: theta.map((t) => TURN / t),
    hands: theta.map((t) => [Math.cos(n * t), Math.sin(n * t)]),
    turns: theta.map((t) => (n * t) / TURN),
    unmet,
    never: unmet.filter((u) => u).length,
    strange: theta.filter((t, i) => isStrange(n * t, state.reach * trained[i])).length,
    neighbours: theta[0],
    logit: logit(n, theta),
    law: n > 0 ? law(n, base) : 1,
    spread: 1 / Math.sqrt(Number(state.head_dim)),
  };
}
/** Is this angle beyond all that the plane showed in training, where it did not come round? */
const isStrange = (angle, met) => met / TURN < 1 && angle > met * (1 + 1e-9);

const large = (v) => (v < 100 ? number(v, 1) : whole(v));
const place = (n) => (n < 10 ? number(n, 1) : whole(n));

function build(ui) {
  const bank = ui.figure({ label: "One clock for each plane", height: (width) => Math.min(width, 460) + 44 });
  const curve = ui.figure({
    label: "Logit of an equal query and key against their offset",
    height: (width) => (width > ONE_ROW ? 270 : 306),
    host: ui.below,
  });
  const write = ui.readout({
    never: `no whole turn in ${whole(ui.state.reach)} positions (dashed)`,
    turned: "turned all the way round by now",
    strange: "turned farther than in training (barred)",
    neighbours: "the fastest hand turns, from word to word",
    logit: "logit of equal $q$ and $k$, 1 at offset 0",
  });
  ui.slider("log_n", {
    label: "key at position $n$, query at 0",
    step: 0.01,
    look: "key",
    show: (v) => place(10 ** v - 1),
  });
  ui.play("log_n", { label: "Walk the key along", seconds: 6, stride: Math.log10(2) });
  ui.tries({
    "past the window": { log_n: ui.nearest("log_n", 4.5) },
    "there, squeezed": { log_n: ui.nearest("log_n", 4.5), way: "squeeze" },
    "there, by parts": { log_n: ui.nearest("log_n", 4.5), way: "parts" },
  });
  ui.choice("way", {
    label: "stretch for a longer text",
    options: { leave: "none", squeeze: "squeeze", base: "new base", parts: "by parts" },
  });
  ui.slider("log_factor", { label: "… by the factor $s$", step: 0.5, show: (v) => number(2 ** v, v % 1 ? 1 : 0) });
  ui.slider("log_base", { label: "base in training", step: 0.05, show: (v) => whole(baseOf(v)) });
  ui.choice("head_dim", { label: "head_dim (two per plane)", options: { 8: "8", 32: "32", 128: "128" } });

  return (state, values) => {
    const planes = values.turns.length;
    write({
      never: `${values.never} of ${planes}`,
      turned: `${values.turns.filter((t) => t >= 1).length} of ${planes}`,
      strange: `${values.strange} of ${planes}`,
      neighbours: `${number(values.neighbours, 2)} rad`,
      logit: number(values.logit, 3),
    });
    drawBank(ui, bank, state, values);
    drawCurve(ui, curve, state, values);
    ui.say(
      `Key at ${place(values.n)}: ${values.strange} of ${planes} planes turned farther than in training, logit ` +
        `${number(values.logit, 3)}`,
    );
  };
}

function drawBank(ui, fig, state, { n, hands, turns, wavelengths, unmet, never, strange }) {
  const { trained, theta } = schedules(state);
  const columns = Math.sqrt(hands.length),
    side = Math.min(fig.width, fig.height - 44),
    cell = side / columns;
  const left = (fig.width - side) / 2,
    r = cell * 0.4;
  fig.clear(
    ui.locked
      ? `${hands.length} clocks, at offset ${place(n)}.`
      : `${hands.length} clocks. ${never} complete no turn within ${state.reach} positions. At offset ${place(n)}, ` +
          `${strange} have turned farther than in training.`,
  );
  fig.text([left + 2, 14], `fastest: a turn in ${large(wavelengths[0])} positions`, "small muted", "start");
  fig.text(
    [left + side - 2, fig.height - 6],
    `slowest: a turn in ${large(wavelengths.at(-1))} positions`,
    "small muted",
    "end",
  );
  hands.forEach(([x, y], i) => {
    const cx = left + cell * ((i % columns) + 0.5),
      cy = 22 + cell * (Math.floor(i / columns) + 0.5);
    const tip = [cx + r * x, cy - r * y],
      done = turns[i] >= 1;
    if (!done) {
      const large_arc = turns[i] > 0.5 ? 1 : 0;
      fig.add("path", { d: `M${cx} ${cy}H${cx + r}A${r} ${r} 0 ${large_arc} 0 ${tip.join(" ")}Z`, class: "soft key" });
    }
    fig.circle([cx, cy], r, unmet[i] && !ui.locked ? "axis dash" : done ? "line thin muted" : "hair");
    fig.line([cx, cy], [cx + r, cy], "thin query");
    fig.line([cx, cy], tip, "key");
    fig.circle(tip, cell > 80 ? 4 : 2.2, "fill key");
    if (isStrange(n * theta[i], state.reach * trained[i])) fig.line([cx - r, cy + r + 2], [cx + r, cy + r + 2], "line");
  });
}

function drawCurve(ui, fig, state, { n, logit: now, spread }) {
  const { reach, farthest } = state,
    { base, trained, theta } = schedules(state),
    last = Math.log10(farthest);
  const left = 36,
    right = fig.width - 10,
    wide = fig.width > ONE_ROW,
    top = wide ? 30 : 66,
    bottom = fig.height - 44;
  fig.clear(
    `Falls roughly like a logarithm from 1; ${number(now, 3)} at offset ${place(n)}. Independent ` +
      `draws spread by ${number(spread, 2)} at every offset.`,
  );
  const { X, Y } = fig.axes({
    x: [0, last],
    y: [-1, 1],
    box: [left, top, right, bottom],
    xticks: [],
    yticks: [-1, 0, 1],
    xlabel: "offset, logarithmic",
    at: 0,
  });
  for (const r of [1, 10, 100, 1000, 10000]) {
    fig.line([X(Math.log10(r)), bottom], [X(Math.log10(r)), bottom + 4], "axis");
    fig.text([X(Math.log10(r)), bottom + 18], whole(r), "small muted");
  }
  const edge = X(Math.log10(reach));
  fig.line([edge, top], [edge, bottom], "line thin dash muted");
  fig.text([edge - 6, bottom - 8], "window in training", "small muted", "end");
  fig.rect([left, Y(spread)], [right - left, Y(-spread) - Y(spread)], "soft");
  const many = 3 * Math.ceil(right - left), // close enough to show that it is rough
    path = (list, look) =>
      fig.path(
        Array.from({ length: many + 1 }, (_, i) => [X((i / many) * last), Y(logit(10 ** ((i / many) * last), list))]),
        look,
      );
  if (state.way !== "leave") path(trained, "line thin faint");
  path(theta, "line thin");
  const to = Math.min(last, Math.log10(base) - EULER / Math.LN10); // where the law reaches zero
  fig.path(
    [0, to].map((x) => [X(x), Y(law(10 ** x, base))]),
    "line dash two",
  );
  const names = [
    ["line", "logit of equal $q$ and $k$", "small"],
    ["line dash two", "logarithmic law", "small two"],
    ["soft", "spread of independent $q$ and $k$", "small muted"],
  ];
  names.forEach(([look, words, ink], i) => {
    const [x, y] = wide ? [left + [0, 215, 375][i], 9] : [left, 9 + 19 * i];
    if (look === "soft") fig.rect([x, y - 6], [24, 12], look);
    else fig.line([x, y], [x + 24, y], look);
    fig.text([x + 31, y + 4], words, ink, "start");
  });
  const here = X(Math.min(last, Math.log10(Math.max(n, 1))));
  fig.line([here, Y(0)], [here, Y(now)], "thin key");
  fig.circle([here, Y(now)], 7, "paper key");
  fig.circle([here, Y(now)], 3.5, "fill key");
  fig.handle("log_n", [here, Y(now)], ([x]) => {
    const wish = 10 ** (((x - left) / (right - left)) * last);
    ui.set({ log_n: ui.nearest("log_n", Math.log10(wish + 1)) }, { now: true });
  });
}

export default widget({ compute, build, smooth: ["log_n", "log_base", "log_factor"] });
