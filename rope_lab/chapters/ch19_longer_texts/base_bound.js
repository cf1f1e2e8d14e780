import { number, whole } from "../../show/widgets/draw.js";
import { widget } from "../../show/widgets/kit.js";

const MODELS = { 4: "Llama 2", 5.7: "Llama 3", 6: "Qwen 2.5" }; // where their bases lie, as powers of ten
const baseOf = (log_base) => {
  const unit = 10 ** Math.floor(log_base - 1);
  return Math.floor(10 ** log_base / unit + 0.5) * unit;
};
const frequencies = (d, base) => Array.from({ length: d / 2 }, (_, i) => base ** ((-2 * i) / d));

/** The decay at every offset below a length: r = a + b, with a in wide steps. */
function decays(length, theta) {
  const step = Math.ceil(Math.sqrt(length)),
    table = (count, by) =>
      Array.from({ length: count }, (_, k) => theta.flatMap((t) => [Math.cos(k * by * t), Math.sin(k * by * t)])),
    wide = table(Math.ceil(length / step), step),
    fine = table(step, 1);
  return Float64Array.from({ length }, (_, r) => {
    const a = wide[Math.floor(r / step)],
      b = fine[r % step];
    let sum = 0;
    for (let i = 0; i < a.length; i += 2) sum += a[i] * b[i] - a[i + 1] * b[i + 1];
    return sum / theta.length;
  });
}

/** The lowest value of the decay of one base in the window, and where it is. */
export function compute({ log_base, window, head_dim }) {
  const base = baseOf(log_base),
    along = decays(Number(window), frequencies(head_dim, base)),
    offset = along.reduce((best, value, r) => (value < along[best] ? r : best), 0);
  return { base, lowest: along[offset], offset, passes: along[offset] >= 0 };
}

function build(ui) {
  const picture = ui.figure({
    label: "The decay along the window, and the bases that pass",
    height: (width) => Math.min(0.95 * width, 420),
  });
  const write = ui.readout({ verdict: "negative nowhere?", lowest: "lowest value", offset: "at offset" });
  ui.slider("log_base", { label: "base", step: 0.01, show: (v) => whole(baseOf(v)) });
  ui.tries({
    "Llama 2 in 4,096": { log_base: 4, window: "4096" },
    "Llama 3 in 8,192": { log_base: 5.7, window: "8192" },
    "Qwen 2.5 in 32,768": { log_base: 6, window: "32768" },
  });
  ui.choice("window", { label: "window", options: { 4096: "4,096", 8192: "8,192", 32768: "32,768" } });

  return (state, values) => {
    const verdict = values.passes ? "passes" : "fails";
    const told =
      `Base ${whole(values.base)} in a window of ${whole(Number(state.window))} ${verdict}: the lowest value is ` +
      `${number(values.lowest, 4)}, at offset ${whole(values.offset)}.`;
    write({ verdict, lowest: number(values.lowest, 4), offset: whole(values.offset) });
    draw(picture, ui.limits.log_base, state, values, told);
    ui.say(told);
  };
}

function draw(
  fig,
  [low, high],
  { log_base, window, head_dim, islands },
  { base, lowest: value, offset, passes },
  told,
) {
  const letters = islands[window] ?? "",
    pieces = letters.match(/o+/g)?.length ?? 0;
  fig.clear(`${told} Below, the bases that pass form ${pieces} islands.`);
  const left = 40,
    right = fig.width - 12,
    foot = fig.height - 124,
    theta = frequencies(head_dim, base),
    last = Math.log10(Number(window) - 1);
  const { X, Y } = fig.axes({
    x: [0, last],
    y: [-0.45, 1],
    box: [left, 22, right, foot],
    xticks: [],
    yticks: [0, 0.5, 1],
    xlabel: "offset, logarithmic",
    ylabel: "decay",
    at: 0,
  });
  const along = decays(Number(window), theta);
  fig.path(
    columns(along, Math.ceil(right - left)).map(([r, value]) => [X(Math.log10(r)), Y(value)]),
    "line",
  );
  for (const power of [1, 2, 3, 4].filter((power) => power <= last)) {
    fig.line([X(power), foot - 4], [X(power), foot], "axis");
    fig.text([X(power), foot + 15], (10 ** power).toLocaleString("en-US"), "small muted");
  }
  const lowestAt = [X(Math.log10(Math.max(offset, 1))), Y(value)];
  fig.circle(lowestAt, 4.5, passes ? "fill one" : "fill wrong");
  fig.text(
    [Math.min(lowestAt[0] + 4, right - 4), Y(Math.min(value, 0)) + 17],
    number(value, 4),
    passes ? "small one" : "small wrong",
    "end",
  );

  const S = (x) => left + ((x - low) / (high - low)) * (right - left),
    top = fig.height - 56,
    wide = (right - left) / Math.max(letters.length - 1, 1);
  fig.text([left, top - 14], "bases that pass are filled", "small muted", "start");
  fig.rect([left, top], [right - left, 16], "hair");
  for (const found of letters.matchAll(/o+/g))
    fig.rect([left + (found.index - 0.5) * wide, top], [found[0].length * wide, 16], "fill one");
  for (const [at, name] of Object.entries(MODELS)) {
    const x = S(Number(at)),
      below = at === "5.7" ? 14 : 0; // two bases stand close together
    fig.line([x, top + 16], [x, top + 22 + below], "axis");
    fig.text([x, top + 36 + below], name, "small muted", below ? "end" : "start");
  }
  const here = S(log_base);
  fig.line([here, top - 5], [here, top + 21], "line two");
  fig.circle([here, top - 5], 4, "fill two");
}

/** At most two points in each of so many columns of a logarithmic axis: the greatest and the lowest value there. */
function columns(along, many) {
  const points = [],
    last = Math.log(along.length - 1);
  for (let r = 1; r < along.length; ) {
    const end = Math.max(r + 1, Math.ceil(Math.exp(((Math.floor((Math.log(r) / last) * many) + 1) / many) * last)));
    let [high, low] = [r, r];
    for (; r < Math.min(end, along.length); r++) {
      if (along[r] > along[high]) high = r;
      if (along[r] < along[low]) low = r;
    }
    for (const at of high < low ? [high, low] : low < high ? [low, high] : [low]) points.push([at, along[at]]);
  }
  return points;
}

export default widget({ compute, build, smooth: ["log_base"] });
