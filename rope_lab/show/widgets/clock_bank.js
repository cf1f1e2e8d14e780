import { number } from "./draw.js";
import { widget } from "./kit.js";

const EULER = 0.5772156649015329,
  TURN = 2 * Math.PI;
const law = (r, base) => 1 - (Math.log(r) + EULER) / Math.log(base);
const logit = (r, theta) => theta.reduce((sum, t) => sum + Math.cos(r * t), 0) / theta.length;
const frequencies = (d, base) => Array.from({ length: d / 2 }, (_, i) => base ** ((-2 * i) / d));

/** Every plane's hand at offset n, and what they add up to. */
export function compute({ n, log_base, head_dim, reach }) {
  const d = Number(head_dim),
    base = 10 ** log_base,
    theta = frequencies(d, base);
  return {
    wavelengths: theta.map((t) => TURN / t),
    hands: theta.map((t) => [Math.cos(n * t), Math.sin(n * t)]),
    turns: theta.map((t) => (n * t) / TURN),
    once: theta.filter((t) => n * t >= TURN).length,
    never: theta.filter((t) => reach * t < TURN).length,
    logit: logit(n, theta),
    law: n > 0 ? law(n, base) : 1,
    spread: 1 / Math.sqrt(d),
  };
}

const place = (n) => number(n, n % 1 ? 1 : 0);
const large = (v) => (v < 100 ? number(v, 1) : Math.round(v).toLocaleString("en-US"));

function build(ui) {
  const bank = ui.figure({ label: "One clock for each plane", height: (width) => Math.min(width, 460) + 44 });
  const curve = ui.figure({
    label: "Logit of an equal query and key against their offset",
    height: () => 270,
    host: ui.below,
  });
  const write = ui.readout({
    logit: "logit of equal $q$ and $k$, from 1",
    law: "logarithmic law",
    once: "planes that have turned once",
    never: `never, within ${ui.state.reach} (dashed)`,
  });
  ui.slider("n", {
    label: "key at position $n$, query at 0",
    step: 0.5,
    look: "key",
    show: (v) => place(Math.round(2 * v) / 2),
  });
  ui.play("n", { label: "Walk the key along", perSecond: 20 });
  ui.slider("log_base", {
    label: "base",
    step: 0.1,
    show: (v) => Math.round(10 ** v).toLocaleString("en-US"),
  });
  ui.choice("head_dim", { label: "head_dim (two per plane)", options: { 8: "8", 32: "32", 128: "128" } });

  return (state, values) => {
    const planes = values.turns.length;
    write({
      logit: number(values.logit, 3),
      law: state.n < 1 ? "–" : number(values.law, 3),
      once: `${values.once} of ${planes}`,
      never: `${values.never} of ${planes}`,
    });
    drawBank(bank, state, values);
    drawCurve(ui, curve, state, values);
    ui.say(
      `Key at ${number(state.n, 1)}: logit ${number(values.logit, 3)}; ${values.once} of ${planes} ` +
        `planes have turned once, ${values.never} never will within ${state.reach}`,
    );
  };
}

function drawBank(fig, { n, reach }, { hands, turns, wavelengths, once, never }) {
  const columns = Math.sqrt(hands.length),
    side = Math.min(fig.width, fig.height - 44),
    cell = side / columns;
  const left = (fig.width - side) / 2,
    r = cell * 0.4;
  fig.clear(
    `${hands.length} clocks. At offset ${number(n, 1)}, ${once} have turned at least once; ${never} ` +
      `never do within ${reach} positions.`,
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
    fig.circle([cx, cy], r, wavelengths[i] > reach ? "axis dash" : done ? "line thin muted" : "hair");
    fig.line([cx, cy], [cx + r, cy], "thin query");
    fig.line([cx, cy], tip, "key");
    fig.circle(tip, cell > 80 ? 4 : 2.2, "fill key");
  });
}

function drawCurve(ui, fig, state, { logit: now, spread }) {
  const { n, log_base, head_dim, reach } = state,
    last = Math.log10(reach),
    base = 10 ** log_base,
    theta = frequencies(Number(head_dim), base);
  const left = 36,
    right = fig.width - 10,
    top = 26,
    bottom = fig.height - 44;
  fig.clear(
    `Falls roughly like a logarithm from 1; ${number(now, 3)} at offset ${number(n, 1)}. Independent ` +
      `draws spread by ${number(spread, 2)} at every offset.`,
  );
  const { X, Y } = fig.axes({
    x: [0, last],
    y: [-1, 1],
    box: [left, top, right, bottom],
    xticks: [],
    yticks: [-1, 0, 1],
    xlabel: "offset, logarithmic",
    ylabel: "logit",
    at: 0,
  });
  for (const r of [1, 10, 100, 1000, reach]) {
    fig.line([X(Math.log10(r)), bottom], [X(Math.log10(r)), bottom + 4], "axis");
    if (r !== 1000 || fig.width > 500)
      fig.text([X(Math.log10(r)), bottom + 18], `${r}`, "small muted", r === reach ? "end" : "middle");
  }
  fig.rect([left, Y(spread)], [right - left, Y(-spread) - Y(spread)], "soft");
  const many = 3 * Math.ceil(right - left); // close enough to show that it is rough
  const rough = Array.from({ length: many + 1 }, (_, i) => (i / many) * last);
  fig.path(
    rough.map((x) => [X(x), Y(logit(10 ** x, theta))]),
    "line thin",
  );
  const to = Math.min(last, Math.log10(base) - EULER / Math.LN10); // where the law reaches zero
  fig.path(
    [0, to].map((x) => [X(x), Y(law(10 ** x, base))]),
    "line dash linear",
  );
  const at = Math.min(last * 0.62, to * 0.6);
  fig.text([X(at) + 6, Y(law(10 ** at, base)) - 30], "logarithmic law", "small linear", "start");
  fig.text([X(0) + 8, Y(0.45)], "equal $q$ and $k$", "small", "start");
  fig.text([X(0) + 8, Y(-spread) + 18], "independent $q$ and $k$: their spread, at any offset", "small muted", "start");
  const here = X(Math.min(last, Math.log10(Math.max(n, 1))));
  fig.line([here, Y(0)], [here, Y(now)], "thin key");
  fig.circle([here, Y(now)], 7, "paper key");
  fig.circle([here, Y(now)], 3.5, "fill key");
  fig.handle("n", [here, Y(now)], ([x]) => {
    const wish = 10 ** (((x - left) / (right - left)) * last);
    ui.set({ n: ui.nearest("n", wish) }, { now: true });
  });
}

export default widget({ compute, build, smooth: ["n", "log_base"] });
