import { number } from "../../show/widgets/draw.js";
import { widget } from "../../show/widgets/kit.js";

/** The logits of one head over the keys around its query, and their softmax. */
export function compute({ kind, head_dim, log_base, log_amplitude, key, reach }) {
  const d = Number(head_dim),
    base = 10 ** log_base,
    c = 10 ** log_amplitude,
    wanted = kind === "next" ? 1 : 2;
  const theta = Array.from({ length: d / 2 }, (_, i) => base ** ((-2 * i) / d));
  const mean = (r) => theta.reduce((sum, t) => sum + Math.cos(r * t), 0) / theta.length;
  const shares = Array.from({ length: 2 * reach + 1 }, (_, at) => mean(at - reach - wanted));
  const top = c * theta.length,
    raw = shares.map((share) => Math.exp(top * (share - 1)));
  const total = raw.reduce((sum, w) => sum + w, 0),
    weights = raw.map((w) => w / total),
    ratio = mean(1);
  return {
    wanted,
    shares,
    weights,
    ratio,
    lead: top * (1 - ratio),
    weight: weights[wanted + reach],
    scaled: -Math.log10(d) / 2,
    key_share: shares[key + reach],
    key_weight: weights[key + reach],
  };
}

const signed = (r) => (r > 0 ? `+${r}` : number(r, 0));

function build(ui) {
  const upper = ui.figure({ label: "Logits over the offset of the key", height: () => 220 });
  const lower = ui.figure({ label: "Softmax weights over the offset of the key", height: () => 220 });
  ui.choice("head_dim", {
    label: "dimensions $d$",
    options: { 8: "8", 32: "32", 128: "128", 512: "512", 2048: "2048" },
  });
  ui.tries({ "$d$ = 8": { head_dim: "8" }, "$d$ = 2048": { head_dim: "2048" } });
  const write = ui.readout({
    ratio: "a neighbour's logit / the largest",
    lead: "lead over a neighbour, in nats",
    weight: "weight of the wanted key",
    here: "the key you hold: logit / the largest, weight",
  });
  ui.choice("kind", { label: "the token says", options: { next: "next", "next-next": "next-next" } });
  ui.slider("key", { label: "key at offset $n - m$", step: 1, look: "key", show: signed });
  ui.slider("log_amplitude", {
    label: "amplitude, a factor on all logits",
    step: 0.05,
    show: (v) => number(10 ** v, v < 0 ? 3 : 1),
  });
  ui.slider("log_base", {
    label: "base",
    step: 0.1,
    show: (v) => Math.round(10 ** v).toLocaleString("en-US"),
  });
  ui.button("Divide by $√d$", () => ui.set({ log_amplitude: Math.round(ui.compute(ui.state).scaled * 20) / 20 }));

  return (state, values) => {
    write({
      ratio: number(values.ratio, 3),
      lead: number(values.lead, 2),
      weight: number(values.weight, 3),
      here: `${number(values.key_share, 3)}, ${number(values.key_weight, 3)}`,
    });
    drawRow(ui, upper, state, values, {
      numbers: values.shares,
      range: [-1, 1],
      look: "key",
      title: "logit / largest",
      at: 0,
      words: `Logits, divided by the largest: ${number(values.ratio, 3)} at the wanted key's neighbours.`,
    });
    drawRow(ui, lower, state, values, {
      numbers: values.weights,
      range: [0, 1],
      look: "one",
      title: "softmax weight",
      at: 0,
      words: `Softmax weights: ${number(values.weight, 3)} on the wanted key.`,
    });
    ui.say(
      `${state.head_dim} dimensions, ${state.kind}: weight ${number(values.weight, 3)} on the wanted ` +
        `key, a neighbour's logit is ${number(values.ratio, 3)}; key at ` +
        `${signed(Math.round(state.key))}: weight ${number(values.key_weight, 3)}`,
    );
  };
}

function drawRow(ui, fig, state, { wanted }, { numbers, range, look, title, words, at }) {
  const { reach } = state,
    box = [34, 30, fig.width - 12, fig.height - 40],
    key = Math.round(state.key);
  fig.clear(`${words} The query stands at 0, the wanted key at ${signed(wanted)}, the held key at ${signed(key)}.`);
  const { X, Y } = fig.axes({
    x: [-reach - 0.8, reach + 0.8],
    y: range,
    box,
    at,
    xticks: [-reach, -reach / 2, 0, reach / 2, reach],
    yticks: range[0] ? [-1, 0, 1] : [0, 0.5, 1],
    xlabel: "offset of the key",
    ylabel: title,
  });
  numbers.forEach((value, i) => {
    const r = i - reach;
    fig.line([X(r), Y(0)], [X(r), Y(value)], r === wanted ? look : `thin ${look}`);
    fig.circle([X(r), Y(value)], r === wanted ? 4 : 2, `fill ${look}`);
  });
  const there = numbers[wanted + reach];
  fig.text([X(wanted), Y(there) - 9], "wanted", `small ${look}`);
  if (range[0]) {
    fig.add("path", { d: `M${X(0)} ${Y(0) + 2}l-5 9h10Z`, class: "fill query" });
    fig.text([X(0) - 9, Y(0) + 18], "query", "small query", "end");
  }
  const value = numbers[key + reach];
  fig.circle([X(key), Y(value)], 8, "paper key");
  fig.circle([X(key), Y(value)], 3.5, "fill key");
  fig.handle("key", [X(key), Y(value)], ([x]) => {
    const wish = ((x - box[0]) / (box[2] - box[0])) * (2 * reach + 1.6) - reach - 0.8;
    ui.set({ key: ui.nearest("key", wish) }, { now: true });
  });
}

export default widget({ compute, build, smooth: ["log_base", "log_amplitude"] });
