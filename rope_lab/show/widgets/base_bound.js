import { number } from "./draw.js";
import { widget } from "./kit.js";

const MODELS = { 4: "Llama 2", 5.7: "Llama 3", 6: "Qwen 2.5" }; // where their bases lie, as powers of ten
const baseOf = (log_base) => {
  const unit = 10 ** Math.floor(log_base - 1);
  return Math.floor(10 ** log_base / unit + 0.5) * unit;
};
const frequencies = (d, base) => Array.from({ length: d / 2 }, (_, i) => base ** ((-2 * i) / d));
const decay = (r, theta) => theta.reduce((sum, t) => sum + Math.cos(r * t), 0) / theta.length;

/** The lowest decay among the offsets below a length: r = a + b, with a in wide steps. */
function lowest(length, theta) {
  const step = Math.ceil(Math.sqrt(length)),
    table = (count, by) =>
      Array.from({ length: count }, (_, k) => theta.flatMap((t) => [Math.cos(k * by * t), Math.sin(k * by * t)])),
    wide = table(Math.ceil(length / step), step),
    fine = table(step, 1);
  const found = { value: Infinity, offset: 0 };
  for (let r = 0; r < length; r++) {
    const a = wide[Math.floor(r / step)],
      b = fine[r % step];
    let sum = 0;
    for (let i = 0; i < a.length; i += 2) sum += a[i] * b[i] - a[i + 1] * b[i + 1];
    if (sum < found.value) Object.assign(found, { value: sum, offset: r });
  }
  return { value: found.value / theta.length, offset: found.offset };
}

/** The lowest value of the decay of one base in the window, and where it is. */
export function compute({ log_base, window, head_dim }) {
  const base = baseOf(log_base),
    { value, offset } = lowest(Number(window), frequencies(head_dim, base));
  return { base, lowest: value, offset, passes: value >= 0 };
}

const whole = (v) => Math.round(v).toLocaleString("en-US");

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
    foot = fig.height - 118,
    theta = frequencies(head_dim, base),
    last = Math.log10(Number(window) - 1);
  const { X, Y } = fig.axes({
    x: [0, last],
    y: [-0.2, 1],
    box: [left, 22, right, foot],
    xticks: [],
    yticks: [0, 0.5, 1],
    xlabel: "offset, logarithmic",
    ylabel: "decay",
    at: 0,
  });
  const many = Math.ceil(right - left);
  fig.path(
    Array.from({ length: many + 1 }, (_, i) => {
      const at = (i / many) * last;
      return [X(at), Y(decay(10 ** at, theta))];
    }),
    "line",
  );
  const lowestAt = [X(Math.log10(Math.max(offset, 1))), Y(value)];
  fig.circle(lowestAt, 4.5, passes ? "fill one" : "fill wrong");
  fig.text(
    [Math.min(lowestAt[0], right - 4), lowestAt[1] + 20],
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
    const x = S(Number(at));
    fig.line([x, top + 16], [x, top + 22], "axis");
    fig.text(
      [x, top + 36],
      fig.width < 420 && at === "5.7" ? "" : name,
      "small muted",
      at === "4" ? "start" : at === "5.7" ? "end" : "start",
    );
  }
  const here = S(log_base);
  fig.line([here, top - 5], [here, top + 21], "line two");
  fig.circle([here, top - 5], 4, "fill two");
}

export default widget({ compute, build, smooth: ["log_base"] });
