import { number, whole } from "../../show/widgets/draw.js";
import { widget } from "../../show/widgets/kit.js";

const baseOf = (step) => [1, 2, 5][step % 3] * 10 ** Math.floor(step / 3);
const BLOCK = 512;

/** The sum of the cosines of all planes at every offset below a length: plane by plane, in blocks of offsets. */
function cosines(length, theta) {
  const sum = new Float64Array(length);
  for (const t of theta) {
    const c = Float64Array.from({ length: BLOCK }, (_, b) => Math.cos(b * t)),
      s = Float64Array.from({ length: BLOCK }, (_, b) => Math.sin(b * t));
    for (let a = 0; a < length; a += BLOCK) {
      const [C, S] = [Math.cos(a * t), Math.sin(a * t)];
      for (let b = 0; b < BLOCK; b++) sum[a + b] += C * c[b] - S * s[b];
    }
  }
  return sum;
}

/** The probability of another order in windows that grow by the root of 2, and in a window without end. */
export function compute({ base_step, rest, head_dim, doublings }) {
  const planes = head_dim / 2,
    base = baseOf(base_step),
    length = 2 ** doublings,
    sum = cosines(
      length,
      Array.from({ length: planes - rest }, (_, i) => base ** (-i / planes)),
    ),
    flips = [];
  let [all, weighted] = [0, 0];
  for (let L = 1, half = 6; L <= length; L++) {
    const r = L - 1;
    if (r) {
      const flip = Math.acos(Math.max(-1, Math.min(1, (rest + sum[r]) / planes))) / Math.PI;
      all += flip;
      weighted += r * flip;
    }
    if (L === Math.floor(2 ** (half / 2))) {
      flips.push((2 * (L * all - weighted)) / L ** 2);
      half++;
    }
  }
  return { base, flips, limit: Math.acos(rest / planes) / Math.PI };
}

function build(ui) {
  const fig = ui.figure({
    label: "The probability of another order, along the length of the text",
    height: (width) => Math.min(0.8 * width, 340),
  });
  const write = ui.readout({ far: "another order, in 131,072 tokens", limit: "however long the text" });
  ui.slider("base_step", { label: "base", step: 1, show: (v) => whole(baseOf(v)) });
  ui.slider("rest", { label: "planes at rest, of 64", step: 1 });
  ui.tries({
    "Llama 2's base": { base_step: 12, rest: 0 },
    "Llama 3's base": { base_step: 17, rest: 0 },
    "half of the planes at rest": { base_step: 17, rest: 32 },
  });

  return (state, { base, flips, limit }) => {
    const far = number(flips.at(-1)),
      told =
        `Base ${whole(base)}, ${state.rest} of 64 planes at rest: two keys change their order with probability ` +
        `${far} in ${whole(2 ** state.doublings)} tokens, and ${number(limit)} however long the text.`;
    write({ far, limit: number(limit) });
    draw(fig, state, flips, limit, told);
    ui.say(told);
  };
}

function draw(fig, { doublings, rest }, flips, limit, told) {
  fig.clear(told);
  const foot = fig.height - 44,
    right = fig.width - 14;
  const { X, Y } = fig.axes({
    x: [3, doublings],
    y: [0, 0.56],
    box: [36, 24, right, foot],
    xticks: [],
    yticks: [0, 0.1, 0.2, 0.3, 0.4, 0.5],
    xlabel: "tokens, logarithmic",
    ylabel: "probability of another order",
  });
  for (const power of [1, 2, 3, 4, 5]) {
    const x = X(power / Math.log10(2));
    fig.line([x, foot], [x, foot + 4], "axis");
    fig.text([Math.min(x, fig.width - 24), foot + 18], whole(10 ** power), "small muted");
  }
  const level = (y, words, look) => {
    fig.line([36, Y(y)], [right, Y(y)], `line thin dash ${look}`);
    fig.text([right, Y(y) - 7], words, `small ${look}`, "end");
  };
  level(0.5, "a coin", "muted");
  if (rest) level(limit, `in the end ${number(limit)}`, "two");
  const points = flips.map((flip, i) => [X(Math.log2(Math.floor(2 ** (3 + i / 2)))), Y(flip)]);
  fig.path(points, "line one");
  fig.circle(points.at(-1), 4.5, "fill one");
}

export default widget({ compute, build });
